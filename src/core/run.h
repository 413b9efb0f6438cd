/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run - the life of a run, in the order it happens; read run.c first.
 *
 * One engine per process, one thread. A sandbox is a live cell that takes
 * several blocks or commands, one at a time; run_once is a sandbox with one.
 */
#ifndef KARZER_CORE_RUN_H
#define KARZER_CORE_RUN_H

#include <stdbool.h>

#include "src/base/err.h"
#include "src/core/dirs.h"
#include "src/core/request.h"
#include "src/core/result.h"

struct engine; /* where things are, the open record */
struct tier;
struct sandbox; /* a live cell and its grant */

/* Opens the record. `dirs` is copied. */
int engine_open(struct engine **out, const struct dirs *dirs, struct err *err);
void engine_close(struct engine *e); /* NULL is fine */

/* Can this tier hold a cell here and now? Starts an empty one, waits until it
 * is confined, ends it. 0, or the reason. Nothing is recorded: nothing runs. */
int engine_try(const struct dirs *dirs, const struct tier *tier,
               struct err *err);

/* How the client takes part while a program runs. A NULL member: not at all. */
struct run_io {
    int stdin_fd; /* read when it is readable; -1: none; not closed */

    /* Output as it comes, within the cap; stream 1 or 2. -1: nobody reads any
     * more, and the run is ended as `killed`. */
    int (*output)(void *ctx, int stream, const void *data, size_t len);

    /* A displayed value, as it comes: {"mime/type": "text or base64"}. */
    int (*result)(void *ctx, const json_t *bundle);

    /* Asked at each wake-up: a signal to pass on, 0 for none, -1 to end the run
     * as `killed`. Signals that the client blocks are let in while karzer waits
     * (ppoll with an empty mask), and only then: none is lost. */
    int (*poll_signal)(void *ctx);

    /* Asked when poll_signal said SIGWINCH and the program has a terminal. */
    void (*window)(uint16_t *rows, uint16_t *columns);

    /* With watch_client: when this socket's other end is closed, the run is
     * ended as `killed`. */
    bool watch_client;
    int client_fd;

    void *ctx;
};

/*
 * One run from request to result. *result is filled also when the request was
 * refused or this host cannot do it; result_fini it. -1 only when nothing ran
 * because that could not be recorded; a run whose end could not be recorded is
 * `internal`.
 */
int run_once(struct engine *e, const struct request *req,
             const struct run_io *io, struct result *result, struct err *err);

/* What is to run next in a live sandbox: a block, or a command. */
struct run_next {
    const char *code; /* a block of the sandbox's language, or NULL */
    size_t code_len;
    const char *code_name;
    const struct strs *argv; /* a command, when code is NULL */
    bool check;              /* sandbox_check's own */
};

/*
 * A sandbox that lives until sandbox_close. `req` says how it is held (limits,
 * mounts, language); its code and argv are not run. On -1 nothing is left, and
 * *result (may be NULL) tells the status.
 */
int sandbox_open(struct engine *e, const struct request *req,
                 struct sandbox **out, struct result *result, struct err *err);

/* One block or command. *result as run_once's; usage is this run's own. */
int sandbox_run(struct sandbox *sb, const struct run_next *next,
                const struct run_io *io, struct result *result,
                struct err *err);

/* Is `code` a whole block, or must *more lines follow? None of it runs, so
 * nothing is recorded; the wall time holds. When it cannot be told it is whole,
 * and sandbox_run says what is wrong. Where the cell ended over it, *result
 * tells how; result_fini it. */
int sandbox_check(struct sandbox *sb, const char *code, size_t len, bool *more,
                  struct result *result, struct err *err);

/* Has the cell ended? Then sandbox_run can only say so. */
bool sandbox_ended(const struct sandbox *sb);

/* A file in or out: bytes in memory, at most SANDBOX_FILE_MAX. */
#define SANDBOX_FILE_MAX (256u << 20)
int sandbox_put(struct sandbox *sb, const char *path, const void *data,
                size_t len, struct err *err);
int sandbox_get(struct sandbox *sb, const char *path, struct buf *data,
                struct err *err);

/* Kills what still runs and returns when it is gone. NULL is fine. */
void sandbox_close(struct sandbox *sb);

#endif
