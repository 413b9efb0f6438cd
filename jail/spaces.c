/* SPDX-License-Identifier: Apache-2.0 */
/* spaces - see spaces.h; namespaces(7). */
#include "jail/spaces.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#include "jail/limits.h"
#include "jail/pass.h"
#include "jail/sockets.h"
#include "jail/handoff.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define NAME "karzer"

/* clang-format off */
static const struct space {
    uint64_t flag;
    enum holder_mechanism mechanism;
    bool process; /* the process view has it, too */
    const char *name;
} spaces[] = {
    {CLONE_NEWNS,  HOLDER_FILES,     true,  "mount"},
    {CLONE_NEWPID, HOLDER_PROCESSES, true,  "pid"},
    {CLONE_NEWIPC, HOLDER_IPC,       true,  "ipc"},
    {CLONE_NEWUTS, HOLDER_HOSTNAME,  false, "uts"},
};
/* clang-format on */

static pid_t clone_flags(const struct jail *j, uint64_t flags, int *pidfd)
{
    int group = limiter_cgroup_fd(j->limiter);
    struct clone_args args = {
        .flags = flags | CLONE_PIDFD,
        .exit_signal = SIGCHLD,
        .pidfd = (uint64_t)(uintptr_t)pidfd,
    };

    if (group >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)group;
    }
    return sys_clone3(&args);
}

/* Can this one be had? Only asked when all of them could not. */
static int try_space(const struct space *s)
{
    const struct clone_args args = {.flags = s->flag, .exit_signal = SIGCHLD};
    pid_t pid = sys_clone3(&args);

    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return pid > 0 ? 0 : -1;
}

/* Removes from *flags what may lack; -1 on the first that may not. */
static int find_refused(struct jail *j, uint64_t *flags, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
        const struct space *s = &spaces[i];

        if ((*flags & s->flag) == 0 || try_space(s) == 0)
            continue;
        err_sys(err, "%s namespaces are refused", s->name);
        /* without these two there is no view to give */
        if (s->mechanism == HOLDER_FILES || s->mechanism == HOLDER_PROCESSES)
            return j->mechanism = s->mechanism, -1;
        if (jail_lacks(j, s->mechanism) < 0)
            return -1;
        *flags &= ~s->flag;
    }
    return 0;
}

pid_t spaces_clone(struct jail *j, int *pidfd, struct err *err)
{
    uint64_t flags = 0;
    pid_t pid;

    for (size_t i = 0; i < ARRAY_LEN(spaces) && !j->fallback; i++)
        if (j->container || spaces[i].process) {
            flags |= spaces[i].flag;
            j->effective[spaces[i].mechanism] = HOLDER_HOW_NAMESPACE;
        }
    pid = clone_flags(j, flags, pidfd);
    if (pid >= 0)
        return pid;
    err_sys(err, "clone");
    if (flags == 0 || find_refused(j, &flags, err) < 0)
        return -1;
    pid = clone_flags(j, flags, pidfd);
    return pid < 0 ? err_sys(err, "clone") : pid;
}

static int loopback_up(void)
{
    AUTO(fd) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP};

    return fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &req);
}

static int network_make(struct jail *j, int *net, struct err *err)
{
    if (unshare(CLONE_NEWNET) < 0) {
        err_sys(err, "network namespaces are refused");
        return jail_lacks(j, HOLDER_NETWORK);
    }
    *net = openat(j->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (*net < 0 || loopback_up() < 0)
        return err_sys(err, "network namespace");
    j->effective[HOLDER_NETWORK] = HOLDER_HOW_NAMESPACE;
    return 0;
}

int spaces_network(struct jail *j, int up, struct err *err)
{
    AUTO(fd) int net = -1, list = -1;
    bool found;

    if (sockets_list(j, &list, err) < 0 || network_make(j, &net, err) < 0 ||
        sockets_look(j, list, &found, err) < 0)
        return -1;
    if (pass_send(up, &found, sizeof(found), net) < 0)
        return err_sys(err, "send the network namespace");
    return 0;
}

int spaces_join(struct jail *j, struct err *err)
{
    AUTO(fd) int net = -1;
    bool found;

    if (pass_recv(j->up_fd, &found, sizeof(found), &net, 0) != sizeof(found))
        return err_set(err, ERR_HOST, "the holder has gone");
    if (sockets_mask(j, found, err) < 0)
        return -1;
    if (net < 0)
        return 0; /* may lack it: the holder has looked */
    if (setns(net, CLONE_NEWNET) < 0)
        return err_sys(err, "enter the network namespace");
    j->effective[HOLDER_NETWORK] = HOLDER_HOW_NAMESPACE;
    return 0;
}

/* Uptime and the monotonic clock start at 0 in the new namespace. */
static int clock_start(const struct jail *j)
{
    struct timespec mono, boot;
    char text[96];

    clock_gettime(CLOCK_MONOTONIC, &mono);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    snprintf(text, sizeof(text), "monotonic -%lld 0\nboottime -%lld 0\n",
             (long long)mono.tv_sec, (long long)boot.tv_sec);
    return fd_write_text(j->proc_fd, "self/timens_offsets", text);
}

/*
 * Enters it at once. Linux does that at the next exec only from 6.3 on; before,
 * the agent would stay outside and its vfork would be EINVAL.
 */
static int clock_enter(const struct jail *j)
{
    AUTO(fd)
    int fd =
        openat(j->proc_fd, "self/ns/time_for_children", O_RDONLY | O_CLOEXEC);

    return fd < 0 ? -1 : setns(fd, CLONE_NEWTIME);
}

static int settle_one(struct jail *j, int flag, enum holder_mechanism mechanism,
                      struct err *err)
{
    if (unshare(flag) < 0) {
        err_sys(err, "unshare");
        return jail_lacks(j, mechanism);
    }
    j->effective[mechanism] = HOLDER_HOW_NAMESPACE;
    return 0;
}

int spaces_settle(struct jail *j, struct err *err)
{
    const char *name = NAME;

    if (!j->container)
        return 0;
    if (j->h->hostname != 0)
        name = handoff_text(j->h, j->h->hostname);
    if (j->effective[HOLDER_HOSTNAME] == HOLDER_HOW_NAMESPACE &&
        sethostname(name, strlen(name)) < 0)
        return err_sys(err, "hostname");
    if (unshare(CLONE_NEWCGROUP | CLONE_NEWTIME) == 0) {
        j->effective[HOLDER_CGROUPNS] = HOLDER_HOW_NAMESPACE;
        j->effective[HOLDER_CLOCK] = HOLDER_HOW_NAMESPACE;
    } else if (settle_one(j, CLONE_NEWCGROUP, HOLDER_CGROUPNS, err) < 0 ||
               settle_one(j, CLONE_NEWTIME, HOLDER_CLOCK, err) < 0) {
        return -1;
    }
    if (j->effective[HOLDER_CLOCK] == HOLDER_HOW_NAMESPACE &&
        (clock_start(j) < 0 || clock_enter(j) < 0)) {
        err_sys(err, "clock offsets");
        return jail_lacks(j, HOLDER_CLOCK);
    }
    return 0;
}
