/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path - see path.h. The slow way goes down by descriptors, one component at a
 * time: what was looked at is what is entered, whoever exchanges names
 * meanwhile.
 */
#include "src/base/path.h"

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
#include "src/base/sys.h"

#define LINKS_MAX 40 /* as the kernel */

struct descent {
    int dir; /* where it stands, O_PATH */
    char rest[PATH_MAX];
    unsigned links; /* followed */
};

int path_open_plain(const char *path)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                                 .resolve = RESOLVE_NO_SYMLINKS};

    return sys_openat2(AT_FDCWD, path, &how);
}

int path_name(int fd, char *out, size_t size)
{
    char link[32];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, out, size);
    if (n >= 0 && (size_t)n == size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (n < 0)
        return -1;
    out[n] = '\0';
    return 0;
}

/* Can nobody but root have made a link here? Root's own cells can have made
 * what looks like root's, but never in / (a workspace is not the whole host).
 */
static bool is_roots(int dir)
{
    struct stat st, top;

    if (fstat(dir, &st) < 0 || stat("/", &top) < 0)
        return false;
    if (st.st_dev == top.st_dev && st.st_ino == top.st_ino)
        return true;
    /* The bits as well: what is read-only now need not have been. */
    return geteuid() != 0 && st.st_uid == 0 && (st.st_mode & 022) == 0 &&
           faccessat(dir, ".", W_OK, 0) < 0;
}

static int refuse(const char *path, const struct descent *d, const char *name,
                  struct err *err)
{
    AUTO(mem) char *real = realpath(path, NULL);
    char dir[PATH_MAX];

    if (path_name(d->dir, dir, sizeof(dir)) < 0)
        dir[0] = '\0';
    return err_set(err, ERR_DENIED,
                   "%.200s: %.200s/%.80s is a link, which code in a cell may "
                   "have made: name what it leads to%s%.200s",
                   path, dir, name, real == NULL ? "" : ", ",
                   real == NULL ? "" : real);
}

/* The link's text before what is left; an absolute one starts over. */
static int follow(struct descent *d, int link, struct err *err)
{
    char text[PATH_MAX], rest[PATH_MAX];
    ssize_t n = readlinkat(link, "", text, sizeof(text) - 1);

    if (n <= 0 || ++d->links > LINKS_MAX) {
        errno = n < 0 ? errno : ELOOP;
        return err_sys(err, "follow a link");
    }
    text[n] = '\0';
    if (snprintf(rest, sizeof(rest), "%s/%s", text, d->rest) >=
        (int)sizeof(rest))
        return err_set(err, ERR_INVALID, "the path is too long");
    memcpy(d->rest, rest, sizeof(rest));
    if (text[0] != '/')
        return 0;
    close(d->dir);
    d->dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return d->dir < 0 ? err_sys(err, "/") : 0;
}

/* Takes the next component off d->rest; false when there is none. */
static bool next_name(struct descent *d, char *name)
{
    const char *at = d->rest + strspn(d->rest, "/");
    size_t n = strcspn(at, "/");

    if (n == 0 || n > NAME_MAX)
        return false;
    memcpy(name, at, n);
    name[n] = '\0';
    memmove(d->rest, at + n, strlen(at + n) + 1);
    return true;
}

static int go_down(struct descent *d, const char *path, struct err *err)
{
    char name[NAME_MAX + 1];
    struct stat st;

    while (next_name(d, name)) {
        AUTO(fd) int fd = openat(d->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0 || fstat(fd, &st) < 0)
            return err_sys(err, "%.200s", path);
        if (S_ISLNK(st.st_mode)) {
            if (!is_roots(d->dir))
                return refuse(path, d, name, err);
            if (follow(d, fd, err) < 0)
                return err_wrap(err, "%.200s", path);
            continue;
        }
        close(d->dir);
        d->dir = fd_take(&fd);
    }
    if (d->rest[strspn(d->rest, "/")] == '\0')
        return 0;
    errno = ENAMETOOLONG;
    return err_sys(err, "%.200s", path);
}

static int open_slowly(const char *path, struct err *err)
{
    struct descent d = {.dir = open(path[0] == '/' ? "/" : ".",
                                    O_PATH | O_DIRECTORY | O_CLOEXEC)};

    if (d.dir < 0 ||
        snprintf(d.rest, sizeof(d.rest), "%s", path) >= (int)sizeof(d.rest)) {
        fd_drop(&d.dir);
        return err_set(err, ERR_INVALID, "%.200s: the path is too long", path);
    }
    if (go_down(&d, path, err) == 0)
        return d.dir;
    fd_drop(&d.dir);
    return -1;
}

int path_open(const char *path, struct err *err)
{
    int fd = path_open_plain(path);

    if (fd >= 0)
        return fd;
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
        return err_sys(err, "%.200s", path);
    return open_slowly(path, err);
}

bool path_is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}
