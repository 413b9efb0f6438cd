/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bwrap_bind - bubblewrap's options that show something of the host. Called
 * through the table in bwrap.c; what may be shown is policy's to say
 * (src/core/view.c).
 */
#include "src/cli/bwrap.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/path.h"

/* Trees whose owners are shown as they are: root's secrets stay root's. */
static const char *const systems[] = {
    "/usr", "/bin", "/sbin", "/lib",  "/lib32", "/lib64", "/libx32", "/etc",
    "/opt", "/nix", "/var",  "/boot", "/run",   "/srv",   NULL};

static bool is_try(const struct bwrap_row *row)
{
    size_t n = strlen(row->name);

    return n > 4 && strcmp(row->name + n - 4, "-try") == 0;
}

static bool is_system(const char *path)
{
    for (size_t i = 0; systems[i] != NULL; i++) {
        size_t n = strlen(systems[i]);

        if (strncmp(path, systems[i], n) == 0 &&
            (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return false;
}

/* One name of a directory that is to be seen as /. */
static int root_entry(struct bwrap *b, const struct bwrap_row *row,
                      const char *dir, const char *name, struct err *err)
{
    static const char *const never[] = {".",   "..",  "proc",
                                        "sys", "dev", "lost+found"};
    char source[PATH_MAX], target[PATH_MAX], text[PATH_MAX];
    bool host = strcmp(dir, "/") == 0;
    struct view_row r = {.source = source,
                         .target = target,
                         .rw = !bwrap_is_read_only(row),
                         .system = host || is_system(dir),
                         .option = row->name};
    struct stat st;

    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (strcmp(name, never[i]) == 0)
            return 0;
    if (snprintf(source, sizeof(source), "%s/%s", host ? "" : dir, name) >=
        (int)sizeof(source))
        return err_set(err, ERR_INVALID, "--%s: a path is too long", row->name);
    snprintf(target, sizeof(target), "/%.255s", name);
    if (lstat(source, &st) < 0)
        return err_sys(err, "--%s: %.200s", row->name, source);
    if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlink(source, text, sizeof(text) - 1);

        if (n < 0)
            return err_sys(err, "--%s: %.200s", row->name, source);
        text[n] = '\0';
        r.kind = VIEW_LINK;
        r.source = text;
        return view_add(b->view, &r, err);
    }
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return 0;
    return view_add(b->view, &r, err);
}

static int bind_root(struct bwrap *b, const struct bwrap_row *row,
                     const char *dir, struct err *err)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int r = 0;

    if (d == NULL)
        return err_sys(err, "--%s: %.200s", row->name, dir);
    while (r == 0 && (e = readdir(d)) != NULL)
        r = root_entry(b, row, dir, e->d_name, err);
    closedir(d);
    b->view->sys = b->view->sys || strcmp(dir, "/") == 0;
    return r;
}

/* What hides a file by /dev/null over it: nobody may read it. */
static int bind_null(struct bwrap *b, const struct bwrap_row *row,
                     const char *target, struct err *err)
{
    return view_add(b->view,
                    &(struct view_row){.kind = VIEW_FILE,
                                       .source = bwrap_text(""),
                                       .target = bwrap_text(target),
                                       .option = row->name},
                    err);
}

int take_bind(struct bwrap *b, const struct bwrap_row *row, char **words_,
              struct err *err)
{
    AUTO(fd) int fd = -1;
    char source[PATH_MAX], target[PATH_MAX];

    if (is_try(row) && access(words_[0], F_OK) < 0 && errno == ENOENT)
        return 0;
    /* a link that a cell may have made leads nowhere */
    fd = path_open(words_[0], err);
    if (fd < 0)
        return err_wrap(err, "--%s", row->name);
    if (path_name(fd, source, sizeof(source)) < 0)
        return err_sys(err, "--%s: %.200s", row->name, words_[0]);
    if (bwrap_plain(row, words_[1], target, err) < 0)
        return -1;
    if (strcmp(target, "/") == 0 &&
        (strcmp(source, "/") != 0 || bwrap_is_read_only(row)))
        return bind_root(b, row, source, err);
    if (strcmp(source, "/dev/null") == 0)
        return bind_null(b, row, target, err);
    if (strcmp(source, "/") == 0)
        return err_set(err, ERR_INVALID,
                       "--%s: the whole host is shown read-only, and at /: "
                       "--ro-bind / /, and --bind of what is to be written",
                       row->name);
    return view_add(b->view,
                    &(struct view_row){.source = source,
                                       .target = target,
                                       .rw = !bwrap_is_read_only(row),
                                       .system = is_system(source),
                                       .option = row->name},
                    err);
}

int take_bind_fd(struct bwrap *b, const struct bwrap_row *row, char **words_,
                 struct err *err)
{
    char link[32], source[PATH_MAX], target[PATH_MAX];
    struct stat st;
    ssize_t n;
    int fd;

    if (bwrap_number(row, words_[0], INT32_MAX, &fd, err) < 0 ||
        bwrap_plain(row, words_[1], target, err) < 0)
        return -1;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, source, sizeof(source) - 1);
    if (n < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "--%s: descriptor %d", row->name, fd);
    source[n] = '\0';
    if (source[0] != '/')
        return err_set(err, ERR_INVALID, "--%s: descriptor %d is of no file",
                       row->name, fd);
    return view_add(b->view,
                    &(struct view_row){.source = source,
                                       .target = target,
                                       .rw = !bwrap_is_read_only(row),
                                       .system = is_system(source),
                                       .same = true,
                                       .dev = st.st_dev,
                                       .ino = st.st_ino,
                                       .option = row->name},
                    err);
}

int take_dev_bind(struct bwrap *b, const struct bwrap_row *row, char **words_,
                  struct err *err)
{
    static const char *const own[] = {
        "/dev",         "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
        "/dev/urandom", "/dev/tty",  "/dev/shm",  "/dev/pts",  "/dev/ptmx"};

    (void)b;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(words_[0], own[i]) == 0 && strcmp(words_[1], own[i]) == 0)
            return 0; /* the cell has its own there */
    return err_set(
        err, ERR_INVALID,
        "--%s: %.200s: a cell gets no device of the host: --dev /dev "
        "has null, zero, full, random, urandom, tty and terminals; "
        "without devices --bind shows it",
        row->name, words_[0]);
}

int take_remount_ro(struct bwrap *b, const struct bwrap_row *row, char **words_,
                    struct err *err)
{
    char target[PATH_MAX];

    if (bwrap_plain(row, words_[0], target, err) < 0)
        return -1;
    if (strcmp(target, "/") == 0)
        return 0;
    for (size_t i = b->view->count; i > 0; i--) {
        struct view_row *r = &b->view->rows[i - 1];

        if (strcmp(r->target, target) != 0)
            continue;
        r->rw = false;
        return 0;
    }
    return err_set(err, ERR_INVALID, "--%s: nothing was put at %.200s",
                   row->name, target);
}
