/* SPDX-License-Identifier: Apache-2.0 */
/* bubblewrap's command line, as a request. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/bwrap.h"

#define WORDS_MAX 24
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *fed; /* what every descriptor holds */
static size_t fed_len;

static int feed(int fd, struct buf *out, struct err *err)
{
    (void)fd;
    return buf_add(out, fed, fed_len, err);
}

struct parsed {
    struct run_args args;
    struct bwrap b;
    struct option_scan scan;
    struct err err;
};

static int parse(struct parsed *p, const char *const *words)
{
    static char *argv[WORDS_MAX + 2];
    int argc = 0;

    *p = (struct parsed){.b = {.args = &p->args, .read_fd = feed}};
    argv[argc++] = (char *)(uintptr_t) "bwrap";
    for (; *words != NULL && argc < WORDS_MAX; words++)
        argv[argc++] = (char *)(uintptr_t)*words;
    argv[argc] = NULL;
    p->args.req.limits = limits_default();
    p->args.req.view = p->b.view = calloc(1, sizeof(*p->b.view));
    assert_non_null(p->b.view);
    p->scan = option_scan(VERB_BWRAP, argc, argv);
    return bwrap_parse(&p->b, &p->scan, &p->err);
}

static void done(struct parsed *p)
{
    bwrap_fini(&p->b);
    run_args_fini(&p->args);
}

static void expect_refused(const char *const *words, const char *said)
{
    struct parsed p;

    assert_int_equal(parse(&p, words), -1);
    assert_int_equal(p.err.code, ERR_INVALID);
    if (strstr(p.err.text, said) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", said, p.err.text);
    done(&p);
}

static void rows_come_in_the_order_of_the_words(void **state)
{
    struct parsed p;

    (void)state;
    assert_int_equal(parse(&p, WORDS("--tmpfs", "/a/", "--ro-bind", "/usr",
                                     "//usr", "--bind", "/tmp", "/./t",
                                     "--symlink", "x", "/l", "sh")),
                     0);
    assert_int_equal(p.b.view->count, 4);
    assert_int_equal(p.b.view->rows[0].kind, VIEW_DIR);
    assert_string_equal(p.b.view->rows[0].target, "/a");
    assert_string_equal(p.b.view->rows[1].target, "/usr");
    assert_true(!p.b.view->rows[1].rw && p.b.view->rows[1].system);
    assert_string_equal(p.b.view->rows[2].target, "/t");
    assert_true(p.b.view->rows[2].rw && !p.b.view->rows[2].system);
    assert_int_equal(p.b.view->rows[3].kind, VIEW_LINK);
    assert_string_equal(p.scan.argv[p.scan.at], "sh");
    done(&p);
}

static void options_end_at_the_command(void **state)
{
    struct parsed p;

    (void)state;
    assert_int_equal(
        parse(&p, WORDS("--dir", "/d", "echo", "--bind", "/", "/x")), 0);
    assert_int_equal(p.b.view->count, 1);
    assert_string_equal(p.scan.argv[p.scan.at], "echo");
    done(&p);
    assert_int_equal(parse(&p, WORDS("--dir", "/d", "--", "--bind", "/", "/x")),
                     0);
    assert_int_equal(p.b.view->count, 1);
    assert_string_equal(p.scan.argv[p.scan.at], "--bind");
    done(&p);
}

/* A value is a value, also when it looks like an option. */
static void a_value_is_taken_as_it_is(void **state)
{
    struct parsed p;

    (void)state;
    assert_int_equal(parse(&p, WORDS("--setenv", "A", "--bind", "--symlink",
                                     "--", "/l", "--", "x")),
                     0);
    assert_string_equal(p.b.env_steps.at[0], "=A=--bind");
    assert_string_equal(p.b.view->rows[0].source, "--");
    done(&p);
}

static void the_whole_host_is_shown_by_its_names(void **state)
{
    struct parsed p;

    (void)state;
    assert_int_equal(parse(&p, WORDS("--ro-bind", "/", "/", "x")), 0);
    assert_true(p.b.view->sys && p.b.view->count > 3);
    for (size_t i = 0; i < p.b.view->count; i++) {
        const struct view_row *r = &p.b.view->rows[i];

        assert_true(!r->rw && r->system);
        assert_string_not_equal(r->target, "/proc");
        assert_string_not_equal(r->target, "/dev");
        assert_string_not_equal(r->target, "/sys");
    }
    done(&p);
}

static void what_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    expect_refused(WORDS("--bind", "/", "/", "x"), "--bind");
    expect_refused(WORDS("--ro-bind", "/", "/host", "x"), "--ro-bind");
    expect_refused(WORDS("--share-net", "x"), "--share-net");
    expect_refused(WORDS("--dev-bind", "/", "/", "x"), "--dev-bind");
    expect_refused(WORDS("--tmpfs", "/a/../b", "x"), "--tmpfs");
    expect_refused(WORDS("--proc", "/other", "x"), "--proc");
    expect_refused(WORDS("--perms", "0700", "--proc", "/proc", "x"), "--perms");
    expect_refused(WORDS("--perms", "0700"), "--perms");
    expect_refused(WORDS("--perms", "9", "--dir", "/d", "x"), "--perms");
    expect_refused(WORDS("--uid", "-1", "x"), "--uid");
    expect_refused(WORDS("--uid", "4294967296", "x"), "--uid");
    expect_refused(WORDS("--bind", "/usr"), "--bind");
    expect_refused(WORDS("--ro-bin", "/", "/"), "--ro-bin");
    expect_refused(WORDS("--remount-ro", "/x", "x"), "--remount-ro");
    expect_refused(WORDS("--tier", "process", "x"), "--tier");
    expect_refused(WORDS("--json", "x"), "--json");
}

