/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits as people write them: any text for any row. What is taken lies within
 * the bounds, and comes back from its own text.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[128];
    char again[64];

    if (size >= sizeof(text))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < limit_row_count; i++) {
        const struct limit_row *row = &limit_rows[i];
        struct limits l = limits_default();
        struct err err = {0};
        uint64_t v;

        if (limits_parse(&l, row, text, &err) < 0) {
            if (err.code != ERR_INVALID || err.text[0] == '\0')
                abort();
            continue;
        }
        v = limits_get(&l, row);
        if (v < row->min || v > row->max)
            abort();
        limit_format(row, v, again, sizeof(again));
        if (limits_parse(&l, row, again, NULL) < 0 || limits_get(&l, row) != v)
            abort();
    }
    return 0;
}
