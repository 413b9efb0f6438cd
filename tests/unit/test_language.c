/* SPDX-License-Identifier: Apache-2.0 */
/* Which language code is in: --lang, a #! line, a suffix; and its driver. */
#include "src/core/language.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "src/base/auto.h"

static const char *guess(const char *code, const char *name)
{
    const struct language *lang;

    if (language_guess(code, strlen(code), name, &lang, NULL) < 0)
        return "refused";
    return lang == NULL ? "none" : lang->name;
}

static void a_name_is_looked_up(void **state)
{
    (void)state;
    assert_string_equal(language_find("node")->program, "node");
    assert_string_equal(language_find("node")->package, "nodejs");
    assert_null(language_find("ruby"));
    assert_null(language_find(""));
}

static void the_suffix_of_a_file_says_it(void **state)
{
    static const char *const rows[][2] = {
        {"a.py", "python"}, {"d/a.js", "node"}, {"a.mjs", "node"},
        {"a.cjs", "node"},  {"a.sh", "bash"},   {"a.bash", "bash"},
        {"a.b.sh", "bash"}, {"a", "none"},      {"a.rb", "none"},
        {".sh", "none"},    {"d.sh/a", "none"}, {"<code>", "none"},
        {"d/.js", "none"},  {"a.shh", "none"},  {"a.JS", "none"},
        {"<x.js>", "none"}, {"a.", "none"},     {"", "none"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(guess("x", rows[i][0]), rows[i][1]);
}

static void the_line_of_the_interpreter_says_it_first(void **state)
{
    static const char *const rows[][2] = {
        {"#!/bin/bash\nx", "bash"},
        {"#!/bin/sh", "bash"},
        {"#! /usr/bin/env node\n", "node"},
        {"#!/usr/bin/env -S node --no-warnings\n", "node"},
        {"#!/usr/bin/env A=b -i python3.11 -u\r\n", "python"},
        {"#!/usr/bin/python3\n", "python"},
        {"#!python\n", "python"},
        {"#!/opt/x.1/nodejs\n", "node"},
        {"\xef\xbb\xbf#!/bin/bash\n", "bash"},
        {"#!/usr/bin/ruby\n", "refused"},
        {"#!/usr/bin/env\n", "refused"},
        {"#!\n", "refused"},
        {"#!", "refused"},
        {"#!/bin/\n", "refused"},
        {"#!/bin/bashful\n", "refused"},
        {"# !/bin/bash\n", "python"},
        {"", "python"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(guess(rows[i][0], "a.py"), rows[i][1]);
}

static void the_name_of_an_interpreter_says_it(void **state)
{
    (void)state;
    assert_string_equal(language_of_program("/opt/n/bin/node")->name, "node");
    assert_string_equal(language_of_program("/v/bin/python3.11")->name,
                        "python");
    assert_string_equal(language_of_program("bash")->name, "bash");
    assert_null(language_of_program("/home/venv"));
    assert_null(language_of_program("/opt/node/"));
    assert_null(language_of_program(""));
}

static void a_long_line_is_read_to_its_cap(void **state)
{
    char code[2000];

    (void)state;
    memset(code, 'x', sizeof(code) - 1);
    code[sizeof(code) - 1] = '\0';
    memcpy(code, "#!/bin/bash -", 13);
    assert_string_equal(guess(code, "<code>"), "bash");
    memcpy(code, "#!xxxxxxxxxxx", 13);
    assert_string_equal(guess(code, "<code>"), "refused");
}

static void a_refusal_names_what_is_known(void **state)
{
    const struct language *lang;
    struct err err = {0};

    (void)state;
    assert_int_equal(language_guess("#!/bin/ksh\n", 11, "x", &lang, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "#!/bin/ksh"));
    assert_non_null(strstr(err.text, "known: python, node, bash"));
    assert_int_equal(language_unknown("--lang", "perl", &err), -1);
    assert_non_null(strstr(err.text, "--lang: \"perl\" is not known"));
}

static void bash_takes_no_nul(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(language_check(language_find("bash"), "a\0b", 3, &err),
                     -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "at 1"));
    assert_int_equal(language_check(language_find("bash"), "ab", 2, NULL), 0);
    assert_int_equal(language_check(language_find("bash"), NULL, 0, NULL), 0);
    assert_int_equal(language_check(language_find("node"), "a\0b", 3, NULL), 0);
}

static void the_python_driver_is_started_isolated(void **state)
{
    struct strs argv = {0};

    (void)state;
    assert_int_equal(language_argv(language_find("python"), "python3", "/there",
                                   0, &argv, NULL),
                     0);
    assert_int_equal(argv.len, 6);
    assert_string_equal(argv.at[0], "python3");
    assert_string_equal(argv.at[1], "-I");
    assert_string_equal(argv.at[2], "-S");
    assert_string_equal(argv.at[3], "-c");
    assert_string_equal(argv.at[5], "/there/python");
    strs_fini(&argv);
}

static void node_is_told_the_limit_of_memory(void **state)
{
    struct strs argv = {0};

    (void)state;
    assert_int_equal(language_argv(language_find("node"), "/opt/node", "/there",
                                   UINT64_C(256) << 20, &argv, NULL),
                     0);
    assert_int_equal(argv.len, 3);
    assert_string_equal(argv.at[0], "/opt/node");
    assert_string_equal(argv.at[1], "--max-old-space-size=256");
    assert_string_equal(argv.at[2], "/there/node/driver.js");
    strs_fini(&argv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_looked_up),
        cmocka_unit_test(the_suffix_of_a_file_says_it),
        cmocka_unit_test(the_line_of_the_interpreter_says_it_first),
        cmocka_unit_test(the_name_of_an_interpreter_says_it),
        cmocka_unit_test(a_long_line_is_read_to_its_cap),
        cmocka_unit_test(a_refusal_names_what_is_known),
        cmocka_unit_test(bash_takes_no_nul),
        cmocka_unit_test(the_python_driver_is_started_isolated),
        cmocka_unit_test(node_is_told_the_limit_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
