/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame - the two buffers of the stream: frames in, frames out.
 *
 * Both are fixed: nothing is allocated, and what has no room is not read from
 * its source (back-pressure). The last FRAME_RESERVE bytes of the output are
 * for frames without data, so that commands are obeyed while the engine does
 * not read.
 */
#ifndef KARZER_AGENT_FRAME_H
#define KARZER_AGENT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/agent.h"

/* The largest frame that is no data: an answer with a path in it. */
#define FRAME_ANSWER (AGENT_PATH_MAX + 64u)
#define FRAME_RESERVE ((AGENT_CMD_MAX + 2) * FRAME_ANSWER)
#define FRAME_IN_SIZE (sizeof(struct agent_frame) + AGENT_EXEC_MAX)
#define FRAME_OUT_SIZE                                                         \
    (2 * (AGENT_DATA_MAX + sizeof(struct agent_frame)) + FRAME_RESERVE)

struct frame_in {
    size_t at;  /* the next frame */
    size_t len; /* end of what was read */
    char data[FRAME_IN_SIZE];
};

struct frame_out {
    size_t at;  /* the next byte to send */
    size_t len; /* end of what is queued */
    char data[FRAME_OUT_SIZE];
};

/* Reads once. 1: bytes came; 0: none now, or no room; -1: EOF or broken. */
int frame_fill(struct frame_in *in, int fd);

/* 1 and a whole frame (its payload valid until frame_fill); 0: not yet; -1: a
 * rule is broken. */
int frame_next(struct frame_in *in, struct agent_frame *head, char **payload);

/* Is there something to send? */
static inline bool frame_waiting(const struct frame_out *out)
{
    return out->len > out->at;
}

/* May a frame of up to FRAME_ANSWER, with its head, be queued? */
bool frame_free(const struct frame_out *out);

/* Queues one; the caller has asked frame_free(). */
void frame_put(struct frame_out *out, uint16_t type, uint16_t cmd,
               const void *payload, uint32_t size);

/* The largest payload of a data frame now, up to AGENT_DATA_MAX; maybe 0. */
uint32_t frame_room(struct frame_out *out);

/* Where that payload is to be written, and then: it is there. */
static inline char *frame_space(struct frame_out *out)
{
    return out->data + out->len + sizeof(struct agent_frame);
}
void frame_commit(struct frame_out *out, uint16_t type, uint16_t cmd,
                  uint32_t size);

/* Sends what the socket takes. 0, or -1: nobody will read it. */
int frame_flush(struct frame_out *out, int fd);

#endif
