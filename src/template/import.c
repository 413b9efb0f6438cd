/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import - see import.h. Only tar, only filters that are part of libarchive:
 * none of those that start a program. Names are taken as bytes; the first
 * warning of libarchive's is an error, since a tree that is almost the archive
 * is not what was asked for.
 */
#include "src/template/import.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"

#define BLOCK 65536u
/* What may follow the end of an archive, and is only hashed. */
#define REST_MAX (UINT64_C(16) << 20)

struct source {
    int fd;
    struct sha256 hash;
    bool ended; /* read() said so */
    char block[BLOCK];
};

static ssize_t block_read(struct source *s)
{
    ssize_t n;

    do
        n = read(s->fd, s->block, sizeof(s->block));
    while (n < 0 && errno == EINTR);
    if (n > 0)
        sha256_add(&s->hash, s->block, (size_t)n);
    if (n == 0)
        s->ended = true;
    return n;
}

static la_ssize_t on_read(struct archive *a, void *ctx, const void **block)
{
    struct source *s = ctx;
    ssize_t n = block_read(s);

    *block = s->block;
    if (n < 0)
        archive_set_error(a, errno, "read: %s", strerror(errno));
    return n;
}

static int archive_failed(struct archive *a, struct err *err)
{
    const char *text = archive_error_string(a);

    return err_set(err, ERR_INVALID, "the archive: %.200s",
                   text == NULL ? "it cannot be read" : text);
}

static struct archive *reader_new(struct source *s, struct err *err)
{
    struct archive *a = archive_read_new();

    if (a == NULL) {
        err_set(err, ERR_HOST, "out of memory");
        return NULL;
    }
    if (archive_read_support_format_tar(a) != ARCHIVE_OK ||
        archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
        archive_read_support_filter_bzip2(a) != ARCHIVE_OK ||
        archive_read_support_filter_xz(a) != ARCHIVE_OK ||
        archive_read_support_filter_lzma(a) != ARCHIVE_OK ||
        archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
        archive_read_support_filter_lz4(a) != ARCHIVE_OK ||
        archive_read_support_filter_compress(a) != ARCHIVE_OK ||
        archive_read_open(a, s, NULL, on_read, NULL) != ARCHIVE_OK) {
        archive_failed(a, err);
        archive_read_free(a);
        return NULL;
    }
    return a;
}

/* What a cell has no use for, and never gets. */
static void privileges_count(struct put_counts *c, struct archive_entry *e)
{
    unsigned long set = 0, clear = 0;

    if ((archive_entry_mode(e) & 07000) != 0)
        c->privileges++;
    archive_entry_fflags(e, &set, &clear);
    if (archive_entry_xattr_count(e) > 0 || archive_entry_acl_types(e) != 0 ||
        set != 0)
        c->attributes++;
}

/* Sizes are what the header says: more is refused, less is a torn archive. */
static int data_copy(struct archive *a, int fd, uint64_t size, struct err *err)
{
    const void *data;
    la_int64_t at;
    size_t len;
    int r;

    while ((r = archive_read_data_block(a, &data, &len, &at)) == ARCHIVE_OK) {
        const char *from = data;

        if (at < 0 || (uint64_t)at > size || len > size - (uint64_t)at)
            return err_set(err, ERR_INVALID, "more data than its size");
        while (len > 0) {
            ssize_t n = pwrite(fd, from, len, at);

            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return err_sys(err, "write");
            from += n;
            at += n;
            len -= (size_t)n;
        }
    }
    if (r != ARCHIVE_EOF)
        return archive_failed(a, err);
    return ftruncate(fd, (off_t)size) < 0 ? err_sys(err, "write") : 0;
}

static int file_take(struct import *im, struct archive *a,
                     struct archive_entry *e, const char *path, struct err *err)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                {.tv_sec = archive_entry_mtime(e)}};
    AUTO(fd) int fd = -1;

    if (put_file(&im->put, path, archive_entry_mode(e), &fd, err) < 0 ||
        data_copy(a, fd, (uint64_t)archive_entry_size(e), err) < 0)
        return -1;
    im->put.counts.files++;
    /* python trusts its bytecode by the time of the source */
    if (archive_entry_mtime_is_set(e) && futimens(fd, times) < 0)
        return err_sys(err, "set its time");
    return 0;
}

