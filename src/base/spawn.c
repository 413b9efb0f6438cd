/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn - see spawn.h. The child of vfork shares our memory until it execs: it
 * makes system calls and writes one number, and no signal handler runs in it.
 */
#include "src/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fd.h"
#include "src/base/sys.h"

#define SPAWN_FDS_MAX 8
#define SPAWN_ABOVE 32 /* out of the way of the numbers that the child gets */

/* In the child, every signal blocked; 0 or errno. */
static int child_prepare(const int *fds, int count)
{
    int high[SPAWN_FDS_MAX];
    sigset_t none;

    for (int i = 0; i < count; i++) {
        high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, SPAWN_ABOVE);
        if (high[i] < 0)
            return errno;
    }
    sys_close_range(0, 2, 0);
    if (open("/dev/null", O_RDWR) != 0 || dup2(0, 1) != 1 || dup2(0, 2) != 2)
        return errno;
    for (int i = 0; i < count; i++)
        if (dup2(high[i], 3 + i) < 0)
            return errno;
    if (sys_close_range((unsigned)(3 + count), ~0u, 0) < 0 || setsid() < 0)
        return errno;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0 ? 0 : errno;
}

static pid_t child_start(const char *path, const int *fds, int count,
                         volatile int *failed)
{
    char *const argv[] = {(char *)path, NULL};
    char *const envp[] = {NULL};
    sigset_t all, old;
    pid_t child;

    *failed = 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    child = vfork();
    if (child == 0) {
        *failed = child_prepare(fds, count);
        if (*failed == 0) {
            execve(path, argv, envp);
            *failed = errno;
        }
        _exit(127);
    }
    if (child < 0)
        *failed = errno;
    sigprocmask(SIG_SETMASK, &old, NULL);
    return child;
}

int spawn_program(const char *path, const int *fds, size_t count, pid_t *pid,
                  int *pidfd, struct err *err)
{
    volatile int failed;
    pid_t child;

    if (count > SPAWN_FDS_MAX)
        return err_set(err, ERR_INTERNAL, "%zu descriptors to pass", count);
    child = child_start(path, fds, (int)count, &failed);
    if (failed != 0) {
        if (child > 0)
            waitpid(child, NULL, 0);
        errno = failed;
        return err_sys(err, "start %s", path);
    }
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
