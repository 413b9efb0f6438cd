/* SPDX-License-Identifier: Apache-2.0 */
/* Slots: one owner each, free when the last descriptor is gone. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/slot.h"

static char dir[] = "/tmp/karzer-test-slot-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL ? -1 : 0;
}

static int remove_dir(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/slots", dir);
    unlink(path);
    return rmdir(dir);
}

static void a_taken_slot_is_busy_for_others(void **state)
{
    unsigned slot;
    int fd, other = -1;

    (void)state;
    assert_int_equal(slot_take(dir, &slot, &fd, NULL), 0);
    assert_true(slot < SLOT_COUNT);
    assert_int_equal(slot_try(dir, slot, &other), 0);
    assert_int_equal(other, -1);
    close(fd);
    assert_int_equal(slot_try(dir, slot, &other), 1);
    close(other);
}

static void a_copy_of_the_descriptor_keeps_the_slot(void **state)
{
    unsigned slot;
    int fd, copy, other = -1;

    (void)state;
    assert_int_equal(slot_take(dir, &slot, &fd, NULL), 0);
    copy = dup(fd);
    close(fd);
    assert_int_equal(slot_try(dir, slot, &other), 0);
    close(copy);
    assert_int_equal(slot_try(dir, slot, &other), 1);
    close(other);
}

static void a_killed_owner_frees_the_slot(void **state)
{
    unsigned slot;
    int pipes[2], fd, status;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    pid = fork();
    if (pid == 0) {
        if (slot_take(dir, &slot, &fd, NULL) < 0 ||
            write(pipes[1], &slot, sizeof(slot)) != sizeof(slot))
            _exit(1);
        pause();
    }
    assert_int_equal(read(pipes[0], &slot, sizeof(slot)), sizeof(slot));
    assert_int_equal(slot_try(dir, slot, &fd), 0);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    assert_int_equal(slot_try(dir, slot, &fd), 1);
    close(fd);
    close(pipes[0]);
    close(pipes[1]);
}

static void every_slot_can_be_taken_once(void **state)
{
    static int fds[SLOT_COUNT];
    static char taken[SLOT_COUNT];
    enum { MANY = 900 }; /* below the usual limit of open files */
    unsigned slot;

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(slot_take(dir, &slot, &fds[i], NULL), 0);
        assert_int_equal(taken[slot], 0);
        taken[slot] = 1;
    }
    for (unsigned i = 0; i < MANY; i++)
        close(fds[i]);
}

static void a_full_table_is_an_error_that_says_so(void **state)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 0};
    struct err err = {0};
    unsigned slot;
    char path[64];
    int fd, file;

    (void)state;
    snprintf(path, sizeof(path), "%s/slots", dir);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(fcntl(file, F_OFD_SETLK, &all), 0);
    assert_int_equal(slot_take(dir, &slot, &fd, &err), -1);
    assert_int_equal(err.code, ERR_HOST);
    assert_non_null(strstr(err.text, "all 4096 are in use"));
    close(file);
}

static void a_missing_directory_is_an_error(void **state)
{
    struct err err = {0};
    unsigned slot;
    int fd;

    (void)state;
    assert_int_equal(slot_take("/nonexistent", &slot, &fd, &err), -1);
    assert_int_equal(err.sys, ENOENT);
}

static void the_table_is_for_its_owner_only(void **state)
{
    struct stat st;
    unsigned slot;
    char path[64];
    int fd;

    (void)state;
    assert_int_equal(slot_take(dir, &slot, &fd, NULL), 0);
    snprintf(path, sizeof(path), "%s/slots", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    close(fd);
}

static void a_slot_beyond_the_table_is_refused(void **state)
{
    uint32_t uid;
    int fd;

    (void)state;
    assert_int_equal(slot_try(dir, SLOT_COUNT, &fd), -1);
    assert_int_equal(slot_uid(SLOT_COUNT, &uid, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taken_slot_is_busy_for_others),
        cmocka_unit_test(a_copy_of_the_descriptor_keeps_the_slot),
        cmocka_unit_test(a_killed_owner_frees_the_slot),
        cmocka_unit_test(every_slot_can_be_taken_once),
        cmocka_unit_test(a_full_table_is_an_error_that_says_so),
        cmocka_unit_test(a_missing_directory_is_an_error),
        cmocka_unit_test(the_table_is_for_its_owner_only),
        cmocka_unit_test(a_slot_beyond_the_table_is_refused),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
