/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run - `karzer run` and `karzer exec`: one run in this process, its output
 * as it streams, the exit status that env(1) and timeout(1) would have. The
 * path that people time: nothing here that a run does not need.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/cli/cli.h"
#include "src/cli/forward.h"
#include "src/cli/options.h"
#include "src/cli/repl.h"
#include "src/cli/run_args.h"
#include "src/cli/screen.h"
#include "src/cli/terminal.h"
#include "src/core/run.h"

static int run_for_person(struct engine *e, const struct run_args *args,
                          struct err *err)
{
    struct screen screen;
    struct run_io io = {
        .stdin_fd = args->req.has_stdin ? STDIN_FILENO : -1,
        .output = screen_output,
        .result = screen_result,
        .poll_signal = forward_next,
        .ctx = &screen,
    };
    struct result result = {0};
    int status = CLI_FAILED;
    int r;

    screen_init(&screen, &args->req.limits);
    if (args->req.terminal && screen_enter(&screen, &io, err) < 0) {
        screen_fini(&screen);
        return cli_fail(err);
    }
    r = run_once(e, &args->req, &io, &result, err);
    if (r == 0)
        status = result_exit_status(&result);
    status = screen_status(&screen.out, "stdout", status);
    status = screen_status(&screen.err, "stderr", status);
    terminal_leave();
    screen_warn(&screen);
    if (r == 0)
        screen_closing(&screen, &result);
    else
        cli_fail(err);
    result_fini(&result);
    screen_fini(&screen);
    return status;
}

static int run_for_program(struct engine *e, const struct run_args *args,
                           struct err *err)
{
    struct run_io io = {
        .stdin_fd = args->req.has_stdin ? STDIN_FILENO : -1,
        .poll_signal = forward_next,
    };
    struct result result = {0};
    AUTO(mem) char *text = NULL;
    int status = CLI_FAILED;

    if (run_once(e, &args->req, &io, &result, err) < 0) {
        cli_fail(err);
        result_fini(&result);
        return CLI_FAILED;
    }
    text = result_json(&result);
    status = result_exit_status(&result);
    result_fini(&result);
    if (text == NULL) {
        err_set(err, ERR_HOST, "result: out of memory");
        return cli_fail(err);
    }
    if (fd_write_all(STDOUT_FILENO, text, strlen(text)) < 0 ||
        fd_write_all(STDOUT_FILENO, "\n", 1) < 0) {
        err_sys(err, "write to stdout");
        return cli_warn(err);
    }
    return status;
}

int run_request(const struct run_args *args)
{
    struct engine *engine = NULL;
    struct err err = {0};
    struct dirs dirs;
    int status;

    forward_start();
    if (cli_dirs(&dirs, &err) < 0 || engine_open(&engine, &dirs, &err) < 0) {
        cli_fail(&err);
        return CLI_FAILED;
    }
    status = args->interactive ? repl_run(engine, &args->req, &err)
             : args->json      ? run_for_program(engine, args, &err)
                               : run_for_person(engine, args, &err);
    engine_close(engine);
    return status;
}

static int run_verb(enum verb_id verb, int argc, char **argv)
{
    struct run_args args;
    struct err err = {0};
    int status;

    if (run_args_parse(&args, verb, argc, argv, &err) < 0) {
        status = cli_fail(&err);
    } else if (args.help) {
        option_help(stdout, verb);
        status = cli_finish(0);
    } else {
        status = run_request(&args);
    }
    run_args_fini(&args);
    return status;
}

int cmd_run(int argc, char **argv)
{
    return run_verb(VERB_RUN, argc, argv);
}

int cmd_exec(int argc, char **argv)
{
    return run_verb(VERB_EXEC, argc, argv);
}
