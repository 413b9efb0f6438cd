/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place - moves this process into a scope of its own, and makes it ready for
 * cells: a leaf for ourselves, the controllers for the groups beside it.
 */
#ifndef KARZER_SCOPE_PLACE_H
#define KARZER_SCOPE_PLACE_H

#include "src/base/err.h"

/* By the user's systemd of this runtime directory. 0, or -1 and why. */
int place_take(const char *runtime_dir, struct err *err);

#endif
