/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_proc - sums over the processes of a cell, where there is no cgroup;
 * used by usage.c alone. Walks /proc from the cell's init; orphans are its
 * children.
 *
 * Memory: a cheap sum that can only be too high (pages shared by fork count
 * twice, every buffer counts as full). Above the limit the exact shares are
 * read, and only those can end a cell. CPU: what live processes and those they
 * waited for used, or what was last seen of each, whichever is more.
 */
#include "jail/limiter.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define PAGE 4096u
#define PIPE_FULL (16u * PAGE) /* a pipe of the usual size */
#define PIPE_LEAST (2u * PAGE) /* one made past the user's soft limit */
#define PIPES_SOFT (UINT64_C(64) << 20) /* pipe-user-pages-soft */
#define SOCKET_USUAL 212992u            /* one direction */
#define SOCKETS_FREE 64u                /* that many may be empty */

struct seen {
    pid_t pid;
    uint64_t start; /* with the pid: one process for ever */
    uint64_t own;   /* ticks, last seen */
    bool live;
};

struct proc_sum {
    struct seen *seen;
    size_t seen_count, seen_room;
    pid_t *pids; /* of this walk */
    size_t count, room;

    /* of this walk */
    uint64_t anon, shmem, kernel, files, threads;
    uint64_t own, all; /* ticks: own; own and waited-for */
    uint64_t dead;     /* ticks last seen of what is gone */
    uint64_t memory_peak, threads_peak, cpu_us;
    uint64_t socket_full; /* bytes, both directions */
    uint64_t maps_most;   /* of one process */
};

void proc_sum_free(struct limiter *l)
{
    if (l->procs == NULL)
        return;
    free(l->procs->seen);
    free(l->procs->pids);
    free(l->procs);
    l->procs = NULL;
}

void *array_more(void *array, size_t *room, size_t count, size_t size)
{
    size_t more = *room == 0 ? 64 : *room * 2;

    if (count < *room)
        return array;
    array = reallocarray(array, more, size);
    if (array != NULL)
        *room = more;
    return array;
}

static int read_proc(pid_t pid, const char *file, char *out, size_t size)
{
    char path[128];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    return fd_read_text(AT_FDCWD, path, out, size) > 0 ? 0 : -1;
}

/* The number after "\nKey:", in the unit of the file; 0 when absent. */
static uint64_t field(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

static void note_pid(void *ctx, pid_t pid)
{
    struct proc_sum *s = ctx;

    if (array_grow(&s->pids, &s->room, s->count) == 0)
        s->pids[s->count++] = pid;
}

static struct seen *seen_find(struct proc_sum *s, pid_t pid, uint64_t start)
{
    for (size_t i = 0; i < s->seen_count; i++)
        if (s->seen[i].pid == pid && s->seen[i].start == start)
            return &s->seen[i];
    if (array_grow(&s->seen, &s->seen_room, s->seen_count) < 0)
        return NULL;
    s->seen[s->seen_count] = (struct seen){.pid = pid, .start = start};
    return &s->seen[s->seen_count++];
}

/* /proc/PID/stat after the name: field 3 is the first. */
static int add_times(struct proc_sum *s, pid_t pid)
{
    unsigned long long utime, stime, start;
    long long cutime, cstime;
    char text[2048];
    struct seen *seen;
    const char *at;

    if (read_proc(pid, "stat", text, sizeof(text)) < 0)
        return -1;
    at = strrchr(text, ')');
    if (at == NULL ||
        sscanf(at + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld "
               "%lld %*d %*d %*d %*d %llu",
               &utime, &stime, &cutime, &cstime, &start) != 5)
        return -1;
    seen = seen_find(s, pid, start);
    if (seen != NULL) {
        seen->own = utime + stime;
        seen->live = true;
    }
    s->own += utime + stime;
    s->all += utime + stime + (uint64_t)cutime + (uint64_t)cstime;
    return 0;
}

static void add_memory(struct proc_sum *s, pid_t pid)
{
    char text[4096];
    uint64_t kib;

    if (read_proc(pid, "status", text, sizeof(text)) < 0)
        return;
    kib = field(text, "\nRssAnon:") + field(text, "\nVmPTE:") +
          field(text, "\nVmSwap:");
    s->anon += kib * 1024u;
    s->shmem += field(text, "\nRssShmem:") * 1024u;
    s->threads += field(text, "\nThreads:");
    s->files += field(text, "\nFDSize:");
    s->kernel += kernel_guess(text, s->maps_most);
}

/* What a socket may hold: a cell cannot change it (jail/seccomp.def). */
static uint64_t socket_full(void)
{
    static const char *const files[] = {"/proc/sys/net/core/rmem_default",
                                        "/proc/sys/net/core/wmem_default"};
    uint64_t sum = 0, n;
    char text[32];

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        n = fd_read_text(AT_FDCWD, files[i], text, sizeof(text)) > 0
                ? strtoull(text, NULL, 10)
                : 0;
        sum += n > SOCKET_USUAL ? n : SOCKET_USUAL;
    }
    return sum;
}

