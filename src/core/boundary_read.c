/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary_read - the record's readers (boundary.h): what matches a filter, is
 * the chain whole, where does it end. They take no longer lock than the moment
 * in which the size is read, and never change anything.
 */
#include "src/core/boundary.h"

#include <stdio.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/core/record.h"
#include "src/core/record_file.h"

struct reading {
    const struct boundary_filter *filter;
    uint64_t since_us;
    int (*each)(const json_t *record, void *ctx);
    void *ctx;
    uint64_t bad;                      /* lines that are no records */
    char where[RECORD_NAME_SIZE + 24]; /* the first of them */
};

static bool kind_matches(const char *kind, const char *want)
{
    size_t len = strlen(want);

    if (len > 0 && want[len - 1] == '.')
        return strncmp(kind, want, len) == 0;
    return strcmp(kind, want) == 0;
}

static bool matches(const struct reading *r, const struct record *record)
{
    const struct boundary_filter *f = r->filter;
    uint64_t us = 0;

    if (f == NULL)
        return true;
    if (f->run_id != NULL && strcmp(record->run, f->run_id) != 0)
        return false;
    if (f->kind != NULL && !kind_matches(record->kind, f->kind))
        return false;
    return f->since == NULL ||
           (rfc3339_parse(record->time, &us) == 0 && us >= r->since_us);
}

static int read_line(const struct record_line *line, void *ctx, struct err *err)
{
    struct reading *r = ctx;
    struct record record;
    json_t *json;
    int rc;

    if (line->ended && record_parse(line->text, line->len, &record) == 0) {
        if (!matches(r, &record))
            return 0;
        json = json_loadb(line->text, line->len, JSON_ALLOW_NUL, NULL);
        if (json != NULL) {
            rc = r->each(json, r->ctx);
            json_decref(json);
            return rc < 0 ? err_set(err, ERR_HOST, "stopped by the reader") : 0;
        }
    }
    if (r->bad++ == 0)
        snprintf(r->where, sizeof(r->where), "%s:%llu", line->file,
                 (unsigned long long)line->number);
    return 0;
}

int boundary_since(const char *text, uint64_t *us, struct err *err)
{
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    uint64_t now = rfc3339_now();
    uint64_t n = 0;
    size_t i = 0;

    if (rfc3339_parse(text, us) == 0)
        return 0;
    for (; i < 9 && text[i] >= '0' && text[i] <= '9'; i++)
        n = n * 10 + (uint64_t)(text[i] - '0');
    for (size_t k = 0; i > 0 && k < ARRAY_LEN(units); k++) {
        uint64_t ago = n * units[k].seconds * 1000000u;

        if (text[i] != units[k].unit || text[i + 1] != '\0')
            continue;
        *us = ago < now ? now - ago : 0;
        return 0;
    }
    return err_set(err, ERR_INVALID,
                   "\"%.64s\" is not a time such as 10m, 2h, 3d, 2026-10-01 or "
                   "2026-10-01T12:00:00Z",
                   text);
}

int boundary_read(const char *dir, const struct boundary_filter *filter,
                  int (*each)(const json_t *record, void *ctx), void *ctx,
                  struct err *err)
{
    struct reading r = {.filter = filter, .each = each, .ctx = ctx};

    if (filter != NULL && filter->since != NULL &&
        boundary_since(filter->since, &r.since_us, err) < 0)
        return -1;
    if (record_walk(dir, read_line, &r, err) < 0)
        return err_wrap(err, "boundary record");
    if (r.bad > 0)
        return err_set(err, ERR_INVALID,
                       "boundary record: %s is not a record, or was changed "
                       "(%llu such lines): see `karzer log verify`",
                       r.where, (unsigned long long)r.bad);
    return 0;
}

struct checking {
    uint64_t seq; /* of the last good record */
    char hash[SHA256_HEX_SIZE];
    char time[RFC3339_SIZE];
    const struct anchor *anchor; /* the next one, up to `anchors_end` */
    const struct anchor *anchors_end;
    struct boundary_sum sum;
};

