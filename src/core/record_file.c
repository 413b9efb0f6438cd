/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_file - see record_file.h. The writer's path through here is short:
 * two opens, two stats, a lock and one read of 4 kB.
 */
#include "src/core/record_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/core/record.h"

#define TAIL_CHUNK 4096u
#define FULL_MAX 100000u /* full files: 6 TB */

static int check_ours(const char *what, const struct stat *st, struct err *err)
{
    if (st->st_uid != geteuid())
        return err_set(err, ERR_HOST, "%s: belongs to uid %u, not to you", what,
                       st->st_uid);
    if ((st->st_mode & 022) != 0)
        return err_set(err, ERR_HOST, "%s: others may write to it (chmod go-w)",
                       what);
    return 0;
}

int record_dir_open(const char *dir, int *out, struct err *err)
{
    AUTO(fd)
    int fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && errno == ENOTDIR && lstat(dir, &st) == 0 &&
        S_ISLNK(st.st_mode))
        return err_set(err, ERR_HOST, "%.256s: is a symbolic link", dir);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%.256s", dir);
    if (check_ours(dir, &st, err) < 0)
        return -1;
    *out = fd_take(&fd);
    return 0;
}

int record_open(int dir, const char *name, int flags, int *out, struct stat *st,
                struct err *err)
{
    AUTO(fd)
    int fd =
        openat(dir, name,
               flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);

    if (fd < 0 && errno == ELOOP)
        return err_set(err, ERR_HOST, "%s: is a symbolic link", name);
    if (fd < 0 || fstat(fd, st) < 0)
        return err_sys(err, "%s", name);
    if (!S_ISREG(st->st_mode))
        return err_set(err, ERR_HOST, "%s: not a regular file", name);
    if (st->st_nlink > 1)
        return err_set(err, ERR_HOST, "%s: has another name (hard link)", name);
    if (check_ours(name, st, err) < 0)
        return -1;
    *out = fd_take(&fd);
    return 0;
}

