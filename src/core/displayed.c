/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displayed - see displayed.h. The driver says what the program showed and how
 * it failed; nothing here is believed about permissions or usage.
 */
#include "src/core/displayed.h"

#include <jansson.h>
#include <string.h>

#include "src/core/output.h"

static bool is_mime(const struct runtime_mime *m)
{
    if (m->type_len == 0 || m->type_len > 100)
        return false;
    for (size_t i = 0; i < m->type_len; i++)
        if (m->type[i] <= ' ' || m->type[i] > '~')
            return false;
    return memchr(m->type, '/', m->type_len) != NULL;
}

/* JSON as JSON, text as text, everything else base64. */
static json_t *mime_value(const struct runtime_mime *m)
{
    bool base64;

    if (m->type_len == 16 && memcmp(m->type, "application/json", 16) == 0) {
        json_t *v = json_loadb(m->data, m->data_len, JSON_DECODE_ANY, NULL);

        if (v != NULL)
            return v;
    }
    return bytes_json(m->data, m->data_len, &base64);
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
    for (size_t i = 0; i < count; i++)
        d->bytes += mimes[i].data_len;
    if (d->bytes > DISPLAYED_MAX) {
        snprintf(d->result->message, sizeof(d->result->message),
                 "displayed values of more than %u bytes were dropped",
                 DISPLAYED_MAX);
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
        json_object_set_new(e, names[i], bytes_json(text[i], len[i], &base64));
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

int displayed_begin(struct displayed *d, const struct request *req, bool last,
                    struct buf *code, struct pump *p, struct err *err)
{
    d->pump = p;
    runtime_parser_init(&d->parser, &calls, d);
    d->parsing = true;
    if (runtime_code(code, last ? RUNTIME_CODE_LAST : 0,
                     req->code_name == NULL ? "<code>" : req->code_name,
                     req->code == NULL ? "" : req->code, req->code_len,
                     err) < 0)
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
