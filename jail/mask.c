/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask - see mask.h. A mask is a clone of what the cell has anyway: its
 * /dev/null, which reads as empty, or an empty directory of its sealed root.
 */
#include "jail/mask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/handoff.h"
#include "jail/tree.h"
#include "src/base/auto.h"

#define SOCKETS_MAX (16u << 20) /* bytes of /proc/net/unix; a host has less */

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

/* Over what `point` (O_PATH) names. */
static int mask_fd(const struct jail *j, int point, mode_t mode)
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

/* What we cannot look up, the cell cannot either: it has fewer rights. */
static int mask_path(const struct jail *j, const char *path, mode_t only,
                     struct err *err)
{
    AUTO(fd) int point = tree_find(j, path);
    struct stat st;

    if (point < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
                       errno == ELOOP
                   ? 0
                   : err_sys(err, "mask /%s", path);
    if (fstat(point, &st) < 0)
        return err_sys(err, "mask /%s", path);
    if ((only != 0 && (st.st_mode & S_IFMT) != only) || is_closed(j, &st))
        return 0;
    if (mask_fd(j, point, st.st_mode) < 0)
        return err_sys(err, "mask /%s", path);
    return 0;
}

/* The rows of host_etc that begin with this name of the cell's /etc. */
static int mask_name(const struct jail *j, const char *name, struct err *err)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < ARRAY_LEN(host_etc); i++) {
        const char *row = host_etc[i] + strlen("etc/");

        if (row[0] == name[0] && strncmp(row, name, n) == 0 &&
            (row[n] == '\0' || row[n] == '/') &&
            mask_path(j, host_etc[i], 0, err) < 0)
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
    while ((len = getdents64(dir, list, sizeof(list))) > 0) {
        const struct dirent64 *d;

        for (ssize_t at = 0; at < len; at += d->d_reclen) {
            d = (const void *)(list + at);
            if (mask_name(j, d->d_name, err) < 0)
                return -1;
        }
    }
    return len < 0 ? err_sys(err, "list /etc") : 0;
}

int mask_files(const struct jail *j, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(everywhere); i++)
        if (mask_path(j, everywhere[i], 0, err) < 0)
            return -1;
    return j->container ? 0 : mask_etc(j, err);
}

/* Masks `path` where the tree source -> target shows it. */
static int mask_below(const struct jail *j, const char *path,
                      const char *source, const char *target, struct err *err)
{
    size_t n = strlen(source);
    char inside[2 * PATH_MAX];

    if (strncmp(path, source, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return 0;
    snprintf(inside, sizeof(inside), "%s%s", target + 1, path + n);
    return mask_path(j, inside, S_IFSOCK, err);
}

static int mask_socket(const struct jail *j, const char *path, struct err *err)
{
    if (j->container && (mask_below(j, path, "/usr", "/usr", err) < 0 ||
                         mask_below(j, path, "/etc", "/etc", err) < 0))
        return -1;
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);

        if (mask_below(j, path, handoff_text(j->h, m->source),
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
 * the top of a mount is the likely one. */
static int mask_relative(const struct jail *j, const char *name,
                         struct err *err)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);
        const char *target = handoff_text(j->h, m->target);
        char inside[2 * PATH_MAX];

        snprintf(inside, sizeof(inside), "%s/%s", target + 1, name);
        if (mask_path(j, inside, S_IFSOCK, err) < 0)
            return -1;
    }
    return 0;
}

/* "0000...: 00000002 00000000 00010000 0001 01 12345 /run/x"; a name with @ is
 * abstract, and of another network namespace. */
static int mask_line(const struct jail *j, const char *line, struct err *err)
{
    char real[PATH_MAX];
    int at = 0;

    sscanf(line, "%*s %*x %*x %*x %*x %*x %*u %n", &at);
    line += at;
    if (at == 0 || line[0] == '\0' || line[0] == '@')
        return 0;
    if (line[0] != '/')
        return mask_relative(j, line, err);
    if (mask_socket(j, line, err) < 0)
        return -1;
    return canonical(j, line, real) ? mask_socket(j, real, err) : 0;
}

int mask_sockets(const struct jail *j, struct err *err)
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
            if (mask_line(j, line, err) < 0)
                return -1;
            line = end + 1;
        }
        have = (size_t)(text + have - line);
        memmove(text, line, have);
        if (have == sizeof(text) || total > SOCKETS_MAX)
            return err_set(err, ERR_HOST, "/proc/net/unix is too long");
    }
    return n < 0 ? err_sys(err, "/proc/net/unix") : 0;
}
