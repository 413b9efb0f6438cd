/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask - something empty over files that a cell has no business with: known
 * carriers of tokens, parts of /proc, and socket nodes of the host, since a
 * read-only mount does not hinder a connect(). Called by view.c when all else
 * is in place; the new root is sealed then.
 */
#ifndef KARZER_JAIL_MASK_H
#define KARZER_JAIL_MASK_H

#include "jail/jail.h"
#include "src/base/err.h"

/* Those of mask.def, and for the process view mask_etc.def, that exist. */
int mask_files(const struct jail *j, struct err *err);

/* Bound AF_UNIX sockets of the host below any tree that the cell sees. Still
 * in the host's network namespace, which has the list. */
int mask_sockets(const struct jail *j, struct err *err);

#endif
