/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file - the file operations of abi/agent.h.
 *
 * An operation answers at once, or lives in its `struct file_op` and is given
 * turns: each does a bounded amount of work and needs room in the output
 * first. Owned by loop.c, one per `cmd`. The engine's view:
 *
 *   PUT     the file appears whole under its name, or not at all; an existing
 *           file or link of that name is replaced. An error ends it at once;
 *           its data is then swallowed up to FILE_END or the next use of `cmd`.
 *           A size that was given must be met (EIO; EFBIG past it).
 *   GET     FILE_STATED says a size; at most that many bytes come, fewer if the
 *           file shrinks meanwhile. FILE_END ends it.
 *   STAT    FILE_STATED, with the target of a link, ends it.
 *   others  FILE_DONE ends it. Anything: FILE_ERROR ends it.
 */
#ifndef KARZER_AGENT_FILE_H
#define KARZER_AGENT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/agent.h"
#include "agent/frame.h"
#include "agent/tree.h"

#define FILE_LIST_MAX (1u << 20) /* entries of one list; past it: E2BIG */

enum file_kind {
    FILE_FREE = 0,
    FILE_PUT,
    FILE_SWALLOW, /* a PUT that failed; may be replaced */
    FILE_GET,
    FILE_LIST,
    FILE_REMOVE,
};

struct file_op {
    enum file_kind kind;
    uint16_t cmd;
    int fd;                     /* PUT, GET: the file; LIST: the directory */
    int dir;                    /* PUT: where the name will be */
    uint32_t mode;              /* PUT */
    uint32_t entries;           /* LIST: so far */
    uint64_t size;              /* PUT, GET: as stated; PUT: 0 is any */
    uint64_t done;              /* PUT, GET: bytes so far */
    char temp[32];              /* PUT: the name until it is whole */
    char name[TREE_NAME_MAX];   /* PUT */
    struct tree_remove removal; /* REMOVE */
};

static inline bool file_busy(const struct file_op *op)
{
    return op->kind != FILE_FREE && op->kind != FILE_SWALLOW;
}

/* A frame that starts an operation on a free `op`. 0, or -1: malformed. */
int file_start(struct file_op *op, const struct agent_frame *head,
               const char *payload, struct frame_out *out);

/* FILE_DATA, FILE_END. 0, or -1: no PUT is there. */
int file_data(struct file_op *op, const char *data, size_t len,
              struct frame_out *out);
int file_end(struct file_op *op, struct frame_out *out);

/* Does a part of what is left to do, if the output has room for its answer. */
void file_turn(struct file_op *op, struct frame_out *out);

/* Has it work that only waits for a turn? */
static inline bool file_wants_turn(const struct file_op *op)
{
    return op->kind >= FILE_GET;
}

/* Leaves nothing half-made behind. */
void file_abort(struct file_op *op);

#endif
