/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limiter with this host's cgroups, as root: evidence for each limit and
 * for each near miss, on real processes.
 */
#include "tests/unit/limiter_cell.h"

static void write_file(int dir, const char *name, uint64_t bytes)
{
    static char block[1 << 20];
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    for (uint64_t n = 0; n < bytes; n += sizeof(block))
        if (write(fd, block, sizeof(block)) != sizeof(block))
            _exit(errno);
    close(fd);
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

static void memfd_100m_and_wait(int scratch)
{
    static char block[1 << 20];
    int fd = memfd_create("test", MFD_CLOEXEC);

    (void)scratch;
    for (int i = 0; i < 100; i++)
        if (write(fd, block, sizeof(block)) != sizeof(block))
            _exit(1);
    sleep(5);
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

static void spin(int scratch)
{
    (void)scratch;
    for (;;)
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

static void memory_below_the_ceiling_ends_who_holds_it(void **state)
{
    struct cell c = {roomy(), touch_100m_and_wait, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_OOM);
    assert_int_equal(out.usage.memory_kills, 1);
    assert_int_equal(WTERMSIG(out.status), SIGKILL);
    assert_true(out.usage.peak_memory_bytes > c.limits.mem_bytes);
}

static void one_child_too_many_is_killed_and_no_other(void **state)
{
    struct cell c = {roomy(), outlive_two_of_60m, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_OOM);
    assert_int_equal(out.usage.memory_kills, 1);
    assert_int_equal(WEXITSTATUS(out.status), 1);
}

static void memory_that_no_process_holds_ends_the_cell(void **state)
{
    struct cell c = {roomy(), memfd_100m_and_wait, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_KILLED);
    assert_int_equal(out.usage.memory_kills, 0);
    assert_true(out.usage.peak_memory_bytes > c.limits.mem_bytes);
}

static void shared_memory_counts(void **state)
{
    struct cell c = {roomy(), share_100m_and_wait, 0};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_OOM);
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
        cmocka_unit_test(memory_below_the_ceiling_ends_who_holds_it),
        cmocka_unit_test(one_child_too_many_is_killed_and_no_other),
        cmocka_unit_test(memory_that_no_process_holds_ends_the_cell),
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
        cmocka_unit_test(a_limit_of_zero_is_refused),
        cmocka_unit_test(a_limit_that_overflows_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
