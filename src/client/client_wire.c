/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_wire - messages of abi/engine.h over the socket to the engine.
 *
 * A connection that failed in the middle of a message is never used again:
 * what comes next on it could be taken for something else.
 */
#include "src/client/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "abi/engine.h"

static int gone(struct karzer *k, struct err *err)
{
    k->broken = true;
    return err_set(err, ERR_NONE, "the engine of karzer has ended");
}

/* MSG_NOSIGNAL: the caller's SIGPIPE is the caller's. */
static int send_all(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

static int recv_all(int fd, void *data, size_t len)
{
    char *at = data;

    while (len > 0) {
        ssize_t n = recv(fd, at, len, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

static int message_send(struct karzer *k, uint32_t type, const void *data,
                        size_t len)
{
    const struct engine_head head = {.size = (uint32_t)len, .type = type};

    return send_all(k->fd, &head, sizeof(head)) < 0 ||
                   send_all(k->fd, data, len) < 0
               ? -1
               : 0;
}

/* In pieces: memory is taken as the bytes come. */
static int message_recv(struct karzer *k, uint32_t type, uint32_t max,
                        struct buf *out, struct err *err)
{
    struct engine_head head;
    char piece[65536];

    if (recv_all(k->fd, &head, sizeof(head)) < 0)
        return gone(k, err);
    if (head.type != type || head.size > max) {
        k->broken = true;
        return err_set(err, ERR_INTERNAL,
                       "the engine answers in another version's way");
    }
    while (out->len < head.size) {
        size_t n = head.size - out->len;

        n = n < sizeof(piece) ? n : sizeof(piece);
        if (recv_all(k->fd, piece, n) < 0)
            return gone(k, err);
        if (buf_add(out, piece, n, err) < 0) {
            k->broken = true;
            return -1;
        }
    }
    return 0;
}

/* {"error": {"code", "text"}} */
static int answer_error(struct span error, struct err *err)
{
    static const char *const codes[] = {
        [ERR_INVALID] = "\"invalid\"",   [ERR_DENIED] = "\"denied\"",
        [ERR_LIMIT] = "\"limit\"",       [ERR_HOST] = "\"host\"",
        [ERR_INTERNAL] = "\"internal\"",
    };
    struct span code = span_member(error, "code");
    char *text = span_text(span_member(error, "text"), NULL);
    enum err_code found = ERR_INTERNAL;

    for (int i = ERR_INVALID; i <= ERR_INTERNAL; i++)
        if (code.at != NULL && code.len == strlen(codes[i]) &&
            memcmp(code.at, codes[i], code.len) == 0)
            found = (enum err_code)i;
    err_set(err, found, "%s", text == NULL ? "an error without a text" : text);
    free(text);
    return -1;
}

int client_call(struct karzer *k, const struct buf *request,
                struct client_blob blob, struct buf *answer, struct err *err)
{
    struct span json;

    if (k->broken)
        return gone(k, err);
    if (blob.len > ENGINE_BLOB_MAX)
        return err_set(err, ERR_LIMIT, "more than %u bytes", ENGINE_BLOB_MAX);
    buf_init(answer, ENGINE_JSON_MAX);
    if (message_send(k, ENGINE_JSON, request->data, request->len) < 0 ||
        (blob.data != NULL &&
         message_send(k, ENGINE_BLOB, blob.data, blob.len) < 0))
        return gone(k, err);
    if (message_recv(k, ENGINE_JSON, ENGINE_JSON_MAX, answer, err) < 0)
        return -1;
    json = span_of(buf_text(answer), answer->len);
    if (json.at == NULL || *json.at != '{') {
        k->broken = true;
        return err_set(err, ERR_INTERNAL, "the engine's answer is no JSON");
    }
    json = span_member(json, "error");
    return json.at == NULL ? 0 : answer_error(json, err);
}

int client_blob_read(struct karzer *k, struct buf *out, struct err *err)
{
    buf_init(out, ENGINE_BLOB_MAX);
    return message_recv(k, ENGINE_BLOB, ENGINE_BLOB_MAX, out, err);
}
