/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_sandbox - the functions of karzer.h that ask the engine for something.
 *
 * A sandbox gathers its options as JSON text and is made at its first use.
 */
#include "src/client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/engine.h"
#include "src/base/auto.h"

#define REQUEST_MAX (4u << 20)

struct karzer_sandbox {
    struct karzer *k;
    uint64_t number;                  /* the engine's; 0: not made yet */
    struct buf head;                  /* "tier":"x",... */
    struct buf limits, env, may_lack; /* what stands between the brackets */
};

/* Called with -1 of anything below: the caller's error. */
static int fail(karzer_error **out, const struct err *err)
{
    return client_fail(out, err);
}

int karzer_open(const char *program, karzer **out, karzer_error **err)
{
    struct karzer *k = calloc(1, sizeof(*k));
    struct err e = {0};

    if (k == NULL) {
        err_set(&e, ERR_HOST, "out of memory");
        return fail(err, &e);
    }
    if (client_start(program, k, &e) < 0) {
        free(k);
        return fail(err, &e);
    }
    *out = k;
    return 0;
}

void karzer_close(karzer *k)
{
    if (k == NULL)
        return;
    client_stop(k);
    free(k);
}

/* Appends `,"name":"text"`. */
static int add_text(struct buf *to, const char *name, const char *text,
                    struct err *err)
{
    if (buf_fmt(to, err, "%s\"%s\":", to->len == 0 ? "" : ",", name) < 0)
        return -1;
    return span_put(to, text, err);
}

static int add_item(struct buf *to, const char *text, struct err *err)
{
    if (to->len > 0 && buf_str(to, ",", err) < 0)
        return -1;
    return span_put(to, text, err);
}

/* What was appended to `to` in vain is taken off again. */
static int undo(struct buf *to, size_t len)
{
    to->len = len;
    if (to->data != NULL)
        to->data[len] = '\0';
    return -1;
}

int karzer_sandbox_new(karzer *k, const char *tier, karzer_sandbox **out,
                       karzer_error **err)
{
    struct karzer_sandbox *sb = calloc(1, sizeof(*sb));
    struct err e = {0};

    if (sb == NULL) {
        err_set(&e, ERR_HOST, "out of memory");
        return fail(err, &e);
    }
    sb->k = k;
    buf_init(&sb->head, REQUEST_MAX);
    buf_init(&sb->limits, REQUEST_MAX);
    buf_init(&sb->env, REQUEST_MAX);
    buf_init(&sb->may_lack, REQUEST_MAX);
    if (tier != NULL && add_text(&sb->head, "tier", tier, &e) < 0) {
        karzer_sandbox_free(sb);
        return fail(err, &e);
    }
    *out = sb;
    return 0;
}

static int not_used_yet(const struct karzer_sandbox *sb, struct err *err)
{
    if (sb->number == 0)
        return 0;
    return err_set(err, ERR_INVALID,
                   "options and limits are said before the first use");
}

int karzer_sandbox_limit(karzer_sandbox *sb, const char *name, uint64_t value,
                         karzer_error **err)
{
    size_t len = sb->limits.len;
    struct err e = {0};

    if (not_used_yet(sb, &e) < 0)
        return fail(err, &e);
    if (value > INT64_MAX) {
        err_set(&e, ERR_INVALID, "%.64s: too large", name);
        return fail(err, &e);
    }
    if (add_item(&sb->limits, name, &e) < 0 ||
        buf_fmt(&sb->limits, &e, ":%llu", (unsigned long long)value) < 0) {
        undo(&sb->limits, len);
        return fail(err, &e);
    }
    return 0;
}

static int add_path(struct buf *to, const char *name, const char *path,
                    struct err *err)
{
    AUTO(mem) char *here = NULL;
    AUTO(buf) struct buf whole;