int proc_sum_new(struct limiter *l)
{
    l->procs = calloc(1, sizeof(*l->procs));
    if (l->procs == NULL)
        return -1;
    l->procs->socket_full = socket_full();
    l->procs->maps_most = kernel_maps_most();
    return 0;
}

/* Whether a TCP connection was ever made there: one that was reset may still
 * hold data, and is in no count of TCP's any more. */
static bool had_tcp(pid_t init)
{
    unsigned long long active;
    char text[4096];
    const char *at;

    if (read_proc(init, "net/snmp", text, sizeof(text)) < 0)
        return true;
    at = strstr(text, "\nTcp: "); /* the names; the numbers follow */
    at = at == NULL ? NULL : strstr(at + 1, "\nTcp: ");
    return at == NULL ||
           sscanf(at + 1, "Tcp: %*d %*d %*d %*d %llu", &active) != 1 ||
           active > 0;
}

/* What the sockets of the cell's network namespace may hold. TCP's buffers are
 * large and counted for the whole host: never more than those. */
static uint64_t socket_bytes(const struct limiter *l)
{
    uint64_t used, tcp, pages = 0;
    char text[1024];
    const char *line;

    if (read_proc(l->init, "net/sockstat", text, sizeof(text)) < 0)
        return 0;
    used = field(text, "sockets: used");
    tcp = field(text, "\nTCP: inuse");
    line = strstr(text, "\nTCP:");
    if (line != NULL && (tcp > 0 || (used > 0 && had_tcp(l->init))))
        pages = field(line, " mem");
    used = used > SOCKETS_FREE ? used - SOCKETS_FREE : 0;
    return (used > tcp ? used - tcp : 0) * l->procs->socket_full + pages * PAGE;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t pipes_full(uint64_t n)
{
    uint64_t full = n * PIPE_FULL;

    return (full < PIPES_SOFT ? full : PIPES_SOFT) + n * PIPE_LEAST;
}

struct pipes {
    uint64_t *inode;
    size_t count, room;
};

static void collect_pipes(struct pipes *p, pid_t pid)
{
    char path[64], link[64];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

        if (n <= 0)
            continue;
        link[n] = '\0';
        if (strncmp(link, "pipe:[", 6) != 0 ||
            array_grow(&p->inode, &p->room, p->count) < 0)
            continue;
        p->inode[p->count++] = strtoull(link + 6, NULL, 10);
    }
    if (d != NULL)
        closedir(d);
}

/* The most that the cell's pipes can hold. */
static uint64_t pipe_bytes(const struct proc_sum *s)
{
    struct pipes p = {0};
    uint64_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        collect_pipes(&p, s->pids[i]);
    if (p.count > 0)
        qsort(p.inode, p.count, sizeof(*p.inode), by_number);
    for (size_t i = 0; i < p.count; i++)
        if (i == 0 || p.inode[i] != p.inode[i - 1])
            n++;
    free(p.inode);
    return pipes_full(n);
}

/* Each page once, by the shares that smaps_rollup gives; what a process does
 * not let us see of it counts as its own. */
static uint64_t exact_memory(struct limiter *l)
{
    const struct proc_sum *s = l->procs;
    uint64_t anon = 0, shmem = 0, kernel = 0, scratch = l->usage.disk_bytes;
    uint64_t enough = l->limits.mem_bytes;
    uint64_t most = shared_most(l); /* walks: s->pids is new */
    bool seen;
    char text[4096];

    for (size_t i = 0; i < s->count; i++) {
        seen = read_proc(s->pids[i], "smaps_rollup", text, sizeof(text)) == 0;
        if (seen) {
            anon += field(text, "\nPss_Anon:") + field(text, "\nSwapPss:");
            shmem += field(text, "\nPss_Shmem:");
        }
        if (read_proc(s->pids[i], "status", text, sizeof(text)) < 0)
            continue;
        anon += field(text, "\nVmPTE:");
        kernel += kernel_exact(s->pids[i], text, s->maps_most, enough - kernel);
        if (kernel > enough)
            break;
        if (!seen) {
            anon += field(text, "\nRssAnon:") + field(text, "\nVmSwap:");
            shmem += field(text, "\nRssShmem:");
        }
    }
    shmem *= 1024u;
    /* A mapped scratch file is in the disk's sum already. */
    if (scratch != HOLDER_UNKNOWN)
        shmem -= shmem < scratch ? shmem : scratch;
    /* All that is left of it is in shared maps, and there may be more. */
    if (shmem < most)
        shmem = most;
    return anon * 1024u + shmem + kernel + pipe_bytes(s) + socket_bytes(l);
}

