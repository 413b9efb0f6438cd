/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_args - from the command line of run and exec to a request.
 *
 * Reads the code (a file or stdin) as well. Every refusal is one clear line;
 * ERR_INVALID is the command line's fault, anything else the host's.
 */
#ifndef KARZER_CLI_RUN_ARGS_H
#define KARZER_CLI_RUN_ARGS_H

#include <stdbool.h>

#include "src/cli/verbs.h"
#include "src/core/request.h"

struct run_args {
    struct request req;
    bool json;
    bool help; /* --help was asked for; nothing else is filled */
    bool stdin_is_code;
    bool interactive; /* the code, if any, is only the first block */
};

enum run_args_code { CODE_GUESS = 0, CODE_TEXT, CODE_FILE, CODE_DIRECTORY };

int run_args_parse(struct run_args *args, enum verb_id verb, int argc,
                   char **argv, struct err *err);
void run_args_fini(struct run_args *args);

/* In cmd_run.c: runs what was parsed; the exit status. */
int run_request(const struct run_args *args);

/* What `text` is when neither -c nor -f says it: what exists is a file or a
 * directory, anything else is code. */
enum run_args_code run_args_guess(const char *text);

#endif
