/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileop - file operations of a live cell, over the agent's stream, one at a
 * time. The agent's answers are hostile: sizes and names are checked here. What
 * the cell refused is ERR_DENIED with its errno; anything else ends the stream.
 */
#ifndef KARZER_CORE_FILEOP_H
#define KARZER_CORE_FILEOP_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/cell/stream.h"
#include "src/core/tier.h"

struct fileop {
    struct stream *stream;
    struct cell *cell;
};

struct fileop_stat {
    uint64_t size;
    uint32_t mode; /* with the type */
    uint64_t mtime_s;
};

/* put: begin, data any number of times, then end (the file appears under its
 * name) or, after any error, nothing more. */
int fileop_put_begin(struct fileop *op, const char *path, uint32_t mode,
                     uint64_t size, struct err *err);
int fileop_put_data(struct fileop *op, const void *data, size_t len,
                    struct err *err);
int fileop_put_end(struct fileop *op, struct err *err);

/* get: begin tells what it is; data: > 0 bytes at *data (until the next call),
 * 0 at the end, -1. */
int fileop_get_begin(struct fileop *op, const char *path,
                     struct fileop_stat *st, struct err *err);
ssize_t fileop_get_data(struct fileop *op, const char **data, struct err *err);

int fileop_stat(struct fileop *op, const char *path, struct fileop_stat *st,
                struct err *err);
int fileop_mkdir(struct fileop *op, const char *path, uint32_t mode,
                 struct err *err);
int fileop_symlink(struct fileop *op, const char *target, const char *path,
                   struct err *err);
int fileop_remove(struct fileop *op, const char *path, struct err *err);
int fileop_rename(struct fileop *op, const char *from, const char *to,
                  struct err *err);

/* Calls `each` per entry of a directory; names are one path component and
 * never "." or "..". Entries come before the next operation may begin. */
int fileop_list(struct fileop *op, const char *path,
                int (*each)(void *ctx, const char *name,
                            const struct fileop_stat *st, struct err *err),
                void *ctx, struct err *err);

#endif
