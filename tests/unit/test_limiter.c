/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limiter on real processes: evidence for each limit and for each near
 * miss, with this host's cgroups (root) and without any (an ordinary user in a
 * user namespace). A cell here is one child that plays the agent and forks.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "jail/limits.h"
#include "src/base/sys.h"

#define MIB (UINT64_C(1) << 20)
#define ORDINARY 65534

struct cell {
    struct holder_limits limits;
    void (*program)(int scratch); /* returns: exit 0 */
    int ordinary;                 /* as an ordinary user, without cgroups */
};

struct outcome {
    uint8_t effective[HOLDER_MECHANISM_COUNT];
    struct holder_usage usage;
    int status; /* of the program */
    int failed; /* the test's own machinery */
    char text[256];
};

static struct holder_limits roomy(void)
{
    return (struct holder_limits){
        .mem_bytes = 64 * MIB,
        .disk_bytes = 64 * MIB,
        .inodes = 1000,
        .cpu_milli = 2000,
        .cpu_time_ms = 20000,
        .pids = 16,
        .nofile = 256,
    };
}

static int make_scratch(const struct cell *c)
{
    int fs = sys_fsopen("tmpfs", 1);
    char text[32];
    int fd;

    if (fs < 0)
        return -1;
    snprintf(text, sizeof(text), "%llu",
             (unsigned long long)c->limits.disk_bytes);
    sys_fsconfig(fs, FSCONFIG_SET_STRING, "size", text, 0);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)c->limits.inodes);
    sys_fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", text, 0);
    sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
    fd = sys_fsmount(fs, 0, 0);
    close(fs);
    return fd;
}

/* The child that plays the agent. */
static void be_agent(const struct cell *c, const struct limiter *l, int scratch,
                     int *status)
{
    struct err err = {0};
    pid_t pid;

    if (limiter_attach(l, &err) < 0 || limiter_rlimits(l, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        _exit(99);
    }
    pid = fork();
    if (pid == 0) {
        c->program(scratch);
        _exit(0);
    }
    waitpid(pid, status, 0);
    while (wait(NULL) > 0)
        ;
    _exit(0);
}

static void hold(const struct cell *c, struct limiter *l, int scratch,
                 struct outcome *out)
{
    int cgroup = limiter_cgroup_fd(l);
    struct clone_args args = {.exit_signal = SIGCHLD};
    struct rusage ru;
    pid_t pid;

    if (cgroup >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)cgroup;
    }
    args.flags |= CLONE_NEWPID;
    pid = sys_clone3(&args);
    if (pid == 0)
        be_agent(c, l, scratch, &out->status);
    out->failed = pid < 0;
    if (pid < 0)
        return;
    limiter_watch(l, scratch, pid);
    while (wait4(pid, NULL, WNOHANG, &ru) == 0) {
        int hits = limiter_sample(l, &out->usage);

        if ((hits & (HOLDER_HIT_MEMORY_KILLED | HOLDER_HIT_DISK_KILLED |
                     HOLDER_HIT_CPU_TIME_KILLED)) != 0) {
            kill(pid, SIGKILL);
            out->status = SIGKILL;
        }
        usleep((useconds_t)limiter_interval_ms(l) * 1000);
    }
    limiter_reaped(l, &ru);
    limiter_sample(l, &out->usage);
}

static void run_holder(const struct cell *c, struct outcome *out)
{
    struct holder_handoff h = {.slot = 4095, .limits = c->limits};
    struct limiter *l;
    struct err err = {0};
    int scratch = c->ordinary ? -1 : make_scratch(c);

    out->failed = 1;
    if (c->ordinary &&
        (sys_setresgid(ORDINARY) < 0 || sys_setresuid(ORDINARY) < 0 ||
         prctl(PR_SET_DUMPABLE, 1) < 0))
        return;
    if (limiter_new(&h, out->effective, &l, &err) < 0) {
        snprintf(out->text, sizeof(out->text), "%.255s", err.text);
        return;
    }
    /* As the holder of an ordinary user does. */
    if (!c->ordinary || unshare(CLONE_NEWUSER) == 0)
        hold(c, l, scratch, out);
    limiter_free(l);
}

static struct outcome run(const struct cell *c)
{
    struct outcome *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct outcome out;
    pid_t pid;

