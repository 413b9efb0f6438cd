/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members - who belongs to a cell that has no pid namespace; see limits.h.
 *
 * With a control group: who is in it. Without one: whom the holder is the
 * ancestor of. It is the reaper of orphans, so nobody gets out of that, and the
 * filter asks it about each fork, so nobody new comes when it stops to answer.
 */
#include "jail/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jail/limiter.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/mark.h"
#include "src/base/sys.h"

#define MEMBERS_MAX 65536u
#define DEPTH_MAX 4096
#define TRIES 4
#define KILL_US 2000000u
#define FORKING_US 20000u /* an allowed fork has been made by then */
#define LOOK_US 5000u     /* between two counts */

static void nap(void)
{
    const struct timespec ts = {.tv_nsec = 500000};

    nanosleep(&ts, NULL);
}

/* ---- what /proc says ---- */

/* State, parent and number of threads. 0, or -1: it is gone. */
static int read_stat(pid_t pid, char *state, pid_t *parent, uint64_t *threads)
{
    char path[64], text[1024];
    unsigned long long n;
    const char *at;
    int up;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
        return -1;
    at = strrchr(text, ')');
    if (at == NULL ||
        sscanf(at + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
               "%*d %*d %llu",
               state, &up, &n) != 3)
        return -1;
    *parent = up;
    *threads = n == 0 ? 1 : n;
    return 0;
}

/* A first thread may have ended before the others. */
static bool is_dead(char state, uint64_t threads)
{
    return (state == 'Z' || state == 'X') && threads <= 1;
}

static void note(void *ctx, pid_t pid)
{
    struct limiter *l = ctx;

    if (l->member_count < MEMBERS_MAX &&
        array_grow(&l->member, &l->member_room, l->member_count) == 0)
        l->member[l->member_count++] = pid;
}

/* Of a list of numbers; 0 is of another pid namespace. */
static void each_number(const char *text, members_fn *each, void *ctx)
{
    char *end;

    for (;;) {
        long pid = strtol(text, &end, 10);

        if (end == text)
            return;
        if (pid > 0)
            each(ctx, (pid_t)pid);
        text = end;
    }
}

void members_children(pid_t pid, members_fn *each, void *ctx)
{
    char path[320], list[65536];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid,
                 e->d_name);
        if (fd_read_text(AT_FDCWD, path, list, sizeof(list)) > 0)
            each_number(list, each, ctx);
    }
    if (d != NULL)
        closedir(d);
}

static void list_group(struct limiter *l)
{
    AUTO(fd)
    int fd = openat(l->group.dir[0], "cgroup.procs", O_RDONLY | O_CLOEXEC);
    AUTO(file) FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    char line[32];

    if (f == NULL)
        return;
    fd_take(&fd);
    while (fgets(line, sizeof(line), f) != NULL)
        each_number(line, note, l);
}

size_t limiter_list(struct limiter *l, const pid_t **pids)
{
    l->member_count = 0;
    if (l->host.count > 0) {
        list_group(l);
    } else {
        members_children(getpid(), note, l);
        for (size_t i = 0; i < l->member_count; i++)
            members_children(l->member[i], note, l);
    }
    *pids = l->member;
    return l->member_count;
}

/* Up from `pid` to us: 1, to init: 0, somebody on the way has gone: -1. */
static int descends(pid_t pid)
{
    pid_t self = getpid(), at = pid, parent;
    uint64_t threads;
    char state;

    for (int i = 0; i < DEPTH_MAX; i++) {
        if (read_stat(at, &state, &parent, &threads) < 0)
            return at == pid ? 0 : -1;
        if (parent == self)
            return 1;
        if (parent <= 1)
            return 0;
        at = parent;
    }
    return 0;
}

int limiter_holds(const struct limiter *l, pid_t pid)
{
    int r = -1;

    if (!l->by_descent)
        return cgroup_holds(&l->host, &l->group, pid);
    for (int i = 0; i < TRIES && r < 0; i++)
        r = descends(pid);
    return r;
}

/* ---- the handle ---- */

