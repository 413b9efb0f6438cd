/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop - the holder while its cell lives: waits for the engine, the child and
 * the clock, kills when it must, and tells how it ended. Called once by main.c.
 */
#ifndef KARZER_JAIL_LOOP_H
#define KARZER_JAIL_LOOP_H

#include <sys/types.h>

#include "jail/jail.h"
#include "src/base/err.h"

struct loop {
    struct jail *j;
    int control; /* to the engine */
    int up;      /* to the child, until its exec; then -1 */
    int pidfd;   /* the child */
    pid_t pid;
};

/* Returns when every process of the cell is dead and the engine, if it is
 * there, knows the usage; or knows why there never was a cell. `failed`: the
 * holder's part of the set-up went wrong; NULL when it did not. */
void loop_hold(struct loop *loop, const struct err *failed);

/* Before there is a child: FAILED to the engine. */
void loop_refuse(int control, const struct jail *j, const struct err *err);

#endif
