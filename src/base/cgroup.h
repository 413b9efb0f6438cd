/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup - where this process may make control groups, v1 or v2, and the
 * making, emptying and removing of them.
 *
 * Called by the holder (a cell's groups) and by the engine (the sweep of what
 * killed holders left). A group belongs to whoever holds the flock on its
 * directory, in each tree; without that lock nothing is killed or removed.
 */
#ifndef KARZER_BASE_CGROUP_H
#define KARZER_BASE_CGROUP_H

#include <stddef.h>

#include "src/base/err.h"

enum cgroup_part {
    CGROUP_PIDS = 0,
    CGROUP_MEMORY,
    CGROUP_CPU,
    CGROUP_CPUACCT,
    CGROUP_PART_COUNT
};

#define CGROUP_PATH_MAX 512

/* A hierarchy that has at least one part: a v1 mount, or the v2 tree. */
struct cgroup_tree {
    int version;                /* 1 or 2 */
    int parent_fd;              /* O_PATH: new groups are made here */
    unsigned parts;             /* bit per enum cgroup_part */
    unsigned depth;             /* the parent's, below the root of its mount */
    char path[CGROUP_PATH_MAX]; /* the parent's, as /proc/PID/cgroup says */
};

struct cgroup_host {
    struct cgroup_tree tree[CGROUP_PART_COUNT];
    unsigned count;                     /* trees */
    int of[CGROUP_PART_COUNT];          /* the part's tree, or -1 */
    const char *why[CGROUP_PART_COUNT]; /* why it has none; else NULL */
};

/* Cheap; may enable controllers in the v2 tree. A host that allows nothing is
 * no failure: count is 0 and why[] says it. */
int cgroup_find(struct cgroup_host *host, struct err *err);
void cgroup_close(struct cgroup_host *host);

/* One group in all trees. */
struct cgroup {
    unsigned slot;
    char name[32];              /* "karzer-17" */
    int dir[CGROUP_PART_COUNT]; /* per tree; O_RDONLY; -1 past count */
};

/* From here on this process notes in the slot (src/base/slot.h) where its
 * groups are before it makes them, so that any sweep finds them. */
void cgroup_note_in(int slot_fd);

/*
 * Makes karzer-<slot> in every tree, locked. One that is there already and that
 * nobody holds is emptied and made anew; a held one is an error. A tree that
 * refuses is dropped from `host`.
 */
int cgroup_make(struct cgroup_host *host, unsigned slot, struct cgroup *out,
                struct err *err);

/* Kills every process in it until it is empty: 0, or -1 after two seconds. */
int cgroup_empty(const struct cgroup_host *host, const struct cgroup *group);

/* Removes it in all trees (waits a little for the last process to be gone) and
 * closes. 0, or -1 when something is left for the sweep. */
int cgroup_remove(const struct cgroup_host *host, struct cgroup *group);

/* Is `pid` (as we see it) in the group, or in one below? 1, 0; -1: not known.
 */
int cgroup_holds(const struct cgroup_host *host, const struct cgroup *group,
                 int pid);

/*
 * Removes the karzer-* groups whose holder is dead: nobody has the slot's lock
 * in `slot_dir` (src/base/slot.h) nor the group's own. Those that are noted
 * there, and those beside where this process would make its own. One read and
 * one readdir when there is nothing. The number removed, or -1.
 */
int cgroup_sweep(const char *slot_dir, struct err *err);

#endif
