/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vt - see vt.h. Called by show.c for exec -t, and by terminal.c, which undoes
 * what is left. The states are those of DEC's terminals (ECMA-48), but that
 * nothing is obeyed before it is whole and in a table.
 */
#include "src/cli/vt.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/cli/utf8.h"

#define ESC 0x1b
#define ANY 32767
#define NO_NUMBERS (-1)
#define NUMBERS_MAX 32
#define STRING_MAX (1u << 20) /* then what follows is text again */
#define OSC_CLIPBOARD 52
#define OSC_PALETTE_LEN 7 /* after "ESC ] P" */

/* What a string is, as far as its end depends on it. */
enum string_kind {
    STRING_ANY = 0,
    STRING_OSC,     /* its number is being read */
    STRING_RESET,   /* the Linux console's "ESC ] R" has no end */
    STRING_PALETTE, /* nor has "ESC ] P" and seven digits */
};

enum vt_left {
#define LEFT(id, undo) LEFT_##id,
#define MODE(id, prefix, number, usual) LEFT_##id,
#include "src/cli/vt.def"
    LEFT_NOTHING
};
_Static_assert(LEFT_NOTHING <= 64, "struct vt has a bit for each");

static const struct mode {
    enum vt_left left;
    char prefix;
    uint16_t number;
    char usual;
} modes[] = {
#define MODE(id, prefix, number, usual) {LEFT_##id, prefix, number, usual},
#include "src/cli/vt.def"
};

static const struct {
    enum vt_left left;
    const char *undo;
} others[] = {
#define LEFT(id, undo) {LEFT_##id, undo},
#include "src/cli/vt.def"
};

