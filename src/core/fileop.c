/* SPDX-License-Identifier: Apache-2.0 */
/* fileop - see fileop.h. Called by the files_* modules and run.c. */
#include "src/core/fileop.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/core/pump.h"

#define FILEOP_CMD_FIRST 4 /* those below are commands */
#define FILEOP_MS 60000
#define FILEOP_QUEUE (512u << 10)

static int send_all(struct fileop *op, uint16_t type, const void *data,
                    size_t len, struct err *err)
{
    if (stream_put(op->stream, type, op->stream->file_cmd, data, len, err) < 0)
        return -1;
    if (op->stream->out.len < FILEOP_QUEUE)
        return stream_flush(op->stream, err);
    return pump_drain(op->stream, FILEOP_MS, err);
}

/*
 * A number for a new operation: one that was left half-way still has its own,
 * and its late words are passed over until its end comes.
 */
static int next_cmd(struct fileop *op, struct err *err)
{
    struct stream *s = op->stream;

    for (unsigned i = FILEOP_CMD_FIRST; i <= AGENT_CMD_MAX; i++) {
        if (s->file_open & (1u << i))
            continue;
        s->file_cmd = (uint16_t)i;
        s->file_open |= 1u << i;
        return 0;
    }
    return err_set(err, ERR_LIMIT, "too many unfinished file operations");
}

static bool is_end(uint16_t type)
{
    return type == AGENT_FILE_END || type == AGENT_FILE_DONE ||
           type == AGENT_FILE_ERROR;
}

static int answer_error(const struct agent_frame *f, const char *payload,
                        struct err *err)
{
    uint32_t no = 0;

    if (f->size == sizeof(no))
        memcpy(&no, payload, sizeof(no));
    errno = no > 0 && no < 4096 ? (int)no : EIO;
    err_sys(err, "in the cell");
    if (err != NULL)
        err->code = ERR_DENIED; /* the stream is whole: others may go on */
    return -1;
}

/* The next frame of our operation; other commands' words are passed over. */
static int answer(struct fileop *op, struct agent_frame *f,
                  const char **payload, struct err *err)
{
    int r;

    if (pump_drain(op->stream, FILEOP_MS, err) < 0)
        return -1;
    do {
        r = pump_frame(op->stream, op->cell, FILEOP_MS, f, payload, err);
        if (r < 0)
            return -1;
        if (r == 0)
            return err_set(err, ERR_INTERNAL, "the agent does not answer");
        if (is_end(f->type))
            op->stream->file_open &= ~(1u << f->cmd);
    } while (f->cmd != op->stream->file_cmd);
    if (f->type == AGENT_FILE_ERROR)
        return answer_error(f, *payload, err);
    return 0;
}

static int expect_done(struct fileop *op, struct err *err)
{
    struct agent_frame f;
    const char *payload;

    if (answer(op, &f, &payload, err) < 0)
        return -1;
    if (f.type != AGENT_FILE_DONE)
        return err_set(err, ERR_INVALID, "the agent sent frame type %u",
                       f.type);
    return 0;
}

static int path_check(const char *path, struct err *err)
{
    if (path[0] != '/' || strlen(path) >= AGENT_PATH_MAX)
        return err_set(err, ERR_INVALID, "%s: not a path in the cell", path);
    return 0;
}

/* An operation of `head` (may be empty) and one or two strings. */
static int request_send(struct fileop *op, uint16_t type, const void *head,
                        size_t head_len, const char *const *strings,
                        struct err *err)
{
    AUTO(buf) struct buf b;

    buf_init(&b, 3 * AGENT_PATH_MAX);
    if (next_cmd(op, err) < 0 || buf_add(&b, head, head_len, err) < 0)
        return -1;
    for (; *strings != NULL; strings++)
        if (buf_strz(&b, *strings, err) < 0)
            return -1;
    return send_all(op, type, b.data, b.len, err);
}

int fileop_put_begin(struct fileop *op, const char *path, uint32_t mode,
                     uint64_t size, struct err *err)
{
    const struct agent_put put = {.mode = mode & 0777, .size = size};

    if (path_check(path, err) < 0)
        return -1;
    return request_send(op, AGENT_FILE_PUT, &put, sizeof(put),
                        (const char *const[]){path, NULL}, err);
}

int fileop_put_data(struct fileop *op, const void *data, size_t len,
                    struct err *err)
{
    const char *at = data;

    while (len > 0) {
        size_t n = len < AGENT_DATA_MAX ? len : AGENT_DATA_MAX;

        if (send_all(op, AGENT_FILE_DATA, at, n, err) < 0)
            return -1;
        at += n;
        len -= n;
    }
    return 0;
}

int fileop_put_end(struct fileop *op, struct err *err)
{
    if (send_all(op, AGENT_FILE_END, NULL, 0, err) < 0)
        return -1;
    return expect_done(op, err);
}

