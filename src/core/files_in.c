/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_in - a host file or tree into a cell. Walks by directory descriptors,
 * one path component at a time, and follows no link.
 */
#include "src/core/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/auto.h"
#include "src/base/path.h"
#include "src/base/sha256.h"

#define CHUNK (128u << 10)

/* Where the walk is: paths grow and shrink with it. */
struct walk {
    struct crossing *x;
    char host[4096];
    char cell[AGENT_PATH_MAX];
    unsigned depth;
};

static const char *kind_of(mode_t mode)
{
    if (S_ISFIFO(mode))
        return "a fifo";
    if (S_ISSOCK(mode))
        return "a socket";
    if (S_ISCHR(mode) || S_ISBLK(mode))
        return "a device";
    return S_ISLNK(mode) ? "a symbolic link" : "not a regular file";
}

/* Exactly the size that it had when it was opened, or an error. */
static int send_content(struct walk *w, int fd, uint64_t size, struct err *err)
{
    AUTO(mem) char *chunk = malloc(CHUNK);
    char hash[SHA256_HEX_SIZE];
    struct sha256 h;
    uint64_t left = size;

    if (chunk == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    sha256_init(&h);
    while (left > 0) {
        ssize_t n = read(fd, chunk, left < CHUNK ? (size_t)left : CHUNK);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "read");
        if (n == 0)
            return err_set(err, ERR_HOST, "it became shorter");
        sha256_add(&h, chunk, (size_t)n);
        if (fileop_put_data(&w->x->op, chunk, (size_t)n, err) < 0)
            return -1;
        left -= (uint64_t)n;
    }
    sha256_hex(&h, hash);
    if (files_crossed(w->x, EVENT_FILE_IN, w->host, w->cell, size, hash, err) <
        0)
        return -1;
    return fileop_put_end(&w->x->op, err);
}

static int file_in(struct walk *w, int fd, const struct stat *st,
                   struct err *err)
{
    uint64_t size = (uint64_t)st->st_size;

    if (files_count(w->x, size, err) < 0 ||
        fileop_put_begin(&w->x->op, w->cell, st->st_mode & 0777, size, err) <
            0 ||
        send_content(w, fd, size, err) < 0)
        return err_wrap(err, "%s", w->host);
    return 0;
}

static int link_in(struct walk *w, int dirfd, const char *name, struct err *err)
{
    char target[AGENT_PATH_MAX];
    ssize_t n = readlinkat(dirfd, name, target, sizeof(target) - 1);

    if (n < 0)
        return err_sys(err, "%s", w->host);
    target[n] = '\0';
    if (files_count(w->x, 0, err) < 0 ||
        fileop_symlink(&w->x->op, target, w->cell, err) < 0)
        return err_wrap(err, "%s", w->host);
    return 0;
}

static int dir_in(struct walk *w, int fd, struct err *err);

/* One entry of a directory. */
static int entry_in(struct walk *w, int dirfd, const char *name,
                    struct err *err)
{
    AUTO(fd)
    int fd = openat(dirfd, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "%s", w->host);
    if (S_ISLNK(st.st_mode) && w->depth > 0)
        return link_in(w, dirfd, name, err);
    if (fd < 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return err_sys(err, "%s", w->host);
    if (fd >= 0 && fstat(fd, &st) < 0) /* what was opened is what counts */
        return err_sys(err, "%s", w->host);
    if (S_ISREG(st.st_mode))
        return file_in(w, fd, &st, err);
    if (S_ISDIR(st.st_mode))
        return dir_in(w, fd, err);
    if (files_refused(w->x, w->host, w->cell, kind_of(st.st_mode), err) < 0)
        return -1;
    if (w->depth > 0)
        return 0; /* in a tree: recorded, and the rest goes on */
    return err_set(err, ERR_INVALID,
                   "%s: %s; only regular files and directories go in", w->host,
                   kind_of(st.st_mode));
}

static int push(char *path, size_t size, const char *name, size_t *old)
{
    size_t n = strlen(path), m = strlen(name);

    *old = n;
    if (n + m + 2 > size)
        return -1;
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    return 0;
}

static int child_in(struct walk *w, int fd, const char *name, struct err *err)
{
    size_t host, cell;
    int r = -1;

    if (push(w->host, sizeof(w->host), name, &host) == 0) {
        if (push(w->cell, sizeof(w->cell), name, &cell) == 0) {
            r = entry_in(w, fd, name, err);
            w->cell[cell] = '\0';
        } else {
            err_set(err, ERR_LIMIT, "%s: the path is too long", w->host);
        }
        w->host[host] = '\0';
    } else {
        err_set(err, ERR_LIMIT, "%s: the path is too long", w->host);
    }
    return r;
}

static int dir_in(struct walk *w, int fd, struct err *err)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    struct dirent *e;
    int r = 0;

    if (dir == NULL) {
        if (own >= 0)
            close(own);
        return err_sys(err, "%s", w->host);
    }
    w->depth++;
    if (w->depth > FILES_DEPTH_MAX)
        r = err_set(err, ERR_LIMIT, "%s: deeper than %u directories", w->host,
                    FILES_DEPTH_MAX);
    else
        r = fileop_mkdir(&w->x->op, w->cell, 0755, err) < 0
                ? err_wrap(err, "%s", w->host)
                : 0;
    while (r == 0 && (e = readdir(dir)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = child_in(w, dirfd(dir), e->d_name, err);
    w->depth--;
    closedir(dir);
    return r;
}

/* The directory that holds it, by path.h; `name` is the rest of w->host. */
static int parent_open(struct walk *w, const char **name, struct err *err)
{
    size_t n = strlen(w->host);
    char *slash;
    int fd;

    while (n > 1 && w->host[n - 1] == '/')
        w->host[--n] = '\0';
    slash = strrchr(w->host, '/');
    *name = slash == NULL ? w->host : slash + 1;
    if (slash == NULL)
        return path_open(".", err);
    if (slash == w->host)
        return path_open("/", err);
    *slash = '\0';
    fd = path_open(w->host, err);
    *slash = '/';
    return fd;
}

int files_in(struct crossing *x, const char *host, const char *cell,
             struct err *err)
{
    struct walk w = {.x = x};
    struct err why = {0};
    AUTO(fd) int parent = -1;
    const char *name;

    if (strlen(host) >= sizeof(w.host) || strlen(cell) >= sizeof(w.cell))
        return err_set(err, ERR_INVALID, "--in: the path is too long");
    memcpy(w.host, host, strlen(host) + 1);
    memcpy(w.cell, cell, strlen(cell) + 1);
    parent = parent_open(&w, &name, &why);
    if (parent >= 0 &&
        entry_in(&w, parent, name[0] == '\0' ? "." : name, &why) == 0)
        return 0;
    err_set(err, why.code, "--in %s", why.text); /* starts with the path */
    if (err != NULL)
        err->sys = why.sys;
    return -1;
}
