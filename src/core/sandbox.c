/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox - see sandbox.h. The steps, each once; run.c has their order. */
#include "src/core/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/scratch.h"
#include "src/core/ending.h"
#include "src/core/events.h"
#include "src/core/policy.h"

/* ---- begin ---- */

int sandbox_started(void *ctx, struct err *err)
{
    struct sandbox *sb = ((struct displayed *)ctx)->sandbox;
    struct result *r = ((struct displayed *)ctx)->result;

    r->started = true;
    r->tier = sb->grant.tier->name;
    if (sb->grant.template != NULL) {
        memcpy(r->template_name, sb->grant.template->name,
               sizeof(r->template_name));
        memcpy(r->template_digest, sb->grant.template->digest,
               sizeof(r->template_digest));
    }
    memcpy(r->effective, sb->cell->effective, sizeof(r->effective));
    sb->told = true;
    return events_started(sb->engine->boundary, r, err);
}

int sandbox_denied(struct sandbox *sb, struct result *result, struct err *err)
{
    size_t count = sb->cell->denied_count;

    sb->cell->denied_count = 0;
    for (size_t i = 0; i < count; i++)
        if (events_denied(sb->engine->boundary, &sb->cell->denied[i], result,
                          err) < 0)
            return -1;
    return 0;
}

static int told_denied(void *ctx, struct err *err)
{
    const struct displayed *d = ctx;

    return sandbox_denied(d->sandbox, d->result, err);
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

int sandbox_refuse(struct engine *e, const struct request *req,
                   struct result *result, const struct err *why,
                   struct err *err)
{
    result->status = status_of(why);
    snprintf(result->message, sizeof(result->message), "%s", why->text);
    return events_refused(e->boundary, req, result, err);
}

static int cell_open(struct sandbox *sb, struct err *err)
{
    const struct tier *tier = sb->grant.tier;

    if (tier->start(&sb->grant, &sb->cell, err) < 0)
        return err_wrap(err, "start the %s tier", tier->name);
    if (stream_init(&sb->stream, sb->cell->stream_fd, err) < 0)
        return -1;
    sb->stream_open = true;
    /* What dead runs left goes while the holder works on another processor. */
    tiers_sweep(sb->grant.dirs);
    return 0;
}

void sandbox_drop(struct sandbox *sb)
{
    cell_free(sb->cell);
    if (sb->stream_open)
        stream_fini(&sb->stream);
    grant_fini(&sb->grant);
    free(sb->lang);
    free(sb);
}

int sandbox_begin(struct engine *e, const struct request *req, bool last,
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
        return sandbox_refuse(e, req, result, &why, err);
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
        return sandbox_refuse(e, req, result, &why, err);
    }
    sb->lang = req->lang == NULL ? NULL : strdup(req->lang);
    *out = sb;
    return 0;
}

/* ---- where the program is ---- */

/* `from` at the start of *text becomes `to`. */
static int moved(char **text, const char *from, const char *to, struct err *err)
{
    size_t n = strlen(from);
    char *now;

    if (strncmp(*text, from, n) != 0 ||
        ((*text)[n] != '\0' && (*text)[n] != '/'))
        return 0;
    if (asprintf(&now, "%s%s", to, *text + n) < 0)
        return err_set(err, ERR_HOST, "out of memory");
    free(*text);
    *text = now;
    return 0;
}

/* No mount was possible: the host's paths, and a directory of it for scratch.
 */
static int host_paths(struct sandbox *sb, struct err *err)
{
    struct grant *g = &sb->grant;
    char base[DIRS_PATH_MAX], home[DIRS_PATH_MAX + 8];
    char name[DIRS_PATH_MAX + 24], runtime[DIRS_PATH_MAX + 16];
    int r = scratch_path(g->scratch, sb->cell->slot, base, sizeof(base), err);

    snprintf(home, sizeof(home), "%s/home", base);
    snprintf(runtime, sizeof(runtime), "%s/runtime", g->dirs->share);
    if (r == 0)
        r = moved(&g->cwd, CELL_HOME, home, err);
    for (size_t i = 0; r == 0 && i < g->argv.len; i++)
        r = moved(&g->argv.at[i], CELL_RUNTIME, runtime, err);
    snprintf(name, sizeof(name), "HOME=%s", home);
    for (size_t i = 0; r == 0 && i < g->env.len; i++)
        r = moved(&g->env.at[i], "HOME=" CELL_HOME, name, err);
    snprintf(name, sizeof(name), "TMPDIR=%s/tmp", base);
    for (size_t i = 0; r == 0 && i < g->env.len; i++)
        r = moved(&g->env.at[i], "TMPDIR=/tmp", name, err);
    return r;
}

int sandbox_settle(struct sandbox *sb, struct err *err)
{
    if (!sb->grant.tier->adapts || sb->settled)
        return 0;
    if (cell_wait_ready(sb->cell, err) < 0)
        return -1;
    sb->settled = true;
    if (sb->cell->effective[HOLDER_FILES] != HOLDER_HOW_LANDLOCK)
        return 0;
    if (sb->grant.terminal)
        return err_set(err, ERR_HOST,
                       "-t: a terminal of the cell's own needs mount "
                       "namespaces, which this host does not give; without -t "
                       "it runs");
    return host_paths(sb, err);
}

/* ---- the program ---- */

static uint32_t exec_flags(const struct sandbox *sb, bool runtime, bool input)
{
    uint32_t flags = 0;

    if (sb->last)
        flags |= AGENT_EXEC_LAST;
    if (runtime)
        flags |= AGENT_EXEC_RUNTIME;
    if (!input)
        flags |= AGENT_EXEC_NO_STDIN;
    return flags;
}

