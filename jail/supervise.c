/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - see supervise.h. A row per system call. A process is named by a
 * pidfd from the first look on: membership is asked with the pidfd in hand, so
 * a number that was used again is never signalled.
 */
#include "jail/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "jail/observe.h"
#include "jail/seccomp.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define CONTINUE 1 /* the kernel does it */
#define AT_ONCE 64 /* answers before the loop looks elsewhere */

struct supervise {
    int listener;
    struct supervised cell;
    struct seccomp_notif *ask; /* of the kernel's size */
    size_t ask_size;
};

/* One call of the cell. */
struct call {
    const struct supervise *s;
    pid_t thread; /* who asks */
    const uint64_t *arg;
    uint64_t id;
};

static int int_arg(const struct call *c, int i)
{
    return (int)(uint32_t)c->arg[i];
}

/* A member's pidfd, or -1 with ESRCH, or EPERM for a stranger. */
static int member(const struct call *c, pid_t pid)
{
    AUTO(fd) int fd = -1;

    if (pid <= 0) {
        errno = ESRCH;
        return -1;
    }
    fd = sys_pidfd_open(pid, 0);
    if (fd < 0) {
        /* A thread's number, or nobody's. */
        errno = ESRCH;
        return -1;
    }
    if (pid == c->s->cell.agent ||
        limiter_holds(c->s->cell.limiter, pid) != 1) {
        errno = EPERM;
        return -1;
    }
    return fd_take(&fd);
}

/* A number after "\nKey:" of /proc/PID/FILE, or -1. */
static long proc_field(pid_t pid, const char *file, const char *key)
{
    char path[64], text[4096];
    const char *at;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) < 0)
        return -1;
    at = strstr(text, key);
    return at == NULL ? -1 : strtol(at + strlen(key), NULL, 10);
}

static pid_t process_of(pid_t thread)
{
    return (pid_t)proc_field(thread, "status", "\nTgid:");
}

static bool still_asks(const struct call *c)
{
    uint64_t id = c->id;

    return sys_ioctl(c->s->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* Copies from the caller's memory. The check comes after: then it was the
 * caller's, and not that of a later process with its number. */
static int fetch(const struct call *c, uint64_t from, void *to, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)(uintptr_t)from, size};

    if (process_vm_readv(c->thread, &local, 1, &remote, 1, 0) !=
        (ssize_t)size) {
        errno = EFAULT;
        return -1;
    }
    if (!still_asks(c)) {
        errno = ESRCH;
        return -1;
    }
    return 0;
}

/* What the kernel lets a process say to another one; we are always another. */
static int fetch_info(const struct call *c, uint64_t from, int sig,
                      siginfo_t *info)
{
    if (fetch(c, from, info, sizeof(*info)) < 0)
        return -1;
    if (info->si_code >= 0 || info->si_code == SI_TKILL) {
        errno = EPERM;
        return -1;
    }
    info->si_signo = sig;
    return 0;
}

static int kill_one(const struct call *c, pid_t pid, int sig)
{
    AUTO(fd) int fd = member(c, pid);

    return fd < 0 ? -1 : sys_pidfd_send_signal(fd, sig);
}

/* A process group, or with 0 everyone but the caller, of the cell alone. */
static int kill_many(const struct call *c, pid_t group, int sig)
{
    pid_t own = process_of(c->thread);
    const pid_t *pids;
    size_t count = limiter_list(c->s->cell.limiter, &pids);
    int done = 0;

    for (size_t i = 0; i < count; i++) {
        if (group == 0 ? pids[i] == own : getpgid(pids[i]) != group)
            continue;
        if (kill_one(c, pids[i], sig) == 0)
            done++;
    }
    if (done > 0)
        return 0;
    errno = ESRCH;
    return -1;
}

static int do_kill(const struct call *c)
{
    int pid = int_arg(c, 0), sig = int_arg(c, 1);
    pid_t group;

    if (pid > 0)
        return kill_one(c, pid, sig);
    if (pid == -1)
        return kill_many(c, 0, sig);
    if (pid == INT32_MIN) {
        errno = ESRCH;
        return -1;
    }
    group = pid == 0 ? getpgid(process_of(c->thread)) : -pid;
    if (group <= 0 || !still_asks(c)) {
        errno = ESRCH;
        return -1;
    }
    return kill_many(c, group, sig);
}

/* A thread of a member. The pidfd is held over the call; the kernel checks
 * that the thread is the process's. */
