/* SPDX-License-Identifier: Apache-2.0 */
/*
 * park - see park.h. One request at a time, each bounded in time. A lock that
 * dies with us says that we live, so that what kill -9 leaves is a socket that
 * the next spawner takes away.
 */
#include "scope/park.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/scope.h"
#include "scope/peer.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/fds.h"
#include "src/base/spawn.h"

#define REQUEST_S 2
#define BACKLOG 64

static int is_private(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

int park_dir(const char *runtime_dir, struct err *err)
{
    AUTO(fd)
    int above =
        open(runtime_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    AUTO(fd) int dir = -1;

    if (above < 0 || !is_private(above))
        return err_set(err, ERR_HOST,
                       "%.256s is not a directory of yours alone", runtime_dir);
    if (mkdirat(above, SCOPE_DIR, 0700) < 0 && errno != EEXIST)
        return err_sys(err, "%.256s/" SCOPE_DIR, runtime_dir);
    dir =
        openat(above, SCOPE_DIR, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || !is_private(dir))
        return err_set(err, ERR_HOST,
                       "%.256s/" SCOPE_DIR " is not a directory of yours alone",
                       runtime_dir);
    return fd_take(&dir);
}

int park_lock(int dir, int *lock, struct err *err)
{
    AUTO(fd)
    int fd = openat(dir, strrchr(SCOPE_LOCK, '/') + 1,
                    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(err, SCOPE_LOCK);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, ERR_HOST, SCOPE_LIVES);
    *lock = fd_take(&fd);
    return 0;
}

static int address(const char *runtime_dir, struct sockaddr_un *at,
                   struct err *err)
{
    int n = snprintf(at->sun_path, sizeof(at->sun_path), "%.90s/" SCOPE_SOCKET,
                     runtime_dir);

    at->sun_family = AF_UNIX;
    if (strlen(runtime_dir) > 90 || n < 0 || (size_t)n >= sizeof(at->sun_path))
        return err_set(err, ERR_HOST,
                       "the runtime directory's path is too "
                       "long for a socket");
    return 0;
}

int park_listen(const char *runtime_dir, int *listener, struct err *err)
{
    AUTO(fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un at = {0};

    if (fd < 0 || address(runtime_dir, &at, err) < 0)
        return fd < 0 ? err_sys(err, "socket") : -1;
    unlink(at.sun_path); /* ours, and dead: we have the lock */
    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        chmod(at.sun_path, 0600) < 0 || listen(fd, BACKLOG) < 0)
        return err_sys(err, "%s", at.sun_path);
    *listener = fd_take(&fd);
    return 0;
}

static int start_holder(int client, struct scope_answer *answer, int *pidfd,
                        struct err *err)
{
    static struct scope_request req;
    int fds[SCOPE_FDS];
    pid_t pid;
    int r;

    if (peer_check(client, err) < 0)
        return -1;
    if (fds_recv(client, &req, sizeof(req), fds, SCOPE_FDS) < 0)
        return err_sys(err, "the request");
    req.jail[sizeof(req.jail) - 1] = '\0';
    if (req.version == SCOPE_VERSION && req.jail[0] == '/')
        r = spawn_program(req.jail, fds, SCOPE_FDS, &pid, pidfd, err);
    else
        r = err_set(err, ERR_INVALID, "a request of another version");
    for (size_t i = 0; i < SCOPE_FDS; i++)
        fd_drop(&fds[i]);
    if (r == 0)
        answer->pid = (int32_t)pid;
    return r;
}

/* 1: a holder was started. */
static int serve_one(int listener)
{
    const struct timeval limit = {.tv_sec = REQUEST_S};
    AUTO(fd) int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    AUTO(fd) int pidfd = -1;
    struct scope_answer answer = {0};
    struct err err = {0};

    if (client < 0)
        return 0;
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (start_holder(client, &answer, &pidfd, &err) < 0)
        snprintf(answer.text, sizeof(answer.text), "%.250s", err.text);
    fds_send(client, &answer, sizeof(answer), &pidfd, pidfd < 0 ? 0 : 1);
    return answer.pid != 0;
}

static int reap(int signals)
{
    struct signalfd_siginfo info;
    int n = 0;

    (void)!read(signals, &info, sizeof(info));
    while (waitpid(-1, NULL, WNOHANG) > 0)
        n++;
    return n;
}

void park_serve(int listener, int idle_ms)
{
    struct pollfd p[2] = {{.fd = listener, .events = POLLIN},
                          {.events = POLLIN}};
    AUTO(fd) int signals = -1;
    sigset_t child;
    int alive = 0;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    p[1].fd = signals;
    while (signals >= 0) {
        int n = poll(p, ARRAY_LEN(p), alive > 0 ? -1 : idle_ms);

        if (n == 0)
            return;
        if (n < 0 && errno != EINTR)
            return;
        if (p[0].revents != 0)
            alive += serve_one(listener);
        if (p[1].revents != 0)
            alive -= reap(signals);
    }
}
