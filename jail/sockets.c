/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets - see sockets.h. Names come from other people's programs: they are
 * only ever looked up beneath the new root. The walk opens one name at a time,
 * follows no link, and gives up with an error rather than leave a part unseen.
 */
#include "jail/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "jail/handoff.h"
#include "jail/mask.h"
#include "jail/tree.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define LIST_MAX (16u << 20) /* bytes of /proc/net/unix; a host has less */
#define WALK_ENTRIES 200000u
#define WALK_US 2000000u /* warm, the entries above take a tenth of it */
#define WALK_DEPTH 200   /* descriptors */

struct walk {
    const struct jail *j;
    const char *source; /* of the tree, for messages */
    unsigned entries;   /* still to be looked at, of all trees */
    uint64_t until;
};

static int too_much(const struct walk *w, const char *what, struct err *err)
{
    return err_set(err, ERR_HOST,
                   "%s has too many %s to look for sockets of the host in it: "
                   "give a smaller directory",
                   w->source, what);
}

static int is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* What the cell may not look up, or what is gone, is no way for it. */
static int is_out_of_reach(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES ||
           error == ELOOP;
}

/* Kernel file systems below a tree: endless, and nobody binds there. */
static int is_kernels(int dir)
{
    struct statfs sf;

    if (fstatfs(dir, &sf) < 0)
        return 0;
    switch ((unsigned long)sf.f_type) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
        return 1;
    default:
        return 0;
    }
}

static int walk_node(const struct walk *w, int dir, const char *name,
                     struct err *err)
{
    AUTO(fd) int point = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (point < 0)
        return is_out_of_reach(errno)
                   ? 0
                   : err_sys(err, "look at %s in %s", name, w->source);
    return mask_point(w->j, point, S_IFSOCK, name, err);
}

/* A directory, or -1: nothing to see there, or an error when *r is -1. */
static int walk_open(const struct walk *w, int dir, const char *name, int *r,
                     struct err *err)
{
    struct open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_NO_XDEV,
    };
    AUTO(fd) int fd = sys_openat2(dir, name, &how);

    *r = 0;
    if (fd < 0 && errno == EXDEV) {
        how.resolve = 0;
        fd = sys_openat2(dir, name, &how);
        if (fd >= 0 && is_kernels(fd))
            return -1;
    }
    if (fd < 0 && !is_out_of_reach(errno))
        *r = err_sys(err, "look for sockets in %s", w->source);
    return fd_take(&fd);
}

static int walk_dir(struct walk *w, int dir, int depth, struct err *err);

