/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - one line of the boundary record: making one and reading one.
 *
 * {"seq":12,"time":"...","prev":"<64 hex>","run":"<id>"|null,"kind":"...",
 *  <fields in the order of events.def>,"self":"<16 hex>"}
 *
 * `prev` is the SHA-256 of the line before, without its newline. `self` is the
 * head of the SHA-256 of all before `,"self"`: it says which line was changed,
 * and that the last one was. Pure ASCII, so that a line is safe on a terminal.
 */
#ifndef KARZER_CORE_RECORD_H
#define KARZER_CORE_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/id.h"
#include "src/base/rfc3339.h"
#include "src/base/sha256.h"

#define RECORD_LINE_MAX (64u << 10) /* with its newline */
#define RECORD_KIND_MAX 32u
#define RECORD_GENESIS                                                         \
    "0000000000000000000000000000000000000000000000000000000000000000"

/* What every line begins with. */
struct record {
    uint64_t seq; /* from 1 */
    char time[RFC3339_SIZE];
    char prev[SHA256_HEX_SIZE];
    char run[ID_SIZE]; /* "": null */
    char kind[RECORD_KIND_MAX + 1];
};

/*
 * Appends a line with its newline. `fields` is an object or NULL; `order` names
 * the fields that it may have, between spaces (ERR_INTERNAL for another). What
 * does not fit a line is cut, with a mark that says how much. `hash` gets the
 * line's.
 */
int record_compose(const struct record *head, const char *order,
                   const json_t *fields, struct buf *out,
                   char hash[SHA256_HEX_SIZE], struct err *err);

/* Reads a line (no newline). -1: it is none, or was changed since. */
int record_parse(const char *line, size_t len, struct record *out);

/* The shape of a record, but `self` says that its bytes were changed. */
bool record_changed(const char *line, size_t len);

/* "N HASH" of `karzer log head`. -1: another text. */
int record_anchor_parse(const char *text, uint64_t *seq,
                        char hash[SHA256_HEX_SIZE]);

#endif
