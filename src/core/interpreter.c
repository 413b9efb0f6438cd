/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter - see interpreter.h. Called by policy.c. Never shows a directory
 * for standing above a program: it must hold what
 * languages.def says that an interpreter's tree has, or pyvenv.cfg.
 */
#include "src/core/interpreter.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* dir + suffix, when it fits. */
static bool join(char *out, const char *dir, const char *suffix)
{
    int n = snprintf(out, PATH_MAX, "%s%s", dir, suffix);

    return n > 0 && n < PATH_MAX;
}

static bool has_file(const char *dir, const char *suffix)
{
    char path[PATH_MAX];

    return join(path, dir, suffix) && access(path, F_OK) == 0;
}

/* Is it a tree of `lang`, or with NULL of any? */
static bool is_tree(const char *dir, const struct language *lang)
{
    bool is = false;

    if (strcmp(dir, "/") == 0 || strcmp(dir, "") == 0)
        return false;
    for (size_t i = 0; i < language_count && !is; i++) {
        char pattern[PATH_MAX];
        glob_t found = {0};

        if ((lang != NULL && lang != &languages[i]) ||
            !join(pattern, dir, languages[i].tree))
            continue;
        is = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
        globfree(&found);
    }
    return is;
}

/* "/a/b/bin/python3" to "/a/b"; false when it is not in a bin. */
static bool tree_of(const char *exe, char *tree)
{
    char *slash;

    snprintf(tree, PATH_MAX, "%s", exe);
    slash = strrchr(tree, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    slash = strrchr(tree, '/');
    if (slash == NULL || strcmp(slash, "/bin") != 0)
        return false;
    *slash = '\0';
    return true;
}

/* bin/PROGRAM of `lang`, or with NULL of the first that is there. */
static int exe_below(const char *path, const char *dir,
                     const struct language *lang, char *exe, struct err *err)
{
    char bin[64];

    for (size_t i = 0; i < language_count; i++) {
        snprintf(bin, sizeof(bin), "/bin/%s", languages[i].program);
        if ((lang == NULL || lang == &languages[i]) && has_file(dir, bin) &&
            join(exe, dir, bin))
            return 0;
    }
    if (lang == NULL)
        return err_set(err, ERR_INVALID,
                       "--interpreter %s: no bin with an interpreter in this "
                       "directory",
                       path);
    return err_set(
        err, ERR_INVALID,
        "--interpreter %s: no bin/%s in this directory (the language "
        "is %s; --lang says another)",
        path, lang->program, lang->name);
}

static int exe_find(const char *path, const struct language *lang, char *exe,
                    struct err *err)
{
    char real[PATH_MAX];
    struct stat st;

    if (realpath(path, real) == NULL || stat(real, &st) < 0)
        return err_sys(err, "--interpreter %s", path);
    if (S_ISDIR(st.st_mode))
        return exe_below(path, real, lang, exe, err);
    if (!S_ISREG(st.st_mode) || access(real, X_OK) < 0)
        return err_set(err, ERR_INVALID, "--interpreter %s: not a program",
                       path);
    /* The path as given (a venv's link), with its directory made absolute. */
    const char *base = strrchr(path, '/');
    char dir[PATH_MAX], absolute[PATH_MAX];

    snprintf(dir, sizeof(dir), "%.*s",
             base == NULL ? 1 : (int)(base - path) + 1,
             base == NULL ? "." : path);
    if (realpath(dir, absolute) == NULL)
        return err_sys(err, "--interpreter %s", path);
    if (snprintf(exe, PATH_MAX, "%s/%s", absolute,
                 base == NULL ? path : base + 1) >= PATH_MAX)
        return err_set(err, ERR_INVALID, "--interpreter: the path is too long");
    return 0;
}

int interpreter_find(const char *path, const struct language *lang,
                     struct interpreter *out, struct err *err)
{
    char real[PATH_MAX], tree[PATH_MAX];

    *out = (struct interpreter){0};
    if (exe_find(path, lang, out->exe, err) < 0)
        return -1;
    if (realpath(out->exe, real) == NULL)
        return err_sys(err, "--interpreter %s", path);
    if (tree_of(out->exe, tree) && has_file(tree, "/pyvenv.cfg"))
        snprintf(out->venv, sizeof(out->venv), "%s", tree);
    if (!tree_of(real, tree))
        return err_set(
            err, ERR_INVALID,
            "--interpreter %s: %s is not in the bin of an interpreter's "
            "tree",
            path, real);
    if (strcmp(tree, "/usr") == 0 || strcmp(tree, "/usr/local") == 0) {
        if (out->venv[0] == '\0')
            snprintf(out->exe, sizeof(out->exe), "%s", real);
        return 0;
    }
    if (!is_tree(tree, lang))
        return err_set(
            err, ERR_INVALID,
            "--interpreter %s: no %s in %s (a shim is not an "
            "interpreter: name the version's own bin)",
            path, lang == NULL ? "interpreter's tree" : lang->tree + 1, tree);
    snprintf(out->base, sizeof(out->base), "%s", tree);
    if (out->venv[0] == '\0')
        snprintf(out->exe, sizeof(out->exe), "%s", real);
    return 0;
}
