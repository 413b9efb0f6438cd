/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bwrap - bubblewrap's command line, as a request for a cell: what it lists is
 * all that the cell sees. What cannot be honoured is an error that names the
 * option; nothing is ignored.
 *
 * Called by cmd_bwrap.c. A command that looks like an option is none: options
 * end at the first word that is not one of them or a value, or at "--".
 */
#ifndef KARZER_CLI_BWRAP_H
#define KARZER_CLI_BWRAP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/cli/options.h"
#include "src/cli/run_args.h"

#define BWRAP_DATA_MAX (1u << 20) /* of --args */
#define BWRAP_WORDS_MAX 9000u     /* there */

struct bwrap {
    struct run_args *args;
    struct view *view; /* the request's */
    /* All of a descriptor, which is then closed; at most `out`'s cap. */
    int (*read_fd)(int fd, struct buf *out, struct err *err);

    struct strs env_steps; /* "=NAME=VALUE", "-NAME", "*": set, unset, clear */
    bool inherit_env;
    bool uid_said, gid_said;
    bool die; /* with the parent */
    bool help, version;
    int block_fd; /* -1: none */
    uint64_t limits_said;
    int perms; /* -1: not said */
    bool perms_used;
    bool in_args;
};

/* Options of argv[1..]; what is left is the command, scan->at its place. The
 * members above `env_steps` are the caller's. */
int bwrap_parse(struct bwrap *b, struct option_scan *scan, struct err *err);
void bwrap_fini(struct bwrap *b);

/* The environment of the program, from the caller's. */
int bwrap_env(const struct bwrap *b, char *const *mine, struct strs *out,
              struct err *err);

/* A decimal number of `row` up to `most`. */
struct bwrap_row;
int bwrap_number(const struct bwrap_row *row, const char *text, int most,
                 int *out, struct err *err);

/* "/a//b/./c/" is /a/b/c; ".." stays, and view_add refuses it. "" is "/". */
int bwrap_plain(const struct bwrap_row *row, const char *text,
                char out[PATH_MAX], struct err *err);

/* For struct view_row, which view_add copies and never writes to. */
static inline char *bwrap_text(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* Is the option of those that begin with ro-? */
bool bwrap_is_read_only(const struct bwrap_row *row);

/* The default of struct bwrap's read_fd. */
int bwrap_read_fd(int fd, struct buf *out, struct err *err);

struct bwrap_row {
    const char *name;
    int words;
    int (*take)(struct bwrap *b, const struct bwrap_row *row, char **words,
                struct err *err);
    const char *text; /* for --help; or why not */
    bool refused;
};
extern const struct bwrap_row bwrap_rows[];
extern const size_t bwrap_row_count;

#define TAKEN(name, words, take, text)                                         \
    int take(struct bwrap *b, const struct bwrap_row *row, char **words_,      \
             struct err *err);
#define ALWAYS(name)
#define REFUSED(name, why)
#include "src/cli/bwrap.def"
#undef TAKEN
#undef ALWAYS
#undef REFUSED

#endif