static int thread_signal(const struct call *c, pid_t process, pid_t thread,
                         int sig, siginfo_t *info)
{
    AUTO(fd) int fd = member(c, process);

    if (fd < 0)
        return -1;
    if (info != NULL)
        return sys_rt_tgsigqueueinfo(process, thread, sig, info);
    return sys_tgkill(process, thread, sig);
}

static int do_tgkill(const struct call *c)
{
    return thread_signal(c, int_arg(c, 0), int_arg(c, 1), int_arg(c, 2), NULL);
}

static int do_tkill(const struct call *c)
{
    pid_t thread = int_arg(c, 0);
    pid_t process = thread <= 0 ? -1 : process_of(thread);

    if (process <= 0) {
        errno = thread <= 0 ? EINVAL : ESRCH;
        return -1;
    }
    return thread_signal(c, process, thread, int_arg(c, 1), NULL);
}

static int do_sigqueue(const struct call *c)
{
    AUTO(fd) int fd = member(c, int_arg(c, 0));
    siginfo_t info;

    if (fd < 0 || fetch_info(c, c->arg[2], int_arg(c, 1), &info) < 0)
        return -1;
    return sys_pidfd_send_info(fd, int_arg(c, 1), &info);
}

static int do_tgsigqueue(const struct call *c)
{
    siginfo_t info;

    if (fetch_info(c, c->arg[3], int_arg(c, 2), &info) < 0)
        return -1;
    return thread_signal(c, int_arg(c, 0), int_arg(c, 1), int_arg(c, 2), &info);
}

static int do_pidfd_signal(const struct call *c)
{
    AUTO(fd) int fd = -1;
    siginfo_t info;
    char file[32];
    long pid;

    if (c->arg[3] != 0) {
        errno = EINVAL;
        return -1;
    }
    snprintf(file, sizeof(file), "fdinfo/%d", int_arg(c, 0));
    pid = proc_field(c->thread, file, "\nPid:");
    if (pid <= 0 || !still_asks(c)) {
        errno = pid == -1 ? EBADF : ESRCH;
        return -1;
    }
    if (c->arg[2] != 0 && fetch_info(c, c->arg[2], int_arg(c, 1), &info) < 0)
        return -1;
    fd = member(c, (pid_t)pid);
    if (fd < 0)
        return -1;
    return c->arg[2] == 0 ? sys_pidfd_send_signal(fd, int_arg(c, 1))
                          : sys_pidfd_send_info(fd, int_arg(c, 1), &info);
}

/* May a descriptor's signals go there? A group only when it is the caller's:
 * it was born in the cell's session, and no stranger can join it. */
static bool may_own(const struct call *c, int type, pid_t pid)
{
    AUTO(fd) int fd = -1;

    if (pid == 0)
        return true;
    if (type == F_OWNER_PGRP)
        return pid == getpgid(process_of(c->thread));
    fd = member(c, type == F_OWNER_TID ? process_of(pid) : pid);
    return fd >= 0;
}

/* F_SETOWN and F_SETOWN_EX: the only fcntl() that is asked about. */
static int do_fcntl(const struct call *c)
{
    struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = int_arg(c, 2)};
    AUTO(fd) int process = -1;
    AUTO(fd) int fd = -1;

    if (int_arg(c, 1) == F_SETOWN_EX) {
        if (fetch(c, c->arg[2], &owner, sizeof(owner)) < 0)
            return -1;
    } else if (owner.pid < 0 && owner.pid != INT32_MIN) {
        owner.type = F_OWNER_PGRP;
        owner.pid = -owner.pid;
    }
    errno = EPERM;
    if (owner.pid < 0 || !may_own(c, (int)owner.type, owner.pid))
        return -1;
    process = sys_pidfd_open(process_of(c->thread), 0);
    fd = process < 0 ? -1 : sys_pidfd_getfd(process, int_arg(c, 0));
    if (fd < 0 || !still_asks(c))
        return -1;
    return fcntl(fd, F_SETOWN_EX, &owner);
}

/* Shared anonymous memory. What the kernel then does depends on registers of
 * the call alone, which nobody can change meanwhile. */
static int do_mmap(const struct call *c)
{
    return limiter_share(c->s->cell.limiter, c->thread, c->arg[1]) < 0
               ? -1
               : CONTINUE;
}

/* A process or a thread: what is made is said by registers, too, and the
 * filter has looked at the flags. */
static int do_fork(const struct call *c)
{
    return limiter_fork(c->s->cell.limiter, c->thread) < 0 ? -1 : CONTINUE;
}