    buf_init(&whole, REQUEST_MAX);
    if (path[0] != '/') {
        here = getcwd(NULL, 0);
        if (here == NULL)
            return err_sys(err, "%s", path);
        if (buf_fmt(&whole, err, "%s/", here) < 0)
            return -1;
    }
    if (buf_str(&whole, path, err) < 0)
        return -1;
    return add_text(to, name, buf_text(&whole), err);
}

/* "DIR", "DIR:ro", "DIR:rw" */
static int add_workspace(struct buf *to, const char *text, struct err *err)
{
    size_t len = strlen(text);
    const char *mode = len > 3 ? text + len - 3 : "";
    bool rw = strcmp(mode, ":rw") == 0;
    AUTO(mem)
    char *dir = strndup(text, rw || strcmp(mode, ":ro") == 0 ? len - 3 : len);

    if (dir == NULL || access(dir, F_OK) < 0)
        return err_sys(err, "workspace: %.200s", text);
    if (add_path(to, "workspace", dir, err) < 0)
        return -1;
    return rw ? buf_str(to, ",\"workspace_rw\":true", err) : 0;
}

/* An interpreter of another directory; a bare name is looked up elsewhere. */
static int add_python(struct buf *to, const char *text, struct err *err)
{
    if (strchr(text, '/') == NULL)
        return add_text(to, "python", text, err);
    return add_path(to, "python", text, err);
}

static int add_interpreter(struct buf *to, const char *text, struct err *err)
{
    return add_path(to, "interpreter", text, err);
}

static int add_lang(struct buf *to, const char *text, struct err *err)
{
    return add_text(to, "lang", text, err);
}

static int add_template(struct buf *to, const char *text, struct err *err)
{
    return add_text(to, "template", text, err);
}

static int add_to_list(struct buf *to, const char *text, struct err *err)
{
    return add_item(to, text, err);
}

int karzer_sandbox_option(karzer_sandbox *sb, const char *name,
                          const char *text, karzer_error **err)
{
    const struct {
        const char *name;
        int (*add)(struct buf *to, const char *text, struct err *err);
        struct buf *to;
    } options[] = {
        {"lang", add_lang, &sb->head},
        {"workspace", add_workspace, &sb->head},
        {"interpreter", add_interpreter, &sb->head},
        {"python", add_python, &sb->head},
        {"template", add_template, &sb->head},
        {"env", add_to_list, &sb->env},
        {"may-lack", add_to_list, &sb->may_lack},
    };
    struct err e = {0};

    if (not_used_yet(sb, &e) < 0)
        return fail(err, &e);
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        size_t len = options[i].to->len;

        if (strcmp(options[i].name, name) != 0)
            continue;
        if (options[i].add(options[i].to, text, &e) == 0)
            return 0;
        undo(options[i].to, len);
        return fail(err, &e);
    }
    err_set(&e, ERR_INVALID, "\"%.64s\" is no option of a sandbox", name);
    return fail(err, &e);
}

/* Sends the options and keeps the engine's number. */
static int make(struct karzer_sandbox *sb, struct err *err)
{
    AUTO(buf) struct buf request = {0}, answer = {0};
    struct span json;

    if (sb->number != 0)
        return 0;
    buf_init(&request, ENGINE_JSON_MAX);
    if (buf_fmt(&request, err,
                "{\"op\":\"sandbox.new\"%s%s,\"limits\":{%s},\"env\":[%s],"
                "\"may_lack\":[%s]}",
                sb->head.len == 0 ? "" : ",", buf_text(&sb->head),
                buf_text(&sb->limits), buf_text(&sb->env),
                buf_text(&sb->may_lack)) < 0 ||
        client_call(sb->k, &request, (struct client_blob){0}, &answer, err) < 0)
        return -1;
    json = span_of(buf_text(&answer), answer.len);
    if (!span_number(span_member(json, "sandbox"), &sb->number))
        return err_set(err, ERR_INTERNAL, "the engine named no sandbox");
    return 0;
}

