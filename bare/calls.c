/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls - functions of libc's headers that are system calls: those of calls.def
 * as they are, and below those that need a little more. Same meaning and errno
 * as their manual pages say.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bare/syscall.h"

#define KERNEL_SIGSET 8 /* bytes of a signal set, as the kernel counts them */

/* One thread: a plain variable. */
int *__errno_location(void)
{
    static int value;

    return &value;
}

long bare_result(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

#define L(x) ((long)(x))
#define CALL(nr, a, b, c, d, e, f)                                             \
    bare_result(bare_call(nr, L(a), L(b), L(c), L(d), L(e), L(f)))
#define CALL1(type, name, nr, A)                                               \
    type name(A a)                                                             \
    {                                                                          \
        return (type)CALL(nr, a, 0, 0, 0, 0, 0);                               \
    }
#define CALL2(type, name, nr, A, B)                                            \
    type name(A a, B b)                                                        \
    {                                                                          \
        return (type)CALL(nr, a, b, 0, 0, 0, 0);                               \
    }
#define CALL3(type, name, nr, A, B, C)                                         \
    type name(A a, B b, C c)                                                   \
    {                                                                          \
        return (type)CALL(nr, a, b, c, 0, 0, 0);                               \
    }
#define CALL4(type, name, nr, A, B, C, D)                                      \
    type name(A a, B b, C c, D d)                                              \
    {                                                                          \
        return (type)CALL(nr, a, b, c, d, 0, 0);                               \
    }
#include "bare/calls.def"

void _exit(int status)
{
    for (;;)
        bare_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* Last arguments that may be missing: then what is passed on is not used. */
static long optional(va_list list)
{
    return va_arg(list, long);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    long mode;

    va_start(list, flags);
    mode = optional(list);
    va_end(list);
    return (int)CALL(SYS_openat, AT_FDCWD, path, flags, mode, 0, 0);
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list list;
    long mode;

    va_start(list, flags);
    mode = optional(list);
    va_end(list);
    return (int)CALL(SYS_openat, dir, path, flags, mode, 0, 0);
}

int fcntl(int fd, int command, ...)
{
    va_list list;
    long value;

    va_start(list, command);
    value = optional(list);
    va_end(list);
    return (int)CALL(SYS_fcntl, fd, command, value, 0, 0, 0);
}

int ioctl(int fd, unsigned long command, ...)
{
    va_list list;
    long value;

    va_start(list, command);
    value = optional(list);
    va_end(list);
    return (int)CALL(SYS_ioctl, fd, command, value, 0, 0, 0);
}

/* Only options with at most one argument; the others must be 0. */
int prctl(int option, ...)
{
    va_list list;
    long value;

    va_start(list, option);
    value = optional(list);
    va_end(list);
    return (int)CALL(SYS_prctl, option, value, 0, 0, 0, 0);
}

pid_t getpid(void)
{
    return (pid_t)CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

pid_t setsid(void)
{
    return (pid_t)CALL(SYS_setsid, 0, 0, 0, 0, 0, 0);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    return (pid_t)CALL(SYS_wait4, pid, status, options, 0, 0, 0);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return (void *)CALL(SYS_mmap, at, len, prot, flags, fd, offset);
}

int pipe2(int fd[2], int flags)
{
    return (int)CALL(SYS_pipe2, fd, flags, 0, 0, 0, 0);
}

int socketpair(int domain, int type, int protocol, int fd[2])
{
    return (int)CALL(SYS_socketpair, domain, type, protocol, fd, 0, 0);
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
    return CALL(SYS_recvfrom, fd, data, len, flags, 0, 0);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
    return CALL(SYS_sendto, fd, data, len, flags, 0, 0);
}

int stat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *st)
{
    return (int)CALL(SYS_fstat, fd, st, 0, 0, 0, 0);
}

int getrlimit(__rlimit_resource_t which, struct rlimit *limit)
{
    return (int)CALL(SYS_prlimit64, 0, which, 0, limit, 0, 0);
}

int setrlimit(__rlimit_resource_t which, const struct rlimit *limit)
{
    return (int)CALL(SYS_prlimit64, 0, which, limit, 0, 0, 0);
}

/* Signals. libc's set is longer than the kernel's; its first word is that. */

int sigemptyset(sigset_t *set)
{
    memset(set, 0, sizeof(*set));
    return 0;
}

int sigfillset(sigset_t *set)
{
    memset(set, 0xff, sizeof(*set));
    return 0;
}

int sigaddset(sigset_t *set, int signal)
{
    set->__val[0] |= 1ul << (signal - 1);
    return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return (int)CALL(SYS_rt_sigprocmask, how, set, old, KERNEL_SIGSET, 0, 0);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
    return (int)CALL(SYS_signalfd4, fd, set, KERNEL_SIGSET, flags, 0, 0);
}

/* SIG_DFL and SIG_IGN only: a handler would need a way to return. */
int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } kernel = {action->sa_handler, 0, NULL, 0};

    if (old != NULL ||
        (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)) {
        errno = EINVAL;
        return -1;
    }
    return (int)CALL(SYS_rt_sigaction, signal, &kernel, 0, KERNEL_SIGSET, 0, 0);
}
