/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_walk - all lines of the record in order (record_file.h), in bounded
 * memory. The writers are locked out only while the size of the growing file
 * is taken: full files never change, and what is appended later is not read.
 */
#include "src/core/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/core/record.h"

#define WINDOW (4 * RECORD_LINE_MAX)

typedef int (*each_line)(const struct record_line *line, void *ctx,
                         struct err *err);

/* Bytes of one file, a window at a time. */
struct window {
    int fd;
    uint64_t left; /* bytes not read yet */
    char *data;
    size_t at, len;
};

/* Moves what is there to the front and reads more. */
static int window_fill(struct window *w, struct err *err)
{
    memmove(w->data, w->data + w->at, w->len - w->at);
    w->len -= w->at;
    w->at = 0;
    while (w->left > 0 && w->len < WINDOW) {
        size_t room = WINDOW - w->len;
        ssize_t n = read(w->fd, w->data + w->len,
                         room < w->left ? room : (size_t)w->left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "read");
        w->len += (size_t)n;
        w->left = n == 0 ? 0 : w->left - (uint64_t)n;
    }
    return 0;
}

/* 1: a line (cut when it is longer than any record), 0: the end. */
static int window_line(struct window *w, struct record_line *line,
                       struct err *err)
{
    const char *nl = memchr(w->data + w->at, '\n', w->len - w->at);

    if (nl == NULL) {
        if (window_fill(w, err) < 0)
            return -1;
        nl = memchr(w->data, '\n', w->len);
    }
    if (w->at == w->len)
        return 0;
    line->text = w->data + w->at;
    line->ended = nl != NULL;
    line->len = nl == NULL ? w->len - w->at : (size_t)(nl - line->text);
    line->number++;
    w->at += line->len + (line->ended ? 1 : 0);
    return 1;
}

int record_walk_fd(int fd, uint64_t size, const char *name, each_line each,
                   void *ctx, struct err *err)
{
    AUTO(mem) char *data = malloc(WINDOW);
    struct window w = {.fd = fd, .left = size, .data = data};
    struct record_line line = {.file = name};
    int rc;

    if (data == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    while ((rc = window_line(&w, &line, err)) > 0)
        if (each(&line, ctx, err) < 0)
            return -1;
    return rc < 0 ? err_wrap(err, "%s", name) : 0;
}

struct record_set {
    int dir;
    int current; /* -1: there is none */
    uint64_t size;
    uint64_t *full;
    size_t count;
};

static void set_auto(struct record_set *s)
{
    fd_drop(&s->dir);
    fd_drop(&s->current);
    free(s->full);
}

/* The growing file and the list of full ones, of the same moment. */
static int set_snapshot(struct record_set *s, struct err *err)
{
    struct stat st, named;
    struct err missing = {0};

    for (;;) {
        fd_drop(&s->current);
        if (record_open(s->dir, RECORD_FILE, O_RDONLY, &s->current, &st,
                        &missing) < 0) {
            if (missing.sys != ENOENT)
                return err_set(err, missing.code, "%s", missing.text);
            return record_list(s->dir, &s->full, &s->count, err);
        }
        if (record_lock(s->current, LOCK_SH, err) < 0)
            return err_wrap(err, "%s", RECORD_FILE);
        if (fstatat(s->dir, RECORD_FILE, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            named.st_ino == st.st_ino && named.st_dev == st.st_dev)
            break; /* else it became full just now */
    }
    s->size = (uint64_t)named.st_size;
    if (record_list(s->dir, &s->full, &s->count, err) < 0)
        return -1;
    flock(s->current, LOCK_UN);
    return 0;
}

static int walk_full(int dir, uint64_t first, each_line each, void *ctx,
                     struct err *err)
{
    AUTO(fd) int fd = -1;
    char name[RECORD_NAME_SIZE];
    struct stat st;

    record_name(first, name);
    if (record_open(dir, name, O_RDONLY, &fd, &st, err) < 0)
        return -1;
    return record_walk_fd(fd, (uint64_t)st.st_size, name, each, ctx, err);
}

int record_walk(const char *dir, each_line each, void *ctx, struct err *err)
{
    AUTO(set) struct record_set s = {.dir = -1, .current = -1};

    if (record_dir_open(dir, &s.dir, err) < 0)
        return -1;
    if (set_snapshot(&s, err) < 0)
        return err_wrap(err, "%.256s", dir);
    for (size_t i = 0; i < s.count; i++)
        if (walk_full(s.dir, s.full[i], each, ctx, err) < 0)
            return -1;
    if (s.current < 0)
        return 0;
    return record_walk_fd(s.current, s.size, RECORD_FILE, each, ctx, err);
}

int record_end(const char *dir, struct record_tail *out, struct err *err)
{
    AUTO(set) struct record_set s = {.dir = -1, .current = -1};

    if (record_dir_open(dir, &s.dir, err) < 0)
        return -1;
    if (set_snapshot(&s, err) < 0 ||
        record_last(s.dir, s.current, s.size, out, err) < 0)
        return err_wrap(err, "%.256s", dir);
    return 0;
}
