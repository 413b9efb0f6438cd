/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limiter without any cgroup, as an ordinary user in a user namespace: what
 * replaces each limit, on real processes.
 */
#include "tests/unit/limiter_cell.h"

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
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_OOM);
    assert_in_range(out.usage.memory_kills, 1, 2);
    assert_true(out.usage.peak_memory_bytes > 64 * MIB);
}

static void
without_groups_one_child_too_many_is_killed_and_no_other(void **state)
{
    struct cell c = {roomy(), outlive_two_of_60m, 1};
    struct outcome out = run(&c);

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_MEMORY_OOM);
    assert_int_equal(out.usage.memory_kills, 1);
    assert_int_equal(WEXITSTATUS(out.status), 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_the_replacements_are_named),
        cmocka_unit_test(without_groups_half_a_processor_is_missing),
        cmocka_unit_test(without_groups_one_process_gets_enomem),
#ifndef __SANITIZE_ADDRESS__ /* its own memory would be counted */
        cmocka_unit_test(without_groups_the_sum_of_children_counts),
        cmocka_unit_test(
            without_groups_one_child_too_many_is_killed_and_no_other),
        cmocka_unit_test(without_groups_pages_shared_by_fork_count_once),
#endif
        cmocka_unit_test(without_groups_pipe_buffers_count),
        cmocka_unit_test(without_groups_forks_are_refused),
        cmocka_unit_test(without_groups_processor_time_of_orphans_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
