/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_shared - what the shared anonymous maps of a cell may hold, where there
 * is no memory cgroup; used by usage_proc.c and supervise.c.
 *
 * A page of such a map that nobody touches any more is in no process's resident
 * set, and when the rest of a map was unmapped nothing tells how large it was.
 * So the holder is asked about each when it is made (seccomp), and keeps the
 * sizes. How many of them still exist is seen in /proc/PID/maps; which ones is
 * not asked: k maps never hold more than the k largest sizes that are known.
 */
#include "jail/limiter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define PAGE 4096u
#define HUGE (UINT64_C(2) << 20)
#define MAP_COSTS PAGE         /* what the kernel itself keeps for a map */
#define SECOND_US 1000000u     /* an answered call is done by then */
#define LOOK_SHARE 5u          /* of one processor, for looking */
#define LOOK_CREDIT_US 100000u /* and that much at once */

struct asked {
    pid_t thread;
    uint64_t us;
};

struct shared {
    uint64_t *size; /* of maps that may exist */
    size_t count, room;
    uint64_t sum;
    struct asked *asked; /* whose map may not be there yet */
    size_t asked_count, asked_room;
    uint64_t *inode; /* of this look */
    size_t inodes, inodes_room;
    char dev[32];  /* of all such maps, as /proc/PID/maps has it */
    uint64_t unit; /* one page may take that much */
    uint64_t looked_us, credit_us;
    uint64_t period_us; /* the most that were seen, in this second and before */
    size_t most, most_before;
    bool ever;    /* somebody asked */
    bool strange; /* there are more maps than anybody asked for */
};

static uint64_t unit_of_host(void)
{
    char text[128];

    if (fd_read_text(AT_FDCWD,
                     "/sys/kernel/mm/transparent_hugepage/shmem_enabled", text,
                     sizeof(text)) > 0 &&
        strstr(text, "[never]") == NULL && strstr(text, "[deny]") == NULL)
        return HUGE;
    return PAGE;
}

int shared_new(struct limiter *l)
{
    AUTO(fd) int fd = memfd_create("device", MFD_CLOEXEC);
    struct shared *s = calloc(1, sizeof(*s));
    struct stat st;

    l->shared = s;
    if (s == NULL || fd < 0 || fstat(fd, &st) < 0)
        return -1;
    snprintf(s->dev, sizeof(s->dev), "%02x:%02x", major(st.st_dev),
             minor(st.st_dev));
    s->unit = unit_of_host();
    s->credit_us = LOOK_CREDIT_US;
    return 0;
}

void shared_free(struct limiter *l)
{
    if (l->shared == NULL)
        return;
    free(l->shared->size);
    free(l->shared->asked);
    free(l->shared->inode);
    free(l->shared);
    l->shared = NULL;
}

/* ---- what exists ---- */

/* One line: range, rights, offset, device, inode. */
static int take_line(struct shared *s, const char *line)
{
    char dev[32];
    uint64_t inode;

    if (sscanf(line, "%*s %*s %*s %31s %" SCNu64, dev, &inode) != 2 ||
        strcmp(dev, s->dev) != 0)
        return 0;
    if (array_grow(&s->inode, &s->inodes_room, s->inodes) < 0)
        return -1;
    s->inode[s->inodes++] = inode;
    return 0;
}

/* -1: it cannot be known. A process that has ended has no maps. */
static int take_maps(struct shared *s, pid_t pid)
{
    AUTO(file) FILE *f = NULL;
    char path[64], line[512];
    bool whole = true;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    f = fopen(path, "re");
    if (f == NULL)
        return errno == ENOENT || errno == ESRCH ? 0 : -1;
    while (fgets(line, sizeof(line), f) != NULL) {
        if (whole && take_line(s, line) < 0)
            return -1;
        whole = strchr(line, '\n') != NULL;
    }
    return ferror(f) && errno != ESRCH ? -1 : 0;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
    return by_number(b, a);
}

/* How many maps there are; -1: not known. */
static ssize_t count_maps(struct limiter *l)
{
    struct shared *s = l->shared;
    const pid_t *pids;
    size_t count = proc_sum_walk(l, &pids), n = 0;

    s->inodes = 0;
    for (size_t i = 0; i < count; i++)
        if (take_maps(s, pids[i]) < 0)
            return -1;
    if (s->inodes > 0)
        qsort(s->inode, s->inodes, sizeof(*s->inode), by_number);
    for (size_t i = 0; i < s->inodes; i++)
        if (i == 0 || s->inode[i] != s->inode[i - 1])
            n++;
    return (ssize_t)n;
}

