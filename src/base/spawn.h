/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn - starts a program with exactly the descriptors that are listed.
 *
 * As vfork and exec, so the size of the caller does not matter. The child gets
 * /dev/null as 0, 1, 2, the list from 3 upwards, an empty signal mask, a
 * session of its own, and an empty environment. Signals that the caller ignores
 * it ignores, too, until it says otherwise: a holder does that first.
 */
#ifndef KARZER_BASE_SPAWN_H
#define KARZER_BASE_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

#include "src/base/err.h"

/* fds[i] becomes 3 + i; they stay the caller's. *pidfd is CLOEXEC. */
int spawn_program(const char *path, const int *fds, size_t count, pid_t *pid,
                  int *pidfd, struct err *err);

/* Waits for the process of a pidfd. 0: it ended and is reaped; -1: not within
 * timeout_ms. */
int spawn_wait(int pidfd, int timeout_ms);

#endif
