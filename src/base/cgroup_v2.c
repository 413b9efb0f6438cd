/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_v2 - where new groups go in the v2 tree; called by cgroup_find().
 *
 * Root on a host of its own: /karzer, made on demand. In a delegated subtree,
 * and as an ordinary user: beside our own group, since a group that holds
 * processes cannot have children with controllers; or below it, where that
 * works all the same (the root of the tree). Never outside what was delegated.
 */
#include "src/base/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define FIXED "/karzer"

static const struct {
    const char *name;
    const char *enable;
    unsigned part;
} controllers[] = {
    {"memory", "+memory", 1u << CGROUP_MEMORY},
    {"pids", "+pids", 1u << CGROUP_PIDS},
    {"cpu", "+cpu", 1u << CGROUP_CPU},
};

/* What children of this directory have; enables what is wanted and missing,
 * each alone, since one that cannot be had would refuse all. */
static unsigned enable(int dirfd, unsigned want)
{
    unsigned have = 1u << CGROUP_CPUACCT; /* cpu.stat is in every group */
    char list[256];

    if (fd_read_text(dirfd, "cgroup.subtree_control", list, sizeof(list)) < 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(controllers); i++) {
        if (cgroup_list_has(list, controllers[i].name) ||
            ((want & controllers[i].part) != 0 &&
             fd_write_text(dirfd, "cgroup.subtree_control",
                           controllers[i].enable) == 0))
            have |= controllers[i].part;
    }
    return have & want;
}

/* Takes this directory as the parent when it gives more than the best so far.
 */
static void consider(const struct cgroup_mount *mount, const char *path,
                     unsigned want, struct cgroup_tree *tree)
{
    char full[CGROUP_PATH_MAX];
    AUTO(fd) int fd = -1;
    unsigned parts;
    int n = snprintf(full, sizeof(full), "%s%s", mount->point, path);

    if (n < 0 || (size_t)n >= sizeof(full))
        return;
    fd = open(full, O_PATH | O_DIRECTORY | O_CLOEXEC);
    /* A process enters a new group only by leave of the common ancestor. */
    if (fd < 0 || faccessat(fd, ".", W_OK, AT_EACCESS) < 0 ||
        faccessat(fd, "cgroup.procs", W_OK, AT_EACCESS) < 0)
        return;
    parts = enable(fd, want);
    if (__builtin_popcount(parts) <= __builtin_popcount(tree->parts))
        return;
    n = snprintf(tree->path, sizeof(tree->path), "%s%s", mount->root,
                 strcmp(path, "/") == 0 && mount->root[0] != '\0' ? "" : path);
    if (n < 0 || (size_t)n >= sizeof(tree->path))
        return;
    fd_drop(&tree->parent_fd);
    tree->parent_fd = fd_take(&fd);
    tree->version = 2;
    tree->parts = parts;
    tree->depth = cgroup_depth(path);
}

/* Has systemd given this directory away (Delegate=)? */
static int is_delegated(const struct cgroup_mount *mount, const char *path)
{
    static const char *const marks[] = {"trusted.delegate", "user.delegate"};
    char full[CGROUP_PATH_MAX];
    char mark[8];
    int n = snprintf(full, sizeof(full), "%s%s", mount->point, path);

    if (n < 0 || (size_t)n >= sizeof(full))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (getxattr(full, marks[i], mark, sizeof(mark)) == 1 && mark[0] == '1')
            return 1;
    return 0;
}

/* Cuts the last component: "/a/b" to "/a", "/a" to "/". 0 at the root. */
static int cut(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL || path[1] == '\0')
        return 0;
    slash[slash == path] = '\0';
    return 1;
}

/* The depth of the outermost delegated ancestor (or self); 0: none. */
static unsigned delegated_depth(const struct cgroup_mount *mount,
                                const char *own)
{
    char path[CGROUP_PATH_MAX];
    unsigned depth = 0;

    memcpy(path, own, strlen(own) + 1);
    do {
        if (strcmp(path, "/") != 0 && is_delegated(mount, path))
            depth = cgroup_depth(path);
    } while (cut(path));
    return depth;
}

/* /karzer with its controllers: usually there already. */
static void consider_fixed(const struct cgroup_mount *mount, unsigned want,
                           struct cgroup_tree *tree)
{
    char full[CGROUP_PATH_MAX];
    AUTO(fd) int root = -1;

    consider(mount, FIXED, want, tree);
    if (tree->parts == want)
        return;
    root = open(mount->point, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return;
    if (enable(root, want) == 0)
        return;
    snprintf(full, sizeof(full), "%s%s", mount->point, FIXED);
    if (mkdir(full, 0755) < 0 && errno != EEXIST)
        return;
    consider(mount, FIXED, want, tree);
}

const char *cgroup_v2_find(const struct cgroup_mount *mount, unsigned want,
                           struct cgroup_tree *tree)
{
    char parent[CGROUP_PATH_MAX];
    unsigned given = 0;

    tree->parent_fd = -1;
    tree->parts = 0;
    if (strlen(mount->rest) >= sizeof(parent))
        return "the path of its own group is too long";
    if (geteuid() == 0) {
        given = delegated_depth(mount, mount->rest);
        if (given == 0)
            consider_fixed(mount, want, tree);
    }
    if (tree->parts != want) {
        memcpy(parent, mount->rest, strlen(mount->rest) + 1);
        if (cut(parent) && cgroup_depth(parent) >= given &&
            (given > 0 || geteuid() != 0))
            consider(mount, parent, want, tree);
    }
    if (tree->parts != want)
        consider(mount, mount->rest, want, tree);
    if (tree->parent_fd < 0)
        return "no part of the cgroup v2 tree is delegated to this user";
    return "the controller is not enabled for this part of the cgroup tree";
}
