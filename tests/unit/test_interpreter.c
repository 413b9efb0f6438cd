/* SPDX-License-Identifier: Apache-2.0 */
/* What --interpreter makes visible: a tree is shown only when it surely is one.
 */
#include "src/core/interpreter.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "src/base/auto.h"

static char root[64];

static void path_of(char *out, const char *name)
{
    snprintf(out, PATH_MAX, "%s/%s", root, name);
}

static void make_dir(const char *name)
{
    char path[PATH_MAX];

    path_of(path, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static void make_program(const char *name)
{
    char path[PATH_MAX];
    int fd;

    path_of(path, name);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
    assert_true(fd >= 0);
    close(fd);
}

static void make_link(const char *target, const char *name)
{
    char path[PATH_MAX], to[PATH_MAX];

    path_of(path, name);
    path_of(to, target);
    assert_int_equal(symlink(to, path), 0);
}

/* tree: an interpreter's; venv: on top of it; home: a directory of somebody. */
static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/karzer-unit-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    make_dir("tree");
    make_dir("tree/bin");
    make_dir("tree/lib");
    make_dir("tree/lib/python3.11");
    make_program("tree/lib/python3.11/os.py");
    make_program("tree/bin/python3.11");
    make_link("tree/bin/python3.11", "tree/bin/python3");
    make_dir("venv");
    make_dir("venv/bin");
    make_program("venv/pyvenv.cfg");
    make_link("tree/bin/python3", "venv/bin/python3");
    make_dir("home");
    make_dir("home/bin");
    make_program("home/bin/python3");
    make_program("shim");
    make_dir("node");
    make_dir("node/bin");
    make_dir("node/include");
    make_dir("node/include/node");
    make_program("node/include/node/node_version.h");
    make_program("node/bin/node");
    return 0;
}

static int tear_down(void **state)
{
    static const char *const made[] = {"node/bin/node",
                                       "node/include/node/node_version.h",
                                       "node/include/node",
                                       "node/include",
                                       "node/bin",
                                       "node",
                                       "shim",
                                       "home/bin/python3",
                                       "home/bin",
                                       "home",
                                       "venv/bin/python3",
                                       "venv/pyvenv.cfg",
                                       "venv/bin",
                                       "venv",
                                       "tree/bin/python3",
                                       "tree/bin/python3.11",
                                       "tree/lib/python3.11/os.py",
                                       "tree/lib/python3.11",
                                       "tree/lib",
                                       "tree/bin",
                                       "tree"};
    char path[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(made); i++) {
        path_of(path, made[i]);
        remove(path);
    }
    return rmdir(root);
}

static int find(const char *name, struct interpreter *in)
{
    char path[PATH_MAX];

    path_of(path, name);
    return interpreter_find(path, language_find("python"), in, NULL);
}

static void is_at(const char *got, const char *name)
{
    char path[PATH_MAX];

    path_of(path, name);
    assert_string_equal(got, path);
}

static void a_tree_is_shown_alone(void **state)
{
    struct interpreter in;

    (void)state;
    assert_int_equal(find("tree", &in), 0);
    is_at(in.exe, "tree/bin/python3.11");
    is_at(in.base, "tree");
    assert_string_equal(in.venv, "");
}

static void a_venv_brings_the_tree_that_it_stands_on(void **state)
{
    struct interpreter in;

    (void)state;
    assert_int_equal(find("venv", &in), 0);
    is_at(in.exe, "venv/bin/python3");
    is_at(in.venv, "venv");
    is_at(in.base, "tree");
    assert_int_equal(find("venv/bin/python3", &in), 0);
    is_at(in.venv, "venv");
}

static void a_directory_above_a_program_is_not_shown_for_that(void **state)
{
    struct interpreter in;

    (void)state;
    assert_int_equal(find("home", &in), -1);
    assert_int_equal(find("home/bin/python3", &in), -1);
}

static void what_is_not_an_interpreter_is_refused(void **state)
{
    struct interpreter in;

    (void)state;
    assert_int_equal(find("shim", &in), -1);
    assert_int_equal(find("nothing", &in), -1);
    assert_int_equal(interpreter_find("", NULL, &in, NULL), -1);
}

static void a_tree_is_that_of_its_language(void **state)
{
    struct interpreter in;
    struct err err = {0};
    char path[PATH_MAX];

    (void)state;
    path_of(path, "node");
    assert_int_equal(interpreter_find(path, language_find("node"), &in, NULL),
                     0);
    is_at(in.exe, "node/bin/node");
    is_at(in.base, "node");
    assert_int_equal(interpreter_find(path, NULL, &in, NULL), 0);
    is_at(in.exe, "node/bin/node");
    assert_int_equal(interpreter_find(path, language_find("python"), &in, &err),
                     -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "no bin/python3"));
    path_of(path, "tree/bin/python3");
    assert_int_equal(interpreter_find(path, language_find("node"), &in, NULL),
                     -1);
}

static void the_hosts_own_needs_no_tree(void **state)
{
    struct interpreter in;

    (void)state;
    if (access("/usr/bin/python3", X_OK) < 0)
        skip();
    assert_int_equal(interpreter_find("/usr/bin/python3", NULL, &in, NULL), 0);
    assert_string_equal(in.base, "");
    assert_string_equal(in.venv, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_shown_alone),
        cmocka_unit_test(a_venv_brings_the_tree_that_it_stands_on),
        cmocka_unit_test(a_directory_above_a_program_is_not_shown_for_that),
        cmocka_unit_test(what_is_not_an_interpreter_is_refused),
        cmocka_unit_test(a_tree_is_that_of_its_language),
        cmocka_unit_test(the_hosts_own_needs_no_tree),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