/* The one program of a run may have a terminal. */
static void exec_terminal(const struct grant *g, struct agent_exec *head)
{
    head->flags &= ~(uint32_t)AGENT_EXEC_NO_STDIN;
    head->flags |= AGENT_EXEC_TERMINAL;
    head->size = (struct agent_size){.rows = g->rows, .columns = g->columns};
}

int sandbox_exec(struct sandbox *sb, uint16_t cmd, const struct strs *argv,
                 bool runtime, bool input, struct err *err)
{
    struct agent_exec head = {.flags = exec_flags(sb, runtime, input),
                              .argc = (uint32_t)argv->len,
                              .envc = (uint32_t)sb->grant.env.len};
    AUTO(buf) struct buf b;

    if (sb->grant.terminal)
        exec_terminal(&sb->grant, &head);

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

void sandbox_usage(struct result *r, const struct cell *cell,
                   const struct holder_usage *before)
{
    const struct holder_usage *u = &cell->usage;
    uint64_t base = before == NULL ? 0 : before->cpu_us;

    r->cpu_ms = u->cpu_us == HOLDER_UNKNOWN || base > u->cpu_us
                    ? RESULT_UNKNOWN
                    : (u->cpu_us - base + 500) / 1000;
    r->peak_memory_bytes = u->peak_memory_bytes;
    r->peak_processes = u->peak_processes;
    r->disk_bytes = u->disk_bytes;
}

/* What the kernel charges at once, and counts only then. */
#define CHARGE_STEP (1u << 20)

/* A kill by the kernel in a cell that was never near its own limit: the host
 * had no more, or a control group around us. The holder kills only what is over
 * the limit. */
static bool killed_from_elsewhere(const struct sandbox *sb)
{
    const struct holder_usage *u = &sb->cell->usage;

    return (u->hits & HOLDER_HIT_MEMORY_OOM) != 0 &&
           (u->hits & HOLDER_HIT_MEMORY_KILLED) == 0 &&
           u->kernel_peak_bytes != HOLDER_UNKNOWN &&
           u->kernel_peak_bytes + CHARGE_STEP < sb->grant.limits.mem_bytes;
}

static void evidence_mechanisms(struct evidence *ev, const struct cell *cell,
                                uint64_t limit)
{
    ev->memory_rlimit = cell->effective[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED ||
                        cell->effective[HOLDER_MEMORY] == HOLDER_HOW_RLIMIT;
    ev->memory_near = cell->usage.peak_memory_bytes != HOLDER_UNKNOWN &&
                      cell->usage.peak_memory_bytes >= limit - limit / 8;
    ev->pids_rlimit = cell->effective[HOLDER_PIDS] == HOLDER_HOW_RLIMIT;
}

void sandbox_unrecorded(struct sandbox *sb, struct result *r,
                        const struct err *why)
{
    cell_end(sb->cell, NULL); /* a live one, too: no record, no run */
    r->status = STATUS_INTERNAL;
    r->detail = NULL;
    snprintf(r->message, sizeof(r->message), "%s", why->text);
}

void sandbox_conclude(struct sandbox *sb, struct result *r, struct evidence *ev,
                      const struct holder_usage *before, const struct err *why)
{
    struct err lost = {0};

    evidence_mechanisms(ev, sb->cell, sb->grant.limits.mem_bytes);
    ev->memory_elsewhere = killed_from_elsewhere(sb);
    sandbox_usage(r, sb->cell, before);
    r->status = result_decide(ev, &r->detail);
    r->exit_code = ev->exited && ev->signal == 0 ? ev->code : -1;
    r->signal = ev->exited ? ev->signal : 0;
    if (why->code != ERR_NONE && r->message[0] == '\0')
        snprintf(r->message, sizeof(r->message), "%s", why->text);
    if (r->message[0] == '\0')
        ending_explain(r, &sb->grant.limits);
    if (sandbox_denied(sb, r, &lost) < 0 ||
        events_limits(sb->engine->boundary, r, &sb->grant, ev, &lost) < 0 ||
        events_finished(sb->engine->boundary, r, &lost) < 0)
        sandbox_unrecorded(sb, r, &lost);
}

int sandbox_pump(struct sandbox *sb, struct pump *p, struct displayed *d,
                 struct err *why)
{
    int r;

    p->cell = sb->cell;
    p->stream = &sb->stream;
    p->grant = &sb->grant;
    p->ready_told = sb->told;
    p->denied = told_denied;
    p->credit_stdin = p->credit_runtime = AGENT_CREDIT_START;
    if (p->cmd == CMD_DRIVER && sb->driver_runs) {
        p->credit_stdin = sb->credit_stdin;
        p->credit_runtime = sb->credit_runtime;
    }
    d->pump = p;
    r = pump_run(p, sandbox_started, d, why);
    if (p->cmd == CMD_DRIVER) {
        sb->credit_stdin = p->credit_stdin;
        sb->credit_runtime = p->credit_runtime;
    }
    if (p->begun_us != 0) {
        p->result->run_us = p->ended_us - p->begun_us;
        p->result->wall_ms = p->result->run_us / 1000;
        p->result->start_us = p->begun_us - sb->start_us;
    }
    return r;
}

/* ---- files ---- */

struct crossing sandbox_crossing(struct sandbox *sb, struct result *result)
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

int sandbox_path(const struct sandbox *sb, const char *path, char *out,
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
