/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits - text to numbers, numbers to text, and what is refused. */
#include "src/core/limits.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "src/base/auto.h"

static void good_texts_become_numbers(void **state)
{
    static const struct {
        const char *option;
        const char *text;
        uint64_t value;
    } rows[] = {
        {"mem", "256M", 256u << 20},
        {"mem", "1.5G", UINT64_C(1536) << 20},
        {"mem", "16777216", 16u << 20},
        {"mem", "64m", 64u << 20},
        {"mem", "1T", UINT64_C(1) << 40},
        {"mem", "8M", 8u << 20},
        {"disk", "64K", 64u << 10},
        {"output", "0", 0},
        {"output", "100", 100},
        {"cpu", "1", 1000},
        {"cpu", "0.5", 500},
        {"cpu", "1.25", 1250},
        {"cpu-time", "10s", 10000},
        {"cpu-time", "500ms", 500},
        {"cpu-time", "1", 1000},
        {"cpu-time", "0.25", 250},
        {"wall", "2m", 120000},
        {"wall", "1h", 3600000},
        {"wall", "1.5h", 5400000},
        {"wall", "604800", UINT64_C(604800000)},
        {"pids", "1", 1},
        {"pids", "0064", 64},
        {"inodes", "4294967296", UINT64_C(1) << 32},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct limit_row *row = limit_find(rows[i].option);
        struct limits l = limits_default();
        struct err err = {0};

        assert_non_null(row);
        if (limits_parse(&l, row, rows[i].text, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(limits_get(&l, row), rows[i].value);
    }
}

static void bad_texts_are_refused_and_change_nothing(void **state)
{
    static const char *const rows[][2] = {
        {"mem", ""},           {"mem", "12Q"},
        {"mem", "-1"},         {"mem", "+256M"},
        {"mem", " 256M"},      {"mem", "256M "},
        {"mem", "256 M"},      {"mem", "0x1000000"},
        {"mem", "1e9"},        {"mem", ".5G"},
        {"mem", "1.G"},        {"mem", "1.5"},
        {"mem", "1.2.3G"},     {"mem", "256MB"},
        {"mem", "M"},          {"mem", "7M"},
        {"mem", "2T"},         {"mem", "18446744073709551616"},
        {"mem", "16777216T"},  {"mem", "18446744073709551615T"},
        {"mem", "10s"},        {"mem", "1.1234567G"},
        {"mem", "inf"},        {"mem", "0"},
        {"cpu", "0"},          {"cpu", "1.5x"},
        {"cpu", "0.001"},      {"cpu", "2000"},
        {"wall", "0"},         {"wall", "10S"},
        {"wall", "10M"},       {"wall", "1.5ms"},
        {"wall", "8d"},        {"wall", "169h"},
        {"wall", "1h30m"},     {"pids", "1.5"},
        {"pids", "1K"},        {"pids", "0"},
        {"pids", "unlimited"}, {"pids", "99999999999999999999"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct limit_row *row = limit_find(rows[i][0]);
        struct limits l = limits_default();
        const struct limits before = l;
        struct err err = {0};

        assert_non_null(row);
        if (limits_parse(&l, row, rows[i][1], &err) == 0)
            fail_msg("--%s took \"%s\"", rows[i][0], rows[i][1]);
        assert_int_equal(err.code, ERR_INVALID);
        assert_non_null(strstr(err.text, row->option));
        assert_memory_equal(&l, &before, sizeof(l));
    }
}

static void an_error_says_what_was_expected(void **state)
{
    struct limits l = limits_default();
    struct err err = {0};

    (void)state;
    limits_parse(&l, limit_find("mem"), "12Q", &err);
    assert_string_equal(err.text,
                        "--mem: \"12Q\" is not a size such as 256M (8M to 1T)");
    limits_parse(&l, limit_find("mem"), "4M", &err);
    assert_string_equal(err.text, "--mem: 4M is outside 8M to 1T");
    limits_set(&l, limit_find("pids"), 0, &err);
    assert_string_equal(err.text, "pids: 0 is outside 1 to 1048576");
}

static void a_formatted_value_parses_to_itself(void **state)
{
    static const uint64_t more[] = {
        1,        999,     1000,    1023,    1024,     1500,
        90000,    3599999, 3600000, 1048575, 1u << 20, UINT64_C(3) << 29,
        123456789};

    (void)state;
    for (size_t i = 0; i < limit_row_count; i++) {
        const struct limit_row *row = &limit_rows[i];

        for (size_t k = 0; k < ARRAY_LEN(more) + 3; k++) {
            uint64_t v = k == 0   ? row->def
                         : k == 1 ? row->min
                         : k == 2 ? row->max
                                  : more[k - 3];
            struct limits l = limits_default();
            struct err err = {0};
            char text[40];

            if (v < row->min || v > row->max)
                continue;
            limit_format(row, v, text, sizeof(text));
            if (limits_parse(&l, row, text, &err) < 0)
                fail_msg("%s", err.text);
            assert_int_equal(limits_get(&l, row), v);
        }
    }
}

static void values_are_written_as_people_would(void **state)
{
    static const struct {
        const char *option;
        uint64_t value;
        const char *text;
    } rows[] = {
        {"mem", 256u << 20, "256M"}, {"mem", UINT64_C(3) << 29, "1.5G"},
        {"mem", 1000, "1000"},       {"mem", 0, "0"},
        {"cpu", 1000, "1"},          {"cpu", 1250, "1.25"},
        {"cpu", 10, "0.01"},         {"wall", 30000, "30s"},
        {"wall", 500, "500ms"},      {"wall", 1500, "1.5s"},
        {"wall", 90000, "90s"},      {"wall", 120000, "2m"},
        {"wall", 604800000, "168h"}, {"pids", 64, "64"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[40];

        limit_format(limit_find(rows[i].option), rows[i].value, text,
                     sizeof(text));
        assert_string_equal(text, rows[i].text);
    }
}

static void defaults_lie_within_their_bounds(void **state)
{
    const struct limits l = limits_default();

    (void)state;
    for (size_t i = 0; i < limit_row_count; i++) {
        uint64_t v = limits_get(&l, &limit_rows[i]);

        assert_true(v >= limit_rows[i].min && v <= limit_rows[i].max);
        assert_int_equal(v, limit_rows[i].def);
    }
    assert_int_equal(l.mem_bytes, 256u << 20);
    assert_null(limit_find("memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts_become_numbers),
        cmocka_unit_test(bad_texts_are_refused_and_change_nothing),
        cmocka_unit_test(an_error_says_what_was_expected),
        cmocka_unit_test(a_formatted_value_parses_to_itself),
        cmocka_unit_test(values_are_written_as_people_would),
        cmocka_unit_test(defaults_lie_within_their_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
