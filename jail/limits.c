/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits - makes the groups, writes the limits, sets the rlimits; see limits.h.
 *
 * memcg charges scratch (a tmpfs) too, so the ceiling in the kernel is memory +
 * disk; that memory alone stays below its limit is seen to by sampling
 * (usage.c). Where a group cannot be had, an rlimit and a sampled sum replace
 * it, or the mechanism stays missing.
 */
#include "jail/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "jail/limiter.h"
#include "jail/seccomp.h"
#include "src/base/sys.h"
#include "src/base/auto.h"
#include "src/base/fd.h"

/* v1 counts the buffers of UDP here, too. */
#define TCP_LIMIT "memory.kmem.tcp.limit_in_bytes"
#define CPU_PERIOD_US 100000u /* the kernel's default for new groups */
/* Both for a core file and for a pipe in core_pattern, which ignores 0. */
#define CORE_NONE 1u
#define AGENT_FILES 256u /* descriptors */
#define CHARGE_PAGES 64u /* a processor's stock of charges (memcg) */

/* The group of this part: its directory and version; -1: none. */
static int part_dir(const struct limiter *l, enum cgroup_part part,
                    int *version)
{
    int tree = l->host.of[part];

    if (tree < 0)
        return -1;
    *version = l->host.tree[tree].version;
    return l->group.dir[tree];
}

static uint8_t how_of(int version)
{
    return version == 2 ? HOLDER_HOW_CGROUP2 : HOLDER_HOW_CGROUP1;
}

static int write_number(int dir, const char *file, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return fd_write_text(dir, file, text);
}

static bool host_has_swap(void)
{
    struct sysinfo info;

    return sysinfo(&info) < 0 || info.totalswap > 0;
}

/* The memory limit is in force; may the cell use swap besides? */
static void limit_swap(struct limiter *l, int dir, int version, uint64_t limit)
{
    if (!host_has_swap()) {
        l->how[HOLDER_SWAP] = HOLDER_HOW_NO_SWAP;
    } else if (version == 2) {
        if (write_number(dir, "memory.swap.max", 0) == 0)
            l->how[HOLDER_SWAP] = HOLDER_HOW_CGROUP2;
    } else if (write_number(dir, "memory.memsw.limit_in_bytes", limit) == 0 &&
               write_number(dir, "memory.swappiness", 0) == 0) {
        l->how[HOLDER_SWAP] = HOLDER_HOW_CGROUP1;
    }
}

static void limit_memory(struct limiter *l)
{
    uint64_t limit = l->limits.mem_bytes + l->limits.disk_bytes;
    int version;
    int dir = part_dir(l, CGROUP_MEMORY, &version);

    if (dir < 0)
        return;
    if (write_number(dir, version == 2 ? "memory.max" : "memory.limit_in_bytes",
                     limit) ||
        (version == 1 && write_number(dir, TCP_LIMIT, l->limits.mem_bytes) &&
         errno != ENOENT)) /* kernels without it charge no sockets */
        return;
    l->how[HOLDER_MEMORY] = how_of(version);
    limit_swap(l, dir, version, limit);
}

static void limit_pids(struct limiter *l)
{
    int version;
    int dir = part_dir(l, CGROUP_PIDS, &version);

    /* One more: the agent. */
    if (dir >= 0 && write_number(dir, "pids.max", l->limits.pids + 1) == 0)
        l->how[HOLDER_PIDS] = how_of(version);
}

/* v1 refuses a quota above the parent's; then the parent's holds. */
static bool parent_is_tighter(const struct limiter *l, uint64_t quota)
{
    int parent = l->host.tree[l->host.of[CGROUP_CPU]].parent_fd;
    char text[32];
    uint64_t have, period;

    if (fd_read_text(parent, "cpu.cfs_quota_us", text, sizeof(text)) < 0 ||
        text[0] == '-')
        return false;
    have = strtoull(text, NULL, 10);
    if (fd_read_text(parent, "cpu.cfs_period_us", text, sizeof(text)) < 0)
        return false;
    period = strtoull(text, NULL, 10);
    return have > 0 && have <= UINT32_MAX && period > 0 &&
           have * CPU_PERIOD_US <= quota * period;
}

