/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command - a live command: its pipes, its credit, its end.
 *
 * Bytes go from a pipe straight behind a frame's head and are read only when
 * the output buffer has room. Nothing is lost or reordered within a channel,
 * and what the program wrote to stdout or stderr before it wrote to its
 * runtime channel is sent first. Owned by loop.c, one per `cmd`.
 *
 * A terminal's end is one descriptor for both directions, twice; that the agent
 * holds the program's end, too, keeps it from ending when nobody else does for
 * a while.
 */
#ifndef KARZER_AGENT_COMMAND_H
#define KARZER_AGENT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/agent.h"
#include "agent/decode.h"
#include "agent/frame.h"

enum command_state {
    COMMAND_FREE = 0,
    COMMAND_RUNNING,
    COMMAND_ENDED,    /* its process is reaped; others may still write */
    COMMAND_DRAINING, /* nothing more will be read than `owed` */
};

/* Bytes on their way into the program. */
enum command_input { COMMAND_STDIN = 0, COMMAND_RUNTIME_IN, COMMAND_INPUTS };
/* And out of it, in the order in which they are sent. */
enum command_output {
    COMMAND_STDOUT = 0,
    COMMAND_STDERR,
    COMMAND_RUNTIME_OUT,
    COMMAND_OUTPUTS
};

struct command_in {
    int fd;          /* -1: closed; what comes is dropped */
    bool ending;     /* close it when all is written */
    uint32_t credit; /* bytes that the engine may still send */
    uint32_t taken;  /* bytes written or dropped, not yet given back */
    uint32_t at, len;
    char data[AGENT_CREDIT_START];
};

struct command_out {
    int fd;      /* -1: at its end */
    bool ready;  /* poll() said so */
    size_t owed; /* bytes to send before the next step */
};

struct command {
    enum command_state state;
    uint16_t cmd;
    uint32_t flags;
    pid_t pid;
    int held;    /* the program's end of its terminal; -1: it has pipes */
    bool behind; /* runtime bytes wait behind what stdout and stderr owe */
    bool lost;   /* bytes could not be moved: how it ends is not known */
    struct agent_exited end;
    struct command_in in[COMMAND_INPUTS];
    struct command_out out[COMMAND_OUTPUTS];
};

/* Queues STARTED or EXEC_FAILED; the command must be free. */
void command_exec(struct command *c, const struct exec_plan *plan,
                  struct frame_out *out);

/* 0, or -1: more than the credit allowed. */
int command_input(struct command *c, enum command_input which, const char *data,
                  size_t len);
void command_input_eof(struct command *c, enum command_input which);

/* Nothing without a terminal. */
void command_resize(const struct command *c, const struct agent_size *size);

void command_signal(const struct command *c, int signal);

/* Its process was reaped with this status of waitpid(). */
void command_reaped(struct command *c, int status);

/* From now on only what its pipes hold at this moment is read. */
void command_drain(struct command *c);

/* Can it go on at once, if only the output has room? */
bool command_wants_turn(const struct command *c);

/* Moves what can be moved now; queues EXITED and frees it when it is done. */
void command_turn(struct command *c, struct frame_out *out);

#endif