static int fault(const struct record_line *line, struct err *err,
                 const char *what)
{
    return err_set(err, ERR_INVALID, "%s:%llu: %s", line->file,
                   (unsigned long long)line->number, what);
}

static int bad_line(const struct record_line *line, struct err *err)
{
    bool fits = line->len < RECORD_LINE_MAX;

    if (!line->ended && fits)
        return fault(line, err,
                     "torn: the last line has no end (a crash or a full disk; "
                     "the next run keeps it in a record.torn event)");
    if (fits && record_changed(line->text, line->len))
        return fault(line, err, "this line was changed");
    return fault(line, err, "this line is not a record of karzer");
}

static int bad_place(const struct record_line *line, const struct record *r,
                     uint64_t want, struct err *err)
{
    if (r->seq == want)
        return fault(line, err,
                     "does not follow the line before it: that one was "
                     "rewritten, or this one comes from another record");
    return err_set(err, ERR_INVALID,
                   "%s:%llu: record %llu stands where record %llu belongs: "
                   "lines were removed, inserted or reordered",
                   line->file, (unsigned long long)line->number,
                   (unsigned long long)r->seq, (unsigned long long)want);
}

/* The anchors of this line. */
static int check_anchors(struct checking *c, struct err *err)
{
    for (; c->anchor < c->anchors_end && c->anchor->seq == c->seq; c->anchor++)
        if (strcmp(c->hash, c->anchor->hash) != 0)
            return err_set(err, ERR_INVALID,
                           "record %llu is not the one of the anchor: the "
                           "record was rewritten",
                           (unsigned long long)c->seq);
    return 0;
}

static void count_line(struct checking *c, const struct record *r)
{
    struct boundary_sum *sum = &c->sum;

    sum->lines++;
    sum->torn += strcmp(r->kind, event_rows[EVENT_RECORD_TORN].name) == 0;
    sum->unanchored +=
        strcmp(r->kind, event_rows[EVENT_ANCHOR_FAILED].name) == 0;
    sum->set_back += strcmp(r->time, c->time) < 0; /* of one length, in UTC */
    memcpy(c->time, r->time, sizeof(c->time));
}

static int check_line(const struct record_line *line, void *ctx,
                      struct err *err)
{
    struct checking *c = ctx;
    struct record r;

    if (!line->ended || record_parse(line->text, line->len, &r) < 0)
        return bad_line(line, err);
    if (r.seq != c->seq + 1 || strcmp(r.prev, c->hash) != 0)
        return bad_place(line, &r, c->seq + 1, err);
    c->seq = r.seq;
    sha256_of(line->text, line->len, c->hash);
    count_line(c, &r);
    return check_anchors(c, err);
}

int boundary_verify(const char *dir, const struct anchors *anchors,
                    struct boundary_sum *sum, struct err *err)
{
    struct checking c = {.hash = RECORD_GENESIS};

    if (anchors != NULL && anchors->len > 0) {
        c.anchor = anchors->at;
        c.anchors_end = anchors->at + anchors->len;
    }
    if (check_anchors(&c, err) < 0 || record_walk(dir, check_line, &c, err) < 0)
        return err_wrap(err, "boundary record");
    if (c.anchor < c.anchors_end)
        return err_set(err, ERR_INVALID,
                       "boundary record: ends with record %llu, the anchor is "
                       "of record %llu: its end was cut off",
                       (unsigned long long)c.seq,
                       (unsigned long long)c.anchors_end[-1].seq);
    if (sum != NULL)
        *sum = c.sum;
    return 0;
}

int boundary_head(const char *dir, char *out, size_t size, struct err *err)
{
    struct record_tail t;

    if (record_end(dir, &t, err) < 0)
        return err_wrap(err, "boundary record");
    snprintf(out, size, "%llu %s", (unsigned long long)t.seq, t.hash);
    return 0;
}
