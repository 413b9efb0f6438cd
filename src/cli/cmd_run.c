/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run - `karzer run` and `karzer exec`: one run in this process, its output
 * as it streams, the exit status that env(1) and timeout(1) would have. The
 * path that people time: nothing here that a run does not need.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/cli/cli.h"
#include "src/cli/closing.h"
#include "src/cli/bundle.h"
#include "src/cli/forward.h"
#include "src/cli/options.h"
#include "src/cli/run_args.h"
#include "src/cli/show.h"
#include "src/cli/terminal.h"
#include "src/core/run.h"

struct screen {
    struct show out, err;
    struct vt vt; /* with a terminal of the program's own */
};

static int on_output(void *ctx, int stream, const void *data, size_t len)
{
    struct screen *screen = ctx;

    return show_put(stream == 1 ? &screen->out : &screen->err, data, len);
}

static int on_result(void *ctx, const json_t *bundle)
{
    struct screen *screen = ctx;

    return bundle_show(bundle, &screen->out, &screen->err);
}

static void screen_init(struct screen *screen, const struct limits *limits)
{
    uint64_t deadline = clock_us() + limits->wall_ms * 1000;
    size_t cap = (size_t)limits->output_bytes * 64 * 2 + (1u << 20);

    show_init(&screen->out, STDOUT_FILENO, cap);
    show_init(&screen->err, STDERR_FILENO, cap);
    screen->out.deadline_us = screen->err.deadline_us = deadline;
    screen->out.give_up = screen->err.give_up = forward_kills;
    screen->vt = (struct vt){0};
}

/* What a person should know of what the program tried on the terminal. */
static void screen_warn(const struct screen *screen)
{
    if (screen->vt.clipboard > 0)
        show_line(STDERR_FILENO,
                  "terminal: the program asked for your clipboard; it was not "
                  "passed on");
}

static void screen_fini(struct screen *screen)
{
    show_fini(&screen->out);
    show_fini(&screen->err);
}

/* What stdout did not take is karzer's failure, except that a reader who left
 * knows it already. */
static int stream_status(struct show *s, const char *name, int status)
{
    struct err err = {0};

    if (show_end(s) == 0 || s->sys == EPIPE || s->sys == ECANCELED)
        return status;
    errno = s->sys;
    err_sys(&err, "write to %s", name);
    return cli_warn(&err);
}

static void show_closing(struct screen *screen, const struct result *r,
                         const struct limits *limits)
{
    struct strs lines = {0};
    struct err err = {0};
    /* whoever closed the pipe of the output knows why it ended */
    bool left = screen->out.sys == EPIPE && r->status == STATUS_KILLED;
    bool middle =
        screen->err.middle ||
        (screen->out.middle && screen->out.terminal && screen->err.terminal);

    if (!left && closing_lines(r, limits, &lines, &err) < 0)
        cli_fail(&err);
    if (lines.len > 0 && middle)
        (void)!write(STDERR_FILENO, "\n", 1);
    for (size_t i = 0; i < lines.len; i++)
        show_line(STDERR_FILENO, lines.at[i]);
    strs_fini(&lines);
}

static int screen_enter(struct screen *screen, struct run_io *io,
                        struct err *err)
{
    if (terminal_enter(err) < 0)
        return -1;
    screen->vt.left = terminal_left();
    screen->out.vt = &screen->vt;
    io->window = terminal_size;
    return 0;
}

static int run_for_person(struct engine *e, const struct run_args *args,
                          struct err *err)
{
    struct screen screen;
    struct run_io io = {
        .stdin_fd = args->req.has_stdin ? STDIN_FILENO : -1,
        .output = on_output,
        .result = on_result,
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
    status = stream_status(&screen.out, "stdout", status);
    status = stream_status(&screen.err, "stderr", status);
    terminal_leave();
    screen_warn(&screen);
    if (r == 0)
        show_closing(&screen, &result, &args->req.limits);
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

static int run_verb(enum verb_id verb, int argc, char **argv)
{
    struct engine *engine = NULL;
    struct run_args args;
    struct err err = {0};
    struct dirs dirs;
    int status;

    if (run_args_parse(&args, verb, argc, argv, &err) < 0) {
        run_args_fini(&args);
        return cli_fail(&err);
    }
    if (args.help) {
        run_args_fini(&args);
        option_help(stdout, verb);
        return cli_finish(0);
    }
    forward_start();
    if (cli_dirs(&dirs, &err) < 0 || engine_open(&engine, &dirs, &err) < 0) {
        run_args_fini(&args);
        cli_fail(&err);
        return CLI_FAILED;
    }
    status = args.json ? run_for_program(engine, &args, &err)
                       : run_for_person(engine, &args, &err);
    engine_close(engine);
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
