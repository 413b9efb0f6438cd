/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_tree - counts the bytes and inodes of a scratch directory on a file
 * system that others use too; used by usage.c alone.
 *
 * The cell changes the tree meanwhile: nothing is followed, nothing is opened
 * but directories, and what vanishes is skipped. A file with several names is
 * counted in parts, one for each.
 */
#include "jail/limiter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"

#define DEPTH_MAX 128

struct tally {
    uint64_t bytes;
    uint64_t inodes;
    uint64_t inodes_max; /* more than that need not be counted */
};

static void tally_dir(struct tally *t, int fd, int depth);

/* The cell may make a directory that its owner cannot list; the owner is this
 * user, and makes it listable. */
static int open_dir(int dir, const char *name, mode_t mode)
{
    const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    AUTO(fd) int at = -1;
    int fd = openat(dir, name, flags | O_RDONLY);
    char path[32];

    if (fd >= 0 || errno != EACCES)
        return fd;
    at = openat(dir, name, flags | O_PATH);
    if (at < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
    if (chmod(path, (mode & 0777) | 0700) < 0)
        return -1;
    return openat(dir, name, flags | O_RDONLY);
}

static void tally_entry(struct tally *t, int dir, const char *name, int depth)
{
    struct stat st;
    AUTO(fd) int sub = -1;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    t->inodes++;
    t->bytes += (uint64_t)st.st_blocks * 512u /
                (S_ISDIR(st.st_mode) || st.st_nlink < 2 ? 1 : st.st_nlink);
    if (!S_ISDIR(st.st_mode))
        return;
    if (depth == 0) {
        /* Deeper than any program needs: as if it were full of files. */
        t->inodes = t->inodes_max + 1;
        return;
    }
    sub = open_dir(dir, name, st.st_mode);
    if (sub >= 0)
        tally_dir(t, sub, depth - 1);
}

static void tally_dir(struct tally *t, int fd, int depth)
{
    AUTO(fd) int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct dirent *e;

    if (d == NULL)
        return;
    fd_take(&own);
    while (t->inodes <= t->inodes_max && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            tally_entry(t, dirfd(d), e->d_name, depth);
    closedir(d);
}

int tree_sum(const struct limiter *l, uint64_t *bytes, uint64_t *inodes)
{
    struct tally t = {.inodes_max = l->limits.inodes};

    tally_dir(&t, l->tree_fd, DEPTH_MAX);
    *bytes = t.bytes;
    *inodes = t.inodes;
    return 0;
}
