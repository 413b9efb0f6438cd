/* SPDX-License-Identifier: Apache-2.0 */
/* result - see result.h. JSON is written here and nowhere else. */
#include "src/core/result.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/json_text.h"
#include "src/core/output.h"

const char *const status_names[STATUS_COUNT] = {
#define S(id, name, exit, what) [STATUS_##id] = name,
    STATUSES(S)
#undef S
};

/* An unsuccessful end: what `memory`, `processes` and `disk` need, too. */
static bool unsuccessful(const struct evidence *ev)
{
    return !ev->exited || ev->code != 0 || ev->signal != 0;
}

/* Node, Java and the like end themselves by a signal when the kernel has no
 * memory for them, and say so on stderr alone. */
static bool gave_up(const struct evidence *ev)
{
    return ev->memory_near && (ev->signal == SIGABRT || ev->signal == SIGTRAP ||
                               ev->signal == SIGILL);
}

bool result_memory_refused(const struct evidence *ev)
{
    return ev->memory_rlimit && (ev->uncaught_errno == ENOMEM || gave_up(ev));
}

static bool memory_ended(const struct evidence *ev)
{
    if (ev->hits & HOLDER_HIT_MEMORY_KILLED)
        return true;
    if (!unsuccessful(ev))
        return false;
    return (ev->hits & HOLDER_HIT_MEMORY_OOM) != 0 || result_memory_refused(ev);
}

static bool pids_ended(const struct evidence *ev)
{
    if (!unsuccessful(ev))
        return false;
    return (ev->hits & HOLDER_HIT_PIDS) != 0 ||
           (ev->pids_rlimit && ev->uncaught_errno == EAGAIN);
}

static bool disk_ended(const struct evidence *ev)
{
    if (ev->hits & HOLDER_HIT_DISK_KILLED)
        return true;
    if (!unsuccessful(ev))
        return false;
    return (ev->hits & HOLDER_HIT_DISK_FULL) != 0 ||
           ev->uncaught_errno == ENOSPC || ev->uncaught_errno == EDQUOT ||
           ev->uncaught_errno == EFBIG;
}

enum status result_decide(const struct evidence *ev, const char **detail)
{
    const uint32_t kills = HOLDER_HIT_MEMORY_KILLED | HOLDER_HIT_DISK_KILLED |
                           HOLDER_HIT_CPU_TIME_KILLED | HOLDER_HIT_WALL_KILLED;
    bool wall = ev->wall || (ev->hits & HOLDER_HIT_WALL_KILLED) != 0;
    bool why = ev->killed || wall || ev->output || (ev->hits & kills) ||
               memory_ended(ev);

    *detail = NULL;
    if (ev->internal)
        return STATUS_INTERNAL;
    if (ev->unavailable)
        return STATUS_UNAVAILABLE;
    if (ev->denied)
        return STATUS_DENIED;
    if (!ev->exited && !why)
        return STATUS_INTERNAL; /* an end that nothing explains */
    if (ev->killed)
        return STATUS_KILLED;
    if (wall || (ev->hits & HOLDER_HIT_CPU_TIME_KILLED)) {
        *detail = wall ? "wall" : "cpu";
        return STATUS_TIMEOUT;
    }
    if (ev->output)
        return STATUS_OUTPUT;
    if (memory_ended(ev)) {
        *detail = ev->memory_elsewhere ? "host" : NULL;
        return STATUS_MEMORY;
    }
    if (pids_ended(ev))
        return STATUS_PROCESSES;
    if (disk_ended(ev))
        return STATUS_DISK;
    return unsuccessful(ev) ? STATUS_ERROR : STATUS_OK;
}

