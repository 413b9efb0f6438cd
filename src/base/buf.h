/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf - bytes that grow, up to a cap given at birth.
 *
 * A failed append leaves the buffer as it was. There is always a NUL after the
 * last byte, not counted in len. A zeroed buf has cap 0: it takes nothing.
 */
#ifndef KARZER_BASE_BUF_H
#define KARZER_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

struct buf {
    char *data; /* NULL while empty */
    size_t len;
    size_t room; /* allocated */
    size_t cap;  /* never holds more than this */
};

void buf_init(struct buf *buf, size_t cap);
void buf_fini(struct buf *buf); /* frees; may be init'ed again */
static inline void buf_auto(struct buf *buf)
{
    buf_fini(buf);
}

/* ERR_LIMIT past the cap, ERR_HOST without memory. */
int buf_add(struct buf *buf, const void *src, size_t len, struct err *err);
int buf_str(struct buf *buf, const char *s, struct err *err);  /* without NUL */
int buf_strz(struct buf *buf, const char *s, struct err *err); /* with NUL */
int buf_u32(struct buf *buf, uint32_t v, struct err *err); /* little endian */
int buf_fmt(struct buf *buf, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Removes n bytes from the front. */
void buf_shift(struct buf *buf, size_t n);

/* "" while empty; valid until the next change. */
const char *buf_text(const struct buf *buf);

#endif
