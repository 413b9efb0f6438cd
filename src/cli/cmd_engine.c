/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_engine - `karzer engine`: the door for libkarzer (abi/engine.h). One
 * request at a time; frames bytes, calls run.h, frames the answer.
 */
#include "src/cli/verbs.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/engine.h"
#include "src/base/auto.h"
#include "src/base/buf.h"
#include "src/base/fd.h"
#include "src/cli/cli.h"
#include "src/core/json_text.h"
#include "src/core/run.h"

struct door {
    struct engine *engine;
    struct sandbox *sandboxes[ENGINE_SANDBOXES_MAX];
};

/* ---- frames ---- */

/* 0, or -1 at EOF and for what is not a message of this type. */
static int message_read(uint32_t type, uint32_t max, struct buf *out)
{
    struct engine_head head;

    if (fd_read_full(ENGINE_FD, &head, sizeof(head)) != sizeof(head) ||
        head.type != type || head.size > max)
        return -1;
    buf_init(out, max);
    while (out->len < head.size) {
        char chunk[65536];
        size_t n = head.size - out->len;

        n = n < sizeof(chunk) ? n : sizeof(chunk);
        if (fd_read_full(ENGINE_FD, chunk, n) != (ssize_t)n ||
            buf_add(out, chunk, n, NULL) < 0)
            return -1;
    }
    return 0;
}

static int message_write(uint32_t type, const void *data, size_t len)
{
    const struct engine_head head = {.size = (uint32_t)len, .type = type};

    if (fd_write_all(ENGINE_FD, &head, sizeof(head)) < 0)
        return -1;
    return fd_write_all(ENGINE_FD, data, len);
}

static int answer(const char *text)
{
    return message_write(ENGINE_JSON, text, strlen(text));
}

static int answer_error(const struct err *err)
{
    static const char *const codes[] = {
        [ERR_NONE] = "internal", [ERR_INVALID] = "invalid",
        [ERR_DENIED] = "denied", [ERR_LIMIT] = "limit",
        [ERR_HOST] = "host",     [ERR_INTERNAL] = "internal"};
    json_t *o = json_pack("{s:{s:s,s:s}}", "error", "code", codes[err->code],
                          "text", err->text);
    char *text = json_text(o, JSON_COMPACT);
    int r = answer(text == NULL ? "{\"error\":{\"code\":\"internal\","
                                  "\"text\":\"out of memory\"}}"
                                : text);

    free(text);
    json_decref(o);
    return r;
}

static int answer_result(struct result *result)
{
    char *text = result_json(result);
    AUTO(buf) struct buf b;
    int r = -1;

    buf_init(&b, ENGINE_JSON_MAX);
    if (text != NULL && buf_str(&b, "{\"result\":", NULL) == 0 &&
        buf_str(&b, text, NULL) == 0 && buf_str(&b, "}", NULL) == 0)
        r = answer(b.data);
    free(text);
    result_fini(result);
    return r;
}

/* ---- from JSON to a request ---- */

static int text_take(const json_t *o, const char *key, char **out,
                     struct err *err)
{
    const json_t *v = json_object_get(o, key);

    if (v == NULL || json_is_null(v))
        return 0;
    if (!json_is_string(v) ||
        strlen(json_string_value(v)) != json_string_length(v))
        return err_set(err, ERR_INVALID, "%s: not a text", key);
    free(*out);
    *out = strdup(json_string_value(v));
    return *out == NULL ? err_set(err, ERR_HOST, "out of memory") : 0;
}

static int strs_take_json(const json_t *o, const char *key, struct strs *out,
                          struct err *err)
{
    const json_t *list = json_object_get(o, key), *v;
    size_t i;

    if (list == NULL || json_is_null(list))
        return 0;
    if (!json_is_array(list))
        return err_set(err, ERR_INVALID, "%s: not a list", key);
    json_array_foreach(list, i, v)
    {
        if (!json_is_string(v) ||
            strlen(json_string_value(v)) != json_string_length(v))
            return err_set(err, ERR_INVALID, "%s: not a list of texts", key);
        if (strs_add(out, json_string_value(v), err) < 0)
            return -1;
    }
    return 0;
}

