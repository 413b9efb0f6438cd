/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run - the life of a run, in the order it happens:
 *
 *   request -> policy -> grant -> record -> cell -> program -> result -> record
 *
 * Called by the CLI and the engine's doors. Nothing starts before its grant is
 * recorded; the answer comes after the end is recorded.
 */
#include "src/core/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/id.h"
#include "src/base/sha256.h"
#include "src/core/boundary.h"
#include "src/core/displayed.h"
#include "src/core/events.h"
#include "src/core/files.h"
#include "src/core/output.h"
#include "src/core/policy.h"
#include "src/core/pump.h"
#include "src/core/tier.h"

#define CMD_DRIVER 1 /* the language driver, or the one command */
#define CMD_EXEC 2   /* a command in a live sandbox */

struct engine {
    struct dirs dirs;
    struct boundary *boundary;
};

struct sandbox {
    struct engine *engine;
    struct grant grant;
    struct cell *cell;
    struct stream stream;
    bool driver_runs; /* CMD_DRIVER waits for blocks */
    bool last;        /* one program, then the cell ends with it */
    bool stream_open;
    bool told;        /* cell.started is recorded */
    char id[RUN_ID_SIZE];
    char *lang;
    uint64_t created_us, start_us;
};

int engine_open(struct engine **out, const struct dirs *dirs, struct err *err)
{
    struct engine *e = calloc(1, sizeof(*e));

    if (e == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    e->dirs = *dirs;
    if (boundary_open(&e->boundary, dirs->state, err) < 0) {
        free(e);
        return err_wrap(err, "open the boundary record");
    }
    tiers_sweep(&e->dirs);
    *out = e;
    return 0;
}

void engine_close(struct engine *e)
{
    if (e == NULL)
        return;
    boundary_close(e->boundary);
    free(e);
}

/* ---- the program, as frames ---- */

static int send_exec(struct sandbox *sb, uint16_t cmd, const struct strs *argv,
                     uint32_t flags, struct err *err)
{
    const struct agent_exec head = {.flags = flags,
                                    .argc = (uint32_t)argv->len,
                                    .envc = (uint32_t)sb->grant.env.len};
    AUTO(buf) struct buf b;

    buf_init(&b, AGENT_EXEC_MAX);
    if (buf_add(&b, &head, sizeof(head), err) < 0 ||
        buf_strz(&b, sb->grant.cwd, err) < 0)
        return -1;
    for (size_t i = 0; i < argv->len; i++)
        if (buf_strz(&b, argv->at[i], err) < 0)
            return -1;
    for (size_t i = 0; i < sb->grant.env.len; i++)
        if (buf_strz(&b, sb->grant.env.at[i], err) < 0)
            return -1;
    return stream_put(&sb->stream, AGENT_EXEC, cmd, b.data, b.len, err);
}

static uint32_t exec_flags(const struct sandbox *sb, bool runtime, bool stdin_)
{
    uint32_t flags = 0;

    if (sb->last)
        flags |= AGENT_EXEC_LAST;
    if (runtime)
        flags |= AGENT_EXEC_RUNTIME;
    if (!stdin_)
        flags |= AGENT_EXEC_NO_STDIN;
    return flags;
}

/* ---- the record, around the start ---- */

static int record_started(void *ctx, struct err *err)
{
    struct sandbox *sb = ((struct displayed *)ctx)->sandbox;
    struct result *r = ((struct displayed *)ctx)->result;

    r->started = true;
    r->tier = sb->grant.tier->name;
    memcpy(r->effective, sb->cell->effective, sizeof(r->effective));
    sb->told = true;
    return events_started(sb->engine->boundary, r, err);
}

static enum status status_of(const struct err *err)
{
    switch (err->code) {
    case ERR_INVALID:
    case ERR_DENIED:
    case ERR_LIMIT:
        return STATUS_DENIED;
    case ERR_HOST:
        return STATUS_UNAVAILABLE;
    case ERR_NONE:
    case ERR_INTERNAL:
        break;
    }
    return STATUS_INTERNAL;
}

/* Nothing ran: says so in the result and in the record. */
static int refuse(struct engine *e, const struct request *req,
                  struct result *result, const struct err *why,
                  struct err *err)
{
    result->status = status_of(why);
    snprintf(result->message, sizeof(result->message), "%s", why->text);
    return events_refused(e->boundary, req, result, err);
}

/* ---- open ---- */

static int cell_open(struct sandbox *sb, struct err *err)
{
    const struct tier *tier = sb->grant.tier;

    if (tier->start(&sb->grant, &sb->cell, err) < 0)
        return err_wrap(err, "start the %s tier", tier->name);
    if (stream_init(&sb->stream, sb->cell->stream_fd, err) < 0)
        return -1;
    sb->stream_open = true;
    return 0;
}

static void sandbox_drop(struct sandbox *sb)
{
    cell_free(sb->cell);
    if (sb->stream_open)
        stream_fini(&sb->stream);
    grant_fini(&sb->grant);
    free(sb->lang);
    free(sb);
}

/*
 * request -> grant -> record -> cell, without waiting for it. 0 and *out NULL:
 * refused, and *result says why. -1: the record cannot be written.
 */
static int begin(struct engine *e, const struct request *req, bool last,
                 struct sandbox **out, struct result *result, struct err *err)
{
    struct sandbox *sb = calloc(1, sizeof(*sb));
    struct err why = {0};

    *out = NULL;
    if (sb == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    sb->engine = e;
    sb->last = last && req->out_count == 0;
    sb->created_us = clock_us();
    memcpy(sb->id, req->id, sizeof(sb->id));
    if (request_check(req, &why) < 0 ||
        policy_decide(&e->dirs, req, &sb->grant, &why) < 0) {
        sandbox_drop(sb);
        return refuse(e, req, result, &why, err);
    }
    sb->grant.run_id = sb->id;
    sb->grant.lasting = !last;
    if (events_granted(e->boundary, req, &sb->grant, result, err) < 0) {
        sandbox_drop(sb); /* no record, no run */
        return -1;
    }
    result->tier = sb->grant.tier->name;
    if (cell_open(sb, &why) < 0) {
        sandbox_drop(sb);
        return refuse(e, req, result, &why, err);
    }
    sb->lang = req->lang == NULL ? NULL : strdup(req->lang);
    *out = sb;
    return 0;
}

/* ---- files ---- */

static struct crossing crossing_of(struct sandbox *sb, struct result *result)
{
    return (struct crossing){
        .op = {.stream = &sb->stream, .cell = sb->cell},
        .boundary = sb->engine->boundary,
        .run_id = sb->id,
        .events = result == NULL ? NULL : result->boundary,
        .files = result == NULL ? NULL : result->files,
        .max_bytes = sb->grant.limits.disk_bytes,
    };
}

/* Relative paths in the cell are below its home. */
static int cell_path(const struct sandbox *sb, const char *path, char *out,
                     struct err *err)
{
    const char *home = CELL_HOME;
    int n;

    for (size_t i = 0; i < sb->grant.env.len; i++)
        if (strncmp(sb->grant.env.at[i], "HOME=/", 6) == 0)
            home = sb->grant.env.at[i] + 5;
    n = path[0] == '/' ? snprintf(out, AGENT_PATH_MAX, "%s", path)
                       : snprintf(out, AGENT_PATH_MAX, "%s/%s", home, path);
    return n < (int)AGENT_PATH_MAX
               ? 0
               : err_set(err, ERR_INVALID, "the path is too long");
}

static int copy_in(struct sandbox *sb, const struct request *req,
                   struct result *result, struct err *err)
{
    struct crossing x = crossing_of(sb, result);
    char path[AGENT_PATH_MAX];

    for (size_t i = 0; i < req->in_count; i++)
        if (cell_path(sb, req->in[i].to, path, err) < 0 ||
            files_in(&x, req->in[i].from, path, err) < 0)
            return err_wrap(err, "--in");
    return 0;
}

/* One that cannot come out is recorded and told, and the others still do. */
static void copy_out(struct sandbox *sb, const struct request *req,
                     struct result *result)
{
    struct crossing x = crossing_of(sb, result);
    char path[AGENT_PATH_MAX];

    for (size_t i = 0; i < req->out_count; i++) {
        struct err why = {0};

        if (cell_path(sb, req->out[i].from, path, &why) == 0 &&
            files_out(&x, path, req->out[i].to, &why) == 0)
            continue;
        files_refused(&x, req->out[i].to, req->out[i].from, why.text, NULL);
        if (result->message[0] == '\0')
            snprintf(result->message, sizeof(result->message), "%s", why.text);
    }
}

/* ---- run ---- */

static void usage_take(struct result *r, const struct cell *cell)
{
    const struct holder_usage *u = &cell->usage;

    r->cpu_ms = u->cpu_us == HOLDER_UNKNOWN ? RESULT_UNKNOWN
                                            : (u->cpu_us + 500) / 1000;
    r->peak_memory_bytes = u->peak_memory_bytes;
    r->peak_processes = u->peak_processes;
    r->disk_bytes = u->disk_bytes;
}

static void evidence_start(struct evidence *ev, const struct cell *cell)
{
    (void)cell;
    *ev = (struct evidence){0};
}

static void evidence_mechanisms(struct evidence *ev, const struct cell *cell)
{
    ev->memory_rlimit =
        cell->effective[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED ||
        cell->effective[HOLDER_MEMORY] == HOLDER_HOW_RLIMIT;
    ev->pids_rlimit = cell->effective[HOLDER_PIDS] == HOLDER_HOW_RLIMIT;
}

/* From evidence to the result, and the limits that were hit to the record. */
static int conclude(struct sandbox *sb, struct result *r, struct evidence *ev,
                    const struct err *why, struct err *err)
{
    evidence_mechanisms(ev, sb->cell);
    usage_take(r, sb->cell);
    r->status = result_decide(ev, &r->detail);
    r->exit_code = ev->exited && ev->signal == 0 ? ev->code : -1;
    r->signal = ev->exited ? ev->signal : 0;
    if (why->code != ERR_NONE && r->message[0] == '\0')
        snprintf(r->message, sizeof(r->message), "%s", why->text);
    if (events_limits(sb->engine->boundary, r, &sb->grant, ev, err) < 0)
        return -1;
    return events_finished(sb->engine->boundary, r, err);
}

static int pump_once(struct sandbox *sb, struct pump *p, struct displayed *d,
                     struct err *why)
{
    int r;

    p->cell = sb->cell;
    p->stream = &sb->stream;
    p->grant = &sb->grant;
    p->credit_stdin = p->credit_runtime = AGENT_CREDIT_START;
    d->pump = p;
    r = pump_run(p, record_started, d, why);
    if (p->begun_us != 0) {
        uint64_t now = clock_us();

        p->result->run_us = now - p->begun_us;
        p->result->wall_ms = p->result->run_us / 1000;
        p->result->start_us = p->begun_us - sb->start_us;
    }
    return r;
}

/* The one program of a run: sent, pumped, files out, everything ended. */
static int run_program(struct sandbox *sb, const struct request *req,
                       struct pump *p, struct displayed *d, struct err *why)
{
    bool runtime = sb->grant.runtime;
    bool stdin_ = sb->grant.has_stdin && p->io->stdin_fd >= 0;
    uint64_t ending;
    int r = 0;

    sb->start_us = clock_us();
    if (req->in_count > 0)
        r = copy_in(sb, req, p->result, why);
    if (r < 0)
        p->ev->unavailable = why->code == ERR_HOST;
    if (r < 0 && !p->ev->unavailable)
        p->ev->denied = why->code == ERR_INVALID || why->code == ERR_LIMIT;
    if (r == 0)
        r = send_exec(sb, CMD_DRIVER, &sb->grant.argv,
                      exec_flags(sb, runtime, stdin_), why);
    if (r == 0)
        r = pump_once(sb, p, d, why);
    if (r < 0 && !p->ev->unavailable && !p->ev->denied)
        p->ev->internal = true;
    ending = clock_us();
    if (r == 0 && req->out_count > 0 && !sb->cell->ended) {
        stream_put(&sb->stream, AGENT_KILL_ALL, 0, NULL, 0, NULL);
        copy_out(sb, req, p->result);
    }
    if (cell_end(sb->cell, why) < 0)
        p->ev->internal = true;
    p->ev->hits |= sb->cell->usage.hits;
    p->result->destroy_us = clock_us() - ending;
    return r;
}

int run_once(struct engine *e, const struct request *req,
             const struct run_io *io, struct result *result, struct err *err)
{
    struct evidence ev = {0};
    struct err why = {0};
    struct displayed shown = {.result = result, .io = io, .ev = &ev};
    struct pump p = {.io = io, .result = result, .ev = &ev, .cmd = CMD_DRIVER};
    AUTO(buf) struct buf code;
    struct sandbox *sb;
    int r;

    buf_init(&code, RUNTIME_CODE_MAX + 8192);
    if (result_init(result, req->limits.output_bytes, err) < 0)
        return -1;
    memcpy(result->id, req->id, sizeof(result->id));
    if (begin(e, req, true, &sb, result, err) < 0)
        return -1;
    if (sb == NULL)
        return 0; /* refused; the result says why */
    result->create_us = clock_us() - sb->created_us;
    shown.sandbox = sb;
    p.last = sb->last;
    p.spare = req->out_count > 0;
    evidence_start(&ev, sb->cell);
    if (req->lang != NULL &&
        displayed_begin(&shown, req, true, &code, &p, &why) < 0)
        ev.internal = true;
    else
        run_program(sb, req, &p, &shown, &why);
    r = conclude(sb, result, &ev, &why, err);
    displayed_end(&shown);
    sandbox_drop(sb);
    return r;
}

/* ---- a sandbox that lives ---- */

int sandbox_open(struct engine *e, const struct request *req,
                 struct sandbox **out, struct result *result, struct err *err)
{
    struct result own;
    struct result *r = result == NULL ? &own : result;
    struct displayed d = {.result = r};
    struct sandbox *sb = NULL;
    struct err why = {0};
    int ret = -1;

    if (result_init(r, req->limits.output_bytes, err) < 0)
        return -1;
    memcpy(r->id, req->id, sizeof(r->id));
    if (begin(e, req, false, &sb, r, err) < 0) {
        if (result == NULL)
            result_fini(&own);
        return -1;
    }
    d.sandbox = sb;
    if (sb == NULL) {
        err_set(err, ERR_HOST, "%s", r->message);
    } else if (cell_wait_ready(sb->cell, &why) < 0) {
        if (refuse(e, req, r, &why, err) == 0 && err != NULL)
            *err = why;
        sandbox_drop(sb);
    } else if (record_started(&d, err) < 0) {
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

/* Starts the driver at the first block; it stays for the next ones. */
static int driver_start(struct sandbox *sb, const struct run_io *io,
                        struct err *err)
{
    if (sb->driver_runs)
        return 0;
    return send_exec(sb, CMD_DRIVER, &sb->grant.argv,
                     exec_flags(sb, true,
                                sb->grant.has_stdin && io->stdin_fd >= 0),
                     err);
}

/* This run's own share of what the cell used since it began. */
static void usage_since(struct result *r, const struct holder_usage *before,
                        const struct cell *cell)
{
    usage_take(r, cell);
    if (before->cpu_us != HOLDER_UNKNOWN &&
        cell->usage.cpu_us != HOLDER_UNKNOWN &&
        cell->usage.cpu_us >= before->cpu_us)
        r->cpu_ms = (cell->usage.cpu_us - before->cpu_us + 500) / 1000;
}

static int run_next(struct sandbox *sb, const struct run_next *next,
                    struct pump *p, struct displayed *d, struct err *why)
{
    struct request block = {.lang = sb->lang,
                            .code = (char *)(uintptr_t)next->code,
                            .code_len = next->code_len,
                            .code_name = (char *)(uintptr_t)next->code_name};

    sb->start_us = clock_us();
    if (next->code == NULL) {
        p->cmd = CMD_EXEC;
        return send_exec(sb, CMD_EXEC, next->argv,
                         exec_flags(sb, false, p->io->stdin_fd >= 0), why);
    }
    if (sb->lang == NULL)
        return err_set(why, ERR_INVALID,
                       "this sandbox was opened without a language");
    p->block = true;
    p->started = sb->driver_runs;
    if (driver_start(sb, p->io, why) < 0 ||
        displayed_begin(d, &block, false, d->code, p, why) < 0)
        return -1;
    if (sb->driver_runs)
        pump_clock_start(p, &sb->grant);
    return 0;
}

int sandbox_run(struct sandbox *sb, const struct run_next *next,
                const struct run_io *io, struct result *result,
                struct err *err)
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
    if (id_new(result->id, err) < 0 ||
        events_code_run(sb->engine->boundary, sb->id, sb->lang, next, result,
                        err) < 0)
        return -1;
    result->started = true;
    result->tier = sb->grant.tier->name;
    memcpy(result->effective, sb->cell->effective, sizeof(result->effective));
    if (sb->cell->ended || sb->cell->killed || sb->stream.eof) {
        err_set(&why, ERR_HOST, "this sandbox has ended");
        ev.unavailable = true;
        r = -1;
    } else {
        r = run_next(sb, next, &p, &d, &why);
        if (r == 0)
            r = pump_once(sb, &p, &d, &why);
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
    ev.hits |= sb->cell->usage.hits & ~hits_before;
    r = conclude(sb, result, &ev, &why, err);
    usage_since(result, &before, sb->cell);
    displayed_end(&d);
    return r;
}

int sandbox_put(struct sandbox *sb, const char *path, const void *data,
                size_t len, struct err *err)
{
    struct crossing x = crossing_of(sb, NULL);
    char at[AGENT_PATH_MAX];

    if (len > SANDBOX_FILE_MAX)
        return err_set(err, ERR_LIMIT, "a file of %zu bytes", len);
    if (cell_path(sb, path, at, err) < 0)
        return -1;
    return files_put(&x, at, data, len, err);
}

int sandbox_get(struct sandbox *sb, const char *path, struct buf *data,
                struct err *err)
{
    struct crossing x = crossing_of(sb, NULL);
    char at[AGENT_PATH_MAX];

    if (cell_path(sb, path, at, err) < 0)
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
        usage_take(&r, sb->cell);
        events_finished(sb->engine->boundary, &r, NULL);
    }
    result_fini(&r);
    sandbox_drop(sb);
}