/* clang-format off */
static const struct {
    int nr;
    int (*run)(const struct call *c); /* 0, CONTINUE, or -1 with errno */
} calls[] = {
    {SYS_kill, do_kill},
    {SYS_tgkill, do_tgkill},
    {SYS_tkill, do_tkill},
    {SYS_rt_sigqueueinfo, do_sigqueue},
    {SYS_rt_tgsigqueueinfo, do_tgsigqueue},
    {SYS_pidfd_send_signal, do_pidfd_signal},
    {SYS_fcntl, do_fcntl},
    {SYS_mmap, do_mmap},
    {SYS_clone, do_fork},
    {SYS_fork, do_fork},
    {SYS_vfork, do_fork},
};
/* clang-format on */

/* 0, CONTINUE, or -1 with errno. What is refused is not done: the filter's own
 * answer is given, whatever else it could be taken for. */
static int perform(const struct supervise *s, const struct seccomp_notif *ask)
{
    const struct call c = {.s = s,
                           .thread = (pid_t)ask->pid,
                           .arg = (const uint64_t *)ask->data.args,
                           .id = ask->id};
    uint32_t judged = seccomp_judge(s->cell.variant, &ask->data);

    errno = ENOSYS;
    if ((judged & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
        errno = (int)(judged & SECCOMP_RET_DATA);
    else if (judged == SECCOMP_RET_USER_NOTIF)
        for (size_t i = 0; i < ARRAY_LEN(calls); i++)
            if (calls[i].nr == ask->data.nr)
                return calls[i].run(&c);
    return -1;
}

/* By us, or by the filter; not what a kernel would say to anyone. */
static bool is_refusal(const struct supervise *s,
                       const struct seccomp_notif *ask, int error)
{
    return error == EPERM ||
           seccomp_judge(s->cell.variant, &ask->data) != SECCOMP_RET_USER_NOTIF;
}

int supervise_new(int listener, const struct supervised *cell,
                  struct supervise **out, struct err *err)
{
    AUTO(fd) int fd = listener;
    struct seccomp_notif_sizes sizes;
    struct supervise *s;

    if (sys_seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
        return err_sys(err, "ask for the sizes of seccomp notifications");
    s = calloc(1, sizeof(*s));
    if (s == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    s->ask_size = sizes.seccomp_notif > sizeof(*s->ask) ? sizes.seccomp_notif
                                                        : sizeof(*s->ask);
    s->ask = calloc(1, s->ask_size);
    if (s->ask == NULL) {
        free(s);
        return err_set(err, ERR_HOST, "out of memory");
    }
    s->listener = fd_take(&fd);
    s->cell = *cell;
    *out = s;
    return 0;
}

int supervise_fd(const struct supervise *s, int *rest_ms)
{
    *rest_ms = observer_rest_ms(s->cell.observer);
    return *rest_ms > 0 ? -1 : s->listener;
}

/* 1 answered, 0 nothing waits, -1 nobody is left. */
static int answer_one(struct supervise *s)
{
    struct pollfd p = {.fd = s->listener, .events = POLLIN};
    struct seccomp_notif_resp answer = {0};
    int r;

    if (poll(&p, 1, 0) < 1)
        return 0;
    if ((p.revents & POLLIN) == 0)
        return -1;
    /* The kernel wants it zeroed. */
    memset(s->ask, 0, s->ask_size);
    if (sys_ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, s->ask) < 0)
        return errno == ENOENT || errno == EINTR ? 1 : -1;
    answer.id = s->ask->id;
    r = perform(s, s->ask);
    if (r == CONTINUE) {
        answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else if (r < 0) {
        answer.error = -errno;
        if (is_refusal(s, s->ask, errno))
            observer_note(s->cell.observer, s->listener, s->ask, errno);
    }
    /* Who asked may be dead by now. */
    sys_ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    return 1;
}

static uint64_t cpu_us(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

int supervise_answer(struct supervise *s)
{
    uint64_t begin = cpu_us();
    int r = 1;

    for (int i = 0; i < AT_ONCE && r > 0; i++)
        r = observer_rest_ms(s->cell.observer) > 0 ? 0 : answer_one(s);
    observer_spent(s->cell.observer, cpu_us() - begin);
    return r < 0 ? -1 : 0;
}

void supervise_free(struct supervise *s)
{
    if (s == NULL)
        return;
    close(s->listener);
    free(s->ask);
    free(s);
}