static int limits_take(const json_t *o, struct limits *l, struct err *err)
{
    json_t *limits = json_object_get(o, "limits"), *v;
    const char *key;

    if (limits != NULL && !json_is_object(limits))
        return err_set(err, ERR_INVALID, "limits: not an object");
    json_object_foreach(limits, key, v)
    {
        size_t i = 0;

        while (i < limit_row_count && strcmp(limit_rows[i].field, key) != 0)
            i++;
        if (i == limit_row_count)
            return err_set(err, ERR_INVALID, "limits: no limit \"%s\"", key);
        if (!json_is_integer(v) || json_integer_value(v) < 0)
            return err_set(err, ERR_INVALID, "%s: not a number", key);
        if (limits_set(l, &limit_rows[i], (uint64_t)json_integer_value(v),
                       err) < 0)
            return -1;
    }
    return 0;
}

static int may_lack_take(const json_t *o, struct request *req, struct err *err)
{
    struct strs names = {0};
    int r = strs_take_json(o, "may_lack", &names, err);

    for (size_t i = 0; r == 0 && i < names.len; i++)
        r = request_add_may_lack(req, names.at[i], err);
    strs_fini(&names);
    return r;
}

static int workspace_take(const json_t *o, struct request *req, struct err *err)
{
    AUTO(mem) char *dir = NULL;

    if (text_take(o, "workspace", &dir, err) < 0)
        return -1;
    if (dir == NULL)
        return 0;
    if (dir[0] != '/')
        return err_set(err, ERR_INVALID, "--workspace: not an absolute path");
    return request_workspace(
        req, dir, json_is_true(json_object_get(o, "workspace_rw")), err);
}

static int request_take(const json_t *o, struct request *req, struct err *err)
{
    static const char *const known[] = {"op",           "tier",    "lang",
                                        "limits",       "env",     "workspace",
                                        "workspace_rw", "python",  "may_lack",
                                        "interpreter",  "template"};
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)(uintptr_t)o, key, v)
    {
        size_t i = 0;

        while (i < ARRAY_LEN(known) && strcmp(known[i], key) != 0)
            i++;
        if (i == ARRAY_LEN(known))
            return err_set(err, ERR_INVALID, "no such option: \"%s\"", key);
    }
    if (text_take(o, "tier", &req->tier, err) < 0 ||
        text_take(o, "lang", &req->lang, err) < 0 ||
        workspace_take(o, req, err) < 0 ||
        text_take(o, "python", &req->interpreter, err) < 0 ||
        text_take(o, "interpreter", &req->interpreter, err) < 0 ||
        text_take(o, "template", &req->template, err) < 0 ||
        strs_take_json(o, "env", &req->env, err) < 0 ||
        limits_take(o, &req->limits, err) < 0)
        return -1;
    if (req->lang == NULL && (req->lang = strdup("python")) == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return may_lack_take(o, req, err);
}

/* ---- the operations ---- */

static struct sandbox **slot_of(struct door *d, const json_t *o,
                                struct err *err)
{
    const json_t *v = json_object_get(o, "sandbox");
    json_int_t n = json_is_integer(v) ? json_integer_value(v) : 0;

    if (n < 1 || n > (json_int_t)ENGINE_SANDBOXES_MAX ||
        d->sandboxes[n - 1] == NULL) {
        err_set(err, ERR_INVALID, "no such sandbox");
        return NULL;
    }
    return &d->sandboxes[n - 1];
}

static int op_new(struct door *d, const json_t *o, struct err *err)
{
    struct request req;
    unsigned n = 0;
    char text[64];
    int r;

    while (n < ENGINE_SANDBOXES_MAX && d->sandboxes[n] != NULL)
        n++;
    if (n == ENGINE_SANDBOXES_MAX)
        return err_set(err, ERR_LIMIT, "more than %u live sandboxes",
                       ENGINE_SANDBOXES_MAX);
    r = request_init(&req, err);
    if (r == 0)
        r = request_take(o, &req, err);
    if (r == 0)
        r = sandbox_open(d->engine, &req, &d->sandboxes[n], NULL, err);
    request_fini(&req);
    if (r < 0)
        return -1;
    snprintf(text, sizeof(text), "{\"sandbox\":%u}", n + 1);
    return answer(text);
}

static const struct run_io quiet = {
    .stdin_fd = -1, .watch_client = true, .client_fd = ENGINE_FD};

static int op_run(struct door *d, const json_t *o, struct err *err)
{
    struct sandbox **sb = slot_of(d, o, err);
    const char *name = json_string_value(json_object_get(o, "name"));
    AUTO(buf) struct buf code = {0};
    struct result result;

    if (message_read(ENGINE_BLOB, ENGINE_BLOB_MAX, &code) < 0)
        return err_set(err, ERR_INTERNAL, "no code came");
    if (sb == NULL)
        return -1;
    const struct run_next next = {
        .code = buf_text(&code), .code_len = code.len, .code_name = name};

    if (sandbox_run(*sb, &next, &quiet, &result, err) < 0) {
        result_fini(&result);
        return -1;
    }
    return answer_result(&result);
}

