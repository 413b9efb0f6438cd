/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_sweep - removes the groups of dead holders; see cgroup.h.
 *
 * First what is noted in the slots (cgroup_note.c). Then, for those without a
 * note, in the first tree, beside where this process would make its own. A
 * group's parts in the other trees are looked for by name where they are not in
 * the same place: a holder that ran in another group made them below that one.
 */
#include "src/base/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/cgroup_group.h"
#include "src/base/mark.h"
#include "src/base/slot.h"

#define SEARCH_DEPTH 8
#define SEARCH_DIRS 4096u

static DIR *list_dir(int fd, const char *path)
{
    AUTO(fd)
    int dir = openat(fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = dir < 0 ? NULL : fdopendir(dir);

    if (d != NULL)
        fd_take(&dir);
    return d;
}

/* "karzer-17": 1 and the number. */
static int parse_name(const char *name, unsigned *slot)
{
    unsigned n;
    char again[32];

    if (sscanf(name, "karzer-%u", &n) != 1 || n >= SLOT_COUNT)
        return 0;
    snprintf(again, sizeof(again), "karzer-%u", n);
    *slot = n;
    return strcmp(name, again) == 0;
}

struct search {
    const char *name;
    unsigned left; /* directories that may still be looked at */
    int parent;    /* where it is, O_PATH; -1 */
};

static void search_in(struct search *s, int at, int depth)
{
    DIR *d = list_dir(at, ".");
    struct dirent *e;

    while (d != NULL && s->parent < 0 && (e = readdir(d)) != NULL) {
        AUTO(fd) int sub = -1;

        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        if (strcmp(e->d_name, s->name) == 0) {
            s->parent = openat(at, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
            break;
        }
        if (depth == 0 || s->left == 0)
            continue;
        s->left--;
        sub = openat(at, e->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (sub >= 0)
            search_in(s, sub, depth - 1);
    }
    if (d != NULL)
        closedir(d);
}

/* Points the tree at the parent that has a group of this name, if any. */
static void search_tree(struct cgroup_tree *tree, const char *name)
{
    struct search s = {.name = name, .left = SEARCH_DIRS, .parent = -1};
    AUTO(fd) int root = openat(tree->parent_fd, ".", O_PATH | O_CLOEXEC);

    for (unsigned i = 0; i < tree->depth && root >= 0; i++) {
        int up = openat(root, "..", O_PATH | O_CLOEXEC);

        fd_drop(&root);
        root = up;
    }
    if (root >= 0)
        search_in(&s, root, SEARCH_DEPTH);
    if (s.parent < 0)
        return;
    fd_drop(&tree->parent_fd);
    tree->parent_fd = s.parent;
}

/* Its lock is ours now. The trees are copied: the parents may change. */
int cgroup_remove_dead(const struct cgroup_host *host, struct cgroup *group)
{
    struct cgroup_host own = *host;
    int r;

    for (unsigned i = 0; i < own.count; i++) {
        own.tree[i].parent_fd =
            fcntl(host->tree[i].parent_fd, F_DUPFD_CLOEXEC, 0);
        if (i == 0 || group->dir[i] >= 0)
            continue;
        search_tree(&own.tree[i], group->name);
        group->dir[i] = openat(own.tree[i].parent_fd, group->name,
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (group->dir[i] >= 0 && flock(group->dir[i], LOCK_EX | LOCK_NB) < 0)
            fd_drop(&group->dir[i]); /* of the same name, and alive */
    }
    r = cgroup_empty(&own, group);
    if (cgroup_remove_kept(&own, group) < 0)
        r = -1;
    cgroup_close(&own);
    return r;
}

static int sweep_one(const struct cgroup_host *host, const char *slot_dir,
                     unsigned slot)
{
    struct cgroup group;
    AUTO(fd) int lock = -1;

    if (slot_try(slot_dir, slot, &lock) != 1)
        return 0;
    cgroup_init(&group, slot);
    if (cgroup_open(host, &group) < 0)
        return 0;
    return cgroup_remove_dead(host, &group) == 0;
}

/* Leaves out the trees where the group is not: it is gone there. */
static void keep_present(struct cgroup_host *host, const char *name)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < host->count; i++) {
        struct cgroup_tree *tree = &host->tree[i];

        if (faccessat(tree->parent_fd, name, F_OK, 0) < 0 && errno == ENOENT) {
            fd_drop(&tree->parent_fd);
            continue;
        }
        for (int part = 0; part < CGROUP_PART_COUNT; part++)
            if ((tree->parts >> part & 1) != 0)
                host->of[part] = (int)kept;
        if (kept != i)
            host->tree[kept] = *tree;
        kept++;
    }
    host->count = kept;
}

int cgroup_sweep_noted(unsigned slot, const char *note)
{
    struct cgroup_host host;
    struct cgroup group;
    int r = 0;

    if (mark_is_note(note))
        return mark_sweep(note);
    cgroup_init(&group, slot);
    cgroup_note_read(note, &host);
    keep_present(&host, group.name);
    if (host.count > 0)
        r = cgroup_open(&host, &group);
    if (r == 0 && host.count > 0) {
        r = cgroup_empty(&host, &group);
        if (cgroup_remove_kept(&host, &group) < 0)
            r = -1;
    }
    cgroup_close(&host);
    return r;
}

int cgroup_sweep(const char *slot_dir, struct err *err)
{
    struct cgroup_host host;
    struct dirent *e;
    unsigned slot;
    int removed = slot_notes(slot_dir, cgroup_sweep_noted);
    DIR *d;

    if (removed < 0)
        return err_sys(err, "read %s/slots", slot_dir);
    if (cgroup_find(&host, err) < 0)
        return -1;
    d = host.count == 0 ? NULL : list_dir(host.tree[0].parent_fd, ".");
    while (d != NULL && (e = readdir(d)) != NULL)
        if (e->d_type == DT_DIR && parse_name(e->d_name, &slot))
            removed += sweep_one(&host, slot_dir, slot);
    if (d != NULL)
        closedir(d);
    cgroup_close(&host);
    return removed;
}
