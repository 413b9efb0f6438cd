/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits_hand - groups that are made while the child builds its view: what the
 * holder hands to it, and how the child follows; see limits.h.
 */
#include "jail/limits.h"

#include <unistd.h>

#include "jail/limiter.h"
#include "jail/pass.h"
#include "src/base/auto.h"

void limiter_effective(const struct limiter *l, uint8_t *effective)
{
    static const uint8_t ours[] = {HOLDER_MEMORY, HOLDER_SWAP, HOLDER_PIDS,
                                   HOLDER_CPU, HOLDER_CPU_TIME};

    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        effective[ours[i]] = l->how[ours[i]];
}

bool limiter_later(const struct limiter *l)
{
    unsigned parts = 0;

    for (unsigned i = 0; i < l->host.count; i++)
        if (l->host.tree[i].version == 1)
            parts |= l->host.tree[i].parts;
    return parts == (1u << CGROUP_PART_COUNT) - 1;
}

/* What goes to the child: a descriptor by which to enter, or, without one and
 * last, how the limits are in force. */
int limiter_hand(const struct limiter *l, int up, struct err *err)
{
    for (unsigned i = 0; i < l->host.count; i++)
        if (l->tasks_fd[i] >= 0 &&
            pass_send(up, l->how, sizeof(l->how), l->tasks_fd[i]) < 0)
            return err_sys(err, "hand the control groups on");
    return pass_send(up, l->how, sizeof(l->how), -1) == 0
               ? 0
               : err_sys(err, "hand the control groups on");
}

int limiter_follow(struct limiter *l, int up, uint8_t *effective,
                   struct err *err)
{
    for (;;) {
        AUTO(fd) int tasks = -1;

        if (pass_recv(up, l->how, sizeof(l->how), &tasks, 0) !=
            (ssize_t)sizeof(l->how))
            return err_set(err, ERR_HOST, "the holder has gone");
        if (tasks < 0)
            break;
        if (write(tasks, "0", 1) != 1)
            return err_sys(err, "enter a control group");
    }
    limiter_effective(l, effective);
    return 0;
}
