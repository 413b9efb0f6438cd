/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_out - a file or tree of a cell to the host. Everything is made below
 * one directory descriptor, by single checked components, never through a
 * link: a file is written under a temporary name and renamed into place.
 */
#include "src/core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/path.h"
#include "src/base/sha256.h"
#include "src/base/strs.h"
#include "src/base/sys.h"

/* A name below a directory of the host, without following anything. */
static int open_beneath(int dirfd, const char *name, int flags)
{
    const struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
        .resolve =
            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };

    return sys_openat2(dirfd, name, &how);
}

struct target {
    struct crossing *x;
    int dirfd;        /* the host directory */
    const char *name; /* one component */
    const char *host; /* for records */
    const char *cell;
};

static int receive(struct crossing *x, int fd, uint64_t size, char *hash,
                   uint64_t *got, struct err *err)
{
    struct sha256 h;
    const char *data;
    ssize_t n;

    *got = 0;
    sha256_init(&h);
    while ((n = fileop_get_data(&x->op, &data, err)) > 0) {
        *got += (uint64_t)n;
        if (*got > size)
            return err_set(err, ERR_INVALID, "it grew while it was read");
        sha256_add(&h, data, (size_t)n);
        if (fd_write_all(fd, data, (size_t)n) < 0)
            return err_sys(err, "write");
    }
    sha256_hex(&h, hash);
    return n < 0 ? -1 : 0;
}

/* Content to a temporary name; recorded; renamed. */
static int file_out(const struct target *t, const struct fileop_stat *st,
                    struct err *err)
{
    char temp[64], hash[SHA256_HEX_SIZE];
    uint64_t got;
    AUTO(fd) int fd = -1;
    static unsigned serial;
    struct stat old;

