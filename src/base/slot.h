/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot - a number that this run alone has: it names the cgroups and, for root,
 * the host uid of the cell.
 *
 * A slot is a locked byte of <dir>/slots. The lock belongs to the open file: it
 * is free when the last copy of the descriptor is closed, however its owners
 * died. Taken by the engine, inherited by the holder. The same byte says
 * whether the slot has a note, which is further down in the file.
 */
#ifndef KARZER_BASE_SLOT_H
#define KARZER_BASE_SLOT_H

#include <stdbool.h>
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

#define SLOT_NOTE_MAX 512u /* with the NUL */

/*
 * The owner's note of what a sudden death would leave behind, by the descriptor
 * that keeps the slot; NULL: nothing any more. 0, or -1 with errno (E2BIG: it
 * does not fit).
 */
int slot_note(int fd, unsigned slot, const char *note);

/* Cleans up after one dead owner, whose slot is locked meanwhile. 0: nothing is
 * left, and the note goes. */
typedef int slot_clean(unsigned slot, const char *note);

/* For the owner of a slot: what an earlier one noted, if anything. 0: no note
 * is left, else -1. */
int slot_inherit(int fd, unsigned slot, slot_clean *clean);

/* For each slot in `dir` that has a note and no owner. One read when there is
 * none. How many notes went, or -1 with errno. */
int slot_notes(const char *dir, slot_clean *clean);

/*
 * Do we run cells as root does, under ids of their own? Not where our uid 0 is
 * another id in the namespace around us and no ids of cells are mapped (a
 * rootless container): there we are an ordinary user by another name.
 */
bool slot_root(void);

/* The uid (and gid) of a cell that root runs: -1 and why when no such id is
 * mapped in our user namespace. */
int slot_uid(unsigned slot, uint32_t *uid, struct err *err);

#endif
