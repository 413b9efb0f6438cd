/* SPDX-License-Identifier: Apache-2.0 */
/*
 * language - the table of languages (languages.def), and which one a block of
 * code is in. Used by the command line, request.c and policy.c; pure.
 */
#ifndef KARZER_CORE_LANGUAGE_H
#define KARZER_CORE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/strs.h"

struct language {
    const char *name;
    const char *program;     /* looked up in the cell's PATH */
    const char *package;     /* of Debian */
    const char *suffixes;    /* words */
    const char *shebangs;    /* words */
    const char *tree;        /* pattern below an interpreter's tree */
    bool nul;                /* code may hold NUL bytes */
    const char *const *args; /* up to NULL */
};

extern const struct language languages[];
extern const size_t language_count;

/* NULL: there is none of this name. */
const struct language *language_find(const char *name);

/* ERR_INVALID, with the names that are known. */
int language_unknown(const char *option, const char *name, struct err *err);

/* By a #! line, else by the suffix of `name` ("<code>", or a path). *out is
 * NULL when neither says anything. ERR_INVALID: a #! line that names another.
 */
int language_guess(const char *code, size_t len, const char *name,
                   const struct language **out, struct err *err);

/* Of an interpreter's path, by its file's name; NULL: nothing is known. */
const struct language *language_of_program(const char *path);

/* Does `name` end as a file of some language does? */
bool language_suffix(const char *name);

/* May this be code of it? ERR_INVALID. */
int language_check(const struct language *lang, const char *code, size_t len,
                   struct err *err);

/* The driver's command line, appended; the user's arguments follow. `dir`:
 * where runtime/ is inside the cell. */
int language_argv(const struct language *lang, const char *program,
                  const char *dir, uint64_t mem_bytes, struct strs *argv,
                  struct err *err);

#endif
