/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made - what a bare view holds that is not of the host: empty directories,
 * files with given bytes, symbolic links. Called by view.c. All of it is
 * scratch, so that --disk and --inodes hold for it.
 */
#ifndef KARZER_JAIL_MADE_H
#define KARZER_JAIL_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "jail/jail.h"
#include "src/base/err.h"

/* A directory or a file of scratch, as a tree to be attached; -1. */
int made_open(const struct jail *j, uint32_t row, struct err *err);

int made_link(const struct jail *j, uint32_t row, struct err *err);

bool made_is_there(const struct jail *j, const char *target);

#endif
