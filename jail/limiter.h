/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter - the state behind jail/limits.h, shared by the files that implement
 * it: limits.c (limits), usage.c (evidence), usage_proc.c (sums of processes),
 * usage_shared.c (shared maps), usage_kernel.c (the kernel's), usage_tree.c
 * (sums of files), usage_victim.c (who is killed for memory), members.c (who
 * belongs to the cell). Nobody else includes it.
 */
#ifndef KARZER_JAIL_LIMITER_H
#define KARZER_JAIL_LIMITER_H

#include <stdbool.h>

#include "jail/limits.h"
#include "src/base/cgroup.h"

/* Counters of the groups; the table in usage.c says which file. */
enum counter {
    COUNTER_MEMORY_NOW = 0,
    COUNTER_MEMORY_TCP, /* v1 keeps the buffers of sockets apart */
    COUNTER_MEMORY_PEAK,
    COUNTER_MEMORY_KILLS,
    COUNTER_MEMORY_STAT,
    COUNTER_PIDS_REFUSED,
    COUNTER_PIDS_PEAK,
    COUNTER_PIDS_NOW,
    COUNTER_CPU,
    COUNTER_COUNT
};

#define COUNTER_CLOSED (-1)  /* not opened yet */
#define COUNTER_MISSING (-2) /* this kernel does not have it */

struct proc_sum; /* usage_proc.c */
struct shared;   /* usage_shared.c */

#define FORKING_MAX 64u

struct forking {
    pid_t thread; /* was allowed to fork; not seen since */
    uint64_t us;
};

struct limiter {
    const struct holder_handoff *h; /* mapped until the exit */
    struct holder_limits limits;
    unsigned slot;
    unsigned
        beside; /* processes that RLIMIT_NPROC counts besides the program */
    uint8_t how[HOLDER_MECHANISM_COUNT];

    struct cgroup_host host;
    struct cgroup group;
    int tasks_fd[CGROUP_PART_COUNT]; /* v1, per tree; until the child is in */

    pid_t init;
    int scratch_fd; /* a tmpfs of the cell's own, or -1 */
    int tree_fd;    /* a directory of a shared file system, or -1 */
    int counter_fd[COUNTER_COUNT];
    struct proc_sum *procs; /* where a sum of processes is the mechanism */
    struct shared *shared;  /* where it is the one for memory */

    bool ended;       /* every process is dead: nothing is left to kill */
    uint64_t slack;   /* bytes that the kernel charges ahead */
    uint64_t tree_us; /* how long counting the files took */
    uint64_t scratch_peak;
    uint64_t memory_peak; /* sampled, without scratch */
    uint64_t pids_peak;   /* sampled, without the agent */
    uint64_t victims;     /* processes that were killed here for memory */
    uint64_t over_us; /* since when memory is past its limit; 0: it is not */
    uint64_t held_us; /* when live processes last held that much */
    struct holder_usage usage;

    /* members.c */
    bool by_descent; /* no group: the cell is whom we are the ancestor of */
    uint64_t mark;   /* of its processes (src/base/mark.h); 0: none */
    pid_t *member;   /* of the last list */
    size_t member_count, member_room;
    uint64_t tasks;     /* processes and threads that there may be */
    uint64_t looked_us; /* when they were counted */
    uint64_t refused;   /* forks */
    struct forking forking[FORKING_MAX];
    unsigned forking_at;
};

/* limits_hand.c: effective[] as this limiter has it. */
void limiter_effective(const struct limiter *l, uint8_t *effective);

/* usage_proc.c: the processes below l->init. 0, or -1: no memory. */
int proc_sum_new(struct limiter *l);
void proc_sum_free(struct limiter *l);
void proc_sum_reaped(struct limiter *l, const struct rusage *ru);
/* Updates l->usage; returns new HOLDER_HIT bits. */
unsigned proc_sum_sample(struct limiter *l);
/* Finds the processes of the cell; how many. */
size_t proc_sum_walk(struct limiter *l, const pid_t **pids);

/* members.c: the children of every thread of a process. */
typedef void members_fn(void *ctx, pid_t pid);
void members_children(pid_t pid, members_fn *each, void *ctx);

/* The array with room for one more, or NULL: no memory, and it stays. */
void *array_more(void *array, size_t *room, size_t count, size_t size);

/* The same for the array that `at` points to: 0 or -1. */
#define array_grow(at, room, count)                                            \
    ({                                                                         \
        void *more_ = array_more(*(at), room, count, sizeof(**(at)));          \
                                                                               \
        *(at) = more_ == NULL ? *(at) : more_;                                 \
        more_ == NULL ? -1 : 0;                                                \
    })

/* usage_shared.c: 0, or -1: it cannot be had. */
int shared_new(struct limiter *l);
void shared_free(struct limiter *l);
/* What shared anonymous maps may hold: as noted; after a look; and whether
 * there are more of them than were allowed (asked once a second). */
uint64_t shared_bytes(const struct limiter *l);
uint64_t shared_most(struct limiter *l);
bool shared_strange(struct limiter *l);

/* usage_kernel.c: bytes that the kernel holds for a process, of which `status`
 * is /proc/PID/status: the most it may be, with so many maps at most; and what
 * it is, or more than `enough`. */
uint64_t kernel_maps_most(void);
uint64_t kernel_guess(const char *status, uint64_t maps_most);
uint64_t kernel_exact(pid_t pid, const char *status, uint64_t maps_most,
                      uint64_t enough);

/* usage_victim.c: memory is past its limit by so much: kills who holds it.
 * Returns HOLDER_HIT_MEMORY_KILLED when that is of no use. */
unsigned victim_choose(struct limiter *l, uint64_t excess);
/* It is not past its limit. */
void victim_none(struct limiter *l);

/* usage_tree.c: counts bytes and inodes below l->tree_fd. 0 or -1. */
int tree_sum(const struct limiter *l, uint64_t *bytes, uint64_t *inodes);

#endif
