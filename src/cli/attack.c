/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack - see attack.h. A refusal counts only when the program was seen to
 * start; what did not start, or ended for another reason, proves nothing.
 */
#include "src/cli/attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/base/buf.h"
#include "src/cli/child.h"
#include "src/core/output.h"

#define CONTROL_MS 30000
#define ARGS_MAX (8 + PLANT_FILES_MAX)

const struct attack_row attack_rows[ATTACK_COUNT] = {
#define ATTACK(id, name, what, python, shell) {name, what, python, shell},
#include "src/cli/attacks.def"
#undef ATTACK
};

const char *const attack_outcomes[] = {
    [ATTACK_NOT_RUN] = "not run",
    [ATTACK_SUCCEEDED] = "SUCCEEDED",
    [ATTACK_BLOCKED] = "blocked",
};

enum attack_outcome attack_judge(enum attack_id id,
                                 const struct attack_seen *seen,
                                 const char **why)
{
    *why = NULL;
    if (seen->secret)
        return ATTACK_SUCCEEDED;
    if (!seen->start || seen->status <= STATUS_KILLED) {
        *why = seen->start ? "the run was cut short" : "it did not start";
        return ATTACK_NOT_RUN;
    }
    if (id == ATTACK_LOOP && seen->status != STATUS_TIMEOUT) {
        *why = "the loop ended by itself";
        return ATTACK_NOT_RUN;
    }
    if (id != ATTACK_LOOP && seen->status == STATUS_TIMEOUT) {
        *why = "time ran out before anything refused it";
        return ATTACK_NOT_RUN;
    }
    if (seen->status == STATUS_OK) {
        *why = "it ended well without its marker";
        return ATTACK_NOT_RUN;
    }
    return ATTACK_BLOCKED;
}

/* The command line of an attack; argv needs ARGS_MAX + 1 places. */
static void argv_fill(enum attack_id id, const struct plant *p,
                      const char *start, const char *success, const char **argv)
{
    const char *python = child_python();
    /* only bash connects to anything */
    const char *shell = id == ATTACK_NETWORK ? child_bash() : child_sh();
    size_t n = 0;

    argv[n++] = python != NULL ? python : shell != NULL ? shell : "/bin/sh";
    if (python != NULL) {
        argv[n++] = "-I";
        argv[n++] = "-S";
    }
    argv[n++] = "-c";
    argv[n++] = python != NULL ? attack_rows[id].python : attack_rows[id].shell;
    if (python == NULL)
        argv[n++] = "attack"; /* $0 */
    argv[n++] = start;
    argv[n++] = success;
    argv[n++] = p->port;
    for (size_t i = 0; i < p->file_count; i++)
        argv[n++] = p->files[i].path;
    argv[n] = NULL;
}

static bool has(const char *text, size_t len, const char *word)
{
    return len > 0 && memmem(text, len, word, strlen(word)) != NULL;
}

static bool has_secret(enum attack_id id, const struct plant *p,
                       const char *success, const char *text, size_t len)
{
    bool found = has(text, len, success);

    for (size_t i = 0; id == ATTACK_FILES && i < p->file_count; i++)
        found = found || has(text, len, p->files[i].secret);
    if (id == ATTACK_NETWORK)
        found = found || has(text, len, p->service_secret);
    return found;
}

static int control_one(enum attack_id id, const struct plant *p,
                       struct buf *out, struct err *err)
{
    const char *argv[ARGS_MAX + 1];
    struct child_end end;

    argv_fill(id, p, "-", "-", argv);
    return child_run((char *const *)argv, CONTROL_MS, out, &end, err);
}

int attack_control(const struct plant *p, struct err *err)
{
    AUTO(buf) struct buf files;
    AUTO(buf) struct buf network;

    buf_init(&files, 1u << 16);
    buf_init(&network, 1u << 16);
    if (child_python() == NULL && (child_sh() == NULL || child_bash() == NULL))
        return err_set(err, ERR_HOST,
                       "neither /usr/bin/python3 nor sh and bash are here to "
                       "attack with; install one");
    if (control_one(ATTACK_FILES, p, &files, err) < 0 ||
        control_one(ATTACK_NETWORK, p, &network, err) < 0)
        return -1;
    for (size_t i = 0; i < p->file_count; i++)
        if (!has(buf_text(&files), files.len, p->files[i].secret))
            return err_set(err, ERR_HOST,
                           "%s cannot be read outside of a cell either: "
                           "refusing it inside would prove nothing",
                           p->files[i].path);
    if (!has(buf_text(&network), network.len, p->service_secret))
        return err_set(err, ERR_HOST,
                       "the service on 127.0.0.1:%s cannot be reached outside "
                       "of a cell either: refusing it inside would prove "
                       "nothing",
                       p->port);
    return 0;
}

static int request_fill(struct request *req, enum attack_id id,
                        const struct tier *tier, const char *const *argv,
                        struct err *err)
{
    if (request_init(req, err) < 0)
        return -1;
    req->tier = strdup(tier->name);
    if (req->tier == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    req->limits.cpu_time_ms = id == ATTACK_LOOP ? 1000 : 30000;
    req->limits.wall_ms = id == ATTACK_LOOP ? 3000 : 60000;
    for (; *argv != NULL; argv++)
        if (strs_add(&req->argv, *argv, err) < 0)
            return -1;
    return 0;
}

static void end_fill(struct attack_end *end, enum attack_id id,
                     const struct result *r, const struct attack_seen *seen)
{
    const char *why;

    end->outcome = attack_judge(id, seen, &why);
    end->status = status_names[r->status];
    end->why[0] = '\0';
    if (why != NULL)
        snprintf(end->why, sizeof(end->why), "%s%s%s", why,
                 r->message[0] != '\0' ? ": " : "", r->message);
}

int attack_run(struct engine *e, enum attack_id id, const struct tier *tier,
               const struct plant *p, int (*poll_signal)(void *ctx),
               struct attack_end *end, struct err *err)
{
    const struct run_io io = {.stdin_fd = -1, .poll_signal = poll_signal};
    char start[PLANT_SECRET_SIZE], success[PLANT_SECRET_SIZE];
    const char *argv[ARGS_MAX + 1];
    struct result result = {0};
    struct request req;
    AUTO(mem) char *text = NULL;
    size_t len = 0;
    int r;

    if (plant_secret(start, err) < 0 || plant_secret(success, err) < 0)
        return -1;
    argv_fill(id, p, start, success, argv);
    r = request_fill(&req, id, tier, argv, err);
    if (r == 0)
        r = run_once(e, &req, &io, &result, err);
    if (r == 0) {
        text = output_kept(&result.out, &len);
        r = text != NULL ? 0 : err_set(err, ERR_HOST, "out of memory");
    }
    if (r == 0) {
        struct attack_seen seen = {
            .status = result.status,
            .start = has(text, len, start),
            .secret = has_secret(id, p, success, text, len),
        };

        end_fill(end, id, &result, &seen);
    }
    result_fini(&result);
    request_fini(&req);
    return r;
}
