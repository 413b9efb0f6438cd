/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - see tree.h. Removal works on directory descriptors and names, never
 * on paths, and never goes up by "..": a directory that the program moves
 * while it is emptied does not lead anywhere else.
 */
#include "agent/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat() only */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define BATCH 8192
#define MOVE_TRIES 64

static int fail(int error)
{
    errno = error;
    return -1;
}

/* mkdir -p of all but what follows the last slash; `path` comes back as it
 * was. */
static int make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        int r;

        *slash = 0;
        r = mkdir(path, 0755);
        *slash = '/';
        if (r < 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

/* A copy without slashes at its end. */
static int copy_path(const char *path, char copy[AGENT_PATH_MAX])
{
    size_t len = strlen(path);

    if (path[0] != '/')
        return fail(EINVAL);
    if (len >= AGENT_PATH_MAX)
        return fail(ENAMETOOLONG);
    while (len > 1 && path[len - 1] == '/')
        len--;
    memcpy(copy, path, len);
    copy[len] = 0;
    return 0;
}

int tree_parent(const char *path, bool make, char name[TREE_NAME_MAX])
{
    char copy[AGENT_PATH_MAX], *base;
    int fd;

    if (copy_path(path, copy) < 0)
        return -1;
    base = strrchr(copy, '/') + 1;
    if (strlen(base) >= TREE_NAME_MAX)
        return fail(ENAMETOOLONG);
    if (*base == 0 || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return fail(EINVAL);
    memcpy(name, base, strlen(base) + 1);
    *base = 0;
    fd = open(copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    if (make_parents(copy) < 0)
        return -1;
    return open(copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int tree_mkdir(const char *path, uint32_t mode)
{
    char copy[AGENT_PATH_MAX];
    struct stat st;
    mode_t mask;
    int r;

    if (copy_path(path, copy) < 0 || make_parents(copy) < 0)
        return -1;
    /* Not chmod() afterwards: where Landlock alone protects the host's files,
     * a cell has none. */
    mask = umask(0);
    r = mkdir(copy, mode);
    umask(mask);
    if (r == 0)
        return 0;
    if (errno != EEXIST || stat(copy, &st) < 0)
        return -1;
    return S_ISDIR(st.st_mode) ? 0 : fail(ENOTDIR);
}

/* Opens a directory in the one that is being emptied, to empty it first. */
static int push(struct tree_remove *r, const char *name)
{
    int fd = openat(r->fd[r->depth], name, OPEN_DIR);

    if (fd < 0) /* gone, or replaced: the next look at the parent tells */
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
    r->depth++;
    r->fd[r->depth] = fd;
    r->seen[r->depth] = false;
    memmove(r->name[r->depth], name, strlen(name) + 1);
    return 0;
}

int tree_remove_start(struct tree_remove *r, const char *path)
{
    r->depth = 0;
    r->moved = 0;
    r->fd[0] = tree_parent(path, false, r->name[0]);
    if (r->fd[0] < 0)
        return -1;
    if (unlinkat(r->fd[0], r->name[0], 0) == 0 ||
        (errno == EISDIR &&
         unlinkat(r->fd[0], r->name[0], AT_REMOVEDIR) == 0)) {
        tree_remove_stop(r);
        return 1;
    }
    if (errno == ENOTEMPTY && push(r, r->name[0]) == 0 && r->depth == 1)
        return 0;
    tree_remove_stop(r);
    return -1;
}

void tree_remove_stop(struct tree_remove *r)
{
    int saved = errno;

    for (; r->depth >= 0; r->depth--)
        close(r->fd[r->depth]);
    errno = saved;
}

/* Too deep: moves it to where the next look at the top finds it. */
static int move_up(struct tree_remove *r, const char *name)
{
    char to[] = ".karzer-rm-00000000";
    char *digits = to + sizeof(to) - 9;

    for (int tries = 0; tries < MOVE_TRIES; tries++) {
        uint32_t n = r->moved++;

        for (int i = 7; i >= 0; i--, n >>= 4)
            digits[i] = "0123456789abcdef"[n & 15];
        if (renameat(r->fd[r->depth], name, r->fd[1], to) == 0)
            return 0;
        if (errno == ENOENT)
            return 0;
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
            return -1;
    }
    return -1;
}

/* 0: dealt with; 1: a directory with something in it; -1. */
static int remove_entry(struct tree_remove *r, const struct dirent64 *d)
{
    int fd = r->fd[r->depth];

    if (d->d_type != DT_DIR && unlinkat(fd, d->d_name, 0) == 0)
        return 0;
    if (d->d_type != DT_DIR && errno != EISDIR)
        return errno == ENOENT ? 0 : -1;
    if (unlinkat(fd, d->d_name, AT_REMOVEDIR) == 0)
        return 0;
    if (errno == ENOENT || errno == ENOTDIR)
        return 0;
    if (errno != ENOTEMPTY)
        return -1;
    if (r->depth + 1 < TREE_DEPTH_MAX)
        return 1;
    return move_up(r, d->d_name);
}

/* Empties what one getdents gave; goes down into the first full directory
 * after that. */
static int remove_batch(struct tree_remove *r, const char *buf, ssize_t len)
{
    const char *down = NULL;

    for (ssize_t at = 0; at < len;) {
        const struct dirent64 *d = (const void *)(buf + at);
        int full;

        at += d->d_reclen;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        r->seen[r->depth] = true;
        full = remove_entry(r, d);
        if (full < 0)
            return -1;
        if (full > 0 && down == NULL)
            down = d->d_name;
    }
    return down == NULL ? 0 : push(r, down);
}

/* The directory is empty: removes it from the one above. 1: it was the top. */
static int pop(struct tree_remove *r)
{
    int at = r->depth;
    bool gone;

    close(r->fd[at]);
    r->depth--;
    gone = unlinkat(r->fd[at - 1], r->name[at], AT_REMOVEDIR) == 0 ||
           errno == ENOENT;
    if (!gone && errno == ENOTEMPTY)
        return push(r, r->name[at]);
    if (r->depth == 0)
        return gone ? 1 : -1;
    if (!gone && errno != ENOTDIR) /* replaced: the next look finds it */
        return -1;
    return 0;
}

static int remove_some(struct tree_remove *r)
{
    char buf[BATCH] __attribute__((aligned(8)));
    int depth = r->depth;
    ssize_t n = getdents64(r->fd[depth], (void *)buf, sizeof(buf));

    if (n > 0)
        return remove_batch(r, buf, n);
    if (n < 0 && errno != ENOENT)
        return -1;
    if (n < 0 || !r->seen[depth])
        return pop(r);
    r->seen[depth] = false; /* look again: entries move while one deletes */
    return lseek(r->fd[depth], 0, SEEK_SET) < 0 ? -1 : 0;
}

int tree_remove_step(struct tree_remove *r)
{
    int done = remove_some(r);

    if (done == 0 && r->depth == 0) /* the top was replaced meanwhile */
        done = fail(EBUSY);
    if (done != 0)
        tree_remove_stop(r);
    return done;
}
