/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark - a number that every process of a cell carries and cannot put off,
 * where neither a namespace nor a control group holds them together: the limit
 * on real time, which is inherited, cannot be raised, and that the cell's
 * filter does not let it lower. It limits nothing: real time is refused.
 *
 * Chosen by the holder, noted in the slot; read by the sweep of a later run,
 * which ends who carries the mark of a dead one. Such processes cannot fork:
 * who would have allowed it is dead.
 */
#ifndef KARZER_BASE_MARK_H
#define KARZER_BASE_MARK_H

#include <stdint.h>

#include "src/base/err.h"

/* Chooses one, and notes it in the slot (src/base/slot.h) that `slot_fd` keeps.
 * -1: this process may not set it, or the note cannot be written. */
int mark_make(int slot_fd, unsigned slot, uint64_t *mark, struct err *err);

/* Is it a note of mark_make()? */
int mark_is_note(const char *note);

/* Ends all who carry the mark that the note names. 0: nobody is left. */
int mark_sweep(const char *note);

#endif
