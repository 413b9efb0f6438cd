/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files - copies between the host and a live cell: --in, --out.
 *
 * Neither direction follows a link: what is not a regular file or a directory
 * is refused and recorded (a link inside a tree that goes in is made again as a
 * link). Each file is recorded with its size and SHA-256 before it appears
 * under its name on the other side.
 */
#ifndef KARZER_CORE_FILES_H
#define KARZER_CORE_FILES_H

#include <jansson.h>

#include "src/core/boundary.h"
#include "src/core/fileop.h"

#define FILES_DEPTH_MAX 64u
#define FILES_COUNT_MAX 100000u

struct crossing {
    struct fileop op;
    struct boundary *boundary;
    const char *run_id;
    json_t *events;     /* the run's boundary[] */
    json_t *files;      /* the run's files[]: what came out */
    uint64_t max_bytes; /* of all files of this crossing together */
    uint64_t bytes;     /* so far */
    unsigned count;     /* so far */
};

/* A host file or tree to an absolute path in the cell. -1: it (or a part that
 * must be there) could not be copied. */
int files_in(struct crossing *x, const char *host, const char *cell,
             struct err *err);

/* A file or tree of the cell to a host path, whose parent must exist. A file
 * goes into a host directory when there is one of that name. */
int files_out(struct crossing *x, const char *cell, const char *host,
              struct err *err);

/* Bytes in memory instead of a host file; the record names no host path. */
int files_put(struct crossing *x, const char *cell, const void *data,
              size_t len, struct err *err);
int files_get(struct crossing *x, const char *cell, struct buf *data,
              struct err *err);

/* Records a refusal. 0, or -1 when the record cannot be written. */
int files_refused(struct crossing *x, const char *host, const char *cell,
                  const char *reason, struct err *err);

/* Records one that is about to appear; also in `files` when it came out. */
int files_crossed(struct crossing *x, enum event_kind kind, const char *host,
                  const char *cell, uint64_t size, const char *sha256,
                  struct err *err);

/* Adds to the sums. -1: past a cap. */
int files_count(struct crossing *x, uint64_t bytes, struct err *err);

#endif