    if (geteuid() != 0)
        skip();
    pid = fork();
    if (pid == 0) {
        run_holder(c, shared);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    out = *shared;
    munmap(shared, sizeof(*shared));
    if (out.failed)
        fail_msg("holder: %s", out.text);
    if (!c->ordinary && out.effective[HOLDER_PIDS] != HOLDER_HOW_CGROUP1 &&
        out.effective[HOLDER_PIDS] != HOLDER_HOW_CGROUP2)
        skip();
    return out;
}

/* Programs of the cells. */

static void touch(uint64_t bytes, int flags)
{
    char *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

    if (p == MAP_FAILED)
        _exit(12);
    memset(p, 1, bytes);
}

static void nothing(int scratch)
{
    (void)scratch;
}

static void touch_200m(int scratch)
{
    (void)scratch;
    touch(200 * MIB, MAP_PRIVATE);
}

static void touch_100m_and_wait(int scratch)
{
    (void)scratch;
    touch(100 * MIB, MAP_PRIVATE);
    sleep(5);
}

static void share_100m_and_wait(int scratch)
{
    (void)scratch;
    touch(100 * MIB, MAP_SHARED);
    sleep(5);
}

static void four_of_30m(int scratch)
{
    (void)scratch;
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            touch(30 * MIB, MAP_PRIVATE);
            sleep(5);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

/* One set of 50 MiB that three processes share after fork. */
static void fork_with_50m(int scratch)
{
    (void)scratch;
    touch(50 * MIB, MAP_PRIVATE);
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            usleep(300000);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

static void fill_pipes(int scratch)
{
    static char block[1 << 20];

    (void)scratch;
    for (int i = 0; i < 100; i++) {
        int p[2];

        if (pipe2(p, O_NONBLOCK) < 0)
            _exit(1);
        fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
        while (write(p[1], block, sizeof(block)) > 0)
            ;
    }
    sleep(5);
}

/* Of the usual size: the filter of this mode refuses larger ones. */
static void fill_small_pipes(int scratch)
{
    static char block[1 << 16];

    (void)scratch;
    for (int i = 0; i < 240; i++) {
        int p[2];

        if (pipe2(p, O_NONBLOCK) < 0)
            _exit(1);
        while (write(p[1], block, sizeof(block)) > 0)
            ;
    }
    sleep(5);
}

static void write_file(int dir, const char *name, uint64_t bytes)
{
    static char block[1 << 20];
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    for (uint64_t n = 0; n < bytes; n += sizeof(block))
        if (write(fd, block, sizeof(block)) != sizeof(block))
            _exit(errno);
    close(fd);
}

static void scratch_50m(int scratch)
{
    write_file(scratch, "a", 50 * MIB);
    usleep(200000);
}

static void scratch_200m(int scratch)
{
    write_file(scratch, "a", 200 * MIB);
}

static void many_files(int scratch)
{
    char name[16];

    for (int i = 0;; i++) {
        int fd;

        snprintf(name, sizeof(name), "%d", i);
        fd = openat(scratch, name, O_WRONLY | O_CREAT, 0600);
        if (fd < 0)
            _exit(errno);
        close(fd);
    }
}

/* Page cache of a file system that is not scratch. */
static void cache_150m(int scratch)
{
    (void)scratch;
    write_file(AT_FDCWD, "/var/tmp/karzer-test-limiter", 150 * MIB);
    usleep(200000);
    unlink("/var/tmp/karzer-test-limiter");
}

static void fork_100(int scratch)
{
    int failed = 0;

    (void)scratch;
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            usleep(200000);
            _exit(0);
        }
        if (pid < 0)
            failed = errno;
    }
    while (wait(NULL) > 0)
        ;
    _exit(failed == EAGAIN ? 11 : 0);
}

static void spin(int scratch)
{
    (void)scratch;
    for (;;)
        ;
}

static void spin_in_orphans(int scratch)
{
    (void)scratch;
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            if (fork() == 0) {
                setsid();
                for (;;)
                    ;
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

static void spin_300ms(int scratch)
{
    (void)scratch;
    while (clock() < CLOCKS_PER_SEC * 3 / 10)
        ;
}

static void a_quiet_run_has_no_hits(void **state)
{
    struct cell c = {roomy(), nothing, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, 0);
    assert_int_equal(out.status, 0);
    assert_int_equal(out.usage.memory_kills, 0);
    assert_int_equal(out.usage.forks_refused, 0);
    assert_int_equal(out.usage.disk_bytes, 0);
    assert_true(out.usage.cpu_us < 1000000);
    assert_true(out.usage.peak_memory_bytes < 8 * MIB);
}

static void memory_past_the_ceiling_is_the_kernels_kill(void **state)
{
    struct cell c = {roomy(), touch_200m, 0};
    struct outcome out;

    (void)state;
    c.limits.disk_bytes = MIB;
    out = run(&c);
    assert_true(out.usage.hits & HOLDER_HIT_MEMORY_OOM);
    assert_true(out.usage.memory_kills >= 1);
    assert_int_equal(WTERMSIG(out.status), SIGKILL);
}

static void memory_below_the_ceiling_is_the_holders_kill(void **state)
{
    struct cell c = {roomy(), touch_100m_and_wait, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_KILLED);
    assert_true(out.usage.peak_memory_bytes > c.limits.mem_bytes);
}

static void shared_memory_counts(void **state)
{
    struct cell c = {roomy(), share_100m_and_wait, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_KILLED);
}

static void the_sum_of_children_counts(void **state)
{
    struct cell c = {roomy(), four_of_30m, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_true(out.usage.hits &
                (HOLDER_HIT_MEMORY_KILLED | HOLDER_HIT_MEMORY_OOM));
}

static void pipe_buffers_count(void **state)
{
    struct cell c = {roomy(), fill_pipes, 0};
    struct outcome out;

    (void)state;
    c.limits.mem_bytes = 32 * MIB;
    out = run(&c);
    assert_true(out.usage.hits &
                (HOLDER_HIT_MEMORY_KILLED | HOLDER_HIT_MEMORY_OOM));
}

static void scratch_is_not_memory(void **state)
{
    struct cell c = {roomy(), scratch_50m, 0};
    struct outcome out;

    (void)state;
    c.limits.mem_bytes = 16 * MIB;
    out = run(&c);
    assert_int_equal(out.usage.hits, 0);
    assert_int_equal(out.status, 0);
    assert_int_equal(out.usage.disk_bytes, 50 * MIB);
    assert_true(out.usage.peak_memory_bytes < 16 * MIB);
}

static void page_cache_is_not_memory(void **state)
{
    struct cell c = {roomy(), cache_150m, 0};
    struct outcome out;
    struct statfs sf;

    (void)state;
    if (statfs("/var/tmp", &sf) < 0 || sf.f_type == TMPFS_MAGIC)
        skip(); /* then it is memory */
    c.limits.mem_bytes = 16 * MIB;
    c.limits.disk_bytes = 256 * MIB;
    out = run(&c);
    assert_int_equal(out.usage.hits, 0);
    assert_int_equal(out.status, 0);
}

static void a_full_scratch_is_seen(void **state)
{
    struct cell c = {roomy(), scratch_200m, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_DISK_FULL);
    assert_int_equal(WEXITSTATUS(out.status), ENOSPC);
}

static void scratch_without_inodes_is_seen(void **state)
{
    struct cell c = {roomy(), many_files, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_DISK_FULL);
    assert_int_equal(WEXITSTATUS(out.status), ENOSPC);
}

static void a_refused_fork_is_counted(void **state)
{
    struct cell c = {roomy(), fork_100, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_PIDS);
    assert_true(out.usage.forks_refused >= 1);
    assert_int_equal(WEXITSTATUS(out.status), 11);
    assert_int_equal(out.usage.peak_processes, c.limits.pids);
}

static void processor_time_ends_the_run(void **state)
{
    struct cell c = {roomy(), spin, 0};
    struct outcome out;

    (void)state;
    c.limits.cpu_time_ms = 200;
    out = run(&c);
    assert_int_equal(out.usage.hits, HOLDER_HIT_CPU_TIME_KILLED);
    assert_in_range(out.usage.cpu_us, 200000, 600000);
}

static void processor_time_of_orphans_counts(void **state)
{
    struct cell c = {roomy(), spin_in_orphans, 0};
    struct outcome out;

    (void)state;
    c.limits.cpu_time_ms = 300;
    out = run(&c);
    assert_int_equal(out.usage.hits, HOLDER_HIT_CPU_TIME_KILLED);
}

static void a_run_that_ended_is_not_called_killed(void **state)
{
    struct cell c = {roomy(), spin_300ms, 0};
    struct outcome out;

    (void)state;
    c.limits.cpu_time_ms = 20000;
    out = run(&c);
    assert_int_equal(out.usage.hits, 0);
    assert_in_range(out.usage.cpu_us, 290000, 600000);
}

/* Without cgroups. */

static void without_groups_the_replacements_are_named(void **state)
{
    struct cell c = {roomy(), nothing, 1};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.effective[HOLDER_MEMORY], HOLDER_HOW_SAMPLED);
    assert_int_equal(out.effective[HOLDER_PIDS], HOLDER_HOW_RLIMIT);
    assert_int_equal(out.effective[HOLDER_CPU], HOLDER_HOW_AFFINITY);
    assert_int_equal(out.effective[HOLDER_CPU_TIME], HOLDER_HOW_SAMPLED);
    assert_int_equal(out.usage.hits, 0);
    assert_true(out.usage.forks_refused == HOLDER_UNKNOWN);
}

static void without_groups_half_a_processor_is_missing(void **state)
{
    struct cell c = {roomy(), nothing, 1};
    struct outcome out;

    (void)state;
    c.limits.cpu_milli = 500;
    out = run(&c);
    assert_int_equal(out.effective[HOLDER_CPU], HOLDER_HOW_MISSING);
}

static void without_groups_one_process_gets_enomem(void **state)
{
    struct cell c = {roomy(), touch_200m, 1};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(WEXITSTATUS(out.status), 12);
    assert_int_equal(out.usage.hits, 0);
}

static void without_groups_the_sum_of_children_counts(void **state)
{
    struct cell c = {roomy(), four_of_30m, 1};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_KILLED);
    assert_true(out.usage.peak_memory_bytes > 64 * MIB);
}

static void without_groups_pages_shared_by_fork_count_once(void **state)
{
    struct cell c = {roomy(), fork_with_50m, 1};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, 0);
    assert_int_equal(out.status, 0);
}

static void without_groups_pipe_buffers_count(void **state)
{
    struct cell c = {roomy(), fill_small_pipes, 1};
    struct outcome out;

    (void)state;
    c.limits.mem_bytes = 8 * MIB;
    c.limits.nofile = 1024;
    out = run(&c);
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_KILLED);
}

