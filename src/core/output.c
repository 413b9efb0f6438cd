/* SPDX-License-Identifier: Apache-2.0 */
/* output - see output.h. Called by pump.c and result.c. */
#include "src/core/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/base64.h"

void output_init(struct output *o, uint64_t cap)
{
    *o = (struct output){.tail_cap = (size_t)(cap / 2)};
    buf_init(&o->head, (size_t)(cap - cap / 2));
}

void output_fini(struct output *o)
{
    buf_fini(&o->head);
    free(o->tail);
    *o = (struct output){0};
}

static void tail_add(struct output *o, const char *data, size_t len)
{
    if (len > o->tail_cap) { /* only the end of it can stay */
        data += len - o->tail_cap;
        len = o->tail_cap;
    }
    while (len > 0) {
        size_t n = o->tail_cap - o->tail_at;

        if (n > len)
            n = len;
        memcpy(o->tail + o->tail_at, data, n);
        o->tail_at = (o->tail_at + n) % o->tail_cap;
        o->tail_len =
            o->tail_len + n > o->tail_cap ? o->tail_cap : o->tail_len + n;
        data += n;
        len -= n;
    }
}

int output_add(struct output *o, const char *data, size_t len)
{
    size_t room = o->head.cap - o->head.len;
    size_t n = len < room ? len : room;

    o->total += len;
    if (n > 0 && buf_add(&o->head, data, n, NULL) < 0)
        return -1;
    if (n == len || o->tail_cap == 0)
        return 0;
    if (o->tail == NULL && (o->tail = malloc(o->tail_cap)) == NULL)
        return -1;
    tail_add(o, data + n, len - n);
    return 0;
}

char *output_kept(const struct output *o, size_t *len)
{
    char *all = malloc(o->head.len + o->tail_len + 1);
    size_t from = o->tail_len < o->tail_cap ? 0 : o->tail_at;
    size_t first = o->tail_len - from;

    if (all == NULL)
        return NULL;
    memcpy(all, buf_text(&o->head), o->head.len);
    if (o->tail_len > 0) {
        memcpy(all + o->head.len, o->tail + from, first);
        memcpy(all + o->head.len + first, o->tail, from);
    }
    *len = o->head.len + o->tail_len;
    all[*len] = '\0';
    return all;
}

json_t *bytes_json(const char *data, size_t len, bool *base64)
{
    json_t *s = json_stringn(data, len); /* NULL when it is not UTF-8 */
    char *out;

    *base64 = s == NULL;
    if (s != NULL)
        return s;
    out = base64_encode(data, len);
    if (out == NULL)
        return NULL;
    s = json_string(out);
    free(out);
    return s;
}

static int set(json_t *object, const char *name, const char *suffix, json_t *v)
{
    char key[64];

    snprintf(key, sizeof(key), "%s%s", name, suffix);
    return json_object_set_new(object, key, v);
}

int output_json(const struct output *o, const char *name, json_t *object)
{
    size_t len = 0;
    char *kept = output_kept(o, &len);
    bool base64, gap = o->total > len;
    json_t *text;

    if (kept == NULL)
        return -1;
    text = bytes_json(kept, len, &base64);
    free(kept);
    if (text == NULL || set(object, name, "", text) < 0 ||
        set(object, name, "_encoding",
            json_string(base64 ? "base64" : "utf-8")) < 0 ||
        set(object, name, "_total_bytes", json_integer((json_int_t)o->total)) <
            0 ||
        set(object, name, "_kept_bytes", json_integer((json_int_t)len)) < 0)
        return -1;
    return set(object, name, "_gap_at",
               gap ? json_integer((json_int_t)o->head.len) : json_null());
}

/* Bytes of the UTF-8 character at s (at most `left`), or 0: it is none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    size_t n = s[0] < 0x80   ? 1
               : s[0] < 0xc2 ? 0
               : s[0] < 0xe0 ? 2
               : s[0] < 0xf0 ? 3
               : s[0] < 0xf5 ? 4
                             : 0;

    if (n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* too long a form, a surrogate, or past the last */
    return n;
}

json_t *text_json(const char *text)
{
    const unsigned char *in = (const unsigned char *)text;
    size_t len = strnlen(text, TEXT_JSON_MAX), at = 0, n;
    char copy[TEXT_JSON_MAX + 1];

    for (size_t i = 0; i < len; i += n) {
        n = utf8_length(in + i, len - i);
        if (n > 0)
            memcpy(copy + at, in + i, n);
        else
            copy[at] = '?';
        n = n > 0 ? n : 1;
        at += n;
    }
    copy[at] = '\0';
    return json_string(copy);
}
