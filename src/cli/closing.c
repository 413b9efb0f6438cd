/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closing - see closing.h. The end of the run first, then limits that were hit
 * and survived, files that were not copied, system calls that were refused.
 */
#include "src/cli/closing.h"

#include <stdio.h>
#include <string.h>

#include "src/core/ending.h"

#define CALLS_NAMED 3 /* kinds of refused calls */

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
static int status_line(const struct result *r, struct strs *lines,
                       struct err *err)
{
    const char *signal;

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
    if (ending_is(r, option))
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

/* How often it was refused: the last event of a kind has the number. 0: a later
 * one of the same kind says it. */
static json_int_t times(const json_t *events, size_t at)
{
    const json_t *event = json_array_get(events, at);

    for (size_t i = at + 1; i < json_array_size(events); i++) {
        const json_t *later = json_array_get(events, i);

        if (strcmp(text_field(later, "kind"), "call.denied") == 0 &&
            strcmp(text_field(later, "call"), text_field(event, "call")) == 0 &&
            strcmp(text_field(later, "errno"), text_field(event, "errno")) == 0)
            return 0;
    }
    return json_integer_value(field(event, "count"));
}

/* All refused system calls in one line; the first few by name. */
static int calls_line(const struct result *r, struct strs *lines,
                      struct err *err)
{
    char names[160] = "";
    size_t kinds = 0, at = 0;

    for (size_t i = 0; i < json_array_size(r->boundary); i++) {
        const json_t *event = json_array_get(r->boundary, i);
        json_int_t n = strcmp(text_field(event, "kind"), "call.denied") == 0
                           ? times(r->boundary, i)
                           : 0;

        if (n == 0 || kinds++ >= CALLS_NAMED)
            continue;
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%.24s",
                               at == 0 ? "" : ", ", text_field(event, "call"));
        if (n > 1)
            at += (size_t)snprintf(names + at, sizeof(names) - at,
                                   " %lld times", (long long)n);
    }
    if (kinds == 0)
        return 0;
    if (kinds > CALLS_NAMED)
        snprintf(names + at, sizeof(names) - at, " and %zu more",
                 kinds - CALLS_NAMED);
    return strs_addf(lines, err,
                     "refused system calls: %s; `karzer log --run %s` has more",
                     names, r->id);
}

int closing_lines(const struct result *r, struct strs *lines, struct err *err)
{
    if (status_line(r, lines, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(r->boundary); i++)
        if (event_line(r, i, lines, err) < 0)
            return -1;
    return calls_line(r, lines, err);
}
