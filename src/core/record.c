/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - see record.h. Reading is strict and allocates nothing: a line is
 * what record_compose() would write, or it is not a record.
 */
#include "src/core/record.h"

#include <stdio.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/core/record_cut.h"

#define SELF_DIGITS 16u
#define SELF_KEY ",\"self\":\""
#define SELF_LEN (sizeof(SELF_KEY) - 1 + SELF_DIGITS + 2) /* "} */
#define HEAD_MAX 320u /* what is not fields: envelope, self, newline */

/* Appends `,"name":value` for each of `order`; how many in *count. */
static int put_fields(struct buf *out, const char *order, const json_t *fields,
                      size_t each_max, struct err *err)
{
    size_t seen = 0;

    while (*order != '\0') {
        size_t len = strcspn(order, " ");
        char name[64];
        const json_t *value;

        if (len >= sizeof(name))
            return err_set(err, ERR_INTERNAL, "record: a name in events.def");
        memcpy(name, order, len);
        name[len] = '\0';
        order += len + (order[len] == ' ');
        value = json_object_get(fields, name);
        if (value == NULL)
            continue;
        seen++;
        if (buf_fmt(out, err, ",\"%s\":", name) < 0 ||
            record_put_value(out, value, each_max, err) < 0)
            return -1;
    }
    if (seen != json_object_size(fields))
        return err_set(err, ERR_INTERNAL,
                       "record: a field that is not in events.def");
    return 0;
}

static int put_all_fields(struct buf *out, const char *order,
                          const json_t *fields, struct err *err)
{
    size_t count = json_object_size(fields);
    size_t start = out->len;
    struct err small = {0};

    if (count == 0)
        return 0;
    if (put_fields(out, order, fields, SIZE_MAX, &small) == 0)
        return 0;
    if (small.code != ERR_LIMIT)
        return err_set(err, small.code, "%s", small.text);
    out->len = start;
    return put_fields(out, order, fields,
                      (RECORD_LINE_MAX - HEAD_MAX) / count - 64, err);
}

/* A line's text so far is out->data[0..len): seals it. */
static int seal(struct buf *out, char hash[SHA256_HEX_SIZE], struct err *err)
{
    char self[SHA256_HEX_SIZE];
    struct sha256 all, part;
    size_t body = out->len;

    sha256_init(&all);
    sha256_add(&all, out->data, body);
    part = all;
    sha256_hex(&part, self);
    if (buf_fmt(out, err, SELF_KEY "%.*s\"}\n", (int)SELF_DIGITS, self) < 0)
        return -1;
    sha256_add(&all, out->data + body, out->len - body - 1);
    sha256_hex(&all, hash);
    return 0;
}

int record_compose(const struct record *head, const char *order,
                   const json_t *fields, struct buf *out,
                   char hash[SHA256_HEX_SIZE], struct err *err)
{
    AUTO(buf) struct buf line;
    const char *quote = head->run[0] == '\0' ? "" : "\"";

    buf_init(&line, RECORD_LINE_MAX - SELF_LEN - 1);
    if (buf_fmt(&line, err,
                "{\"seq\":%llu,\"time\":\"%s\",\"prev\":\"%s\",\"run\":%s%s%s,"
                "\"kind\":\"%s\"",
                (unsigned long long)head->seq, head->time, head->prev, quote,
                quote[0] == '\0' ? "null" : head->run, quote, head->kind) < 0 ||
        put_all_fields(&line, order, fields, err) < 0)
        return -1;
    line.cap = RECORD_LINE_MAX;
    if (seal(&line, hash, err) < 0)
        return -1;
    return buf_add(out, line.data, line.len, err);
}

/* A line being read. */
struct cursor {
    const char *at;
    const char *end;
};

static bool skip_text(struct cursor *c, const char *text)
{
    size_t len = strlen(text);

    if ((size_t)(c->end - c->at) < len || memcmp(c->at, text, len) != 0)
        return false;
    c->at += len;
    return true;
}