static const struct csi {
    char prefix, between, final;
    int most;
    enum vt_left left;
} csis[] = {
#define CSI(prefix, between, final, most, left)                                \
    {prefix, between, final, most, LEFT_##left},
#include "src/cli/vt.def"
};

static const struct escape {
    char between, final;
    enum vt_left left;
} escapes[] = {
#define ESCAPE(between, final, left) {between, final, LEFT_##left},
#include "src/cli/vt.def"
};

struct writer {
    char *at;
};

static void put(struct writer *w, unsigned char c)
{
    *w->at++ = (char)c;
}

static void put_text(struct writer *w, const void *text, size_t len)
{
    memcpy(w->at, text, len);
    w->at += len;
}

static void put_replacement(struct writer *w)
{
    put_text(w, "\xef\xbf\xbd", 3);
}

static void note(struct vt *v, enum vt_left left)
{
    if (left != LEFT_NOTHING)
        *v->left |= UINT64_C(1) << left;
}

static void forget(struct vt *v, enum vt_left left)
{
    if (left != LEFT_NOTHING)
        *v->left &= ~(UINT64_C(1) << left);
}

static void hold(struct vt *v, enum vt_state state, unsigned char b)
{
    v->state = state;
    v->held[v->held_len++] = b;
}

static void drop(struct vt *v)
{
    v->state = VT_GROUND;
    v->held_len = 0;
}

/* ---- text ---- */

static void ground(struct vt *v, struct writer *w, unsigned char b)
{
    static const char controls[] = "\a\b\t\n\v\f\r\x0e\x0f";

    if (b == ESC) {
        v->held_len = 0;
        hold(v, VT_ESCAPE, b);
    } else if (utf8_length(b) != 0) {
        v->held_len = 0;
        hold(v, VT_CHARACTER, b);
    } else if (b >= 0x80) {
        put_replacement(w);
    } else if (b >= 0x20 ? b != 0x7f : b != 0 && strchr(controls, b) != NULL) {
        put(w, b);
        if (b == 0x0e) /* SO: the other character set, until SI */
            note(v, LEFT_CHARSET);
    }
}

static void character(struct vt *v, struct writer *w, unsigned char b)
{
    if (!utf8_follows(v->held, v->held_len, b)) {
        drop(v);
        put_replacement(w);
        ground(v, w, b);
        return;
    }
    v->held[v->held_len++] = b;
    if (v->held_len < utf8_length(v->held[0]))
        return;
    if (utf8_hides(v->held, v->held_len))
        put_replacement(w);
    else
        put_text(w, v->held, v->held_len);
    drop(v);
}

/* ---- ESC [ ---- */

/* A whole control sequence, taken apart. */
struct sequence {
    char prefix, between, final;
    bool colon; /* numbers of numbers, as only colours have them */
    size_t count;
    int number[NUMBERS_MAX]; /* -1: left out */
};

/* Between "ESC [" and the final byte; false: not of the shape we know. */
static bool take_apart(const unsigned char *at, const unsigned char *end,
                       struct sequence *s)
{
    bool digits = false;

    *s = (struct sequence){.count = 1, .number = {-1}};
    if (at < end && *at >= '<' && *at <= '?')
        s->prefix = (char)*at++;
    for (; at < end && *at >= '0' && *at <= ';'; at++) {
        int *n = &s->number[s->count - 1];

        if (*at >= '0' && *at <= '9') {
            *n = (*n < 0 ? 0 : *n) * 10 + (*at - '0');
            if (*n > ANY)
                return false;
            digits = true;
            continue;
        }
        s->colon = s->colon || *at == ':';
        if (s->count == NUMBERS_MAX)
            return false;
        s->number[s->count++] = -1;
    }
    if (at < end && *at >= 0x20 && *at <= 0x2f)
        s->between = (char)*at++;
    if (s->count == 1 && !digits)
        s->count = 0;
    return at == end;
}

static const struct mode *mode_find(const struct sequence *s, size_t i)
{
    for (size_t k = 0; k < ARRAY_LEN(modes); k++)
        if (modes[k].prefix == s->prefix && modes[k].number == s->number[i])
            return &modes[k];
    return NULL;
}

static size_t number_text(unsigned n, char *out)
{
    char digits[8];
    size_t len = 0;

    do
        digits[len++] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    for (size_t i = 0; i < len; i++)
        out[i] = digits[len - 1 - i];
    return len;
}

static size_t mode_text(const struct mode *m, char final, char *out)
{
    size_t n = 0;

    out[n++] = ESC;
    out[n++] = '[';
    if (m->prefix != 0)
        out[n++] = m->prefix;
    n += number_text(m->number, out + n);
    out[n++] = final;
    return n;
}

/* One at a time, so that a list of modes is as long as those we know. */
static void set_modes(struct vt *v, struct writer *w, const struct sequence *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct mode *m = mode_find(s, i);

        if (m == NULL)
            continue;
        if (s->final == m->usual)
            forget(v, m->left);
        else
            note(v, m->left);
        w->at += mode_text(m, s->final, w->at);
    }
}

static bool is_within(const struct sequence *s, const struct csi *row)
{
    if (s->colon && row->final != 'm')
        return false;
    if (row->most == NO_NUMBERS)
        return s->count == 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->number[i] > row->most)
            return false;
    return true;
}

static void csi_end(struct vt *v, struct writer *w, unsigned char final)
{
    struct sequence s;

    if (!take_apart(v->held + 2, v->held + v->held_len, &s))
        return;
    s.final = (char) final;
    if ((final == 'h' || final == 'l') && s.between == 0 && !s.colon) {
        set_modes(v, w, &s);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(csis); i++) {
        const struct csi *row = &csis[i];

        if (row->prefix != s.prefix || row->between != s.between ||
            row->final != s.final || !is_within(&s, row))
            continue;
        put_text(w, v->held, v->held_len);
        put(w, final);
        note(v, row->left);
        return;
    }
}

static void csi(struct vt *v, struct writer *w, unsigned char b)
{
    if (b < 0x20 || b >= 0x7f) { /* it was cut off */
        drop(v);
        ground(v, w, b);
    } else if (b >= 0x40) {
        if (v->state == VT_CSI)
            csi_end(v, w, b);
        drop(v);
    } else if (v->held_len == VT_HELD_MAX) {
        v->state = VT_CSI_TOO_LONG;
    } else {
        v->held[v->held_len++] = b;
    }
}

/* ---- ESC ---- */

