/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary - the writer of the record; see boundary.h.
 *
 * One write under the lock of the file: end of the file, line, hash, append.
 * What another crashed writer left torn is taken out and kept as the data of a
 * record.torn event. A line is there whole or not at all: when it does not fit
 * the disk, the file gets its old size back. Not synced: see docs/record.md.
 */
#include "src/core/boundary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"
#include "src/core/anchor.h"
#include "src/core/record.h"
#include "src/core/record_file.h"

#define SIZE_UNKNOWN UINT64_MAX

const struct event_row event_rows[EVENT_COUNT] = {
    [EVENT_NONE] = {"", "", ""},
#define EVENT(id, name, fields, text) [EVENT_##id] = {name, fields, text},
#include "src/core/events.def"
#undef EVENT
};

struct boundary {
    int dir;
    int fd;
    struct stat opened; /* of fd: is it still what the name means? */
    char *path;         /* of the directory */
    struct record_settings settings;
    bool anchor_due;

    uint64_t size; /* after our last write; with this size, tail holds */
    struct record_tail tail;
};

static int open_current(struct boundary *b, struct err *err)
{
    fd_drop(&b->fd);
    b->size = SIZE_UNKNOWN;
    return record_open(b->dir, RECORD_FILE, O_RDWR | O_APPEND | O_CREAT, &b->fd,
                       &b->opened, err);
}

static int wrap(const struct boundary *b, struct err *err)
{
    return err_wrap(err, "boundary record %.256s/" RECORD_FILE, b->path);
}

