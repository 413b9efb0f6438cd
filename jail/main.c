/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karzer-jail - the holder: takes a sealed hand-off, confines a child as it
 * says, and stays beside the cell until it has ended (abi/holder.h). Started by
 * the engine with four descriptors; it reads no argument and no environment,
 * opens no policy, and never widens what the hand-off says.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jail/enter.h"
#include "jail/below.h"
#include "jail/fallback.h"
#include "jail/handoff.h"
#include "jail/identity.h"
#include "jail/jail.h"
#include "jail/limits.h"
#include "jail/loop.h"
#include "jail/spaces.h"
#include "src/base/auto.h"
#include "src/base/cgroup.h"

static int inherited(struct err *err)
{
    for (int fd = HOLDER_CONTROL_FD; fd <= HOLDER_SLOT_FD; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            return err_set(err, ERR_INVALID,
                           "karzer-jail is started by karzer, not by hand");
    return 0;
}

/* Those of the limiter; the others are found out where they are made. */
static int limits_allowed(struct jail *j, struct err *err)
{
    static const enum holder_mechanism rows[] = {
        HOLDER_MEMORY, HOLDER_SWAP, HOLDER_PIDS, HOLDER_CPU, HOLDER_CPU_TIME};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (j->effective[rows[i]] != HOLDER_HOW_MISSING)
            continue;
        if (rows[i] == HOLDER_CPU_TIME && j->h->limits.cpu_time_ms == 0)
            continue;
        if (jail_lacks(j, rows[i]) < 0)
            return err_set(err, ERR_HOST, "this host cannot enforce it");
    }
    return 0;
}

static int groups_make(struct jail *j, struct err *err)
{
    if (limiter_build(j->limiter, j->effective, err) < 0)
        return -1;
    return limits_allowed(j, err);
}

static int prepare(struct jail *j, struct err *err)
{
    if (inherited(err) < 0 || handoff_open(HOLDER_HANDOFF_FD, &j->h, err) < 0)
        return -1;
    j->container = j->h->tier == HOLDER_TIER_CONTAINER;
    j->bare = (j->h->flags & HOLDER_BARE) != 0;
    j->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (j->proc_fd < 0)
        return err_sys(err, "/proc");
    cgroup_note_in(HOLDER_SLOT_FD);
    if (identity_choose(j, err) < 0 || limiter_find(j->h, &j->limiter, err) < 0)
        return -1;
    j->later = j->root && limiter_later(j->limiter);
    if (!j->later && groups_make(j, err) < 0)
        return -1;
    if (j->root)
        return identity_owned(j, err);
    if (identity_enter(j, err) == 0)
        return 0;
    return fallback_choose(j, err);
}

/* Beside the child, which builds its view and takes them when it has. A limit
 * that turned out to be none was promised before: the cell does not start. */
static int groups_hand(struct jail *j, int up, struct err *err)
{
    static const enum holder_mechanism rows[] = {HOLDER_MEMORY, HOLDER_PIDS,
                                                 HOLDER_CPU};

    if (groups_make(j, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (j->effective[rows[i]] != HOLDER_HOW_CGROUP1)
            return err_set(err, ERR_HOST, "a control group refused its limit");
    return limiter_hand(j->limiter, up, err);
}

/* Root may lack the right to namespaces; then as an ordinary user would. */
static pid_t clone_child(struct jail *j, int *pidfd, struct err *err)
{
    pid_t pid = spaces_clone(j, pidfd, err);
    struct err why = *err;

    if (pid >= 0 || j->fallback)
        return pid;
    if (j->later) { /* there is nothing to make them beside of */
        j->later = false;
        if (groups_make(j, err) < 0)
            return -1;
        *err = why;
    }
    if (fallback_choose(j, err) < 0)
        return -1;
    return spaces_clone(j, pidfd, err);
}

static int hold(struct jail *j, struct err *err)
{
    AUTO(fd) int pidfd = -1;
    struct loop loop = {.j = j, .control = HOLDER_CONTROL_FD};
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(err, "socketpair");
    j->up_fd = pair[1];
    if (below_open(j, err) < 0)
        return -1;
    loop.pid = clone_child(j, &pidfd, err);
    if (loop.pid < 0)
        return -1;
    if (loop.pid == 0) {
        close(pair[0]); /* or it would never see that we are gone */
        enter(j);
    }
    close(pair[1]);
    close(HOLDER_STREAM_FD);
    loop.up = pair[0];
    loop.pidfd = pidfd;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if ((j->later && groups_hand(j, loop.up, err) < 0) ||
        (!j->fallback && spaces_network(j, loop.up, err) < 0))
        loop_hold(&loop, err);
    else
        loop_hold(&loop, NULL);
    return 0;
}

int main(void)
{
    struct jail j = {.mechanism = HOLDER_MECHANISM_COUNT,
                     .proc_fd = -1,
                     .up_fd = -1,
                     .tree_fd = -1,
                     .list_fd = -1,
                     .agent_fd = -1,
                     .scratch_fd = -1};
    struct err err = {0};
    int r = prepare(&j, &err);

    if (r == 0)
        r = hold(&j, &err);
    if (r < 0)
        loop_refuse(HOLDER_CONTROL_FD, &j, &err);
    fallback_clean(&j);
    limiter_free(j.limiter);
    return r < 0 ? 1 : 0;
}
