/* SPDX-License-Identifier: Apache-2.0 */
/* own - see own.h. Asked only when a run is given a tree of the host. */
#include "src/core/own.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"

#define SLOTS "/run/karzer" /* root's; an ordinary user's are in the state */

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is `dir` the directory `path`, or one that it is in? Under whatever name. */
static bool holds(const char *dir, const char *path)
{
    char at[PATH_MAX];
    struct stat is, st;

    if (stat(dir, &is) < 0 || realpath(path, at) == NULL)
        return false;
    while (at[0] != '\0') {
        if (stat(at, &st) == 0 && same(&is, &st))
            return true;
        *strrchr(at, '/') = '\0';
    }
    return stat("/", &st) == 0 && same(&is, &st);
}

bool own_overlap(const char *a, const char *b)
{
    return holds(a, b) || holds(b, a);
}

bool own_record(const struct dirs *dirs, const char *tree)
{
    return own_overlap(tree, dirs->state);
}

/* The directory of the program that runs. */
static int own_program(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

    if (n <= 0)
        return -1;
    out[n] = '\0';
    *strrchr(out, '/') = '\0';
    return 0;
}

bool own_written(const struct dirs *dirs, const char *tree,
                 char out[DIRS_PATH_MAX])
{
    char program[PATH_MAX] = "", sockets[DIRS_PATH_MAX + 8] = "";
    const char *const all[] = {dirs->libexec, dirs->share, program,
                               dirs->state,   sockets,     SLOTS};

    if (own_program(program) < 0)
        program[0] = '\0';
    if (dirs->runtime[0] != '\0')
        snprintf(sockets, sizeof(sockets), "%s/karzer", dirs->runtime);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i][0] == '\0' || !own_overlap(tree, all[i]))
            continue;
        snprintf(out, DIRS_PATH_MAX, "%s", all[i]);
        return true;
    }
    /* where those directories may be made later */
    snprintf(out, DIRS_PATH_MAX, "%s", "/run");
    if (holds(tree, out))
        return true;
    snprintf(out, DIRS_PATH_MAX, "%s", dirs->runtime);
    return dirs->runtime[0] != '\0' && holds(tree, out);
}
