/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_boundary - the record's chain: what verify finds, torn ends, a full
 * disk, what comes back by a filter and for a result.
 */
#include "src/core/boundary.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "src/core/record.h"
#include "tests/unit/boundary_dir.h"

static void a_chain_of_records_is_whole(void **state)
{
    char first[100], last[100];
    struct stat st;

    (void)state;
    assert_int_equal(good(NULL), 0);
    assert_int_equal(boundary_head(dir, first, sizeof(first), NULL), 0);
    assert_string_equal(first, "0 " RECORD_GENESIS);
    made(3);
    assert_int_equal(boundary_head(dir, first, sizeof(first), NULL), 0);
    assert_memory_equal(first, "3 ", 2);
    made(2);
    assert_int_equal(good(NULL), 5);
    assert_int_equal(good(first), 5);
    assert_int_equal(good("0 " RECORD_GENESIS), 5);
    assert_int_equal(boundary_head(dir, last, sizeof(last), NULL), 0);
    assert_int_equal(good(last), 5);
    assert_int_equal(stat(path("boundary.jsonl"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* Lines of five records, 1 to 5, that are put together anew. */
static char *lines[6];

static void shuffled(const char *order)
{
    char data[8192] = "";

    for (; *order != '\0'; order++) {
        strcat(data, lines[*order - '0']);
        strcat(data, "\n");
    }
    spit("boundary.jsonl", data, strlen(data));
}

static void what_was_done_to_lines_is_found(void **state)
{
    char head[100];
    size_t len;
    AUTO(mem) char *data = NULL;
    char *save = NULL;
    char *old;

    (void)state;
    made(5);
    assert_int_equal(boundary_head(dir, head, sizeof(head), NULL), 0);
    data = slurp("boundary.jsonl", &len);
    for (int i = 1; i <= 5; i++)
        lines[i] = strtok_r(i == 1 ? data : NULL, "\n", &save);
    shuffled("12345");
    assert_int_equal(good(head), 5);
    shuffled("1245");
    bad(NULL, "jsonl:3: record 4 stands where record 3 belongs");
    shuffled("13245");
    bad(NULL, "jsonl:2: record 3 stands where record 2 belongs");
    shuffled("122345");
    bad(NULL, "jsonl:3: record 2 stands where record 3 belongs");
    shuffled("2345");
    bad(NULL, "jsonl:1: record 2 stands where record 1 belongs");
    shuffled("1234");
    assert_int_equal(good(NULL), 4);
    bad(head, "its end was cut off");
    spit("boundary.jsonl", "", 0);
    bad(head, "its end was cut off");
    for (int i = 1; i <= 5; i++) {
        char want[40];

        old = strstr(lines[i], "/some");
        old[1] = 'S';
        shuffled("12345");
        snprintf(want, sizeof(want), "jsonl:%d: this line was changed", i);
        bad(NULL, want);
        old[1] = 's';
    }
    lines[0] = strdup("hello");
    shuffled("120345");
    bad(NULL, "jsonl:3: this line is not a record");
    free(lines[0]);
}

static void a_rewritten_chain_is_found_by_the_anchor(void **state)
{
    char head[100], other[100];

    (void)state;
    made(4);
    assert_int_equal(boundary_head(dir, head, sizeof(head), NULL), 0);
    assert_int_equal(unlink(path("boundary.jsonl")), 0);
    made(6);
    assert_int_equal(good(NULL), 6);
    bad(head, "was rewritten");
    assert_int_equal(boundary_head(dir, other, sizeof(other), NULL), 0);
    assert_int_equal(good(other), 6);
}

/* A line that carries right sums but another past. */
static void a_line_of_another_record_is_found(void **state)
{
    AUTO(mem) char *data = NULL;
    AUTO(mem) char *other = NULL;
    size_t len, other_len;
    char *second, *other_second;

    (void)state;
    made(2);
    data = slurp("boundary.jsonl", &len);
    unlink(path("boundary.jsonl"));
    made(2);
    other = slurp("boundary.jsonl", &other_len);
    second = strchr(data, '\n') + 1;
    other_second = strchr(other, '\n') + 1;
    assert_int_equal(strlen(second), strlen(other_second));
    strcpy(second, other_second);
    spit("boundary.jsonl", data, len);
    bad(NULL, "jsonl:2: does not follow the line before it");
}

static uint64_t torn_events;
static char torn_data[RECORD_LINE_MAX];

static int count_torn(const json_t *record, void *ctx)
{
    const json_t *data = json_object_get(record, "data");

    (void)ctx;
    torn_events++;
    strncpy(torn_data, json_string_value(data), sizeof(torn_data) - 1);
    return 0;
}

static void a_torn_end_is_said_to_be_torn_and_kept_in_an_event(void **state)
{
    const struct boundary_filter torn = {.kind = "record.torn"};
    AUTO(mem) char *data = NULL;
    size_t len, last;

    (void)state;
    made(3);
    data = slurp("boundary.jsonl", &len);
    last = (size_t)((char *)memrchr(data, '\n', len - 1) - data) + 1;
    for (size_t cut = last + 1; cut < len; cut += cut + 3 < len ? 3 : 1) {
        spit("boundary.jsonl", data, cut);
        bad(NULL, "jsonl:3: torn");
        made(1);
        assert_int_equal(good(NULL), 4);
        torn_events = 0;
        memset(torn_data, 0, sizeof(torn_data));
        assert_int_equal(boundary_read(dir, &torn, count_torn, NULL, NULL), 0);
        assert_int_equal(torn_events, 1);
        assert_int_equal(strlen(torn_data), cut - last);
        assert_memory_equal(torn_data, data + last, cut - last);
    }
}

/* What a power cut leaves: blocks of zeros, of any length, also alone. */
static void a_torn_end_of_zeros_is_kept_too(void **state)
{
    static const size_t sizes[] = {1, 4000, 70000, 300000, 900000};
    AUTO(mem) char *data = calloc(1, 1u << 20);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (int records = 0; records <= 2; records += 2) {
            AUTO(mem) char *old = NULL;
            size_t len;

            unlink(path("boundary.jsonl"));
            made(records);
            old = slurp("boundary.jsonl", &len);
            memcpy(data, old, len);
            memset(data + len, 0, sizes[i]);
            data[len] = (char)0xff;
            spit("boundary.jsonl", data, len + sizes[i]);
            made(1);
            assert_int_equal(good(NULL), records + 2);
        }
}

static void a_writer_does_not_go_on_after_a_changed_line(void **state)
{
    AUTO(mem) char *data = NULL;
    struct boundary *b;
    struct err err = {0};
    size_t len;

    (void)state;
    made(2);
    data = slurp("boundary.jsonl", &len);
    data[len - 40] ^= 1;
    spit("boundary.jsonl", data, len);
    b = opened();
    assert_int_equal(boundary_write(b, EVENT_FILE_IN, RUN, NULL, NULL, &err),
                     -1);
    assert_non_null(strstr(err.text, "karzer log verify"));
    assert_non_null(strstr(err.text, dir));
    boundary_close(b);
}

static void a_full_disk_leaves_the_record_whole(void **state)
{
    struct rlimit old, small;
    struct boundary *b = opened();
    struct err err = {0};
    uint64_t before;
    struct stat st;
    int rc = 0;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 3000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 20 && rc == 0; i++)
        rc = boundary_write(b, EVENT_FILE_IN, RUN,
                            json_pack("{s:i}", "size", i), NULL, &err);
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, ERR_HOST);
    assert_non_null(strstr(err.text, "too large"));
    assert_int_equal(stat(path("boundary.jsonl"), &st), 0);
    before = good(NULL);
    assert_true(before > 5 && before < 15);
    assert_int_equal(boundary_write(b, EVENT_FILE_IN, RUN, NULL, NULL, NULL),
                     -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    add(b, 1);
    assert_int_equal(good(NULL), before + 1);
    boundary_close(b);
}

/* Lines as writers leave them while the clock is set back and forth. */
static void clock_steps_change_neither_chain_nor_order(void **state)
{
    static const uint64_t hours[] = {500000, 500001, 400000, 900000, 500002};
    struct record head = {.prev = RECORD_GENESIS, .kind = "file.in"};
    char hash[SHA256_HEX_SIZE];
    struct boundary_sum sum = {0};
    AUTO(buf) struct buf text;

    (void)state;
    buf_init(&text, 1u << 20);
    for (size_t i = 0; i < ARRAY_LEN(hours); i++) {
        head.seq++;
        rfc3339_format(hours[i] * 3600 * 1000000u, head.time);
        assert_int_equal(record_compose(&head, "", NULL, &text, hash, NULL), 0);
        memcpy(head.prev, hash, sizeof(hash));
    }
    spit("boundary.jsonl", text.data, text.len);
    made(1); /* now is before the year 2072 and after 2015 */
    assert_int_equal(checked(NULL, &sum, NULL), 0);
    assert_int_equal(sum.lines, 6);
    assert_int_equal(sum.set_back, 3 - (rfc3339_now() / 3600000000u > 500002));
}

static int count_any(const json_t *record, void *ctx)
{
    assert_true(json_is_object(record));
    ++*(int *)ctx;
    return 0;
}

static int count_of(const char *run, const char *kind, const char *since)
{
    const struct boundary_filter f = {run, kind, since};
    struct err err = {0};
    int n = 0;

    return boundary_read(dir, &f, count_any, &n, &err) < 0 ? -1 : n;
}

static void filters_choose_records(void **state)
{
    struct boundary *b = opened();
    const char *other = "01jzzzzzzzzzzzzzzzzzzzzzzy";

    (void)state;
    add(b, 1);
    assert_int_equal(boundary_write(b, EVENT_FILE_OUT, other, NULL, NULL, NULL),
                     0);
    assert_int_equal(
        boundary_write(b, EVENT_RUN_REFUSED, NULL, NULL, NULL, NULL), 0);
    boundary_close(b);
    assert_int_equal(count_of(NULL, NULL, NULL), 3);
    assert_int_equal(count_of(RUN, NULL, NULL), 1);
    assert_int_equal(count_of(NULL, "file.", NULL), 2);
    assert_int_equal(count_of(NULL, "file.out", NULL), 1);
    assert_int_equal(count_of(other, "file.in", NULL), 0);
    assert_int_equal(count_of(NULL, NULL, "10m"), 3);
    assert_int_equal(count_of(NULL, NULL, "2020-01-01"), 3);
    assert_int_equal(count_of(NULL, NULL, "2100-01-01T00:00:00Z"), 0);
    assert_int_equal(count_of(NULL, NULL, "soon"), -1);
    assert_int_equal(count_of(NULL, NULL, "10"), -1);
}

static void an_event_is_copied_for_the_result(void **state)
{
    struct boundary *b = opened();
    json_t *copy = json_array();
    json_t *event;
    struct err err = {0};

    (void)state;
    assert_int_equal(boundary_write(b, EVENT_LIMIT_HIT, RUN,
                                    json_pack("{s:s}", "limit", "mem"), copy,
                                    NULL),
                     0);
    assert_int_equal(boundary_write(b, EVENT_LIMIT_HIT, RUN,
                                    json_pack("{s:s}", "limits", "mem"), copy,
                                    &err),
                     -1);
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_int_equal(
        boundary_write(b, EVENT_LIMIT_HIT, "../x", NULL, copy, NULL), -1);
    assert_int_equal(
        boundary_write(b, EVENT_LIMIT_HIT, RUN, json_array(), copy, NULL), -1);
    assert_int_equal(json_array_size(copy), 1);
    event = json_array_get(copy, 0);
    assert_string_equal(json_string_value(json_object_get(event, "kind")),
                        "limit.hit");
    assert_string_equal(json_string_value(json_object_get(event, "limit")),
                        "mem");
    assert_true(json_is_string(json_object_get(event, "time")));
    json_decref(copy);
    boundary_close(b);
    assert_int_equal(good(NULL), 1);
}

int main(void)
{
#define EACH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(a_chain_of_records_is_whole),
        EACH(what_was_done_to_lines_is_found),
        EACH(a_rewritten_chain_is_found_by_the_anchor),
        EACH(a_line_of_another_record_is_found),
        EACH(a_torn_end_is_said_to_be_torn_and_kept_in_an_event),
        EACH(a_torn_end_of_zeros_is_kept_too),
        EACH(a_writer_does_not_go_on_after_a_changed_line),
        EACH(a_full_disk_leaves_the_record_whole),
        EACH(clock_steps_change_neither_chain_nor_order),
        EACH(filters_choose_records),
        EACH(an_event_is_copied_for_the_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
