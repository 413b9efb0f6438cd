/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run - the life of a run, in the order it happens:
 *
 *   request -> policy -> grant -> record -> cell -> program -> result -> record
 *
 * Called by the CLI and the engine's doors. Nothing starts before its grant is
 * recorded; the answer comes after the end is recorded.
 */
#include "src/core/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/core/tier.h"

/* JSON's hash tables are seeded without opening a device. */
static void hash_seed(void)
{
    size_t seed = 0;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
        json_object_seed(seed | 1);
}

int engine_open(struct engine **out, const struct dirs *dirs, struct err *err)
{
    struct engine *e = calloc(1, sizeof(*e));

    if (e == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    e->dirs = *dirs;
    hash_seed();
    if (boundary_open(&e->boundary, dirs->state, err) < 0) {
        free(e);
        return err_wrap(err, "open the boundary record");
    }
    boundary_settings(e->boundary, &dirs->record);
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

/* ---- files ---- */

static int copy_in(struct sandbox *sb, const struct request *req,
                   struct result *result, struct err *err)
{
    struct crossing x = sandbox_crossing(sb, result);
    char path[AGENT_PATH_MAX];

    for (size_t i = 0; i < req->in_count; i++)
        if (sandbox_path(sb, req->in[i].to, path, err) < 0 ||
            files_in(&x, req->in[i].from, path, err) < 0)
            return -1;
    return 0;
}

/* One that cannot come out is recorded and told, and the others still do. */
static void copy_out(struct sandbox *sb, const struct request *req,
                     const struct files_target *to, struct result *result)
{
    struct crossing x = sandbox_crossing(sb, result);
    char path[AGENT_PATH_MAX];

    for (size_t i = 0; i < req->out_count; i++) {
        struct err why = {0};

        if (sandbox_path(sb, req->out[i].from, path, &why) == 0 &&
            files_out(&x, path, &to[i], &why) == 0)
            continue;
        result->out_failed = true;
        files_refused(&x, req->out[i].to, req->out[i].from, why.text, NULL);
        if (result->message[0] == '\0')
            snprintf(result->message, sizeof(result->message), "%s", why.text);
    }
}

static void targets_close(struct files_target *to, size_t count)
{
    for (size_t i = 0; to != NULL && i < count; i++)
        files_target_close(&to[i]);
    free(to);
}

/* Where files are to come out, before anything runs. NULL without any. */
static int targets_open(const struct request *req, struct files_target **out,
                        struct err *err)
{
    struct files_target *to = NULL;

    *out = NULL;
    if (req->out_count == 0)
        return 0;
    to = calloc(req->out_count, sizeof(*to));
    if (to == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    for (size_t i = 0; i < req->out_count; i++) {
        if (files_target_open(&to[i], req->out[i].to, req->workspace, err) <
            0) {
            targets_close(to, i + 1);
            return -1;
        }
    }
    *out = to;
    return 0;
}

/* ---- run ---- */

/* The one program of a run: sent, pumped, files out, everything ended. */
static int run_program(struct sandbox *sb, const struct request *req,
                       const struct files_target *to, struct pump *p,
                       struct displayed *d, struct err *why)
{
    bool runtime = sb->grant.language != NULL;
    bool stdin_ = sb->grant.has_stdin && p->io->stdin_fd >= 0;
    int r = 0;

    sb->start_us = clock_us();
    r = sandbox_settle(sb, why);
    if (r == 0 && req->in_count > 0)
        r = copy_in(sb, req, p->result, why);
    if (r < 0)
        p->ev->unavailable = why->code == ERR_HOST;
    if (r < 0 && !p->ev->unavailable)
        p->ev->denied = why->code == ERR_INVALID || why->code == ERR_LIMIT ||
                        why->code == ERR_DENIED;
    if (r == 0)
        r = sandbox_exec(sb, CMD_DRIVER, &sb->grant.argv, runtime, stdin_, why);
    if (r == 0)
        r = sandbox_pump(sb, p, d, why);
    if (r < 0 && !p->ev->unavailable && !p->ev->denied)
        p->ev->internal = true;
    if (r == 0 && req->out_count > 0 && !sb->cell->ended) {
        stream_put(&sb->stream, AGENT_KILL_ALL, 0, NULL, 0, NULL);
        copy_out(sb, req, to, p->result);
    }
    if (cell_end(sb->cell, why) < 0)
        p->ev->internal = true;
    p->ev->hits |= sb->cell->usage.hits;
    p->result->destroy_us = p->ended_us == 0 ? 0 : clock_us() - p->ended_us;
    return r;
}

static int run_in(struct engine *e, const struct request *req,
                  const struct files_target *to, const struct run_io *io,
                  struct result *result, struct err *err)
{
    struct evidence ev = {0};
    struct err why = {0};
    struct displayed shown = {.result = result, .io = io, .ev = &ev};
    struct pump p = {.io = io, .result = result, .ev = &ev, .cmd = CMD_DRIVER};
    AUTO(buf) struct buf code;
    struct sandbox *sb;

    buf_init(&code, RUNTIME_CODE_MAX + 8192);
    if (sandbox_begin(e, req, true, &sb, result, err) < 0)
        return -1;
    if (sb == NULL)
        return 0; /* refused; the result says why */
    result->create_us = clock_us() - sb->created_us;
    shown.sandbox = sb;
    p.last = sb->last;
    p.spare = req->out_count > 0;
    if (req->lang != NULL &&
        displayed_begin(&shown, req, RUNTIME_CODE_LAST, &code, &p, &why) < 0)
        ev.internal = true;
    else
        run_program(sb, req, to, &p, &shown, &why);
    sandbox_conclude(sb, result, &ev, NULL, &why);
    displayed_end(&shown);
    sandbox_drop(sb);
    return 0;
}

static int result_begin(struct result *result, const struct request *req,
                        struct err *err)
{
    if (result_init(result, req->limits.output_bytes, err) < 0)
        return -1;
    memcpy(result->id, req->id, sizeof(result->id));
    return 0;
}

/* `auto`, and the tier that was taken turned out not to be had here, before
 * anything ran: the name of the next weaker one, or NULL. */
static const char *weaker(const struct request *req, const struct result *r)
{
    bool is_auto = req->tier == NULL || strcmp(req->tier, "auto") == 0;

    if (!is_auto || r->status != STATUS_UNAVAILABLE || r->started ||
        r->tier == NULL)
        return NULL;
    for (size_t i = 1; tiers[i] != NULL; i++)
        if (strcmp(tiers[i]->name, r->tier) == 0)
            return tiers[i - 1]->name;
    return NULL;
}

/* Weaker and weaker; each refusal is in the record. When none is left the
 * strongest's reason stands. */
static int run_weaker(struct engine *e, const struct request *req,
                      const struct files_target *to, const struct run_io *io,
                      struct result *result, struct err *err)
{
    const char *name = weaker(req, result);
    struct request again = *req;
    struct result other;
    int r = 0;

    if (name == NULL)
        return 0;
    again.tier = (char *)(uintptr_t)name;
    if (result_begin(&other, &again, err) < 0)
        return -1;
    r = run_in(e, &again, to, io, &other, err);
    if (other.status == STATUS_UNAVAILABLE && !other.started) {
        result_fini(&other);
        return r;
    }
    result_fini(result);
    *result = other;
    return r;
}

int run_once(struct engine *e, const struct request *req,
             const struct run_io *io, struct result *result, struct err *err)
{
    struct files_target *to = NULL;
    struct err why = {0};
    int r;

    if (result_begin(result, req, err) < 0)
        return -1;
    if (targets_open(req, &to, &why) < 0)
        return sandbox_refuse(e, req, result, &why, err);
    r = run_in(e, req, to, io, result, err);
    if (r == 0)
        r = run_weaker(e, req, to, io, result, err);
    targets_close(to, req->out_count);
    return r;
}

int engine_try(const struct dirs *dirs, const struct tier *tier,
               struct err *err)
{
    char scratch[] = HOLDER_SCRATCH;
    struct grant grant = {.tier = tier,
                          .dirs = dirs,
                          .limits = limits_default(),
                          .scratch = tier->adapts ? scratch : NULL};
    struct cell *cell;
    int r;

    if (tier->start(&grant, &cell, err) < 0)
        return -1;
    r = cell_wait_ready(cell, err);
    cell_free(cell);
    return r;
}
