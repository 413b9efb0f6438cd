/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displayed - what a language driver says, into the result: values as mime
 * bundles, the error, the end of a block. Called by run.c around the pump.
 */
#ifndef KARZER_CORE_DISPLAYED_H
#define KARZER_CORE_DISPLAYED_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/core/pump.h"
#include "src/core/request.h"
#include "src/core/result.h"

/* Of all displayed values of one block, as they are in our memory and as they
 * are told; what is past it is dropped, and that is said. */
#define DISPLAYED_MAX (32u << 20)

struct displayed {
    struct sandbox *sandbox; /* for the caller's own callbacks */
    struct result *result;
    const struct run_io *io;
    struct evidence *ev;
    struct buf *code; /* where a live sandbox's block is encoded */

    /* displayed's own */
    struct pump *pump;
    struct runtime_parser parser;
    bool parsing;
    bool block_done; /* RUNTIME_DONE came: the driver waits for a block */
    uint64_t bytes;
};

/* Encodes the block of `req` into `code` and hangs the parser into `p`;
 * `flags`: enum runtime_code_flag. */
int displayed_begin(struct displayed *d, const struct request *req,
                    uint32_t flags, struct buf *code, struct pump *p,
                    struct err *err);
void displayed_end(struct displayed *d);

#endif
