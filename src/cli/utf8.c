/* SPDX-License-Identifier: Apache-2.0 */
/* utf8 - see utf8.h. */
#include "src/cli/utf8.h"

#include "src/base/auto.h"

/* Characters that change the order or the direction of what stands around. */
static const struct range {
    uint32_t first, last;
} hidden[] = {
    {0x80, 0x9f},     /* C1 controls: CSI, OSC, DCS as one character */
    {0x61c, 0x61c},   /* Arabic letter mark */
    {0x200e, 0x200f}, /* left-to-right and right-to-left marks */
    {0x2028, 0x202e}, /* separators, embeddings and overrides */
    {0x2066, 0x2069}, /* isolates */
};

uint32_t utf8_decode(const unsigned char *s, size_t len)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = s[0] & first[len];

    for (size_t i = 1; i < len; i++)
        c = c << 6 | (s[i] & 0x3fu);
    return c;
}

bool utf8_hides(const unsigned char *s, size_t len)
{
    uint32_t c = utf8_decode(s, len);

    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (c >= hidden[i].first && c <= hidden[i].last)
            return true;
    return false;
}

size_t utf8_length(unsigned char b)
{
    if (b >= 0xc2 && b <= 0xdf)
        return 2;
    if (b >= 0xe0 && b <= 0xef)
        return 3;
    return b >= 0xf0 && b <= 0xf4 ? 4 : 0;
}

bool utf8_follows(const unsigned char *held, size_t len, unsigned char b)
{
    unsigned char low = 0x80, high = 0xbf;

    if (len == 1 && held[0] == 0xe0)
        low = 0xa0;
    if (len == 1 && held[0] == 0xed)
        high = 0x9f;
    if (len == 1 && held[0] == 0xf0)
        low = 0x90;
    if (len == 1 && held[0] == 0xf4)
        high = 0x8f;
    return b >= low && b <= high;
}
