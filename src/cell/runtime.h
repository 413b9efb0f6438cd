/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime - the engine's end of abi/runtime.h: a block is encoded, what the
 * driver says is decoded, incrementally and within the caps. What comes up is
 * hostile: the first message that breaks a rule is an error and the last.
 */
#ifndef KARZER_CELL_RUNTIME_H
#define KARZER_CELL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runtime.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/strs.h"

struct runtime_mime {
    const char *type; /* not NUL-terminated */
    size_t type_len;
    const char *data;
    size_t data_len;
};

/* Called from runtime_feed, pointers valid until it returns; -1 ends it. */
struct runtime_calls {
    int (*result)(void *ctx, uint32_t flags, const struct runtime_mime *mimes,
                  size_t count, struct err *err);
    /* name, value, traceback: UTF-8 if the driver is honest */
    int (*error)(void *ctx, uint32_t sys, const char *const text[3],
                 const size_t len[3], struct err *err);
    int (*done)(void *ctx, int32_t code, struct err *err);
};

struct runtime_parser {
    const struct runtime_calls *calls;
    void *ctx;
    struct buf in; /* the message that is not whole yet */
};

void runtime_parser_init(struct runtime_parser *p,
                         const struct runtime_calls *calls, void *ctx);
void runtime_parser_fini(struct runtime_parser *p);

/* Any bytes, in any pieces. -1: broken (ERR_INVALID), or a callback's error. */
int runtime_feed(struct runtime_parser *p, const char *data, size_t len,
                 struct err *err);

/* RUNTIME_CODE appended to `out`. `name`: what tracebacks call the block. */
int runtime_code(struct buf *out, uint32_t flags, const char *name,
                 const char *code, size_t len, struct err *err);

/* The driver's command line for an interpreter: appended to `argv`. `dir` is
 * where runtime/ is inside the cell. */
int runtime_python_argv(struct strs *argv, const char *interpreter,
                        const char *dir, struct err *err);

#endif
