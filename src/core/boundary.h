/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary - the record of everything that crossed: JSON Lines, append-only,
 * one table of kinds (events.def), each line carrying the SHA-256 of the one
 * before. Written before the effect when it grants.
 *
 * Many processes may write at once: a write takes a lock on the file, reads
 * the last line's hash, appends one line. A line that cannot be written is an
 * error that the caller must treat as "nothing runs".
 */
#ifndef KARZER_CORE_BOUNDARY_H
#define KARZER_CORE_BOUNDARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/core/anchor.h"
#include "src/core/record_settings.h"

enum event_kind {
    EVENT_NONE = 0,
#define EVENT(id, name, fields, text) EVENT_##id,
#include "src/core/events.def"
#undef EVENT
    EVENT_COUNT
};

struct event_row {
    const char *name;   /* "run.granted" */
    const char *fields; /* "tier limits": the fields it may have, by name */
    const char *text;
};

extern const struct event_row event_rows[EVENT_COUNT];

struct boundary;

/* Opens or creates <dir>/boundary.jsonl, 0600 in a directory 0700 of ours. */
int boundary_open(struct boundary **out, const char *dir, struct err *err);
void boundary_close(struct boundary *b); /* NULL is fine */

/*
 * When a file is full: it becomes boundary-<first>.jsonl and the chain goes on
 * in a new one; full files are kept. And where anchors go: after each so many
 * lines and each full file. One that cannot be sent is an anchor.failed event
 * beside the record that was due; the run goes on.
 */
void boundary_settings(struct boundary *b, const struct record_settings *s);

/*
 * Appends one record. Takes `fields` (an object or NULL), also on failure; a
 * field that the row does not name is ERR_INTERNAL. `run_id` may be NULL. When
 * `copy` is an array, the event (kind, time, fields) is appended to it too.
 */
int boundary_write(struct boundary *b, enum event_kind kind, const char *run_id,
                   json_t *fields, json_t *copy, struct err *err);

struct boundary_filter {
    const char *run_id; /* NULL: any */
    const char *kind;   /* NULL: any; "net." matches a prefix that ends in . */
    const char *since;  /* RFC 3339, or "10m", "2h", "3d"; NULL: any */
};

/* `since` as microseconds since 1970. ERR_INVALID: not such a text. */
int boundary_since(const char *text, uint64_t *us, struct err *err);

/* Calls `each` per matching record, oldest first. -1 when it returns < 0, and
 * at the end, with ERR_INVALID, when a line was no record. */
int boundary_read(const char *dir, const struct boundary_filter *filter,
                  int (*each)(const json_t *record, void *ctx), void *ctx,
                  struct err *err);

struct boundary_sum {
    uint64_t lines;
    uint64_t torn;       /* ends that were torn and kept, record.torn */
    uint64_t unanchored; /* anchors that could not be sent, anchor.failed */
    uint64_t set_back; /* lines older than the one before: the clock was set */
};

/*
 * The chain: 0 when whole; -1 with the first bad line. A torn last line is bad,
 * and said to be torn. Each of `anchors` (sorted; NULL: none) must be a line of
 * it. `sum` may be NULL.
 */
int boundary_verify(const char *dir, const struct anchors *anchors,
                    struct boundary_sum *sum, struct err *err);

/* "N HASH" of the last line: to be kept elsewhere. */
int boundary_head(const char *dir, char *out, size_t size, struct err *err);

#endif
