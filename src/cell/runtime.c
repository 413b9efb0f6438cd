/* SPDX-License-Identifier: Apache-2.0 */
/* runtime - see runtime.h. Pure: bytes in, callbacks out. */
#include "src/cell/runtime.h"

#include <string.h>

#define HEAD 8u /* size, type */

void runtime_parser_init(struct runtime_parser *p,
                         const struct runtime_calls *calls, void *ctx)
{
    *p = (struct runtime_parser){.calls = calls, .ctx = ctx};
    buf_init(&p->in, RUNTIME_MESSAGE_MAX + HEAD);
}

void runtime_parser_fini(struct runtime_parser *p)
{
    buf_fini(&p->in);
}

static uint32_t u32_at(const char *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

/* A cursor over one payload; every take checks what is left. */
struct cursor {
    const char *at;
    size_t left;
};

static int take_u32(struct cursor *c, uint32_t *v)
{
    if (c->left < 4)
        return -1;
    *v = u32_at(c->at);
    c->at += 4;
    c->left -= 4;
    return 0;
}

static int take_bytes(struct cursor *c, const char **at, size_t *len)
{
    uint32_t n;

    if (take_u32(c, &n) < 0 || n > c->left)
        return -1;
    *at = c->at;
    *len = n;
    c->at += n;
    c->left -= n;
    return 0;
}

static int broken(struct err *err)
{
    return err_set(err, ERR_INVALID, "the driver sent a broken message");
}

static int take_result(struct runtime_parser *p, struct cursor c,
                       struct err *err)
{
    struct runtime_mime mimes[RUNTIME_MIMES_MAX];
    uint32_t flags, count;

    if (take_u32(&c, &flags) < 0 || take_u32(&c, &count) < 0 ||
        count > RUNTIME_MIMES_MAX)
        return broken(err);
    for (uint32_t i = 0; i < count; i++)
        if (take_bytes(&c, &mimes[i].type, &mimes[i].type_len) < 0 ||
            take_bytes(&c, &mimes[i].data, &mimes[i].data_len) < 0)
            return broken(err);
    if (c.left != 0)
        return broken(err);
    return p->calls->result(p->ctx, flags, mimes, count, err);
}

static int take_error(struct runtime_parser *p, struct cursor c,
                      struct err *err)
{
    const char *text[3];
    size_t len[3];
    uint32_t sys;

    if (take_u32(&c, &sys) < 0)
        return broken(err);
    for (int i = 0; i < 3; i++)
        if (take_bytes(&c, &text[i], &len[i]) < 0)
            return broken(err);
    if (c.left != 0)
        return broken(err);
    return p->calls->error(p->ctx, sys, text, len, err);
}

static int take_done(struct runtime_parser *p, struct cursor c,
                     struct err *err)
{
    uint32_t code;

    if (take_u32(&c, &code) < 0 || c.left != 0)
        return broken(err);
    return p->calls->done(p->ctx, (int32_t)code, err);
}

static int take_message(struct runtime_parser *p, uint32_t type,
                        struct cursor c, struct err *err)
{
    switch (type) {
    case RUNTIME_RESULT:
        return take_result(p, c, err);
    case RUNTIME_ERROR:
        return take_error(p, c, err);
    case RUNTIME_DONE:
        return take_done(p, c, err);
    default:
        return broken(err);
    }
}

/* Bytes of the message at the front that are still missing; 0: it is whole. */
static int missing(const struct buf *in, size_t *need, struct err *err)
{
    uint32_t size;

    *need = HEAD - in->len;
    if (in->len < HEAD)
        return 0;
    size = u32_at(in->data);
    if (size > RUNTIME_MESSAGE_MAX)
        return broken(err);
    *need = HEAD + size - in->len;
    return 0;
}

int runtime_feed(struct runtime_parser *p, const char *data, size_t len,
                 struct err *err)
{
    size_t need;

    for (;;) {
        if (missing(&p->in, &need, err) < 0)
            return -1;
        if (need == 0 && p->in.len >= HEAD) {
            const struct cursor c = {p->in.data + HEAD, p->in.len - HEAD};

            if (take_message(p, u32_at(p->in.data + 4), c, err) < 0)
                return -1;
            p->in.len = 0;
            continue;
        }
        if (len == 0)
            return 0;
        need = need < len ? need : len;
        if (buf_add(&p->in, data, need, err) < 0)
            return -1;
        data += need;
        len -= need;
    }
}

int runtime_code(struct buf *out, uint32_t flags, const char *name,
                 const char *code, size_t len, struct err *err)
{
    size_t name_len = strlen(name);

    if (len > RUNTIME_CODE_MAX || name_len > 4096)
        return err_set(err, ERR_LIMIT, "a block of %zu bytes", len);
    if (buf_u32(out, (uint32_t)(8 + name_len + len), err) < 0 ||
        buf_u32(out, RUNTIME_CODE, err) < 0 || buf_u32(out, flags, err) < 0 ||
        buf_u32(out, (uint32_t)name_len, err) < 0 ||
        buf_add(out, name, name_len, err) < 0)
        return -1;
    return buf_add(out, code, len, err);
}

int runtime_python_argv(struct strs *argv, const char *interpreter,
                        const char *dir, struct err *err)
{
    if (strs_add(argv, interpreter, err) < 0 || strs_add(argv, "-I", err) < 0)
        return -1;
    return strs_addf(argv, err, "%s/python/driver.py", dir);
}
