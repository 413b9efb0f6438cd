/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime - the engine's end of abi/runtime.h: a block is encoded, what the
 * driver says is decoded, incrementally and within the caps. What comes up is
 * hostile: the first message that breaks a rule is an error and the last, and
 * no more is allocated than bytes have come. Used by src/core; pure.
 */
#ifndef KARZER_CELL_RUNTIME_H
#define KARZER_CELL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runtime.h"
#include "src/base/buf.h"
#include "src/base/err.h"

#define RUNTIME_NAME_MAX                                                       \
    4096u                     /* of a block; of what an exception is called    \
                               */
#define RUNTIME_MIME_MAX 100u /* of a mime type */

struct runtime_mime {
    const char *type; /* "a/b" of RFC 6838; not NUL-terminated */
    size_t type_len;
    const char *data;
    size_t data_len;
};

/* Called from runtime_feed, pointers valid until it returns; -1 ends it. */
struct runtime_calls {
    /* count is 1 to RUNTIME_MIMES_MAX, each type there once */
    int (*result)(void *ctx, uint32_t flags, const struct runtime_mime *mimes,
                  size_t count, struct err *err);
    /* sys is an errno below 4096; name, value, traceback are valid UTF-8 */
    int (*error)(void *ctx, uint32_t sys, const char *const text[3],
                 const size_t len[3], struct err *err);
    int (*done)(void *ctx, int32_t code, struct err *err);
};

struct runtime_parser {
    const struct runtime_calls *calls;
    void *ctx;
    unsigned char head[8];
    size_t head_len;
    char *body; /* of a message that came in pieces */
    size_t len, room;
    bool broken; /* a rule was broken: nothing more is read */
};

void runtime_parser_init(struct runtime_parser *p,
                         const struct runtime_calls *calls, void *ctx);
void runtime_parser_fini(struct runtime_parser *p);

/* Any bytes, in any pieces. -1: broken (ERR_INVALID), or a callback's error;
 * from then on it is always -1. */
int runtime_feed(struct runtime_parser *p, const char *data, size_t len,
                 struct err *err);

/* At the end of the channel: true when it ended within a message. */
bool runtime_partial(const struct runtime_parser *p);

/* RUNTIME_CODE appended to `out`, whole or not at all. `name`: what tracebacks
 * call the block, "<code>", or a file's path, which then is also sys.argv[0]
 * and __file__. */
int runtime_code(struct buf *out, uint32_t flags, const char *name,
                 const char *code, size_t len, struct err *err);

#endif
