/* SPDX-License-Identifier: Apache-2.0 */
/* record_cut - see record_cut.h. The shape of a value survives the cut. */
#include "src/core/record_cut.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"

#define DUMP (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)
#define MARK_MAX 48u /* "... (18446744073709551615 more bytes)" in quotes */
#define KEY_MAX 128u
#define DEPTH_MAX 8

/* The first error is for good: jansson goes on after a key that failed. */
struct sink {
    struct buf *out;
    struct err *err;
};

static int sink_add(const char *data, size_t len, void *ctx)
{
    struct sink *s = ctx;

    return s->err->code != ERR_NONE ? -1 : buf_add(s->out, data, len, s->err);
}

static int put_whole(struct buf *out, const json_t *value, struct err *err)
{
    struct err inner = {0};
    struct sink s = {out, &inner};

    if (json_dump_callback(value, sink_add, &s, DUMP) == 0 &&
        inner.code == ERR_NONE)
        return 0;
    if (inner.code == ERR_NONE)
        return err_set(err, ERR_HOST, "record: out of memory");
    return err_set(err, inner.code, "record: %s", inner.text);
}

static size_t cost_of(const json_t *value)
{
    return json_dumpb(value, NULL, 0, DUMP);
}

/* Bytes of the UTF-8 sequence that starts with c, and of its JSON escape. */
static size_t sequence(unsigned char c, size_t *cost)
{
    *cost = c < 0x20 || c == '"' || c == '\\' ? 6 : 1;
    if (c < 0x80)
        return 1;
    *cost = c >= 0xf0 ? 12 : 6;
    return c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
}

static int put_string(struct buf *out, const json_t *value, size_t budget,
                      struct err *err)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    size_t keep = 0;
    size_t spent = MARK_MAX;
    AUTO(mem) char *copy = NULL;
    json_t *cut;
    int rc;

    for (size_t n, cost; keep < len; keep += n, spent += cost) {
        n = sequence((unsigned char)text[keep], &cost);
        if (spent + cost > budget || keep + n > len)
            break;
    }
    copy = malloc(keep + MARK_MAX);
    if (copy == NULL)
        return err_set(err, ERR_HOST, "record: out of memory");
    memcpy(copy, text, keep);
    len = keep + (size_t)snprintf(copy + keep, MARK_MAX, "... (%zu more bytes)",
                                  len - keep);
    cut = json_stringn(copy, len);
    rc = put_whole(out, cut, err);
    json_decref(cut);
    return rc;
}

static int put_cut(struct buf *out, const json_t *value, size_t budget,
                   int depth, struct err *err);

/* One element; 1: the budget is spent, and a mark belongs after it. */
static int put_element(struct buf *out, const json_t *value, size_t left,
                       int depth, struct err *err)
{
    if (cost_of(value) + MARK_MAX <= left)
        return put_whole(out, value, err);
    return put_cut(out, value, left - MARK_MAX, depth, err) < 0 ? -1 : 1;
}

static int put_array(struct buf *out, const json_t *value, size_t budget,
                     int depth, struct err *err)
{
    size_t start = out->len;
    size_t count = json_array_size(value);
    size_t i = 0;
    int rc = 0;

    if (buf_str(out, "[", err) < 0)
        return -1;
    while (i < count && rc == 0) {
        size_t left = budget - (out->len - start);

        if (left > budget || left < 4 * MARK_MAX)
            break;
        if (i > 0 && buf_str(out, ",", err) < 0)
            return -1;
        rc = put_element(out, json_array_get(value, i++), left, depth + 1, err);
    }
    if (rc < 0)
        return -1;
    if (i < count && buf_fmt(out, err, "%s\"... (%zu more)\"",
                             i == 0 ? "" : ",", count - i) < 0)
        return -1;
    return buf_str(out, "]", err);
}

static int put_key(struct buf *out, const char *key, bool first,
                   struct err *err)
{
    json_t *text = json_string(key);
    int rc = -1;

    if (text == NULL)
        return err_set(err, ERR_HOST, "record: out of memory");
    if (first || buf_str(out, ",", err) == 0)
        rc = put_whole(out, text, err);
    json_decref(text);
    return rc < 0 ? -1 : buf_str(out, ":", err);
}

static int put_object(struct buf *out, const json_t *value, size_t budget,
                      int depth, struct err *err)
{
    void *at = json_object_iter((json_t *)value);
    size_t start = out->len;
    size_t done = 0;
    int rc = 0;

    if (buf_str(out, "{", err) < 0)
        return -1;
    for (; at != NULL && rc == 0;
         at = json_object_iter_next((json_t *)value, at), done++) {
        const char *key = json_object_iter_key(at);
        size_t used = out->len - start + 6 * strlen(key);

        if (strlen(key) > KEY_MAX || used + 4 * MARK_MAX > budget)
            break;
        if (put_key(out, key, done == 0, err) < 0)
            return -1;
        rc = put_element(out, json_object_iter_value(at), budget - used,
                         depth + 1, err);
    }
    if (rc < 0)
        return -1;
    if (at != NULL &&
        buf_fmt(out, err, "%s\"...\":\"%zu more\"", done == 0 ? "" : ",",
                json_object_size(value) - done) < 0)
        return -1;
    return buf_str(out, "}", err);
}

static int put_cut(struct buf *out, const json_t *value, size_t budget,
                   int depth, struct err *err)
{
    if (depth > DEPTH_MAX)
        return buf_str(out, "\"...\"", err);
    if (json_is_string(value))
        return put_string(out, value, budget, err);
    if (json_is_array(value))
        return put_array(out, value, budget, depth, err);
    if (json_is_object(value))
        return put_object(out, value, budget, depth, err);
    return put_whole(out, value, err);
}

int record_put_value(struct buf *out, const json_t *value, size_t budget,
                     struct err *err)
{
    if (budget == SIZE_MAX || cost_of(value) <= budget)
        return put_whole(out, value, err);
    return put_cut(out, value, budget, 0, err);
}
