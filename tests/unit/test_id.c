/* SPDX-License-Identifier: Apache-2.0 */
/* test_id - ids are well formed, differ, and sort by time. */
#include "src/base/id.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "src/base/auto.h"

static void an_id_is_valid_and_never_the_same(void **state)
{
    char ids[1000][ID_SIZE];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        assert_int_equal(id_new(ids[i], NULL), 0);
        assert_int_equal(strlen(ids[i]), ID_LEN);
        assert_true(id_valid(ids[i], strlen(ids[i])));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(ids[i], ids[k]);
    }
}

static void a_later_id_sorts_after_an_earlier_one(void **state)
{
    char last[ID_SIZE], next[ID_SIZE];

    (void)state;
    assert_int_equal(id_new(last, NULL), 0);
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        assert_int_equal(id_new(next, NULL), 0);
        assert_true(strcmp(last, next) < 0);
        memcpy(last, next, sizeof(last));
    }
}

static void other_texts_are_no_ids(void **state)
{
    static const char *const rows[] = {
        "",
        "01jz",
        "01jzzzzzzzzzzzzzzzzzzzzzzzz",
        "81jzzzzzzzzzzzzzzzzzzzzzzz",
        "01JZZZZZZZZZZZZZZZZZZZZZZZ",
        "01jzzzzzzzz../zzzzzzzzzzzz",
        "01jzzzzzzzzzzzzzzzzzzzzzzu",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_false(id_valid(rows[i], strlen(rows[i])));
    assert_false(id_valid("01jzzzzzzzzzzzzzzzzzzzzz\0z", 26));
    assert_true(id_valid("01jzzzzzzzzzzzzzzzzzzzzzzz", 26));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_valid_and_never_the_same),
        cmocka_unit_test(a_later_id_sorts_after_an_earlier_one),
        cmocka_unit_test(other_texts_are_no_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
