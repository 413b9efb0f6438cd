/* SPDX-License-Identifier: Apache-2.0 */
/* scratch - see scratch.h. */
#include "src/base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/slot.h"

/* Deeper ones are moved up first: descriptors and stack stay few. */
#define DEPTH_MAX 32
#define NAME_SIZE 32
#define MAKE_TRIES 3

static const int dir_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/* One removal. Files that cannot go are counted, not fought. */
struct removal {
    int top;        /* the directory that all this is about */
    unsigned moved; /* names for what is moved up */
    unsigned left;
};

static void slot_name(unsigned slot, char *out)
{
    snprintf(out, NAME_SIZE, "karzer-%u", slot);
}

int scratch_path(const char *dir, unsigned slot, char *out, size_t size,
                 struct err *err)
{
    int n = snprintf(out, size, "%s/karzer-%u", dir, slot);

    if (n < 0 || (size_t)n >= size)
        return err_set(err, ERR_INVALID, "the path of scratch is too long");
    return 0;
}

/* A directory that its owner cannot list is made listable; as it is ours, or
 * we are root, that is allowed. */
static int open_dir(int at, const char *name)
{
    int fd = openat(at, name, dir_flags);
    AUTO(fd) int path_fd = -1;
    char path[NAME_SIZE];

    if (fd >= 0 || errno != EACCES)
        return fd;
    path_fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (path_fd < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
    if (chmod(path, 0700) < 0)
        return -1;
    return openat(at, name, dir_flags);
}

static void clear_dir(struct removal *r, int fd, int depth);

static void remove_dir(struct removal *r, int at, const char *name, int depth)
{
    char up[NAME_SIZE];

    if (unlinkat(at, name, AT_REMOVEDIR) == 0)
        return;
    if (depth == 0) {
        /* A name that no program chose: "..." and a number. */
        snprintf(up, sizeof(up), "...%u", r->moved++);
        if (renameat(at, name, r->top, up) < 0)
            r->left++;
        return;
    }
    AUTO(fd) int fd = open_dir(at, name);

    if (fd >= 0)
        clear_dir(r, fd, depth - 1);
    if (unlinkat(at, name, AT_REMOVEDIR) < 0)
        r->left++;
}

static void clear_dir(struct removal *r, int fd, int depth)
{
    int own = openat(fd, ".", dir_flags);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct dirent *e;

    if (d == NULL) {
        fd_drop(&own);
        r->left++;
        return;
    }
    while ((e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, e->d_name, 0) < 0)
            remove_dir(r, fd, e->d_name, depth);
    }
    closedir(d);
}

/* Empties `fd` until nothing is moved up any more. */
static int clear_all(int fd)
{
    struct removal r = {.top = fd};
    unsigned moved;

    do {
        moved = r.moved;
        r.left = 0;
        clear_dir(&r, fd, DEPTH_MAX);
    } while (r.moved != moved);
    return r.left == 0 ? 0 : -1;
}

/* Whoever holds it keeps a lock on it, in whatever state directory its slot is.
 * A descriptor with the lock; -1 with EWOULDBLOCK: it is alive. */
static int open_locked(int at, const char *name)
{
    AUTO(fd) int fd = open_dir(at, name);

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return -1;
    return fd_take(&fd);
}

static int remove_dead(int at, const char *name)
{
    AUTO(fd) int fd = open_locked(at, name);

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    clear_all(fd);
    return unlinkat(at, name, AT_REMOVEDIR);
}

static int remove_named(int at, const char *name)
{
    AUTO(fd) int fd = open_dir(at, name);

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    clear_all(fd);
    return unlinkat(at, name, AT_REMOVEDIR);
}

/* In a directory that others may write to, a name is not yet ours. */
static int check_owner(int fd, const char *name, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_sys(err, "scratch %s", name);
    if (st.st_uid != geteuid() || (st.st_mode & 0077) != 0)
        return err_set(err, ERR_HOST, "scratch %s is another user's", name);
    return 0;
}

static int make_parts(int fd, uid_t uid, gid_t gid, struct err *err)
{
    static const char *const parts[] = {"home", "tmp"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (mkdirat(fd, parts[i], 0700) < 0 ||
            (geteuid() == 0 &&
             fchownat(fd, parts[i], uid, gid, AT_SYMLINK_NOFOLLOW) < 0))
            return err_sys(err, "scratch %s", parts[i]);
    if (geteuid() == 0 && fchown(fd, uid, gid) < 0)
        return err_sys(err, "scratch");
    return 0;
}

/* A new one, locked. -1 with ENOENT: a sweep came between. */
static int make_locked(int at, const char *name)
{
    AUTO(fd) int fd = -1;
    struct stat st;

    if (mkdirat(at, name, 0700) < 0 &&
        (errno != EEXIST || remove_dead(at, name) < 0 ||
         mkdirat(at, name, 0700) < 0))
        return -1;
    fd = open_locked(at, name);
    if (fd < 0 && errno == EWOULDBLOCK)
        errno = ENOENT;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    if (st.st_nlink == 0) {
        errno = ENOENT;
        return -1;
    }
    return fd_take(&fd);
}

int scratch_make(const char *dir, unsigned slot, uid_t uid, gid_t gid,
                 struct err *err)
{
    AUTO(fd) int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(fd) int fd = -1;
    char name[NAME_SIZE];

    if (at < 0)
        return err_sys(err, "scratch %s", dir);
    slot_name(slot, name);
    for (int i = 0; i < MAKE_TRIES && fd < 0; i++) {
        fd = make_locked(at, name);
        if (fd < 0 && errno != ENOENT)
            break;
    }
    if (fd < 0)
        return err_sys(err, "make scratch %s/%s", dir, name);
    if (check_owner(fd, name, err) < 0 || make_parts(fd, uid, gid, err) < 0)
        return -1;
    return fd_take(&fd);
}

int scratch_remove(const char *dir, unsigned slot, struct err *err)
{
    AUTO(fd) int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[NAME_SIZE];

    slot_name(slot, name);
    if (at < 0 || remove_named(at, name) < 0)
        return err_sys(err, "remove scratch %s/%s", dir, name);
    return 0;
}

/* Root's runs have their slots elsewhere than an ordinary user's: what belongs
 * to neither the owner of the slots nor a cell of root's is left to others. */
static int is_theirs(int at, const char *name, unsigned slot, uid_t owner)
{
    struct stat st;

    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return st.st_uid == owner ||
           (owner == 0 && st.st_uid == SLOT_UID_BASE + slot);
}

static int sweep_one(int at, const char *name, const char *slot_dir,
                     uid_t owner)
{
    AUTO(fd) int lock = -1;
    char again[NAME_SIZE];
    unsigned slot;

    if (sscanf(name, "karzer-%u", &slot) != 1 || slot >= SLOT_COUNT)
        return 0;
    slot_name(slot, again);
    if (strcmp(name, again) != 0 || !is_theirs(at, name, slot, owner) ||
        slot_try(slot_dir, slot, &lock) != 1)
        return 0;
    return remove_dead(at, name) == 0;
}

int scratch_sweep(const char *dir, const char *slot_dir, struct err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;
    struct stat st;
    int removed = 0;

    if (d == NULL || stat(slot_dir, &st) < 0) {
        err_sys(err, "sweep scratch %s", dir);
        if (d != NULL)
            closedir(d);
        else
            fd_drop(&fd);
        return -1;
    }
    while ((e = readdir(d)) != NULL)
        removed += sweep_one(dirfd(d), e->d_name, slot_dir, st.st_uid);
    closedir(d);
    return removed;
}
