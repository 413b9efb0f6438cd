/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caps - no capability, and no way to get one. Called by the child late in
 * enter.c and by identity.c before it gives up root.
 */
#ifndef KARZER_JAIL_CAPS_H
#define KARZER_JAIL_CAPS_H

#include "src/base/err.h"

/* Empties the bounding set and locks the secure bits, if we have the right;
 * to be called in each user namespace. */
int caps_bound(struct err *err);

/* The same for a process that kept its permitted set when it left root. */
int caps_bound_kept(struct err *err);

/* Drops all of every set, and sets no_new_privs. */
int caps_drop(struct err *err);

#endif