static int walk_entry(struct walk *w, int dir, const struct dirent *e,
                      int depth, struct err *err)
{
    unsigned char type = e->d_type;
    struct stat st;
    int sub, r;

    if (type == DT_UNKNOWN &&
        fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = (unsigned char)IFTODT(st.st_mode);
    if (type == DT_SOCK)
        return walk_node(w, dir, e->d_name, err);
    if (type != DT_DIR || is_dot(e->d_name))
        return 0;
    if (depth == 0)
        return too_much(w, "directories in each other", err);
    sub = walk_open(w, dir, e->d_name, &r, err);
    return sub < 0 ? r : walk_dir(w, sub, depth - 1, err);
}

/* Closes dir. */
static int walk_dir(struct walk *w, int dir, int depth, struct err *err)
{
    DIR *d = fdopendir(dir);
    struct dirent *e;
    int r = 0;

    if (d == NULL) {
        err_sys(err, "list %s", w->source);
        close(dir);
        return -1;
    }
    if (clock_us() > w->until)
        r = too_much(w, "files", err);
    while (r == 0 && (errno = 0, e = readdir(d)) != NULL) {
        r = w->entries == 0 ? too_much(w, "files", err)
                            : walk_entry(w, dir, e, depth, err);
        w->entries -= r == 0;
    }
    /* A directory that was removed meanwhile lists as ENOENT. */
    if (r == 0 && errno != 0 && errno != ENOENT)
        r = err_sys(err, "list %s", w->source);
    closedir(d);
    return r;
}

/* The system's directories, in whole: too large to walk, and the host's own
 * packages put no socket there. */
static int is_system(const char *source)
{
    static const char *const all[] = {
        "/usr",   "/bin",    "/sbin", "/lib", "/lib32",
        "/lib64", "/libx32", "/etc",  "/opt", "/nix",
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (strcmp(source, all[i]) == 0)
            return 1;
    return 0;
}

static int walk_row(struct walk *w, const struct holder_mount *m,
                    struct err *err)
{
    const char *target = handoff_text(w->j->h, m->target);
    AUTO(fd) int point = -1;
    int dir, r;

    w->source = handoff_text(w->j->h, m->source);
    if (is_system(w->source))
        return 0;
    point = tree_find(w->j, target + 1);
    if (point < 0) /* it was optional */
        return errno == ENOENT ? 0 : err_sys(err, "look at %s", target);
    dir = walk_open(w, point, ".", &r, err);
    return dir < 0 ? r : walk_dir(w, dir, WALK_DEPTH, err);
}

static int walk_all(struct jail *j, struct err *err)
{
    struct walk w = {
        .j = j, .entries = WALK_ENTRIES, .until = clock_us() + WALK_US};

    for (uint32_t i = 0; i < j->h->mount_count; i++)
        if (walk_row(&w, handoff_mount(j->h, i), err) < 0) {
            j->mechanism = HOLDER_FILES;
            return -1;
        }
    return 0;
}

/* Masks `path` where the tree source -> target shows it. 1: it would, but there
 * is no socket of that name. */
static int mask_below(const struct jail *j, const char *path,
                      const char *source, const char *target, struct err *err)
{
    size_t n = strlen(source);
    char inside[2 * PATH_MAX];
    AUTO(fd) int point = -1;

    if (strncmp(path, source, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return 0;
    snprintf(inside, sizeof(inside), "%s%s", target + 1, path + n);
    point = tree_find(j, inside);
    if (point < 0)
        return is_out_of_reach(errno) ? errno != EACCES
                                      : err_sys(err, "mask /%s", inside);
    return mask_point(j, point, S_IFSOCK, inside, err);
}

/* *lost: one that must be below a tree has no name there any more. */
static int mask_socket(const struct jail *j, const char *path, bool *lost,
                       struct err *err)
{
    if (j->container && (mask_below(j, path, "/usr", "/usr", err) < 0 ||
                         mask_below(j, path, "/etc", "/etc", err) < 0))
        return -1;
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);
        const char *source = handoff_text(j->h, m->source);
        int r = mask_below(j, path, source, handoff_text(j->h, m->target), err);

        if (r < 0)
            return -1;
        if (r > 0 && !is_system(source))
            *lost = true;
    }
    return 0;
}

/* The name that was bound may have gone through links. */
static int canonical(const struct jail *j, const char *path, char *out)
{
    AUTO(fd) int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    char link[32];
    ssize_t n;

    if (fd < 0)
        return 0;
    snprintf(link, sizeof(link), "self/fd/%d", fd);
    n = readlinkat(j->proc_fd, link, out, PATH_MAX - 1);
    if (n <= 0)
        return 0;
    out[n] = '\0';
    return strcmp(path, out) != 0;
}

/* A name that was bound relative to a directory that nobody can tell any more:
 * the top of a system directory is looked at, the other trees are walked. */
static int mask_relative(const struct jail *j, const char *name,
                         struct err *err)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);
        const char *target = handoff_text(j->h, m->target);
        char inside[2 * PATH_MAX];

        if (!is_system(handoff_text(j->h, m->source)))
            continue;
        snprintf(inside, sizeof(inside), "%s/%s", target + 1, name);
        if (mask_path(j, inside, S_IFSOCK, err) < 0)
            return -1;
    }
    return 0;
}

/* "0000...: 00000002 00000000 00010000 0001 01 12345 /run/x"; a name with @ is
 * abstract, and of another network namespace. A name may have line breaks. */
static int mask_line(const struct jail *j, const char *line, bool *lost,
                     struct err *err)
{
    char real[PATH_MAX];
    int at = 0;

    sscanf(line, "%*s %*x %*x %*x %*x %*x %*u %n", &at);
    if (at == 0) {
        *lost = *lost || strncmp(line, "Num ", 4) != 0;
        return 0;
    }
    line += at;
    if (line[0] == '\0' || line[0] == '@')
        return 0;
    if (line[0] != '/') {
        *lost = true;
        return mask_relative(j, line, err);
    }
    if (mask_socket(j, line, lost, err) < 0)
        return -1;
    return canonical(j, line, real) ? mask_socket(j, real, lost, err) : 0;
}

static int mask_listed(const struct jail *j, bool *lost, struct err *err)
{
    AUTO(fd) int fd = openat(j->proc_fd, "self/net/unix", O_RDONLY | O_CLOEXEC);
    char text[16384];
    size_t have = 0, total = 0;
    ssize_t n;

    if (fd < 0)
        return errno == ENOENT ? 0 : err_sys(err, "/proc/net/unix");
    while ((n = read(fd, text + have, sizeof(text) - have)) > 0) {
        char *line = text, *end;

        have += (size_t)n;
        total += (size_t)n;
        while ((end = memchr(line, '\n', (size_t)(text + have - line)))) {
            *end = '\0';
            if (mask_line(j, line, lost, err) < 0)
                return -1;
            line = end + 1;
        }
        have = (size_t)(text + have - line);
        memmove(text, line, have);
        if (have == sizeof(text) || total > LIST_MAX)
            return err_set(err, ERR_HOST, "/proc/net/unix is too long");
    }
    return n < 0 ? err_sys(err, "/proc/net/unix") : 0;
}

int sockets_mask(struct jail *j, struct err *err)
{
    bool lost = false;

    if (mask_listed(j, &lost, err) < 0)
        return -1;
    return lost ? walk_all(j, err) : 0;
}
