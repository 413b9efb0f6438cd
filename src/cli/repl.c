/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repl - see repl.h. Called by cmd_run.c. Lines are edited by the terminal
 * itself; whether more must follow is asked of the language's driver in the
 * cell. Ctrl-C drops what was typed, or interrupts the block that runs; Ctrl-D
 * ends.
 */
#include "src/cli/repl.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/runtime.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/cli/cli.h"
#include "src/cli/forward.h"
#include "src/cli/screen.h"

struct repl {
    const struct request *req;
    struct sandbox *sandbox;
    struct screen screen;
    struct buf in;   /* read, and not yet a line of */
    struct buf text; /* the block so far */
    bool person;     /* somebody types and looks */
    bool eof;
    int status; /* of the last block */
};

enum line { LINE_TAKEN, LINE_INTERRUPTED, LINE_END };

static void say(const struct repl *r, const char *text)
{
    if (r->person)
        (void)!write(STDOUT_FILENO, text, strlen(text));
}

static void prompt(const struct repl *r)
{
    if (r->screen.out.middle)
        say(r, "\n");
    say(r, r->text.len > 0 ? "... " : ">>> ");
}

/* ---- lines ---- */

/* Signals come in here. */
static enum line await(struct repl *r)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t none;
    int sig;

    sigemptyset(&none);
    if (ppoll(&fd, 1, NULL, &none) >= 0 || errno != EINTR)
        return LINE_TAKEN;
    sig = forward_next(NULL);
    forward_again();
    if (sig == SIGTERM || sig == SIGHUP) {
        r->status = 128 + sig;
        return LINE_END;
    }
    return sig == SIGINT || sig < 0 ? LINE_INTERRUPTED : LINE_TAKEN;
}

static int fill(struct repl *r, struct err *err)
{
    char part[4096];
    ssize_t n = read(STDIN_FILENO, part, sizeof(part));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n <= 0) {
        r->eof = true; /* a terminal that is gone, too */
        return 0;
    }
    return buf_add(&r->in, part, (size_t)n, err);
}

/* Moves the next line behind the text; it ends with a newline. */
static enum line line_take(struct repl *r, struct err *err)
{
    for (;;) {
        const char *end =
            r->in.len == 0 ? NULL : memchr(r->in.data, '\n', r->in.len);
        size_t n = end == NULL ? r->in.len : (size_t)(end - r->in.data) + 1;
        enum line how;

        if (end != NULL || (r->eof && n > 0)) {
            if (buf_add(&r->text, r->in.data, n, err) < 0 ||
                (end == NULL && buf_add(&r->text, "\n", 1, err) < 0))
                return LINE_END;
            buf_shift(&r->in, n);
            return LINE_TAKEN;
        }
        if (r->eof)
            return LINE_END;
        how = await(r);
        if (how != LINE_TAKEN)
            return how;
        if (fill(r, err) < 0)
            return LINE_END;
    }
}

/* ---- blocks ---- */

static bool is_blank(const struct buf *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (strchr(" \t\r\n", b->data[i]) == NULL || b->data[i] == '\0')
            return false;
    return true;
}

/* A line of its own, in whatever language. */
static bool is_farewell(const struct buf *b)
{
    static const char *const words[] = {"exit\n", "exit()\n", "quit\n",
                                        "quit()\n"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (b->len == strlen(words[i]) &&
            memcmp(b->data, words[i], b->len) == 0)
            return true;
    return false;
}

static int block_run(struct repl *r, const char *name, struct err *err)
{
    const struct run_next next = {
        .code = r->text.data, .code_len = r->text.len, .code_name = name};
    const struct run_io io = {.stdin_fd = -1,
                              .output = screen_output,
                              .result = screen_result,
                              .poll_signal = forward_next,
                              .ctx = &r->screen};
    struct result result = {0};

    forward_again();
    r->screen.out.deadline_us = r->screen.err.deadline_us =
        clock_us() + r->req->limits.wall_ms * 1000;
    if (sandbox_run(r->sandbox, &next, &io, &result, err) < 0) {
        result_fini(&result);
        return -1;
    }
    r->status = result_exit_status(&result);
    r->status = screen_status(&r->screen.out, "stdout", r->status);
    r->status = screen_status(&r->screen.err, "stderr", r->status);
    screen_closing(&r->screen, &result);
    r->screen.err.middle = false;
    result_fini(&result);
    buf_shift(&r->text, r->text.len);
    return r->screen.out.gone ? -1 : 0;
}

/* As the languages' own prompts: an empty line shows as a second newline. */
static int check(struct repl *r, bool *more, struct err *err)
{
    struct result result = {0};
    int ret = sandbox_check(r->sandbox, r->text.data, r->text.len - 1, more,
                            &result, err);

    if (ret == 0 && sandbox_ended(r->sandbox)) {
        r->status = result_exit_status(&result);
        screen_closing(&r->screen, &result);
        ret = -1;
    }
    result_fini(&result);
    return ret;
}

/* One line more. 0; 1: the end; -1. */
static int step(struct repl *r, struct err *err)
{
    bool more = false;
    enum line how;

    prompt(r);
    how = line_take(r, err);
    r->screen.out.middle = false;
    if (how == LINE_INTERRUPTED) {
        say(r, "\n");
        buf_shift(&r->text, r->text.len);
        return 0;
    }
    if (how == LINE_END)
        return is_blank(&r->text) || block_run(r, "<code>", err) == 0 ? 1 : -1;
    if (is_blank(&r->text)) {
        buf_shift(&r->text, r->text.len);
        return 0;
    }
    if (is_farewell(&r->text))
        return 1;
    if (check(r, &more, err) < 0)
        return -1;
    return more ? 0 : block_run(r, "<code>", err);
}

static int blocks(struct repl *r, struct err *err)
{
    int end = 0;

    if (r->req->code != NULL) {
        if (buf_add(&r->text, r->req->code, r->req->code_len, err) < 0 ||
            block_run(r, r->req->code_name, err) < 0)
            return -1;
    }
    while (end == 0 && !sandbox_ended(r->sandbox))
        end = step(r, err);
    if (r->eof)
        say(r, "\n");
    return end < 0 && err->code != ERR_NONE ? -1 : 0;
}

static void greet(const struct repl *r, const struct result *opened)
{
    char line[160];

    snprintf(line, sizeof(line), "%s in a cell of the %s tier; Ctrl-D ends\n",
             r->req->lang, opened->tier);
    say(r, line);
}

int repl_run(struct engine *e, const struct request *req, struct err *err)
{
    struct repl r = {.req = req};
    struct result opened = {0};
    int status;

    r.person = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    if (sandbox_open(e, req, &r.sandbox, &opened, err) < 0) {
        result_fini(&opened);
        return cli_fail(err);
    }
    greet(&r, &opened);
    result_fini(&opened);
    screen_init(&r.screen, &req->limits);
    buf_init(&r.in, RUNTIME_CODE_MAX);
    buf_init(&r.text, RUNTIME_CODE_MAX);
    status = blocks(&r, err) < 0 ? cli_warn(err) : r.status;
    sandbox_close(r.sandbox);
    buf_fini(&r.text);
    buf_fini(&r.in);
    screen_fini(&r.screen);
    return status;
}
