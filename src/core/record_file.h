/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_file - the files of the boundary record in a state directory:
 * boundary.jsonl, which grows, and boundary-<first seq>.jsonl, which are full
 * and never change again. Opening, locking, the order, the last line, all
 * lines. Used by boundary.c (the writer) and boundary_read.c.
 *
 * Everything is opened below a checked directory and never through a link.
 */
#ifndef KARZER_CORE_RECORD_FILE_H
#define KARZER_CORE_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/sha256.h"

#define RECORD_FILE "boundary.jsonl"
#define RECORD_NAME_SIZE 40
#define RECORD_LOCK_MS 10000 /* a writer holds the lock for microseconds */

/* The directory: ours, not a link, nobody else may write to it. */
int record_dir_open(const char *dir, int *out, struct err *err);

/* A file in it: regular, ours, one name, nobody else may write to it. */
int record_open(int dir, const char *name, int flags, int *out, struct stat *st,
                struct err *err);

/* flock() with a deadline; `how` is LOCK_EX or LOCK_SH. */
int record_lock(int fd, int how, struct err *err);

/* "boundary-000000000123.jsonl" */
void record_name(uint64_t first, char out[RECORD_NAME_SIZE]);

/* The full files' first numbers, ascending; free() *out. */
int record_list(int dir, uint64_t **out, size_t *count, struct err *err);

/* The number of a file's first record. */
int record_first(int fd, uint64_t *first, struct err *err);

struct record_tail {
    uint64_t seq;               /* of the last whole record; 0: there is none */
    char hash[SHA256_HEX_SIZE]; /* of its line; RECORD_GENESIS for none */
    uint64_t end;               /* past it, in the file; what follows is torn */
};

/*
 * The end of the record: of the open file `fd` (-1: none), which has `size`
 * bytes, or of the newest full one when it holds no whole record. ERR_INVALID:
 * its last line was ended and is no record; who writes must not go on.
 */
int record_last(int dir, int fd, uint64_t size, struct record_tail *out,
                struct err *err);

struct record_line {
    const char *text; /* valid during the call */
    size_t len;       /* without the newline */
    bool ended;       /* there is a newline */
    const char *file;
    uint64_t number; /* in the file, from 1 */
};

/*
 * In record_walk.c. Calls `each` for every line, oldest first, as they were at
 * one moment. A line past RECORD_LINE_MAX comes cut, and is no record. -1 when
 * `each` < 0.
 */
int record_walk(const char *dir,
                int (*each)(const struct record_line *line, void *ctx,
                            struct err *err),
                void *ctx, struct err *err);

/* record_last() of a directory, without the lock. */
int record_end(const char *dir, struct record_tail *out, struct err *err);

/* record_walk() of one open file, up to `size` bytes: for tests and fuzzing. */
int record_walk_fd(int fd, uint64_t size, const char *name,
                   int (*each)(const struct record_line *line, void *ctx,
                               struct err *err),
                   void *ctx, struct err *err);

#endif
