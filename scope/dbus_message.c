/* SPDX-License-Identifier: Apache-2.0 */
/* dbus_message - the bytes of messages; see dbus.h. Little-endian only, as both
 * ends are on one x86_64 machine. */
#include "scope/dbus.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/auto.h"

#define FIXED 16u /* of a header, with the length of its fields */
#define FIELD_ERROR 4
#define FIELD_REPLY 5

/* ---- writing ---- */

struct out {
    uint8_t *data;
    size_t len, size;
    bool full;
};

static void put(struct out *o, const void *data, size_t len)
{
    if (o->full || len > o->size - o->len) {
        o->full = true;
        return;
    }
    memcpy(o->data + o->len, data, len);
    o->len += len;
}

static void align(struct out *o, size_t to)
{
    static const uint8_t zero[8];

    put(o, zero, (to - o->len % to) % to);
}

static void put_u32(struct out *o, uint32_t v)
{
    align(o, 4);
    put(o, &v, sizeof(v));
}

static void put_string(struct out *o, const char *s)
{
    put_u32(o, (uint32_t)strlen(s));
    put(o, s, strlen(s) + 1);
}

static void put_signature(struct out *o, const char *s)
{
    uint8_t n = (uint8_t)strlen(s);

    put(o, &n, 1);
    put(o, s, n + 1u);
}

/* An array: its length is filled in by array_end(). */
static size_t array_begin(struct out *o, size_t element, size_t *start)
{
    size_t at;

    put_u32(o, 0);
    at = o->len - 4;
    align(o, element);
    *start = o->len;
    return at;
}

static void array_end(struct out *o, size_t at, size_t start)
{
    uint32_t n = (uint32_t)(o->len - start);

    if (!o->full)
        memcpy(o->data + at, &n, sizeof(n));
}

static void put_field(struct out *o, uint8_t code, const char *type,
                      const char *value)
{
    align(o, 8);
    put(o, &code, 1);
    put_signature(o, type);
    if (type[0] == 'g')
        put_signature(o, value);
    else
        put_string(o, value);
}

static void put_property(struct out *o, const char *name, const char *type)
{
    align(o, 8);
    put_string(o, name);
    put_signature(o, type);
}

/* ssa(sv)a(sa(sv)): name, mode, properties, no other units. */
static void put_body(struct out *o, const char *name, pid_t pid)
{
    size_t at, start, pids, first;

    put_string(o, name);
    put_string(o, "fail");
    at = array_begin(o, 8, &start);
    put_property(o, "Description", "s");
    put_string(o, "Cells of karzer");
    put_property(o, "Delegate", "b");
    put_u32(o, 1);
    put_property(o, "CollectMode", "s");
    put_string(o, "inactive-or-failed");
    put_property(o, "PIDs", "au");
    pids = array_begin(o, 4, &first);
    put_u32(o, (uint32_t)pid);
    array_end(o, pids, first);
    array_end(o, at, start);
    at = array_begin(o, 8, &start);
    array_end(o, at, start);
}

size_t dbus_scope_call(const char *name, pid_t pid, uint8_t *out, size_t size)
{
    static const uint8_t head[] = {'l', 1, 0, 1}; /* a call; version 1 */
    struct out o = {.data = out, .size = size};
    size_t at, start, body;
    uint32_t len;

    put(&o, head, sizeof(head));
    put_u32(&o, 0); /* of the body: below */
    put_u32(&o, 1); /* serial */
    at = array_begin(&o, 8, &start);
    put_field(&o, 1, "o", "/org/freedesktop/systemd1");
    put_field(&o, 2, "s", "org.freedesktop.systemd1.Manager");
    put_field(&o, 3, "s", "StartTransientUnit");
    put_field(&o, 6, "s", "org.freedesktop.systemd1");
    put_field(&o, 8, "g", "ssa(sv)a(sa(sv))");
    array_end(&o, at, start);
    align(&o, 8);
    body = o.len;
    put_body(&o, name, pid);
    if (o.full)
        return 0;
    len = (uint32_t)(o.len - body);
    memcpy(out + 4, &len, sizeof(len));
    return o.len;
}

/* ---- reading ---- */

struct in {
    const uint8_t *data; /* of the message: alignment counts from here */
    size_t at, end;
};

static int skip(struct in *in, size_t n)
{
    if (n > in->end - in->at)
        return -1;
    in->at += n;
    return 0;
}

static int in_align(struct in *in, size_t to)
{
    return skip(in, (to - in->at % to) % to);
}

static int get_u32(struct in *in, uint32_t *v)
{
    if (in_align(in, 4) < 0 || in->end - in->at < 4)
        return -1;
    memcpy(v, in->data + in->at, 4);
    in->at += 4;
    return 0;
}

/* Cut to what fits; only printable characters. */
static int get_string(struct in *in, char *out, size_t size)
{
    uint32_t n;
    size_t keep;

    if (get_u32(in, &n) < 0 || n >= in->end - in->at)
        return -1;
    keep = n < size ? n : size - 1;
    for (size_t i = 0; i < keep; i++) {
        uint8_t c = in->data[in->at + i];

        out[i] = (char)(c < 32 || c > 126 ? '?' : c);
    }
    out[keep] = '\0';
    return skip(in, n + 1u);
}

/* One (yv); of the types that headers have: o s g u. */
static int get_field(struct in *in, struct dbus_head *h)
{
    char text[128];
    uint8_t code, type;
    uint32_t n = 0;

    if (in_align(in, 8) < 0 || in->end - in->at < 4)
        return -1;
    code = in->data[in->at];
    type = in->data[in->at + 2];
    if (in->data[in->at + 1] != 1 || in->data[in->at + 3] != 0)
        return -1;
    in->at += 4;
    switch (type) {
    case 'u':
        if (get_u32(in, &n) < 0)
            return -1;
        if (code == FIELD_REPLY)
            h->reply = n;
        return 0;
    case 'g':
        return in->at == in->end ? -1 : skip(in, (size_t)in->data[in->at] + 2u);
    case 'o':
    case 's':
        if (get_string(in, text, sizeof(text)) < 0)
            return -1;
        if (code == FIELD_ERROR)
            memcpy(h->error, text, sizeof(text));
        return 0;
    }
    return -1;
}

int dbus_parse(const uint8_t *data, size_t len, struct dbus_head *out)
{
    struct dbus_head h = {0};
    struct in in = {.data = data, .at = FIXED};
    uint32_t body, fields;
    size_t head;

    if (len < FIXED)
        return 0;
    if (data[0] != 'l' || data[3] != 1)
        return -1;
    memcpy(&body, data + 4, 4);
    memcpy(&fields, data + 12, 4);
    if (body > DBUS_MESSAGE_MAX || fields > DBUS_MESSAGE_MAX)
        return -1;
    head = (FIXED + fields + 7u) & ~(size_t)7;
    h.size = head + body;
    if (h.size > DBUS_MESSAGE_MAX)
        return -1;
    if (len < h.size)
        return 0;
    h.type = data[1];
    in.end = FIXED + fields;
    while (in.at < in.end)
        if (get_field(&in, &h) < 0)
            return -1;
    in.at = head;
    in.end = h.size;
    if (h.type == 3 && body > 0)
        get_string(&in, h.text, sizeof(h.text));
    *out = h;
    return 1;
}
