/* SPDX-License-Identifier: Apache-2.0 */
/* What a client asks for: pairs, names, contradictions. */
#include "src/core/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "abi/holder.h"
#include "abi/runtime.h"
#include "src/base/id.h"

static int set_up(void **state)
{
    struct request *req = calloc(1, sizeof(*req));

    *state = req;
    if (req == NULL || request_init(req, NULL) < 0)
        return -1;
    return strs_add(&req->argv, "true", NULL);
}

static int tear_down(void **state)
{
    request_fini(*state);
    free(*state);
    return 0;
}

static void a_new_request_has_an_id_and_bounded_defaults(void **state)
{
    struct request *req = *state;

    assert_true(id_valid(req->id, strlen(req->id)));
    assert_int_equal(req->limits.mem_bytes, 256 << 20);
    assert_true(req->limits.wall_ms > 0 && req->limits.pids > 0);
    assert_int_equal(request_check(req, NULL), 0);
}

static void a_colon_in_a_name_is_written_with_a_backslash(void **state)
{
    struct request *req = *state;

    assert_int_equal(request_add_in(req, "a\\:b:/c\\\\d", NULL), 0);
    assert_string_equal(req->in[0].from, "a:b");
    assert_string_equal(req->in[0].to, "/c\\d");
}

static void a_pair_needs_two_sides_and_only_two(void **state)
{
    static const char *const bad[] = {"", ":", "a", "a:", ":b", "a:b:c"};
    struct request *req = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(request_add_in(req, bad[i], NULL), -1);
        assert_int_equal(request_add_out(req, bad[i], NULL), -1);
    }
    assert_int_equal(req->in_count + req->out_count, 0);
}

static void a_cell_path_that_ends_in_a_slash_is_a_directory(void **state)
{
    static const struct {
        const char *text, *to; /* NULL: refused */
    } rows[] = {
        {"d/a:/tmp/", "/tmp/a"},    {"a:x/", "x/a"},
        {"/d/a//:/tmp/", "/tmp/a"}, {".a:/tmp/", "/tmp/.a"},
        {"a:/tmp", "/tmp"},         {".:/tmp/", NULL},
        {"../..:/tmp/", NULL},      {"d/./:/tmp/", NULL},
        {"/:/tmp/", NULL},          {".:/tmp/x", "/tmp/x"},
    };
    struct request *req = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = {0};
        size_t at = req->in_count;

        if (rows[i].to == NULL) {
            assert_int_equal(request_add_in(req, rows[i].text, &err), -1);
            assert_non_null(strstr(err.text, "--in: "));
            assert_non_null(strstr(err.text, "no name"));
            assert_int_equal(req->in_count, at);
            continue;
        }
        assert_int_equal(request_add_in(req, rows[i].text, &err), 0);
        assert_string_equal(req->in[at].to, rows[i].to);
    }
}

static void files_have_a_cap(void **state)
{
    struct request *req = *state;

    for (unsigned i = 0; i < REQUEST_FILES_MAX; i++)
        assert_int_equal(request_add_in(req, "a:b", NULL), 0);
    assert_int_equal(request_add_in(req, "a:b", NULL), -1);
}

static void may_lack_takes_names_of_mechanisms_only(void **state)
{
    struct request *req = *state;

    assert_int_equal(request_add_may_lack(req, "swap", NULL), 0);
    assert_int_equal(req->may_lack, 1u << HOLDER_SWAP);
    assert_int_equal(request_add_may_lack(req, "everything", NULL), -1);
    assert_int_equal(request_add_may_lack(req, "", NULL), -1);
}

static void no_command_is_refused(void **state)
{
    struct request *req = *state;

    strs_fini(&req->argv);
    assert_int_equal(request_check(req, NULL), -1);
    strs_add(&req->argv, "", NULL);
    assert_int_equal(request_check(req, NULL), -1);
}

static void an_unknown_language_is_refused(void **state)
{
    struct request *req = *state;

    req->lang = strdup("cobol");
    assert_int_equal(request_check(req, NULL), -1);
}

static void an_environment_entry_without_a_name_is_refused(void **state)
{
    struct request *req = *state;

    strs_add(&req->env, "=x", NULL);
    assert_int_equal(request_check(req, NULL), -1);
}

static void code_has_a_cap(void **state)
{
    struct request *req = *state;

    req->lang = strdup("python");
    req->code_len = RUNTIME_CODE_MAX + 1;
    assert_int_equal(request_check(req, NULL), -1);
}

static void arguments_have_a_cap_together(void **state)
{
    struct request *req = *state;
    char *big = calloc(1, 600000);

    memset(big, 'x', 599999);
    strs_add(&req->argv, big, NULL);
    assert_int_equal(request_check(req, NULL), 0);
    strs_add(&req->argv, big, NULL);
    assert_int_equal(request_check(req, NULL), -1);
    free(big);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_new_request_has_an_id_and_bounded_defaults),
        T(a_colon_in_a_name_is_written_with_a_backslash),
        T(a_pair_needs_two_sides_and_only_two),
        T(a_cell_path_that_ends_in_a_slash_is_a_directory),
        T(files_have_a_cap),
        T(may_lack_takes_names_of_mechanisms_only),
        T(no_command_is_refused),
        T(an_unknown_language_is_refused),
        T(an_environment_entry_without_a_name_is_refused),
        T(code_has_a_cap),
        T(arguments_have_a_cap_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
