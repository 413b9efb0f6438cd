/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file - see file.h. Called by loop.c. Opens nothing but regular files and
 * directories for reading, with O_NONBLOCK, so that no fifo, device or lease of
 * the program can hold the agent.
 */
#include "agent/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* rename() and renameat() only */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/decode.h"

#define OPEN_READ (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define OPEN_TEMP (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
#define TEMP_TRIES 64
#define ROOM_MIN 4096u
#define LIST_BATCH 8192
/* A directory entry of 24 bytes or more gives a frame of at most 26 more. */
#define LIST_ROOM (4 * LIST_BATCH)

static void done(struct file_op *op, struct frame_out *out)
{
    op->kind = FILE_FREE;
    frame_put(out, AGENT_FILE_DONE, op->cmd, NULL, 0);
}

static void failed(struct file_op *op, int error, struct frame_out *out)
{
    uint32_t sys = (uint32_t)error;

    op->kind = FILE_FREE;
    frame_put(out, AGENT_FILE_ERROR, op->cmd, &sys, sizeof(sys));
}

static void answer(struct file_op *op, int result, struct frame_out *out)
{
    if (result < 0)
        failed(op, errno, out);
    else
        done(op, out);
}

static struct agent_stat stat_of(const struct stat *st)
{
    return (struct agent_stat){
        .size = (uint64_t)st->st_size,
        .mtime_s = (uint64_t)st->st_mtime,
        .mode = st->st_mode,
        .links = (uint32_t)st->st_nlink,
        .blocks = (uint64_t)st->st_blocks,
    };
}

/* PUT */

/* With its mode from the start: see tree_mkdir(). */
static int temp_make(const struct file_op *op)
{
    mode_t mask = umask(0);
    int fd = openat(op->dir, op->temp, OPEN_TEMP, op->mode);

    umask(mask);
    return fd;
}

