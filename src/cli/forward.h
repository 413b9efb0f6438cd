/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward - signals that karzer gets, for the program that it runs.
 *
 * They are blocked but while karzer waits (struct run_io in src/core/run.h),
 * so none is lost between a look and a wait. What was ignored when karzer
 * started (nohup, a background job of a script) stays ignored.
 */
#ifndef KARZER_CLI_FORWARD_H
#define KARZER_CLI_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

/* Every signal but KILL and PIPE is the program's from now on. SIGPIPE becomes
 * an error of write. */
void forward_start(void);

/* For struct run_io: the next signal to pass on, 0, or -1: kill it. */
int forward_next(void *ctx);

/* Has the client asked to kill it? Waits for nothing. */
bool forward_kills(void);

/* The parent's end kills the program as well. -1: it has ended already. */
int forward_parent(void);

/* What was asked so far is forgotten: another program comes. */
void forward_again(void);

/* How often and when the client asked to stop. */
struct forward_asks {
    unsigned count;
    uint64_t last_us;
};

/* One INT or TERM more, at `now`: does it kill? The second within two seconds
 * does, and the third. Pure. */
bool forward_ask(struct forward_asks *asks, uint64_t now_us);

#endif
