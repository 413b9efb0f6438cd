/* SPDX-License-Identifier: Apache-2.0 */
/* A path of the caller's is followed through no link that a cell may have made.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/auto.h"
#include "src/base/path.h"

static char top[] = "/tmp/karzer-unit-path-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(top) == NULL || chdir(top) < 0 || mkdir("real", 0755) < 0 ||
           mkdir("real/sub", 0755) < 0 || symlink("real", "link") < 0 ||
           symlink("/", "root") < 0 || symlink("loop", "loop") < 0 ||
           symlink(top, "real/up") < 0;
}

static int tear_down(void **state)
{
    static const char *const files[] = {"link", "root", "loop", "real/up"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        unlink(files[i]);
    return rmdir("real/sub") < 0 || rmdir("real") < 0 || chdir("/") < 0 ||
           rmdir(top) < 0;
}

static void expect_name(const char *path, const char *want)
{
    struct err err = {0};
    AUTO(fd) int fd = path_open(path, &err);
    char name[PATH_MAX];

    if (fd < 0)
        print_error("%s: %s\n", path, err.text);
    assert_true(fd >= 0);
    assert_int_equal(path_name(fd, name, sizeof(name)), 0);
    assert_string_equal(name, want);
}

static void expect_refused(const char *path, const char *say)
{
    struct err err = {0};

    assert_int_equal(path_open(path, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    if (strstr(err.text, say) == NULL)
        print_error("%s\n", err.text);
    assert_non_null(strstr(err.text, say));
}

static void a_path_without_links_is_known_by_its_real_name(void **state)
{
    char want[PATH_MAX];

    (void)state;
    snprintf(want, sizeof(want), "%s/real/sub", top);
    expect_name("real/sub", want);
    expect_name("./real/../real//sub/.", want);
    expect_name(want, want);
    expect_name("/", "/");
}

static void
a_link_of_the_callers_is_not_followed_wherever_it_stands(void **state)
{
    static const char *const paths[] = {
        "link",     "link/",        "link/sub",
        "link/..",  "real/up/real", "root",
        "root/tmp", "loop",         "real/sub/../../link/sub"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        expect_refused(paths[i], "is a link, which code in a cell may have "
                                 "made: name what it leads to");
}

static void a_refusal_says_what_to_name(void **state)
{
    char want[PATH_MAX];

    (void)state;
    snprintf(want, sizeof(want), "what it leads to, %s/real/sub", top);
    expect_refused("link/sub", want);
}

/* The cell owned the directory and took its own right to write away. */
static void
a_directory_that_cannot_be_written_is_still_the_callers(void **state)
{
    (void)state;
    assert_int_equal(chmod("real", 0555), 0);
    expect_refused("real/up/real", "/real/up is a link");
    assert_int_equal(chmod("real", 0755), 0);
}

static void a_link_in_the_root_directory_is_followed(void **state)
{
    struct stat st;

    (void)state;
    if (lstat("/bin", &st) < 0 || !S_ISLNK(st.st_mode))
        skip();
    expect_name("/bin", "/usr/bin");
    expect_name("/bin/../bin", "/usr/bin");
}

static void a_link_of_roots_is_followed_for_others(void **state)
{
    struct stat st;

    (void)state;
    if (lstat("/var/run", &st) < 0 || !S_ISLNK(st.st_mode))
        skip();
    if (geteuid() == 0)
        expect_refused("/var/run", "/var/run is a link");
    else
        expect_name("/var/run", "/run");
}

static void the_links_of_proc_are_not_followed(void **state)
{
    (void)state;
    expect_refused("/proc/self/cwd", "is a link");
    expect_refused("/proc/self/root/tmp", "is a link");
}

static void what_is_not_there_is_said_as_ever(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(path_open("real/none", &err), -1);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(path_open("", &err), -1);
    assert_int_equal(err.sys, ENOENT);
}

static void a_plain_path_has_no_link_at_all(void **state)
{
    AUTO(fd) int fd = path_open_plain("real/sub");

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(path_open_plain("link/sub"), -1);
    assert_int_equal(errno, ELOOP);
}

static void a_name_that_does_not_fit_is_an_error(void **state)
{
    AUTO(fd) int fd = path_open_plain("real/sub");
    char name[8];

    (void)state;
    assert_int_equal(path_name(fd, name, sizeof(name)), -1);
    assert_int_equal(errno, ENAMETOOLONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_without_links_is_known_by_its_real_name),
        cmocka_unit_test(
            a_link_of_the_callers_is_not_followed_wherever_it_stands),
        cmocka_unit_test(a_refusal_says_what_to_name),
        cmocka_unit_test(
            a_directory_that_cannot_be_written_is_still_the_callers),
        cmocka_unit_test(a_link_in_the_root_directory_is_followed),
        cmocka_unit_test(a_link_of_roots_is_followed_for_others),
        cmocka_unit_test(the_links_of_proc_are_not_followed),
        cmocka_unit_test(what_is_not_there_is_said_as_ever),
        cmocka_unit_test(a_plain_path_has_no_link_at_all),
        cmocka_unit_test(a_name_that_does_not_fit_is_an_error),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
