/* SPDX-License-Identifier: Apache-2.0 */
/* spawn - see spawn.h. */
#include "src/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define SPAWN_FDS_MAX 8

/* Sources are first moved out of the way of the targets. */
static int actions_fill(posix_spawn_file_actions_t *fa, const int *fds,
                        size_t count, int *high)
{
    int r = 0;

    for (int i = 0; i < 3 && r == 0; i++)
        r = posix_spawn_file_actions_addopen(fa, i, "/dev/null", O_RDWR, 0);
    for (size_t i = 0; i < count && r == 0; i++) {
        high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 32);
        if (high[i] < 0)
            return errno;
        r = posix_spawn_file_actions_adddup2(fa, high[i], (int)(3 + i));
    }
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(fa, (int)(3 + count));
    return r;
}

static int attributes_fill(posix_spawnattr_t *at)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(at, &none);
    posix_spawnattr_setsigdefault(at, &all);
    return posix_spawnattr_setflags(at, POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETSID);
}

int spawn_program(const char *path, const int *fds, size_t count, pid_t *pid,
                  int *pidfd, struct err *err)
{
    char *const argv[] = {(char *)path, NULL};
    char *const envp[] = {NULL};
    int high[SPAWN_FDS_MAX];
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    pid_t child = -1;
    int r;

    if (count > SPAWN_FDS_MAX)
        return err_set(err, ERR_INTERNAL, "%zu descriptors to pass", count);
    for (size_t i = 0; i < count; i++)
        high[i] = -1;
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&at);
    r = actions_fill(&fa, fds, count, high);
    if (r == 0)
        r = attributes_fill(&at);
    if (r == 0)
        r = posix_spawn(&child, path, &fa, &at, argv, envp);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&at);
    for (size_t i = 0; i < count; i++)
        fd_drop(&high[i]);
    errno = r;
    if (r != 0)
        return err_sys(err, "start %s", path);
    *pidfd = sys_pidfd_open(child, 0);
    if (*pidfd < 0) {
        err_sys(err, "pidfd_open");
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        return -1;
    }
    *pid = child;
    return 0;
}

int spawn_wait(int pidfd, int timeout_ms)
{
    siginfo_t si;

    if (!fd_wait(pidfd, POLLIN, timeout_ms))
        return -1;
    return waitid(P_PIDFD, (id_t)pidfd, &si, WEXITED) == 0 || errno == ECHILD
               ? 0
               : -1;
}
