/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template - see template.h. The tree was made by whoever packed it: each name
 * of its top is looked at without following a link, and what is bound goes to a
 * name of our own tmpfs. Nothing is mounted at a path that leads through the
 * tree, but /etc/passwd and /etc/group, beneath it and by descriptor.
 */
#include "jail/template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/etc.h"
#include "jail/handoff.h"
#include "jail/tree.h"
#include "src/base/auto.h"
#include "src/base/sys.h"

/* The cell's own, or of no use in one. Of var there are lib and cache. */
static const char *const skipped[] = {
    ".",      "..",  "proc",  "sys", "dev",        "tmp",  "var", "home",
    "karzer", "run", "media", "mnt", "lost+found", "boot", "root"};

static bool is_skipped(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(skipped); i++)
        if (strcmp(skipped[i], name) == 0)
            return true;
    return false;
}

/* The directory of the tree that `fd` is, at `at` below the new root, which is
 * made. One call that the whole host's mounts wait for, where clone, move and
 * close would be three. */
static int take_fd(const struct jail *j, int fd, const char *at,
                   struct err *err)
{
    char source[32];

    snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
    if (mkdirat(j->root_fd, at, 0755) < 0)
        return err_sys(err, "make /%s", at);
    if (tree_bind_one(source, at) < 0)
        return err_sys(err, "template: mount /%s", at);
    return 0;
}

static int take_dir(const struct jail *j, int tree, const char *name,
                    struct err *err)
{
    AUTO(fd)
    int fd = openat(tree, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return err_sys(err, "template: %s", name);
    return take_fd(j, fd, name, err);
}

static int take_link(const struct jail *j, int tree, const char *name,
                     struct err *err)
{
    char to[PATH_MAX];
    ssize_t n = readlinkat(tree, name, to, sizeof(to) - 1);

    if (n < 0)
        return err_sys(err, "template: /%s", name);
    to[n] = '\0';
    if (symlinkat(to, j->root_fd, name) < 0)
        return err_sys(err, "make /%s", name);
    return 0;
}

static int take_entry(const struct jail *j, int tree, const struct dirent64 *d,
                      struct err *err)
{
    unsigned char type = d->d_type;
    struct stat st;

    if (is_skipped(d->d_name))
        return 0;
    if (type == DT_UNKNOWN &&
        fstatat(tree, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = (unsigned char)IFTODT(st.st_mode);
    if (type == DT_LNK)
        return take_link(j, tree, d->d_name, err);
    return type == DT_DIR ? take_dir(j, tree, d->d_name, err) : 0;
}

static int take_all(const struct jail *j, int tree, struct err *err)
{
    _Alignas(struct dirent64) char list[4096];
    ssize_t len;

    while ((len = sys_getdents64(tree, list, sizeof(list))) > 0) {
        const struct dirent64 *d;

        for (ssize_t at = 0; at < len; at += d->d_reclen) {
            d = (const void *)(list + at);
            if (take_entry(j, tree, d, err) < 0)
                return -1;
        }
    }
    return len < 0 ? err_sys(err, "template: list it") : 0;
}

/* Package databases, TeX, fonts: programs read them, nobody writes there. */
static int take_var(const struct jail *j, int tree, struct err *err)
{
    static const char *const parts[] = {"var/lib", "var/cache"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                     .resolve =
                                         RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
        AUTO(fd) int fd = sys_openat2(tree, parts[i], &how);

        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
            continue;
        if (fd < 0)
            return err_sys(err, "template: %s", parts[i]);
        if (take_fd(j, fd, parts[i], err) < 0)
            return -1;
    }
    return 0;
}

static int bind_users(const struct jail *j, int own, const char *name,
                      const char *target, struct err *err)
{
    int tree = sys_open_tree(own, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    AUTO(fd) int point = -1;

    if (tree < 0)
        return err_sys(err, "template: %s", target);
    point = tree_point(j, target, tree, err);
    if (point < 0) {
        close(tree);
        return -1;
    }
    if (tree_attach_fd(tree, point) < 0 || unlinkat(own, name, 0) < 0)
        return err_sys(err, "template: %s", target);
    return 0;
}

/* A template knows "user" by the id that a container's program mostly has. */
static int users_make(const struct jail *j, struct err *err)
{
    AUTO(fd) int own = -1;

    if (j->seen_uid == JAIL_UID && j->seen_gid == JAIL_UID)
        return 0;
    if (mkdirat(j->root_fd, "own", 0755) < 0 ||
        (own = openat(j->root_fd, "own", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) <
            0)
        return err_sys(err, "make /own");
    if (etc_users(j, own, err) < 0 ||
        bind_users(j, own, "passwd", "/etc/passwd", err) < 0 ||
        bind_users(j, own, "group", "/etc/group", err) < 0)
        return -1;
    return unlinkat(j->root_fd, "own", AT_REMOVEDIR) < 0
               ? err_sys(err, "remove /own")
               : 0;
}

int template_base(const struct jail *j, struct err *err)
{
    AUTO(fd)
    int tree = open(handoff_text(j->h, j->h->root),
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (tree < 0)
        return err_sys(err, "template: %s", handoff_text(j->h, j->h->root));
    if (mkdirat(j->root_fd, "root", 0755) < 0 ||
        mkdirat(j->root_fd, "run", 0755) < 0)
        return err_sys(err, "make /root and /run");
    if (take_all(j, tree, err) < 0 || take_var(j, tree, err) < 0)
        return -1;
    return users_make(j, err);
}
