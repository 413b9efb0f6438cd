/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_vt - what an operator's terminal gets of any bytes, cut anywhere: text,
 * and sequences of the allowed shapes only, looked at by other code than the
 * filter's; within the room that was promised; the same for every cut.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/vt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IN_MAX 4096

/* "ESC [ ..." from `p`, just behind "[": its length, or the end of the run. */
static size_t csi_length(const char *p, const char *end)
{
    static const char plain[] = "@ABCDEFGHIJKLMPSTXZ`abdefgsumrhl";
    const char *at = p;
    bool question = at < end && *at == '?';
    size_t numbers;

    at += question;
    for (numbers = 0; at + numbers < end; numbers++)
        if (strchr("0123456789;:", at[numbers]) == NULL || at[numbers] == '\0')
            break;
    at += numbers;
    if (end - at >= 2 && (memcmp(at, " q", 2) == 0 || memcmp(at, "!p", 2) == 0))
        return (size_t)(at + 2 - p);
    if (at == end || *at == '\0' ||
        strchr(question ? "hlJK" : plain, *at) == NULL)
        abort();
    if (*at == 'J' && numbers > 0 && memchr(p, '3', numbers) != NULL)
        abort();
    return (size_t)(at + 1 - p);
}

static size_t escape_length(const char *p, const char *end)
{
    if (end - p < 2)
        abort(); /* never a part of one */
    if (p[1] == '[')
        return 2 + csi_length(p + 2, end);
    if (p[1] == '(' || p[1] == ')') {
        if (end - p < 3 || p[2] == '\0' || strchr("AB0", p[2]) == NULL)
            abort();
        return 3;
    }
    if (p[1] == '\0' || strchr("78DEMH=>", p[1]) == NULL)
        abort();
    return 2;
}

static void check(const char *out, size_t n)
{
    const char *end = out + n;

    for (const char *p = out; p < end; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == 0x1b)
            p += escape_length(p, end) - 1;
        else if (c == 0 || c == 0x7f ||
                 (c < 0x20 && strchr("\a\b\t\n\v\f\r\x0e\x0f", c) == NULL))
            abort();
        else if (c == 0xc2 && p + 1 < end && (unsigned char)p[1] < 0xa0)
            abort();
        else if (c >= 0x80 && c < 0xc2 && p == out)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char whole[VT_ROOM(IN_MAX)], parts[2 * VT_ROOM(IN_MAX)];
    uint64_t left_a = 0, left_b = 0;
    struct vt a = {.left = &left_a}, b = {.left = &left_b};
    char undo[VT_UNDO_MAX];
    size_t cut, n, m;

    if (size < 1 || size > IN_MAX)
        return 0;
    cut = data[0] % size;
    data++;
    size--;
    n = vt_put(&a, data, size, whole);
    if (n > VT_ROOM(size))
        abort();
    m = vt_put(&b, data, cut, parts);
    if (m > VT_ROOM(cut))
        abort();
    m += vt_put(&b, data + cut, size - cut, parts + m);
    if (n != m || memcmp(whole, parts, n) != 0 || left_a != left_b)
        abort();
    check(whole, n);
    check(undo, vt_undo(left_a, undo));
    return 0;
}