static void a_place_that_is_not_there_is_only_tried(void **state)
{
    struct parsed p;

    (void)state;
    assert_int_equal(parse(&p, WORDS("--ro-bind-try", "/no/such", "/x", "x")),
                     0);
    assert_int_equal(p.b.view->count, 0);
    done(&p);
    assert_int_equal(parse(&p, WORDS("--ro-bind", "/no/such", "/x", "x")), -1);
    assert_int_equal(p.err.code, ERR_HOST);
    done(&p);
}

static void data_is_words_with_a_nul_behind_each(void **state)
{
    static const char good[] = "--dir\0/d\0--setenv\0A\0";
    struct parsed p;

    (void)state;
    fed = good;
    fed_len = sizeof(good); /* the value of A is empty */
    assert_int_equal(parse(&p, WORDS("--args", "9", "x")), 0);
    assert_int_equal(p.b.view->count, 1);
    assert_string_equal(p.b.env_steps.at[0], "=A=");
    done(&p);
    fed_len = sizeof(good) - 1;
    expect_refused(WORDS("--args", "9", "x"), "--args");
    fed = "--dir\0/d";
    fed_len = 8;
    expect_refused(WORDS("--args", "9", "x"), "no NUL");
    fed = "sh\0";
    fed_len = 3;
    expect_refused(WORDS("--args", "9", "x"), "no option");
    fed = "--args\0"
          "9\0";
    fed_len = 9;
    expect_refused(WORDS("--args", "9", "x"), "within");
}

static void too_much_is_an_error(void **state)
{
    char *many = malloc(BWRAP_DATA_MAX + 1);

    (void)state;
    assert_non_null(many);
    memset(many, 0, BWRAP_DATA_MAX + 1);
    fed = many;
    fed_len = BWRAP_WORDS_MAX + 1;
    expect_refused(WORDS("--args", "9", "x"), "--args");
    fed_len = VIEW_BYTES_MAX + 1;
    {
        struct parsed p;

        assert_int_equal(parse(&p, WORDS("--file", "9", "/f", "x")), -1);
        done(&p);
    }
    for (size_t i = 0; i < 200; i++)
        memcpy(many + i * 9, "--dir\0/d\0", 9);
    fed_len = 200 * 9;
    expect_refused(WORDS("--args", "9", "x"), "--dir");
    free(many);
}

static void expect_env(const char *const *words, const char *const *mine,
                       const char *const *want)
{
    struct strs env = {0};
    struct parsed p;
    size_t i;

    assert_int_equal(parse(&p, words), 0);
    assert_int_equal(
        bwrap_env(&p.b, (char *const *)(uintptr_t)mine, &env, &p.err), 0);
    for (i = 0; want[i] != NULL; i++)
        assert_string_equal(env.at[i], want[i]);
    assert_int_equal(env.len, i);
    strs_fini(&env);
    done(&p);
}

static void the_environment_is_what_is_usual_and_what_is_said(void **state)
{
    const char *const *mine =
        WORDS("PATH=/bin", "KEY=hush", "LC_ALL=C", "HOME=/h", "=x", "PATHS=1");

    (void)state;
    expect_env(WORDS("x"), mine, WORDS("PATH=/bin", "LC_ALL=C", "HOME=/h"));
    expect_env(WORDS("--setenv", "PATH", "/p", "--unsetenv", "HOME", "x"), mine,
               WORDS("LC_ALL=C", "PATH=/p"));
    expect_env(
        WORDS("--setenv", "A", "1", "--clearenv", "--setenv", "B", "2", "x"),
        mine, WORDS("B=2"));
    expect_env(WORDS("--inherit-env", "--unsetenv", "PATHS", "x"), mine,
               WORDS("PATH=/bin", "KEY=hush", "LC_ALL=C", "HOME=/h"));
}

static void limits_are_karzers_own_options(void **state)
{
    struct parsed p;

    (void)state;
    assert_int_equal(parse(&p, WORDS("--dir", "/d", "--mem", "64M", "--pids=7",
                                     "--may-lack", "swap", "x")),
                     0);
    assert_int_equal(p.args.req.limits.mem_bytes, 64u << 20);
    assert_int_equal(p.args.req.limits.pids, 7);
    assert_int_equal(__builtin_popcountll(p.b.limits_said), 2);
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_the_order_of_the_words),
        cmocka_unit_test(options_end_at_the_command),
        cmocka_unit_test(a_value_is_taken_as_it_is),
        cmocka_unit_test(the_whole_host_is_shown_by_its_names),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(a_place_that_is_not_there_is_only_tried),
        cmocka_unit_test(data_is_words_with_a_nul_behind_each),
        cmocka_unit_test(too_much_is_an_error),
        cmocka_unit_test(the_environment_is_what_is_usual_and_what_is_said),
        cmocka_unit_test(limits_are_karzers_own_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
