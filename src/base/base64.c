/* SPDX-License-Identifier: Apache-2.0 */
/* base64 - see base64.h. */
#include "src/base/base64.h"

#include <stdint.h>
#include <stdlib.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t len)
{
    const unsigned char *in = data;
    char *out, *to;

    if (len > SIZE_MAX / 2)
        return NULL;
    out = to = malloc((len + 2) / 3 * 4 + 1);
    if (out == NULL)
        return NULL;
    for (; len > 0; to += 4) {
        size_t n = len < 3 ? len : 3;
        uint32_t bits = (uint32_t)in[0] << 16 | (n > 1 ? in[1] : 0u) << 8 |
                        (n > 2 ? in[2] : 0u);

        to[0] = digits[bits >> 18];
        to[1] = digits[bits >> 12 & 63];
        to[2] = n > 1 ? digits[bits >> 6 & 63] : '=';
        to[3] = n > 2 ? digits[bits & 63] : '=';
        in += n;
        len -= n;
    }
    *to = '\0';
    return out;
}
