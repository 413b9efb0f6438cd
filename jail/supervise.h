/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - answers the system calls of a cell that the filter does not
 * decide (seccomp_unotify(2)): those that are refused, of which the observer is
 * told; and in a cell that has neither a pid namespace nor Landlock's scope its
 * signals, which the holder sends itself, to the cell's own processes and to no
 * other.
 *
 * Called by the holder's loop. Never lets a call continue in the cell whose
 * arguments could have changed since. Members are who is in the cell's cgroup.
 */
#ifndef KARZER_JAIL_SUPERVISE_H
#define KARZER_JAIL_SUPERVISE_H

#include <sys/types.h>

#include "jail/limits.h"
#include "src/base/err.h"

struct supervise;
struct observer;

struct supervised {
    struct limiter *limiter;
    struct observer *observer;
    pid_t agent;      /* gets no signal from the cell */
    unsigned variant; /* of the filter that was loaded */
};

/* Takes the listener, also on failure. */
int supervise_new(int listener, const struct supervised *cell,
                  struct supervise **out, struct err *err);

/* For poll: POLLIN. -1 while the cell has used up what it may ask, which ends
 * after *rest_ms. */
int supervise_fd(const struct supervise *s, int *rest_ms);

/* Answers what waits, but only some of it: the loop has other work. -1: nobody
 * is left who could ask. */
int supervise_answer(struct supervise *s);

void supervise_free(struct supervise *s); /* NULL is fine */

#endif
