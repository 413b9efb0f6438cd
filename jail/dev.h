/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dev - the cell's /dev: a few harmless nodes, the standard links, an empty
 * /dev/shm to mount on, terminals of its own. Called by view.c.
 */
#ifndef KARZER_JAIL_DEV_H
#define KARZER_JAIL_DEV_H

#include "jail/jail.h"
#include "src/base/err.h"

/* While the new root is writable: directories, links, nodes. Root makes the
 * nodes, if it may: 0. Else they are the host's, bound: 1. */
int dev_make(const struct jail *j, struct err *err);

/* Later, since it stays writable: /dev/pts. The working directory is the new
 * root. */
int dev_terminals(struct err *err);

#endif
