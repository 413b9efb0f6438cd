/* SPDX-License-Identifier: Apache-2.0 */
/* test_record - one line: what is written, what is read, what is cut. */
#include "src/core/record.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/core/boundary.h"

static struct record head(void)
{
    struct record r = {.seq = 7,
                       .prev = RECORD_GENESIS,
                       .run = "01jzzzzzzzzzzzzzzzzzzzzzzz",
                       .kind = "file.in"};

    rfc3339_format(UINT64_C(1790856000123456), r.time);
    return r;
}

/* The line of these fields, without its newline. */
static struct buf line_of(const struct record *r, const char *order,
                          json_t *fields)
{
    char hash[SHA256_HEX_SIZE];
    char again[SHA256_HEX_SIZE];
    struct err err = {0};
    struct buf line;

    buf_init(&line, RECORD_LINE_MAX);
    if (record_compose(r, order, fields, &line, hash, &err) < 0)
        fail_msg("%s", err.text);
    json_decref(fields);
    assert_int_equal(line.data[line.len - 1], '\n');
    line.data[--line.len] = '\0';
    sha256_of(line.data, line.len, again);
    assert_string_equal(hash, again);
    return line;
}

static void a_line_has_its_envelope_and_its_fields_in_order(void **state)
{
    struct record r = head();
    AUTO(buf)
    struct buf line = line_of(&r, "host path size",
                              json_pack("{s:i,s:s,s:s}", "size", 3, "path",
                                        "/a\033[31m\xc2\x9b", "host", "/h"));

    (void)state;
    assert_int_equal(line.len, strlen(line.data));
    *strstr(line.data, ",\"self\"") = '\0';
    assert_string_equal(
        line.data,
        "{\"seq\":7,\"time\":\"2026-10-01T12:00:00.123456Z\",\"prev\":\"" //
        RECORD_GENESIS "\",\"run\":\"01jzzzzzzzzzzzzzzzzzzzzzzz\","
        "\"kind\":\"file.in\",\"host\":\"/h\","
        "\"path\":\"/a\\u001B[31m\\u009B\",\"size\":3");
}

static void a_line_reads_back_and_is_json(void **state)
{
    struct record r = head();
    AUTO(buf)
    struct buf line = line_of(&r, "path", json_pack("{s:s}", "path", "\"\\\n"));
    struct record back;
    json_t *json = json_loadb(line.data, line.len, 0, NULL);

    (void)state;
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "path")),
                        "\"\\\n");
    json_decref(json);
    assert_int_equal(record_parse(line.data, line.len, &back), 0);
    assert_memory_equal(&back, &r, sizeof(r));
}

static void every_changed_byte_is_noticed(void **state)
{
    struct record r = head();
    AUTO(buf)
    struct buf line = line_of(&r, "path", json_pack("{s:s}", "path", "/x"));
    struct record back;

    (void)state;
    r.run[0] = '\0';
    for (size_t i = 0; i < line.len; i++) {
        char old = line.data[i];

        line.data[i] = old == '1' ? '2' : '1';
        assert_int_equal(record_parse(line.data, line.len, &back), -1);
        line.data[i] = old;
        assert_int_equal(record_parse(line.data, i, &back), -1);
    }
    assert_int_equal(record_parse(line.data, line.len, &back), 0);
    assert_false(record_changed(line.data, line.len));
    strstr(line.data, "/x")[1] = 'y';
    assert_true(record_changed(line.data, line.len));
}

static void a_field_that_the_table_does_not_name_is_our_bug(void **state)
{
    struct record r = head();
    json_t *fields = json_pack("{s:i,s:i}", "path", 1, "pth", 2);
    AUTO(buf) struct buf out;
    char hash[SHA256_HEX_SIZE];
    struct err err = {0};

    (void)state;
    buf_init(&out, RECORD_LINE_MAX);
    assert_int_equal(record_compose(&r, "path", fields, &out, hash, &err), -1);
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_int_equal(out.len, 0);
    json_decref(fields);
}

static json_t *long_list(size_t count, size_t each)
{
    json_t *list = json_array();
    char *text = malloc(each + 1);

    memset(text, 'x', each);
    text[each] = '\0';
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(text));
    free(text);
    return list;
}

static json_t *big_string(const char *unit, size_t count)
{
    size_t len = strlen(unit);
    char *text = malloc(len * count + 1);
    json_t *out;

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * len, unit, len);
    out = json_stringn(text, len * count);
    free(text);
    return out;
}

