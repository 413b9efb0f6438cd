/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_peer - a real karzer-agent on a socketpair, as an ordinary child of the
 * test (so not pid 1: it is a subreaper), and frames to talk to it.
 *
 * The program is the one that KARZER_AGENT names, else the one of the build
 * that this test belongs to (a sanitizer build has none: then its parent's).
 */
#ifndef KARZER_TESTS_AGENT_PEER_H
#define KARZER_TESTS_AGENT_PEER_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/agent.h"

#define PEER_MS 20000
#define PEER_ENV "PATH=/usr/bin:/bin"

struct peer {
    int fd;
    pid_t pid;
    struct agent_frame head; /* of the frame that peer_next() gave */
    char payload[AGENT_DATA_MAX];
};

static inline const char *peer_program(void)
{
    static char path[4200];
    const char *given = getenv("KARZER_AGENT");
    static const char *const places[] = {"../libexec/karzer/karzer-agent",
                                         "../../libexec/karzer/karzer-agent"};
    char dir[4096];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

    if (given != NULL)
        return given;
    assert_true(n > 0);
    dir[n] = 0;
    *strrchr(dir, '/') = 0;
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, places[i]);
        if (access(path, X_OK) == 0)
            return path;
    }
    fail_msg("no karzer-agent beside %s; set KARZER_AGENT", dir);
    return NULL;
}

static inline void peer_start_bare(struct peer *p)
{
    const char *program = peer_program();
    int end[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end),
                     0);
    p->pid = fork();
    assert_true(p->pid >= 0);
    if (p->pid == 0) {
        signal(SIGUSR1, SIG_IGN); /* must not reach the programs */
        if (end[1] == AGENT_STREAM_FD)
            fcntl(end[1], F_SETFD, 0);
        else
            dup2(end[1], AGENT_STREAM_FD);
        execve(program, (char *const[]){(char *)(uintptr_t)program, NULL},
               (char *const[]){NULL});
        _exit(99);
    }
    close(end[1]);
    p->fd = end[0];
}

/* len bytes, or fewer at EOF. */
static inline size_t peer_read(struct peer *p, void *to, size_t len)
{
    size_t at = 0;

    while (at < len) {
        struct pollfd fd = {.fd = p->fd, .events = POLLIN};
        ssize_t n;

        assert_int_equal(poll(&fd, 1, PEER_MS), 1);
        n = read(p->fd, (char *)to + at, len - at);
        if (n == 0 || (n < 0 && errno == ECONNRESET)) /* ended, unread */
            break;
        assert_true(n > 0);
        at += (size_t)n;
    }
    return at;
}

/* The next frame's type; AGENT_NONE at EOF. */
static inline int peer_next(struct peer *p)
{
    size_t n = peer_read(p, &p->head, sizeof(p->head));

    if (n == 0)
        return AGENT_NONE;
    assert_int_equal(n, sizeof(p->head));
    assert_true(p->head.size <= sizeof(p->payload));
    assert_int_equal(peer_read(p, p->payload, p->head.size), p->head.size);
    return p->head.type;
}

static inline void peer_start(struct peer *p)
{
    uint32_t version;

    peer_start_bare(p);
    assert_int_equal(peer_next(p), AGENT_HELLO);
    assert_int_equal(p->head.size, sizeof(version));
    memcpy(&version, p->payload, sizeof(version));
    assert_int_equal(version, AGENT_VERSION);
}

/* Waits for the agent's end; its exit status. */
static inline int peer_wait(struct peer *p)
{
    int status;

    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    close(p->fd);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Leaves; the agent must end by itself. */
static inline void peer_stop(struct peer *p)
{
    shutdown(p->fd, SHUT_RDWR);
    assert_int_equal(peer_wait(p), 0);
}

static inline void peer_write(struct peer *p, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = send(p->fd, at, len, MSG_NOSIGNAL);

        assert_true(n > 0);
        at += n;
        len -= (size_t)n;
    }
}

