/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a language driver says, as the engine reads it: any bytes, in pieces of
 * any size. In pieces and as a whole it must be the same, and all of it lie
 * within what was given.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/cell/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mix(uint64_t *sum, const char *at, size_t len)
{
    *sum = *sum * 1000003u + len;
    for (size_t i = 0; i < len; i++)
        *sum = *sum * 1000003u + (unsigned char)at[i];
}

static int on_result(void *ctx, uint32_t flags,
                     const struct runtime_mime *mimes, size_t count,
                     struct err *err)
{
    (void)err;
    if (count == 0 || count > RUNTIME_MIMES_MAX || flags > 1)
        abort();
    for (size_t i = 0; i < count; i++) {
        if (mimes[i].type_len < 3 || mimes[i].type_len > RUNTIME_MIME_MAX)
            abort();
        mix(ctx, mimes[i].type, mimes[i].type_len);
        mix(ctx, mimes[i].data, mimes[i].data_len);
    }
    return 0;
}

static int on_error(void *ctx, uint32_t sys, const char *const text[3],
                    const size_t len[3], struct err *err)
{
    (void)err;
    if (sys > 4095)
        abort();
    for (int i = 0; i < 3; i++)
        mix(ctx, text[i], len[i]);
    return 0;
}

static int on_done(void *ctx, int32_t code, struct err *err)
{
    (void)err;
    mix(ctx, (const char *)&code, sizeof(code));
    return 0;
}

static const struct runtime_calls calls = {
    .result = on_result, .error = on_error, .done = on_done};

/* What came of it, read in pieces of `piece` bytes. */
static uint64_t read_all(const char *data, size_t size, size_t piece)
{
    struct runtime_parser p;
    uint64_t sum = 0;
    int r = 0;

    runtime_parser_init(&p, &calls, &sum);
    for (size_t at = 0; r == 0 && at < size; at += piece) {
        size_t n = piece < size - at ? piece : size - at;

        r = runtime_feed(&p, data + at, n, NULL);
        if (p.room > RUNTIME_MESSAGE_MAX || p.room > 2 * size + 1)
            abort();
    }
    sum = sum * 4 + (r < 0 ? 2u : 0u) + (runtime_partial(&p) ? 1u : 0u);
    runtime_parser_fini(&p);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data + 1;

    if (size < 2 || size > 60000)
        return 0;
    if (read_all(at, size - 1, size) != read_all(at, size - 1, 1u + data[0]))
        abort();
    return 0;
}
