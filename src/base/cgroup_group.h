/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_group - what cgroup_group.c and cgroup_sweep.c share. Nobody else
 * includes it.
 */
#ifndef KARZER_BASE_CGROUP_GROUP_H
#define KARZER_BASE_CGROUP_GROUP_H

#include "src/base/cgroup.h"

void cgroup_init(struct cgroup *group, unsigned slot); /* the name; no fds */

/* Opens a group that is there, in the trees that have it, with its lock. -1:
 * it is gone or alive. */
int cgroup_open(const struct cgroup_host *host, struct cgroup *group);

#endif
