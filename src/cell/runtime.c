/* SPDX-License-Identifier: Apache-2.0 */
/* runtime - see runtime.h. */
#include "src/cell/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define ERRNO_MAX 4095u

struct text {
    const char *at;
    size_t len;
};

/* What is left of a message. */
struct cursor {
    const char *at;
    size_t left;
};

static uint32_t load_u32(const void *at)
{
    unsigned char b[4];

    memcpy(b, at, sizeof(b));
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
           (uint32_t)b[3] << 24;
}

static int take_u32(struct cursor *c, uint32_t *out, struct err *err)
{
    if (c->left < 4)
        return err_set(err, ERR_INVALID, "truncated");
    *out = load_u32(c->at);
    c->at += 4;
    c->left -= 4;
    return 0;
}

static int take_text(struct cursor *c, struct text *out, struct err *err)
{
    uint32_t len = 0;

    if (take_u32(c, &len, err) < 0)
        return -1;
    if (len > c->left)
        return err_set(err, ERR_INVALID, "truncated");
    *out = (struct text){.at = c->at, .len = len};
    c->at += len;
    c->left -= len;
    return 0;
}

static int take_end(const struct cursor *c, struct err *err)
{
    if (c->left > 0)
        return err_set(err, ERR_INVALID, "%zu bytes too many", c->left);
    return 0;
}

/* How long the UTF-8 sequence is that starts with b; 0: none does. */
static size_t utf8_len(unsigned char b)
{
    if (b < 0x80)
        return 1;
    if (b >= 0xc2 && b < 0xe0)
        return 2;
    if (b >= 0xe0 && b < 0xf0)
        return 3;
    return b >= 0xf0 && b < 0xf5 ? 4 : 0;
}

/* Over-long forms, surrogates and what is past U+10FFFF begin with these. */
static bool utf8_bad_pair(unsigned char a, unsigned char b)
{
    return (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) ||
           (a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f);
}

static bool is_utf8(const struct text *t)
{
    const unsigned char *s = (const unsigned char *)t->at;
    size_t i = 0;

    while (i < t->len) {
        size_t n = utf8_len(s[i]);

        if (n == 0 || n > t->len - i)
            return false;
        if (n > 1 && utf8_bad_pair(s[i], s[i + 1]))
            return false;
        for (size_t k = 1; k < n; k++)
            if ((s[i + k] & 0xc0) != 0x80)
                return false;
        i += n;
    }
    return true;
}

static bool is_mime_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c != '\0' && strchr("!#$&^_.+-", c));
}

static bool is_mime(const struct text *t)
{
    const char *slash;

    if (t->len > RUNTIME_MIME_MAX)
        return false;
    slash = t->len == 0 ? NULL : memchr(t->at, '/', t->len);
    if (slash == NULL || slash == t->at || slash == t->at + t->len - 1)
        return false;
    for (const char *p = t->at; p < t->at + t->len; p++)
        if (p != slash && !is_mime_char(*p))
            return false;
    return true;
}

static bool is_twice(const struct runtime_mime *mimes, size_t last)
{
    for (size_t i = 0; i < last; i++)
        if (mimes[i].type_len == mimes[last].type_len &&
            memcmp(mimes[i].type, mimes[last].type, mimes[i].type_len) == 0)
            return true;
    return false;
}

static int take_mime(struct cursor *c, struct runtime_mime *mime,
                     struct err *err)
{
    struct text type = {0}, data = {0};

    if (take_text(c, &type, err) < 0)
        return -1;
    if (!is_mime(&type))
        return err_set(err, ERR_INVALID, "mime type");
    if (take_text(c, &data, err) < 0)
        return -1;
    *mime = (struct runtime_mime){.type = type.at,
                                  .type_len = type.len,
                                  .data = data.at,
                                  .data_len = data.len};
    return 0;
}

static int take_result(struct runtime_parser *p, struct cursor c,
                       struct err *err)
{
    struct runtime_mime mimes[RUNTIME_MIMES_MAX];
    uint32_t flags = 0, count = 0;

    if (take_u32(&c, &flags, err) < 0 || take_u32(&c, &count, err) < 0)
        return -1;
    if ((flags & ~(uint32_t)RUNTIME_RESULT_VALUE) != 0)
        return err_set(err, ERR_INVALID, "unknown flags %#x", flags);
    if (count == 0 || count > RUNTIME_MIMES_MAX)
        return err_set(err, ERR_INVALID, "%u mime types", count);
    for (uint32_t i = 0; i < count; i++) {
        if (take_mime(&c, &mimes[i], err) < 0)
            return -1;
        if (is_twice(mimes, i))
            return err_set(err, ERR_INVALID, "the same mime type twice");
    }
    if (take_end(&c, err) < 0)
        return -1;
    return p->calls->result(p->ctx, flags, mimes, count, err);
}

static int take_error(struct runtime_parser *p, struct cursor c,
                      struct err *err)
{
    struct text text[3] = {{0}};
    uint32_t sys = 0;

    if (take_u32(&c, &sys, err) < 0)
        return -1;
    if (sys > ERRNO_MAX)
        return err_set(err, ERR_INVALID, "errno %u", sys);
    for (int i = 0; i < 3; i++) {
        if (take_text(&c, &text[i], err) < 0)
            return -1;
        if (!is_utf8(&text[i]))
            return err_set(err, ERR_INVALID, "not UTF-8");
    }
    if (text[0].len > RUNTIME_NAME_MAX)
        return err_set(err, ERR_INVALID, "name of %zu bytes", text[0].len);
    if (take_end(&c, err) < 0)
        return -1;
    return p->calls->error(
        p->ctx, sys, (const char *[3]){text[0].at, text[1].at, text[2].at},
        (size_t[3]){text[0].len, text[1].len, text[2].len}, err);
}

