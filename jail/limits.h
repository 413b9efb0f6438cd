/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits - the limits of one cell: cgroups where they can be had, else rlimits
 * and sampled sums; and the evidence of what was used and hit.
 *
 * Called by the holder alone. In the order below. Never lets a limit widen: a
 * mechanism that cannot be had stays HOLDER_HOW_MISSING in effective[], and the
 * caller decides with may_lack.
 */
#ifndef KARZER_JAIL_LIMITS_H
#define KARZER_JAIL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "abi/holder.h"
#include "src/base/err.h"

struct limiter; /* one per jail */

/* Finds the hierarchies. */
int limiter_find(const struct holder_handoff *h, struct limiter **out,
                 struct err *err);

/* May the groups be made while the child builds its view? Where all are v1:
 * they are entered by the child itself. v2 groups must be there for the clone.
 */
bool limiter_later(const struct limiter *l);

/* Makes the "karzer-<slot>" groups, writes the limits. Fills effective[MEMORY,
 * SWAP, PIDS, CPU, CPU_TIME], and no other. */
int limiter_build(struct limiter *l, uint8_t *effective, struct err *err);

/* Both at once. */
int limiter_new(const struct holder_handoff *h, uint8_t *effective,
                struct limiter **out, struct err *err);

/* In the parent, when they were made after the clone: the descriptors by which
 * the child enters, over the socket to it. */
int limiter_hand(const struct limiter *l, int up, struct err *err);

/* In the child: takes them, enters, and fills effective[] as limiter_build. */
int limiter_follow(struct limiter *l, int up, uint8_t *effective,
                   struct err *err);

/* The cgroup v2 directory for CLONE_INTO_CGROUP, or -1: not needed. */
int limiter_cgroup_fd(const struct limiter *l);

/* Bits of jail/seccomp.h that the filter needs for these limits to hold:
 * SECCOMP_NO_MEMFD, SECCOMP_NO_AFFINITY. 0 with cgroups. */
unsigned limiter_seccomp_variant(const struct limiter *l);

/* In the child, before it drops rights: enters the v1 groups, by descriptors
 * that were opened before. */
int limiter_attach(const struct limiter *l, struct err *err);

/* In the child, where CLONE_INTO_CGROUP could not be used: the v2 group. */
int limiter_attach_v2(const struct limiter *l, struct err *err);

/* In the child, in its user namespace, just before the exec of the agent. */
int limiter_rlimits(const struct limiter *l, struct err *err);

/* In the parent, after the clone. scratch_fd: the scratch tmpfs (O_PATH is
 * enough) or -1; the limiter owns it now. It keeps the tmpfs alive, so that
 * its figures are there when every process is dead. */
void limiter_watch(struct limiter *l, int scratch_fd, pid_t init_pid);

/* Instead, where scratch is a directory of a file system shared with others
 * (jail/landlock.h): its files are counted one by one. An O_RDONLY fd. */
void limiter_watch_tree(struct limiter *l, int dir_fd, pid_t init_pid);

/* How often to sample: 50, or 5 where only sampling bounds the disk. */
int limiter_interval_ms(const struct limiter *l);

/* Every interval, and once when every process is dead. Fills *u. Returns the
 * bits (enum holder_limit_hit) that are new since the last call; a *_KILLED bit
 * means: kill the cell now. */
int limiter_sample(struct limiter *l, struct holder_usage *u);

/* What wait4() said of the cell's init (all it reaped included), always before
 * the last sample: from here on no sample says that the cell must be killed. */
void limiter_reaped(struct limiter *l, const struct rusage *ru);

/* May this thread map so many bytes of shared anonymous memory? Counts them. 0,
 * or -1 with ENOMEM. Asked of by the filter with SECCOMP_NO_MEMFD. */
int limiter_share(struct limiter *l, pid_t thread, uint64_t bytes);

/*
 * Without a pid namespace, before the clone: the cell's processes are those in
 * its groups; or, without any group, the descendants of this process, which is
 * the reaper of orphans, and then the kernel tells of each and `slot_fd` gets
 * a note by which a later sweep knows them. Fills effective[PIDS]. -1: they
 * cannot be known, and err says what that would need.
 */
int limiter_handle(struct limiter *l, int slot_fd, uint8_t *effective,
                   struct err *err);

/* Is this process, as we see it, the cell's? 1, 0; -1: not known. */
int limiter_holds(const struct limiter *l, pid_t pid);

/* The cell's processes, the agent included; valid until the next call. */
size_t limiter_list(struct limiter *l, const pid_t **pids);

/* May this thread fork? Counts it. 0, or -1 with EAGAIN. Asked of by the filter
 * with SECCOMP_NO_NAMESPACES and SECCOMP_NO_MEMFD. */
int limiter_fork(struct limiter *l, pid_t thread);

/* Without a pid namespace: kills all of the cell until nobody is left. Where
 * forks are asked about, after the listener was closed: then nobody can. */
void limiter_kill(struct limiter *l);

/* Removes the groups, closes, frees. Every process must be dead. NULL: fine. */
void limiter_free(struct limiter *l);

#endif
