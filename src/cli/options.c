/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options - see options.h: the parser. The help is printed by help.c from the
 * same rows.
 */
#include "src/cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/cli/rows.h"

#define ON(verb) (1u << VERB_##verb)

const struct option_row option_rows[] = {
#define OPTION(id, letter, name, arg, verbs, text)                             \
    {OPTION_##id, letter, name, arg, verbs, text},
#include "src/cli/options.def"
#undef OPTION
};
const size_t option_row_count = ARRAY_LEN(option_rows);

const struct verb verbs[VERB_COUNT] = {
#define VERB(id, name, run, usage, summary, notes)                             \
    {name, usage, summary, notes},
#include "src/cli/verbs.def"
#undef VERB
};

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

bool option_takes_limits(enum verb_id verb)
{
    return verb == VERB_RUN || verb == VERB_EXEC || verb == VERB_BWRAP;
}

const char *option_unit(enum limit_unit unit)
{
    switch (unit) {
    case LIMIT_SIZE:
        return "SIZE";
    case LIMIT_TIME:
        return "TIME";
    case LIMIT_CPUS:
        return "CPUS";
    case LIMIT_COUNT:
        return "N";
    }
    return "VALUE";
}

void option_limit_text(const struct limit_row *row,
                       char out[OPTION_LIMIT_TEXT_MAX])
{
    char def[32], min[32], max[32];

    limit_format(row, row->def, def, sizeof(def));
    limit_format(row, row->min, min, sizeof(min));
    limit_format(row, row->max, max, sizeof(max));
    snprintf(out, OPTION_LIMIT_TEXT_MAX, "%s (%s; %s to %s)", row->text, def,
             min, max);
}

const char option_exits[] =
    "exit status: the program's own; 2 the command line is wrong; 124 "
    "timeout;\n"
    "125 karzer could not run it; 126 found but not startable; 127 not found;\n"
    "137 memory, output or killed; 128+N ended by signal N.\n";
const char option_environment[] =
    "The program's environment is a PATH of the system's directories,\n"
    "HOME=/home/user, USER and LOGNAME user, SHELL=/bin/sh, LANG=C.UTF-8,\n"
    "TMPDIR=/tmp, and what --env adds.\n";

struct option_scan option_scan(enum verb_id verb, int argc, char **argv)
{
    return (struct option_scan){
        .verb = verb, .argc = argc, .argv = argv, .at = 1};
}

#define NAME_MAX_LEN 64 /* longer than any name in a table */

/* Steps from a to b: letters put in, left out, changed. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_LEN + 1];
    size_t n = strlen(b);

    if (n > NAME_MAX_LEN)
        return ~0u;
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        unsigned corner = row[0];

        row[0]++;
        for (size_t j = 0; j < n; j++) {
            unsigned change = corner + (a[i] != b[j]);
            unsigned one = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

            corner = row[j + 1];
            row[j + 1] = change < one ? change : one;
        }
    }
    return row[n];
}

const char *option_nearest(const char *word, const char *const *candidates,
                           size_t count)
{
    const char *best = NULL;
    unsigned best_distance = strlen(word) < 4 ? 2 : 3;

    if (strlen(word) > NAME_MAX_LEN)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(candidates[i]);
        unsigned d = n >= 3 && strncmp(word, candidates[i], n) == 0
                         ? 1 /* --memory for --mem */
                         : distance(word, candidates[i]);

        if (d < best_distance) {
            best_distance = d;
            best = candidates[i];
        }
    }
    return best;
}

/* Names that `verb` takes; for the hint in an error only. */
static const char *near_option(enum verb_id verb, const char *word)
{
    const char *names[ARRAY_LEN(option_rows) + 32];
    size_t n = 0;

    for (size_t i = 0; i < option_row_count; i++)
        if (option_rows[i].verbs & (1u << verb))
            names[n++] = option_rows[i].name;
    for (size_t i = 0; option_takes_limits(verb) && i < limit_row_count; i++)
        if (n < ARRAY_LEN(names))
            names[n++] = limit_rows[i].option;
    return option_nearest(word, names, n);
}

static int unknown(const struct option_scan *scan, const char *name, size_t len,
                   struct err *err)
{
    const char *verb = verbs[scan->verb].name;
    char word[NAME_MAX_LEN];
    const char *near;

    if (len >= sizeof(word))
        len = sizeof(word) - 1;
    memcpy(word, name, len);
    word[len] = '\0';
    near = near_option(scan->verb, word);
    if (near != NULL)
        return err_set(err, ERR_INVALID,
                       "--%s: no such option of %s; did you mean --%s?", word,
                       verb, near);
    return err_set(err, ERR_INVALID,
                   "--%s: no such option of %s; `karzer %s --help` lists them",
                   word, verb, verb);
}

/* The value of an option: `given`, else the next argument. `name` is as the
 * user wrote it, for the error. */
static int value_of(struct option_scan *scan, const char *name,
                    const char *given, const char *arg, struct option_hit *hit,
                    struct err *err)
{
    int len = (int)strcspn(name, "=");