static void string_start(struct vt *v, unsigned char kind)
{
    drop(v);
    v->state = VT_STRING;
    v->kind = kind == ']' ? STRING_OSC : STRING_ANY;
    v->number = 0;
    v->string_len = 0;
}

static void escape_end(struct vt *v, struct writer *w, unsigned char final)
{
    char between = v->held_len > 1 ? (char)v->held[1] : 0;

    for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
        const struct escape *row = &escapes[i];

        if (row->between != between || row->final != (char) final)
            continue;
        put_text(w, v->held, v->held_len);
        put(w, final);
        note(v, row->left);
        return;
    }
}

static void escape(struct vt *v, struct writer *w, unsigned char b)
{
    if (b < 0x20 || b >= 0x7f) {
        drop(v);
        ground(v, w, b);
    } else if (b < 0x30) { /* one is held: no row has two */
        if (v->held_len < 3)
            v->held[v->held_len++] = b;
    } else if (v->held_len == 1 && b == '[') {
        hold(v, VT_CSI, b);
    } else if (v->held_len == 1 && strchr("]PX^_", b) != NULL) {
        string_start(v, b);
    } else {
        if (v->held_len < 3)
            escape_end(v, w, b);
        drop(v);
    }
}

/* ---- ESC ] and other strings ---- */

static void string_byte(struct vt *v, unsigned char b)
{
    size_t at = v->string_len++;

    if (v->kind != STRING_OSC)
        return;
    if (b >= '0' && b <= '9' && at < 8) {
        v->number = v->number * 10 + (b - '0');
        return;
    }
    v->kind = STRING_ANY;
    if (at == 0 && b == 'R')
        v->kind = STRING_RESET;
    else if (at == 0 && b == 'P')
        v->kind = STRING_PALETTE;
    else if (b == ';' && v->number == OSC_CLIPBOARD)
        v->clipboard++;
}

static bool string_is_over(const struct vt *v, unsigned char b)
{
    if (v->kind == STRING_RESET)
        return true;
    if (v->kind == STRING_PALETTE && v->string_len == 1 + OSC_PALETTE_LEN)
        return true;
    return v->string_len >= STRING_MAX || b == '\a' || b == 0x18 || b == 0x1a;
}

static void string(struct vt *v, struct writer *w, unsigned char b)
{
    if (b == ESC) {
        v->state = VT_STRING_ESCAPE;
    } else if (v->state == VT_STRING_ESCAPE && b != '\\') {
        v->held_len = 0; /* no end of a string, but a sequence of its own */
        hold(v, VT_ESCAPE, ESC);
        escape(v, w, b);
    } else if (v->state == VT_STRING_ESCAPE) {
        drop(v);
    } else {
        string_byte(v, b);
        if (string_is_over(v, b))
            drop(v);
    }
}

/* ---- all ---- */

size_t vt_put(struct vt *v, const void *data, size_t len, char *out)
{
    static void (*const steps[])(struct vt * v, struct writer * w,
                                 unsigned char b) = {
        [VT_GROUND] = ground,        [VT_CHARACTER] = character,
        [VT_ESCAPE] = escape,        [VT_CSI] = csi,
        [VT_CSI_TOO_LONG] = csi,     [VT_STRING] = string,
        [VT_STRING_ESCAPE] = string,
    };
    const unsigned char *in = data;
    struct writer w = {out};

    for (size_t i = 0; i < len; i++)
        steps[v->state](v, &w, in[i]);
    return (size_t)(w.at - out);
}

size_t vt_undo(uint64_t left, char out[VT_UNDO_MAX])
{
    size_t n = 0;

    for (unsigned bit = 0; bit < LEFT_NOTHING; bit++) {
        if ((left & (UINT64_C(1) << bit)) == 0)
            continue;
        for (size_t i = 0; i < ARRAY_LEN(modes); i++)
            if (modes[i].left == bit)
                n += mode_text(&modes[i], modes[i].usual, out + n);
        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            if (others[i].left == bit) {
                size_t len = strlen(others[i].undo);

                memcpy(out + n, others[i].undo, len);
                n += len;
            }
    }
    return n;
}
