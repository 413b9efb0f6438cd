/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options - one table of options for all commands; parser and help from it.
 *
 * Options may be written --name VALUE, --name=VALUE, and -c where there is a
 * letter. Nothing is abbreviated and nothing is guessed; what is not in the
 * table is an error that names the nearest row.
 */
#ifndef KARZER_CLI_OPTIONS_H
#define KARZER_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/cli/verbs.h"
#include "src/core/limits.h"

enum option_id {
    OPTION_NONE = 0,
    OPTION_LIMIT, /* a row of limits.def */
#define OPTION(id, letter, name, arg, verbs, text) OPTION_##id,
#include "src/cli/options.def"
#undef OPTION
    OPTION_COUNT
};

struct option_hit {
    enum option_id id;
    const struct limit_row *limit; /* with OPTION_LIMIT */
    const char *value;             /* NULL: the option takes none */
};

struct option_scan {
    enum verb_id verb;
    int argc;
    char **argv;
    int at;                     /* argv[at] is looked at next */
    bool dashes;                /* "--" was passed: no option follows */
    uint64_t seen, seen_limits; /* bit per enum option_id, per limit row */
};

/* argv[0] is the command's name. */
struct option_scan option_scan(enum verb_id verb, int argc, char **argv);

/* 1 and *hit, an option with a value at most once unless it is one to repeat;
 * 0: argv[at] is not an option, or at == argc (after "--", too);
 * -1: ERR_INVALID. The caller steps over what is not an option by at++. */
int option_next(struct option_scan *scan, struct option_hit *hit,
                struct err *err);

/* Does the command line say --json, whatever else is wrong with it? */
bool option_json(enum verb_id verb, int argc, char **argv);

/* -1, ERR_INVALID, when words are left: for commands that take none. */
int option_no_more(const struct option_scan *scan, struct err *err);

/* The whole of `karzer help VERB`, and all commands as a Markdown page. */
void option_help(FILE *to, enum verb_id verb);
void option_help_all(FILE *to);
void option_markdown(FILE *to);

/* The candidate nearest to `word`, or NULL when none is near. */
const char *option_nearest(const char *word, const char *const *candidates,
                           size_t count);

#endif
