/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot - a number that this run alone has: it names the cgroups and, for root,
 * the host uid of the cell.
 *
 * A slot is a locked byte of <dir>/slots. The lock belongs to the open file: it
 * is free when the last copy of the descriptor is closed, however its owners
 * died. Taken by the engine, inherited by the holder.
 */
#ifndef KARZER_BASE_SLOT_H
#define KARZER_BASE_SLOT_H

#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

#define SLOT_COUNT 4096u

/* Host uids of cells, in the range that systemd's table of ids calls unused. */
#define SLOT_UID_BASE 0x7A520000u

/* Takes a free slot; *fd (close-on-exec) keeps it. */
int slot_take(const char *dir, unsigned *slot, int *fd, struct err *err);

/* This one: 1 taken (*fd keeps it), 0 busy, -1 with errno. */
int slot_try(const char *dir, unsigned slot, int *fd);

/* The uid (and gid) of a cell that root runs: -1 and why when no such id is
 * mapped in our user namespace. */
int slot_uid(unsigned slot, uint32_t *uid, struct err *err);

#endif
