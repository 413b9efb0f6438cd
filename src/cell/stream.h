/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream - the engine's end of the frames of abi/agent.h, over a non-blocking
 * socket. What comes up is hostile: every size is bounded before it is
 * believed; the first broken rule ends the stream (ERR_INVALID).
 */
#ifndef KARZER_CELL_STREAM_H
#define KARZER_CELL_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/agent.h"
#include "src/base/buf.h"
#include "src/base/err.h"

struct stream {
    int fd;         /* not owned */
    struct buf out; /* frames that wait to be written */
    char *in;       /* AGENT_DATA_MAX and a frame's head */
    size_t in_len;  /* bytes in `in` */
    size_t in_at;   /* the next frame starts here */
    bool hello;     /* the agent's HELLO has come */
    bool eof;
    uint16_t file_cmd;  /* the file operation that is going on, or the last */
    uint32_t file_open; /* bit per cmd: begun, and its end has not come */
};

int stream_init(struct stream *s, int fd, struct err *err);
void stream_fini(struct stream *s);

/* Queues a frame; stream_flush sends what the socket takes now. Nobody there to
 * read it is no error: what was said before is still to be read, then EOF. */
int stream_put(struct stream *s, uint16_t type, uint16_t cmd, const void *data,
               size_t len, struct err *err);
int stream_flush(struct stream *s, struct err *err);
static inline bool stream_pending(const struct stream *s)
{
    return s->out.len > 0;
}

/*
 * The next frame from the agent: 1 and *frame, *payload (valid until the next
 * call); 0: none is complete yet (poll for POLLIN); -1: broken or EOF (s->eof).
 */
int stream_next(struct stream *s, struct agent_frame *frame,
                const char **payload, struct err *err);

#endif