/* Polls, so that a stopped or hung holder of the lock cannot hang us too. */
int record_lock(int fd, int how, struct err *err)
{
    uint64_t start = clock_us();
    long wait_ns = 20000;

    while (flock(fd, how | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(err, "lock");
        if (clock_us() - start > RECORD_LOCK_MS * UINT64_C(1000))
            return err_set(err, ERR_HOST,
                           "locked by another process for %d s (fuser tells "
                           "which)",
                           RECORD_LOCK_MS / 1000);
        nanosleep(&(struct timespec){.tv_nsec = wait_ns}, NULL);
        wait_ns = wait_ns < 1000000 ? wait_ns * 2 : wait_ns;
    }
    return 0;
}

void record_name(uint64_t first, char out[RECORD_NAME_SIZE])
{
    snprintf(out, RECORD_NAME_SIZE, "boundary-%012llu.jsonl",
             (unsigned long long)first);
}

/* The number in the name of a full file; 0: another file. */
static uint64_t number_of(const char *name)
{
    char again[RECORD_NAME_SIZE];
    unsigned long long n;

    if (sscanf(name, "boundary-%19llu.jsonl", &n) != 1 || n == 0)
        return 0;
    record_name(n, again);
    return strcmp(name, again) == 0 ? n : 0;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static int list_add(uint64_t **list, size_t *len, uint64_t n, struct err *err)
{
    uint64_t *more = *list;

    if (*len >= FULL_MAX)
        return err_set(err, ERR_HOST, "more than %u files", FULL_MAX);
    if ((*len & (*len - 1)) == 0) /* 0 or a power of two: full */
        more = realloc(*list, (*len == 0 ? 1 : *len * 2) * sizeof(**list));
    if (more == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    more[(*len)++] = n;
    *list = more;
    return 0;
}

int record_list(int dir, uint64_t **out, size_t *count, struct err *err)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    uint64_t *list = NULL;
    size_t len = 0;
    int rc = 0;

    if (d == NULL) {
        rc = err_sys(err, "list the directory");
        if (fd >= 0)
            close(fd);
        return rc;
    }
    for (struct dirent *e; rc == 0 && (e = readdir(d)) != NULL;) {
        uint64_t n = number_of(e->d_name);

        if (n != 0)
            rc = list_add(&list, &len, n, err);
    }
    closedir(d);
    if (rc < 0) {
        free(list);
        return -1;
    }
    if (len > 1)
        qsort(list, len, sizeof(*list), by_number);
    *out = list;
    *count = len;
    return 0;
}

static int read_at(int fd, char *out, size_t len, uint64_t at, struct err *err)
{
    while (len > 0) {
        ssize_t n = pread(fd, out, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "read");
        if (n == 0)
            return err_set(err, ERR_HOST, "became shorter while it was read");
        out += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

int record_first(int fd, uint64_t *first, struct err *err)
{
    AUTO(mem) char *data = malloc(RECORD_LINE_MAX);
    struct record r;
    ssize_t n;
    const char *end;

    if (data == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    n = pread(fd, data, RECORD_LINE_MAX, 0);
    if (n < 0)
        return err_sys(err, "read");
    end = memchr(data, '\n', (size_t)n);
    if (end == NULL || record_parse(data, (size_t)(end - data), &r) < 0)
        return err_set(err, ERR_INVALID,
                       "its first line is not a record of karzer, or was "
                       "changed: see `karzer log verify`");
    *first = r.seq;
    return 0;
}

/*
 * From the last `len` bytes of a file that ends at `size`. 1: found; 0: more
 * bytes are needed; -1: what is there is no record.
 */
static int find_in(const char *data, size_t len, uint64_t size,
                   struct record_tail *t, struct err *err)
{
    const char *end = memrchr(data, '\n', len);
    const char *start;
    struct record r;

    if (end == NULL)
        return 0;
    start = memrchr(data, '\n', (size_t)(end - data));
    if (start == NULL && len < size)
        return 0;
    start = start == NULL ? data : start + 1;
    if (record_parse(start, (size_t)(end - start), &r) < 0)
        return err_set(err, ERR_INVALID,
                       "its last line is not a record of karzer, or was "
                       "changed: see `karzer log verify`; moving the file away "
                       "starts a new one");
    t->seq = r.seq;
    sha256_of(start, (size_t)(end - start), t->hash);
    t->end = size - len + (size_t)(end - data) + 1;
    return 1;
}

/* Room for a whole line, and a torn one after it that may be long. */
static int find_far(int fd, uint64_t size, struct record_tail *t,
                    struct err *err)
{
    AUTO(mem) char *data = NULL;

    for (uint64_t len = 2 * RECORD_LINE_MAX;; len *= 4) {
        size_t n = (size_t)(len < size ? len : size);
        int found;

        free(data);
        data = malloc(n);
        if (data == NULL)
            return err_set(err, ERR_HOST, "out of memory");
        if (read_at(fd, data, n, size - n, err) < 0)
            return -1;
        found = find_in(data, n, size, t, err);
        if (found != 0 || n == size)
            return found;
        if (n > (64u << 20))
            return err_set(err, ERR_INVALID, "its last line has no end");
    }
}

/* Of this file alone; t is as for an empty one when it has no whole record. */
static int tail_of(int fd, uint64_t size, struct record_tail *t,
                   struct err *err)
{
    char data[TAIL_CHUNK];
    size_t n = size < sizeof(data) ? (size_t)size : sizeof(data);
    int found;

    *t = (struct record_tail){.hash = RECORD_GENESIS};
    if (size == 0)
        return 0;
    if (read_at(fd, data, n, size - n, err) < 0)
        return -1;
    found = find_in(data, n, size, t, err);
    if (found == 0 && n < size)
        found = find_far(fd, size, t, err);
    return found < 0 ? -1 : 0;
}

int record_last(int dir, int fd, uint64_t size, struct record_tail *out,
                struct err *err)
{
    AUTO(mem) uint64_t *full = NULL;
    AUTO(fd) int old = -1;
    char name[RECORD_NAME_SIZE];
    struct record_tail t = {0};
    struct stat st;
    size_t count = 0;

    if (tail_of(fd, size, &t, err) < 0)
        return -1;
    if (t.seq == 0) {
        if (record_list(dir, &full, &count, err) < 0)
            return -1;
        if (count > 0) {
            record_name(full[count - 1], name);
            if (record_open(dir, name, O_RDONLY, &old, &st, err) < 0)
                return -1;
            if (tail_of(old, (uint64_t)st.st_size, &t, err) < 0)
                return err_wrap(err, "%s", name);
            t.end = 0;
        }
    }
    *out = t;
    return 0;
}
