/* SPDX-License-Identifier: Apache-2.0 */
/*
 * below - what the host has mounted below a tree that the cell sees: something
 * empty over kernel file systems, and over sockets that were bound to the name
 * of a file, which no listing of a directory shows. Called by sockets.c when
 * all else is in place.
 */
#ifndef KARZER_JAIL_BELOW_H
#define KARZER_JAIL_BELOW_H

#include <stdbool.h>

#include "jail/jail.h"
#include "src/base/err.h"

int below_mask(const struct jail *j, struct err *err);

/* In the holder, before the clone of the child; and then: is there anything
 * that below_mask would look at? */
int below_open(struct jail *j, struct err *err);
int below_look(struct jail *j, bool *found, struct err *err);

#endif