    if (fstatat(t->dirfd, t->name, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISREG(old.st_mode) && !S_ISLNK(old.st_mode))
        return err_set(err, ERR_INVALID,
                       "%s: there is something that is not a file", t->host);

    snprintf(temp, sizeof(temp), ".karzer-%d-%u.part", (int)getpid(), serial++);
    fd = openat(t->dirfd, temp,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_sys(err, "%s", t->host);
    if (fchmod(fd, (st->mode & 0111) ? 0755 : 0644) < 0 ||
        receive(t->x, fd, st->size, hash, &got, err) < 0 ||
        files_crossed(t->x, EVENT_FILE_OUT, t->host, t->cell, got, hash, err) <
            0 ||
        (renameat(t->dirfd, temp, t->dirfd, t->name) < 0 &&
         err_sys(err, "rename") < 0)) {
        unlinkat(t->dirfd, temp, 0);
        return err_wrap(err, "%s", t->host);
    }
    return 0;
}

static int one_out(struct target *t, unsigned depth, struct err *err);

struct entry_list {
    struct strs names;
};

static int entry_add(void *ctx, const char *name, const struct fileop_stat *st,
                     struct err *err)
{
    struct entry_list *list = ctx;

    (void)st; /* asked again when its turn comes */
    return strs_add(&list->names, name, err);
}

static int children_out(const struct target *t, int dirfd,
                        const struct strs *names, unsigned depth,
                        struct err *err)
{
    for (size_t i = 0; i < names->len; i++) {
        char host[4096], cell[AGENT_PATH_MAX];
        struct target child = {.x = t->x,
                               .dirfd = dirfd,
                               .name = names->at[i],
                               .host = host,
                               .cell = cell};

        if (snprintf(host, sizeof(host), "%s/%s", t->host, names->at[i]) >=
                (int)sizeof(host) ||
            snprintf(cell, sizeof(cell), "%s/%s", t->cell, names->at[i]) >=
                (int)sizeof(cell))
            return err_set(err, ERR_LIMIT, "%s: the path is too long", t->host);
        if (one_out(&child, depth + 1, err) < 0)
            return -1;
    }
    return 0;
}

static int dir_out(const struct target *t, unsigned depth, struct err *err)
{
    struct entry_list list = {0};
    AUTO(fd) int fd = -1;
    int r;

    if (depth >= FILES_DEPTH_MAX)
        return err_set(err, ERR_LIMIT, "%s: deeper than %u directories",
                       t->cell, FILES_DEPTH_MAX);
    if (mkdirat(t->dirfd, t->name, 0777) < 0 && errno != EEXIST)
        return err_sys(err, "%s", t->host);
    fd = open_beneath(t->dirfd, t->name, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return err_sys(err, "%s", t->host);
    r = fileop_list(&t->x->op, t->cell, entry_add, &list, err);
    if (r == 0)
        r = children_out(t, fd, &list.names, depth, err);
    strs_fini(&list.names);
    return r;
}

/* In a tree it is recorded, and the rest goes on; the one file that was asked
 * for is recorded by the caller, with the error. */
static int refuse(const struct target *t, unsigned depth, const char *reason,
                  struct err *err)
{
    if (depth == 0)
        return err_set(err, ERR_INVALID, "%s", reason);
    return files_refused(t->x, t->host, t->cell, reason, err);
}

static int read_out(struct target *t, unsigned depth, struct err *err)
{
    struct fileop_stat st;

    if (fileop_stat(&t->x->op, t->cell, &st, err) < 0)
        return -1;
    if (S_ISDIR(st.mode))
        return dir_out(t, depth, err);
    if (!S_ISREG(st.mode))
        return refuse(t, depth, "not a regular file or directory", err);
    if (files_count(t->x, st.size, err) < 0 ||
        fileop_get_begin(&t->x->op, t->cell, &st, err) < 0)
        return -1;
    return file_out(t, &st, err);
}

static int one_out(struct target *t, unsigned depth, struct err *err)
{
    struct err why = {0};

    if (read_out(t, depth, &why) == 0)
        return 0;
    if (why.code == ERR_DENIED && depth > 0)
        return refuse(t, depth, why.text, err);
    if (err != NULL)
        *err = why;
    return -1;
}

/* "a/b/c//" to "a/b/" and "c"; -1: no name, or "." or "..". */
static int split(const char *path, char *dir, size_t size, char *name)
{
    size_t n = strlen(path);
    const char *slash;

    while (n > 1 && path[n - 1] == '/')
        n--;
    slash = memrchr(path, '/', n);
    if (slash == NULL)
        slash = path - 1;
    if (n - (size_t)(slash + 1 - path) > NAME_MAX ||
        (size_t)(slash + 1 - path) >= size)
        return -1;
    snprintf(name, NAME_MAX + 1, "%.*s", (int)(n - (size_t)(slash + 1 - path)),
             slash + 1);
    snprintf(dir, size, "%.*s", (int)(slash + 1 - path), path);
    if (dir[0] == '\0')
        snprintf(dir, size, ".");
    return name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0
               ? -1
               : 0;
}

/* The part of `path` below `tree`, or NULL. Both absolute. */
static const char *below(const char *path, const char *tree)
{
    size_t n = tree == NULL ? 0 : strlen(tree);

    while (n > 1 && tree[n - 1] == '/')
        n--;
    if (n == 0 || strncmp(path, tree, n) != 0 ||
        (path[n] != '/' && path[n] != '\0'))
        return NULL;
    path += n;
    path += strspn(path, "/");
    return *path == '\0' ? "." : path;
}

/* A directory of the operator's; no link that a cell may have made is followed
 * (path.h). */
static int open_named(const char *path, struct err *err)
{
    AUTO(fd) int at = path_open(path, err);
    int fd;

    if (at < 0)
        return -1;
    fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? err_sys(err, "%s", path) : fd;
}

/* Below the workspace of this run there may be nothing but what cells made:
 * there no link is followed, whoever made it. */
static int open_dir(const char *path, const char *workspace, struct err *err)
{
    char whole[PATH_MAX];
    const char *rest;
    AUTO(fd) int tree = -1;
    size_t n = 0;
    int fd;

    if (path[0] != '/') {
        if (getcwd(whole, sizeof(whole)) == NULL)
            return err_sys(err, "%s", path);
        n = strlen(whole);
    }
    if (snprintf(whole + n, sizeof(whole) - n, "%s%s", n > 0 ? "/" : "",
                 path) >= (int)(sizeof(whole) - n))
        return err_set(err, ERR_INVALID, "%s: the path is too long", path);
    rest = below(whole, workspace);
    if (rest == NULL)
        return open_named(path, err);
    tree = open_named(workspace, err);
    if (tree < 0)
        return -1;
    fd = open_beneath(tree, rest, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? err_sys(err, "%s", path) : fd;
}

/* A link in its place to a file is replaced, and never written through. One to
 * a directory was meant to be followed. */
static int is_refused(const struct err *why, const char *host)
{
    struct stat st;

    return why->code == ERR_DENIED && stat(host, &st) == 0 &&
           S_ISDIR(st.st_mode);
}

int files_target_open(struct files_target *t, const char *host,
                      const char *workspace, struct err *err)
{
    char dir[PATH_MAX];
    struct err why = {0};

    *t = (struct files_target){.host = host, .parent = -1, .inside = -1};
    t->inside = open_dir(host, workspace, &why);
    if (split(host, dir, sizeof(dir), t->name) < 0)
        t->name[0] = '\0';
    else if (t->inside >= 0 || !is_refused(&why, host))
        t->parent = open_dir(dir, workspace, &why);
    if (t->inside < 0 && t->parent < 0)
        return err_set(err, why.code, "--out %s", why.text);
    if (faccessat(t->inside >= 0 ? t->inside : t->parent, ".", W_OK | X_OK, 0) <
        0)
        return err_sys(err, "--out %s", host);
    return 0;
}

void files_target_close(struct files_target *t)
{
    fd_drop(&t->parent);
    fd_drop(&t->inside);
}

int files_out(struct crossing *x, const char *cell,
              const struct files_target *to, struct err *err)
{
    struct target t = {.x = x, .host = to->host, .cell = cell};
    char dir[AGENT_PATH_MAX], name[NAME_MAX + 1];
    struct fileop_stat st;

    if (fileop_stat(&x->op, cell, &st, err) < 0)
        return err_wrap(err, "--out %s", cell);
    t.dirfd = to->parent;
    t.name = to->name;
    if (to->inside >= 0 && (to->name[0] == '\0' || S_ISREG(st.mode))) {
        if (split(cell, dir, sizeof(dir), name) < 0)
            return err_set(err, ERR_INVALID, "--out %s: has no name", cell);
        t.dirfd = to->inside;
        t.name = name;
    }
    return one_out(&t, 0, err) < 0 ? err_wrap(err, "--out %s", cell) : 0;
}
