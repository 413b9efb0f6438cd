/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets - something empty over the AF_UNIX sockets of the host below any tree
 * that the cell sees, since a read-only mount does not hinder a connect().
 *
 * Every tree but the host's own system directories is walked; in those it is
 * what the list has, by its name, and what is mounted there. The lists are long
 * on some hosts and rarely name anything that a cell sees: so the holder looks
 * while the child builds the view, and the child reads them only if need be.
 */
#ifndef KARZER_JAIL_SOCKETS_H
#define KARZER_JAIL_SOCKETS_H

#include <stdbool.h>

#include "jail/jail.h"
#include "src/base/err.h"

/* Opens the list of the network namespace that we are in; *list -1: this kernel
 * has none. */
int sockets_list(const struct jail *j, int *list, struct err *err);

/* In the holder: does that list, or that of the mounts, have anything that the
 * cell may see? */
int sockets_look(struct jail *j, int list, bool *found, struct err *err);

/* In the child, with the answer. Still in the host's network namespace. */
int sockets_mask(struct jail *j, bool found, struct err *err);

#endif
