/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec - starts one command.
 *
 * The child shares the agent's memory until it has become the program (as
 * vfork), so a failure in it is told by a plain variable. It gets a session and
 * process group of its own, a terminal if it was asked for, no blocked signal,
 * and no descriptor but 0 to 2 (and 3 with a runtime channel). Called by
 * command.c.
 */
#ifndef KARZER_AGENT_EXEC_H
#define KARZER_AGENT_EXEC_H

#include <sys/types.h>

#include "abi/agent.h"
#include "agent/decode.h"

/* The agent's ends, non-blocking; -1: there is none. */
struct exec_ends {
    int in;
    int out;
    int err;
    int runtime; /* a socket */
    int held;    /* with a terminal: its program's end, so that there is one */
};

struct exec_failure {
    uint32_t sys;
    uint32_t stage; /* enum agent_stage */
};

/*
 * Once, before the first command. A holder sets the program's limit on open
 * files as the soft limit; what the hard limit allows above it is the agent's
 * own, and children get the soft one as both.
 */
void exec_init(void);

/* The pid, or -1 with *failure (no descriptor is left open then). */
pid_t exec_start(const struct exec_plan *plan, struct exec_ends *ends,
                 struct exec_failure *failure);

#endif
