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
#define FILES_REFUSED_MAX 100u

struct crossing {
    struct fileop op;
    struct boundary *boundary;
    const char *run_id;
    json_t *events;     /* the run's boundary[] */
    json_t *files;      /* the run's files[]: what came out */
    uint64_t max_bytes; /* of all files of this crossing together */
    uint64_t bytes;     /* so far */
    unsigned count;     /* so far */
    unsigned refused;   /* so far; past FILES_REFUSED_MAX they are not recorded
                           one by one */
};

/* A host file or tree to an absolute path in the cell. -1: it (or a part that
 * must be there) could not be copied. */
int files_in(struct crossing *x, const char *host, const char *cell,
             struct err *err);

/* Where something is to come out: opened before the program starts, so that
 * nothing which it does to the host's tree leads elsewhere. */
struct files_target {
    const char *host; /* as the operator named it */
    int parent;       /* the directory that it is to be in, or -1 */
    int inside;       /* itself, when it is a directory already; else -1 */
    char name[256];   /* in parent; "" when only `inside` makes sense */
};

/* -1: it is not there, or not ours to write. `workspace`: no link is followed
 * below it, since earlier cells could have made them; may be NULL. */
int files_target_open(struct files_target *t, const char *host,
                      const char *workspace, struct err *err);
void files_target_close(struct files_target *t);

/* A file or tree of the cell to there. A file goes into a host directory when
 * there is one of that name. */
int files_out(struct crossing *x, const char *cell,
              const struct files_target *to, struct err *err);

/* Bytes in memory instead of a host file; the record names no host path. */
int files_put(struct crossing *x, const char *cell, const void *data,
              size_t len, struct err *err);
int files_get(struct crossing *x, const char *cell, struct buf *data,
              struct err *err);

/* Records a refusal; after FILES_REFUSED_MAX one last record says that there
 * are more. 0, or -1 when the record cannot be written. */
int files_refused(struct crossing *x, const char *host, const char *cell,
                  const char *reason, struct err *err);

/* Records one that is about to appear; also in `files` when it came out. */
int files_crossed(struct crossing *x, enum event_kind kind, const char *host,
                  const char *cell, uint64_t size, const char *sha256,
                  struct err *err);

/* Adds to the sums. -1: past a cap. */
int files_count(struct crossing *x, uint64_t bytes, struct err *err);

#endif
