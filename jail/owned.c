/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owned - the part of identity.h about whose files a cell makes.
 *
 * An idmapped mount shows the owner's files as the cell's, and what the cell
 * makes there is the owner's (mount_setattr(2)). The map is a user namespace
 * that needs a process only until we have opened it.
 */
#include "jail/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail/handoff.h"
#include "jail/tree.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define NO_IDMAP 1 /* this file system does not map owners */

static int write_map(const struct jail *j, pid_t pid, const char *name,
                     uint32_t owner, uint32_t cell)
{
    char path[48], text[48];

    snprintf(path, sizeof(path), "%d/%s", pid, name);
    snprintf(text, sizeof(text), "%u %u 1\n", owner, cell);
    return fd_write_text(j->proc_fd, path, text);
}

static int open_map(const struct jail *j, pid_t pid,
                    const struct holder_mount *m)
{
    char path[48];

    if (write_map(j, pid, "uid_map", m->owner_uid, j->uid) < 0 ||
        write_map(j, pid, "gid_map", m->owner_gid, j->gid) < 0)
        return -1;
    snprintf(path, sizeof(path), "%d/ns/user", pid);
    return openat(j->proc_fd, path, O_RDONLY | O_CLOEXEC);
}

static int map_make(const struct jail *j, const struct holder_mount *m,
                    struct err *err)
{
    const struct clone_args args = {.flags = CLONE_NEWUSER,
                                    .exit_signal = SIGCHLD};
    pid_t pid = sys_clone3(&args);
    int fd, saved;

    if (pid == 0)
        for (;;)
            pause();
    if (pid < 0)
        return err_sys(err, "map owners: clone");
    fd = open_map(j, pid, m);
    saved = errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    errno = saved;
    return fd < 0 ? err_sys(err, "map owners") : fd;
}

/* 0, NO_IDMAP, or -1. */
static int map_owner(const struct jail *j, int tree,
                     const struct holder_mount *m, struct err *err)
{
    struct mount_attr a = {.attr_set = MOUNT_ATTR_IDMAP};
    int map, r;

    if (m->owner_uid == j->uid && m->owner_gid == j->gid)
        return 0;
    map = map_make(j, m, err);
    if (map < 0)
        return errno == ENOSPC || errno == EPERM ? NO_IDMAP : -1;
    a.userns_fd = (unsigned)map;
    r = sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &a,
                          sizeof(a));
    close(map);
    return r < 0 ? NO_IDMAP : 0;
}

static int owned_open(const struct jail *j, const struct holder_mount *m,
                      int *out, struct err *err)
{
    const char *source = handoff_text(j->h, m->source);
    AUTO(fd) int tree = tree_clone_plain(source);
    uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    struct stat st;
    int r;

    if (tree < 0 || fstat(tree, &st) < 0)
        return err_sys(err, "mount %s", source);
    /* or somebody put another directory there since the engine looked */
    if (st.st_uid != m->owner_uid || st.st_gid != m->owner_gid)
        return err_set(err, ERR_HOST, "mount %s: its owner has changed",
                       source);
    r = map_owner(j, tree, m, err);
    if (r != 0)
        return r;
    if ((m->flags & HOLDER_MOUNT_RW) == 0)
        attr |= MOUNT_ATTR_RDONLY;
    if (tree_set(tree, attr) < 0)
        return err_sys(err, "mount %s", source);
    *out = fd_take(&tree);
    return 0;
}

static void owned_close(struct jail *j)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++)
        fd_drop(&j->owned[i]);
}

/* 0; NO_IDMAP and *row; or -1. */
static int owned_open_all(struct jail *j, uint32_t *row, struct err *err)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);
        int r;

        if ((m->flags & HOLDER_MOUNT_OWNED) == 0)
            continue;
        *row = i;
        r = owned_open(j, m, &j->owned[i], err);
        if (r != 0 && (m->flags & HOLDER_MOUNT_RW) == 0)
            continue; /* seen as it is: nothing can be made there */
        if (r != 0)
            return r;
    }
    return 0;
}

static int refuse(const struct jail *j, uint32_t row, struct err *err)
{
    return err_set(err, ERR_HOST,
                   "mount %s: its file system cannot map owners, and the cell "
                   "does not become root or two owners at once; use a "
                   "directory that an ordinary user owns, or read-only",
                   handoff_text(j->h, handoff_mount(j->h, row)->source));
}

static int has_owned(const struct jail *j)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++)
        if ((handoff_mount(j->h, i)->flags & HOLDER_MOUNT_OWNED) != 0)
            return 1;
    return 0;
}

int identity_owned(struct jail *j, struct err *err)
{
    const struct holder_mount *m;
    uint32_t row;
    int r;

    if (!j->root || !has_owned(j))
        return 0;
    j->owned = calloc(j->h->mount_count, sizeof(*j->owned));
    if (j->owned == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    for (uint32_t i = 0; i < j->h->mount_count; i++)
        j->owned[i] = -1;
    r = owned_open_all(j, &row, err);
    if (r <= 0)
        return r;
    owned_close(j);
    m = handoff_mount(j->h, row);
    if (m->owner_uid == 0 || m->owner_gid == 0)
        return refuse(j, row, err);
    j->uid = m->owner_uid;
    j->gid = m->owner_gid;
    if (!j->user_ns) {
        j->seen_uid = j->uid;
        j->seen_gid = j->gid;
    }
    r = owned_open_all(j, &row, err);
    return r <= 0 ? r : refuse(j, row, err);
}
