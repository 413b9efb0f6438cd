/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_terminal - what -t and -i make of a request: the terminal's size and
 * name, and limits that a person at a terminal can live with.
 */
#ifndef KARZER_CLI_RUN_TERMINAL_H
#define KARZER_CLI_RUN_TERMINAL_H

#include "src/cli/options.h"
#include "src/cli/run_args.h"

/* `scan` tells which limits were said. ERR_INVALID: there is no terminal. */
int run_terminal(struct run_args *args, const struct option_scan *scan,
                 struct err *err);

/* The same for -i. ERR_INVALID: what does not go with it. */
int run_interactive(struct run_args *args, const struct option_scan *scan,
                    struct err *err);

#endif