static int stat_take(const struct agent_frame *f, const char *payload,
                     struct fileop_stat *st, struct err *err)
{
    struct agent_stat as;

    if ((f->type != AGENT_FILE_STATED && f->type != AGENT_FILE_ENTRY) ||
        f->size < sizeof(as))
        return err_set(err, ERR_INVALID, "the agent sent frame type %u",
                       f->type);
    memcpy(&as, payload, sizeof(as));
    *st = (struct fileop_stat){
        .size = as.size, .mode = as.mode, .mtime_s = as.mtime_s};
    return 0;
}

static int stat_of(struct fileop *op, uint16_t type, const char *path,
                   struct fileop_stat *st, struct err *err)
{
    struct agent_frame f;
    const char *payload;

    if (path_check(path, err) < 0 ||
        request_send(op, type, NULL, 0, (const char *const[]){path, NULL},
                     err) < 0 ||
        answer(op, &f, &payload, err) < 0)
        return -1;
    if (type == AGENT_FILE_STAT) /* this answer is also its end */
        op->stream->file_open &= ~(1u << f.cmd);
    return stat_take(&f, payload, st, err);
}

int fileop_get_begin(struct fileop *op, const char *path,
                     struct fileop_stat *st, struct err *err)
{
    return stat_of(op, AGENT_FILE_GET, path, st, err);
}

int fileop_stat(struct fileop *op, const char *path, struct fileop_stat *st,
                struct err *err)
{
    return stat_of(op, AGENT_FILE_STAT, path, st, err);
}

ssize_t fileop_get_data(struct fileop *op, const char **data, struct err *err)
{
    struct agent_frame f;

    do {
        if (answer(op, &f, data, err) < 0)
            return -1;
        if (f.type == AGENT_FILE_END)
            return 0;
        if (f.type != AGENT_FILE_DATA)
            return err_set(err, ERR_INVALID, "the agent sent frame type %u",
                           f.type);
    } while (f.size == 0);
    return (ssize_t)f.size;
}

int fileop_mkdir(struct fileop *op, const char *path, uint32_t mode,
                 struct err *err)
{
    const uint32_t bits = mode & 0777;

    if (path_check(path, err) < 0 ||
        request_send(op, AGENT_FILE_MKDIR, &bits, sizeof(bits),
                     (const char *const[]){path, NULL}, err) < 0)
        return -1;
    return expect_done(op, err);
}

int fileop_symlink(struct fileop *op, const char *target, const char *path,
                   struct err *err)
{
    if (path_check(path, err) < 0 ||
        request_send(op, AGENT_FILE_SYMLINK, NULL, 0,
                     (const char *const[]){target, path, NULL}, err) < 0)
        return -1;
    return expect_done(op, err);
}

int fileop_remove(struct fileop *op, const char *path, struct err *err)
{
    if (path_check(path, err) < 0 ||
        request_send(op, AGENT_FILE_REMOVE, NULL, 0,
                     (const char *const[]){path, NULL}, err) < 0)
        return -1;
    return expect_done(op, err);
}

int fileop_rename(struct fileop *op, const char *from, const char *to,
                  struct err *err)
{
    if (path_check(from, err) < 0 || path_check(to, err) < 0 ||
        request_send(op, AGENT_FILE_RENAME, NULL, 0,
                     (const char *const[]){from, to, NULL}, err) < 0)
        return -1;
    return expect_done(op, err);
}

/* A name from inside is one path component before it meets a path. */
static bool name_ok(const char *name, size_t len)
{
    if (len == 0 || len > 255 || memchr(name, '/', len) != NULL ||
        memchr(name, '\0', len) != NULL)
        return false;
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int fileop_list(struct fileop *op, const char *path,
                int (*each)(void *ctx, const char *name,
                            const struct fileop_stat *st, struct err *err),
                void *ctx, struct err *err)
{
    struct agent_frame f;
    const char *payload, *name;
    struct fileop_stat st;
    size_t head = sizeof(struct agent_stat);

    if (path_check(path, err) < 0 ||
        request_send(op, AGENT_FILE_LIST, NULL, 0,
                     (const char *const[]){path, NULL}, err) < 0)
        return -1;
    for (;;) {
        if (answer(op, &f, &payload, err) < 0)
            return -1;
        if (f.type == AGENT_FILE_DONE)
            return 0;
        if (stat_take(&f, payload, &st, err) < 0)
            return -1;
        name = payload + head;
        if (f.size <= head || payload[f.size - 1] != '\0' ||
            !name_ok(name, f.size - head - 1))
            return err_set(err, ERR_INVALID, "the agent sent a bad name");
        if (each(ctx, name, &st, err) < 0)
            return -1;
    }
}
