/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a run, from evidence: a table of ends and near misses. */
#include "src/core/result.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "src/base/auto.h"
#include "src/core/output.h"

/* clang-format off */
static const struct row {
    const char *claim;
    struct evidence ev;
    enum status want;
    const char *detail;
} rows[] = {
    {"no evidence at all is internal, never ok", {0}, STATUS_INTERNAL, NULL},
    {"a zero exit is ok", {.exited = true}, STATUS_OK, NULL},
    {"an exit of 1 is error", {.exited = true, .code = 1}, STATUS_ERROR, NULL},
    {"137 of the program's own is error",
     {.exited = true, .code = 137}, STATUS_ERROR, NULL},
    {"124 of the program's own is error",
     {.exited = true, .code = 124}, STATUS_ERROR, NULL},
    {"a signal that karzer did not send is error",
     {.exited = true, .code = -1, .signal = 11}, STATUS_ERROR, NULL},
    {"a refused fork and a zero exit is ok",
     {.exited = true, .hits = HOLDER_HIT_PIDS}, STATUS_OK, NULL},
    {"a refused fork and a failure is processes",
     {.exited = true, .code = 1, .hits = HOLDER_HIT_PIDS},
     STATUS_PROCESSES, NULL},
    {"an OOM kill that the parent survives is ok",
     {.exited = true, .hits = HOLDER_HIT_MEMORY_OOM}, STATUS_OK, NULL},
    {"an OOM kill and a failure is memory",
     {.exited = true, .code = -1, .signal = 9, .hits = HOLDER_HIT_MEMORY_OOM},
     STATUS_MEMORY, NULL},
    {"an OOM kill that the run's limit did not make is memory of the host",
     {.exited = true, .code = -1, .signal = 9, .hits = HOLDER_HIT_MEMORY_OOM,
      .memory_elsewhere = true}, STATUS_MEMORY, "host"},
    {"an OOM kill of the agent is memory",
     {.hits = HOLDER_HIT_MEMORY_OOM}, STATUS_MEMORY, NULL},
    {"a kill by the sampled sum is memory whatever the exit says",
     {.exited = true, .hits = HOLDER_HIT_MEMORY_KILLED}, STATUS_MEMORY, NULL},
    {"ENOMEM without a memory rlimit is error",
     {.exited = true, .code = 1, .uncaught_errno = ENOMEM}, STATUS_ERROR, NULL},
    {"ENOMEM where an rlimit is the mechanism is memory",
     {.exited = true, .code = 1, .uncaught_errno = ENOMEM,
      .memory_rlimit = true}, STATUS_MEMORY, NULL},
    {"an abort near the limit where an rlimit is the mechanism is memory",
     {.exited = true, .code = -1, .signal = SIGABRT, .memory_rlimit = true,
      .memory_near = true}, STATUS_MEMORY, NULL},
    {"an abort far from the limit is error",
     {.exited = true, .code = -1, .signal = SIGABRT, .memory_rlimit = true},
     STATUS_ERROR, NULL},
    {"an abort near the limit of a memory group is error",
     {.exited = true, .code = -1, .signal = SIGABRT, .memory_near = true},
     STATUS_ERROR, NULL},
    {"a crash near the limit is error",
     {.exited = true, .code = -1, .signal = SIGSEGV, .memory_rlimit = true,
      .memory_near = true}, STATUS_ERROR, NULL},
    {"EAGAIN where an rlimit is the mechanism is processes",
     {.exited = true, .code = 1, .uncaught_errno = EAGAIN,
      .pids_rlimit = true}, STATUS_PROCESSES, NULL},
    {"a full disk that was survived is ok",
     {.exited = true, .hits = HOLDER_HIT_DISK_FULL}, STATUS_OK, NULL},
    {"a full disk and a failure is disk",
     {.exited = true, .code = 1, .hits = HOLDER_HIT_DISK_FULL},
     STATUS_DISK, NULL},
    {"an uncaught ENOSPC is disk",
     {.exited = true, .code = 1, .uncaught_errno = ENOSPC}, STATUS_DISK, NULL},
    {"an uncaught EDQUOT is disk",
     {.exited = true, .code = 1, .uncaught_errno = EDQUOT}, STATUS_DISK, NULL},
    {"an uncaught EFBIG is disk",
     {.exited = true, .code = 1, .uncaught_errno = EFBIG}, STATUS_DISK, NULL},
    {"wall time is timeout",
     {.wall = true}, STATUS_TIMEOUT, "wall"},
    {"the holder's own clock is timeout",
     {.hits = HOLDER_HIT_WALL_KILLED}, STATUS_TIMEOUT, "wall"},
    {"processor time is timeout",
     {.hits = HOLDER_HIT_CPU_TIME_KILLED}, STATUS_TIMEOUT, "cpu"},
    {"too much output is output", {.output = true}, STATUS_OUTPUT, NULL},
    {"timeout comes before output",
     {.wall = true, .output = true}, STATUS_TIMEOUT, "wall"},
    {"killed comes before timeout",
     {.wall = true, .killed = true}, STATUS_KILLED, NULL},
    {"output comes before memory",
     {.output = true, .hits = HOLDER_HIT_MEMORY_KILLED}, STATUS_OUTPUT, NULL},
    {"memory comes before processes and disk",
     {.exited = true, .code = 1, .hits = HOLDER_HIT_MEMORY_OOM |
      HOLDER_HIT_PIDS | HOLDER_HIT_DISK_FULL}, STATUS_MEMORY, NULL},
    {"processes come before disk",
     {.exited = true, .code = 1, .hits = HOLDER_HIT_PIDS |
      HOLDER_HIT_DISK_FULL}, STATUS_PROCESSES, NULL},
    {"denied comes before killed",
     {.denied = true, .killed = true}, STATUS_DENIED, NULL},
    {"unavailable comes before denied",
     {.unavailable = true, .denied = true}, STATUS_UNAVAILABLE, NULL},
    {"internal comes first",
     {.internal = true, .unavailable = true, .exited = true},
     STATUS_INTERNAL, NULL},
};
/* clang-format on */

