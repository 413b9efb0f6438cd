/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_boundary_files - the record's files: rotation, many writers at once,
 * writers that are killed, and files that others control.
 */
#include "src/core/boundary.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/boundary_dir.h"

static uint64_t next_number;

static int counts_up(const json_t *record, void *ctx)
{
    (void)ctx;
    next_number++;
    return json_integer_value(json_object_get(record, "seq")) ==
                   (json_int_t)next_number
               ? 0
               : -1;
}

static void full_files_keep_the_chain(void **state)
{
    struct boundary *a = opened();
    struct boundary *b = opened();
    char head[100];

    (void)state;
    full_at(a, 2000);
    full_at(b, 1000);
    for (int i = 0; i < 30; i++)
        add(i % 3 == 0 ? b : a, i);
    boundary_close(a);
    boundary_close(b);
    assert_int_equal(access(path("boundary-000000000001.jsonl"), F_OK), 0);
    assert_int_equal(good(NULL), 30);
    next_number = 0;
    assert_int_equal(boundary_read(dir, NULL, counts_up, NULL, NULL), 0);
    assert_int_equal(next_number, 30);
    assert_int_equal(unlink(path("boundary.jsonl")), 0);
    assert_int_equal(boundary_head(dir, head, sizeof(head), NULL), 0);
    made(1); /* a new file goes on after the newest full one */
    assert_true(good(head) < 31);
    assert_int_equal(unlink(path("boundary-000000000001.jsonl")), 0);
    bad(NULL, "stands where record 1 belongs");
}

static void a_file_that_was_moved_away_is_begun_anew(void **state)
{
    struct boundary *b = opened();

    (void)state;
    add(b, 1);
    assert_int_equal(rename(path("boundary.jsonl"), path("old.jsonl")), 0);
    add(b, 2);
    boundary_close(b);
    assert_int_equal(good(NULL), 1);
}

static void write_many(int count)
{
    struct boundary *b = NULL;
    int rc = boundary_open(&b, dir, NULL);

    if (rc == 0)
        full_at(b, 300000);
    for (int i = 0; i < count && rc == 0; i++)
        rc = boundary_write(b, EVENT_FILE_IN, RUN,
                            json_pack("{s:i}", "size", i), NULL, NULL);
    boundary_close(b);
    _exit(rc == 0 ? 0 : 1);
}

static void twenty_writers_lose_nothing_and_keep_the_chain(void **state)
{
    pid_t pids[20];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            write_many(200);
    }
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        int status = -1;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(good(NULL), 4000);
    next_number = 0;
    assert_int_equal(boundary_read(dir, NULL, counts_up, NULL, NULL), 0);
    assert_int_equal(next_number, 4000);
}

/* Writers killed at any moment: whole lines, or a torn end and its event. */
static void killed_writers_leave_a_record_that_goes_on(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0)
            write_many(100000);
        usleep((useconds_t)(500 + i * 37));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        made(1);
        good(NULL);
    }
}

static void refused(const char *why)
{
    struct boundary *b = NULL;
    struct err err = {0};

    assert_int_equal(boundary_open(&b, dir, &err), -1);
    assert_null(b);
    if (strstr(err.text, why) == NULL || strstr(err.text, dir) == NULL)
        fail_msg("%s", err.text);
}

static void files_that_others_control_are_refused(void **state)
{
    const char *file = "boundary.jsonl";
    char real[64];

    (void)state;
    spit("elsewhere", "", 0);
    assert_int_equal(symlink("elsewhere", path(file)), 0);
    refused("symbolic link");
    unlink(path(file));
    assert_int_equal(link(path("elsewhere"), path(file)), 0);
    refused("hard link");
    unlink(path(file));
    assert_int_equal(mkfifo(path(file), 0600), 0);
    refused("not a regular file");
    unlink(path(file));
    spit(file, "", 0);
    assert_int_equal(chmod(path(file), 0620), 0);
    refused("others may write");
    assert_int_equal(chmod(path(file), 0600), 0);
    assert_int_equal(chmod(dir, 0702), 0);
    refused("others may write");
    assert_int_equal(chmod(dir, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path(file), 12345, 12345), 0);
        refused("belongs to uid 12345");
    }
    strcpy(real, dir);
    strcpy(dir, path("link"));
    assert_int_equal(symlink(real, dir), 0);
    refused("symbolic link");
    strcpy(dir, real);
    strcat(dir, "/none");
    refused("No such file");
    strcpy(dir, real);
}

static void a_directory_without_permission_is_an_error(void **state)
{
    struct boundary *b = NULL;
    struct err err = {0};

    (void)state;
    if (geteuid() == 0 && (chown(dir, 12345, 12345) < 0 || seteuid(12345) < 0))
        skip();
    assert_int_equal(chmod(dir, 0500), 0);
    assert_int_equal(boundary_open(&b, dir, &err), -1);
    assert_non_null(strstr(err.text, "Permission denied"));
    assert_int_equal(chmod(dir, 0700), 0);
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
}

int main(void)
{
#define EACH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(full_files_keep_the_chain),
        EACH(a_file_that_was_moved_away_is_begun_anew),
        EACH(twenty_writers_lose_nothing_and_keep_the_chain),
        EACH(killed_writers_leave_a_record_that_goes_on),
        EACH(files_that_others_control_are_refused),
        EACH(a_directory_without_permission_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
