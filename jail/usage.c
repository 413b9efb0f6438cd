/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage - what a cell used and which limits it hit; see limits.h.
 *
 * Memory is what the kernel charged, page cache included, without scratch. It
 * is over its limit when what the kernel cannot reclaim is: the kernel itself
 * steps in only at memory + disk. peak_memory_bytes is the kernel's peak less
 * the most that scratch was seen to hold, and at least every sample: never more
 * than the truth by more than scratch that came and went between two samples.
 * A figure that this kernel does not count is HOLDER_UNKNOWN.
 */
#include "jail/limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "jail/limiter.h"
#include "src/base/auto.h"
#include "src/base/fd.h"

#define INTERVAL_MS 50
#define INTERVAL_TREE_MS 5
#define STAT_SIZE 8192

/* clang-format off */
static const struct {
    enum cgroup_part part;
    const char *v1, *v1_key; /* "": the file is the number */
    const char *v2, *v2_key;
} counters[COUNTER_COUNT] = {
    [COUNTER_MEMORY_NOW] =
        {CGROUP_MEMORY, "memory.usage_in_bytes", "", "memory.current", ""},
    [COUNTER_MEMORY_TCP] =
        {CGROUP_MEMORY, "memory.kmem.tcp.usage_in_bytes", "", "", ""},
    [COUNTER_MEMORY_PEAK] =
        {CGROUP_MEMORY, "memory.max_usage_in_bytes", "", "memory.peak", ""},
    [COUNTER_MEMORY_KILLS] =
        {CGROUP_MEMORY, "memory.oom_control", "oom_kill", "memory.events",
         "oom_kill"},
    [COUNTER_MEMORY_STAT] =
        {CGROUP_MEMORY, "memory.stat", "", "memory.stat", ""},
    [COUNTER_PIDS_REFUSED] =
        {CGROUP_PIDS, "pids.events", "max", "pids.events", "max"},
    [COUNTER_PIDS_PEAK] = {CGROUP_PIDS, "pids.peak", "", "pids.peak", ""},
    [COUNTER_PIDS_NOW] = {CGROUP_PIDS, "pids.current", "", "pids.current", ""},
    [COUNTER_CPU] =
        {CGROUP_CPUACCT, "cpuacct.usage", "", "cpu.stat", "usage_usec"},
};
/* clang-format on */

static int part_version(const struct limiter *l, enum cgroup_part part)
{
    int tree = l->host.of[part];

    return tree < 0 ? 0 : l->host.tree[tree].version;
}

static void counter_open(struct limiter *l, enum counter id)
{
    int tree = l->host.of[counters[id].part];
    const char *file;

    if (l->counter_fd[id] != COUNTER_CLOSED || tree < 0)
        return;
    file = l->host.tree[tree].version == 2 ? counters[id].v2 : counters[id].v1;
    l->counter_fd[id] = openat(l->group.dir[tree], file, O_RDONLY | O_CLOEXEC);
    if (l->counter_fd[id] < 0)
        l->counter_fd[id] = COUNTER_MISSING;
}

/* The text of a counter's file; its descriptor stays open. -1: it has none. */
static ssize_t counter_text(struct limiter *l, enum counter id, char *out,
                            size_t size)
{
    ssize_t n;

    counter_open(l, id);
    if (l->counter_fd[id] < 0)
        return -1;
    n = pread(l->counter_fd[id], out, size - 1, 0);
    out[n < 0 ? 0 : n] = '\0';
    return n;
}

/* The number after "key " at the start of a line. -1: no such line. */
static int find_key(const char *text, const char *key, uint64_t *value)
{
    size_t len = strlen(key);

    for (const char *at = text; at != NULL && *at != '\0';) {
        if (strncmp(at, key, len) == 0 && at[len] == ' ') {
            *value = strtoull(at + len + 1, NULL, 10);
            return 0;
        }
        at = strchr(at, '\n');
        if (at != NULL)
            at++;
    }
    return -1;
}

static int counter_read(struct limiter *l, enum counter id, uint64_t *value)
{
    const char *key = part_version(l, counters[id].part) == 2
                          ? counters[id].v2_key
                          : counters[id].v1_key;
    char text[512];

    if (counter_text(l, id, text, sizeof(text)) <= 0)
        return -1;
    if (key[0] != '\0')
        return find_key(text, key, value);
    if (text[0] < '0' || text[0] > '9')
        return -1;
    *value = strtoull(text, NULL, 10);
    return 0;
}

/* Page cache that is no tmpfs: the kernel takes it back when it has to. With v2
 * also dentries and the like; v1 does not tell those apart. */
