/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli - what the commands share: exit statuses, the way an error is told, and
 * the few things taken from the environment (main.c reads it, nobody else).
 */
#ifndef KARZER_CLI_CLI_H
#define KARZER_CLI_CLI_H

#include <stdbool.h>

#include "src/base/err.h"
#include "src/core/dirs.h"

#define CLI_USAGE 2    /* the command line is wrong */
#define CLI_FAILED 125 /* karzer could not do it */

/* What main.c found before anything else; strings stay the caller's. */
struct cli_start {
    const char *state_env;      /* KARZER_STATE, or NULL */
    const char *xdg_state_home; /* NULL: not told */
    const char *xdg_runtime_dir;
    const char *home;   /* NULL: not told */
    const char *anchor; /* KARZER_ANCHOR and so on, or NULL */
    const char *anchor_every;
    const char *record_size;
    const char *term;         /* TERM, or NULL */
    char *const *environment; /* all of it */
    bool has_stdin;           /* it was open */
};
void cli_start(const struct cli_start *start);

/* karzer's directories of this process. */
int cli_dirs(struct dirs *dirs, struct err *err);

/* Can this tier hold a cell here and now? 0, or the reason: an empty cell was
 * started in it. Makes the record when there is none: no run is without. */
struct tier;
int cli_try(const struct tier *tier, struct err *err);

/* The operator's home directory; NULL: not told. */
const char *cli_home(void);

/* The operator's environment, "NAME=VALUE" each, for the one command that may
 * pass a part of it on. */
char *const *cli_environment(void);

/* What the operator's terminal is, as TERM says it: a word, "xterm" when it is
 * not told or is no word. */
const char *cli_term(void);

/* Was stdin open when karzer started? */
bool cli_has_stdin(void);

/* The answer is to be JSON: so is an error in its place. */
void cli_json(bool json);

/* Prints "karzer: text" on stderr, and with cli_json an object {"error":{...}}
 * on stdout: for an error in place of an answer. CLI_USAGE for ERR_INVALID,
 * else CLI_FAILED. */
int cli_fail(const struct err *err);

/* The same without the object: for an error beside an answer. */
int cli_warn(const struct err *err);

/* Flushes what stdio holds for stdout. `status`, or CLI_FAILED (and says so)
 * when not all of it could be written. */
int cli_finish(int status);

#endif