int result_init(struct result *r, uint64_t output_cap, struct err *err)
{
    *r = (struct result){
        .status = STATUS_INTERNAL,
        .exit_code = -1,
        .wall_ms = RESULT_UNKNOWN,
        .cpu_ms = RESULT_UNKNOWN,
        .peak_memory_bytes = RESULT_UNKNOWN,
        .peak_processes = RESULT_UNKNOWN,
        .disk_bytes = RESULT_UNKNOWN,
    };
    output_init(&r->out, output_cap);
    output_init(&r->err, output_cap);
    r->results = json_array();
    r->boundary = json_array();
    r->files = json_array();
    if (r->results == NULL || r->boundary == NULL || r->files == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return 0;
}

void result_fini(struct result *r)
{
    output_fini(&r->out);
    output_fini(&r->err);
    json_decref(r->results);
    json_decref(r->error);
    json_decref(r->boundary);
    json_decref(r->files);
    *r = (struct result){.exit_code = -1};
}

static json_t *figure(uint64_t v)
{
    return v == RESULT_UNKNOWN ? json_null() : json_integer((json_int_t)v);
}

json_t *template_json(const char *name, const char *digest)
{
    if (name[0] == '\0')
        return json_null();
    return json_pack("{s:s,s:s}", "name", name, "sha256", digest);
}

static json_t *effective_json(const struct result *r)
{
    static const char *const names[] = {
#define M(id, name, what) name,
        HOLDER_MECHANISMS(M)
#undef M
    };
    static const char *const hows[] = {
#define H(id, text) text,
        HOLDER_HOWS(H)
#undef H
    };
    json_t *all;

    if (!r->started)
        return json_null();
    all = json_object();
    for (unsigned i = 0; i < HOLDER_MECHANISM_COUNT; i++) {
        unsigned how = r->effective[i];

        json_object_set_new(
            all, names[i],
            how == HOLDER_HOW_MISSING
                ? json_null()
                : json_string(how < HOLDER_HOW_COUNT ? hows[how] : "unknown"));
    }
    return json_pack("{s:s?,s:o,s:o}", "tier", r->tier, "template",
                     template_json(r->template_name, r->template_digest),
                     "mechanisms", all);
}

json_t *result_effective(const struct result *r)
{
    return effective_json(r);
}

json_t *result_usage(const struct result *r)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "wall_ms",
                     figure(r->wall_ms), "cpu_ms", figure(r->cpu_ms),
                     "peak_memory_bytes", figure(r->peak_memory_bytes),
                     "peak_processes", figure(r->peak_processes), "disk_bytes",
                     figure(r->disk_bytes), "net_bytes_in",
                     figure(r->net_bytes_in), "net_bytes_out",
                     figure(r->net_bytes_out));
}

static json_t *timing(const struct result *r)
{
    return json_pack("{s:I,s:I,s:I,s:I}", "create_us", (json_int_t)r->create_us,
                     "start_us", (json_int_t)r->start_us, "run_us",
                     (json_int_t)r->run_us, "destroy_us",
                     (json_int_t)r->destroy_us);
}

static int head_json(json_t *all, const struct result *r)
{
    json_t *code = r->exit_code < 0 ? json_null() : json_integer(r->exit_code);
    json_t *signal = r->signal == 0 ? json_null() : json_integer(r->signal);
    json_t *part =
        json_pack("{s:s,s:s,s:s?,s:o,s:o,s:o}", "id", r->id, "status",
                  status_names[r->status], "detail", r->detail, "message",
                  r->message[0] == '\0' ? json_null() : text_json(r->message),
                  "exit_code", code, "signal", signal);
    int bad = part == NULL || json_object_update(all, part) < 0;

    json_decref(part);
    return bad ? -1 : 0;
}

char *result_json(const struct result *r)
{
    json_t *all = json_object();
    char *text = NULL;

    if (all != NULL && head_json(all, r) == 0 &&
        output_json(&r->out, "stdout", all) == 0 &&
        output_json(&r->err, "stderr", all) == 0 &&
        json_object_set(all, "results", r->results) == 0 &&
        (r->error == NULL ? json_object_set_new(all, "error", json_null())
                          : json_object_set(all, "error", r->error)) == 0 &&
        json_object_set_new(all, "usage", result_usage(r)) == 0 &&
        json_object_set_new(all, "timing", timing(r)) == 0 &&
        json_object_set_new(all, "effective", effective_json(r)) == 0 &&
        json_object_set(all, "boundary", r->boundary) == 0 &&
        json_object_set(all, "files", r->files) == 0)
        text = json_text(all, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(all);
    return text;
}

int result_exit_status(const struct result *r)
{
    static const int fixed[STATUS_COUNT] = {
#define S(id, name, exit, what) [STATUS_##id] = exit,
        STATUSES(S)
#undef S
    };

    if (fixed[r->status] >= 0)
        return fixed[r->status];
    if (r->status == STATUS_OK && r->out_failed)
        return 125;
    if (r->signal != 0)
        return 128 + r->signal;
    if (r->exit_code >= 0)
        return r->exit_code;
    return r->status == STATUS_OK ? 0 : 137; /* karzer's own kill */
}
