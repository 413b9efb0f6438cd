/* SPDX-License-Identifier: Apache-2.0 */
/* run_terminal - see run_terminal.h. Called by run_args.c. */
#include "src/cli/run_terminal.h"

#include <string.h>

#include "src/base/auto.h"
#include "src/cli/cli.h"
#include "src/cli/terminal.h"

/* In the place of the defaults of limits.def: nobody works for 30 s. */
static const struct usual {
    const char *option, *value;
} terminals[] = {{"wall", "8h"}, {"cpu-time", "1h"}, {"output", "16M"}},
  prompts[] = {{"wall", "1h"}, {"cpu-time", "1h"}, {"output", "16M"}};

static int limits_widen(struct limits *limits, uint64_t said,
                        const struct usual usuals[3], struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(terminals); i++) {
        const struct limit_row *row = limit_find(usuals[i].option);

        if (said & (UINT64_C(1) << ((row - limit_rows) & 63)))
            continue;
        if (limits_parse(limits, row, usuals[i].value, err) < 0)
            return -1;
    }
    return 0;
}

/* --env TERM=... wins. */
static int term_add(struct strs *env, struct err *err)
{
    for (size_t i = 0; i < env->len; i++)
        if (strncmp(env->at[i], "TERM=", 5) == 0)
            return 0;
    return strs_addf(env, err, "TERM=%s", cli_term());
}

int run_terminal(struct run_args *args, const struct option_scan *scan,
                 struct err *err)
{
    if (args->json)
        return err_set(err, ERR_INVALID,
                       "-t: is for a person at a terminal, --json for a "
                       "program: one of them");
    if (terminal_check(err) < 0)
        return -1;
    terminal_size(&args->req.rows, &args->req.columns);
    if (limits_widen(&args->req.limits, scan->seen_limits, terminals, err) < 0)
        return -1;
    return term_add(&args->req.env, err);
}

int run_interactive(struct run_args *args, const struct option_scan *scan,
                    struct err *err)
{
    if (args->json)
        return err_set(err, ERR_INVALID,
                       "-i: is for a person, --json for a program: one of them "
                       "(the C API keeps a cell for several blocks)");
    if (args->stdin_is_code)
        return err_set(err, ERR_INVALID,
                       "-i: reads its blocks from stdin, which is the code: "
                       "name a file, or leave \"-\" out");
    if (args->req.in_count + args->req.out_count > 0)
        return err_set(err, ERR_INVALID,
                       "-i: --in and --out belong to a single run; --workspace "
                       "shows a directory");
    args->req.has_stdin = false;
    return limits_widen(&args->req.limits, scan->seen_limits, prompts, err);
}