/* `{"op":"sandbox.x","sandbox":1` */
static int begin(struct karzer_sandbox *sb, const char *op, struct buf *request,
                 struct err *err)
{
    buf_init(request, ENGINE_JSON_MAX);
    if (make(sb, err) < 0)
        return -1;
    return buf_fmt(request, err, "{\"op\":\"sandbox.%s\",\"sandbox\":%llu", op,
                   (unsigned long long)sb->number);
}

int karzer_sandbox_put(karzer_sandbox *sb, const char *path, const void *data,
                       size_t len, karzer_error **err)
{
    const struct client_blob blob = {len == 0 ? "" : data, len};
    AUTO(buf) struct buf request = {0}, answer = {0};
    struct err e = {0};

    if (begin(sb, "put", &request, &e) < 0 ||
        add_text(&request, "path", path, &e) < 0 ||
        buf_str(&request, "}", &e) < 0 ||
        client_call(sb->k, &request, blob, &answer, &e) < 0)
        return fail(err, &e);
    return 0;
}

int karzer_sandbox_get(karzer_sandbox *sb, const char *path, void **data,
                       size_t *len, karzer_error **err)
{
    AUTO(buf) struct buf request = {0}, answer = {0}, blob = {0};
    struct err e = {0};

    if (begin(sb, "get", &request, &e) < 0 ||
        add_text(&request, "path", path, &e) < 0 ||
        buf_str(&request, "}", &e) < 0 ||
        client_call(sb->k, &request, (struct client_blob){0}, &answer, &e) <
            0 ||
        client_blob_read(sb->k, &blob, &e) < 0 ||
        buf_add(&blob, "", 0, &e) < 0) /* memory also for an empty file */
        return fail(err, &e);
    *data = blob.data;
    *len = blob.len;
    blob.data = NULL; /* the caller's now */
    return 0;
}

int karzer_sandbox_run(karzer_sandbox *sb, const char *code, size_t len,
                       karzer_result **out, karzer_error **err)
{
    const struct client_blob blob = {len == 0 ? "" : code, len};
    AUTO(buf) struct buf request = {0}, answer = {0};
    struct err e = {0};

    if (begin(sb, "run", &request, &e) < 0 || buf_str(&request, "}", &e) < 0 ||
        client_call(sb->k, &request, blob, &answer, &e) < 0 ||
        client_result(&answer, out, &e) < 0)
        return fail(err, &e);
    return 0;
}

static int add_argv(struct buf *request, const char *const argv[],
                    struct err *err)
{
    if (buf_str(request, ",\"argv\":[", err) < 0)
        return -1;
    for (size_t i = 0; argv[i] != NULL; i++)
        if ((i > 0 && buf_str(request, ",", err) < 0) ||
            span_put(request, argv[i], err) < 0)
            return -1;
    return buf_str(request, "]}", err);
}

int karzer_sandbox_exec(karzer_sandbox *sb, const char *const argv[],
                        karzer_result **out, karzer_error **err)
{
    AUTO(buf) struct buf request = {0}, answer = {0};
    struct err e = {0};

    if (begin(sb, "exec", &request, &e) < 0 ||
        add_argv(&request, argv, &e) < 0 ||
        client_call(sb->k, &request, (struct client_blob){0}, &answer, &e) <
            0 ||
        client_result(&answer, out, &e) < 0)
        return fail(err, &e);
    return 0;
}

void karzer_sandbox_free(karzer_sandbox *sb)
{
    AUTO(buf) struct buf request = {0}, answer = {0};

    if (sb == NULL)
        return;
    if (sb->number != 0 && begin(sb, "free", &request, NULL) == 0 &&
        buf_str(&request, "}", NULL) == 0)
        client_call(sb->k, &request, (struct client_blob){0}, &answer, NULL);
    buf_fini(&sb->head);
    buf_fini(&sb->limits);
    buf_fini(&sb->env);
    buf_fini(&sb->may_lack);
    free(sb);
}
