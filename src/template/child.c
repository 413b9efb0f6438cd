/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child - see child.h. The child keeps four descriptors: the archive, the pipe,
 * /dev/null and the tree, and is confined before it reads the first byte.
 */
#include "src/template/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"
#include "src/template/confine.h"
#include "src/template/pack.h"
#include "src/template/say.h"

#define TELL_US 1000000u

enum said { SAID_NOTHING = 0, SAID_PROGRESS, SAID_NO_LANDLOCK, SAID_END };

struct message {
    uint32_t said; /* enum said */
    int32_t failed;
    struct put_counts counts;
    struct err err;
    char sha256[SHA256_HEX_SIZE];
};
_Static_assert(sizeof(struct message) <= 4096, "written in one piece");

/* ---- the importer ---- */

struct teller {
    int fd;
    uint64_t next_us;
};

static void send(int fd, const struct message *m)
{
    (void)!write(fd, m, sizeof(*m));
}

static void progress(const struct import *im, void *ctx)
{
    struct teller *t = ctx;
    struct message m = {.said = SAID_PROGRESS, .counts = im->put.counts};
    uint64_t now = clock_us();

    if (now < t->next_us)
        return;
    t->next_us = now + TELL_US;
    send(t->fd, &m);
}

/* 0 the archive, 1 the pipe, 2 nothing, 3 the tree; nothing else is open. */
static int descriptors_set(int archive, int pipe, int root, struct err *err)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int high[4] = {archive, pipe, null, root};

    for (int i = 0; i < 4; i++) {
        high[i] = fcntl(high[i], F_DUPFD, 10);
        if (high[i] < 0)
            return err_sys(err, "descriptors");
    }
    for (int i = 0; i < 4; i++)
        if (dup2(high[i], i) < 0)
            return err_sys(err, "descriptors");
    return sys_close_range(4, ~0u, 0) < 0 ? err_sys(err, "descriptors") : 0;
}

static int importer_prepare(int archive, int pipe, int root, struct err *err)
{
    struct message m = {.said = SAID_NO_LANDLOCK};
    int r;

    umask(022);
    if (confine_identity(err) < 0 ||
        descriptors_set(archive, pipe, root, err) < 0)
        return -1;
    r = confine_enter(3, &put_caps_default, err);
    if (r > 0)
        send(1, &m);
    return r < 0 ? -1 : 0;
}

static _Noreturn void importer(int archive, int pipe, int root)
{
    struct message m = {.said = SAID_END};
    struct teller t = {.fd = 1, .next_us = clock_us() + TELL_US};
    struct import im = {.put = {.root = 3, .caps = put_caps_default},
                        .progress = progress,
                        .ctx = &t};

    if (importer_prepare(archive, pipe, root, &m.err) < 0) {
        m.failed = 1;
        send(pipe, &m);
        send(1, &m); /* wherever the pipe is by now */
        _exit(1);
    }
    m.failed = import_run(&im, &m.err) < 0;
    m.counts = im.put.counts;
    memcpy(m.sha256, im.sha256, sizeof(m.sha256));
    send(1, &m);
    _exit(m.failed);
}

/* ---- the parent ---- */

static void tell(const char *name, const struct message *m)
{
    if (m->said == SAID_NO_LANDLOCK)
        say("template %s: this kernel lacks Landlock; the importer is held by "
            "its list of system calls alone",
            name);
    else
        say("template %s: %llu files, %llu MB", name,
            (unsigned long long)m->counts.files,
            (unsigned long long)(m->counts.bytes >> 20));
}

/* 1: the last message is in *m. 0: it ended without one. */
static int listen_to(int fd, const char *name, struct message *m)
{
    while (fd_read_full(fd, m, sizeof(*m)) == (ssize_t)sizeof(*m)) {
        m->err.text[sizeof(m->err.text) - 1] = '\0';
        m->sha256[sizeof(m->sha256) - 1] = '\0';
        if (m->said == SAID_END)
            return 1;
        tell(name, m);
    }
    return 0;
}

static int reap(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static int ended_early(int status, struct err *err)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return err_set(err, ERR_LIMIT, "the archive took too much time");
    if (WIFSIGNALED(status))
        return err_set(err, ERR_HOST, "the importer was ended by signal %d",
                       WTERMSIG(status));
    return err_set(err, ERR_HOST, "the importer ended with %d",
                   WEXITSTATUS(status));
}

int child_import(int archive, int root, const char *name,
                 struct child_result *out, struct err *err)
{
    struct message m = {0};
    int both[2], status, r;
    pid_t pid;

    if (pipe2(both, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    pid = fork();
    if (pid == 0)
        importer(archive, both[1], root);
    close(both[1]);
    if (pid < 0) {
        close(both[0]);
        return err_sys(err, "fork");
    }
    r = listen_to(both[0], name, &m);
    close(both[0]);
    status = reap(pid);
    if (r == 0)
        return ended_early(status, err);
    if (m.failed != 0) {
        say_clean(m.err.text);
        *err = m.err;
        if (err->code == ERR_NONE || err->code > ERR_INTERNAL)
            err->code = ERR_INTERNAL;
        return -1;
    }
    out->counts = m.counts;
    memcpy(out->sha256, m.sha256, sizeof(out->sha256));
    if (strspn(out->sha256, "0123456789abcdef") != SHA256_HEX_SIZE - 1)
        return err_set(err, ERR_INTERNAL, "the importer gave no hash");
    return 0;
}

/* ---- the packer ---- */

static _Noreturn void packer(int dir, int out, int store, int says)
{
    struct message m = {.said = SAID_END};

    signal(SIGPIPE, SIG_IGN);
    m.failed = pack_run(dir, out, store, &m.err) < 0;
    send(says, &m);
    _exit(m.failed);
}

int child_pack(int dir, int store, int *archive, pid_t *pid, int *says,
               struct err *err)
{
    int data[2], words[2];

    if (pipe2(data, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    if (pipe2(words, O_CLOEXEC) < 0) {
        close(data[0]);
        close(data[1]);
        return err_sys(err, "pipe");
    }
    *pid = fork();
    if (*pid == 0) {
        close(data[0]); /* or it would never see that nobody reads */
        close(words[0]);
        packer(dir, data[1], store, words[1]);
    }
    close(data[1]);
    close(words[1]);
    *archive = data[0];
    *says = words[0];
    return *pid < 0 ? err_sys(err, "fork") : 0;
}

int child_packed(pid_t pid, int says, struct err *err)
{
    struct message m = {0};
    int r = listen_to(says, "", &m);
    int status = reap(pid);

    close(says);
    if (r == 0)
        return ended_early(status, err);
    if (m.failed == 0)
        return 0;
    *err = m.err;
    return -1;
}
