/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirs - see dirs.h. Runs at every start: one readlink and one lstat when all
 * is there. Whoever opens something in the state directory checks again, by
 * descriptor: what is said here is for a clear message.
 */
#include "src/core/dirs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANOTHER "; KARZER_STATE=DIR names another directory"

_Static_assert(DIRS_PATH_MAX >= PATH_MAX, "any path");

/* "/usr/local" of "/usr/local/bin/karzer". */
static int find_prefix(char *out, size_t size, struct err *err)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);

    if (n < 0)
        return err_sys(err, "/proc/self/exe");
    out[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(out, '/');

        if (slash == NULL)
            return err_set(err, ERR_HOST, "karzer is not in a bin directory");
        *slash = '\0';
    }
    return 0;
}

static int join(char *out, const char *base, const char *name, struct err *err)
{
    int n = snprintf(out, DIRS_PATH_MAX, "%s%s", base, name);

    if (n < 0 || n >= DIRS_PATH_MAX)
        return err_set(err, ERR_INVALID, "%.64s...: the path is too long",
                       base);
    return 0;
}

static int absolute(const char *path)
{
    return path != NULL && path[0] == '/';
}

static int name_state(char *out, const char *state_env, const char *xdg,
                      const char *home, struct err *err)
{
    if (state_env != NULL && !absolute(state_env))
        return err_set(err, ERR_INVALID,
                       "KARZER_STATE: \"%.64s\" is not an absolute path",
                       state_env);
    if (state_env != NULL)
        return join(out, state_env, "", err);
    if (geteuid() == 0)
        return join(out, "/var/lib/karzer", "", err);
    if (absolute(xdg))
        return join(out, xdg, "/karzer", err);
    if (absolute(home))
        return join(out, home, "/.local/state/karzer", err);
    return err_set(err, ERR_HOST,
                   "no state directory: HOME is not set" ANOTHER);
}

/* Every directory of the path that is missing, for its owner alone. */
static int make_parents(const char *path, struct err *err)
{
    char part[DIRS_PATH_MAX];
    size_t len = strlen(path);

    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return err_sys(err, "state directory %.256s: make %.256s", path,
                           part);
        part[i] = path[i];
    }
    return 0;
}

static int check_state(const char *path, struct err *err)
{
    struct stat st;

    if (lstat(path, &st) < 0) {
        if (errno != ENOENT)
            return err_sys(err, "state directory %.256s", path);
        if (make_parents(path, err) < 0)
            return -1;
        if (lstat(path, &st) < 0)
            return err_sys(err, "state directory %.256s", path);
    }
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_HOST, "state directory %.256s: %s", path,
                       S_ISLNK(st.st_mode) ? "is a symbolic link"
                                           : "not a directory");
    if (st.st_uid != geteuid())
        return err_set(err, ERR_HOST,
                       "state directory %.256s: belongs to uid %u, not to you",
                       path, st.st_uid);
    if ((st.st_mode & 022) != 0)
        return err_set(err, ERR_HOST,
                       "state directory %.256s: others may write to it "
                       "(chmod go-w)",
                       path);
    return 0;
}

int dirs_find(struct dirs *dirs, const char *state_env,
              const char *xdg_state_home, const char *home, struct err *err)
{
    char prefix[DIRS_PATH_MAX];
    size_t len;

    dirs->runtime[0] = '\0';
    dirs->record = (struct record_settings){0};
    if (find_prefix(prefix, sizeof(prefix), err) < 0 ||
        join(dirs->libexec, prefix, "/libexec/karzer", err) < 0 ||
        join(dirs->share, prefix, "/share/karzer", err) < 0 ||
        name_state(dirs->state, state_env, xdg_state_home, home, err) < 0)
        return -1;
    len = strlen(dirs->state);
    while (len > 1 && dirs->state[len - 1] == '/')
        dirs->state[--len] = '\0'; /* "dir/" would follow a symbolic link */
    if (check_state(dirs->state, err) < 0) {
        if (err != NULL)
            strncat(err->text, ANOTHER,
                    sizeof(err->text) - strlen(err->text) - 1);
        return -1;
    }
    return 0;
}

void dirs_runtime(struct dirs *dirs, const char *xdg_runtime_dir)
{
    dirs->runtime[0] = '\0';
    if (geteuid() == 0)
        return;
    if (absolute(xdg_runtime_dir) && strlen(xdg_runtime_dir) < DIRS_PATH_MAX)
        memcpy(dirs->runtime, xdg_runtime_dir, strlen(xdg_runtime_dir) + 1);
    else
        snprintf(dirs->runtime, sizeof(dirs->runtime), "/run/user/%u",
                 (unsigned)geteuid());
}
