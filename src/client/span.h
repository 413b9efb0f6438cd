/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span - JSON of the engine, read where it lies: a span is one value's text.
 *
 * For libkarzer alone, so that its users link no JSON library. Nothing here
 * believes that the text is well formed; what is not, is not found.
 */
#ifndef KARZER_CLIENT_SPAN_H
#define KARZER_CLIENT_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"

struct span {
    const char *at; /* NULL: no value */
    size_t len;
};

/* The one value that a text is; .at is NULL when it is none. */
struct span span_of(const char *text, size_t len);

/* A member of an object; .at is NULL: no such member, or no object. */
struct span span_member(struct span object, const char *name);

/*
 * Steps through an array or object: start with *pos = 0. False at the end.
 * `key` (may be NULL) gets the member's name, a string, in an object.
 */
bool span_next(struct span list, size_t *pos, struct span *key,
               struct span *value);

/* A string decoded, with NUL, to free(); *len may be NULL. NULL: none. */
char *span_text(struct span value, size_t *len);

/* A whole number from 0 on. */
bool span_number(struct span value, uint64_t *out);

/* Bytes of base64 text; NULL: it is none. */
char *span_base64(const char *text, size_t len, size_t *out_len);

/* Appends a JSON string. ERR_INVALID when the text is not UTF-8. */
int span_put(struct buf *out, const char *text, struct err *err);

#endif
