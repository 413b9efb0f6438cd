/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output - what is kept of a stream: the head and the tail, within a cap, and
 * the count of all. JSON: text when valid UTF-8, else base64 with a flag.
 */
#ifndef KARZER_CORE_OUTPUT_H
#define KARZER_CORE_OUTPUT_H

#include <jansson.h>

#include "src/core/result.h"

void output_init(struct output *o, uint64_t cap);
void output_fini(struct output *o);

/* Counts and keeps. -1: no memory. */
int output_add(struct output *o, const char *data, size_t len);

/* Counts only: somebody else has it. */
static inline void output_count(struct output *o, size_t len)
{
    o->total += len;
}

/* The kept bytes, head then tail; free() it. */
char *output_kept(const struct output *o, size_t *len);

/* Sets NAME, NAME_encoding ("utf-8", "base64"), NAME_total_bytes,
 * NAME_kept_bytes and, when something is missing, NAME_gap_at. */
int output_json(const struct output *o, const char *name, json_t *object);

/* Bytes as JSON: a string, and whether it had to be base64. NULL: no memory. */
json_t *bytes_json(const char *data, size_t len, bool *base64);

/* Any text as a JSON string, for people: what is not UTF-8 becomes '?', and it
 * is cut at TEXT_JSON_MAX bytes. NULL: no memory. */
#define TEXT_JSON_MAX 4096u
json_t *text_json(const char *text);

#endif