static int hard_take(struct import *im, struct archive_entry *e,
                     const char *path, struct err *err)
{
    char to[PUT_PATH_MAX];

    if (put_path(archive_entry_hardlink(e), im->put.caps.depth, to, err) < 0)
        return err_wrap(err, "a hard link");
    if (to[0] == '\0')
        return err_set(err, ERR_INVALID, "a hard link to the top");
    return put_hard(&im->put, path, to, err);
}

static int entry_make(struct import *im, struct archive *a,
                      struct archive_entry *e, const char *path,
                      struct err *err)
{
    const char *to = archive_entry_symlink(e);

    if (archive_entry_hardlink(e) != NULL)
        return hard_take(im, e, path, err);
    switch (archive_entry_filetype(e)) {
    case AE_IFREG:
        return file_take(im, a, e, path, err);
    case AE_IFDIR:
        return put_dir(&im->put, path, archive_entry_mode(e), err);
    case AE_IFLNK:
        return put_link(&im->put, path, to == NULL ? "" : to, err);
    case AE_IFCHR:
    case AE_IFBLK:
        return err_set(err, ERR_INVALID, "a device");
    default:
        return err_set(err, ERR_INVALID, "neither file, directory nor link");
    }
}

static int entry_take(struct import *im, struct archive *a,
                      struct archive_entry *e, struct err *err)
{
    const char *raw = archive_entry_pathname(e);
    bool data = archive_entry_filetype(e) == AE_IFREG &&
                archive_entry_hardlink(e) == NULL;
    la_int64_t size = data ? archive_entry_size(e) : 0;
    char path[PUT_PATH_MAX];

    if (raw == NULL || raw[0] == '\0')
        return err_set(err, ERR_INVALID, "an entry without a name");
    if (put_path(raw, im->put.caps.depth, path, err) < 0)
        return err_wrap(err, "\"%.100s\"", raw);
    if (size < 0 || put_count(&im->put, (uint64_t)size, err) < 0)
        return err_wrap(err, "\"%.100s\"", raw);
    if (path[0] == '\0')
        return archive_entry_filetype(e) == AE_IFDIR
                   ? 0
                   : err_set(err, ERR_INVALID, "the top is no directory");
    if (put_is_skipped(path)) {
        im->put.counts.skipped++;
        return 0;
    }
    privileges_count(&im->put.counts, e);
    if (entry_make(im, a, e, path, err) < 0)
        return err_wrap(err, "\"%.100s\"", raw);
    return 0;
}

/* A plain tar that ends without its end mark was cut off; libarchive does not
 * say so. Compressed data has an end of its own. */
static bool is_cut(struct archive *a, const struct source *s)
{
    return s->ended && archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE;
}

static int entries_take(struct import *im, struct archive *a,
                        const struct source *s, struct err *err)
{
    struct archive_entry *e;
    int r;

    while ((r = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
        if (entry_take(im, a, e, err) < 0)
            return -1;
        if (im->progress != NULL)
            im->progress(im, im->ctx);
    }
    if (r != ARCHIVE_EOF)
        return archive_failed(a, err);
    if (im->put.counts.entries == 0)
        return err_set(err, ERR_INVALID, "the archive is empty, or no tar");
    if (is_cut(a, s))
        return err_set(err, ERR_INVALID,
                       "the archive is cut off: it has no "
                       "end");
    return 0;
}

/* The hash is of the whole file; what is behind the archive is bounded. */
static int rest_read(struct source *s, struct err *err)
{
    uint64_t total = 0;
    ssize_t n;

    while (!s->ended && (n = block_read(s)) != 0) {
        if (n < 0)
            return err_sys(err, "read the archive");
        total += (uint64_t)n;
        if (total > REST_MAX)
            return err_set(err, ERR_LIMIT,
                           "the archive: more than %llu MB behind its end",
                           (unsigned long long)(REST_MAX >> 20));
    }
    return 0;
}

int import_run(struct import *im, struct err *err)
{
    AUTO(mem) struct source *s = calloc(1, sizeof(*s));
    struct archive *a;
    int r;

    if (s == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    s->fd = im->fd;
    sha256_init(&s->hash);
    a = reader_new(s, err);
    if (a == NULL)
        return -1;
    r = entries_take(im, a, s, err);
    archive_read_free(a);
    if (r == 0)
        r = rest_read(s, err);
    if (r == 0)
        r = put_finish(&im->put, err);
    if (r == 0)
        sha256_hex(&s->hash, im->sha256);
    return r;
}
