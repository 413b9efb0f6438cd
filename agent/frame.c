/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame - see frame.h. Called by loop.c and by whatever answers; never blocks:
 * the descriptor is a socket, read and written with MSG_DONTWAIT.
 */
#include "agent/frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/decode.h"

#define HEAD sizeof(struct agent_frame)
#define READ_MAX                                                               \
    (AGENT_DATA_MAX + 4096u) /* so that little memory is touched               \
                              */

int frame_fill(struct frame_in *in, int fd)
{
    size_t room;
    ssize_t n;

    if (in->at == in->len) {
        in->at = in->len = 0;
    } else if (in->at > 0) {
        memmove(in->data, in->data + in->at, in->len - in->at);
        in->len -= in->at;
        in->at = 0;
    }
    room = sizeof(in->data) - in->len;
    if (room == 0)
        return 0;
    n = recv(fd, in->data + in->len, room < READ_MAX ? room : READ_MAX,
             MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    in->len += (size_t)n;
    return n == 0 ? -1 : 1;
}

int frame_next(struct frame_in *in, struct agent_frame *head, char **payload)
{
    size_t have = in->len - in->at;

    if (have < HEAD)
        return 0;
    memcpy(head, in->data + in->at, HEAD);
    if (decode_head(head) < 0)
        return -1;
    if (have - HEAD < head->size)
        return 0;
    *payload = in->data + in->at + HEAD;
    in->at += HEAD + head->size;
    return 1;
}

/* Moves what waits to the front when the tail is short of `want`. */
static size_t make_room(struct frame_out *out, size_t want)
{
    if (sizeof(out->data) - out->len < want && out->at > 0) {
        memmove(out->data, out->data + out->at, out->len - out->at);
        out->len -= out->at;
        out->at = 0;
    }
    return sizeof(out->data) - out->len;
}

bool frame_free(const struct frame_out *out)
{
    return sizeof(out->data) - (out->len - out->at) >= FRAME_ANSWER;
}

void frame_put(struct frame_out *out, uint16_t type, uint16_t cmd,
               const void *payload, uint32_t size)
{
    make_room(out, FRAME_ANSWER);
    if (size > 0)
        memcpy(frame_space(out), payload, size);
    frame_commit(out, type, cmd, size);
}

uint32_t frame_room(struct frame_out *out)
{
    const size_t taken = HEAD + FRAME_RESERVE;
    size_t room = make_room(out, taken + AGENT_DATA_MAX);

    if (room <= taken)
        return 0;
    room -= taken;
    return room < AGENT_DATA_MAX ? (uint32_t)room : AGENT_DATA_MAX;
}

void frame_commit(struct frame_out *out, uint16_t type, uint16_t cmd,
                  uint32_t size)
{
    const struct agent_frame head = {.size = size, .type = type, .cmd = cmd};

    memcpy(out->data + out->len, &head, HEAD);
    out->len += HEAD + size;
}

int frame_flush(struct frame_out *out, int fd)
{
    while (frame_waiting(out)) {
        ssize_t n = send(fd, out->data + out->at, out->len - out->at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
        out->at += (size_t)n;
    }
    out->at = out->len = 0;
    return 0;
}
