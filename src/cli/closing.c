/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closing - see closing.h. The end of the run first, then limits that were hit
 * and survived, then files that were not copied.
 */
#include "src/cli/closing.h"

#include <stdio.h>
#include <string.h>

#include "src/base/auto.h"

#define FIGURE_MAX 32

/* "30s": the value of an option's limit in this run. */
static const char *limit_text(const struct limits *limits, const char *option,
                              char out[FIGURE_MAX])
{
    const struct limit_row *row = limit_find(option);

    snprintf(out, FIGURE_MAX, "?");
    if (row != NULL)
        limit_format(row, limits_get(limits, row), out, FIGURE_MAX);
    return out;
}

/* What ended a run. `text` has one %s for the limit's value. */
static const struct ended {
    enum status status;
    const char *detail; /* NULL: any */
    const char *option;
    const char *text;
} endings[] = {
    {STATUS_TIMEOUT, "wall", "wall", "wall time of %s ran out"},
    {STATUS_TIMEOUT, "cpu", "cpu-time", "processor time of %s ran out"},
    {STATUS_OUTPUT, NULL, "output", "too much output for the limit of %s"},
    {STATUS_MEMORY, NULL, "mem", "the limit of %s was reached"},
    {STATUS_PROCESSES, NULL, "pids", "the limit of %s was reached"},
    {STATUS_DISK, NULL, "disk", "scratch space of %s was full"},
};

static const struct ended *ending_find(const struct result *r)
{
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        const struct ended *e = &endings[i];

        if (e->status != r->status ||
            (r->status == STATUS_MEMORY && r->detail != NULL))
            continue; /* not for a limit of this run: its message says why */
        if (e->detail == NULL ||
            (r->detail != NULL && strcmp(e->detail, r->detail) == 0))
            return e;
    }
    return NULL;
}

static void peak_text(const struct result *r, char *out, size_t size)
{
    uint64_t peak = r->peak_memory_bytes;

    out[0] = '\0';
    if (r->status == STATUS_MEMORY && peak != RESULT_UNKNOWN)
        snprintf(out, size, " (peak %lluM)",
                 (unsigned long long)((peak + (1u << 19)) >> 20));
}

static int ending_line(const struct result *r, const struct limits *limits,
                       const struct ended *e, struct strs *lines,
                       struct err *err)
{
    const bool disk = e->status == STATUS_DISK;
    char value[FIGURE_MAX], files[FIGURE_MAX], peak[FIGURE_MAX], what[80];

    limit_text(limits, e->option, value);
    peak_text(r, peak, sizeof(peak));
    if (disk)
        return strs_addf(lines, err,
                         "disk: scratch space of %s or %s files was full; "
                         "--disk or --inodes raises it",
                         value, limit_text(limits, "inodes", files));
    snprintf(what, sizeof(what), e->text, value);
    return strs_addf(lines, err, "%s: %s%s; --%s raises it",
                     status_names[r->status], what, peak, e->option);
}

/* A field of an event, whether it stands in the record or in its "fields". */
static const json_t *field(const json_t *event, const char *name)
{
    const json_t *v = json_object_get(event, name);

    return v != NULL ? v
                     : json_object_get(json_object_get(event, "fields"), name);
}

static const char *text_field(const json_t *event, const char *name)
{
    const char *text = json_string_value(field(event, name));

    return text == NULL ? "" : text;
}

/* Is this why a file was not copied? Then its own line says it. */
static bool is_reason(const struct result *r, const char *message)
{
    for (size_t i = 0; i < json_array_size(r->boundary); i++) {
        const json_t *event = json_array_get(r->boundary, i);

        if (strcmp(text_field(event, "kind"), "file.refused") == 0 &&
            strcmp(text_field(event, "reason"), message) == 0)
            return true;
    }
    return false;
}

/* How it ended, when that is not the program's own doing. */
static int status_line(const struct result *r, const struct limits *limits,
                       struct strs *lines, struct err *err)
{
    const struct ended *e = ending_find(r);
    const char *signal;

    if (e != NULL)
        return ending_line(r, limits, e, lines, err);
    if (r->status == STATUS_ERROR && r->signal != 0) {
        signal = strsignal(r->signal);
        return strs_addf(lines, err, "error: ended by signal %d (%s)",
                         r->signal, signal == NULL ? "?" : signal);
    }
    if (r->message[0] != '\0' && !is_reason(r, r->message))
        return strs_addf(lines, err, "%s: %s", status_names[r->status],
                         r->message);
    if (r->status == STATUS_OK || r->status == STATUS_ERROR)
        return 0;
    return strs_add(lines, status_names[r->status], err);
}

static const char *without_dashes(const char *option)
{
    return option + strspn(option, "-");
}

static bool told(const struct result *r, const json_t *events, size_t before,
                 const char *option)
{
    const struct ended *e = ending_find(r);

    if (e != NULL && strcmp(e->option, option) == 0)
        return true;
    if (e != NULL && e->status == STATUS_DISK && strcmp(option, "inodes") == 0)
        return true;
    for (size_t i = 0; i < before; i++) {
        const json_t *event = json_array_get(events, i);

        if (strcmp(text_field(event, "kind"), "limit.hit") == 0 &&
            strcmp(without_dashes(text_field(event, "allow")), option) == 0)
            return true;
    }
    return false;
}

/* Was it the whole request that this file refused? Its end names the file. */
static bool ended_by(const struct result *r, const char *host)
{
    size_t n = strlen(host);

    return r->status == STATUS_DENIED && n > 0 &&
           strncmp(r->message, "--in ", 5) == 0 &&
           strncmp(r->message + 5, host, n) == 0 && r->message[5 + n] == ':';
}

static int refused_line(const struct result *r, const json_t *event,
                        struct strs *lines, struct err *err)
{
    static const char named[] = "--out "; /* the reason starts with the path */
    const char *path = text_field(event, "path");
    const char *host = text_field(event, "host");
    const char *reason = text_field(event, "reason");

    if (ended_by(r, host))
        return 0;
    if (strncmp(reason, named, strlen(named)) == 0)
        return strs_addf(lines, err, "file not copied: %s",
                         reason + strlen(named));
    return strs_addf(lines, err, "file not copied: %s: %s",
                     *path != '\0' ? path : host, reason);
}

/* Both fill the scratch, and which one did is not always known. */
static const char *raised_by(const char *option)
{
    return strcmp(option, "disk") == 0 || strcmp(option, "inodes") == 0
               ? "disk or --inodes"
               : option;
}

static int event_line(const struct result *r, size_t at, struct strs *lines,
                      struct err *err)
{
    const json_t *event = json_array_get(r->boundary, at);
    const char *kind = text_field(event, "kind");
    const char *option = without_dashes(text_field(event, "allow"));

    if (strcmp(kind, "anchor.failed") == 0)
        return strs_addf(lines, err, "the record's anchor was not kept: %s",
                         text_field(event, "reason"));
    if (strcmp(kind, "file.refused") == 0)
        return refused_line(r, event, lines, err);
    if (strcmp(kind, "limit.hit") != 0 || *option == '\0' ||
        told(r, r->boundary, at, option))
        return 0;
    return strs_addf(lines, err,
                     "%s: the limit of %s was reached; --%s raises it",
                     text_field(event, "limit"), text_field(event, "value"),
                     raised_by(option));
}

int closing_lines(const struct result *r, const struct limits *limits,
                  struct strs *lines, struct err *err)
{
    if (status_line(r, limits, lines, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(r->boundary); i++)
        if (event_line(r, i, lines, err) < 0)
            return -1;
    return 0;
}
