/* SPDX-License-Identifier: Apache-2.0 */
/* child - see child.h. Called by cmd_attack.c, cmd_bench.c and their parts. */
#include "src/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

bool child_ok(const struct child_end *end)
{
    return WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0;
}

static const char *first_program(const char *const *paths)
{
    for (; *paths != NULL; paths++)
        if (access(*paths, X_OK) == 0)
            return *paths;
    return NULL;
}

const char *child_python(void)
{
    static const char *const paths[] = {"/usr/bin/python3",
                                        "/usr/local/bin/python3", NULL};

    return first_program(paths);
}

const char *child_sh(void)
{
    static const char *const paths[] = {"/bin/sh", "/usr/bin/sh", NULL};

    return first_program(paths);
}

const char *child_bash(void)
{
    static const char *const paths[] = {"/bin/bash", "/usr/bin/bash", NULL};

    return first_program(paths);
}

static int start(char *const argv[], int out, pid_t *pid)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    sigset_t none, all;
    int r;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&at);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setsigdefault(&at, &all);
    posix_spawnattr_setflags(&at,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&fa);
    r = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&fa, out, 1);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    if (r == 0)
        r = posix_spawn(pid, argv[0], &fa, &at, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&at);
    return r;
}

/* Until EOF. -1: past the cap or the time. */
static int collect(int fd, uint64_t deadline_us, struct buf *out)
{
    char part[4096];

    for (;;) {
        uint64_t now = clock_us();
        ssize_t n;

        if (now >= deadline_us ||
            !fd_wait(fd, POLLIN, (int)((deadline_us - now) / 1000 + 1)))
            return -1;
        n = read(fd, part, sizeof(part));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? 0 : -1;
        if (buf_add(out, part, (size_t)n, NULL) < 0)
            return -1;
    }
}

int child_run(char *const argv[], int timeout_ms, struct buf *out,
              struct child_end *end, struct err *err)
{
    AUTO(fd) int from = -1;
    AUTO(fd) int to = -1;
    uint64_t begun;
    pid_t pid = 0;
    int both[2];

    if (pipe2(both, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    from = both[0];
    to = both[1];
    begun = clock_us();
    errno = start(argv, to, &pid);
    if (errno != 0 || pid <= 0)
        return err_sys(err, "start %s", argv[0]);
    fd_drop(&to);
    if (collect(from, begun + (uint64_t)timeout_ms * 1000, out) < 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, &end->status, 0) < 0)
        if (errno != EINTR)
            return err_sys(err, "wait for %s", argv[0]);
    end->us = clock_us() - begun;
    return 0;
}
