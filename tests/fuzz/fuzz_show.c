/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_show - what a terminal gets of any bytes, cut anywhere: no control but
 * \n \t \r and colour, no C1, within the room that was promised, and the same
 * for every cut.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/visible.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IN_MAX 4096

static size_t colour_length(const char *at, const char *end)
{
    const char *p = at + 1;

    if (p == end || *p++ != '[')
        return 0;
    while (p < end && strchr("0123456789;:", *p) != NULL && *p != '\0')
        p++;
    return p < end && *p == 'm' ? (size_t)(p + 1 - at) : 0;
}

static void check(const char *out, size_t n)
{
    const char *end = out + n;

    for (const char *p = out; p < end; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == 0x1b) {
            size_t len = colour_length(p, end);

            if (len == 0)
                abort();
            p += len - 1;
        } else if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') ||
                   c == 0x7f) {
            abort();
        } else if (c == 0xc2 && p + 1 < end && (unsigned char)p[1] < 0xa0) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char whole[VISIBLE_ROOM(IN_MAX) * 2],
        parts[VISIBLE_ROOM(IN_MAX) * 2];
    struct visible a = {0}, b = {0};
    size_t cut, n, m;

    if (size < 1 || size > IN_MAX)
        return 0;
    cut = data[0] % size;
    data++;
    size--;
    if (cut > size)
        cut = size;
    n = visible_put(&a, data, size, whole);
    if (n > VISIBLE_ROOM(size))
        abort();
    n += visible_end(&a, whole + n);
    m = visible_put(&b, data, cut, parts);
    m += visible_put(&b, data + cut, size - cut, parts + m);
    m += visible_end(&b, parts + m);
    if (n != m || memcmp(whole, parts, n) != 0)
        abort();
    check(whole, n);
    return 0;
}
