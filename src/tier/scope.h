/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope - the engine's side of the parked spawner (abi/scope.h): an ordinary
 * user under systemd has control groups only in a scope that is delegated to
 * him, and nobody enters one from outside. So holders are started from inside.
 */
#ifndef KARZER_TIER_SCOPE_H
#define KARZER_TIER_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/core/dirs.h"

/*
 * Starts the holder `jail` with abi/holder.h's descriptors by the spawner,
 * which is started itself when none lives. True: it runs, and *pid and *pidfd
 * are its. False: not from there; the caller starts it himself. That is so for
 * root, where our own group will do, and without systemd.
 */
bool scope_spawn(const struct dirs *dirs, const char *jail, const int *fds,
                 pid_t *pid, int *pidfd);

/* For `karzer doctor`: 1 a spawner lives; 0 one would be started; -1 there is
 * none here, and why. */
int scope_look(const struct dirs *dirs, struct err *err);

#endif
