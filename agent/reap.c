/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reap - see reap.h. kill(-1) may be reached as pid 1 only: anywhere else it
 * would mean every process of the user. Elsewhere a number could be taken by
 * somebody else between the look and the kill; the cell's own confinement
 * (Landlock's scope, or signals sent by the holder) stops such a signal.
 */
#include "agent/reap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_BATCH 256
#define SCAN_MAX 32768u
#define WAIT_ROUNDS 500
#define WAIT_NS 2000000

struct process {
    pid_t pid;
    pid_t parent;
    bool ours;
};

static struct process scan[SCAN_MAX];

enum reap_left reap_children(void (*dead)(void *ctx, pid_t pid, int status),
                             void *ctx)
{
    for (int i = 0; i < REAP_BATCH; i++) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);

        if (pid == 0)
            return REAP_ALIVE;
        if (pid < 0)
            return errno == ECHILD ? REAP_NOBODY : REAP_ALIVE;
        dead(ctx, pid, status);
    }
    return REAP_MORE;
}

/* A number up to the first other character; 0 when there is none. */
static pid_t parse_pid(const char *s)
{
    pid_t n = 0;

    for (; *s >= '0' && *s <= '9' && n < 100000000; s++)
        n = n * 10 + (*s - '0');
    return n;
}

/* From "pid (name) state ppid ..."; a name may hold anything but NUL. -1: it
 * is gone. */
static pid_t parent_of(int proc, const char *name)
{
    char path[32], text[256];
    const char *at = NULL;
    size_t len = strlen(name);
    ssize_t n;
    int fd;

    if (len > sizeof(path) - sizeof("/stat"))
        return -1;
    memcpy(path, name, len);
    memcpy(path + len, "/stat", sizeof("/stat"));
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n > 0) {
        text[n] = 0;
        at = strrchr(text, ')');
    }
    /* A zombie may have threads that live. */
    if (at == NULL || strlen(at) < 5 || at[2] == 'X')
        return -1;
    return parse_pid(at + 4);
}

static size_t scan_batch(int proc, const char *buf, ssize_t len, size_t count)
{
    for (ssize_t at = 0; at < len && count < SCAN_MAX;) {
        const struct dirent64 *d = (const void *)(buf + at);
        pid_t pid = parse_pid(d->d_name), parent;

        at += d->d_reclen;
        if (pid <= 0)
            continue;
        parent = parent_of(proc, d->d_name);
        if (parent >= 0)
            scan[count++] = (struct process){.pid = pid, .parent = parent};
    }
    return count;
}

/* Fills scan[]; -1: /proc cannot be read. */
static ssize_t scan_processes(void)
{
    char buf[8192] __attribute__((aligned(8)));
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = 0;
    ssize_t n;

    if (proc < 0)
        return -1;
    while ((n = getdents64(proc, (void *)buf, sizeof(buf))) > 0)
        count = scan_batch(proc, buf, n, count);
    close(proc);
    return n < 0 || count == 0 ? -1 : (ssize_t)count;
}

/* /proc lists by number, so scan[] is sorted. */
static bool is_ours(pid_t parent, pid_t self, size_t count)
{
    size_t low = 0;

    if (parent == self)
        return true;
    while (low < count) {
        size_t mid = low + (count - low) / 2;

        if (scan[mid].pid == parent)
            return scan[mid].ours;
        if (scan[mid].pid < parent)
            low = mid + 1;
        else
            count = mid;
    }
    return false;
}

/* Marks descendants, generation by generation; true when one was found. */
static bool mark(pid_t self, size_t count)
{
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        if (scan[i].ours || !is_ours(scan[i].parent, self, count))
            continue;
        scan[i].ours = true;
        found = true;
    }
    return found;
}

int reap_kill_all(void)
{
    pid_t self = getpid();
    ssize_t count;

    if (self == 1) {
        kill(-1, SIGKILL);
        return 0;
    }
    count = scan_processes();
    if (count < 0)
        return -1;
    while (mark(self, (size_t)count))
        continue;
    for (ssize_t i = 0; i < count; i++) {
        if (scan[i].ours)
            kill(scan[i].pid, SIGKILL);
    }
    return 0;
}

static void forget(void *ctx, pid_t pid, int status)
{
    (void)ctx;
    (void)pid;
    (void)status;
}

void reap_kill_wait(void)
{
    const struct timespec pause = {.tv_nsec = WAIT_NS};

    for (int i = 0; i < WAIT_ROUNDS; i++) {
        if (reap_children(forget, NULL) == REAP_NOBODY)
            return;
        if (reap_kill_all() < 0)
            return;
        nanosleep(&pause, NULL);
    }
}