static int temp_open(struct file_op *op)
{
    static uint32_t serial;

    for (int tries = 0; tries < TEMP_TRIES; tries++) {
        char *at = op->temp + sizeof(".karzer-put-") - 1;
        uint32_t n = serial++;
        int fd;

        memcpy(op->temp, ".karzer-put-", sizeof(".karzer-put-"));
        for (int i = 28; i >= 0; i -= 4)
            *at++ = "0123456789abcdef"[(n >> i) & 15];
        *at = 0;
        fd = temp_make(op);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* The rest of its data will be swallowed. */
static void put_failed(struct file_op *op, int error, struct frame_out *out)
{
    file_abort(op);
    failed(op, error, out);
    op->kind = FILE_SWALLOW;
}

static int start_put(struct file_op *op, const char *payload, size_t len,
                     struct frame_out *out)
{
    struct agent_put put;
    const char *path;

    if (decode_put(payload, len, &put, &path) < 0)
        return -1;
    op->kind = FILE_PUT;
    op->fd = op->dir = -1;
    op->mode = put.mode;
    op->size = put.size;
    op->done = 0;
    if ((put.mode & ~0777u) != 0) {
        put_failed(op, EPERM, out);
        return 0;
    }
    op->dir = tree_parent(path, true, op->name);
    if (op->dir >= 0)
        op->fd = temp_open(op);
    if (op->fd < 0)
        put_failed(op, errno, out);
    return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

int file_data(struct file_op *op, const char *data, size_t len,
              struct frame_out *out)
{
    if (op->kind == FILE_SWALLOW)
        return 0;
    if (op->kind != FILE_PUT)
        return -1;
    if (op->size != 0 && len > op->size - op->done)
        put_failed(op, EFBIG, out);
    else if (write_all(op->fd, data, len) < 0)
        put_failed(op, errno, out);
    else
        op->done += len;
    return 0;
}

static int put_finish(struct file_op *op)
{
    if (op->size != 0 && op->done != op->size) {
        errno = EIO;
        return -1;
    }
    return renameat(op->dir, op->temp, op->dir, op->name);
}

int file_end(struct file_op *op, struct frame_out *out)
{
    if (op->kind == FILE_SWALLOW) {
        op->kind = FILE_FREE;
        return 0;
    }
    if (op->kind != FILE_PUT)
        return -1;
    if (put_finish(op) < 0) {
        int error = errno;

        file_abort(op);
        failed(op, error, out);
        return 0;
    }
    close(op->fd);
    close(op->dir);
    done(op, out);
    return 0;
}

/* GET */

static int open_regular(const char *path, struct stat *st)
{
    int fd = open(path, OPEN_READ);

    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0) {
        if (S_ISREG(st->st_mode))
            return fd;
        errno = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
    }
    close(fd);
    return -1;
}

static void start_get(struct file_op *op, const char *path,
                      struct frame_out *out)
{
    struct agent_stat stated;
    struct stat st;

    op->fd = open_regular(path, &st);
    if (op->fd < 0) {
        failed(op, errno, out);
        return;
    }
    op->kind = FILE_GET;
    op->size = (uint64_t)st.st_size;
    op->done = 0;
    stated = stat_of(&st);
    frame_put(out, AGENT_FILE_STATED, op->cmd, &stated, sizeof(stated));
}

static void get_turn(struct file_op *op, struct frame_out *out)
{
    uint64_t left = op->size - op->done;
    size_t room = frame_room(out);
    ssize_t n = 0;

    if (!frame_free(out) || (room < ROOM_MIN && room < left))
        return;
    if (left > 0)
        n = read(op->fd, frame_space(out), room < left ? room : (size_t)left);
    if (n > 0) {
        frame_commit(out, AGENT_FILE_DATA, op->cmd, (uint32_t)n);
        op->done += (uint64_t)n;
        return;
    }
    if (n < 0) {
        int error = errno;

        file_abort(op);
        failed(op, error, out);
        return;
    }
    file_abort(op);
    frame_put(out, AGENT_FILE_END, op->cmd, NULL, 0);
}

/* STAT and LIST */

static void start_stat(struct file_op *op, const char *path,
                       struct frame_out *out)
{
    char answered[sizeof(struct agent_stat) + AGENT_PATH_MAX];
    size_t len = sizeof(struct agent_stat);
    struct agent_stat stated;
    struct stat st;

    if (lstat(path, &st) < 0) {
        failed(op, errno, out);
        return;
    }
    stated = stat_of(&st);
    memcpy(answered, &stated, sizeof(stated));
    if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlink(path, answered + len, AGENT_PATH_MAX - 1);

        if (n < 0) {
            failed(op, errno, out);
            return;
        }
        len += (size_t)n;
        answered[len++] = 0;
    }
    frame_put(out, AGENT_FILE_STATED, op->cmd, answered, (uint32_t)len);
}

static void start_list(struct file_op *op, const char *path,
                       struct frame_out *out)
{
    op->fd = open(path, OPEN_READ | O_DIRECTORY);
    if (op->fd < 0) {
        failed(op, errno, out);
        return;
    }
    op->kind = FILE_LIST;
    op->entries = 0;
}

static void list_entry(struct file_op *op, const char *name,
                       struct frame_out *out)
{
    struct agent_stat stated;
    size_t len = strlen(name) + 1;
    char *space = frame_space(out);
    struct stat st;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    if (fstatat(op->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* gone meanwhile */
    stated = stat_of(&st);
    memcpy(space, &stated, sizeof(stated));
    memcpy(space + sizeof(stated), name, len);
    frame_commit(out, AGENT_FILE_ENTRY, op->cmd,
                 (uint32_t)(sizeof(stated) + len));
    op->entries++;
}

static void list_turn(struct file_op *op, struct frame_out *out)
{
    char buf[LIST_BATCH] __attribute__((aligned(8)));
    ssize_t n;

    if (!frame_free(out) || frame_room(out) < LIST_ROOM)
        return;
    n = getdents64(op->fd, (void *)buf, sizeof(buf));
    if (n > 0 && op->entries <= FILE_LIST_MAX) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *d = (const void *)(buf + at);

            at += d->d_reclen;
            list_entry(op, d->d_name, out);
        }
        return;
    }
    if (n > 0) {
        errno = E2BIG;
        n = -1;
    }
    if (n < 0) {
        int error = errno;

        file_abort(op);
        failed(op, error, out);
        return;
    }
    file_abort(op);
    done(op, out);
}

/* REMOVE, and what answers at once */

static void start_remove(struct file_op *op, const char *path,
                         struct frame_out *out)
{
    int r = tree_remove_start(&op->removal, path);

    if (r == 0)
        op->kind = FILE_REMOVE;
    else
        answer(op, r, out);
}

static void remove_turn(struct file_op *op, struct frame_out *out)
{
    int r;

    if (!frame_free(out))
        return;
    r = tree_remove_step(&op->removal);
    if (r != 0)
        answer(op, r, out);
}

static int start_mkdir(struct file_op *op, const char *payload, size_t len,
                       struct frame_out *out)
{
    const char *path;
    uint32_t mode;

    if (decode_number(payload, len, &mode, &path) < 0)
        return -1;
    if ((mode & ~01777u) != 0)
        failed(op, EPERM, out);
    else
        answer(op, tree_mkdir(path, mode), out);
    return 0;
}

static int rename_absolute(const char *from, const char *to)
{
    if (*from == '/' && *to == '/')
        return rename(from, to);
    errno = EINVAL;
    return -1;
}

static int symlink_absolute(const char *target, const char *path)
{
    if (*path == '/')
        return symlink(target, path);
    errno = EINVAL;
    return -1;
}

struct starter {
    int (*whole)(struct file_op *op, const char *payload, size_t len,
                 struct frame_out *out);
    void (*path)(struct file_op *op, const char *path, struct frame_out *out);
    int (*two)(const char *first, const char *second);
};

/* clang-format off */
static const struct starter starters[] = {
    [AGENT_FILE_PUT]     = {.whole = start_put},
    [AGENT_FILE_GET]     = {.path = start_get},
    [AGENT_FILE_STAT]    = {.path = start_stat},
    [AGENT_FILE_LIST]    = {.path = start_list},
    [AGENT_FILE_MKDIR]   = {.whole = start_mkdir},
    [AGENT_FILE_REMOVE]  = {.path = start_remove},
    [AGENT_FILE_RENAME]  = {.two = rename_absolute},
    [AGENT_FILE_SYMLINK] = {.two = symlink_absolute},
};
/* clang-format on */

int file_start(struct file_op *op, const struct agent_frame *head,
               const char *payload, struct frame_out *out)
{
    const struct starter *starter = &starters[head->type];
    const char *path[2];

    op->kind = FILE_FREE; /* whatever was being swallowed */
    op->cmd = head->cmd;
    if (starter->whole != NULL)
        return starter->whole(op, payload, head->size, out);
    if (decode_strings(payload, head->size, path,
                       starter->two != NULL ? 2 : 1) < 0)
        return -1;
    if (starter->two != NULL)
        answer(op, starter->two(path[0], path[1]), out);
    else if (path[0][0] != '/')
        failed(op, EINVAL, out);
    else
        starter->path(op, path[0], out);
    return 0;
}

void file_turn(struct file_op *op, struct frame_out *out)
{
    if (op->kind == FILE_GET)
        get_turn(op, out);
    else if (op->kind == FILE_LIST)
        list_turn(op, out);
    else if (op->kind == FILE_REMOVE)
        remove_turn(op, out);
}

void file_abort(struct file_op *op)
{
    if (op->kind == FILE_REMOVE)
        tree_remove_stop(&op->removal);
    if (op->kind == FILE_PUT && op->fd >= 0)
        unlinkat(op->dir, op->temp, 0);
    if (op->kind == FILE_PUT && op->dir >= 0)
        close(op->dir);
    if (op->kind >= FILE_PUT && op->kind != FILE_REMOVE &&
        op->kind != FILE_SWALLOW && op->fd >= 0)
        close(op->fd);
    op->kind = FILE_FREE;
}
