/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_start - the life of the engine's process: started with a socket at
 * its fd 3 and nothing else of the caller's descriptors, in a session of its
 * own, so that a Ctrl-C meant for the caller does not end it.
 */
#include "src/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/engine.h"
#include "src/base/auto.h"

#ifndef KARZER_PREFIX
#define KARZER_PREFIX "/usr/local"
#endif

#define STOP_MS 15000 /* the engine gives its holders less than that */

extern char **environ;

static int fill_actions(posix_spawn_file_actions_t *fa, int fd)
{
    int r = posix_spawn_file_actions_adddup2(fa, fd, ENGINE_FD);

    for (int i = 0; i < 2 && r == 0; i++) /* stderr stays the caller's */
        r = posix_spawn_file_actions_addopen(fa, i, "/dev/null", O_RDWR, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(fa, ENGINE_FD + 1);
    return r;
}

static void fill_attributes(posix_spawnattr_t *at)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(at, &none);
    posix_spawnattr_setsigdefault(at, &all);
    posix_spawnattr_setflags(at, POSIX_SPAWN_SETSIGMASK |
                                     POSIX_SPAWN_SETSIGDEF |
                                     POSIX_SPAWN_SETSID);
}

/* The environment is passed on: the engine needs HOME and KARZER_STATE, and
 * gives a sandbox none of it. */
static int spawn(const char *program, int fd, pid_t *pid)
{
    char *const argv[] = {(char *)program, (char *)"engine", NULL};
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    int r = posix_spawn_file_actions_init(&fa);

    if (r != 0)
        return r;
    r = posix_spawnattr_init(&at);
    if (r == 0) {
        fill_attributes(&at);
        r = fill_actions(&fa, fd);
        if (r == 0)
            r = posix_spawn(pid, program, &fa, &at, argv, environ);
        posix_spawnattr_destroy(&at);
    }
    posix_spawn_file_actions_destroy(&fa);
    return r;
}

int client_start(const char *program, struct karzer *k, struct err *err)
{
    AUTO(fd) int ours = -1;
    AUTO(fd) int theirs = -1;
    int pair[2];
    int r;

    if (program == NULL)
        program = KARZER_PREFIX "/bin/karzer";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(err, "socketpair");
    ours = pair[0];
    theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, ENGINE_FD + 1);
    close(pair[1]);
    if (theirs < 0)
        return err_sys(err, "socketpair");
    r = spawn(program, theirs, &k->pid);
    if (r != 0) {
        errno = r;
        return err_sys(err, "start %s", program);
    }
    k->pidfd = pidfd_open(k->pid, 0);
    k->fd = fd_take(&ours);
    k->broken = false;
    return 0;
}

void client_stop(struct karzer *k)
{
    struct pollfd p = {.fd = k->pidfd, .events = POLLIN};
    int n;

    close(k->fd); /* EOF: it ends every sandbox, then itself */
    if (k->pidfd >= 0) {
        do
            n = poll(&p, 1, STOP_MS);
        while (n < 0 && errno == EINTR);
        if (n == 0)
            pidfd_send_signal(k->pidfd, SIGKILL, NULL, 0);
        close(k->pidfd);
    }
    while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
