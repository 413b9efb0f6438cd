/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell - the holder's words to the engine, one packet each (abi/holder.h).
 * Called by the loop and the observer. Never waits for an engine that does not
 * read, but for tell_within's short time.
 */
#ifndef KARZER_JAIL_TELL_H
#define KARZER_JAIL_TELL_H

#include <stdint.h>

#include "abi/holder.h"

/* 0, or -1: it was not told. control -1: nobody is there. */
int tell(int control, const struct holder_message *m);

/* Waits for room until the clock (clock_us) is there. */
int tell_until(int control, const struct holder_message *m, uint64_t until);

#endif