/* A walk over processes that come and go may miss one: not for a second. */
static size_t most_of_a_second(struct shared *s, size_t now, uint64_t us)
{
    if (us - s->period_us > SECOND_US) {
        s->most_before = us - s->period_us > 2 * SECOND_US ? 0 : s->most;
        s->most = 0;
        s->period_us = us;
    }
    if (now > s->most)
        s->most = now;
    return s->most > s->most_before ? s->most : s->most_before;
}

static size_t under_way(struct shared *s, uint64_t us)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->asked_count; i++)
        if (us - s->asked[i].us <= SECOND_US)
            s->asked[kept++] = s->asked[i];
    s->asked_count = kept;
    return kept;
}

static void keep_largest(struct shared *s, size_t n)
{
    if (s->count <= n)
        return;
    qsort(s->size, s->count, sizeof(*s->size), by_size);
    while (s->count > n)
        s->sum -= s->size[--s->count];
}

/* Nobody makes a map meanwhile that was not asked for before: the holder does
 * nothing else. */
static void look(struct limiter *l)
{
    struct shared *s = l->shared;
    uint64_t start = clock_us();
    uint64_t credit = s->credit_us + (start - s->looked_us) / LOOK_SHARE;
    ssize_t n = count_maps(l);
    uint64_t cost;

    s->looked_us = clock_us();
    cost = s->looked_us - start;
    if (credit > LOOK_CREDIT_US)
        credit = LOOK_CREDIT_US;
    s->credit_us = credit > cost ? credit - cost : 0;
    if (n < 0)
        return;
    if ((size_t)n > s->count)
        s->strange = true;
    keep_largest(s,
                 most_of_a_second(s, (size_t)n, start) + under_way(s, start));
}

/* The cell can cause looks, and must not keep the holder busy with them. */
static bool may_look(const struct shared *s)
{
    return s->credit_us > 0 || clock_us() - s->looked_us > LOOK_CREDIT_US;
}

/* ---- what may exist ---- */

/* The map that this thread asked for before is there, or was. */
static void forget_thread(struct shared *s, pid_t thread)
{
    for (size_t i = 0; i < s->asked_count; i++)
        if (s->asked[i].thread == thread) {
            s->asked[i] = s->asked[--s->asked_count];
            return;
        }
}

static int note_map(struct shared *s, pid_t thread, uint64_t size)
{
    if (array_grow(&s->size, &s->room, s->count) < 0 ||
        array_grow(&s->asked, &s->asked_room, s->asked_count) < 0)
        return -1;
    s->size[s->count++] = size;
    s->sum += size;
    s->ever = true;
    s->asked[s->asked_count++] =
        (struct asked){.thread = thread, .us = clock_us()};
    return 0;
}

int limiter_share(struct limiter *l, pid_t thread, uint64_t bytes)
{
    struct shared *s = l->shared;
    uint64_t limit = l->limits.mem_bytes;

    if (l->how[HOLDER_MEMORY] != HOLDER_HOW_SAMPLED)
        return 0; /* a control group counts it */
    errno = ENOMEM;
    if (s == NULL || bytes > limit)
        return -1;
    bytes = (bytes + s->unit - 1) / s->unit * s->unit + MAP_COSTS;
    forget_thread(s, thread);
    under_way(s, clock_us());
    if (s->sum + bytes > limit && may_look(s))
        look(l);
    if (s->sum + bytes > limit)
        return -1;
    return note_map(s, thread, bytes);
}

uint64_t shared_bytes(const struct limiter *l)
{
    return l->shared->sum;
}

/* Shared memory of the whole host: a cell cannot hold more of it. */
static uint64_t host_bytes(void)
{
    char text[4096];
    const char *at;

    if (fd_read_text(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) <= 0)
        return UINT64_MAX;
    at = strstr(text, "\nShmem:");
    return at == NULL ? UINT64_MAX : strtoull(at + 7, NULL, 10) * 1024u;
}

uint64_t shared_most(struct limiter *l)
{
    uint64_t host;

    if (l->shared->sum == 0)
        return 0;
    look(l);
    host = host_bytes();
    return host < l->shared->sum ? host : l->shared->sum;
}

bool shared_strange(struct limiter *l)
{
    struct shared *s = l->shared;

    if (s->ever && clock_us() - s->looked_us >= SECOND_US)
        look(l);
    return s->strange;
}