int boundary_open(struct boundary **out, const char *dir, struct err *err)
{
    struct boundary *b = calloc(1, sizeof(*b));

    if (b == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    *b = (struct boundary){.dir = -1, .fd = -1};
    boundary_settings(b, &(struct record_settings){0});
    b->path = strdup(dir);
    if (b->path == NULL) {
        boundary_close(b);
        return err_set(err, ERR_HOST, "out of memory");
    }
    if (record_dir_open(dir, &b->dir, err) < 0 || open_current(b, err) < 0) {
        wrap(b, err);
        boundary_close(b);
        return -1;
    }
    *out = b;
    return 0;
}

void boundary_close(struct boundary *b)
{
    if (b == NULL)
        return;
    fd_drop(&b->fd);
    fd_drop(&b->dir);
    free(b->path);
    free(b);
}

void boundary_settings(struct boundary *b, const struct record_settings *s)
{
    b->settings = *s;
    if (s->rotate_at == 0)
        b->settings.rotate_at = RECORD_ROTATE_AT;
    if (s->anchor_every == 0)
        b->settings.anchor_every = RECORD_ANCHOR_EVERY;
}

/* Locks the file that has the name now; its size in *size. */
static int lock_current(struct boundary *b, uint64_t *size, struct err *err)
{
    struct stat st;

    for (int tries = 0; tries < 100; tries++) {
        if (record_lock(b->fd, LOCK_EX, err) < 0)
            return -1;
        if (fstatat(b->dir, RECORD_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_ino == b->opened.st_ino && st.st_dev == b->opened.st_dev) {
            *size = (uint64_t)st.st_size;
            return 0;
        }
        if (open_current(b, err) < 0) /* another process made it full */
            return -1;
    }
    return err_set(err, ERR_HOST, "is replaced again and again");
}

/* All of it at the end of the file, or the file as it was. */
static int append(struct boundary *b, const struct buf *line, struct err *err)
{
    uint64_t size = b->size;
    int rc;

    if (fd_write_all(b->fd, line->data, line->len) == 0) {
        b->size = size + line->len;
        return 0;
    }
    rc = err_sys(err, "write");
    b->size = SIZE_UNKNOWN;
    if (ftruncate(b->fd, (off_t)size) < 0)
        err_wrap(err, "the line stays torn");
    return rc;
}

/* Composes the record that follows b->tail and appends it. */
static int append_record(struct boundary *b, enum event_kind kind,
                         struct record *head, const json_t *fields,
                         struct err *err)
{
    AUTO(buf) struct buf line;
    char hash[SHA256_HEX_SIZE];

    buf_init(&line, RECORD_LINE_MAX);
    head->seq = b->tail.seq + 1;
    memcpy(head->prev, b->tail.hash, sizeof(head->prev));
    if (record_compose(head, event_rows[kind].fields, fields, &line, hash,
                       err) < 0 ||
        append(b, &line, err) < 0)
        return -1;
    b->tail.seq = head->seq;
    b->tail.end = b->size;
    memcpy(b->tail.hash, hash, sizeof(hash));
    if (b->tail.seq % b->settings.anchor_every == 0)
        b->anchor_due = true;
    return 0;
}

static void start_record(struct record *r, enum event_kind kind,
                         const char *run_id)
{
    *r = (struct record){0};
    rfc3339_format(rfc3339_now(), r->time);
    strncpy(r->kind, event_rows[kind].name, RECORD_KIND_MAX);
    if (run_id != NULL)
        strncpy(r->run, run_id, ID_SIZE - 1);
}

/* The fields of record.torn for these bytes. NULL: no memory. */
static json_t *torn_fields(const char *data, size_t kept, uint64_t bytes,
                           const char *hash)
{
    AUTO(mem) char *text = malloc(kept);

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < kept; i++) /* a line is ASCII: others were no part */
        text[i] = (unsigned char)data[i] < 0x7f ? data[i] : '?';
    return json_pack("{s:I, s:s, s:s%}", "bytes", (json_int_t)bytes, "sha256",
                     hash, "data", text, kept);
}

/* Hashes [at, size) and keeps the first of it. -1 with errno. */
static int read_torn(int fd, uint64_t at, uint64_t size, struct buf *kept,
                     char hash[SHA256_HEX_SIZE])
{
    char chunk[4096];
    struct sha256 h;
    ssize_t n;

    sha256_init(&h);
    for (; at < size; at += (uint64_t)n) {
        n = pread(fd, chunk, sizeof(chunk), (off_t)at);
        if (n <= 0)
            return -1;
        sha256_add(&h, chunk, (size_t)n);
        buf_add(kept, chunk, (size_t)n, NULL); /* the first, up to its cap */
    }
    sha256_hex(&h, hash);
    return 0;
}

/* Moves what is torn into an event. */
static int repair(struct boundary *b, struct err *err)
{
    AUTO(buf) struct buf kept;
    char hash[SHA256_HEX_SIZE];
    struct record head;
    json_t *fields;
    int rc;

    buf_init(&kept, RECORD_LINE_MAX);
    if (read_torn(b->fd, b->tail.end, b->size, &kept, hash) < 0)
        return err_sys(err, "read the torn end");
    fields = torn_fields(kept.data, kept.len, b->size - b->tail.end, hash);
    if (fields == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    start_record(&head, EVENT_RECORD_TORN, NULL);
    if (ftruncate(b->fd, (off_t)b->tail.end) < 0) {
        rc = err_sys(err, "take the torn end out");
    } else {
        b->size = b->tail.end;
        rc = append_record(b, EVENT_RECORD_TORN, &head, fields, err);
        if (rc < 0) /* there was room for it a moment ago */
            fd_write_all(b->fd, kept.data, kept.len);
    }
    json_decref(fields);
    return rc;
}

/* The full file gets a name of its own, the name a new file. Nobody repairs a
 * full file, so that its bytes are on the disk before its name is. */
static int rotate(struct boundary *b, struct err *err)
{
    char name[RECORD_NAME_SIZE];
    uint64_t first;

    if (record_first(b->fd, &first, err) < 0)
        return -1;
    record_name(first, name);
    if (fdatasync(b->fd) < 0)
        return err_sys(err, "sync");
    if (sys_renameat2(b->dir, RECORD_FILE, b->dir, name, RENAME_NOREPLACE) < 0)
        return err_sys(err, "rename to %s", name);
    b->anchor_due = true;
    return open_current(b, err);
}

/* Where the record ends: as we left it, or as the file says. */
static int find_end(struct boundary *b, uint64_t size, struct err *err)
{
    if (size == b->size)
        return 0;
    b->size = SIZE_UNKNOWN;
    if (record_last(b->dir, b->fd, size, &b->tail, err) < 0)
        return -1;
    b->size = size;
    return 0;
}

/* The lock, the end of the record, and a file that may grow. */
static int prepare(struct boundary *b, struct err *err)
{
    uint64_t size = 0;

    for (;;) {
        if (lock_current(b, &size, err) < 0 || find_end(b, size, err) < 0)
            return -1;
        if (b->tail.end < b->size && repair(b, err) < 0)
            return -1;
        if (b->size < b->settings.rotate_at)
            return 0;
        if (rotate(b, err) < 0)
            return -1;
    }
}

static int add_copy(json_t *copy, const struct record *r, json_t *fields)
{
    json_t *event = json_pack("{s:s, s:s}", "kind", r->kind, "time", r->time);

    if (event == NULL)
        return -1;
    if (fields != NULL && json_object_update(event, fields) < 0) {
        json_decref(event);
        return -1;
    }
    return json_array_append_new(copy, event);
}

static int check_args(enum event_kind kind, const char *run_id,
                      const json_t *fields, struct err *err)
{
    if (kind <= EVENT_NONE || kind >= EVENT_COUNT)
        return err_set(err, ERR_INTERNAL, "no such kind of event: %d",
                       (int)kind);
    if (run_id != NULL && !id_valid(run_id, strlen(run_id)))
        return err_set(err, ERR_INTERNAL, "not a run id: %.40s", run_id);
    if (fields != NULL && !json_is_object(fields))
        return err_set(err, ERR_INTERNAL, "fields are not an object");
    return 0;
}

static int write_one(struct boundary *b, enum event_kind kind,
                     const char *run_id, json_t *fields, json_t *copy,
                     struct err *err)
{
    struct record head;
    int rc = check_args(kind, run_id, fields, err);

    if (rc == 0)
        rc = prepare(b, err);
    if (rc == 0) {
        start_record(&head, kind, run_id);
        rc = append_record(b, kind, &head, fields, err);
    }
    if (b->fd >= 0)
        flock(b->fd, LOCK_UN);
    if (rc == 0 && json_is_array(copy) && add_copy(copy, &head, fields) < 0)
        rc = err_set(err, ERR_HOST, "out of memory");
    json_decref(fields);
    return rc < 0 ? wrap(b, err) : 0;
}

/* Sends what is due; that it could not be sent is a record of its own. */
static int anchor(struct boundary *b, const char *run_id, json_t *copy,
                  struct err *err)
{
    struct anchor a = {.seq = b->tail.seq};
    struct err why = {0};
    json_t *fields;

    b->anchor_due = false;
    if (b->settings.anchor == NULL)
        return 0;
    memcpy(a.hash, b->tail.hash, sizeof(a.hash));
    if (anchor_send(b->settings.anchor, b->path, &a, &why) == 0)
        return 0;
    fields = json_pack("{s:s%, s:I, s:s}", "target", b->settings.anchor,
                       strnlen(b->settings.anchor, 256), "line",
                       (json_int_t)a.seq, "reason", why.text);
    if (fields == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return write_one(b, EVENT_ANCHOR_FAILED, run_id, fields, copy, err);
}

int boundary_write(struct boundary *b, enum event_kind kind, const char *run_id,
                   json_t *fields, json_t *copy, struct err *err)
{
    if (write_one(b, kind, run_id, fields, copy, err) < 0)
        return -1;
    return b->anchor_due ? anchor(b, run_id, copy, err) : 0;
}
