/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen - stdout and stderr of karzer while a person runs something: output as
 * it comes, displayed values, and what is said at the end. Called by cmd_run.c
 * and repl.c.
 */
#ifndef KARZER_CLI_SCREEN_H
#define KARZER_CLI_SCREEN_H

#include "src/cli/show.h"
#include "src/core/run.h"

struct screen {
    struct show out, err;
    struct vt vt; /* with a terminal of the program's own */
};

void screen_init(struct screen *screen, const struct limits *limits);
void screen_fini(struct screen *screen);

/* For struct run_io; `ctx` is a struct screen. */
int screen_output(void *ctx, int stream, const void *data, size_t len);
int screen_result(void *ctx, const json_t *bundle);

/* The operator's terminal for a program that has one of its own (terminal.h).
 */
int screen_enter(struct screen *screen, struct run_io *io, struct err *err);

/* Ends a stream: `status`, or CLI_FAILED when it did not take all. */
int screen_status(struct show *s, const char *name, int status);

/* What a person should know of what the program tried on the terminal. */
void screen_warn(const struct screen *screen);

/* The lines at the end of a run. */
void screen_closing(struct screen *screen, const struct result *r);

#endif