static int op_exec(struct door *d, const json_t *o, struct err *err)
{
    struct sandbox **sb = slot_of(d, o, err);
    struct strs argv = {0};
    struct result result;
    int r = -1;

    if (sb == NULL)
        return -1;
    if (strs_take_json(o, "argv", &argv, err) == 0) {
        const struct run_next next = {.argv = &argv};

        if (argv.len == 0)
            r = err_set(err, ERR_INVALID, "argv: empty");
        else if ((r = sandbox_run(*sb, &next, &quiet, &result, err)) < 0)
            result_fini(&result);
    }
    strs_fini(&argv);
    return r < 0 ? -1 : answer_result(&result);
}

static int op_put(struct door *d, const json_t *o, struct err *err)
{
    struct sandbox **sb = slot_of(d, o, err);
    const char *path = json_string_value(json_object_get(o, "path"));
    AUTO(buf) struct buf data = {0};

    if (message_read(ENGINE_BLOB, ENGINE_BLOB_MAX, &data) < 0)
        return err_set(err, ERR_INTERNAL, "no bytes came");
    if (sb == NULL)
        return -1;
    if (path == NULL)
        return err_set(err, ERR_INVALID, "path: not a text");
    if (sandbox_put(*sb, path, buf_text(&data), data.len, err) < 0)
        return -1;
    return answer("{}");
}

static int op_get(struct door *d, const json_t *o, struct err *err)
{
    struct sandbox **sb = slot_of(d, o, err);
    const char *path = json_string_value(json_object_get(o, "path"));
    AUTO(buf) struct buf data;

    buf_init(&data, ENGINE_BLOB_MAX);
    if (sb == NULL)
        return -1;
    if (path == NULL)
        return err_set(err, ERR_INVALID, "path: not a text");
    if (sandbox_get(*sb, path, &data, err) < 0)
        return -1;
    if (answer("{}") < 0)
        return -1;
    return message_write(ENGINE_BLOB, buf_text(&data), data.len);
}

static int op_free(struct door *d, const json_t *o, struct err *err)
{
    struct sandbox **sb = slot_of(d, o, err);

    if (sb == NULL)
        return -1;
    sandbox_close(*sb);
    *sb = NULL;
    return answer("{}");
}

static const struct op {
    const char *name;
    int (*run)(struct door *d, const json_t *o, struct err *err);
} ops[] = {
    {"sandbox.new", op_new}, {"sandbox.run", op_run}, {"sandbox.exec", op_exec},
    {"sandbox.put", op_put}, {"sandbox.get", op_get}, {"sandbox.free", op_free},
};

/* 0: answered. -1: the connection is of no use any more. */
static int dispatch(struct door *d, const struct buf *in)
{
    json_t *o = json_loadb(buf_text(in), in->len, 0, NULL);
    const char *name = json_string_value(json_object_get(o, "op"));
    struct err err = {0};
    int r = -1;
    size_t i = 0;

    while (i < ARRAY_LEN(ops) &&
           (name == NULL || strcmp(ops[i].name, name) != 0))
        i++;
    if (i == ARRAY_LEN(ops))
        err_set(&err, ERR_INVALID, "no such operation");
    else
        r = ops[i].run(d, o, &err);
    json_decref(o);
    if (r < 0 && err.code != ERR_NONE)
        r = answer_error(&err);
    return r;
}

int cmd_engine(int argc, char **argv)
{
    struct door door = {0};
    struct err err = {0};
    struct dirs dirs;

    (void)argv;
    if (argc != 1)
        err_set(&err, ERR_INVALID,
                "`engine` takes no arguments: libkarzer "
                "starts it");
    else if (cli_dirs(&dirs, &err) == 0)
        engine_open(&door.engine, &dirs, &err);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        AUTO(buf) struct buf in = {0};

        if (message_read(ENGINE_JSON, ENGINE_JSON_MAX, &in) < 0)
            break;
        /* What kept us from opening is the answer to whatever is asked. */
        if (door.engine == NULL ? answer_error(&err) < 0
                                : dispatch(&door, &in) < 0)
            break;
    }
    for (unsigned i = 0; i < ENGINE_SANDBOXES_MAX; i++)
        sandbox_close(door.sandboxes[i]);
    engine_close(door.engine);
    return door.engine == NULL ? cli_fail(&err) : 0;
}
