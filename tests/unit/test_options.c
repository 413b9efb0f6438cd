/* SPDX-License-Identifier: Apache-2.0 */
/* The option table, and what run and exec make of a command line. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/cli/run_args.h"

#define WORDS_MAX 16

/* Parses words that end with NULL; args is to be fini'ed. */
static int parse(struct run_args *args, enum verb_id verb,
                 const char *const *words, struct err *err)
{
    char *argv[WORDS_MAX + 1] = {(char *)verbs[verb].name};
    int argc = 1;

    *err = (struct err){0};
    for (; *words != NULL && argc < WORDS_MAX; words++)
        argv[argc++] = (char *)*words;
    argv[argc] = NULL;
    return run_args_parse(args, verb, argc, argv, err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect_refused(enum verb_id verb, const char *const *words,
                           enum err_code code, const char *said)
{
    struct run_args args;
    struct err err;

    assert_int_equal(parse(&args, verb, words, &err), -1);
    assert_int_equal(err.code, code);
    if (strstr(err.text, said) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", said, err.text);
    run_args_fini(&args);
}

static void a_limit_is_taken_with_a_space_or_an_equals_sign(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    assert_int_equal(parse(&args, VERB_RUN,
                           WORDS("--mem=64M", "--wall", "5s", "-c", "1"), &err),
                     0);
    assert_int_equal(args.req.limits.mem_bytes, 64u << 20);
    assert_int_equal(args.req.limits.wall_ms, 5000);
    assert_string_equal(args.req.code, "1");
    assert_string_equal(args.req.lang, "python");
    run_args_fini(&args);
}

static void every_limit_of_the_table_is_an_option_of_run_and_exec(void **state)
{
    (void)state;
    for (size_t i = 0; i < limit_row_count; i++) {
        char text[64], value[32];
        struct run_args args;
        struct err err;

        limit_format(&limit_rows[i], limit_rows[i].min, value, sizeof(value));
        snprintf(text, sizeof(text), "--%s=%s", limit_rows[i].option, value);
        assert_int_equal(
            parse(&args, VERB_EXEC, WORDS(text, "--", "true"), &err), 0);
        assert_true(limits_get(&args.req.limits, &limit_rows[i]) ==
                    limit_rows[i].min);
        run_args_fini(&args);
    }
}

static void an_unknown_option_names_the_nearest(void **state)
{
    (void)state;
    expect_refused(VERB_RUN, WORDS("--mmem", "1", "x"), ERR_INVALID,
                   "did you mean --mem?");
    expect_refused(VERB_EXEC, WORDS("--worksapce", "."), ERR_INVALID,
                   "did you mean --workspace?");
    expect_refused(VERB_RUN, WORDS("--zzzzzzzzzzzz"), ERR_INVALID,
                   "--help` lists them");
    expect_refused(VERB_EXEC, WORDS("--lang", "python", "ls"), ERR_INVALID,
                   "no such option of exec");
}

static void nothing_is_abbreviated(void **state)
{
    (void)state;
    expect_refused(VERB_RUN, WORDS("--wal", "1s", "x"), ERR_INVALID, "--wal");
    expect_refused(VERB_RUN, WORDS("--jso", "x"), ERR_INVALID, "--jso");
}

static void bad_values_say_what_is_expected(void **state)
{
    (void)state;
    expect_refused(VERB_RUN, WORDS("--mem", "5q", "x"), ERR_INVALID, "256M");
    expect_refused(VERB_RUN, WORDS("--mem", "1", "x"), ERR_INVALID, "8M to");
    expect_refused(VERB_RUN, WORDS("--mem"), ERR_INVALID, "--mem SIZE");
    expect_refused(VERB_RUN, WORDS("--json=1", "x"), ERR_INVALID,
                   "takes no value");
    expect_refused(VERB_RUN, WORDS("--net", "host", "x"), ERR_INVALID,
                   "only none");
    expect_refused(VERB_RUN, WORDS("--tier", "vm", "x"), ERR_INVALID,
                   "known: auto, process, container");
    expect_refused(VERB_RUN, WORDS("--lang", "cobol", "x"), ERR_INVALID,
                   "cobol");
    expect_refused(VERB_RUN, WORDS("--may-lack", "luck", "x"), ERR_INVALID,
                   "luck");
    expect_refused(VERB_RUN, WORDS("--in", "one", "x"), ERR_INVALID,
                   "HOST:CELL");
    expect_refused(VERB_RUN, WORDS("--out", ":b", "x"), ERR_INVALID,
                   "CELL:HOST");
}

static void a_variable_has_a_name_and_a_value(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    expect_refused(VERB_RUN, WORDS("--env", "HOME", "x"), ERR_INVALID,
                   "never passed on");
    expect_refused(VERB_RUN, WORDS("--env", "=x", "x"), ERR_INVALID, "name");
    expect_refused(VERB_RUN, WORDS("--env", "1A=x", "x"), ERR_INVALID, "name");
    expect_refused(VERB_RUN, WORDS("--env", "A B=x", "x"), ERR_INVALID, "name");
    assert_int_equal(parse(&args, VERB_RUN, WORDS("--env=A_1==b c", "x"), &err),
                     0);
    assert_string_equal(args.req.env.at[0], "A_1==b c");
    run_args_fini(&args);
}

static void what_follows_two_dashes_is_the_programs(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    assert_int_equal(
        parse(&args, VERB_RUN, WORDS("x", "--json", "--", "--mem", "-c"), &err),
        0);
    assert_true(args.json);
    assert_int_equal(args.req.argv.len, 2);
    assert_string_equal(args.req.argv.at[0], "--mem");
    run_args_fini(&args);
    expect_refused(VERB_RUN, WORDS("x", "y"), ERR_INVALID, "come after --");
}

static void exec_ends_its_options_at_the_command(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    assert_int_equal(
        parse(&args, VERB_EXEC, WORDS("--pids", "9", "ls", "--json"), &err), 0);
    assert_false(args.json);
    assert_null(args.req.lang);
    assert_int_equal(args.req.argv.len, 2);
    assert_string_equal(args.req.argv.at[1], "--json");
    run_args_fini(&args);
    expect_refused(VERB_EXEC, WORDS("--json"), ERR_INVALID, "no CMD");
    expect_refused(VERB_EXEC, WORDS("--", ""), ERR_INVALID, "empty");
}

static void code_that_looks_like_an_option_needs_c(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    expect_refused(VERB_RUN, WORDS("-1"), ERR_INVALID, "-c");
    assert_int_equal(parse(&args, VERB_RUN, WORDS("-c", "-1"), &err), 0);
    assert_string_equal(args.req.code, "-1");
    run_args_fini(&args);
    expect_refused(VERB_RUN, WORDS("-c", "1", "-f", "a"), ERR_INVALID,
                   "one CODE only");
}

static void empty_code_is_refused(void **state)
{
    (void)state;
    expect_refused(VERB_RUN, WORDS(""), ERR_INVALID, "empty");
    expect_refused(VERB_RUN, WORDS("-c", ""), ERR_INVALID, "empty");
    expect_refused(VERB_RUN, WORDS("-f", "/dev/null"), ERR_INVALID, "empty");
    expect_refused(VERB_RUN, WORDS("--json"), ERR_INVALID, "no CODE given");
}

/* A directory of our own with a file print.py; the caller removes both. */
static void make_dir(char dir[32], char file[48])
{
    FILE *f;

    snprintf(dir, 32, "/tmp/karzer-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(file, 48, "%s/print.py", dir);
    f = fopen(file, "w");
    assert_non_null(f);
    fputs("print(2)\n", f);
    fclose(f);
}

static void what_exists_is_a_file_and_c_forces_code(void **state)
{
    char dir[32], file[48];
    struct run_args args;
    struct err err;

    (void)state;
    make_dir(dir, file);
    assert_int_equal(run_args_guess(file), CODE_FILE);
    assert_int_equal(run_args_guess(dir), CODE_DIRECTORY);
    assert_int_equal(run_args_guess("print(1)"), CODE_TEXT);
    assert_int_equal(parse(&args, VERB_RUN, WORDS(file), &err), 0);
    assert_string_equal(args.req.code, "print(2)\n");
    assert_string_equal(args.req.code_name, file);
    run_args_fini(&args);
    assert_int_equal(parse(&args, VERB_RUN, WORDS("-c", file), &err), 0);
    assert_string_equal(args.req.code, file);
    run_args_fini(&args);
    expect_refused(VERB_RUN, WORDS(dir), ERR_INVALID, "directory");
    expect_refused(VERB_RUN, WORDS("-f", dir), ERR_INVALID, "directory");
    unlink(file);
    expect_refused(VERB_RUN, WORDS(file), ERR_HOST, "no such file");
    expect_refused(VERB_RUN, WORDS("-f", file), ERR_HOST, "No such file");
    rmdir(dir);
}

static void a_workspace_is_read_only_unless_rw_is_said(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    assert_int_equal(
        parse(&args, VERB_RUN, WORDS("--workspace", "/tmp/.", "x"), &err), 0);
    assert_string_equal(args.req.workspace, "/tmp");
    assert_false(args.req.workspace_rw);
    run_args_fini(&args);
    assert_int_equal(
        parse(&args, VERB_RUN, WORDS("--workspace=/tmp:rw", "x"), &err), 0);
    assert_string_equal(args.req.workspace, "/tmp");
    assert_true(args.req.workspace_rw);
    run_args_fini(&args);
    expect_refused(VERB_RUN, WORDS("--workspace", "/nonexistent", "x"),
                   ERR_HOST, "No such file");
    expect_refused(VERB_RUN, WORDS("--workspace", "/dev/null", "x"), ERR_HOST,
                   "not a directory");
    expect_refused(VERB_RUN, WORDS("--workspace", "/tmp:xx", "x"), ERR_INVALID,
                   "\"xx\" is no mode");
}

static void an_option_with_a_value_is_said_once(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    expect_refused(VERB_RUN, WORDS("--workspace", "/tmp", "--workspace=/", "x"),
                   ERR_INVALID, "--workspace: given twice");
    expect_refused(VERB_RUN, WORDS("--mem", "64M", "--mem", "64M", "x"),
                   ERR_INVALID, "--mem: given twice");
    assert_int_equal(parse(&args, VERB_RUN,
                           WORDS("--json", "--json", "--env", "A=1", "--env",
                                 "B=2", "--mem=64M", "--wall=9s", "x"),
                           &err),
                     0);
    assert_int_equal(args.req.env.len, 2);
    run_args_fini(&args);
}

static bool json_said(enum verb_id verb, const char *const *words)
{
    char *argv[WORDS_MAX + 1] = {(char *)verbs[verb].name};
    int argc = 1;

    for (; *words != NULL && argc < WORDS_MAX; words++)
        argv[argc++] = (char *)*words;
    return option_json(verb, argc, argv);
}

static void json_is_found_on_a_command_line_that_is_wrong(void **state)
{
    (void)state;
    assert_true(json_said(VERB_RUN, WORDS("--nope", "x", "y", "--json")));
    assert_true(
        json_said(VERB_RUN, WORDS("--mem", "1", "--mem", "1", "--json")));
    assert_true(json_said(VERB_LOG, WORDS("verify", "--json")));
    assert_false(json_said(VERB_RUN, WORDS("-c", "--json")));
    assert_false(json_said(VERB_RUN, WORDS("x", "--", "--json")));
    assert_false(json_said(VERB_EXEC, WORDS("ls", "--json")));
}

static void a_path_that_cannot_be_looked_at_is_not_code(void **state)
{
    struct run_args args;
    struct err err;

    (void)state;
    expect_refused(VERB_RUN, WORDS("-f", ""), ERR_INVALID, "-f: names no file");
    expect_refused(VERB_RUN, WORDS("/dev/null/f"), ERR_HOST,
                   "/dev/null/f: Not a directory");
    assert_int_equal(parse(&args, VERB_RUN, WORDS("10/2"), &err), 0);
    assert_string_equal(args.req.code, "10/2");
    run_args_fini(&args);
    assert_int_equal(parse(&args, VERB_RUN, WORDS("/dev/null/f (1)"), &err), 0);
    run_args_fini(&args);
}

static void help_has_every_option_of_a_command(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    (void)state;
    option_help(f, VERB_RUN);
    fclose(f);
    for (size_t i = 0; i < limit_row_count; i++) {
        char head[48];

        snprintf(head, sizeof(head), " --%s ", limit_rows[i].option);
        assert_non_null(strstr(text, head));
    }
    assert_non_null(strstr(text, "--output-kill"));
    assert_null(strstr(text, "--anchor"));
    free(text);
}

static void the_nearest_word_is_near(void **state)
{
    const char *const words[] = {"run", "exec", "doctor"};

    (void)state;
    assert_string_equal(option_nearest("docter", words, 3), "doctor");
    assert_string_equal(option_nearest("exce", words, 3), "exec");
    assert_string_equal(option_nearest("runner", words, 3), "run");
    assert_null(option_nearest("kubernetes", words, 3));
}

int main(void)
{
    const struct cli_start start = {.has_stdin = true};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_taken_with_a_space_or_an_equals_sign),
        cmocka_unit_test(every_limit_of_the_table_is_an_option_of_run_and_exec),
        cmocka_unit_test(an_unknown_option_names_the_nearest),
        cmocka_unit_test(nothing_is_abbreviated),
        cmocka_unit_test(bad_values_say_what_is_expected),
        cmocka_unit_test(a_variable_has_a_name_and_a_value),
        cmocka_unit_test(what_follows_two_dashes_is_the_programs),
        cmocka_unit_test(exec_ends_its_options_at_the_command),
        cmocka_unit_test(code_that_looks_like_an_option_needs_c),
        cmocka_unit_test(empty_code_is_refused),
        cmocka_unit_test(what_exists_is_a_file_and_c_forces_code),
        cmocka_unit_test(a_workspace_is_read_only_unless_rw_is_said),
        cmocka_unit_test(an_option_with_a_value_is_said_once),
        cmocka_unit_test(json_is_found_on_a_command_line_that_is_wrong),
        cmocka_unit_test(a_path_that_cannot_be_looked_at_is_not_code),
        cmocka_unit_test(help_has_every_option_of_a_command),
        cmocka_unit_test(the_nearest_word_is_near),
    };

    cli_start(&start);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
