/* SPDX-License-Identifier: Apache-2.0 */
/* span_put - a text as a JSON string of a request (span.h). */
#include "src/client/span.h"

#include <string.h>

/* Length of the UTF-8 sequence at `at`; 0: there is none. */
static size_t sequence(const unsigned char *at)
{
    size_t n = at[0] < 0x80   ? 1
               : at[0] < 0xc2 ? 0
               : at[0] < 0xe0 ? 2
               : at[0] < 0xf0 ? 3
               : at[0] < 0xf5 ? 4
                              : 0;

    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80) /* the NUL at the end, too */
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return n;
}

int span_put(struct buf *out, const char *text, struct err *err)
{
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char *from = at;

    if (buf_str(out, "\"", err) < 0)
        return -1;
    while (*at != '\0') {
        size_t n = sequence(at);

        if (n == 0)
            return err_set(err, ERR_INVALID, "\"%.64s\" is not UTF-8", text);
        if (*at >= 0x20 && *at != '"' && *at != '\\') {
            at += n;
            continue;
        }
        if (buf_add(out, from, (size_t)(at - from), err) < 0 ||
            buf_fmt(out, err, "\\u%04x", *at) < 0)
            return -1;
        from = ++at;
    }
    if (buf_add(out, from, (size_t)(at - from), err) < 0)
        return -1;
    return buf_str(out, "\"", err);
}
