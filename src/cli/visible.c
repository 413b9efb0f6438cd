/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible - see visible.h. The state is what is held: nothing, an escape
 * sequence that may still become a colour, or the start of a UTF-8 character.
 */
#include "src/cli/visible.h"

#include <stdint.h>
#include <string.h>

#include "src/cli/utf8.h"

#define ESC 0x1b

struct writer {
    char *at;
};

static void put(struct writer *w, unsigned char c)
{
    *w->at++ = (char)c;
}

static void put_hex(struct writer *w, char kind, uint32_t value, int digits)
{
    put(w, '\\');
    put(w, (unsigned char)kind);
    while (digits-- > 0)
        put(w, (unsigned char)"0123456789abcdef"[(value >> 4 * digits) & 15]);
}

/* A whole, valid character of two bytes or more. */
static void put_character(struct writer *w, const unsigned char *s, size_t len)
{
    if (utf8_hides(s, len)) {
        put_hex(w, 'u', utf8_decode(s, len), 4);
        return;
    }
    for (size_t i = 0; i < len; i++)
        put(w, s[i]);
}

static void ground(struct visible *v, struct writer *w, unsigned char b)
{
    if (b == ESC || utf8_length(b) != 0) {
        v->held[0] = b;
        v->held_len = 1;
    } else if (b >= 0x80) {
        put_hex(w, 'x', b, 2);
    } else if (b == 0x7f || (b < 0x20 && b != '\n' && b != '\t' && b != '\r')) {
        put(w, '^');
        put(w, b ^ 0x40);
    } else {
        put(w, b);
    }
}

/* What is held will not become anything: spells it out. */
static void give_up(struct visible *v, struct writer *w)
{
    size_t len = v->held_len;

    v->held_len = 0;
    for (size_t i = 0; i < len; i++) {
        if (v->held[i] == ESC) {
            put(w, '^');
            put(w, '[');
        } else if (v->held[i] >= 0x80) {
            put_hex(w, 'x', v->held[i], 2);
        } else {
            put(w, v->held[i]);
        }
    }
}

static void put_colour(struct visible *v, struct writer *w)
{
    size_t at = 2;

    while (at < v->held_len && v->held[at] == '0')
        at++;
    v->coloured = at < v->held_len; /* ESC [ m and ESC [ 0 m reset */
    for (size_t i = 0; i < v->held_len; i++)
        put(w, v->held[i]);
    put(w, 'm');
    v->held_len = 0;
}

static void escape(struct visible *v, struct writer *w, unsigned char b)
{
    bool parameter = (b >= '0' && b <= '9') || b == ';' || b == ':';

    if (v->held_len == 1 ? b == '[' : parameter) {
        if (v->held_len < VISIBLE_HELD_MAX) {
            v->held[v->held_len++] = b;
            return;
        }
    } else if (v->held_len > 1 && b == 'm') {
        put_colour(v, w);
        return;
    }
    give_up(v, w);
    ground(v, w, b);
}

static void character(struct visible *v, struct writer *w, unsigned char b)
{
    if (!utf8_follows(v->held, v->held_len, b)) {
        give_up(v, w);
        ground(v, w, b);
        return;
    }
    v->held[v->held_len++] = b;
    if (v->held_len < utf8_length(v->held[0]))
        return;
    put_character(w, v->held, v->held_len);
    v->held_len = 0;
}

size_t visible_put(struct visible *v, const void *data, size_t len, char *out)
{
    const unsigned char *in = data;
    struct writer w = {out};

    for (size_t i = 0; i < len; i++) {
        if (v->held_len == 0)
            ground(v, &w, in[i]);
        else if (v->held[0] == ESC)
            escape(v, &w, in[i]);
        else
            character(v, &w, in[i]);
    }
    return (size_t)(w.at - out);
}

size_t visible_end(struct visible *v, char *out)
{
    struct writer w = {out};

    give_up(v, &w);
    if (v->coloured) {
        memcpy(w.at, "\x1b[0m", 4);
        w.at += 4;
        v->coloured = false;
    }
    return (size_t)(w.at - out);
}
