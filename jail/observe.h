/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe - keeps count of the system calls that were refused, and tells the
 * engine: the first of each kind at once, exact numbers when it asks and at the
 * end. Called by supervise.c and the loop.
 *
 * Its memory and its words are bounded whatever a cell does, and so is the time
 * that the holder spends on one: past its allowance a cell waits. It decides
 * nothing, and never reads the memory of the cell.
 */
#ifndef KARZER_JAIL_OBSERVE_H
#define KARZER_JAIL_OBSERVE_H

#include <linux/seccomp.h>

#include "jail/jail.h"

struct observer;

/* Once. `control` is looked at when there is something to tell: -1, nobody
 * listens. */
struct observer *observer_begin(const struct jail *j, const int *control);

/* `ask` is refused with `error`, and waits for that answer on `listener`. */
void observer_note(struct observer *o, int listener,
                   const struct seccomp_notif *ask, int error);

/* So much processor time went into answers. */
void observer_spent(struct observer *o, uint64_t us);

/* 0: calls may be answered; else for so many ms none is, and who asks waits. */
int observer_rest_ms(struct observer *o);

/* Tells every count that was not told yet, and begins anew. -1: there was no
 * room for all of them, and it is to be called again. */
int observer_settle(struct observer *o);

#endif
