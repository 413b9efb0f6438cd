/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine says to a language driver, and how it starts one. */
#include "src/cell/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void a_block_is_encoded_whole(void **state)
{
    struct buf msg;
    static const char want[] = "\x10\0\0\0\1\0\0\0\1\0\0\0\5\0\0\0<c>.pa\0b";

    (void)state;
    buf_init(&msg, 100);
    assert_int_equal(
        runtime_code(&msg, RUNTIME_CODE_LAST, "<c>.p", "a\0b", 3, NULL), 0);
    assert_int_equal(msg.len, sizeof(want) - 1);
    assert_memory_equal(msg.data, want, msg.len);
    buf_fini(&msg);
}

static void a_block_that_does_not_fit_leaves_nothing(void **state)
{
    struct buf small;
    struct err err = {0};
    char name[RUNTIME_NAME_MAX + 2];

    (void)state;
    buf_init(&small, 20);
    assert_int_equal(buf_str(&small, "x", NULL), 0);
    assert_int_equal(runtime_code(&small, 0, "<code>", "12345", 5, &err), -1);
    assert_string_equal(buf_text(&small), "x");
    assert_int_equal(runtime_code(&small, 3, "<code>", "", 0, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_int_equal(runtime_code(&small, 4, "<code>", "", 0, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_int_equal(runtime_code(&small, 0, "", "", 0, &err), -1);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(runtime_code(&small, 0, name, "", 0, &err), -1);
    assert_int_equal(
        runtime_code(&small, 0, "n", "", RUNTIME_CODE_MAX + 1ul, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(buf_text(&small), "x");
    buf_fini(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_encoded_whole),
        cmocka_unit_test(a_block_that_does_not_fit_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
