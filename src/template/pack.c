/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack - see pack.h. Called by build.c in a child of its own. Names that a cell
 * never sees (put.h) are not even looked into: /proc and /dev have no end.
 */
#include "src/template/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/template/put.h"

#define BLOCK 65536u

struct pack {
    struct archive *out;
    struct archive_entry *entry;
    struct stat store;
    char path[PUT_PATH_MAX + PUT_NAME_MAX + 2];
    char block[BLOCK];
};

static int out_failed(struct pack *p, struct err *err)
{
    const char *text = archive_error_string(p->out);

    err_set(err, ERR_HOST, "%.300s: %.100s", p->path,
            text == NULL ? "it cannot be passed on" : text);
    err->sys = archive_errno(p->out);
    return -1;
}

static int header_put(struct pack *p, const struct stat *st, const char *to,
                      struct err *err)
{
    struct archive_entry *e = archive_entry_clear(p->entry);

    archive_entry_set_pathname(e, p->path);
    archive_entry_set_filetype(e, st->st_mode & S_IFMT);
    archive_entry_set_perm(e, st->st_mode & 07777);
    archive_entry_set_mtime(e, st->st_mtime, 0);
    archive_entry_set_size(e, S_ISREG(st->st_mode) ? st->st_size : 0);
    if (to != NULL)
        archive_entry_set_symlink(e, to);
    return archive_write_header(p->out, e) == ARCHIVE_OK ? 0
                                                         : out_failed(p, err);
}

static int changed(const struct pack *p, struct err *err)
{
    return err_set(err, ERR_HOST, "%.300s: it changed while it was read",
                   p->path);
}

static int data_put(struct pack *p, int fd, uint64_t left, struct err *err)
{
    while (left > 0) {
        ssize_t n = fd_read_full(fd, p->block, left < BLOCK ? left : BLOCK);

        if (n < 0)
            return err_sys(err, "%.300s", p->path);
        if (n == 0)
            return changed(p, err);
        if (archive_write_data(p->out, p->block, (size_t)n) != n)
            return out_failed(p, err);
        left -= (uint64_t)n;
    }
    return fd_read_full(fd, p->block, 1) == 0 ? 0 : changed(p, err);
}

static int file_put(struct pack *p, int dir, const char *name, struct err *err)
{
    AUTO(fd)
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%.300s", p->path);
    if (!S_ISREG(st.st_mode))
        return changed(p, err);
    if (header_put(p, &st, NULL, err) < 0)
        return -1;
    return data_put(p, fd, (uint64_t)st.st_size, err);
}

static int link_put(struct pack *p, int dir, const char *name,
                    const struct stat *st, struct err *err)
{
    char to[PATH_MAX];
    ssize_t n = readlinkat(dir, name, to, sizeof(to) - 1);

    if (n < 0)
        return err_sys(err, "%.300s", p->path);
    to[n] = '\0';
    return header_put(p, st, to, err);
}

static int dir_put(struct pack *p, int dir, unsigned depth, struct err *err);

static int below_put(struct pack *p, int dir, const char *name,
                     const struct stat *st, unsigned depth, struct err *err)
{
    AUTO(fd)
    int sub =
        openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (sub < 0)
        return err_sys(err, "%.300s", p->path);
    if (st->st_dev == p->store.st_dev && st->st_ino == p->store.st_ino)
        return err_set(err, ERR_INVALID,
                       "%.300s: karzer's own templates are in it", p->path);
    if (depth == 0)
        return err_set(err, ERR_LIMIT,
                       "%.300s: too many directories in each "
                       "other",
                       p->path);
    if (header_put(p, st, NULL, err) < 0)
        return -1;
    return dir_put(p, sub, depth - 1, err);
}

static int entry_put(struct pack *p, int dir, const char *name, unsigned depth,
                     struct err *err)
{
    struct stat st;

    if (put_is_skipped(p->path))
        return 0;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "%.300s", p->path);
    switch (st.st_mode & S_IFMT) {
    case S_IFDIR:
        return below_put(p, dir, name, &st, depth, err);
    case S_IFREG:
        return file_put(p, dir, name, err);
    case S_IFLNK:
        return link_put(p, dir, name, &st, err);
    default:
        return err_set(err, ERR_INVALID,
                       "%.300s: neither file, directory nor link", p->path);
    }
}

static int dir_put(struct pack *p, int dir, unsigned depth, struct err *err)
{
    int copy = dup(dir), r = 0;
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    size_t len = strlen(p->path);
    struct dirent *e;

    if (d == NULL) {
        fd_drop(&copy);
        return err_sys(err, "list %.300s", p->path);
    }
    while (r == 0 && (errno = 0, e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(p->path + len, sizeof(p->path) - len, "%s%s",
                 len == 0 ? "" : "/", e->d_name);
        r = strlen(p->path) >= PUT_PATH_MAX
                ? err_set(err, ERR_LIMIT, "%.300s...: too long", p->path)
                : entry_put(p, dir, e->d_name, depth, err);
    }
    if (r == 0 && errno != 0)
        r = err_sys(err, "list %.300s", p->path);
    if (r == 0)
        p->path[len] = '\0';
    closedir(d);
    return r;
}

static int writer_open(struct pack *p, int out, struct err *err)
{
    p->out = archive_write_new();
    p->entry = archive_entry_new();
    if (p->out == NULL || p->entry == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (archive_write_set_format_pax_restricted(p->out) != ARCHIVE_OK ||
        archive_write_set_options(p->out, "hdrcharset=BINARY") != ARCHIVE_OK ||
        archive_write_open_fd(p->out, out) != ARCHIVE_OK)
        return out_failed(p, err);
    return 0;
}

int pack_run(int dir, int out, int store, struct err *err)
{
    AUTO(mem) struct pack *p = calloc(1, sizeof(*p));
    int r;

    if (p == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (fstat(store, &p->store) < 0)
        return err_sys(err, "the store");
    r = writer_open(p, out, err);
    if (r == 0)
        r = dir_put(p, dir, put_caps_default.depth, err);
    if (r == 0 && archive_write_close(p->out) != ARCHIVE_OK)
        r = out_failed(p, err);
    archive_entry_free(p->entry);
    archive_write_free(p->out);
    return r;
}
