/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - see events.h. Values of the environment never get into a record,
 * only its names: operators pass credentials there.
 */
#include "src/core/events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/sha256.h"
#include "src/core/output.h"
#include "src/core/refused.h"
#include "src/core/tier.h"

static json_t *strs_json(const struct strs *s, bool names_only)
{
    json_t *a = json_array();

    for (size_t i = 0; i < s->len; i++) {
        char name[256];
        size_t n = strcspn(s->at[i], "=");

        if (!names_only) {
            json_array_append_new(a, text_json(s->at[i]));
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", n > 255 ? 255 : (int)n, s->at[i]);
        json_array_append_new(a, text_json(name));
    }
    return a;
}

static json_t *limits_json(const struct limits *l)
{
    json_t *o = json_object();

    for (size_t i = 0; i < limit_row_count; i++)
        json_object_set_new(
            o, limit_rows[i].field,
            json_integer((json_int_t)limits_get(l, &limit_rows[i])));
    return o;
}

static json_t *mounts_json(const struct grant *grant)
{
    static const char *const made[] = {[GRANT_DIR] = "directory",
                                       [GRANT_FILE] = "file",
                                       [GRANT_LINK] = "link"};
    json_t *a = json_array();

    for (size_t i = 0; i < grant->mount_count; i++) {
        const struct grant_mount *m = &grant->mounts[i];

        if (m->kind != GRANT_BIND) { /* nothing of the host's */
            json_array_append_new(
                a, json_pack("{s:s,s:o,s:b}", "made", made[m->kind], "path",
                             text_json(m->target), "rw", m->rw));
            continue;
        }
        json_array_append_new(a, json_pack("{s:o,s:o,s:b}", "host",
                                           text_json(m->source), "path",
                                           text_json(m->target), "rw", m->rw));
    }
    return a;
}

static json_t *may_lack_json(uint64_t bits)
{
    static const char *const names[] = {
#define M(id, name, what) name,
        HOLDER_MECHANISMS(M)
#undef M
    };
    json_t *a = json_array();

    for (unsigned i = 0; i < HOLDER_MECHANISM_COUNT; i++)
        if (bits & (UINT64_C(1) << i))
            json_array_append_new(a, json_string(names[i]));
    return a;
}

/* Adds lang, code_sha256, code_bytes or argv: what is to run. */
static void what_runs(json_t *o, const char *lang, const char *code,
                      size_t code_len, const struct strs *argv)
{
    char hash[SHA256_HEX_SIZE];

    if (lang != NULL)
        json_object_set_new(o, "lang", text_json(lang));
    if (code != NULL) {
        sha256_of(code, code_len, hash);
        json_object_set_new(o, "code_sha256", json_string(hash));
        json_object_set_new(o, "code_bytes",
                            json_integer((json_int_t)code_len));
    }
    if (argv != NULL && argv->len > 0)
        json_object_set_new(o, "argv", strs_json(argv, false));
}

int events_refused(struct boundary *b, const struct request *req,
                   struct result *r, struct err *err)
{
    json_t *o = json_pack("{s:s,s:o,s:s}", "status", status_names[r->status],
                          "reason", text_json(r->message), "tier",
                          req->tier == NULL ? "auto" : req->tier);

    if (o == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    what_runs(o, req->lang, NULL, 0, &req->argv);
    return boundary_write(b, EVENT_RUN_REFUSED, r->id, o, r->boundary, err);
}

int events_granted(struct boundary *b, const struct request *req,
                   const struct grant *grant, struct result *r, struct err *err)
{
    json_t *o =
        json_pack("{s:s,s:o,s:o,s:o}", "tier", grant->tier->name, "limits",
                  limits_json(&grant->limits), "mounts", mounts_json(grant),
                  "env", strs_json(&grant->env, true));

    if (o == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (grant->terminal)
        json_object_set_new(o, "terminal", json_true());
    if (grant->template != NULL)
        json_object_set_new(
            o, "template",
            template_json(grant->template->name, grant->template->digest));
    if (grant->may_lack != 0)
        json_object_set_new(o, "may_lack", may_lack_json(grant->may_lack));
    what_runs(o, req->lang, req->code, req->code_len, &req->argv);
    return boundary_write(b, EVENT_RUN_GRANTED, r->id, o, r->boundary, err);
}

int events_started(struct boundary *b, struct result *r, struct err *err)
{
    json_t *effective = result_effective(r);
    json_t *o = json_pack("{s:s?,s:O}", "tier", r->tier, "effective",
                          json_object_get(effective, "mechanisms"));

    json_decref(effective);
    if (o == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return boundary_write(b, EVENT_CELL_STARTED, r->id, o, r->boundary, err);
}

int events_code_run(struct boundary *b, const char *sandbox, const char *lang,
                    const struct run_next *next, struct result *r,
                    struct err *err)
{
    json_t *o = json_pack("{s:s}", "sandbox", sandbox);

    if (o == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    what_runs(o, next->code == NULL ? NULL : lang, next->code, next->code_len,
              next->argv);
    return boundary_write(b, EVENT_CODE_RUN, r->id, o, r->boundary, err);
}

int events_denied(struct boundary *b, const struct holder_message *m,
                  struct result *r, struct err *err)
{
    json_t *o = refused_json(m);

    if (o == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return boundary_write(b, EVENT_CALL_DENIED, r->id, o, r->boundary, err);
}

/* Which hit means which limit, by the option's name. */
static const struct hit_row {
    uint32_t bits;
    const char *option;
} hit_rows[] = {
    {HOLDER_HIT_MEMORY_OOM | HOLDER_HIT_MEMORY_KILLED, "mem"},
    {HOLDER_HIT_PIDS, "pids"},
    {HOLDER_HIT_DISK_FULL | HOLDER_HIT_DISK_KILLED, "disk"},
    {HOLDER_HIT_CPU_TIME_KILLED, "cpu-time"},
    {HOLDER_HIT_WALL_KILLED, "wall"},
};

static int limit_hit(struct boundary *b, struct result *r,
                     const struct grant *grant, const char *option,
                     struct err *err)
{
    const struct limit_row *row = limit_find(option);
    char allow[64], value[32];

    if (row == NULL)
        return err_set(err, ERR_INTERNAL, "no limit %s", option);
    limit_format(row, limits_get(&grant->limits, row), value, sizeof(value));
    snprintf(allow, sizeof(allow), "--%s", option);
    return boundary_write(b, EVENT_LIMIT_HIT, r->id,
                          json_pack("{s:s,s:s,s:s}", "limit", option, "value",
                                    value, "allow", allow),
                          r->boundary, err);
}

static bool cut(const struct output *o)
{
    return o->total > o->head.len + o->tail_len && o->head.len > 0;
}

/* What the holder saw, and what an rlimit did that only the program could see:
 * the same evidence that result_decide() takes. */
static uint32_t hits_all(const struct evidence *ev)
{
    uint32_t hits = ev->hits;

    if (ev->memory_elsewhere) /* no limit of this run's */
        hits &= ~(uint32_t)HOLDER_HIT_MEMORY_OOM;
    if (result_memory_refused(ev))
        hits |= HOLDER_HIT_MEMORY_OOM;
    if (ev->pids_rlimit && ev->uncaught_errno == EAGAIN)
        hits |= HOLDER_HIT_PIDS;
    if (ev->uncaught_errno == ENOSPC || ev->uncaught_errno == EDQUOT ||
        ev->uncaught_errno == EFBIG)
        hits |= HOLDER_HIT_DISK_FULL;
    return hits;
}

int events_limits(struct boundary *b, struct result *r,
                  const struct grant *grant, const struct evidence *ev,
                  struct err *err)
{
    uint32_t hits = hits_all(ev);

    for (size_t i = 0; i < sizeof(hit_rows) / sizeof(hit_rows[0]); i++)
        if ((hits & hit_rows[i].bits) &&
            limit_hit(b, r, grant, hit_rows[i].option, err) < 0)
            return -1;
    if (ev->wall && !(ev->hits & HOLDER_HIT_WALL_KILLED) &&
        limit_hit(b, r, grant, "wall", err) < 0)
        return -1;
    if ((ev->output || cut(&r->out) || cut(&r->err)) &&
        limit_hit(b, r, grant, "output", err) < 0)
        return -1;
    return 0;
}

int events_finished(struct boundary *b, struct result *r, struct err *err)
{
    json_t *code = r->exit_code < 0 ? json_null() : json_integer(r->exit_code);
    json_t *sig = r->signal == 0 ? json_null() : json_integer(r->signal);
    json_t *o = json_pack(
        "{s:s,s:s?,s:o,s:o,s:o}", "status", status_names[r->status], "detail",
        r->detail, "exit_code", code, "signal", sig, "usage", result_usage(r));

    if (o == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return boundary_write(b, EVENT_RUN_FINISHED, r->id, o, r->boundary, err);
}
