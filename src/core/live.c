/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live - a sandbox that takes several blocks and commands; see run.h. Called by
 * the engine's doors. A limit that ends a block ends the sandbox.
 */
#include "src/core/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/id.h"
#include "src/core/events.h"
#include "src/core/language.h"

int sandbox_open(struct engine *e, const struct request *req,
                 struct sandbox **out, struct result *result, struct err *err)
{
    struct result own = {0};
    struct result *r = result == NULL ? &own : result;
    struct displayed d = {.result = r};
    struct sandbox *sb = NULL;
    struct err why = {0};
    int ret = -1;

    if (result_init(r, req->limits.output_bytes, err) < 0)
        return -1;
    memcpy(r->id, req->id, sizeof(r->id));
    if (sandbox_begin(e, req, false, &sb, r, err) < 0) {
        if (result == NULL)
            result_fini(&own);
        return -1;
    }
    d.sandbox = sb;
    if (sb == NULL) {
        err_set(err, ERR_HOST, "%s", r->message);
    } else if (cell_wait_ready(sb->cell, &why) < 0 ||
               sandbox_settle(sb, &why) < 0) {
        if (sandbox_refuse(e, req, r, &why, err) == 0 && err != NULL)
            *err = why;
        sandbox_drop(sb);
    } else if (sandbox_started(&d, err) < 0 ||
               cell_ask_usage(sb->cell, err) < 0) {
        sandbox_drop(sb);
    } else {
        r->status = STATUS_OK;
        *out = sb;
        ret = 0;
    }
    if (result == NULL)
        result_fini(&own);
    return ret;
}

bool sandbox_ended(const struct sandbox *sb)
{
    return sb->cell->ended || sb->cell->killed || sb->stream.eof;
}

/* Starts the driver at the first block; it stays for the next ones. */
static int driver_start(struct sandbox *sb, const struct run_io *io,
                        struct err *err)
{
    if (sb->driver_runs)
        return 0;
    return sandbox_exec(sb, CMD_DRIVER, &sb->grant.argv, true,
                        sb->grant.has_stdin && io->stdin_fd >= 0, err);
}

static int run_next(struct sandbox *sb, const struct run_next *next,
                    struct pump *p, struct displayed *d, struct err *why)
{
    struct request block = {.lang = sb->lang,
                            .code = (char *)(uintptr_t)next->code,
                            .code_len = next->code_len,
                            .code_name = (char *)(uintptr_t)next->code_name};

    sb->start_us = clock_us();
    pump_clock_start(p, &sb->grant); /* runs out also when it never starts */
    if (next->code == NULL && next->argv == NULL)
        return err_set(why, ERR_INVALID, "neither code nor a command");
    if (next->code == NULL) {
        p->program = next->argv->at[0];
        p->cmd = CMD_EXEC;
        return sandbox_exec(sb, CMD_EXEC, next->argv, false,
                            p->io->stdin_fd >= 0, why);
    }
    if (sb->lang == NULL)
        return err_set(why, ERR_INVALID,
                       "this sandbox was opened without a language");
    if (language_check(sb->grant.language, next->code, next->code_len, why) < 0)
        return -1;
    p->block = true;
    p->started = sb->driver_runs;
    /* encoded first: a driver that is started must get its block */
    if (displayed_begin(d, &block, next->check ? RUNTIME_CODE_CHECK : 0,
                        d->code, p, why) < 0)
        return -1;
    return driver_start(sb, p->io, why);
}

