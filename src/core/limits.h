/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits - what a run may use; units, defaults and bounds from limits.def.
 */
#ifndef KARZER_CORE_LIMITS_H
#define KARZER_CORE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

struct limits {
#define LIMIT(field, option, unit, def, min, max, text) uint64_t field;
#include "src/core/limits.def"
#undef LIMIT
};

enum limit_unit { LIMIT_SIZE, LIMIT_TIME, LIMIT_CPUS, LIMIT_COUNT };

struct limit_row {
    const char *field;  /* "mem_bytes": the JSON name */
    const char *option; /* "mem" */
    enum limit_unit unit;
    size_t offset; /* in struct limits */
    uint64_t def, min, max;
    const char *text;
};

extern const struct limit_row limit_rows[];
extern const size_t limit_row_count;

struct limits limits_default(void);

/* By option name ("mem"); NULL: no such limit. */
const struct limit_row *limit_find(const char *option);

/* "256M", "10s", "1.5", "64" by the row's unit. ERR_INVALID with what was
 * expected, and the bounds. */
int limits_parse(struct limits *l, const struct limit_row *row,
                 const char *text, struct err *err);

/* A value already in the field's unit. ERR_INVALID outside the bounds. */
int limits_set(struct limits *l, const struct limit_row *row, uint64_t value,
               struct err *err);

uint64_t limits_get(const struct limits *l, const struct limit_row *row);

/* "256M", "10s", "1.5": as a person would write it. */
void limit_format(const struct limit_row *row, uint64_t value, char *out,
                  size_t size);

#endif