    scan->at++;
    if (arg == NULL && given != NULL)
        return err_set(err, ERR_INVALID, "%.*s: takes no value", len, name);
    if (arg == NULL)
        return 1;
    if (given == NULL && scan->at < scan->argc)
        given = scan->argv[scan->at++];
    if (given == NULL)
        return err_set(err, ERR_INVALID, "%.*s: needs a value: %.*s %s", len,
                       name, len, name, arg);
    hit->value = given;
    return 1;
}

/* These may be said again; of any other the second would undo the first. */
static const enum option_id repeated[] = {OPTION_ENV, OPTION_IN, OPTION_OUT,
                                          OPTION_MAY_LACK};
_Static_assert(OPTION_COUNT <= 64, "struct option_scan has a bit for each");

bool option_repeats(enum option_id id)
{
    for (size_t i = 0; i < ARRAY_LEN(repeated); i++)
        if (repeated[i] == id)
            return true;
    return false;
}

static int once(struct option_scan *scan, const struct option_hit *hit,
                const char *name, struct err *err)
{
    uint64_t *seen = &scan->seen, bit = UINT64_C(1) << hit->id;

    if (hit->value == NULL)
        return 1; /* a flag says the same twice */
    if (option_repeats(hit->id))
        return 1;
    if (hit->id == OPTION_LIMIT) {
        seen = &scan->seen_limits;
        bit = UINT64_C(1) << ((hit->limit - limit_rows) & 63);
    }
    if (*seen & bit)
        return err_set(err, ERR_INVALID, "%.*s: given twice",
                       (int)strcspn(name, "="), name);
    *seen |= bit;
    return 1;
}

static bool same(const char *row, const char *name, size_t len)
{
    return strncmp(row, name, len) == 0 && row[len] == '\0';
}

static int long_option(struct option_scan *scan, const char *text,
                       struct option_hit *hit, struct err *err)
{
    const char *name = text + 2;
    size_t len = strcspn(name, "=");
    const char *given = name[len] == '=' ? name + len + 1 : NULL;

    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        if (!(row->verbs & (1u << scan->verb)) || !same(row->name, name, len))
            continue;
        *hit = (struct option_hit){.id = row->id};
        return value_of(scan, text, given, row->arg, hit, err);
    }
    for (size_t i = 0; option_takes_limits(scan->verb) && i < limit_row_count;
         i++) {
        if (!same(limit_rows[i].option, name, len))
            continue;
        *hit = (struct option_hit){OPTION_LIMIT, &limit_rows[i], NULL};
        return value_of(scan, text, given, option_unit(limit_rows[i].unit), hit,
                        err);
    }
    return unknown(scan, name, len, err);
}

static int letter_option(struct option_scan *scan, const char *text,
                         struct option_hit *hit, struct err *err)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        if (row->letter == 0 || row->letter != text[1] || text[2] != '\0' ||
            !(row->verbs & (1u << scan->verb)))
            continue;
        *hit = (struct option_hit){.id = row->id};
        return value_of(scan, text, NULL, row->arg, hit, err);
    }
    if (scan->verb == VERB_RUN)
        return err_set(err, ERR_INVALID,
                       "%.64s: no such option of run; if it is code, say -c "
                       "before it",
                       text);
    return err_set(err, ERR_INVALID,
                   "%.64s: no such option of %s; `karzer %s --help` lists them",
                   text, verbs[scan->verb].name, verbs[scan->verb].name);
}

int option_next(struct option_scan *scan, struct option_hit *hit,
                struct err *err)
{
    const char *text;
    int r;

    if (scan->dashes || scan->at >= scan->argc)
        return 0;
    text = scan->argv[scan->at];
    if (text[0] != '-' || text[1] == '\0')
        return 0;
    if (strcmp(text, "--") == 0) {
        scan->at++;
        scan->dashes = true;
        return 0;
    }
    r = text[1] == '-' ? long_option(scan, text, hit, err)
                       : letter_option(scan, text, hit, err);
    return r < 0 ? r : once(scan, hit, text, err);
}

bool option_json(enum verb_id verb, int argc, char **argv)
{
    struct option_scan scan = option_scan(verb, argc, argv);
    struct option_hit hit;

    while (scan.at < argc && !scan.dashes) {
        int at = scan.at;
        int r = option_next(&scan, &hit, NULL);

        if (r > 0 && hit.id == OPTION_JSON)
            return true;
        if (r == 0 && verb == VERB_EXEC)
            return false; /* the command starts */
        if (scan.at == at)
            scan.at++;
    }
    return false;
}

int option_no_more(const struct option_scan *scan, struct err *err)
{
    if (scan->at >= scan->argc)
        return 0;
    return err_set(err, ERR_INVALID,
                   "\"%.64s\": %s takes no words; `karzer %s --help` explains "
                   "it",
                   scan->argv[scan->at], verbs[scan->verb].name,
                   verbs[scan->verb].name);
}
