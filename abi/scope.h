/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - how an ordinary user's engine asks the parked spawner
 * (karzer-scope) of his login for a holder, over a socket in his runtime
 * directory.
 *
 * One connection, one request, one answer. With the request come the holder's
 * descriptors, in the order of abi/holder.h; with a good answer a pidfd.
 */
#ifndef KARZER_ABI_SCOPE_H
#define KARZER_ABI_SCOPE_H

#include <stdint.h>

#define SCOPE_VERSION 1u
#define SCOPE_DIR "karzer" /* in the runtime directory: 0700, the user's */
#define SCOPE_SOCKET SCOPE_DIR "/scope"
#define SCOPE_LOCK SCOPE_DIR "/scope.lock"       /* flock: a spawner lives */
#define SCOPE_REFUSED SCOPE_DIR "/scope.refused" /* why there is none */
#define SCOPE_LIVES "another one lives"          /* the lock is taken */
#define SCOPE_STARTER_FD 3 /* of karzer-scope: to who started it */
#define SCOPE_FDS 4u
#define SCOPE_PATH_MAX 4096u

struct scope_request {
    uint32_t version;
    char jail[SCOPE_PATH_MAX]; /* the holder's program */
};

/* Also what karzer-scope tells its starter when it listens, or why not. */
struct scope_answer {
    int32_t pid; /* of the holder; 0: none, text says why */
    char text[252];
};

#endif