/* Copies characters of `set`, at least min and at most max. */
static bool take_set(struct cursor *c, const char *set, size_t min, size_t max,
                     char *out)
{
    size_t n = 0;

    while (n < max && c->at + n < c->end && c->at[n] != '\0' &&
           strchr(set, c->at[n]) != NULL)
        n++;
    if (n < min)
        return false;
    memcpy(out, c->at, n);
    out[n] = '\0';
    c->at += n;
    return true;
}

static bool take_number(struct cursor *c, uint64_t *out)
{
    char text[21];

    if (!take_set(c, "0123456789", 1, 19, text) || text[0] == '0')
        return false;
    *out = 0;
    for (const char *d = text; *d != '\0'; d++)
        *out = *out * 10 + (uint64_t)(*d - '0');
    return true;
}

static bool take_run(struct cursor *c, char run[ID_SIZE])
{
    run[0] = '\0';
    if (skip_text(c, "null"))
        return true;
    return skip_text(c, "\"") &&
           take_set(c, "0123456789abcdefghijklmnopqrstuvwxyz", ID_LEN, ID_LEN,
                    run) &&
           id_valid(run, ID_LEN) && skip_text(c, "\"");
}

static bool take_time(struct cursor *c, char out[RFC3339_SIZE])
{
    uint64_t us;

    return take_set(c, "0123456789-:.TZ", RFC3339_SIZE - 1, RFC3339_SIZE - 1,
                    out) &&
           rfc3339_parse(out, &us) == 0;
}

#define HEX "0123456789abcdef"

/* The envelope; where the fields begin stays in the cursor. */
static bool take_head(struct cursor *c, struct record *r)
{
    return skip_text(c, "{\"seq\":") && take_number(c, &r->seq) &&
           skip_text(c, ",\"time\":\"") && take_time(c, r->time) &&
           skip_text(c, "\",\"prev\":\"") &&
           take_set(c, HEX, SHA256_HEX_SIZE - 1, SHA256_HEX_SIZE - 1,
                    r->prev) &&
           skip_text(c, "\",\"run\":") && take_run(c, r->run) &&
           skip_text(c, ",\"kind\":\"") &&
           take_set(c, "abcdefghijklmnopqrstuvwxyz._", 1, RECORD_KIND_MAX,
                    r->kind) &&
           skip_text(c, "\"") && c->at < c->end;
}

/* The shape: envelope, something, self at the end. */
static bool take_shape(const char *line, size_t len, struct record *r,
                       char self[SELF_DIGITS + 1])
{
    struct cursor c = {line, line + len};
    struct cursor end = c;

    if (len >= RECORD_LINE_MAX || len < SELF_LEN)
        return false;
    end.at += len - SELF_LEN;
    return take_head(&c, r) && c.at <= end.at && skip_text(&end, SELF_KEY) &&
           take_set(&end, HEX, SELF_DIGITS, SELF_DIGITS, self) &&
           skip_text(&end, "\"}") && memchr(line, '\n', len) == NULL;
}

static bool self_holds(const char *line, size_t len, const char *self)
{
    char hash[SHA256_HEX_SIZE];

    sha256_of(line, len - SELF_LEN, hash);
    return memcmp(hash, self, SELF_DIGITS) == 0;
}

int record_parse(const char *line, size_t len, struct record *out)
{
    struct record r = {0};
    char self[SELF_DIGITS + 1];

    if (!take_shape(line, len, &r, self) || !self_holds(line, len, self))
        return -1;
    *out = r;
    return 0;
}

bool record_changed(const char *line, size_t len)
{
    struct record r;
    char self[SELF_DIGITS + 1];

    return take_shape(line, len, &r, self) && !self_holds(line, len, self);
}

int record_anchor_parse(const char *text, uint64_t *seq,
                        char hash[SHA256_HEX_SIZE])
{
    struct cursor c = {text, text + strlen(text)};
    uint64_t n = 0;
    char out[SHA256_HEX_SIZE];

    if (!(skip_text(&c, "0 ") || (take_number(&c, &n) && skip_text(&c, " "))) ||
        !take_set(&c, HEX, SHA256_HEX_SIZE - 1, SHA256_HEX_SIZE - 1, out) ||
        c.at != c.end)
        return -1;
    *seq = n;
    memcpy(hash, out, sizeof(out));
    return 0;
}