static void limit_cpu(struct limiter *l)
{
    uint64_t quota = l->limits.cpu_milli * (CPU_PERIOD_US / 1000u);
    char text[64];
    int version, r;
    int dir = part_dir(l, CGROUP_CPU, &version);

    if (dir < 0)
        return;
    if (version == 2) {
        snprintf(text, sizeof(text), "%" PRIu64 " %u", quota, CPU_PERIOD_US);
        r = fd_write_text(dir, "cpu.max", text);
    } else {
        r = write_number(dir, "cpu.cfs_quota_us", quota);
        if (r < 0 && errno == EINVAL && parent_is_tighter(l, quota))
            r = 0;
    }
    if (r == 0)
        l->how[HOLDER_CPU] = how_of(version);
}

/* RLIMIT_NPROC counts the processes of a user namespace since 5.14; before
 * that those of a host uid, which only an id of the cell's own can bear. */
static bool nproc_holds(const struct holder_handoff *h)
{
    struct utsname u;
    int major, minor;

    if (h->uid != 0)
        return true;
    return uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

/* Whole processors only; less than one cannot be had this way. */
static bool affinity_holds(const struct limiter *l)
{
    return l->limits.cpu_milli >= 1000;
}

static void replace_missing(struct limiter *l, const struct holder_handoff *h)
{
    if (l->how[HOLDER_MEMORY] == HOLDER_HOW_MISSING)
        l->how[HOLDER_MEMORY] = HOLDER_HOW_SAMPLED;
    if (l->how[HOLDER_SWAP] == HOLDER_HOW_MISSING && !host_has_swap())
        l->how[HOLDER_SWAP] = HOLDER_HOW_NO_SWAP;
    if (l->how[HOLDER_PIDS] == HOLDER_HOW_MISSING && nproc_holds(h))
        l->how[HOLDER_PIDS] = HOLDER_HOW_RLIMIT;
    if (l->how[HOLDER_CPU] == HOLDER_HOW_MISSING && affinity_holds(l))
        l->how[HOLDER_CPU] = HOLDER_HOW_AFFINITY;
    l->how[HOLDER_CPU_TIME] = l->host.of[CGROUP_CPUACCT] >= 0
                                  ? HOLDER_HOW_SAMPLED_CGROUP
                                  : HOLDER_HOW_SAMPLED;
}

static int open_tasks(struct limiter *l, struct err *err)
{
    for (unsigned i = 0; i < l->host.count; i++) {
        if (l->host.tree[i].version != 1)
            continue;
        l->tasks_fd[i] = openat(l->group.dir[i], "tasks", O_WRONLY | O_CLOEXEC);
        if (l->tasks_fd[i] < 0)
            return err_sys(err, "open tasks of %s", l->group.name);
    }
    return 0;
}

static struct limiter *limiter_zero(const struct holder_handoff *h)
{
    struct limiter *l = calloc(1, sizeof(*l));

    if (l == NULL)
        return NULL;
    l->h = h;
    l->limits = h->limits;
    l->slot = h->slot;
    /* The agent; and where the cell has the caller's id, the holder, which is
     * in the same user namespace. */
    l->beside = h->uid == 0 ? 2 : 1;
    l->scratch_fd = l->tree_fd = -1;
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        l->tasks_fd[i] = l->group.dir[i] = -1;
    for (int i = 0; i < COUNTER_COUNT; i++)
        l->counter_fd[i] = COUNTER_CLOSED;
    return l;
}

static int check_limits(const struct holder_limits *limits, struct err *err)
{
    uint64_t sum;

    if (limits->mem_bytes == 0 || limits->cpu_milli == 0 || limits->pids == 0 ||
        limits->nofile == 0)
        return err_set(err, ERR_INVALID, "a limit of zero allows nothing");
    if (__builtin_add_overflow(limits->mem_bytes, limits->disk_bytes, &sum) ||
        sum > INT64_MAX || limits->pids >= INT32_MAX ||
        limits->cpu_milli > INT32_MAX)
        return err_set(err, ERR_INVALID, "a limit is too large");
    return 0;
}

static bool sums_processes(const struct limiter *l)
{
    return l->how[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED ||
           l->how[HOLDER_CPU_TIME] == HOLDER_HOW_SAMPLED;
}

static int limiter_make(struct limiter *l, struct err *err)
{
    if (cgroup_make(&l->host, l->slot, &l->group, err) < 0)
        return -1;
    if (open_tasks(l, err) < 0)
        return -1;
    limit_memory(l);
    limit_pids(l);
    limit_cpu(l);
    replace_missing(l, l->h);
    if (sums_processes(l) && proc_sum_new(l) < 0)
        return err_set(err, ERR_HOST, "out of memory");
    if (l->how[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED && shared_new(l) < 0)
        return err_sys(err, "shared memory");
    return 0;
}

int limiter_find(const struct holder_handoff *h, struct limiter **out,
                 struct err *err)
{
    struct limiter *l;

    if (check_limits(&h->limits, err) < 0)
        return -1;
    l = limiter_zero(h);
    if (l == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (cgroup_find(&l->host, err) < 0) {
        limiter_free(l);
        return err_wrap(err, "set the limits");
    }
    *out = l;
    return 0;
}

int limiter_build(struct limiter *l, uint8_t *effective, struct err *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (limiter_make(l, err) < 0)
        return err_wrap(err, "set the limits");
    l->slack = (uint64_t)(cpus < 1 ? 1 : cpus) * CHARGE_PAGES * 4096u;
    if (l->slack > l->limits.mem_bytes / 16)
        l->slack = l->limits.mem_bytes / 16;
    limiter_effective(l, effective);
    return 0;
}

int limiter_new(const struct holder_handoff *h, uint8_t *effective,
                struct limiter **out, struct err *err)
{
    struct limiter *l = NULL;

    if (limiter_find(h, &l, err) < 0 || l == NULL)
        return -1;
    if (limiter_build(l, effective, err) < 0) {
        limiter_free(l);
        return -1;
    }
    *out = l;
    return 0;
}

int limiter_cgroup_fd(const struct limiter *l)
{
    for (unsigned i = 0; i < l->host.count; i++)
        if (l->host.tree[i].version == 2)
            return l->group.dir[i];
    return -1;
}

unsigned limiter_seccomp_variant(const struct limiter *l)
{
    unsigned bits = 0;

    if (l->how[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED ||
        l->how[HOLDER_PIDS] == HOLDER_HOW_COUNTED)
        bits |= SECCOMP_NO_MEMFD; /* which asks about forks, too */
    if (l->how[HOLDER_CPU] == HOLDER_HOW_AFFINITY)
        bits |= SECCOMP_NO_AFFINITY;
    return bits;
}

int limiter_attach(const struct limiter *l, struct err *err)
{
    for (unsigned i = 0; i < l->host.count; i++)
        if (l->tasks_fd[i] >= 0 && write(l->tasks_fd[i], "0", 1) != 1)
            return err_sys(err, "enter the control group %s", l->group.name);
    return 0;
}

int limiter_attach_v2(const struct limiter *l, struct err *err)
{
    int dir = limiter_cgroup_fd(l);

    if (dir >= 0 && fd_write_text(dir, "cgroup.procs", "0") < 0)
        return err_sys(err, "enter the control group %s", l->group.name);
    return 0;
}

/* Soft and hard; a lower hard limit that is there already stays. */
static int set_rlimit(int which, uint64_t value, const char *name,
                      struct err *err)
{
    struct rlimit now, want;

    if (sys_getrlimit(which, &now) < 0)
        return err_sys(err, "read %s", name);
    want.rlim_max = value < now.rlim_max ? value : now.rlim_max;
    want.rlim_cur = want.rlim_max;
    if (sys_setrlimit(which, &want) < 0)
        return err_sys(err, "set %s", name);
    return 0;
}

/* The agent needs more than a program may have: it keeps the hard limit, and
 * what it starts gets the soft one as both (agent/exec.c). */
static int set_files(const struct limiter *l, struct err *err)
{
    uint64_t hard =
        l->limits.nofile < AGENT_FILES ? AGENT_FILES : l->limits.nofile;
    struct rlimit want;

    if (sys_getrlimit(RLIMIT_NOFILE, &want) < 0)
        return err_sys(err, "read RLIMIT_NOFILE");
    if (want.rlim_max > hard)
        want.rlim_max = hard;
    want.rlim_cur =
        l->limits.nofile < want.rlim_max ? l->limits.nofile : want.rlim_max;
    if (sys_setrlimit(RLIMIT_NOFILE, &want) < 0)
        return err_sys(err, "set RLIMIT_NOFILE");
    return 0;
}

/* As many of the allowed processors as whole ones were granted; which ones
 * depends on the slot, so that cells do not all sit on the first. */
static int set_affinity(const struct limiter *l, struct err *err)
{
    uint64_t want = l->limits.cpu_milli / 1000;
    cpu_set_t have, set;
    int count, skip;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(have), &have) < 0)
        return err_sys(err, "read the processor affinity");
    count = CPU_COUNT(&have);
    if (want >= (uint64_t)count)
        return 0;
    skip = (int)(l->slot % (unsigned)count);
    for (size_t i = 0; want > 0; i = (i + 1) % CPU_SETSIZE) {
        if (!CPU_ISSET(i, &have) || skip-- > 0)
            continue;
        CPU_SET(i, &set);
        want--;
    }
    if (sched_setaffinity(0, sizeof(set), &set) < 0)
        return err_sys(err, "set the processor affinity");
    return 0;
}

/* Beside the count of forks, where nobody else has the cell's id. */
static bool nproc_set(const struct limiter *l)
{
    return l->how[HOLDER_PIDS] == HOLDER_HOW_RLIMIT ||
           (l->how[HOLDER_PIDS] == HOLDER_HOW_COUNTED && l->h->uid != 0);
}

/* What the kernel counts for a user, whatever namespace his processes are in: a
 * cell gets a quarter, so that it cannot take all of the caller's. And what
 * puts a process before others is nothing that a caller's limits pass on. */
static const struct part {
    int which;
    unsigned of; /* 0: none */
    const char *name;
} parts[] = {
    {RLIMIT_SIGPENDING, 4, "RLIMIT_SIGPENDING"},
    {RLIMIT_MSGQUEUE, 4, "RLIMIT_MSGQUEUE"},
    {RLIMIT_MEMLOCK, 4, "RLIMIT_MEMLOCK"},
    {RLIMIT_RTPRIO, 0, "RLIMIT_RTPRIO"},
    {RLIMIT_NICE, 0, "RLIMIT_NICE"},
};

static int set_parts(struct err *err)
{
    struct rlimit now;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const struct part *p = &parts[i];

        if (sys_getrlimit(p->which, &now) < 0)
            return err_sys(err, "read %s", p->name);
        if (p->of > 0 && now.rlim_max == RLIM_INFINITY)
            continue; /* nothing that could be taken away */
        now.rlim_max = now.rlim_cur = p->of == 0 ? 0 : now.rlim_max / p->of;
        if (sys_setrlimit(p->which, &now) < 0)
            return err_sys(err, "set %s", p->name);
    }
    return 0;
}

int limiter_rlimits(const struct limiter *l, struct err *err)
{
    if (set_files(l, err) < 0 || set_parts(err) < 0 ||
        set_rlimit(RLIMIT_CORE, CORE_NONE, "RLIMIT_CORE", err) < 0)
        return -1;
    if (l->mark != 0 &&
        set_rlimit(RLIMIT_RTTIME, l->mark, "RLIMIT_RTTIME", err) < 0)
        return -1;
    if (nproc_set(l) && set_rlimit(RLIMIT_NPROC, l->limits.pids + l->beside,
                                   "RLIMIT_NPROC", err) < 0)
        return -1;
    if (l->how[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED &&
        set_rlimit(RLIMIT_DATA, l->limits.mem_bytes, "RLIMIT_DATA", err) < 0)
        return -1;
    if (l->how[HOLDER_CPU] == HOLDER_HOW_AFFINITY && set_affinity(l, err) < 0)
        return -1;
    if (l->how[HOLDER_CPU_TIME] != HOLDER_HOW_SAMPLED ||
        l->limits.cpu_time_ms == 0)
        return 0;
    /* One process alone: the kernel ends it even when the holder is late. One
     * second more, so that the holder says why. */
    return set_rlimit(RLIMIT_CPU, l->limits.cpu_time_ms / 1000 + 2,
                      "RLIMIT_CPU", err);
}

void limiter_free(struct limiter *l)
{
    if (l == NULL)
        return;
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        fd_drop(&l->tasks_fd[i]);
    for (int i = 0; i < COUNTER_COUNT; i++)
        if (l->counter_fd[i] >= 0)
            close(l->counter_fd[i]);
    fd_drop(&l->scratch_fd);
    fd_drop(&l->tree_fd);
    /* What cannot be removed now is found by the next sweep. */
    cgroup_remove(&l->host, &l->group);
    cgroup_close(&l->host);
    proc_sum_free(l);
    shared_free(l);
    free(l->member);
    free(l);
}
