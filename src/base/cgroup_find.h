/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_find - what cgroup.c shares with cgroup_v2.c and cgroup_note.c. Nobody
 * else includes it.
 */
#ifndef KARZER_BASE_CGROUP_FIND_H
#define KARZER_BASE_CGROUP_FIND_H

#include "src/base/cgroup.h"

/* A mount of a hierarchy, and our own group's path below its root. */
struct cgroup_mount {
    char point[256];
    char root[256];   /* what it shows of the hierarchy: "" all, or "/a" */
    const char *rest; /* "/" or "/b" */
};

/* By /proc/self/mountinfo. `controller` NULL: any. 0, or -1. */
int cgroup_mount_find(const char *fs, const char *controller, const char *path,
                      struct cgroup_mount *out);

/* Is `name` in a list with commas or spaces? */
int cgroup_list_has(const char *list, const char *name);

/* The group at tree->path, of tree->version, which has tree->parts: fills
 * parent_fd and depth. 0, or -1: it cannot be seen. */
int cgroup_tree_open(struct cgroup_tree *tree);

unsigned cgroup_depth(const char *path); /* "/a/b": 2, "/": 0 */

/* Fills *tree with the best parent for new v2 groups that have at least one of
 * the parts in `want`; parent_fd stays -1 when there is none, and the reason is
 * returned. */
const char *cgroup_v2_find(const struct cgroup_mount *mount, unsigned want,
                           struct cgroup_tree *tree);

#endif