static void without_groups_forks_are_refused(void **state)
{
    struct cell c = {roomy(), fork_100, 1};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(WEXITSTATUS(out.status), 11);
    assert_true(out.usage.peak_processes <= c.limits.pids);
}

static void without_groups_processor_time_of_orphans_counts(void **state)
{
    struct cell c = {roomy(), spin_in_orphans, 1};
    struct outcome out;

    (void)state;
    c.limits.cpu_time_ms = 300;
    out = run(&c);
    assert_int_equal(out.usage.hits, HOLDER_HIT_CPU_TIME_KILLED);
}

static void a_limit_of_zero_is_refused(void **state)
{
    uint8_t effective[HOLDER_MECHANISM_COUNT] = {0};
    struct holder_handoff h = {.slot = 4095};
    struct limiter *l;
    struct err err = {0};

    (void)state;
    assert_int_equal(limiter_new(&h, effective, &l, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
}

static void a_limit_that_overflows_is_refused(void **state)
{
    uint8_t effective[HOLDER_MECHANISM_COUNT] = {0};
    struct holder_handoff h = {.slot = 4095, .limits = roomy()};
    struct limiter *l;

    (void)state;
    h.limits.mem_bytes = UINT64_MAX;
    assert_int_equal(limiter_new(&h, effective, &l, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_run_has_no_hits),
        cmocka_unit_test(memory_past_the_ceiling_is_the_kernels_kill),
        cmocka_unit_test(memory_below_the_ceiling_is_the_holders_kill),
        cmocka_unit_test(shared_memory_counts),
        cmocka_unit_test(the_sum_of_children_counts),
        cmocka_unit_test(pipe_buffers_count),
        cmocka_unit_test(scratch_is_not_memory),
        cmocka_unit_test(page_cache_is_not_memory),
        cmocka_unit_test(a_full_scratch_is_seen),
        cmocka_unit_test(scratch_without_inodes_is_seen),
        cmocka_unit_test(a_refused_fork_is_counted),
        cmocka_unit_test(processor_time_ends_the_run),
        cmocka_unit_test(processor_time_of_orphans_counts),
        cmocka_unit_test(a_run_that_ended_is_not_called_killed),
        cmocka_unit_test(without_groups_the_replacements_are_named),
        cmocka_unit_test(without_groups_half_a_processor_is_missing),
        cmocka_unit_test(without_groups_one_process_gets_enomem),
        cmocka_unit_test(without_groups_the_sum_of_children_counts),
        cmocka_unit_test(without_groups_pages_shared_by_fork_count_once),
        cmocka_unit_test(without_groups_pipe_buffers_count),
        cmocka_unit_test(without_groups_forks_are_refused),
        cmocka_unit_test(without_groups_processor_time_of_orphans_counts),
        cmocka_unit_test(a_limit_of_zero_is_refused),
        cmocka_unit_test(a_limit_that_overflows_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