static inline void peer_send(struct peer *p, uint16_t type, uint16_t cmd,
                             const void *data, size_t len)
{
    const struct agent_frame head = {
        .size = (uint32_t)len, .type = type, .cmd = cmd};

    peer_write(p, &head, sizeof(head));
    peer_write(p, data, len);
}

struct peer_exec {
    uint16_t cmd;
    uint32_t flags;
    const char *cwd;         /* NULL: / */
    const char *const *argv; /* ends with NULL */
    const char *const *env;  /* NULL: PEER_ENV alone */
};

static inline size_t peer_strings(char *to, const char *const *list,
                                  uint32_t *count)
{
    size_t len = 0;

    for (*count = 0; list[*count] != NULL; ++*count) {
        strcpy(to + len, list[*count]);
        len += strlen(list[*count]) + 1;
    }
    return len;
}

static inline void peer_exec(struct peer *p, const struct peer_exec *what)
{
    static const char *const usual[] = {PEER_ENV, NULL};
    static char text[AGENT_EXEC_MAX];
    struct agent_exec head = {.flags = what->flags};
    size_t len = sizeof(head);

    strcpy(text + len, what->cwd == NULL ? "/" : what->cwd);
    len += strlen(text + len) + 1;
    len += peer_strings(text + len, what->argv, &head.argc);
    len += peer_strings(text + len, what->env == NULL ? usual : what->env,
                        &head.envc);
    memcpy(text, &head, sizeof(head));
    peer_send(p, AGENT_EXEC, what->cmd, text, len);
}

/* sh -c SCRIPT as command `cmd`. */
static inline void peer_shell(struct peer *p, uint16_t cmd, uint32_t flags,
                              const char *script)
{
    peer_exec(p, &(struct peer_exec){
                     .cmd = cmd,
                     .flags = flags,
                     .argv = (const char *const[]){"sh", "-c", script, NULL}});
}

/* What a command said until EXITED or EXEC_FAILED. */
struct peer_end {
    char out[1 << 16];
    char err[1 << 16];
    char runtime[1 << 16];
    size_t out_len, err_len, runtime_len;
    struct agent_exited exited;
    uint32_t failed[2]; /* errno, stage */
};

static inline void peer_keep(char *to, size_t *len, const struct peer *p)
{
    if (*len + p->head.size < (1 << 16))
        memcpy(to + *len, p->payload, p->head.size);
    *len += p->head.size;
}

/* Reads frames of `cmd` (others must not come). The last one's type. */
static inline int peer_finish(struct peer *p, uint16_t cmd,
                              struct peer_end *end)
{
    memset(end, 0, sizeof(*end));
    for (;;) {
        int type = peer_next(p);

        if (type != AGENT_NONE)
            assert_int_equal(p->head.cmd, cmd);
        if (type == AGENT_STDOUT)
            peer_keep(end->out, &end->out_len, p);
        else if (type == AGENT_STDERR)
            peer_keep(end->err, &end->err_len, p);
        else if (type == AGENT_RUNTIME_OUT)
            peer_keep(end->runtime, &end->runtime_len, p);
        else if (type == AGENT_EXITED)
            memcpy(&end->exited, p->payload, sizeof(end->exited));
        else if (type == AGENT_EXEC_FAILED)
            memcpy(end->failed, p->payload, sizeof(end->failed));
        if (type == AGENT_EXITED || type == AGENT_EXEC_FAILED ||
            type == AGENT_NONE)
            return type;
    }
}

/* Runs a shell script to its end; its exit code. */
static inline int peer_run(struct peer *p, const char *script,
                           struct peer_end *end)
{
    peer_shell(p, 1, AGENT_EXEC_NO_STDIN, script);
    assert_int_equal(peer_next(p), AGENT_STARTED);
    assert_int_equal(peer_finish(p, 1, end), AGENT_EXITED);
    return end->exited.code;
}

#endif