static void every_end_has_its_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *detail;
        enum status got = result_decide(&rows[i].ev, &detail);

        if (got != rows[i].want)
            fail_msg("%s: got %s", rows[i].claim, status_names[got]);
        if ((detail == NULL) != (rows[i].detail == NULL) ||
            (detail != NULL && strcmp(detail, rows[i].detail) != 0))
            fail_msg("%s: detail %s", rows[i].claim, detail);
    }
}

static void a_zeroed_status_is_never_ok(void **state)
{
    (void)state;
    assert_int_equal(STATUS_INTERNAL, 0);
}

static void exit_statuses_follow_env_and_timeout(void **state)
{
    struct result r;

    (void)state;
    assert_int_equal(result_init(&r, 100, NULL), 0);
    r.status = STATUS_TIMEOUT;
    assert_int_equal(result_exit_status(&r), 124);
    r.status = STATUS_MEMORY;
    assert_int_equal(result_exit_status(&r), 137);
    r.status = STATUS_UNAVAILABLE;
    assert_int_equal(result_exit_status(&r), 125);
    r.status = STATUS_ERROR;
    r.exit_code = 3;
    assert_int_equal(result_exit_status(&r), 3);
    r.exit_code = -1;
    r.signal = 15;
    assert_int_equal(result_exit_status(&r), 143);
    result_fini(&r);
}

static void output_keeps_head_and_tail_and_counts_the_rest(void **state)
{
    struct output o;
    size_t len;
    char *kept;

    (void)state;
    output_init(&o, 8);
    for (char c = 'a'; c <= 'z'; c++)
        assert_int_equal(output_add(&o, &c, 1), 0);
    kept = output_kept(&o, &len);
    assert_int_equal(len, 8);
    assert_memory_equal(kept, "abcdwxyz", 8);
    assert_int_equal(o.total, 26);
    free(kept);
    output_fini(&o);
}

static void output_in_one_piece_is_kept_the_same_way(void **state)
{
    struct output o;
    size_t len;
    char *kept;

    (void)state;
    output_init(&o, 9);
    assert_int_equal(output_add(&o, "abcdefghijklmnopqrstuvwxyz", 26), 0);
    kept = output_kept(&o, &len);
    assert_int_equal(len, 9);
    assert_memory_equal(kept, "abcdewxyz", 9);
    free(kept);
    output_fini(&o);
}

static void output_of_no_cap_keeps_nothing_and_counts(void **state)
{
    struct output o;
    size_t len;
    char *kept;

    (void)state;
    output_init(&o, 0);
    assert_int_equal(output_add(&o, "abc", 3), 0);
    kept = output_kept(&o, &len);
    assert_int_equal(len, 0);
    assert_int_equal(o.total, 3);
    free(kept);
    output_fini(&o);
}

static void bytes_that_are_not_utf8_are_base64_with_a_flag(void **state)
{
    struct result r;
    char *text;

    (void)state;
    assert_int_equal(result_init(&r, 100, NULL), 0);
    output_add(&r.out, "\xff\x00z", 3);
    output_add(&r.err, "a\0b", 3);
    text = result_json(&r);
    assert_non_null(strstr(text, "\"stdout\":\"/wB6\""));
    assert_non_null(strstr(text, "\"stdout_encoding\":\"base64\""));
    assert_non_null(strstr(text, "\"stderr\":\"a\\u0000b\""));
    free(text);
    result_fini(&r);
}

static void an_unknown_figure_is_null_never_zero(void **state)
{
    struct result r;
    char *text;

    (void)state;
    assert_int_equal(result_init(&r, 100, NULL), 0);
    text = result_json(&r);
    assert_non_null(strstr(text, "\"cpu_ms\":null"));
    assert_non_null(strstr(text, "\"peak_memory_bytes\":null"));
    assert_non_null(strstr(text, "\"effective\":null"));
    free(text);
    result_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_has_its_status),
        cmocka_unit_test(a_zeroed_status_is_never_ok),
        cmocka_unit_test(exit_statuses_follow_env_and_timeout),
        cmocka_unit_test(output_keeps_head_and_tail_and_counts_the_rest),
        cmocka_unit_test(output_in_one_piece_is_kept_the_same_way),
        cmocka_unit_test(output_of_no_cap_keeps_nothing_and_counts),
        cmocka_unit_test(bytes_that_are_not_utf8_are_base64_with_a_flag),
        cmocka_unit_test(an_unknown_figure_is_null_never_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