static void too_long_fields_are_cut_with_a_mark(void **state)
{
    const char *order = "lang argv env reason";
    json_t *const values[] = {
        long_list(100000, 2),
        long_list(3, 1u << 20),
        long_list(2000, 3000),
        big_string("\xf0\x9f\x98\x80", 30000),
        big_string("\001", 100000),
        big_string("\xc3\xa9", 65000),
        big_string("abc", 1000000),
        json_pack("[[[o]]]", long_list(9, 60000)),
        json_pack("{s:o,s:o}", "a", long_list(9, 60000), "b",
                  big_string("y", 60000)),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct record r = head();
        AUTO(buf)
        struct buf line = line_of(&r, order,
                                  json_pack("{s:s,s:O,s:O,s:o}", "lang",
                                            "python", "argv", values[i], "env",
                                            values[i], "reason", values[i]));
        json_t *json = json_loadb(line.data, line.len, 0, NULL);
        struct record back;

        assert_true(line.len < RECORD_LINE_MAX);
        assert_true(line.len > RECORD_LINE_MAX / 2);
        assert_non_null(json);
        assert_int_equal(json_typeof(json_object_get(json, "argv")),
                         i < 3 || i == 7 ? JSON_ARRAY
                         : i == 8        ? JSON_OBJECT
                                         : JSON_STRING);
        assert_string_equal(json_string_value(json_object_get(json, "lang")),
                            "python");
        assert_non_null(strstr(line.data, " more"));
        assert_int_equal(record_parse(line.data, line.len, &back), 0);
        json_decref(json);
    }
}

static void the_table_of_events_fits_a_line(void **state)
{
    static const char *const taken[] = {"seq", "time", "prev",
                                        "run", "kind", "self"};

    (void)state;
    for (int k = EVENT_NONE + 1; k < EVENT_COUNT; k++) {
        char names[512];

        assert_true(strlen(event_rows[k].name) <= RECORD_KIND_MAX);
        assert_int_equal(
            strspn(event_rows[k].name, "abcdefghijklmnopqrstuvwxyz._"),
            strlen(event_rows[k].name));
        assert_true(strlen(event_rows[k].fields) < sizeof(names));
        strcpy(names, event_rows[k].fields);
        for (char *n = strtok(names, " "); n != NULL; n = strtok(NULL, " ")) {
            assert_true(strlen(n) < 48);
            for (size_t i = 0; i < ARRAY_LEN(taken); i++)
                assert_string_not_equal(n, taken[i]);
        }
    }
}

static void times_are_written_and_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t us;
    } rows[] = {
        {"1970-01-01T00:00:00.000000Z", 0},
        {"2000-02-29T23:59:59.999999Z", UINT64_C(951868799999999)},
        {"2026-10-01T12:00:00.123456Z", UINT64_C(1790856000123456)},
        {"2100-03-01T00:00:00.000000Z", UINT64_C(4107542400000000)},
        {"9999-12-31T23:59:59.999999Z", UINT64_C(253402300799999999)},
    };
    static const char *const bad[] = {
        "",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "1969-12-31",
        "2026-10-01T12:00:00",
        "2026-10-01T25:00:00Z",
        "2026-10-01T12:00:00.Z",
        "2026-10-01T12:00:00Zx",
        "2026-10-01T12:00:00+2:00",
        "1970-01-01T00:00:00+01:00",
        "2026-10-0112:00:00Z",
    };
    char text[RFC3339_SIZE];
    uint64_t us, same;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        rfc3339_format(rows[i].us, text);
        assert_string_equal(text, rows[i].text);
        assert_int_equal(rfc3339_parse(text, &us), 0);
        assert_int_equal(us, rows[i].us);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(rfc3339_parse(bad[i], &us), -1);
    for (uint64_t day = 0; day < 80000; day++) {
        rfc3339_format(day * UINT64_C(86400000000), text);
        assert_int_equal(rfc3339_parse(text, &us), 0);
        assert_int_equal(us, day * UINT64_C(86400000000));
    }
    assert_int_equal(rfc3339_parse("2026-10-01T14:00:00+02:00", &us), 0);
    assert_int_equal(rfc3339_parse("2026-10-01 12:00:00z", &same), 0);
    assert_int_equal(us, same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_its_envelope_and_its_fields_in_order),
        cmocka_unit_test(a_line_reads_back_and_is_json),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(a_field_that_the_table_does_not_name_is_our_bug),
        cmocka_unit_test(too_long_fields_are_cut_with_a_mark),
        cmocka_unit_test(the_table_of_events_fits_a_line),
        cmocka_unit_test(times_are_written_and_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
