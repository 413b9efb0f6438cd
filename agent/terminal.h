/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal - a pseudo-terminal of the cell's own /dev/pts.
 *
 * The agent keeps the end that a terminal emulator would have, the program gets
 * the other. Called by exec.c and command.c; never opens a terminal by a name
 * that the program could have put there.
 */
#ifndef KARZER_AGENT_TERMINAL_H
#define KARZER_AGENT_TERMINAL_H

#include "abi/agent.h"

/* More than the kernel holds of what was written to one and is not yet read
 * (its buffers of 8 KiB and a line discipline of 4). */
#define TERMINAL_HOLDS (32u << 10)

/* *ours does not block; both are close-on-exec and above 3. -1: errno, and what
 * is open by then is in the two. */
int terminal_open(const struct agent_size *size, int *ours, int *programs);

/* In the child, a new session's leader: it becomes the controlling terminal.
 * Async-signal-safe. */
int terminal_take(int fd);

/* The kernel tells the foreground (SIGWINCH) when it is a change. */
void terminal_resize(int ours, const struct agent_size *size);

#endif
