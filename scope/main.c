/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karzer-scope - the parked spawner of an ordinary user's login under systemd:
 * takes a delegated scope once, stays in it, and starts holders there for the
 * engines of this user (abi/scope.h). Started by the first engine that needs
 * it, with a socket to that as its only descriptor. It decides nothing about
 * cells, reads no policy, and knows no more than the user who runs it.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/scope.h"
#include "scope/park.h"
#include "scope/place.h"
#include "src/base/auto.h"
#include "src/base/fd.h"

static char runtime_dir[SCOPE_PATH_MAX];

static int hear(struct err *err)
{
    ssize_t n = recv(SCOPE_STARTER_FD, runtime_dir, sizeof(runtime_dir) - 1, 0);

    if (n <= 0 || runtime_dir[0] != '/')
        return err_set(err, ERR_INVALID,
                       "karzer-scope is started by karzer, not by hand");
    return 0;
}

static void tell(const struct err *err)
{
    struct scope_answer answer = {.pid = err == NULL ? (int)getpid() : 0};

    if (err != NULL)
        snprintf(answer.text, sizeof(answer.text), "%.250s", err->text);
    send(SCOPE_STARTER_FD, &answer, sizeof(answer), MSG_NOSIGNAL);
    close(SCOPE_STARTER_FD);
}

static int begin(int *lock, int *listener, struct err *err)
{
    AUTO(fd) int dir = -1;

    if (hear(err) < 0)
        return -1;
    dir = park_dir(runtime_dir, err);
    if (dir < 0 || park_lock(dir, lock, err) < 0 ||
        place_take(runtime_dir, err) < 0)
        return -1;
    return park_listen(runtime_dir, listener, err);
}

int main(void)
{
    AUTO(fd) int lock = -1;
    AUTO(fd) int listener = -1;
    struct err err = {0};
    char path[SCOPE_PATH_MAX + 32];

    umask(077);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (begin(&lock, &listener, &err) < 0) {
        tell(&err);
        return 1;
    }
    tell(NULL);
    if (chdir("/") < 0)
        return 1;
    park_serve(listener, PARK_IDLE_MS);
    /* Before the lock is gone: who comes now finds nothing, and starts one. */
    snprintf(path, sizeof(path), "%s/" SCOPE_SOCKET, runtime_dir);
    unlink(path);
    return 0;
}
