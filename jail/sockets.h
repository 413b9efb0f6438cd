/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets - something empty over the AF_UNIX sockets of the host below any tree
 * that the cell sees, since a read-only mount does not hinder a connect().
 * Called by view.c when all else is in place, still in the host's network
 * namespace, which has the list.
 */
#ifndef KARZER_JAIL_SOCKETS_H
#define KARZER_JAIL_SOCKETS_H

#include "jail/jail.h"
#include "src/base/err.h"

/*
 * Every tree but the host's own system directories is walked; in those it is
 * what the list has, by its name, and what is mounted there.
 */
int sockets_mask(struct jail *j, struct err *err);

#endif
