/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch - a cell's writable directory on a host file system, where no mount
 * of its own is possible: <dir>/karzer-<slot>, with home and tmp in it.
 *
 * Made and removed by the holder, swept by the engine; both know the path from
 * the slot. What is in it is hostile: no link is followed, and nothing outside
 * is touched.
 */
#ifndef KARZER_BASE_SCRATCH_H
#define KARZER_BASE_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

#include "src/base/err.h"

/* The path; -1 when it does not fit. */
int scratch_path(const char *dir, unsigned slot, char *out, size_t size,
                 struct err *err);

/* Makes it (0700) and home and tmp in it, for this owner. What a dead cell of
 * the same slot left is removed first. An O_RDONLY descriptor, or -1; as long
 * as that is open, nobody else removes it. */
int scratch_make(const char *dir, unsigned slot, uid_t uid, gid_t gid,
                 struct err *err);

/* The maker's: removes it with all in it; nothing may run in it any more. */
int scratch_remove(const char *dir, unsigned slot, struct err *err);

/* Removes those whose slot nobody holds in `slot_dir`, and that nobody holds
 * who has another one. The number, or -1. */
int scratch_sweep(const char *dir, const char *slot_dir, struct err *err);

#endif
