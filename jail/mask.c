/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask - see mask.h. A mask is a clone of what the cell has anyway: its
 * /dev/null, which reads as empty, or an empty directory of its sealed root.
 */
#include "jail/mask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/tree.h"
#include "src/base/sys.h"
#include "src/base/auto.h"

/* clang-format off */
static const char *const everywhere[] = {
#define MASK(path, why) path,
#include "jail/mask.def"
#undef MASK
};

static const char *const host_etc[] = {
#define MASK(path, why) path,
#include "jail/mask_etc.def"
#undef MASK
};
/* clang-format on */

int mask_over(const struct jail *j, int point, mode_t mode)
{
    int tree = S_ISDIR(mode) ? tree_clone_one(j->empty_fd)
                             : tree_clone(j->root_fd, "dev/null");

    return tree < 0 ? -1 : tree_attach_fd(tree, point);
}

/* Nothing for the cell in its mode bits. An ordinary user keeps groups that we
 * do not know, so there the group counts too. */
static int is_closed(const struct jail *j, const struct stat *st)
{
    mode_t open = j->root ? 0007 : 0077;

    return (st->st_mode & open) == 0 && st->st_uid != j->uid &&
           st->st_gid != j->gid;
}

int mask_point(const struct jail *j, int point, mode_t only, const char *path,
               struct err *err)
{
    struct stat st;

    if (fstat(point, &st) < 0)
        return err_sys(err, "mask /%s", path);
    if ((only != 0 && (st.st_mode & S_IFMT) != only) || is_closed(j, &st))
        return 0;
    if (mask_over(j, point, st.st_mode) < 0)
        return err_sys(err, "mask /%s", path);
    return 0;
}

/* What we cannot look up, the cell cannot either: it has fewer rights. */
static int is_out_of_reach(void)
{
    return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
           errno == ELOOP;
}

int mask_path(const struct jail *j, const char *path, mode_t only,
              struct err *err)
{
    AUTO(fd) int point = tree_find(j, path);

    if (point < 0)
        return is_out_of_reach() ? 0 : err_sys(err, "mask /%s", path);
    return mask_point(j, point, only, path, err);
}

/* By name: two calls where descriptors take six. The old root is gone, so that
 * what a link says is looked up below the new one. */
static int mask_row(const struct jail *j, const char *path, struct err *err)
{
    char empty[32] = "dev/null";
    struct stat st;

    if (stat(path, &st) < 0)
        return is_out_of_reach() ? 0 : err_sys(err, "mask /%s", path);
    if (is_closed(j, &st))
        return 0;
    if (S_ISDIR(st.st_mode))
        snprintf(empty, sizeof(empty), "proc/self/fd/%d", j->empty_fd);
    return tree_bind_one(empty, path) < 0 ? err_sys(err, "mask /%s", path) : 0;
}

/* The first row of host_etc, which is sorted, that may be `name`. */
static size_t first_row(const char *name)
{
    size_t low = 0, high = ARRAY_LEN(host_etc);

    while (low < high) {
        size_t at = (low + high) / 2;

        if (host_etc[at][strlen("etc/")] < name[0])
            low = at + 1;
        else
            high = at;
    }
    return low;
}

/* The rows of host_etc that begin with this name of the cell's /etc. */
static int mask_name(const struct jail *j, const char *name, struct err *err)
{
    size_t n = strlen(name);

    for (size_t i = first_row(name); i < ARRAY_LEN(host_etc); i++) {
        const char *row = host_etc[i] + strlen("etc/");

        if (row[0] != name[0])
            break;
        if (strncmp(row, name, n) == 0 && (row[n] == '\0' || row[n] == '/') &&
            mask_row(j, host_etc[i], err) < 0)
            return -1;
    }
    return 0;
}

/* One listing is cheaper than to ask for each name, as most are not there. */
static int mask_etc(const struct jail *j, struct err *err)
{
    AUTO(fd)
    int dir = openat(j->root_fd, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct dirent64) char list[8192];
    ssize_t len;

    if (dir < 0)
        return errno == ENOENT ? 0 : err_sys(err, "/etc");
    while ((len = sys_getdents64(dir, list, sizeof(list))) > 0) {
        const struct dirent64 *d;

        for (ssize_t at = 0; at < len; at += d->d_reclen) {
            d = (const void *)(list + at);
            if (mask_name(j, d->d_name, err) < 0)
                return -1;
        }
    }
    return len < 0 ? err_sys(err, "list /etc") : 0;
}

/* A template has no file of the host: nothing else is masked there. */
static bool is_kernels(const char *row)
{
    return strncmp(row, "proc/", 5) == 0;
}

int mask_files(struct jail *j, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(everywhere); i++)
        if ((j->h->root == 0 || is_kernels(everywhere[i])) &&
            mask_row(j, everywhere[i], err) < 0)
            return -1;
    return j->container && !j->bare ? 0 : mask_etc(j, err);
}
