/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits - see limits.h: from text to numbers and back, by one table.
 *
 * Pure. Never guesses: no sign, no space, no hex, no unit that the row does
 * not have, nothing outside the row's bounds.
 */
#include "src/core/limits.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/base/auto.h"

const struct limit_row limit_rows[] = {
#define LIMIT(field, option, unit, def, min, max, text)                        \
    {#field, option, LIMIT_##unit, offsetof(struct limits, field),             \
     def,    min,    max,          text},
#include "src/core/limits.def"
#undef LIMIT
};
const size_t limit_row_count = ARRAY_LEN(limit_rows);

struct suffix {
    const char *text;
    uint64_t scale;
    bool decimals; /* written "1.5G", but never "1.5m" for 90 s */
};

/* Largest first; what a number without a suffix means is in struct unit. */
static const struct suffix sizes[] = {
    {"T", UINT64_C(1) << 40, true},
    {"G", UINT64_C(1) << 30, true},
    {"M", UINT64_C(1) << 20, true},
    {"K", UINT64_C(1) << 10, true},
    {"t", UINT64_C(1) << 40, true},
    {"g", UINT64_C(1) << 30, true},
    {"m", UINT64_C(1) << 20, true},
    {"k", UINT64_C(1) << 10, true},
    {NULL, 0, false},
};
static const struct suffix times[] = {
    {"h", 3600000, false}, {"m", 60000, false}, {"s", 1000, true},
    {"ms", 1, false},      {NULL, 0, false},
};
static const struct suffix none[] = {{NULL, 0, false}};

struct unit {
    const char *what; /* "is not ..." */
    const struct suffix *suffixes;
    uint64_t plain; /* scale of a number without a suffix */
    bool whole;     /* no decimals at all */
};

static const struct unit units[] = {
    [LIMIT_SIZE] = {"a size such as 256M", sizes, 1, false},
    [LIMIT_TIME] = {"a time such as 10s or 500ms", times, 1000, false},
    [LIMIT_CPUS] = {"a number of processors such as 1 or 0.5", none, 1000,
                    false},
    [LIMIT_COUNT] = {"a whole number", none, 1, true},
};

struct limits limits_default(void)
{
    return (struct limits){
#define LIMIT(field, option, unit, def, min, max, text) .field = def,
#include "src/core/limits.def"
#undef LIMIT
    };
}

const struct limit_row *limit_find(const char *option)
{
    for (size_t i = 0; i < limit_row_count; i++)
        if (strcmp(limit_rows[i].option, option) == 0)
            return &limit_rows[i];
    return NULL;
}

uint64_t limits_get(const struct limits *l, const struct limit_row *row)
{
    uint64_t value;

    memcpy(&value, (const char *)l + row->offset, sizeof(value));
    return value;
}

static void store(struct limits *l, const struct limit_row *row, uint64_t value)
{
    memcpy((char *)l + row->offset, &value, sizeof(value));
}

#define BOUNDS_MAX 80

/* "8M to 1T" */
static const char *bounds(const struct limit_row *row, char out[BOUNDS_MAX])
{
    char min[32];
    char max[32];

    limit_format(row, row->min, min, sizeof(min));
    limit_format(row, row->max, max, sizeof(max));
    snprintf(out, BOUNDS_MAX, "%s to %s", min, max);
    return out;
}

int limits_set(struct limits *l, const struct limit_row *row, uint64_t value,
               struct err *err)
{
    char text[BOUNDS_MAX];

    if (value < row->min || value > row->max)
        return err_set(err, ERR_INVALID, "%s: %llu is outside %s", row->field,
                       (unsigned long long)value, bounds(row, text));
    store(l, row, value);
    return 0;
}

/* Digits at *at into *value; how many, or -1 past 64 bits. */
static int digits(const char **at, uint64_t *value)
{
    int n = 0;

    *value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++, n++)
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
            return -1;
    return n;
}

#define DECIMALS_MAX 6 /* a million times the largest scale fits 64 bits */

/* "1", "0.5": the part behind the point in millionths. */
static int number(const char **at, bool whole, uint64_t *n,
                  uint64_t *millionths)
{
    int count = digits(at, n);

    *millionths = 0;
    if (count <= 0)
        return -1;
    if (**at != '.')
        return 0;
    (*at)++;
    count = whole ? -1 : digits(at, millionths);
    if (count <= 0 || count > DECIMALS_MAX)
        return -1;
    for (; count < DECIMALS_MAX; count++)
        *millionths *= 10;
    return 0;
}

/* What `text` after the number stands for; 0: nothing of this unit. */
static uint64_t scale_of(const struct unit *unit, const char *text)
{
    if (*text == '\0')
        return unit->plain;
    for (const struct suffix *s = unit->suffixes; s->text != NULL; s++)
        if (strcmp(s->text, text) == 0)
            return s->scale;
    return 0;
}

int limits_parse(struct limits *l, const struct limit_row *row,
                 const char *text, struct err *err)
{
    const struct unit *unit = &units[row->unit];
    const char *at = text;
    uint64_t scale, n, millionths, value;
    char range[BOUNDS_MAX];
    bool ok = number(&at, unit->whole, &n, &millionths) == 0;

    scale = ok ? scale_of(unit, at) : 0;
    if (scale == 0 || (scale == 1 && millionths != 0))
        return err_set(err, ERR_INVALID, "--%s: \"%.64s\" is not %s (%s)",
                       row->option, text, unit->what, bounds(row, range));
    if (__builtin_mul_overflow(n, scale, &value) ||
        __builtin_add_overflow(value, millionths * scale / 1000000u, &value) ||
        value < row->min || value > row->max)
        return err_set(err, ERR_INVALID, "--%s: %.64s is outside %s",
                       row->option, text, bounds(row, range));
    store(l, row, value);
    return 0;
}

/* "1.5" for 1500 thousandths. */
static void put_thousandths(uint64_t n, const char *suffix, char *out,
                            size_t size)
{
    char decimals[8];
    size_t len = 4;

    snprintf(decimals, sizeof(decimals), ".%03u", (unsigned)(n % 1000u));
    while (len > 1 && decimals[len - 1] == '0')
        len--;
    snprintf(out, size, "%llu%.*s%s", (unsigned long long)(n / 1000u),
             len > 1 ? (int)len : 0, decimals, suffix);
}

void limit_format(const struct limit_row *row, uint64_t value, char *out,
                  size_t size)
{
    const struct unit *unit = &units[row->unit];

    if (row->unit == LIMIT_CPUS) {
        put_thousandths(value, "", out, size);
        return;
    }
    for (const struct suffix *s = unit->suffixes; s->text != NULL; s++) {
        uint64_t thousandths;

        if (s->scale == 0 || value < s->scale ||
            __builtin_mul_overflow(value, 1000u, &thousandths))
            continue;
        if (value % s->scale == 0 ||
            (s->decimals && thousandths % s->scale == 0)) {
            put_thousandths(thousandths / s->scale, s->text, out, size);
            return;
        }
    }
    snprintf(out, size, "%llu", (unsigned long long)value);
}
