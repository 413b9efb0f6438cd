/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_victim - who ends when memory is past its limit; used by usage.c and
 * usage_proc.c. As the kernel does at its ceiling, the largest processes are
 * killed until what they hold covers the excess, never the agent. Why, and when
 * it is the cell instead: docs/decisions/0004-memory-victim.md. Waits for no
 * lock of a process: sizes are what /proc/PID/status says.
 */
#include "jail/limiter.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define UNHELD_US 250000u /* that long past the limit, held by no process */
#define VAIN_US 1000000u  /* that long past the limit, whoever is killed */

struct process {
    pid_t pid;
    uint64_t held;
};

struct look {
    struct process *process; /* live ones */
    size_t count, room;
    uint64_t held;  /* by them */
    uint64_t dying; /* held by those that were sent SIGKILL already */
};

static uint64_t field(const char *text, const char *key, int base)
{
    const char *at = strstr(text, key);

    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, base);
}

static void look_at(const struct limiter *l, struct look *k, pid_t pid)
{
    const uint64_t killed = UINT64_C(1) << (SIGKILL - 1);
    char path[64], text[4096];
    uint64_t held;

    if (pid <= 0 || pid == l->init || pid == getpid())
        return;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
        return;
    held = field(text, "\nRssAnon:", 10) + field(text, "\nRssShmem:", 10) +
           field(text, "\nVmSwap:", 10) + field(text, "\nVmPTE:", 10);
    held *= 1024u;
    if (held == 0)
        return;
    if ((field(text, "\nSigPnd:", 16) | field(text, "\nShdPnd:", 16)) &
        killed) {
        k->dying += held;
        return;
    }
    if (array_grow(&k->process, &k->room, k->count) < 0)
        return;
    k->process[k->count++] = (struct process){.pid = pid, .held = held};
    k->held += held;
}

static void look_around(struct limiter *l, struct look *k)
{
    const pid_t *pids;
    size_t count;

    if (l->host.count > 0 || l->by_descent)
        count = limiter_list(l, &pids);
    else if (l->procs != NULL)
        count = proc_sum_walk(l, &pids);
    else
        return;
    for (size_t i = 0; i < count; i++)
        look_at(l, k, pids[i]);
}

static int pid_namespace(pid_t pid, struct stat *st)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    return stat(path, st);
}

/* Asked with a pidfd in hand that is still alive afterwards: then it was this
 * process, and no later one with its number. */
static bool is_ours(const struct limiter *l, pid_t pid)
{
    struct stat own, of;

    if (l->host.count > 0 || l->by_descent)
        return limiter_holds(l, pid) == 1;
    return pid_namespace(getpid(), &own) == 0 &&
           pid_namespace(l->init, &of) == 0 &&
           (own.st_ino != of.st_ino || own.st_dev != of.st_dev) &&
           pid_namespace(pid, &own) == 0 && own.st_ino == of.st_ino &&
           own.st_dev == of.st_dev;
}

static int kill_process(const struct limiter *l, pid_t pid)
{
    AUTO(fd) int fd = sys_pidfd_open(pid, 0);

    if (fd < 0 || !is_ours(l, pid))
        return -1;
    return sys_pidfd_send_signal(fd, SIGKILL);
}

/* Of equals the last: the one that was forked later, as the kernel does. */
static struct process *largest(struct look *k)
{
    struct process *p = NULL;

    for (size_t i = 0; i < k->count; i++)
        if (k->process[i].held > 0 &&
            (p == NULL || k->process[i].held >= p->held))
            p = &k->process[i];
    return p;
}

static void kill_largest(struct limiter *l, struct look *k, uint64_t excess)
{
    uint64_t gone = k->dying;
    struct process *p;

    while (gone < excess && (p = largest(k)) != NULL) {
        if (kill_process(l, p->pid) == 0) {
            gone += p->held;
            l->victims++;
        }
        p->held = 0;
    }
}

void victim_none(struct limiter *l)
{
    l->over_us = l->held_us = 0;
}

unsigned victim_choose(struct limiter *l, uint64_t excess)
{
    uint64_t limit = l->limits.mem_bytes, now = clock_us();
    struct look k = {0};

    if (l->over_us == 0)
        l->over_us = l->held_us = now;
    look_around(l, &k);
    /* An eighth is for what the kernel keeps for them. */
    if (k.held > limit - limit / 8) {
        l->held_us = now;
        kill_largest(l, &k, excess);
    }
    free(k.process);
    return now - l->held_us > UNHELD_US || now - l->over_us > VAIN_US
               ? HOLDER_HIT_MEMORY_KILLED
               : 0;
}