/* Times of what was there and is not any more. */
static void bury(struct proc_sum *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->seen_count; i++) {
        if (s->seen[i].live)
            s->seen[kept++] = s->seen[i];
        else
            s->dead += s->seen[i].own;
    }
    s->seen_count = kept;
}

static void walk(struct limiter *l)
{
    struct proc_sum *s = l->procs;

    s->anon = s->shmem = s->kernel = s->files = s->threads = s->own = s->all =
        0;
    s->count = 0;
    for (size_t i = 0; i < s->seen_count; i++)
        s->seen[i].live = false;
    note_pid(s, l->init);
    /* One walk sees at most as many as the limit allows, and some that come
     * and go: a storm of forks must not hold the holder here. */
    for (size_t i = 0; i < s->count && i < l->limits.pids * 2 + 64; i++) {
        if (add_times(s, s->pids[i]) < 0)
            continue;
        add_memory(s, s->pids[i]);
        members_children(s->pids[i], note_pid, s);
    }
    bury(s);
}

size_t proc_sum_walk(struct limiter *l, const pid_t **pids)
{
    walk(l);
    *pids = l->procs->pids;
    return l->procs->count;
}

static void note_peaks(struct limiter *l)
{
    struct proc_sum *s = l->procs;
    uint64_t tick_us = 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t ticks = s->all > s->own + s->dead ? s->all : s->own + s->dead;

    if (ticks * tick_us > s->cpu_us)
        s->cpu_us = ticks * tick_us;
    if (s->anon + s->shmem > s->memory_peak)
        s->memory_peak = s->anon + s->shmem;
    if (s->threads > s->threads_peak)
        s->threads_peak = s->threads;
}

static void publish(struct limiter *l)
{
    struct proc_sum *s = l->procs;
    struct holder_usage *u = &l->usage;

    if (l->how[HOLDER_CPU_TIME] == HOLDER_HOW_SAMPLED &&
        (l->ended || s->cpu_us > 0))
        u->cpu_us = s->cpu_us;
    if (l->how[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED && s->memory_peak > 0)
        u->peak_memory_bytes = s->memory_peak;
    /* Without the agent. */
    if (l->host.of[CGROUP_PIDS] < 0 && s->threads_peak > 1)
        u->peak_processes = s->threads_peak - 1;
}

/* By the cheap sum; and when that says so, by the exact one. */
static unsigned check_memory(struct limiter *l)
{
    struct proc_sum *s = l->procs;
    uint64_t shared = shared_bytes(l), limit = l->limits.mem_bytes;
    uint64_t used = s->anon + (s->shmem > shared ? s->shmem : shared) +
                    s->kernel + pipes_full(s->files) + socket_bytes(l);

    if (used > limit)
        used = exact_memory(l);
    if (shared_strange(l))
        return HOLDER_HIT_MEMORY_KILLED;
    if (used <= limit) {
        victim_none(l);
        return 0;
    }
    /* What the limit is held against is what was used. */
    if (used > s->memory_peak)
        s->memory_peak = used;
    return victim_choose(l, used - limit);
}

unsigned proc_sum_sample(struct limiter *l)
{
    unsigned hits = 0;

    if (!l->ended) {
        walk(l);
        note_peaks(l);
        if (l->how[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED)
            hits = check_memory(l);
    }
    publish(l);
    return hits;
}

static uint64_t timeval_us(const struct timeval *tv)
{
    return (uint64_t)tv->tv_sec * 1000000u + (uint64_t)tv->tv_usec;
}

void proc_sum_reaped(struct limiter *l, const struct rusage *ru)
{
    uint64_t cpu = timeval_us(&ru->ru_utime) + timeval_us(&ru->ru_stime);
    uint64_t most = (uint64_t)ru->ru_maxrss * 1024u;

    if (cpu > l->procs->cpu_us)
        l->procs->cpu_us = cpu;
    /* The largest single process: the sum was at least that. */
    if (most > l->procs->memory_peak)
        l->procs->memory_peak = most;
}
