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

#endif
