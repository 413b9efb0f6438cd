/* SPDX-License-Identifier: Apache-2.0 */
/* ending - see ending.h. */
#include "src/core/ending.h"

#include <stdio.h>
#include <string.h>

#include "src/base/auto.h"

#define FIGURE_MAX 32

/* clang-format off */
static const struct ending {
    enum status status;
    const char *detail; /* NULL: none */
    const char *option, *other; /* either raises it; other NULL: just one */
    const char *text;   /* one %s: the value of the option's limit */
} endings[] = {
    {STATUS_TIMEOUT, "wall", "wall", NULL, "wall time of %s ran out"},
    {STATUS_TIMEOUT, "cpu", "cpu-time", NULL, "processor time of %s ran out"},
    {STATUS_OUTPUT, NULL, "output", NULL, "too much output for the limit of %s"},
    {STATUS_MEMORY, NULL, "mem", NULL, "the limit of %s was reached"},
    {STATUS_PROCESSES, NULL, "pids", NULL, "the limit of %s was reached"},
    {STATUS_DISK, NULL, "disk", "inodes", "scratch space of %s was full"},
};
/* clang-format on */

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const struct ending *ending_find(const struct result *r)
{
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (endings[i].status == r->status &&
            same(endings[i].detail, r->detail))
            return &endings[i];
    return NULL;
}

static void value_of(const struct limits *limits, const char *option,
                     char out[FIGURE_MAX])
{
    const struct limit_row *row = limit_find(option);

    snprintf(out, FIGURE_MAX, "?");
    if (row != NULL)
        limit_format(row, limits_get(limits, row), out, FIGURE_MAX);
}

/* " (peak 255M)" */
static void peak_of(const struct result *r, char out[FIGURE_MAX])
{
    uint64_t peak = r->peak_memory_bytes;

    out[0] = '\0';
    if (r->status == STATUS_MEMORY && peak != RESULT_UNKNOWN)
        snprintf(out, FIGURE_MAX, " (peak %lluM)",
                 (unsigned long long)((peak + (1u << 19)) >> 20));
}

static void by_limit(struct result *r, const struct limits *limits,
                     const struct ending *e)
{
    char value[FIGURE_MAX], other[FIGURE_MAX], peak[FIGURE_MAX], what[96];

    value_of(limits, e->option, value);
    peak_of(r, peak);
    if (e->other == NULL) {
        snprintf(what, sizeof(what), e->text, value);
        snprintf(r->message, sizeof(r->message), "%s%s; --%s raises it", what,
                 peak, e->option);
        return;
    }
    value_of(limits, e->other, other);
    snprintf(what, sizeof(what), "%s or %s files", value, other);
    snprintf(r->message, sizeof(r->message), e->text, what);
    snprintf(what, sizeof(what), "; --%s or --%s raises it", e->option,
             e->other);
    strncat(r->message, what, sizeof(r->message) - strlen(r->message) - 1);
}

void ending_explain(struct result *r, const struct limits *limits)
{
    const struct ending *e = ending_find(r);

    if (e != NULL)
        by_limit(r, limits, e);
    else if (r->status == STATUS_MEMORY)
        snprintf(r->message, sizeof(r->message),
                 "the host, or a control group around karzer, ran out of "
                 "memory; the run's own limit was not reached");
    else if (r->status == STATUS_KILLED)
        snprintf(r->message, sizeof(r->message),
                 "ended by the client or the operator");
    else if (r->status == STATUS_INTERNAL)
        snprintf(r->message, sizeof(r->message),
                 "the sandbox ended before it told how the program did");
}

bool ending_is(const struct result *r, const char *option)
{
    const struct ending *e = ending_find(r);

    return e != NULL && (same(e->option, option) || same(e->other, option));
}
