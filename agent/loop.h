/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop - the agent itself: one thread, one poll(), the table of frames.
 *
 * A turn: frames from the engine, the dead, everything that can move, one
 * send. Nothing blocks but the start of a program and the disk.
 */
#ifndef KARZER_AGENT_LOOP_H
#define KARZER_AGENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/agent.h"
#include "agent/command.h"
#include "agent/file.h"
#include "agent/frame.h"

enum loop_end {
    LOOP_ON = 0,
    LOOP_DONE,   /* the last command has ended and all was sent */
    LOOP_GONE,   /* the engine is gone, or said SHUTDOWN */
    LOOP_BROKEN, /* a frame broke a rule, or the kernel refused poll() */
};

struct agent {
    int stream;
    int children; /* a signalfd for SIGCHLD */
    bool alone;   /* the agent has no living child */
    bool reap;    /* there may be dead to collect */
    bool more;    /* whole frames may wait in `in` */
    bool last;    /* the command with AGENT_EXEC_LAST has ended */
    bool killing; /* until alone */
    bool gave_up; /* on that: the holder ends what is left */
    uint64_t kill_since_ms, kill_next_ms; /* CLOCK_MONOTONIC */
    unsigned first; /* who is first in this turn: nobody starves */
    struct command command[AGENT_CMD_MAX + 1]; /* by cmd; [0] is not used */
    struct file_op file[AGENT_CMD_MAX + 1];
    struct frame_in in;
    struct frame_out out;
};

/* `a` is zeroed but for stream and children. Sends HELLO; returns why it
 * ended. The caller kills what is left. */
enum loop_end loop_run(struct agent *a);

#endif
