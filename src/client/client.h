/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client - what the files of libkarzer share: errors for the caller, messages
 * to and from the engine, and making a result of an answer.
 */
#ifndef KARZER_CLIENT_CLIENT_H
#define KARZER_CLIENT_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "include/karzer/karzer.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/client/span.h"

struct karzer {
    int fd; /* to the engine */
    int pidfd;
    pid_t pid;
    bool broken; /* the two no longer understand each other */
};

/* An error for the caller, of what err holds. Always -1. */
int client_fail(karzer_error **out, const struct err *err);

/* Starts `program engine`; fills k. */
int client_start(const char *program, struct karzer *k, struct err *err);

/* Closes the socket and waits until the engine is gone. */
void client_stop(struct karzer *k);

struct client_blob {
    const void *data; /* NULL: no blob goes with the request */
    size_t len;
};

/*
 * One request and its answer: *answer owns the JSON text, *json is it. An
 * answer that is an error becomes that error. After a broken connection every
 * call fails. Code ERR_NONE with -1: the engine is gone (text says so).
 */
int client_call(struct karzer *k, const struct buf *request,
                struct client_blob blob, struct buf *answer, struct err *err);

/* The bytes that follow an answer. */
int client_blob_read(struct karzer *k, struct buf *out, struct err *err);

/* Takes `answer`, {"result": {...}}. */
int client_result(struct buf *answer, karzer_result **out, struct err *err);

#endif
