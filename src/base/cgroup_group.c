/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_group - makes, empties and removes groups; see cgroup.h.
 *
 * The flock on its directories says that a group is alive. The first tree's is
 * taken first and given up last: what is there without it is nobody's.
 */
#include "src/base/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/cgroup_group.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define EMPTY_US 2000000u
#define REMOVE_US 1000000u
#define MAKE_TRIES 3

static void nap(void)
{
    struct timespec ts = {.tv_nsec = 500000};

    nanosleep(&ts, NULL);
}

void cgroup_init(struct cgroup *group, unsigned slot)
{
    group->slot = slot;
    snprintf(group->name, sizeof(group->name), "karzer-%u", slot);
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        group->dir[i] = -1;
}

static void group_close(struct cgroup *group)
{
    /* Backwards: the lock is the first one's. */
    for (int i = CGROUP_PART_COUNT - 1; i >= 0; i--)
        fd_drop(&group->dir[i]);
}

static int open_dir(const struct cgroup_tree *tree, const char *name)
{
    return openat(tree->parent_fd, name,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* -1 with EWOULDBLOCK: it is alive. */
static int open_locked(const struct cgroup_tree *tree, const char *name)
{
    AUTO(fd) int dir = open_dir(tree, name);

    if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0)
        return -1;
    return fd_take(&dir);
}

int cgroup_open(const struct cgroup_host *host, struct cgroup *group)
{
    for (unsigned i = 0; i < host->count; i++) {
        group->dir[i] = open_locked(&host->tree[i], group->name);
        if (group->dir[i] < 0 && (i == 0 || errno == EWOULDBLOCK)) {
            group_close(group);
            return -1;
        }
    }
    return 0;
}

static int kill_one(const struct cgroup_host *host, const struct cgroup *group,
                    int pid)
{
    AUTO(fd) int pidfd = sys_pidfd_open(pid, 0);

    /* The descriptor first: then a pid that was used again is not ours. */
    if (pidfd < 0 || cgroup_holds(host, group, pid) != 1)
        return -1;
    return sys_pidfd_send_signal(pidfd, SIGKILL);
}

/* Kills what cgroup.procs of a directory lists. How many it listed, or -1. */
static int kill_listed(const struct cgroup_host *host,
                       const struct cgroup *group, int dirfd)
{
    AUTO(fd) int fd = openat(dirfd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    AUTO(file) FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    char line[32];
    int n = 0;

    if (f == NULL)
        return errno == ENOENT || errno == ENODEV ? 0 : -1;
    fd_take(&fd);
    while (fgets(line, sizeof(line), f) != NULL) {
        kill_one(host, group, (int)strtol(line, NULL, 10));
        n++;
    }
    return n;
}

/* One round over all trees. How many processes were seen; -1 cannot be read. */
static int kill_round(const struct cgroup_host *host,
                      const struct cgroup *group)
{
    int seen = 0;

    for (unsigned i = 0; i < host->count; i++) {
        int n;

        if (group->dir[i] < 0)
            continue;
        if (host->tree[i].version == 2)
            fd_write_text(group->dir[i], "cgroup.kill", "1");
        n = kill_listed(host, group, group->dir[i]);
        if (n < 0)
            return -1;
        seen += n;
    }
    return seen;
}

int cgroup_empty(const struct cgroup_host *host, const struct cgroup *group)
{
    uint64_t end = clock_us() + EMPTY_US;
    int pids = host->of[CGROUP_PIDS];

    /* No new ones: then each round leaves fewer. */
    if (pids >= 0 && group->dir[pids] >= 0)
        fd_write_text(group->dir[pids], "pids.max", "0");
    for (;;) {
        int n = kill_round(host, group);

        if (n <= 0)
            return n;
        if (clock_us() > end)
            return -1;
        nap();
    }
}

static int remove_one(const struct cgroup_tree *tree, const char *name)
{
    uint64_t end = 0;

    while (unlinkat(tree->parent_fd, name, AT_REMOVEDIR) < 0) {
        if (errno == ENOENT)
            return 0;
        if (errno != EBUSY)
            return -1;
        if (end == 0)
            end = clock_us() + REMOVE_US;
        if (clock_us() > end)
            return -1;
        nap();
    }
    return 0;
}

int cgroup_remove_kept(const struct cgroup_host *host, struct cgroup *group)
{
    int r = 0;

    for (unsigned i = host->count; i-- > 0;) {
        if (group->dir[i] < 0)
            continue;
        /* The one with the lock stays as long as another does: it is what the
         * sweep looks for. */
        if ((i > 0 || r == 0) && remove_one(&host->tree[i], group->name) < 0)
            r = -1;
    }
    group_close(group);
    return r;
}

int cgroup_remove(const struct cgroup_host *host, struct cgroup *group)
{
    int r = cgroup_remove_kept(host, group);

    if (r == 0)
        cgroup_note_clear(group->slot);
    return r;
}

/* Something of this name is there. When nobody holds it, it goes. */
static int clear_dead(const struct cgroup_host *host, struct cgroup *group,
                      struct err *err)
{
    struct cgroup dead = *group;

    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        dead.dir[i] = -1;
    if (cgroup_open(host, &dead) < 0)
        return err_set(err, ERR_HOST,
                       "control group %s is held by another run: two state "
                       "directories share this part of the cgroup tree",
                       group->name);
    if (cgroup_remove_dead(host, &dead) < 0)
        return err_set(err, ERR_HOST,
                       "control group %s of a dead run cannot be removed",
                       group->name);
    return 0;
}

static void drop_tree(struct cgroup_host *host, struct cgroup *group,
                      unsigned at)
{
    fd_drop(&host->tree[at].parent_fd);
    fd_drop(&group->dir[at]);
    host->count--;
    for (unsigned i = at; i < host->count; i++) {
        host->tree[i] = host->tree[i + 1];
        group->dir[i] = fd_take(&group->dir[i + 1]);
    }
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (host->of[i] == (int)at) {
            host->of[i] = -1;
            host->why[i] = "the kernel refused to make a group";
        } else if (host->of[i] > (int)at) {
            host->of[i]--;
        }
    }
}

/* 0 made, 1 exists, -1 refused. */
static int make_one(const struct cgroup_host *host, struct cgroup *group,
                    unsigned at)
{
    const struct cgroup_tree *tree = &host->tree[at];

    for (int i = 0; i < MAKE_TRIES; i++) {
        /* 0700: who cannot open it cannot hold its lock either. */
        if (mkdirat(tree->parent_fd, group->name, 0700) < 0)
            return errno == EEXIST ? 1 : -1;
        group->dir[at] = open_locked(tree, group->name);
        if (group->dir[at] >= 0)
            return 0;
        /* A sweep for another state directory was faster than the lock. */
        unlinkat(tree->parent_fd, group->name, AT_REMOVEDIR);
        nap();
    }
    return -1;
}

/* An earlier holder's group in a later tree only; or one that is alive, of
 * somebody whose first tree is elsewhere. */
static int clear_later(const struct cgroup_host *host,
                       const struct cgroup *group, unsigned at)
{
    AUTO(fd) int dir = open_locked(&host->tree[at], group->name);
    uint64_t end = clock_us() + EMPTY_US;

    if (dir < 0)
        return -1;
    while (kill_listed(host, group, dir) > 0 && clock_us() < end)
        nap();
    return remove_one(&host->tree[at], group->name);
}

int cgroup_make(struct cgroup_host *host, unsigned slot, struct cgroup *out,
                struct err *err)
{
    struct cgroup group;
    bool cleared = false;
    unsigned i = 0;

    cgroup_init(&group, slot);
    if (cgroup_note_write(host, slot, err) < 0)
        return -1;
    while (i < host->count) {
        int r = make_one(host, &group, i);

        if (r == 1 && !cleared) {
            cleared = true;
            r = i == 0 ? clear_dead(host, &group, err)
                       : clear_later(host, &group, i);
            if (r == 0)
                continue;
            if (i == 0)
                return -1;
        }
        if (r != 0) {
            drop_tree(host, &group, i);
            continue;
        }
        cleared = false;
        i++;
    }
    *out = group;
    return 0;
}

/* Does a line of /proc/PID/cgroup end with the group's path in this tree? */
static int named_in(const char *text, const struct cgroup_tree *tree,
                    const char *name)
{
    const char *base = strcmp(tree->path, "/") == 0 ? "" : tree->path;
    char tail[CGROUP_PATH_MAX + 64];
    int len = snprintf(tail, sizeof(tail), ":%s/%s", base, name);

    for (const char *at = strstr(text, tail); at != NULL;
         at = strstr(at + 1, tail))
        if (at[len] == '\n' || at[len] == '/')
            return 1;
    return 0;
}

/* 1, 0; -1: it cannot be read. `task`: "17", or "17/task/18". */
static int task_holds(const struct cgroup_host *host,
                      const struct cgroup *group, const char *task)
{
    char path[80], text[8192];

    snprintf(path, sizeof(path), "/proc/%s/cgroup", task);
    if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) < 0)
        return errno == ENOENT || errno == ESRCH ? 0 : -1;
    for (unsigned i = 0; i < host->count; i++)
        if (named_in(text, &host->tree[i], group->name))
            return 1;
    return 0;
}

/* A process whose first thread has ended is in no v1 group any more by what
 * that one's file says; its other threads are. */
static int threads_hold(const struct cgroup_host *host,
                        const struct cgroup *group, int pid)
{
    char path[64];
    struct dirent *e;
    int r = 0;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    d = opendir(path);
    while (d != NULL && r != 1 && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' || strtol(e->d_name, NULL, 10) == pid)
            continue;
        snprintf(path, sizeof(path), "%d/task/%.16s", pid, e->d_name);
        r = task_holds(host, group, path);
    }
    if (d != NULL)
        closedir(d);
    return r;
}

int cgroup_holds(const struct cgroup_host *host, const struct cgroup *group,
                 int pid)
{
    char task[16];
    int r;

    if (host->count == 0)
        return -1;
    snprintf(task, sizeof(task), "%d", pid);
    r = task_holds(host, group, task);
    return r == 0 ? threads_hold(host, group, pid) : r;
}
