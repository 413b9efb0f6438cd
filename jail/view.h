/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view - the file system that the cell sees: a private read-only root, made by
 * descriptor, and nothing else of the host. Called by the child in a mount
 * namespace of its own, with rights over it; enter.c has the order.
 */
#ifndef KARZER_JAIL_VIEW_H
#define KARZER_JAIL_VIEW_H

#include "jail/jail.h"
#include "src/base/err.h"

/* Makes the tree on top of the old root. Fills root_fd, scratch_fd and
 * effective[FILES, DISK]. */
int view_make(struct jail *j, struct err *err);

/* Makes it the root; the old one is detached and out of reach. */
int view_turn(struct jail *j, struct err *err);

#endif
