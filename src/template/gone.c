/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gone - what store.h removes and counts. A tree is first moved to a name that
 * no run looks for, while we alone hold its lock; then it is emptied.
 */
#include "src/template/gone.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/template/tree.h"

#define GOING "going-" /* a tree on its way out; no digest starts so */

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_plain(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* 0 and the sorted names of a part of the store; free_names() them. */
static int list(const struct store *s, const char *part, struct dirent ***out,
                struct err *err)
{
    int n = scandirat(s->fd, part, out, is_plain, by_bytes);

    return n < 0 ? err_sys(err, "list %s/%s", s->path, part) : n;
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

int store_names(const struct store *s,
                int (*each)(const struct store *s, const char *name,
                            const char *digest, void *ctx, struct err *err),
                void *ctx, struct err *err)
{
    struct dirent **names;
    int n = list(s, "names", &names, err), r = 0;

    for (int i = 0; i < n && r == 0; i++) {
        char digest[SHA256_HEX_SIZE];

        if (template_name_ok(names[i]->d_name) &&
            template_resolve(s->fd, names[i]->d_name, digest, NULL) == 0)
            r = each(s, names[i]->d_name, digest, ctx, err);
    }
    if (n >= 0)
        free_names(names, n);
    return n < 0 ? -1 : r;
}

/* The tree's directory, locked for us alone; -1: in use, or not there. */
static int tree_take(const struct store *s, const char *digest)
{
    char path[SHA256_HEX_SIZE + 8];
    AUTO(fd) int fd = -1;

    snprintf(path, sizeof(path), "trees/%s", digest);
    fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return -1;
    return fd_take(&fd);
}

bool store_in_use(const struct store *s, const char *digest)
{
    AUTO(fd) int fd = tree_take(s, digest);

    return fd < 0 && errno == EWOULDBLOCK;
}

struct wanted {
    const char *digest;
    bool found;
};

static int is_it(const struct store *s, const char *name, const char *digest,
                 void *ctx, struct err *err)
{
    struct wanted *w = ctx;

    (void)s, (void)name, (void)err;
    w->found = w->found || strcmp(w->digest, digest) == 0;
    return 0;
}

/* When it cannot be told, it has one. */
static bool has_name(const struct store *s, const char *digest)
{
    struct wanted w = {.digest = digest};

    return store_names(s, is_it, &w, NULL) < 0 || w.found;
}

void gone_tree(const struct store *s, const char *digest,
               struct store_gone *gone)
{
    char from[SHA256_HEX_SIZE + 8], to[SHA256_HEX_SIZE + 16];
    AUTO(fd) int fd = -1;

    if (has_name(s, digest))
        return;
    fd = tree_take(s, digest);
    if (fd < 0) {
        if (errno == EWOULDBLOCK && gone != NULL)
            gone->kept++;
        return;
    }
    snprintf(from, sizeof(from), "trees/%s", digest);
    snprintf(to, sizeof(to), "trees/" GOING "%s", digest);
    if (renameat(s->fd, from, s->fd, to) == 0 &&
        tree_remove(s->fd, to, NULL) == 0 && gone != NULL)
        gone->trees++;
}

/* Work that nobody holds the lock of. */
static void work_remove(const struct store *s, const char *name,
                        struct store_gone *gone)
{
    char path[NAME_MAX + 8];
    AUTO(fd) int fd = -1;

    snprintf(path, sizeof(path), "work/%s", name);
    fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        tree_remove(s->fd, path, NULL) == 0)
        gone->works++;
}

int store_rm(const struct store *s, const char *name, struct store_gone *gone,
             struct err *err)
{
    char path[TEMPLATE_NAME_SIZE + 8], digest[SHA256_HEX_SIZE] = "";
    AUTO(fd) int lock = -1;

    *gone = (struct store_gone){0};
    if (template_name_check(name, err) < 0 || store_lock(s, &lock, err) < 0)
        return -1;
    snprintf(path, sizeof(path), "names/%s", name);
    if (template_resolve(s->fd, name, digest, err) < 0 &&
        faccessat(s->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    if (unlinkat(s->fd, path, 0) < 0)
        return err_sys(err, "remove %s", path);
    if (digest[0] != '\0')
        gone_tree(s, digest, gone);
    work_remove(s, name, gone);
    return 0;
}

int store_gc(const struct store *s, struct store_gone *gone, struct err *err)
{
    struct dirent **names;
    AUTO(fd) int lock = -1;
    int n;

    *gone = (struct store_gone){0};
    if (store_lock(s, &lock, err) < 0)
        return -1;
    n = list(s, "trees", &names, err);
    if (n < 0)
        return -1;
    for (int i = 0; i < n; i++) {
        char path[NAME_MAX + 8];

        snprintf(path, sizeof(path), "trees/%s", names[i]->d_name);
        if (template_digest_ok(names[i]->d_name))
            gone_tree(s, names[i]->d_name, gone);
        else if (strncmp(names[i]->d_name, GOING, strlen(GOING)) == 0 &&
                 tree_remove(s->fd, path, NULL) == 0)
            gone->trees++;
    }
    free_names(names, n);
    n = list(s, "work", &names, err);
    if (n < 0)
        return -1;
    for (int i = 0; i < n; i++)
        work_remove(s, names[i]->d_name, gone);
    free_names(names, n);
    return 0;
}
