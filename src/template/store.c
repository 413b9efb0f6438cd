/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store - see store.h: opening, locks, and how a build becomes a template. A
 * name is only ever replaced by rename, after all it leads to is on the disk.
 */
#include "src/template/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"
#include "src/template/gone.h"

static int make_dir(int dir, const char *name, struct err *err)
{
    if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
        return err_sys(err, "make %s", name);
    return 0;
}

int store_open(const char *state, struct store *s, struct err *err)
{
    static const char *const dirs[] = {"names", "trees", "work"};
    struct stat st;

    snprintf(s->path, sizeof(s->path), "%s/%s", state, TEMPLATE_DIR);
    if (make_dir(AT_FDCWD, s->path, err) < 0)
        return -1;
    s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &st) < 0)
        return err_sys(err, "%s", s->path);
    if (st.st_uid != geteuid() || (st.st_mode & 022) != 0)
        return err_set(err, ERR_HOST, "%s: others may write to it", s->path);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (make_dir(s->fd, dirs[i], err) < 0)
            return -1;
    return 0;
}

void store_close(struct store *s)
{
    fd_drop(&s->fd);
}

int store_lock(const struct store *s, int *fd, struct err *err)
{
    AUTO(fd)
    int lock =
        openat(s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (lock < 0 || flock(lock, LOCK_EX) < 0)
        return err_sys(err, "lock %s", s->path);
    *fd = fd_take(&lock);
    return 0;
}

int store_work(const struct store *s, const char *name, int *fd,
               struct err *err)
{
    char path[TEMPLATE_NAME_SIZE + 8];
    AUTO(fd) int lock = -1;
    AUTO(fd) int work = -1;

    if (store_lock(s, &lock, err) < 0) /* or gc could take it away */
        return -1;
    snprintf(path, sizeof(path), "work/%s", name);
    if (make_dir(s->fd, path, err) < 0)
        return -1;
    work = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (work < 0)
        return err_sys(err, "%s", path);
    if (flock(work, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_HOST,
                             "template %s is being built by another karzer",
                             name)
                   : err_sys(err, "lock %s", path);
    *fd = fd_take(&work);
    return 0;
}

void store_work_end(const struct store *s, const char *name)
{
    char path[TEMPLATE_NAME_SIZE + 8];
    AUTO(fd) int lock = -1;

    snprintf(path, sizeof(path), "work/%s", name);
    if (store_lock(s, &lock, NULL) == 0)
        unlinkat(s->fd, path, AT_REMOVEDIR);
}

/* What a power cut could still lose, it loses before there is a name. */
static int flush(int dir, const char *path, struct err *err)
{
    AUTO(fd) int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || syncfs(fd) < 0)
        return err_sys(err, "flush %s", path);
    return 0;
}

static int name_put(const struct store *s, const char *name, const char *digest,
                    struct err *err)
{
    char path[TEMPLATE_NAME_SIZE + 8], text[SHA256_HEX_SIZE + 1];
    AUTO(fd)
    int fd =
        openat(s->fd, "names.new",
               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int n = snprintf(text, sizeof(text), "%s\n", digest);

    snprintf(path, sizeof(path), "names/%s", name);
    if (fd < 0 || fd_write_all(fd, text, (size_t)n) < 0 || fsync(fd) < 0 ||
        renameat(s->fd, "names.new", s->fd, path) < 0)
        return err_sys(err, "write %s", path);
    return 0;
}

int store_commit(const struct store *s, const char *name, const char *digest,
                 struct err *err)
{
    char from[TEMPLATE_NAME_SIZE + 16], to[SHA256_HEX_SIZE + 8];
    char old[SHA256_HEX_SIZE] = "";
    AUTO(fd) int lock = -1;

    snprintf(from, sizeof(from), "work/%s/tree", name);
    snprintf(to, sizeof(to), "trees/%s", digest);
    if (flush(s->fd, from, err) < 0 || store_lock(s, &lock, err) < 0)
        return -1;
    template_resolve(s->fd, name, old, NULL);
    if (sys_renameat2(s->fd, from, s->fd, to, RENAME_NOREPLACE) < 0 &&
        errno != EEXIST)
        return err_sys(err, "move the tree to %s", to);
    if (name_put(s, name, digest, err) < 0)
        return -1;
    if (old[0] != '\0' && strcmp(old, digest) != 0)
        gone_tree(s, old, NULL);
    return flush(s->fd, "names", err);
}
