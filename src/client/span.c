/* SPDX-License-Identifier: Apache-2.0 */
/* span - see span.h. One pass forward, bounded depth, no allocation but for
 * decoded texts. */
#include "src/client/span.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256

struct scan {
    const char *at;
    const char *end;
};

static void skip_space(struct scan *s)
{
    while (s->at < s->end && memchr(" \t\r\n", *s->at, 4) != NULL)
        s->at++;
}

static bool skip_char(struct scan *s, char c)
{
    skip_space(s);
    if (s->at >= s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool skip_string(struct scan *s)
{
    if (!skip_char(s, '"'))
        return false;
    for (; s->at < s->end; s->at++) {
        if (*s->at == '"') {
            s->at++;
            return true;
        }
        if (*s->at == '\\' && ++s->at >= s->end)
            return false;
    }
    return false;
}

/* true, null, -1.5e3: what is no delimiter. */
static bool skip_word(struct scan *s)
{
    const char *start = s->at;

    while (s->at < s->end && memchr(",:]}[{\" \t\r\n", *s->at, 11) == NULL)
        s->at++;
    return s->at > start;
}

static bool skip_value(struct scan *s, int depth);

/* After the bracket that opens it. */
static bool skip_list(struct scan *s, char close, int depth)
{
    if (depth > DEPTH_MAX)
        return false;
    if (skip_char(s, close))
        return true;
    do {
        if (close == '}' && !(skip_string(s) && skip_char(s, ':')))
            return false;
        if (!skip_value(s, depth + 1))
            return false;
    } while (skip_char(s, ','));
    return skip_char(s, close);
}

static bool skip_value(struct scan *s, int depth)
{
    skip_space(s);
    if (s->at >= s->end)
        return false;
    if (*s->at == '"')
        return skip_string(s);
    if (skip_char(s, '{'))
        return skip_list(s, '}', depth);
    if (skip_char(s, '['))
        return skip_list(s, ']', depth);
    return skip_word(s);
}

static bool take_value(struct scan *s, struct span *out)
{
    skip_space(s);
    out->at = s->at;
    if (!skip_value(s, 0))
        return false;
    out->len = (size_t)(s->at - out->at);
    return true;
}

struct span span_of(const char *text, size_t len)
{
    struct scan s = {text, text + len};
    struct span v = {NULL, 0};

    if (!take_value(&s, &v))
        return (struct span){NULL, 0};
    skip_space(&s);
    return s.at == s.end ? v : (struct span){NULL, 0};
}

bool span_next(struct span list, size_t *pos, struct span *key,
               struct span *value)
{
    struct span name = {NULL, 0};
    struct scan s;
    bool object;

    if (list.at == NULL || list.len < 2 || (*list.at != '{' && *list.at != '['))
        return false;
    s = (struct scan){list.at + *pos, list.at + list.len};
    object = *list.at == '{';
    if (*pos == 0 ? (s.at++, false) : !skip_char(&s, ','))
        return false;
    if (object &&
        !(take_value(&s, &name) && *name.at == '"' && skip_char(&s, ':')))
        return false;
    if (!take_value(&s, value))
        return false;
    if (key != NULL)
        *key = name;
    *pos = (size_t)(s.at - list.at);
    return true;
}

/* Names here have no escapes: the text itself is compared. */
struct span span_member(struct span object, const char *name)
{
    size_t pos = 0, len = strlen(name);
    struct span key, value;

    if (object.at == NULL || *object.at != '{')
        return (struct span){NULL, 0};
    while (span_next(object, &pos, &key, &value))
        if (key.len == len + 2 && memcmp(key.at + 1, name, len) == 0)
            return value;
    return (struct span){NULL, 0};
}

bool span_number(struct span value, uint64_t *out)
{
    uint64_t n = 0;

    if (value.at == NULL || value.len == 0)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] < '0' || value.at[i] > '9' ||
            __builtin_mul_overflow(n, 10u, &n) ||
            __builtin_add_overflow(n, (uint64_t)(value.at[i] - '0'), &n))
            return false;
    *out = n;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four digits after "\u". */
static bool take_unit(struct scan *s, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        int d = s->at < s->end ? hex_digit(*s->at) : -1;

        if (d < 0)
            return false;
        *out = *out << 4 | (uint32_t)d;
    }
    return true;
}

static size_t put_utf8(char *out, uint32_t c)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xf0u) | c);
    return n;
}

/* "u" of an escape and, for a surrogate, its other half. */
static bool take_unicode(struct scan *s, uint32_t *out)
{
    uint32_t low;

    if (!take_unit(s, out))
        return false;
    if (*out < 0xd800 || *out > 0xdfff)
        return true;
    if (*out > 0xdbff || s->end - s->at < 6 || s->at[0] != '\\' ||
        s->at[1] != 'u')
        return false;
    s->at += 2;
    if (!take_unit(s, &low) || low < 0xdc00 || low > 0xdfff)
        return false;
    *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* What follows a backslash; bytes put into out, 0: no escape. */
static size_t take_escape(struct scan *s, char *out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char means[] = "\"\\/\b\f\n\r\t";
    uint32_t c;
    const char *at;

    if (s->at >= s->end)
        return 0;
    if (*s->at == 'u') {
        s->at++;
        return take_unicode(s, &c) ? put_utf8(out, c) : 0;
    }
    at = memchr(names, *s->at++, sizeof(names) - 1);
    if (at == NULL)
        return 0;
    *out = means[at - names];
    return 1;
}

char *span_text(struct span value, size_t *len)
{
    struct scan s;
    char *out, *to;

    if (value.at == NULL || value.len < 2 || *value.at != '"')
        return NULL;
    s = (struct scan){value.at + 1, value.at + value.len - 1};
    out = to = malloc(value.len); /* an escape is never shorter than its text */
    if (out == NULL)
        return NULL;
    while (s.at < s.end) {
        const char *slash = memchr(s.at, '\\', (size_t)(s.end - s.at));
        size_t n = (size_t)((slash == NULL ? s.end : slash) - s.at);

        memcpy(to, s.at, n);
        to += n;
        s.at += n + (slash != NULL);
        n = slash == NULL ? 1 : take_escape(&s, to);
        if (n == 0) {
            free(out);
            return NULL;
        }
        to += slash == NULL ? 0 : n;
    }
    *to = '\0';
    if (len != NULL)
        *len = (size_t)(to - out);
    return out;
}

static int base64_digit(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c == '\0' ? NULL : strchr(digits, c);

    return at == NULL ? -1 : (int)(at - digits);
}

char *span_base64(const char *text, size_t len, size_t *out_len)
{
    char *out, *to;
    uint32_t bits = 0;
    size_t pad = 0;

    if (len % 4 != 0)
        return NULL;
    while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
        pad++;
    out = to = calloc(1, len / 4 * 3 + 1);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        int d = i + pad >= len ? 0 : base64_digit(text[i]);

        if (d < 0) {
            free(out);
            return NULL;
        }
        bits = bits << 6 | (uint32_t)d;
        if (i % 4 == 3) {
            *to++ = (char)(bits >> 16);
            *to++ = (char)(bits >> 8);
            *to++ = (char)bits;
        }
    }
    to -= pad;
    *to = '\0';
    *out_len = (size_t)(to - out);
    return out;
}
