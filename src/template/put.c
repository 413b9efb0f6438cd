/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put - see put.h. Called by import.c in the confined child, and by the fuzzer.
 * RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS are what keeps it in; the checks of
 * names are there for clear errors and for readers of the tree.
 */
#include "src/template/put.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/sys.h"

const struct put_caps put_caps_default = {
    .bytes = UINT64_C(16) << 30, .entries = 500000, .depth = 100};

static int part_check(const char *part, size_t len, struct err *err)
{
    if (len > PUT_NAME_MAX)
        return err_set(err, ERR_LIMIT, "a name of %zu bytes", len);
    if (len == 2 && part[0] == '.' && part[1] == '.')
        return err_set(err, ERR_INVALID, "\"..\" is in the name");
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f)
            return err_set(err, ERR_INVALID,
                           "a control character is in the name");
    return 0;
}

int put_path(const char *raw, unsigned depth, char out[PUT_PATH_MAX],
             struct err *err)
{
    size_t n = 0;

    if (raw[0] == '/')
        return err_set(err, ERR_INVALID, "the name is absolute");
    if (strlen(raw) >= PUT_PATH_MAX)
        return err_set(err, ERR_LIMIT, "a path of %zu bytes", strlen(raw));
    while (*raw != '\0') {
        size_t len = strcspn(raw, "/");

        if (part_check(raw, len, err) < 0)
            return -1;
        if (len > 0 && !(len == 1 && raw[0] == '.')) {
            if (depth-- == 0)
                return err_set(err, ERR_LIMIT,
                               "too many directories in each "
                               "other");
            if (n > 0)
                out[n++] = '/';
            memcpy(out + n, raw, len);
            n += len;
        }
        raw += len + (raw[len] == '/');
    }
    out[n] = '\0';
    return 0;
}

bool put_is_skipped(const char *path)
{
    static const char *const all[] = {"dev",   "proc", "sys",        "run",
                                      "tmp",   "home", "root",       "boot",
                                      "media", "mnt",  "lost+found", "karzer"};
    size_t n = strcspn(path, "/");

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (strlen(all[i]) == n && memcmp(all[i], path, n) == 0)
            return true;
    return false;
}

int put_count(struct put *p, uint64_t bytes, struct err *err)
{
    struct put_counts *c = &p->counts;

    if (c->entries >= p->caps.entries)
        return err_set(err, ERR_LIMIT, "more than %llu entries",
                       (unsigned long long)p->caps.entries);
    if (bytes > p->caps.bytes - c->bytes)
        return err_set(err, ERR_LIMIT, "more than %llu MB of files",
                       (unsigned long long)(p->caps.bytes >> 20));
    c->entries++;
    c->bytes += bytes;
    return 0;
}

static int beneath(int dir, const char *path, uint64_t flags)
{
    const struct open_how how = {
        .flags = flags | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
    };

    return sys_openat2(dir, path, &how);
}

/* Each directory of `path` that is missing. The tree is ours alone meanwhile:
 * a name that is there stays what it is. */
static int parents_make(int root, char *path)
{
    for (char *at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/')) {
        AUTO(fd) int dir = -1;
        char *last;
        int r;

        *at = '\0';
        last = strrchr(path, '/');
        if (last != NULL)
            *last = '\0';
        dir = last == NULL ? dup(root)
                           : beneath(root, path, O_PATH | O_DIRECTORY);
        if (last != NULL)
            *last = '/';
        r = dir < 0 ? -1 : mkdirat(dir, last == NULL ? path : last + 1, 0755);
        *at = '/';
        if (r < 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

/* The directory that holds `path`, and *name in it. */
static int parent_open(const struct put *p, const char *path, const char **name,
                       struct err *err)
{
    const char *slash = strrchr(path, '/');
    char dir[PUT_PATH_MAX], all[PUT_PATH_MAX];
    int fd;

    *name = slash == NULL ? path : slash + 1;
    if (slash == NULL)
        fd = dup(p->root);
    else {
        snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
        fd = beneath(p->root, dir, O_PATH | O_DIRECTORY);
        if (fd < 0 && errno == ENOENT) {
            snprintf(all, sizeof(all), "%s", path);
            fd = parents_make(p->root, all) < 0
                     ? -1
                     : beneath(p->root, dir, O_PATH | O_DIRECTORY);
        }
    }
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR || errno == EXDEV))
        return err_set(err, ERR_INVALID,
                       "the name leads through a link or a file");
    return fd < 0 ? err_sys(err, "open its directory") : fd;
}

static int there(struct err *err)
{
    return errno == EEXIST
               ? err_set(err, ERR_INVALID, "the name is there twice")
               : err_sys(err, "make it");
}

int put_dir(struct put *p, const char *path, mode_t mode, struct err *err)
{
    const char *name;
    AUTO(fd) int dir = parent_open(p, path, &name, err);
    struct stat st;

    if (dir < 0)
        return -1;
    mode = (mode & 0755) | 0700;
    if (mkdirat(dir, name, mode) == 0)
        return 0;
    if (errno != EEXIST || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return there(err);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "the name is there twice");
    return fchmodat(dir, name, mode, 0) < 0 ? err_sys(err, "make it") : 0;
}

int put_link(struct put *p, const char *path, const char *to, struct err *err)
{
    size_t len = strlen(to);
    const char *name;
    AUTO(fd) int dir = -1;

    if (len == 0 || len > PUT_LINK_MAX)
        return err_set(err, ERR_INVALID, "a link to a name of %zu bytes", len);
    dir = parent_open(p, path, &name, err);
    if (dir < 0)
        return -1;
    return symlinkat(to, dir, name) < 0 ? there(err) : 0;
}

int put_hard(struct put *p, const char *path, const char *to, struct err *err)
{
    const char *name, *old;
    AUTO(fd) int dir = -1;
    AUTO(fd) int from = -1;
    struct stat st;

    from = parent_open(p, to, &old, err);
    if (from < 0)
        return -1;
    if (fstatat(from, old, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_set(err, ERR_INVALID, "a hard link to what is not there");
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "a hard link to what is no file");
    dir = parent_open(p, path, &name, err);
    if (dir < 0)
        return -1;
    return linkat(from, old, dir, name, 0) < 0 ? there(err) : 0;
}

int put_file(struct put *p, const char *path, mode_t mode, int *fd,
             struct err *err)
{
    const char *name;
    AUTO(fd) int dir = parent_open(p, path, &name, err);

    if (dir < 0)
        return -1;
    *fd =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               (mode & 0755) | 0400);
    return *fd < 0 ? there(err) : 0;
}
