/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump - moves one block or command through a live cell until it ends: frames,
 * output, stdin, signals, the clock, the holder's word. Called by run.c.
 *
 * Decides nothing about the status: it collects evidence.
 */
#ifndef KARZER_CORE_PUMP_H
#define KARZER_CORE_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "src/cell/runtime.h"
#include "src/cell/stream.h"
#include "src/core/grant.h"
#include "src/core/result.h"
#include "src/core/run.h"
#include "src/core/tier.h"

/* Called for a record of what the holder said; -1 ends the run. */
typedef int pump_told_fn(void *ctx, struct err *err);

/* What pump_run is to see to its end. The command was sent already. */
struct pump {
    /* set by the caller */
    struct cell *cell;
    struct stream *stream;
    struct runtime_parser *parser; /* NULL without a runtime */
    const struct grant *grant;
    const struct run_io *io;
    struct result *result;
    struct evidence *ev;
    uint16_t cmd;
    const char *program;  /* its name for messages; NULL: the grant's */
    bool last;            /* ends with the cell, not with the command */
    bool block;           /* ends with RUNTIME_DONE */
    bool spare;           /* the cell lives on: end the program, not the cell */
    bool started;         /* the program runs already */
    bool ready_told;      /* `ready` was called for this cell */
    pump_told_fn *denied; /* refused calls wait in the cell */
    const struct buf *code; /* bytes for the runtime channel, or NULL */

    /* the pump's own */
    size_t code_at;
    uint32_t credit_stdin, credit_runtime;
    bool stdin_eof, exited, done;
    bool hung_up; /* the client's terminal is gone */
    bool deaf;    /* the runtime's channel broke a rule */
    bool exec_failed;
    uint64_t begun_us;    /* STARTED */
    uint64_t ended_us;    /* the program's end, or the first sign of it */
    uint64_t deadline_us; /* wall */
    uint64_t grace_us;    /* after KILL_ALL, until the cell is killed */
    uint64_t seen[3];     /* bytes of stdout, stderr for the output limit */
};

/* 0: it ended, evidence and result tell how. -1: the cell cannot be talked to
 * any more (err); the evidence says internal or unavailable. `ready` is called
 * once, when READY came. */
int pump_run(struct pump *p, pump_told_fn *ready, void *ctx, struct err *err);

/* The wall time of a block starts now: its driver runs already. */
void pump_clock_start(struct pump *p, const struct grant *grant);

/* One round of waiting for the stream of a cell, for file operations. 1: a
 * frame; 0: not within timeout_ms. */
int pump_frame(struct stream *s, struct cell *cell, int timeout_ms,
               struct agent_frame *frame, const char **payload,
               struct err *err);

/* Sends all that is queued. */
int pump_drain(struct stream *s, int timeout_ms, struct err *err);

#endif