/* Does /proc show all processes of this user, by the numbers that we use? */
static int proc_shows(struct err *err)
{
    char link[32], path[64], list[64];
    AUTO(file) FILE *f = NULL;
    AUTO(mem) char *line = NULL;
    ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);
    size_t room = 0;

    link[n < 0 ? 0 : n] = '\0';
    if (n < 0 || strtol(link, NULL, 10) != getpid())
        return err_set(err, ERR_HOST, "/proc is another pid namespace's");
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    if (fd_read_text(AT_FDCWD, path, list, sizeof(list)) < 0)
        return err_set(err, ERR_HOST,
                       "this kernel does not list the children of a process");
    f = fopen("/proc/self/mountinfo", "re");
    while (f != NULL && getline(&line, &room, f) > 0)
        if (strstr(line, " - proc ") != NULL &&
            strstr(line, "hidepid=") != NULL)
            return err_set(err, ERR_HOST,
                           "/proc hides processes; as root: mount -o "
                           "remount,hidepid=0 /proc");
    return f == NULL ? err_sys(err, "/proc/self/mountinfo") : 0;
}

int limiter_handle(struct limiter *l, int slot_fd, uint8_t *effective,
                   struct err *err)
{
    if (l->host.count == 0) {
        if (proc_shows(err) < 0 ||
            mark_make(slot_fd, l->slot, &l->mark, err) < 0)
            return -1;
        l->by_descent = true;
    }
    if (l->host.of[CGROUP_PIDS] >= 0)
        return 0;
    l->tasks = 1; /* the agent */
    l->how[HOLDER_PIDS] = HOLDER_HOW_COUNTED;
    effective[HOLDER_PIDS] = HOLDER_HOW_COUNTED;
    return 0;
}

/* ---- forks ---- */

/* Those that were allowed, and may not be among the counted yet. */
static uint64_t still_forking(const struct limiter *l, uint64_t now)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < FORKING_MAX; i++)
        n += l->forking[i].thread != 0 && now - l->forking[i].us < FORKING_US;
    return n;
}

static void count_tasks(struct limiter *l, uint64_t now)
{
    const pid_t *pids;
    size_t count = limiter_list(l, &pids);
    uint64_t sum = 0, threads;
    pid_t parent;
    char state;

    for (size_t i = 0; i < count; i++)
        if (read_stat(pids[i], &state, &parent, &threads) == 0)
            sum += threads;
    l->tasks = sum + still_forking(l, now);
    l->looked_us = clock_us();
}

int limiter_fork(struct limiter *l, pid_t thread)
{
    uint64_t now = clock_us(), limit = l->limits.pids + 1; /* the agent */

    if (l->how[HOLDER_PIDS] != HOLDER_HOW_COUNTED)
        return 0;
    for (unsigned i = 0; i < FORKING_MAX; i++)
        if (l->forking[i].thread == thread)
            l->forking[i].thread = 0; /* its last one has been made */
    if (l->tasks >= limit && now - l->looked_us > LOOK_US)
        count_tasks(l, now);
    if (l->tasks >= limit) {
        l->refused++;
        errno = EAGAIN;
        return -1;
    }
    l->tasks++;
    l->forking[l->forking_at++ % FORKING_MAX] =
        (struct forking){.thread = thread, .us = now};
    return 0;
}

/* ---- the end ---- */

/* How many were alive. */
static int kill_round(struct limiter *l)
{
    const pid_t *pids;
    size_t count = limiter_list(l, &pids);
    int alive = 0;

    for (size_t i = 0; i < count; i++) {
        AUTO(fd) int pidfd = sys_pidfd_open(pids[i], 0);
        uint64_t threads;
        pid_t parent;
        char state;

        /* The descriptor first: a number that was used again is not ours. */
        if (pidfd < 0 || read_stat(pids[i], &state, &parent, &threads) < 0 ||
            is_dead(state, threads) || limiter_holds(l, pids[i]) != 1)
            continue;
        sys_pidfd_send_signal(pidfd, SIGKILL);
        alive++;
    }
    return alive;
}

/* Twice nobody: one may have become an orphan behind the first look. */
static void kill_descendants(struct limiter *l)
{
    uint64_t end = clock_us() + KILL_US;

    for (int quiet = 0; quiet < 2 && clock_us() < end;) {
        if (kill_round(l) == 0) {
            quiet++;
            continue;
        }
        quiet = 0;
        nap();
    }
}

void limiter_kill(struct limiter *l)
{
    if (l->by_descent)
        kill_descendants(l);
    else
        cgroup_empty(&l->host, &l->group);
}
