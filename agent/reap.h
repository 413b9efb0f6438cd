/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reap - the dead are collected, the rest can be killed.
 *
 * As pid 1 of a pid namespace the agent may say "everybody"; elsewhere (the
 * process tier without namespaces) it is a subreaper and kills only its own
 * descendants, by their parents in /proc. Called by loop.c and main.c.
 */
#ifndef KARZER_AGENT_REAP_H
#define KARZER_AGENT_REAP_H

#include <stdbool.h>
#include <sys/types.h>

enum reap_left {
    REAP_ALIVE = 0, /* there are living children */
    REAP_MORE,      /* perhaps more of the dead: call again */
    REAP_NOBODY,    /* the agent is alone */
};

/* Collects dead children and tells each to `dead`. */
enum reap_left reap_children(void (*dead)(void *ctx, pid_t pid, int status),
                             void *ctx);

/*
 * SIGKILL to all but the agent. When not pid 1, what forks in between is
 * missed: call again until reap_children() says REAP_NOBODY. -1: /proc cannot
 * be read here, and nobody was killed.
 */
int reap_kill_all(void);

/* The same until nobody is left, at most about a second. */
void reap_kill_wait(void);

#endif
