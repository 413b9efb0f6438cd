/* SPDX-License-Identifier: Apache-2.0 */
/* park - the socket of the parked spawner, and its life. */
#ifndef KARZER_SCOPE_PARK_H
#define KARZER_SCOPE_PARK_H

#include "src/base/err.h"

/* The directory below the runtime directory, checked: O_PATH; -1 and why not.
 */
int park_dir(const char *runtime_dir, struct err *err);

/* Is no other spawner alive? Then none will be, as long as *lock is open. */
int park_lock(int dir, int *lock, struct err *err);

/* Listens. */
int park_listen(const char *runtime_dir, int *listener, struct err *err);

#define PARK_IDLE_MS (15 * 60 * 1000)

/* Starts holders, until there is none and nobody asked for `idle_ms`. */
void park_serve(int listener, int idle_ms);

#endif
