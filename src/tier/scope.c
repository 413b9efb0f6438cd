/* SPDX-License-Identifier: Apache-2.0 */
/* scope - see scope.h. Whatever fails here is no failure of a run: what its
 * limits then are is told by the holder (`effective`). */
#include "src/tier/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/scope.h"
#include "src/base/auto.h"
#include "src/base/cgroup.h"
#include "src/base/fd.h"
#include "src/base/fds.h"
#include "src/base/spawn.h"

#define START_US 30000000u /* an emulated machine is slow */
#define REFUSED_S 60       /* then it is tried again */
#define PATH_SIZE (DIRS_PATH_MAX + 32)

static void path_of(const struct dirs *dirs, const char *name, char *out)
{
    snprintf(out, PATH_SIZE, "%s/%s", dirs->runtime, name);
}

/* Where a scope is of use at all: one or two system calls. */
static bool is_systemd(const struct dirs *dirs)
{
    char path[PATH_SIZE];

    if (geteuid() == 0 || dirs->runtime[0] == '\0')
        return false;
    path_of(dirs, "systemd/private", path);
    return access(path, F_OK) == 0 &&
           access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
}

/* Who is in a delegated scope already needs no other. */
static bool own_group_does(void)
{
    struct cgroup_host host;
    bool does;

    if (cgroup_find(&host, NULL) < 0)
        return true;
    does = host.of[CGROUP_MEMORY] >= 0 && host.of[CGROUP_PIDS] >= 0;
    cgroup_close(&host);
    return does;
}

/* A descriptor, or -1: nobody of ours listens. */
static int reach(const struct dirs *dirs)
{
    AUTO(fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = 2};
    struct ucred cred;
    socklen_t len = sizeof(cred);
    char path[PATH_SIZE];

    path_of(dirs, SCOPE_SOCKET, path);
    if (fd < 0 || strlen(path) >= sizeof(at.sun_path))
        return -1;
    memcpy(at.sun_path, path, strlen(path) + 1);
    /* a spawner that was stopped, or is none, delays no run for long */
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) <
            0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) <
            0)
        return -1;
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 ||
        cred.uid != geteuid())
        return -1;
    return fd_take(&fd);
}

/* Is one of these processes confined by others? Then what we start would be
 * confined, too, and of no use to the rest of the login. */
static bool is_confined(void)
{
    char text[4096];

    return fd_read_text(AT_FDCWD, "/proc/self/status", text, sizeof(text)) <=
               0 ||
           strstr(text, "\nSeccomp:\t0") == NULL ||
           strstr(text, "\nNoNewPrivs:\t0") == NULL;
}

/* Why it failed a short while ago; false: it did not. */
static bool was_refused(const struct dirs *dirs, char *why, size_t size)
{
    char path[PATH_SIZE];
    struct stat st;

    path_of(dirs, SCOPE_REFUSED, path);
    if (lstat(path, &st) < 0 || st.st_uid != geteuid() ||
        st.st_mtime + REFUSED_S < time(NULL))
        return false;
    return fd_read_text(AT_FDCWD, path, why, size) >= 0;
}

static void note_refused(const struct dirs *dirs, const char *why)
{
    char path[PATH_SIZE];
    AUTO(fd) int fd = -1;

    path_of(dirs, SCOPE_REFUSED, path);
    fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)!write(fd, why, strlen(why));
}

/* 1: it listens, or another one will; 0: there will be none. */
static int start(const struct dirs *dirs)
{
    char path[PATH_SIZE];
    AUTO(fd) int pidfd = -1;
    struct scope_answer answer = {.text = "it ended early"};
    pid_t pid;
    int pair[2], r = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return 0;
    snprintf(path, sizeof(path), "%s/karzer-scope", dirs->libexec);
    if (spawn_program(path, &pair[1], 1, &pid, &pidfd, NULL) == 0) {
        close(pair[1]);
        pair[1] = -1;
        if (send(pair[0], dirs->runtime, strlen(dirs->runtime), MSG_NOSIGNAL) >
                0 &&
            fd_wait(pair[0], POLLIN, (int)(START_US / 1000)) &&
            fds_recv(pair[0], &answer, sizeof(answer), NULL, 0) == 0)
            r = answer.pid != 0;
        answer.text[sizeof(answer.text) - 1] = '\0';
        if (r == 0)
            spawn_wait(pidfd, 1000);
    }
    fd_drop(&pair[0]);
    fd_drop(&pair[1]);
    if (r == 0 && strstr(answer.text, SCOPE_LIVES) != NULL)
        return 1;
    if (r == 0)
        note_refused(dirs, answer.text);
    return r;
}

/* Connects; starts one when nobody listens. -1: there is none. */
static int reach_or_start(const struct dirs *dirs)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    uint64_t end = clock_us() + START_US;
    char why[256];
    int fd = reach(dirs);

    if (fd >= 0)
        return fd;
    if (was_refused(dirs, why, sizeof(why)) || is_confined() ||
        start(dirs) == 0)
        return -1;
    while ((fd = reach(dirs)) < 0 && clock_us() < end)
        nanosleep(&nap, NULL);
    return fd;
}

static bool ask(int fd, const char *jail, const int *fds, pid_t *pid,
                int *pidfd)
{
    static struct scope_request req;
    struct scope_answer answer;

    req.version = SCOPE_VERSION;
    if (strlen(jail) >= sizeof(req.jail))
        return false;
    memcpy(req.jail, jail, strlen(jail) + 1);
    if (fds_send(fd, &req, sizeof(req), fds, SCOPE_FDS) < 0 ||
        fds_recv(fd, &answer, sizeof(answer), pidfd, 1) < 0)
        return false;
    *pid = answer.pid;
    return true;
}

bool scope_spawn(const struct dirs *dirs, const char *jail, const int *fds,
                 pid_t *pid, int *pidfd)
{
    AUTO(fd) int fd = -1;

    if (!is_systemd(dirs) || own_group_does())
        return false;
    fd = reach_or_start(dirs);
    return fd >= 0 && ask(fd, jail, fds, pid, pidfd);
}

int scope_look(const struct dirs *dirs, struct err *err)
{
    AUTO(fd) int fd = -1;
    char why[256];

    if (!is_systemd(dirs))
        return err_set(err, ERR_HOST,
                       "no systemd of this user's with a v2 tree: log in by "
                       "a session, or `loginctl enable-linger`");
    fd = reach(dirs);
    if (fd >= 0)
        return 1;
    if (was_refused(dirs, why, sizeof(why)))
        return err_set(err, ERR_HOST, "%.250s", why);
    return is_confined() ? err_set(err, ERR_HOST, "this process is confined")
                         : 0;
}
