/* SPDX-License-Identifier: Apache-2.0 */
/* tree - see tree.h. Works as on Linux 6.1: no detached root is a target. */
#include "jail/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/path.h"
#include "src/base/sys.h"

#define CLONE_FLAGS (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)

int tree_clone(int dirfd, const char *path)
{
    return sys_open_tree(dirfd, path, CLONE_FLAGS);
}

int tree_clone_plain(const char *path)
{
    AUTO(fd) int fd = path_open_plain(path);

    return fd < 0 ? -1 : sys_open_tree(fd, "", CLONE_FLAGS | AT_EMPTY_PATH);
}

int tree_clone_one(int fd)
{
    return sys_open_tree(fd, "",
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
}

int tree_set(int tree, uint64_t attr)
{
    const struct mount_attr a = {.attr_set = attr, .propagation = MS_PRIVATE};

    return sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &a,
                             sizeof(a));
}

static int attach(int tree, int dirfd, const char *path, unsigned flags)
{
    int r =
        sys_move_mount(tree, "", dirfd, path, MOVE_MOUNT_F_EMPTY_PATH | flags);
    int saved = errno;

    close(tree);
    errno = saved;
    return r;
}

int tree_attach(int tree, int dirfd, const char *path)
{
    return attach(tree, dirfd, path, 0);
}

int tree_attach_fd(int tree, int point)
{
    return attach(tree, point, "", MOVE_MOUNT_T_EMPTY_PATH);
}

int tree_bind(const char *source, const char *target)
{
    return mount(source, target, NULL, MS_BIND | MS_REC, NULL);
}

int tree_bind_one(const char *source, const char *target)
{
    return mount(source, target, NULL, MS_BIND, NULL);
}

static int find_plain(int dirfd, const char *path)
{
    const struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };

    return sys_openat2(dirfd, path, &how);
}

int tree_find(const struct jail *j, const char *path)
{
    const struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };

    return sys_openat2(j->root_fd, path, &how);
}

/* Is `dir` in a file system that we made for this cell? */
static int is_ours(const struct jail *j, int dir, int *scratch)
{
    struct stat st;

    if (fstat(dir, &st) < 0)
        return 0;
    *scratch = st.st_dev == j->scratch_dev;
    return *scratch || st.st_dev == j->root_dev;
}

/* Makes `name`, owned by the cell when it is in its scratch. */
static int make_name(const struct jail *j, int dir, const char *name, int file)
{
    int scratch, r;

    if (!is_ours(j, dir, &scratch)) {
        errno = EXDEV;
        return -1;
    }
    r = file ? mknodat(dir, name, S_IFREG | 0644, 0) : mkdirat(dir, name, 0755);
    if (r == 0 && scratch && j->root)
        r = fchownat(dir, name, j->uid, j->gid, AT_SYMLINK_NOFOLLOW);
    return r;
}

/* One step down; makes what is missing. */
static int step_down(const struct jail *j, int dir, const char *name, int file)
{
    int fd = find_plain(dir, name);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    if (make_name(j, dir, name, file) < 0)
        return -1;
    return find_plain(dir, name);
}

static int point_error(const char *target, struct err *err)
{
    if (errno == EXDEV)
        return err_set(err, ERR_HOST,
                       "mount at %s: it does not exist in the directory of "
                       "the host that holds it",
                       target);
    if (errno == ELOOP)
        return err_set(err, ERR_HOST,
                       "mount at %s: a symbolic link is in that path", target);
    return err_sys(err, "mount at %s", target);
}

/* The first part of a plain path, and what is behind it. */
static const char *next_name(const char *at, char name[NAME_MAX + 1])
{
    size_t n = strcspn(at, "/");

    memcpy(name, at, n);
    name[n] = '\0';
    return at + n + (at[n] == '/');
}

int tree_point(const struct jail *j, const char *target, int tree,
               struct err *err)
{
    AUTO(fd) int dir = -1;
    const char *at = target + 1;
    int fd = find_plain(j->root_fd, at);
    char name[NAME_MAX + 1];
    struct stat st;

    if (fd >= 0)
        return fd;
    if (errno != ENOENT)
        return point_error(target, err);
    if (fstat(tree, &st) < 0)
        return err_sys(err, "mount at %s", target);
    while (*at != '\0') {
        at = next_name(at, name);
        fd = step_down(j, dir < 0 ? j->root_fd : dir, name,
                       *at == '\0' && !S_ISDIR(st.st_mode));
        if (fd < 0)
            return point_error(target, err);
        fd_drop(&dir);
        dir = fd;
    }
    return fd_take(&dir);
}

static int link_make(const struct jail *j, int dir, const char *name,
                     const char *text)
{
    char there[PATH_MAX];
    ssize_t n = readlinkat(dir, name, there, sizeof(there) - 1);
    int scratch;

    if (n >= 0) {
        there[n] = '\0';
        errno = EEXIST;
        return strcmp(there, text) == 0 ? 0 : -1;
    }
    if (!is_ours(j, dir, &scratch)) {
        errno = EXDEV;
        return -1;
    }
    return symlinkat(text, dir, name);
}

int tree_link(const struct jail *j, const char *target, const char *text,
              struct err *err)
{
    AUTO(fd) int dir = -1;
    const char *at = target + 1;
    char name[NAME_MAX + 1];

    for (;;) {
        int fd;

        at = next_name(at, name);
        if (*at == '\0')
            break;
        fd = step_down(j, dir < 0 ? j->root_fd : dir, name, 0);
        if (fd < 0)
            return point_error(target, err);
        fd_drop(&dir);
        dir = fd;
    }
    if (link_make(j, dir < 0 ? j->root_fd : dir, name, text) < 0)
        return point_error(target, err);
    return 0;
}
