/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displayed - see displayed.h. The driver says what the program showed and how
 * it failed; nothing here is believed about permissions or usage.
 */
#include "src/core/displayed.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/base/base64.h"
#include "src/core/output.h"

#define MIME_COST 1024u /* of a value or a type of it, besides its bytes */
#define JSON_COST 96u   /* bytes of a parsed tree per byte of its text */
#define JSON_PARSED_MAX (64u << 10)
#define JSON_DEPTH_MAX 64u
#define ERROR_MAX (1u << 20) /* of each text of an error */

static bool is_mime(const struct runtime_mime *m)
{
    if (m->type_len == 0 || m->type_len > 100)
        return false;
    for (size_t i = 0; i < m->type_len; i++)
        if (m->type[i] <= ' ' || m->type[i] > '~')
            return false;
    return memchr(m->type, '/', m->type_len) != NULL;
}

/* Is it worth a tree in our memory? Small, and nested no deeper than people
 * write: what is not is kept as text. */
static bool json_is_plain(const struct runtime_mime *m)
{
    unsigned depth = 0;

    if (m->data_len > JSON_PARSED_MAX)
        return false;
    for (size_t i = 0; i < m->data_len; i++) {
        if (m->data[i] == '[' || m->data[i] == '{')
            depth++;
        else if ((m->data[i] == ']' || m->data[i] == '}') && depth > 0)
            depth--;
        if (depth > JSON_DEPTH_MAX)
            return false;
    }
    return true;
}

static bool is_json(const struct runtime_mime *m)
{
    return m->type_len == 16 && memcmp(m->type, "application/json", 16) == 0;
}

/* What it takes of the engine: in memory, or as JSON text, the greater. */
static uint64_t cost_of(const struct runtime_mime *m)
{
    uint64_t cost = MIME_COST + m->type_len;

    if (is_json(m) && json_is_plain(m))
        return cost + JSON_COST * m->data_len;
    for (size_t i = 0; i < m->data_len; i++) {
        unsigned char c = (unsigned char)m->data[i];

        cost += c < 0x20 || c >= 0x7f ? 6 : c == '"' || c == '\\' ? 2 : 1;
    }
    return cost;
}

static bool ends_with(const struct runtime_mime *m, const char *end)
{
    size_t n = strlen(end);

    return m->type_len >= n && memcmp(m->type + m->type_len - n, end, n) == 0;
}

/* By the type alone, so that a reader need not guess; src/client says the same.
 */
static bool is_text(const struct runtime_mime *m)
{
    return (m->type_len > 5 && memcmp(m->type, "text/", 5) == 0) ||
           ends_with(m, "/json") || ends_with(m, "+json") ||
           ends_with(m, "+xml") || ends_with(m, "javascript");
}

static json_t *base64_json(const struct runtime_mime *m)
{
    AUTO(mem) char *text = base64_encode(m->data, m->data_len);

    return text == NULL ? NULL : json_string(text);
}

/* JSON as JSON; text as text, where it is UTF-8; everything else base64. */
static json_t *mime_value(const struct runtime_mime *m)
{
    json_t *text;

    if (is_json(m) && json_is_plain(m)) {
        json_t *v = json_loadb(m->data, m->data_len, JSON_DECODE_ANY, NULL);

        if (v != NULL)
            return v;
    }
    if (!is_text(m))
        return base64_json(m);
    text = json_stringn(m->data, m->data_len);
    return text != NULL ? text : json_string("(not UTF-8)");
}

static json_t *bundle_of(const struct runtime_mime *mimes, size_t count)
{
    json_t *bundle = json_object();
    char type[104];

    for (size_t i = 0; bundle != NULL && i < count; i++) {
        if (!is_mime(&mimes[i]))
            continue;
        memcpy(type, mimes[i].type, mimes[i].type_len);
        type[mimes[i].type_len] = '\0';
        json_object_set_new(bundle, type, mime_value(&mimes[i]));
    }
    return bundle;
}

static int on_result(void *ctx, uint32_t flags,
                     const struct runtime_mime *mimes, size_t count,
                     struct err *err)
{
    struct displayed *d = ctx;
    json_t *bundle;
    int r = 0;

    (void)flags;
    d->bytes += MIME_COST;
    for (size_t i = 0; i < count && d->bytes <= DISPLAYED_MAX; i++)
        d->bytes += cost_of(&mimes[i]);
    if (d->bytes > DISPLAYED_MAX) { /* and all that follow */
        snprintf(d->result->message, sizeof(d->result->message),
                 "displayed values past %u MB were dropped",
                 DISPLAYED_MAX >> 20);
        return 0;
    }
    bundle = bundle_of(mimes, count);
    if (bundle == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (d->io->result != NULL)
        r = d->io->result(d->io->ctx, bundle);
    if (json_array_append_new(d->result->results, bundle) < 0)
        return err_set(err, ERR_HOST, "out of memory");
    return r < 0 ? err_set(err, ERR_HOST, "the reader is gone") : 0;
}

static int on_error(void *ctx, uint32_t sys, const char *const text[3],
                    const size_t len[3], struct err *err)
{
    static const char *const names[3] = {"name", "value", "traceback"};
    struct displayed *d = ctx;
    json_t *e = json_object();
    bool base64;

    if (e == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    for (int i = 0; i < 3; i++)
        json_object_set_new(e, names[i],
                            bytes_json(text[i],
                                       len[i] < ERROR_MAX ? len[i] : ERROR_MAX,
                                       &base64));
    json_decref(d->result->error);
    d->result->error = e;
    d->ev->uncaught_errno = sys < 4096 ? (int)sys : 0;
    return 0;
}

static int on_done(void *ctx, int32_t code, struct err *err)
{
    struct displayed *d = ctx;

    if (!d->pump->block)
        return err_set(err, ERR_INVALID, "the driver ended a block twice");
    d->block_done = true;
    d->ev->exited = true;
    d->ev->code = code & 0xff;
    d->pump->exited = true;
    return 0;
}

static const struct runtime_calls calls = {
    .result = on_result, .error = on_error, .done = on_done};

int displayed_begin(struct displayed *d, const struct request *req,
                    uint32_t flags, struct buf *code, struct pump *p,
                    struct err *err)
{
    d->pump = p;
    runtime_parser_init(&d->parser, &calls, d);
    d->parsing = true;
    if (runtime_code(
            code, flags, req->code_name == NULL ? "<code>" : req->code_name,
            req->code == NULL ? "" : req->code, req->code_len, err) < 0)
        return -1;
    p->code = code;
    p->parser = &d->parser;
    return 0;
}

void displayed_end(struct displayed *d)
{
    if (d->parsing)
        runtime_parser_fini(&d->parser);
    d->parsing = false;
}