int sandbox_run(struct sandbox *sb, const struct run_next *next,
                const struct run_io *io, struct result *result, struct err *err)
{
    struct holder_usage before = sb->cell->usage;
    uint32_t hits_before = before.hits;
    struct evidence ev = {0};
    struct err why = {0};
    AUTO(buf) struct buf code;
    struct displayed d = {.sandbox = sb, .result = result, .io = io, .ev = &ev};
    struct pump p = {.io = io, .result = result, .ev = &ev, .cmd = CMD_DRIVER};
    int r;

    buf_init(&code, RUNTIME_CODE_MAX + 8192);
    d.code = &code;
    if (result_init(result, sb->grant.limits.output_bytes, err) < 0)
        return -1;
    if (id_new(result->id, err) < 0)
        return -1;
    if (events_code_run(sb->engine->boundary, sb->id, sb->lang, next, result,
                        &why) < 0) {
        sandbox_unrecorded(sb, result, &why);
        return 0;
    }
    result->started = true;
    result->tier = sb->grant.tier->name;
    memcpy(result->effective, sb->cell->effective, sizeof(result->effective));
    if (sandbox_ended(sb)) {
        err_set(&why, ERR_HOST, "this sandbox has ended");
        ev.unavailable = true;
        r = -1;
    } else {
        r = run_next(sb, next, &p, &d, &why);
        if (r == 0)
            r = sandbox_pump(sb, &p, &d, &why);
        else
            ev.denied = true;
    }
    if (r == 0 && !sb->cell->ended && !sb->cell->killed)
        cell_ask_usage(sb->cell, NULL);
    if (next->code != NULL)
        sb->driver_runs = r == 0 && ev.exited && !p.exec_failed && p.done &&
                          !sb->cell->ended && d.block_done;
    if (sb->cell->killed)
        cell_end(sb->cell, NULL);
    if (next->code != NULL && ev.exited && !d.block_done &&
        result->message[0] == '\0')
        snprintf(result->message, sizeof(result->message),
                 "the interpreter ended: the next block starts a new one");
    ev.hits |= sb->cell->usage.hits & ~hits_before;
    sandbox_conclude(sb, result, &ev, &before, &why);
    displayed_end(&d);
    return 0;
}

int sandbox_check(struct sandbox *sb, const char *code, size_t len, bool *more,
                  struct result *result, struct err *err)
{
    const struct run_next next = {.code = code, .code_len = len, .check = true};
    const struct run_io io = {.stdin_fd = -1};
    struct evidence ev = {0};
    AUTO(buf) struct buf encoded;
    struct displayed d = {
        .sandbox = sb, .result = result, .io = &io, .ev = &ev};
    struct pump p = {.io = &io, .result = result, .ev = &ev, .cmd = CMD_DRIVER};
    struct err why = {0};

    *more = false;
    buf_init(&encoded, RUNTIME_CODE_MAX + 8192);
    d.code = &encoded;
    if (result_init(result, 0, err) < 0)
        return -1;
    if (sandbox_ended(sb))
        return 0;
    sb->driver_runs = run_next(sb, &next, &p, &d, &why) == 0 &&
                      sandbox_pump(sb, &p, &d, &why) == 0 && d.block_done &&
                      !sb->cell->ended;
    *more = sb->driver_runs && ev.code == 1;
    result->status = result_decide(&ev, &result->detail);
    displayed_end(&d);
    return 0;
}

int sandbox_put(struct sandbox *sb, const char *path, const void *data,
                size_t len, struct err *err)
{
    struct crossing x = sandbox_crossing(sb, NULL);
    char at[AGENT_PATH_MAX];

    if (len > SANDBOX_FILE_MAX)
        return err_set(err, ERR_LIMIT, "a file of %zu bytes", len);
    if (sandbox_path(sb, path, at, err) < 0)
        return -1;
    return files_put(&x, at, data, len, err);
}

int sandbox_get(struct sandbox *sb, const char *path, struct buf *data,
                struct err *err)
{
    struct crossing x = sandbox_crossing(sb, NULL);
    char at[AGENT_PATH_MAX];

    if (sandbox_path(sb, path, at, err) < 0)
        return -1;
    return files_get(&x, at, data, err);
}

void sandbox_close(struct sandbox *sb)
{
    struct result r;

    if (sb == NULL)
        return;
    cell_end(sb->cell, NULL);
    if (result_init(&r, 0, NULL) == 0) {
        memcpy(r.id, sb->id, sizeof(r.id));
        r.status = STATUS_OK;
        sandbox_usage(&r, sb->cell, NULL);
        sandbox_denied(sb, &r, NULL);
        events_finished(sb->engine->boundary, &r, NULL);
    }
    result_fini(&r);
    sandbox_drop(sb);
}
