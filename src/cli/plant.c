/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plant - see plant.h. The files hold nothing but a random word; they lie in
 * new directories, and only what was made here is removed.
 */
#include "src/cli/plant.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

int plant_secret(char out[PLANT_SECRET_SIZE], struct err *err)
{
    uint8_t bytes[16];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return err_sys(err, "getrandom");
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* 0: planted; 1: this directory is not ours to write; -1. */
static int file_make(struct plant_file *f, const char *dir, const char *name,
                     mode_t mode, struct err *err)
{
    const mode_t dir_mode = mode | (mode & 0444) >> 2; /* x where r is */
    AUTO(fd) int fd = -1;
    int n = snprintf(f->dir, sizeof(f->dir), "%s/%s", dir, name);

    if (plant_secret(f->secret, err) < 0)
        return -1;
    if (n < 0 || (size_t)n >= sizeof(f->dir) || mkdtemp(f->dir) == NULL)
        return 1;
    memcpy(f->path, f->dir, (size_t)n);
    memcpy(f->path + n, "/credentials", sizeof("/credentials"));
    fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || fd_write_all(fd, f->secret, strlen(f->secret)) < 0 ||
        fchmod(fd, mode) < 0 || chmod(f->dir, dir_mode) < 0) {
        err_sys(err, "plant %s", f->path);
        unlink(f->path);
        rmdir(f->dir);
        return -1;
    }
    return 0;
}

/* One that only the operator can read, and ones that anybody could who saw
 * their directory. */
static int files_make(struct plant *p, const char *home, struct err *err)
{
    const struct place {
        const char *dir, *name;
        mode_t mode;
    } places[PLANT_FILES_MAX] = {
        {home, ".karzer-attack-XXXXXX", 0600},
        {"/var/tmp", "karzer-attack-XXXXXX", 0644},
        {"/tmp", "karzer-attack-XXXXXX", 0644},
        {"/srv", "karzer-attack-XXXXXX", 0644},
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct place *at = &places[i];
        int r;

        if (at->dir == NULL || at->dir[0] != '/')
            continue;
        r = file_make(&p->files[p->file_count], at->dir, at->name, at->mode,
                      err);
        if (r < 0)
            return -1;
        if (r == 0)
            p->file_count++;
    }
    if (p->file_count == 0)
        return err_set(err, ERR_HOST,
                       "plant a credentials file: neither the home directory "
                       "nor /var/tmp, /tmp, /srv can be written");
    return 0;
}

/* The child: gives its secret to whoever connects, until it is killed. */
__attribute__((noreturn)) static void serve(int listener, const char *secret,
                                            pid_t parent)
{
    static const int fd = 3;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    if (listener != fd)
        dup2(listener, fd);
    sys_close_range(0, 2, 0);
    sys_close_range(4, ~0u, 0);
    for (;;) {
        int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

        if (peer < 0 && errno != EINTR && errno != ECONNABORTED)
            _exit(1);
        if (peer < 0)
            continue;
        (void)!send(peer, secret, strlen(secret), MSG_NOSIGNAL);
        close(peer);
    }
}

static int service_make(struct plant *p, struct err *err)
{
    AUTO(fd) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    pid_t self = getpid();

    if (plant_secret(p->service_secret, err) < 0)
        return -1;
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) < 0 ||
        listen(fd, 16) < 0 || getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        return err_sys(err, "plant a service on 127.0.0.1");
    snprintf(p->port, sizeof(p->port), "%u", ntohs(at.sin_port));
    p->service = fork();
    if (p->service == 0)
        serve(fd, p->service_secret, self);
    if (p->service < 0) {
        p->service = 0;
        return err_sys(err, "fork");
    }
    return 0;
}

int plant_make(struct plant *p, const char *home, struct err *err)
{
    *p = (struct plant){0};
    if (files_make(p, home, err) < 0 || service_make(p, err) < 0) {
        plant_remove(p);
        return -1;
    }
    return 0;
}

void plant_remove(struct plant *p)
{
    if (p->service > 0) {
        kill(p->service, SIGKILL);
        while (waitpid(p->service, NULL, 0) < 0 && errno == EINTR)
            continue;
        p->service = 0;
    }
    for (size_t i = 0; i < p->file_count; i++) {
        unlink(p->files[i].path);
        rmdir(p->files[i].dir);
    }
    p->file_count = 0;
}
