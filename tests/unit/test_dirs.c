/* SPDX-License-Identifier: Apache-2.0 */
/* test_dirs - where things are, what is created, what is refused. */
#include "src/core/dirs.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[64];
static struct dirs dirs;

static int setup(void **state)
{
    (void)state;
    strcpy(base, "/tmp/karzer-dirs-XXXXXX");
    return mkdtemp(base) == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"/a/b/c", "/a/b",  "/a", "/link",
                                        "/open",  "/file", ""};
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", base, names[i]);
        remove(path);
    }
    return 0;
}

static const char *below(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s%s", base, name);
    return path;
}

static void the_state_directory_is_made_with_its_parents(void **state)
{
    struct err err = {0};
    struct stat st;

    (void)state;
    umask(0);
    if (dirs_find(&dirs, below("/a/b/c//"), NULL, NULL, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(dirs.state, below("/a/b/c"));
    assert_int_equal(stat(dirs.state, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(below("/a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(dirs_find(&dirs, below("/a/b/c"), NULL, NULL, &err), 0);
}

static void programs_are_beside_the_executable(void **state)
{
    char exe[DIRS_PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    size_t prefix;

    (void)state;
    assert_true(n > 0);
    *strrchr(exe, '/') = '\0';
    *strrchr(exe, '/') = '\0';
    prefix = strlen(exe);
    assert_int_equal(dirs_find(&dirs, base, NULL, NULL, NULL), 0);
    assert_memory_equal(dirs.libexec, exe, prefix);
    assert_string_equal(dirs.libexec + prefix, "/libexec/karzer");
    assert_string_equal(dirs.share + prefix, "/share/karzer");
}

static void refused(const char *path, const char *why)
{
    struct err err = {0};

    assert_int_equal(dirs_find(&dirs, path, NULL, NULL, &err), -1);
    if (strstr(err.text, why) == NULL)
        fail_msg("%s: %s", path, err.text);
    assert_non_null(strstr(err.text, "KARZER_STATE"));
}

static void what_others_control_is_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink(base, below("/link")), 0);
    refused(below("/link"), "symbolic link");
    refused(below("/link/"), "symbolic link");
    assert_int_equal(mkdir(below("/open"), 0777), 0);
    assert_int_equal(chmod(below("/open"), 0770), 0);
    refused(below("/open"), "others may write");
    fclose(fopen(below("/file"), "w"));
    refused(below("/file"), "not a directory");
    refused(below("/file/x"), "Not a directory");
    refused("relative/path", "not an absolute path");
    refused("", "not an absolute path");
    refused(geteuid() == 0 ? "/proc/karzer" : "/root-only/karzer", "make");
    if (geteuid() == 0) {
        assert_int_equal(chown(below("/open"), 12345, 12345), 0);
        refused(below("/open"), "not to you");
    }
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    char path[DIRS_PATH_MAX + 10];

    (void)state;
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(dirs_find(&dirs, path, NULL, NULL, NULL), -1);
}

/* In a child: an ordinary user needs HOME or XDG_STATE_HOME. */
static void an_ordinary_user_has_a_home_for_it(void **state)
{
    struct err err = {0};
    char want[128];

    (void)state;
    if (geteuid() == 0 && (chown(base, 12345, 12345) < 0 || seteuid(12345) < 0))
        skip();
    assert_int_equal(dirs_find(&dirs, NULL, NULL, NULL, &err), -1);
    assert_non_null(strstr(err.text, "HOME"));
    assert_int_equal(dirs_find(&dirs, NULL, below("/a"), "/none", &err), 0);
    snprintf(want, sizeof(want), "%s/a/karzer", base);
    assert_string_equal(dirs.state, want);
    rmdir(want);
    snprintf(want, sizeof(want), "%s/.local/state/karzer", base);
    assert_int_equal(dirs_find(&dirs, NULL, "relative", base, &err), 0);
    assert_string_equal(dirs.state, want);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rmdir(want), 0);
        *strrchr(want, '/') = '\0';
    }
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
}

int main(void)
{
#define EACH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(the_state_directory_is_made_with_its_parents),
        EACH(programs_are_beside_the_executable),
        EACH(what_others_control_is_refused),
        EACH(a_path_that_is_too_long_is_refused),
        EACH(an_ordinary_user_has_a_home_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
