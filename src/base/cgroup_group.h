/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_group - what cgroup_group.c, cgroup_sweep.c and cgroup_note.c share.
 * Nobody else includes it.
 */
#ifndef KARZER_BASE_CGROUP_GROUP_H
#define KARZER_BASE_CGROUP_GROUP_H

#include "src/base/cgroup.h"

void cgroup_init(struct cgroup *group, unsigned slot); /* the name; no fds */

/* Opens a group that is there, in the trees that have it, with its lock. -1:
 * it is gone or alive. */
int cgroup_open(const struct cgroup_host *host, struct cgroup *group);

/* Empties and removes an opened one, wherever its parts are: a holder that ran
 * in another group made them below that one. Closes it. 0 or -1. */
int cgroup_remove_dead(const struct cgroup_host *host, struct cgroup *group);

/* As cgroup_remove(), and the slot's note stays. */
int cgroup_remove_kept(const struct cgroup_host *host, struct cgroup *group);

/* Removes what a dead owner of this slot noted. 0: nothing is left of it. */
int cgroup_sweep_noted(unsigned slot, const char *note);

/* cgroup_note.c. Where the slot's groups are about to be made, in place of what
 * a dead owner noted there, which goes first. 0, or -1. No note where this
 * process has no slot to note it in. */
int cgroup_note_write(const struct cgroup_host *host, unsigned slot,
                      struct err *err);
void cgroup_note_clear(unsigned slot);

/* The trees of a note in which the parent of its group is still there. */
void cgroup_note_read(const char *note, struct cgroup_host *host);

#endif
