/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etc - the container's /etc: a few generated files, and what etc.def lists of
 * the host's. Called by view.c while the new root is writable.
 */
#ifndef KARZER_JAIL_ETC_H
#define KARZER_JAIL_ETC_H

#include "jail/jail.h"
#include "src/base/err.h"

int etc_make(const struct jail *j, struct err *err);

/* passwd and group alone, into the directory `dir`. */
int etc_users(const struct jail *j, int dir, struct err *err);

#endif
