/* SPDX-License-Identifier: Apache-2.0 */
/* buf - see buf.h. */
#include "src/base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *buf, size_t cap)
{
    *buf = (struct buf){.cap = cap};
}

void buf_fini(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.cap = buf->cap};
}

static int buf_reserve(struct buf *buf, size_t more, struct err *err)
{
    size_t room = buf->room == 0 ? 256 : buf->room;
    char *data;

    if (more > buf->cap - buf->len)
        return err_set(err, ERR_LIMIT, "more than %zu bytes", buf->cap);
    while (room < buf->len + more + 1)
        room *= 2;
    if (room == buf->room)
        return 0;
    data = realloc(buf->data, room);
    if (data == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    buf->data = data;
    buf->room = room;
    return 0;
}

int buf_add(struct buf *buf, const void *src, size_t len, struct err *err)
{
    if (buf_reserve(buf, len, err) < 0)
        return -1;
    if (len > 0)
        memcpy(buf->data + buf->len, src, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int buf_str(struct buf *buf, const char *s, struct err *err)
{
    return buf_add(buf, s, strlen(s), err);
}

int buf_strz(struct buf *buf, const char *s, struct err *err)
{
    return buf_add(buf, s, strlen(s) + 1, err);
}

int buf_u32(struct buf *buf, uint32_t v, struct err *err)
{
    const unsigned char le[4] = {(unsigned char)v, (unsigned char)(v >> 8),
                                 (unsigned char)(v >> 16),
                                 (unsigned char)(v >> 24)};

    return buf_add(buf, le, sizeof(le), err);
}

int buf_fmt(struct buf *buf, struct err *err, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return err_set(err, ERR_INTERNAL, "format %s", fmt);
    if (buf_reserve(buf, (size_t)n, err) < 0)
        return -1;
    va_start(ap, fmt);
    vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf->len += (size_t)n;
    return 0;
}

void buf_shift(struct buf *buf, size_t n)
{
    if (n >= buf->len) {
        buf->len = 0;
    } else {
        memmove(buf->data, buf->data + n, buf->len - n);
        buf->len -= n;
    }
    if (buf->data != NULL)
        buf->data[buf->len] = '\0';
}

const char *buf_text(const struct buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}