static uint64_t reclaimable(struct limiter *l)
{
    bool v2 = part_version(l, CGROUP_MEMORY) == 2;
    uint64_t cache = 0, shmem = 0, slab = 0;
    char text[STAT_SIZE];

    if (counter_text(l, COUNTER_MEMORY_STAT, text, sizeof(text)) <= 0)
        return 0;
    find_key(text, v2 ? "file" : "cache", &cache);
    find_key(text, "shmem", &shmem);
    if (v2)
        find_key(text, "slab_reclaimable", &slab);
    return (cache > shmem ? cache - shmem : 0) + slab;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Scratch now, or `before` when that was more: what grew or shrank while usage
 * was read must not look like memory. */
static uint64_t scratch_most(const struct limiter *l, uint64_t before)
{
    struct statfs sf;
    uint64_t now;

    if (l->scratch_fd < 0 || fstatfs(l->scratch_fd, &sf) < 0)
        return before;
    now = (uint64_t)(sf.f_blocks - sf.f_bfree) * (uint64_t)sf.f_bsize;
    return now > before ? now : before;
}

/* All that is charged, socket buffers included. */
static int memory_now(struct limiter *l, uint64_t *now)
{
    uint64_t tcp;

    if (counter_read(l, COUNTER_MEMORY_NOW, now) < 0)
        return -1;
    if (part_version(l, CGROUP_MEMORY) == 1 &&
        counter_read(l, COUNTER_MEMORY_TCP, &tcp) == 0)
        *now += tcp;
    return 0;
}

/* How far what cannot be reclaimed is above the limit; 0: it is not. */
static uint64_t memory_excess(struct limiter *l, uint64_t scratch)
{
    uint64_t used;

    if (memory_now(l, &used) < 0)
        return 0;
    used = minus(used, reclaimable(l));
    used = minus(used, scratch_most(l, scratch));
    return used > l->limits.mem_bytes + l->slack ? used - l->limits.mem_bytes
                                                 : 0;
}

/* The same, when the kernel has tried. */
static uint64_t excess_for_good(struct limiter *l, uint64_t scratch)
{
    uint64_t excess = memory_excess(l, scratch);

    if (excess == 0 || part_version(l, CGROUP_MEMORY) != 1)
        return excess;
    /* v1: it may still be dentries. */
    fd_write_text(l->group.dir[l->host.of[CGROUP_MEMORY]], "memory.force_empty",
                  "0");
    return memory_excess(l, scratch);
}

static unsigned check_memory(struct limiter *l, uint64_t now, uint64_t scratch)
{
    uint64_t excess = 0;

    if (l->ended)
        return 0;
    if (now > l->limits.mem_bytes + l->slack)
        excess = excess_for_good(l, scratch);
    if (excess > 0)
        return victim_choose(l, excess);
    victim_none(l);
    return 0;
}

static unsigned sample_memory(struct limiter *l, uint64_t scratch)
{
    struct holder_usage *u = &l->usage;
    uint64_t now, peak;

    if (l->how[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED || memory_now(l, &now) < 0)
        return 0;
    now = minus(now, scratch);
    if (now > l->memory_peak)
        l->memory_peak = now;
    u->peak_memory_bytes = l->memory_peak;
    if (counter_read(l, COUNTER_MEMORY_PEAK, &peak) == 0) {
        u->kernel_peak_bytes = peak;
        if (minus(peak, l->scratch_peak) > l->memory_peak)
            u->peak_memory_bytes = minus(peak, l->scratch_peak);
    }
    return check_memory(l, now, scratch);
}

/* The kernel's and ours. */
static unsigned sample_kills(struct limiter *l)
{
    uint64_t kills = 0;
    bool known = l->how[HOLDER_MEMORY] != HOLDER_HOW_SAMPLED &&
                 counter_read(l, COUNTER_MEMORY_KILLS, &kills) == 0;

    if (!known && l->victims == 0)
        return 0;
    kills += l->victims;
    l->usage.memory_kills = kills;
    return kills > 0 ? HOLDER_HIT_MEMORY_OOM : 0;
}

static unsigned sample_pids(struct limiter *l)
{
    struct holder_usage *u = &l->usage;
    uint64_t now, peak, refused;

    if (l->how[HOLDER_PIDS] == HOLDER_HOW_RLIMIT)
        return 0;
    if (l->how[HOLDER_PIDS] == HOLDER_HOW_COUNTED) {
        u->forks_refused = l->refused;
        return l->refused > 0 ? HOLDER_HIT_PIDS : 0;
    }
    /* Without the agent. */
    if (counter_read(l, COUNTER_PIDS_PEAK, &peak) == 0)
        u->peak_processes = minus(peak, 1);
    else if (counter_read(l, COUNTER_PIDS_NOW, &now) == 0 && now > 1) {
        if (now - 1 > l->pids_peak)
            l->pids_peak = now - 1;
        u->peak_processes = l->pids_peak;
    }
    if (counter_read(l, COUNTER_PIDS_REFUSED, &refused) < 0)
        return 0;
    u->forks_refused = refused;
    return refused > 0 ? HOLDER_HIT_PIDS : 0;
}

static unsigned sample_cpu(struct limiter *l)
{
    uint64_t used;

    if (l->how[HOLDER_CPU_TIME] != HOLDER_HOW_SAMPLED_CGROUP)
        return 0;
    if (counter_read(l, COUNTER_CPU, &used) < 0)
        return 0;
    l->usage.cpu_us =
        part_version(l, CGROUP_CPUACCT) == 2 ? used : used / 1000u;
    return 0;
}

/* Whichever way cpu_us was found. */
static unsigned check_cpu(const struct limiter *l)
{
    if (l->ended || l->limits.cpu_time_ms == 0 ||
        l->usage.cpu_us == HOLDER_UNKNOWN ||
        l->usage.cpu_us / 1000u < l->limits.cpu_time_ms)
        return 0;
    return HOLDER_HIT_CPU_TIME_KILLED;
}

/* *scratch: bytes that memcg charged for it. */
static unsigned sample_tmpfs(struct limiter *l, uint64_t *scratch)
{
    struct statfs sf;

    if (fstatfs(l->scratch_fd, &sf) < 0 || sf.f_blocks == 0)
        return 0;
    *scratch = (uint64_t)(sf.f_blocks - sf.f_bfree) * (uint64_t)sf.f_bsize;
    l->usage.disk_bytes = *scratch;
    return sf.f_bfree == 0 || sf.f_ffree == 0 ? HOLDER_HIT_DISK_FULL : 0;
}

static unsigned sample_tree(struct limiter *l, uint64_t *scratch)
{
    uint64_t bytes, inodes;
    uint64_t start = clock_us();

    if (tree_sum(l, &bytes, &inodes) < 0)
        return 0;
    l->tree_us = clock_us() - start;
    *scratch = bytes;
    l->usage.disk_bytes = bytes;
    if (l->ended ||
        (bytes <= l->limits.disk_bytes && inodes <= l->limits.inodes))
        return 0;
    return HOLDER_HIT_DISK_KILLED;
}

static unsigned sample_disk(struct limiter *l, uint64_t *scratch)
{
    unsigned hits = 0;

    *scratch = 0;
    if (l->scratch_fd >= 0)
        hits = sample_tmpfs(l, scratch);
    else if (l->tree_fd >= 0)
        hits = sample_tree(l, scratch);
    if (*scratch > l->scratch_peak)
        l->scratch_peak = *scratch;
    return hits;
}

int limiter_sample(struct limiter *l, struct holder_usage *u)
{
    unsigned hits, fresh;
    uint64_t scratch;

    hits = sample_disk(l, &scratch);
    hits |= sample_memory(l, scratch);
    hits |= sample_pids(l);
    hits |= sample_cpu(l);
    if (l->procs != NULL)
        hits |= proc_sum_sample(l);
    hits |= sample_kills(l);
    hits |= check_cpu(l);
    fresh = hits & ~l->usage.hits;
    l->usage.hits |= hits;
    *u = l->usage;
    return (int)fresh;
}

static void watch(struct limiter *l, pid_t init_pid)
{
    struct holder_usage *u = &l->usage;

    l->init = init_pid;
    /* The child is in. */
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        fd_drop(&l->tasks_fd[i]);
    /* Now, beside the start of the agent, and not while the end is waited for.
     */
    for (int i = 0; i < COUNTER_COUNT; i++)
        counter_open(l, (enum counter)i);
    u->cpu_us = u->peak_memory_bytes = u->peak_processes = HOLDER_UNKNOWN;
    u->disk_bytes = u->memory_kills = u->forks_refused = HOLDER_UNKNOWN;
    u->kernel_peak_bytes = HOLDER_UNKNOWN;
}

void limiter_watch(struct limiter *l, int scratch_fd, pid_t init_pid)
{
    watch(l, init_pid);
    l->scratch_fd = scratch_fd;
}

void limiter_watch_tree(struct limiter *l, int dir_fd, pid_t init_pid)
{
    watch(l, init_pid);
    l->tree_fd = dir_fd;
}

int limiter_interval_ms(const struct limiter *l)
{
    uint64_t ms;

    if (l->tree_fd < 0)
        return INTERVAL_MS;
    /* Never more than a fifth of a processor for counting files. */
    ms = l->tree_us * 4 / 1000u;
    return ms < INTERVAL_TREE_MS ? INTERVAL_TREE_MS
                                 : (int)(ms > 1000 ? 1000 : ms);
}

void limiter_reaped(struct limiter *l, const struct rusage *ru)
{
    l->ended = true;
    if (l->procs != NULL)
        proc_sum_reaped(l, ru);
}
