/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell - the holder's words to the engine, one packet each (abi/holder.h).
 * Called by the loop and the observer. Never waits for an engine that does not
 * read.
 */
#ifndef KARZER_JAIL_TELL_H
#define KARZER_JAIL_TELL_H

#include "abi/holder.h"

/* 0, or -1 with errno: EAGAIN when there is no room. control -1: nobody is
 * there. */
int tell(int control, const struct holder_message *m);

#endif
