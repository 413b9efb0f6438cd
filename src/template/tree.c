/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - see tree.h. Called when a template is built or removed. Directories
 * are as deep as put.h lets them be, so the stack and the descriptors suffice.
 */
#include "src/template/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/template/put.h"

#define DEPTH_MAX 200
#define BLOCK 131072

struct walk {
    struct sha256 hash;
    struct tree_sum *sum;
    char path[PUT_PATH_MAX + PUT_NAME_MAX + 2];
    size_t len;
    char *block;
};

/* ---- names ---- */

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int is_other(const struct dirent *d)
{
    return !is_dot(d->d_name);
}

/* By bytes, whatever the locale. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void names_free(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* ---- the digest ---- */

static int file_hash(struct walk *w, int dir, const char *name,
                     char hex[SHA256_HEX_SIZE], struct err *err)
{
    AUTO(fd) int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct sha256 hash;
    ssize_t n;

    if (fd < 0)
        return err_sys(err, "read %s", w->path);
    sha256_init(&hash);
    while ((n = fd_read_full(fd, w->block, BLOCK)) > 0) {
        sha256_add(&hash, w->block, (size_t)n);
        w->sum->bytes += (uint64_t)n;
    }
    if (n < 0)
        return err_sys(err, "read %s", w->path);
    sha256_hex(&hash, hex);
    w->sum->files++;
    return 0;
}

static void add(struct walk *w, char type, unsigned mode, const char *what)
{
    char head[32];
    int n = snprintf(head, sizeof(head), "%c %04o ", type, mode & 07777);

    sha256_add(&w->hash, head, (size_t)n);
    sha256_add(&w->hash, w->path, w->len + 1);
    sha256_add(&w->hash, what, strlen(what) + 1);
}

static int walk_dir(struct walk *w, int dir, int depth, struct err *err);

static int walk_below(struct walk *w, int dir, const char *name, int depth,
                      struct err *err)
{
    AUTO(fd)
    int sub =
        openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (sub < 0)
        return err_sys(err, "open %s", w->path);
    if (depth == 0)
        return err_set(err, ERR_LIMIT, "%s: too deep", w->path);
    return walk_dir(w, sub, depth - 1, err);
}

static int walk_entry(struct walk *w, int dir, const char *name, int depth,
                      struct err *err)
{
    char what[PATH_MAX];
    struct stat st;
    ssize_t n;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "look at %s", w->path);
    w->sum->entries++;
    switch (st.st_mode & S_IFMT) {
    case S_IFDIR:
        add(w, 'd', st.st_mode, "");
        return walk_below(w, dir, name, depth, err);
    case S_IFREG:
        if (file_hash(w, dir, name, what, err) < 0)
            return -1;
        add(w, 'f', st.st_mode, what);
        return 0;
    case S_IFLNK:
        n = readlinkat(dir, name, what, sizeof(what) - 1);
        if (n < 0)
            return err_sys(err, "read %s", w->path);
        what[n] = '\0';
        add(w, 'l', 0777, what);
        return 0;
    default:
        return err_set(err, ERR_INTERNAL, "%s: not a file", w->path);
    }
}

static int walk_names(struct walk *w, int dir, struct dirent **names, int count,
                      int depth, struct err *err)
{
    size_t len = w->len;

    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        int n = snprintf(w->path + len, sizeof(w->path) - len, "%s%s",
                         len == 0 ? "" : "/", name);

        if (n < 0 || len + (size_t)n >= sizeof(w->path))
            return err_set(err, ERR_LIMIT, "%.100s...: too long", w->path);
        w->len = len + (size_t)n;
        if (walk_entry(w, dir, name, depth, err) < 0)
            return -1;
    }
    w->len = len;
    w->path[len] = '\0';
    return 0;
}

static int walk_dir(struct walk *w, int dir, int depth, struct err *err)
{
    struct dirent **names;
    int count = scandirat(dir, ".", &names, is_other, by_bytes), r;

    if (count < 0)
        return err_sys(err, "list %s", w->path);
    r = walk_names(w, dir, names, count, depth, err);
    names_free(names, count);
    return r;
}

int tree_sum(int dir, struct tree_sum *sum, struct err *err)
{
    AUTO(mem) struct walk *w = calloc(1, sizeof(*w));
    AUTO(mem) char *block = malloc(BLOCK);

    if (w == NULL || block == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    *sum = (struct tree_sum){0};
    w->sum = sum;
    w->block = block;
    sha256_init(&w->hash);
    if (walk_dir(w, dir, DEPTH_MAX, err) < 0)
        return -1;
    sha256_hex(&w->hash, sum->digest);
    return 0;
}

/* ---- removal ---- */

static int empty(int dir, int depth);

static int remove_one(int dir, const char *name, int depth)
{
    AUTO(fd) int sub = -1;

    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sub < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
        sub =
            openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sub < 0 || depth == 0 || empty(sub, depth - 1) < 0)
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR);
}

/* A directory that loses entries may list the rest only the next time. */
static int empty_once(int dir, int depth, unsigned *count)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *e;

    if (d == NULL) {
        fd_drop(&copy);
        return -1;
    }
    while (r == 0 && (errno = 0, e = readdir(d)) != NULL) {
        if (is_dot(e->d_name))
            continue;
        r = remove_one(dir, e->d_name, depth);
        ++*count;
    }
    closedir(d);
    return r;
}

static int empty(int dir, int depth)
{
    unsigned count;

    do {
        count = 0;
        if (empty_once(dir, depth, &count) < 0)
            return -1;
    } while (count > 0);
    return 0;
}

int tree_remove(int dir, const char *name, struct err *err)
{
    return remove_one(dir, name, DEPTH_MAX) < 0
               ? err_sys(err, "remove %s", name)
               : 0;
}