static int take_done(struct runtime_parser *p, struct cursor c, struct err *err)
{
    uint32_t code = 0;

    if (take_u32(&c, &code, err) < 0 || take_end(&c, err) < 0)
        return -1;
    return p->calls->done(p->ctx, (int32_t)code, err);
}

static const struct {
    uint32_t type;
    const char *name;
    int (*take)(struct runtime_parser *p, struct cursor c, struct err *err);
} kinds[] = {
    {RUNTIME_RESULT, "result", take_result},
    {RUNTIME_ERROR, "error", take_error},
    {RUNTIME_DONE, "done", take_done},
};

static int take_message(struct runtime_parser *p, const char *body, size_t size,
                        struct err *err)
{
    uint32_t type = load_u32(p->head + 4);
    struct cursor c = {.at = body, .left = size};

    p->head_len = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].type != type)
            continue;
        if (kinds[i].take(p, c, err) < 0)
            return err_wrap(err, "the driver's %s", kinds[i].name);
        return 0;
    }
    return err_set(err, ERR_INVALID, "the driver's message of type %u", type);
}

/* Keeps a piece of a message; room grows with what came, to `size` at most. */
static int keep(struct runtime_parser *p, const char *data, size_t n,
                size_t size, struct err *err)
{
    if (n > p->room - p->len) {
        size_t room = p->len + n < size / 2 ? 2 * (p->len + n) : size;
        char *body = realloc(p->body, room);

        if (body == NULL)
            return err_set(err, ERR_HOST, "out of memory");
        p->body = body;
        p->room = room;
    }
    memcpy(p->body + p->len, data, n);
    p->len += n;
    return 0;
}

static void drop_body(struct runtime_parser *p)
{
    free(p->body);
    p->body = NULL;
    p->len = p->room = 0;
}

/* As much of one message as there is; what it used of the data, or -1. */
static ssize_t feed_one(struct runtime_parser *p, const char *data, size_t len,
                        struct err *err)
{
    size_t want = sizeof(p->head) - p->head_len;
    size_t used = want < len ? want : len;
    size_t size;
    int rc;

    memcpy(p->head + p->head_len, data, used);
    p->head_len += used;
    if (p->head_len < sizeof(p->head))
        return (ssize_t)used;
    size = load_u32(p->head);
    if (size > RUNTIME_MESSAGE_MAX)
        return err_set(err, ERR_INVALID, "the driver's message of %zu bytes",
                       size);
    data += used;
    len -= used;
    if (p->len == 0 && len >= size) /* whole, and here: no copy */
        return take_message(p, data, size, err) < 0 ? -1
                                                    : (ssize_t)(used + size);
    if (len > size - p->len)
        len = size - p->len;
    if (len > 0 && keep(p, data, len, size, err) < 0)
        return -1;
    if (p->len < size)
        return (ssize_t)(used + len);
    rc = take_message(p, p->body, size, err);
    drop_body(p);
    return rc < 0 ? -1 : (ssize_t)(used + len);
}

void runtime_parser_init(struct runtime_parser *p,
                         const struct runtime_calls *calls, void *ctx)
{
    *p = (struct runtime_parser){.calls = calls, .ctx = ctx};
}

void runtime_parser_fini(struct runtime_parser *p)
{
    drop_body(p);
    p->head_len = 0;
}

int runtime_feed(struct runtime_parser *p, const char *data, size_t len,
                 struct err *err)
{
    if (p->broken)
        return err_set(err, ERR_INVALID, "the driver broke a rule before");
    while (len > 0) {
        ssize_t used = feed_one(p, data, len, err);

        if (used < 0) {
            p->broken = true;
            drop_body(p);
            return -1;
        }
        data += used;
        len -= (size_t)used;
    }
    return 0;
}

bool runtime_partial(const struct runtime_parser *p)
{
    return !p->broken && p->head_len > 0;
}

int runtime_code(struct buf *out, uint32_t flags, const char *name,
                 const char *code, size_t len, struct err *err)
{
    size_t name_len = strlen(name);
    size_t before = out->len;

    if (name_len == 0 || name_len > RUNTIME_NAME_MAX)
        return err_set(err, ERR_INVALID, "name of a block: %zu bytes",
                       name_len);
    if (flags != 0 && flags != RUNTIME_CODE_LAST && flags != RUNTIME_CODE_CHECK)
        return err_set(err, ERR_INVALID, "unknown flags %#x", flags);
    if (len > RUNTIME_CODE_MAX)
        return err_set(err, ERR_LIMIT, "code of %zu bytes, at most %u", len,
                       RUNTIME_CODE_MAX);
    if (buf_u32(out, (uint32_t)(8 + name_len + len), err) < 0 ||
        buf_u32(out, RUNTIME_CODE, err) < 0 || buf_u32(out, flags, err) < 0 ||
        buf_u32(out, (uint32_t)name_len, err) < 0 ||
        buf_add(out, name, name_len, err) < 0 ||
        buf_add(out, code, len, err) < 0) {
        out->len = before; /* all of it, or nothing */
        if (out->data != NULL)
            out->data[before] = '\0';
        return -1;
    }
    return 0;
}
