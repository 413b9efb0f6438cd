/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets - see sockets.h. Names come from other people's programs: they are
 * only ever looked up beneath the new root. The walk opens one name at a time,
 * follows no link, and gives up with an error rather than leave a part unseen.
 *
 * The kernel's list has the name that a socket was bound to, as that program
 * saw it: a hard link has another, and so has what a chroot or another mount
 * namespace bound. So trees are walked; the list serves the system's own
 * directories, which are too large, and directories that only lookup can enter.
 */
#include "jail/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/below.h"
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

/* A directory that we cannot look through (an ordinary user's cell has the same
 * rights, and may own it): something empty over it. */
static int walk_hide(const struct walk *w, int dir, const char *name,
                     struct err *err)
{
    AUTO(fd) int point = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (point < 0 && errno == EACCES) /* its own name cannot be looked up */
        return mask_over(w->j, dir, S_IFDIR) < 0
                   ? err_sys(err, "hide a directory of %s", w->source)
                   : 0;
    if (point < 0)
        return is_out_of_reach(errno)
                   ? 0
                   : err_sys(err, "look at %s in %s", name, w->source);
    return mask_over(w->j, point, S_IFDIR) < 0
               ? err_sys(err, "hide %s in %s", name, w->source)
               : 0;
}

static int walk_node(const struct walk *w, int dir, const char *name,
                     struct err *err)
{
    AUTO(fd) int point = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (point < 0 && errno == EACCES)
        return walk_hide(w, dir, name, err);
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
    AUTO(fd)
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    *r = 0;
    if (fd < 0 && errno == EACCES)
        *r = walk_hide(w, dir, name, err);
    else if (fd < 0 && !is_out_of_reach(errno))
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

    if (type == DT_UNKNOWN) {
        if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            type = (unsigned char)IFTODT(st.st_mode);
        else if (errno == EACCES)
            return walk_hide(w, dir, e->d_name, err);
    }
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
static int is_system(const struct jail *j, const struct holder_mount *m)
{
    static const char *const all[] = {
        "/usr",   "/bin",    "/sbin", "/lib", "/lib32",
        "/lib64", "/libx32", "/etc",  "/opt", "/nix",
    };
    const char *source = handoff_text(j->h, m->source);

    if ((m->flags & HOLDER_MOUNT_OWNED) != 0) /* a workspace */
        return 0;
    if (j->bare) /* whatever else the caller chose to show */
        return handoff_is_host(m);
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

    if (!handoff_is_host(m) || is_system(w->j, m))
        return 0;
    w->source = handoff_text(w->j->h, m->source);
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
        if (walk_row(&w, handoff_mount(j->h, i), err) < 0)
            return -1; /* nothing may lack here: no mechanism is named */
    return 0;
}

/* Masks `path` where the tree source -> target shows it. */
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
        return is_out_of_reach(errno) ? 0 : err_sys(err, "mask /%s", inside);
    return mask_point(j, point, S_IFSOCK, inside, err);
}

/* May `path`, as the host names it, be seen in the cell? */
static bool is_seen(const struct jail *j, const char *path)
{
    if (j->container && !j->bare &&
        (strncmp(path, "/usr", 4) == 0 || strncmp(path, "/etc", 4) == 0))
        return true;
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);
        const char *source = handoff_text(j->h, m->source);

        if (handoff_is_host(m) && strncmp(path, source, strlen(source)) == 0)
            return true;
    }
    return false;
}

static int mask_socket(const struct jail *j, const char *path, struct err *err)
{
    if (jail_has_host_base(j) &&
        (mask_below(j, path, "/usr", "/usr", err) < 0 ||
         mask_below(j, path, "/etc", "/etc", err) < 0))
        return -1;
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);

        if (handoff_is_host(m) &&
            mask_below(j, path, handoff_text(j->h, m->source),
                       handoff_text(j->h, m->target), err) < 0)
            return -1;
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
 * the top of a system directory is looked at. */
static int mask_relative(const struct jail *j, const char *name,
                         struct err *err)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);
        const char *target = handoff_text(j->h, m->target);
        char inside[2 * PATH_MAX];

        if (!is_system(j, m))
            continue;
        snprintf(inside, sizeof(inside), "%s/%s", target + 1, name);
        if (mask_path(j, inside, S_IFSOCK, err) < 0)
            return -1;
    }
    return 0;
}

/* What is done with each name. found: nothing but to say so, as the holder
 * does, if the cell may see it. */
static int take_name(const struct jail *j, const char *name, bool *found,
                     struct err *err)
{
    char real[PATH_MAX];

    if (found != NULL) {
        *found = *found || name[0] != '/' || is_seen(j, name) ||
                 (canonical(j, name, real) && is_seen(j, real));
        return 0;
    }
    if (name[0] != '/')
        return mask_relative(j, name, err);
    if (mask_socket(j, name, err) < 0)
        return -1;
    return canonical(j, name, real) ? mask_socket(j, real, err) : 0;
}

/* "0000...: 00000002 00000000 00010000 0001 01 12345 /run/x"; a name with @ is
 * abstract, and of another network namespace. A name may have line breaks. */
static int take_line(const struct jail *j, const char *line, bool *found,
                     struct err *err)
{
    int at = 0;

    sscanf(line, "%*s %*x %*x %*x %*x %*x %*u %n", &at);
    if (at == 0 || line[at] == '\0' || line[at] == '@')
        return 0;
    return take_name(j, line + at, found, err);
}

static int read_list(const struct jail *j, int fd, bool *found, struct err *err)
{
    char text[16384];
    size_t have = 0, total = 0;
    ssize_t n;

    while ((n = read(fd, text + have, sizeof(text) - have)) > 0) {
        char *line = text, *end;

        have += (size_t)n;
        total += (size_t)n;
        while ((end = memchr(line, '\n', (size_t)(text + have - line)))) {
            *end = '\0';
            if (take_line(j, line, found, err) < 0)
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

int sockets_list(const struct jail *j, int *list, struct err *err)
{
    *list = openat(j->proc_fd, "self/net/unix", O_RDONLY | O_CLOEXEC);
    return *list < 0 && errno != ENOENT ? err_sys(err, "/proc/net/unix") : 0;
}

int sockets_look(struct jail *j, int list, bool *found, struct err *err)
{
    *found = false;
    if (below_look(j, found, err) < 0)
        return -1;
    return list < 0 ? 0 : read_list(j, list, found, err);
}

static int mask_found(const struct jail *j, struct err *err)
{
    AUTO(fd) int list = -1;

    if (below_mask(j, err) < 0 || sockets_list(j, &list, err) < 0)
        return -1;
    return list < 0 ? 0 : read_list(j, list, NULL, err);
}

/* The walk comes last: it must not enter what is mounted below a tree. */
int sockets_mask(struct jail *j, bool found, struct err *err)
{
    if (found && mask_found(j, err) < 0)
        return -1;
    return walk_all(j, err);
}
