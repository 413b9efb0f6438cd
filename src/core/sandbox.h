/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox - a cell, its grant and its stream: what run.c (one program) and
 * live.c (many) have in common. Internal to src/core.
 */
#ifndef KARZER_CORE_SANDBOX_H
#define KARZER_CORE_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/boundary.h"
#include "src/core/displayed.h"
#include "src/core/files.h"
#include "src/core/run.h"

#define CMD_DRIVER 1 /* the language driver, or the one command */
#define CMD_EXEC 2   /* a command in a live sandbox */

struct engine {
    struct dirs dirs;
    struct boundary *boundary;
};

struct sandbox {
    struct engine *engine;
    struct grant grant;
    struct cell *cell;
    struct stream stream;
    bool driver_runs;                      /* CMD_DRIVER waits for blocks */
    uint32_t credit_stdin, credit_runtime; /* what it may still be sent */
    bool last; /* one program, then the cell ends with it */
    bool stream_open;
    bool told;    /* cell.started is recorded */
    bool settled; /* the grant has the paths that the program sees */
    char id[RUN_ID_SIZE];
    char *lang;
    uint64_t created_us, start_us;
};

/*
 * request -> grant -> record -> cell, without waiting for it. 0 and *out NULL:
 * refused, and *result says why. -1: the record cannot be written.
 */
int sandbox_begin(struct engine *e, const struct request *req, bool last,
                  struct sandbox **out, struct result *result, struct err *err);
void sandbox_drop(struct sandbox *sb);

/* Nothing ran: says so in the result and in the record. */
int sandbox_refuse(struct engine *e, const struct request *req,
                   struct result *result, const struct err *why,
                   struct err *err);

/* cell.started, into record and result; a pump_told_fn of struct displayed. */
int sandbox_started(void *ctx, struct err *err);

/* Refused calls that the holder told of, into record and result. */
int sandbox_denied(struct sandbox *sb, struct result *result, struct err *err);

/* Before anything is sent: a tier that adapts says which paths the program
 * sees, and the grant is brought in line. */
int sandbox_settle(struct sandbox *sb, struct err *err);

/* Queues EXEC. `runtime`: with the runtime's channel; `input`: with stdin. */
int sandbox_exec(struct sandbox *sb, uint16_t cmd, const struct strs *argv,
                 bool runtime, bool input, struct err *err);

/* Sees the command of `p` to its end. */
int sandbox_pump(struct sandbox *sb, struct pump *p, struct displayed *d,
                 struct err *why);

/* Usage into the result; processor time is this run's own share since `before`
 * (NULL: since ever). */
void sandbox_usage(struct result *r, const struct cell *cell,
                   const struct holder_usage *before);

/* The record cannot be written: the cell ends, the outcome is `internal`. */
void sandbox_unrecorded(struct sandbox *sb, struct result *r,
                        const struct err *why);

/* From evidence to the result and the record. */
void sandbox_conclude(struct sandbox *sb, struct result *r, struct evidence *ev,
                      const struct holder_usage *before, const struct err *why);

/* For files: relative paths in the cell are below its home. */
struct crossing sandbox_crossing(struct sandbox *sb, struct result *result);
int sandbox_path(const struct sandbox *sb, const char *path, char *out,
                 struct err *err);

#endif
