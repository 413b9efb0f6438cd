/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows - the option table itself, for the parser and the help alone.
 */
#ifndef KARZER_CLI_ROWS_H
#define KARZER_CLI_ROWS_H

#include <stdbool.h>

#include "src/cli/options.h"

struct option_row {
    enum option_id id;
    char letter; /* 0: none */
    const char *name;
    const char *arg; /* NULL: takes no value */
    unsigned verbs;  /* bit per enum verb_id */
    const char *text;
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

bool option_takes_limits(enum verb_id verb);

/* "SIZE", "TIME", ...: the argument of a limit of this unit. */
const char *option_unit(enum limit_unit unit);

/* "memory of ... (256M; 8M to 1T)" */
#define OPTION_LIMIT_TEXT_MAX 320
void option_limit_text(const struct limit_row *row,
                       char out[OPTION_LIMIT_TEXT_MAX]);

/* Of `run` and `exec`: the exit statuses, and what the program's environment
 * is; lines. */
extern const char option_exits[];
extern const char option_environment[];

/* May it be said more than once, each with a meaning of its own? */
bool option_repeats(enum option_id id);

#endif
