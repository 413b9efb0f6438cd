/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - sends the signals of a cell that has neither a pid namespace nor
 * Landlock's scope: seccomp asks the holder, which does what was asked itself,
 * to the cell's own processes and to no other (seccomp_unotify(2)).
 *
 * Called by the holder's loop. Never lets a call continue in the cell: its
 * arguments could have changed since. Members are who is in the cell's cgroup.
 */
#ifndef KARZER_JAIL_SUPERVISE_H
#define KARZER_JAIL_SUPERVISE_H

#include <sys/types.h>

#include "jail/limits.h"
#include "src/base/err.h"

struct supervise;

/* Takes the listener, also on failure. `agent` gets no signal from the cell. */
int supervise_new(int listener, struct limiter *limiter, pid_t agent,
                  struct supervise **out, struct err *err);

int supervise_fd(const struct supervise *s); /* for poll: POLLIN */

/* Answers what waits, but only some of it: the loop has other work. -1: nobody
 * is left who could ask. */
int supervise_answer(struct supervise *s);

void supervise_free(struct supervise *s); /* NULL is fine */

#endif
