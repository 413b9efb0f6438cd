/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the channel between the engine and a language driver in a cell.
 *
 * A stream socket at fd 3 of the driver; the agent passes its bytes through.
 * A message is two little-endian uint32 (size of the payload, type) and the
 * payload; docs/runtimes.md. What the driver says is hostile: it says what the
 * program displayed and how it failed, never what it was allowed or what it
 * used.
 */
#ifndef KARZER_ABI_RUNTIME_H
#define KARZER_ABI_RUNTIME_H

#include <stdint.h>

#define RUNTIME_FD 3
#define RUNTIME_CODE_MAX (16u << 20)    /* one block of code */
#define RUNTIME_MESSAGE_MAX (16u << 20) /* one message from the driver */
#define RUNTIME_MIMES_MAX 32u

enum runtime_type {
    RUNTIME_NONE = 0,

    /* engine to driver: uint32_t flags, uint32_t name length, name, code */
    RUNTIME_CODE = 1,

    /* driver to engine */
    RUNTIME_RESULT = 64, /* uint32_t flags, uint32_t count, then `count` times
                            {uint32_t len, mime type, uint32_t len, data};
                            image/png and other binary types raw, not base64 */
    RUNTIME_ERROR,       /* uint32_t errno (that of a failed system call,
                            ENOMEM without memory, else 0), then three times
                            {uint32_t len, UTF-8}: name, value, traceback */
    RUNTIME_DONE,        /* int32_t: 0, or 1 after an error, or the status that
                            the code's exit asked for; the block has ended. Not for
                            a LAST block: there the program's end says it */
};

enum runtime_code_flag {
    RUNTIME_CODE_LAST = 1,  /* no block follows: then end as a program ends */
    RUNTIME_CODE_CHECK = 2, /* do not run it. Is it a whole block (DONE 0), or
                               must more lines follow (DONE 1)? Not with LAST */
};

enum runtime_result_flag {
    RUNTIME_RESULT_VALUE = 1, /* the value of the last expression */
};

#endif
