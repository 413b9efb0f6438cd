/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream - see stream.h. Called by src/cell and run.c; never by a tier.
 *
 * One read fills `in`; frames are handed out from there without a copy. A frame
 * is at most AGENT_DATA_MAX, so one that is larger is broken at its head.
 */
#include "src/cell/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IN_SIZE (2 * (AGENT_DATA_MAX + sizeof(struct agent_frame)))
#define OUT_CAP (4u << 20)

int stream_init(struct stream *s, int fd, struct err *err)
{
    *s = (struct stream){.fd = fd};
    buf_init(&s->out, OUT_CAP);
    s->in = malloc(IN_SIZE);
    if (s->in == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return 0;
}

void stream_fini(struct stream *s)
{
    buf_fini(&s->out);
    free(s->in);
    s->in = NULL;
}

int stream_put(struct stream *s, uint16_t type, uint16_t cmd, const void *data,
               size_t len, struct err *err)
{
    const struct agent_frame frame = {
        .size = (uint32_t)len, .type = type, .cmd = cmd};

    if (len > AGENT_EXEC_MAX)
        return err_set(err, ERR_LIMIT, "a frame of %zu bytes", len);
    if (buf_add(&s->out, &frame, sizeof(frame), err) < 0)
        return -1;
    if (buf_add(&s->out, data, len, err) < 0) {
        s->out.len -= sizeof(frame);
        return -1;
    }
    return 0;
}

int stream_flush(struct stream *s, struct err *err)
{
    while (s->out.len > 0) {
        ssize_t n =
            send(s->fd, s->out.data, s->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            s->out.len =
                0; /* it reads no more; what it said is still to read */
            return 0;
        }
        if (n < 0)
            return err_sys(err, "write to the agent");
        buf_shift(&s->out, (size_t)n);
    }
    return 0;
}

/* 1: a whole frame is in `in`; 0: not yet; -1: broken. */
static int frame_ready(const struct stream *s, struct agent_frame *frame,
                       struct err *err)
{
    size_t have = s->in_len - s->in_at;

    if (have < sizeof(*frame))
        return 0;
    memcpy(frame, s->in + s->in_at, sizeof(*frame));
    if (frame->size > AGENT_DATA_MAX)
        return err_set(err, ERR_INVALID, "the agent sent a frame of %u bytes",
                       frame->size);
    if (frame->cmd > AGENT_CMD_MAX || frame->type < AGENT_FILE_DATA)
        return err_set(err, ERR_INVALID, "the agent sent frame type %u for %u",
                       frame->type, frame->cmd);
    return have - sizeof(*frame) >= frame->size;
}

/* 1: more came; 0: nothing now; -1: the end. */
static int fill(struct stream *s, struct err *err)
{
    ssize_t n;

    if (s->in_at > 0) {
        memmove(s->in, s->in + s->in_at, s->in_len - s->in_at);
        s->in_len -= s->in_at;
        s->in_at = 0;
    }
    do
        n = recv(s->fd, s->in + s->in_len, IN_SIZE - s->in_len, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        s->in_len += (size_t)n;
        return 1;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    s->eof = true;
    return err_set(err, ERR_INTERNAL, "the agent has gone%s",
                   s->in_len > 0 ? " in the middle of a frame" : "");
}

/* The first frame, and only the first, is a HELLO of our version. */
static int check_hello(struct stream *s, const struct agent_frame *frame,
                       const char *payload, struct err *err)
{
    uint32_t version = 0;

    if ((frame->type == AGENT_HELLO) == s->hello)
        return err_set(err, ERR_INVALID, "the agent did not say hello once");
    if (s->hello)
        return 0;
    if (frame->size == sizeof(version))
        memcpy(&version, payload, sizeof(version));
    if (version != AGENT_VERSION)
        return err_set(err, ERR_INVALID, "the agent speaks version %u, not %u",
                       version, AGENT_VERSION);
    s->hello = true;
    return 0;
}

int stream_next(struct stream *s, struct agent_frame *frame,
                const char **payload, struct err *err)
{
    for (;;) {
        int ready = frame_ready(s, frame, err);

        if (ready < 0)
            return -1;
        if (ready > 0) {
            bool first = !s->hello;

            *payload = s->in + s->in_at + sizeof(*frame);
            s->in_at += sizeof(*frame) + frame->size;
            if (check_hello(s, frame, *payload, err) < 0)
                return -1;
            if (first)
                continue;
            return 1;
        }
        ready = fill(s, err);
        if (ready <= 0)
            return ready;
    }
}
