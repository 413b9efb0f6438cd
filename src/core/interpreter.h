/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter - what --interpreter names: an executable and the trees it needs.
 */
#ifndef KARZER_CORE_INTERPRETER_H
#define KARZER_CORE_INTERPRETER_H

#include <limits.h>

#include "src/base/err.h"
#include "src/core/language.h"

struct interpreter {
    char exe[PATH_MAX];  /* absolute; inside it has the same path */
    char venv[PATH_MAX]; /* "" or the tree with a pyvenv.cfg */
    char base[PATH_MAX]; /* "" (below /usr) or the tree of the real program */
};

/* `path`: a venv, an interpreter's tree, or an executable in one; of `lang`, or
 * with NULL of any. ERR_INVALID when it is none of them: a tree is only shown
 * when it surely is one. */
int interpreter_find(const char *path, const struct language *lang,
                     struct interpreter *out, struct err *err);

#endif
