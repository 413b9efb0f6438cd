/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of what a language driver says, against one that lies. */
#include "src/cell/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "src/base/auto.h"

/* What came through the calls, as a text. */
struct seen {
    struct buf text;
    struct buf msg; /* the message being made */
    struct runtime_parser p;
    int refuse; /* the calls return -1 */
};

static int on_result(void *ctx, uint32_t flags,
                     const struct runtime_mime *mimes, size_t count,
                     struct err *err)
{
    struct seen *s = ctx;

    assert_int_equal(buf_fmt(&s->text, NULL, "result %u:", flags), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(buf_fmt(&s->text, NULL, " %.*s=%.*s",
                                 (int)mimes[i].type_len, mimes[i].type,
                                 (int)mimes[i].data_len, mimes[i].data),
                         0);
    buf_str(&s->text, "\n", NULL);
    return s->refuse ? err_set(err, ERR_LIMIT, "enough") : 0;
}

static int on_error(void *ctx, uint32_t sys, const char *const text[3],
                    const size_t len[3], struct err *err)
{
    struct seen *s = ctx;

    (void)err;
    buf_fmt(&s->text, NULL, "error %u: %.*s|%.*s|%.*s\n", sys, (int)len[0],
            text[0], (int)len[1], text[1], (int)len[2], text[2]);
    return 0;
}

static int on_done(void *ctx, int32_t code, struct err *err)
{
    struct seen *s = ctx;

    (void)err;
    buf_fmt(&s->text, NULL, "done %d\n", code);
    return 0;
}

static const struct runtime_calls calls = {
    .result = on_result, .error = on_error, .done = on_done};

static int set_up(void **state)
{
    struct seen *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return -1;
    buf_init(&s->text, 1u << 20);
    buf_init(&s->msg, 40u << 20);
    runtime_parser_init(&s->p, &calls, s);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct seen *s = *state;

    runtime_parser_fini(&s->p);
    buf_fini(&s->text);
    buf_fini(&s->msg);
    free(s);
    return 0;
}

static void add(struct seen *s, const char *text, size_t len)
{
    assert_int_equal(buf_u32(&s->msg, (uint32_t)len, NULL), 0);
    assert_int_equal(buf_add(&s->msg, text, len, NULL), 0);
}

static void add_str(struct seen *s, const char *text)
{
    add(s, text, strlen(text));
}

static void begin(struct seen *s, uint32_t type)
{
    s->msg.len = 0;
    assert_int_equal(buf_u32(&s->msg, 0, NULL), 0);
    assert_int_equal(buf_u32(&s->msg, type, NULL), 0);
}

/* Puts the payload's size into the head. */
static void finish(struct seen *s)
{
    const uint32_t size = (uint32_t)(s->msg.len - 8);

    memcpy(s->msg.data, &size, sizeof(size));
}

static int feed(struct seen *s)
{
    struct err err = {0};
    int r;

    finish(s);
    r = runtime_feed(&s->p, s->msg.data, s->msg.len, &err);
    if (r < 0)
        assert_int_equal(err.code, s->refuse ? ERR_LIMIT : ERR_INVALID);
    return r;
}

static void make_result(struct seen *s, uint32_t flags, uint32_t count)
{
    begin(s, RUNTIME_RESULT);
    buf_u32(&s->msg, flags, NULL);
    buf_u32(&s->msg, count, NULL);
}

static void make_error(struct seen *s, uint32_t sys, const char *name,
                       const char *value, const char *trace)
{
    begin(s, RUNTIME_ERROR);
    buf_u32(&s->msg, sys, NULL);
    add_str(s, name);
    add_str(s, value);
    add_str(s, trace);
}

static void make_done(struct seen *s, uint32_t status)
{
    begin(s, RUNTIME_DONE);
    buf_u32(&s->msg, status, NULL);
}

static void each_kind_of_message_is_told(void **state)
{
    struct seen *s = *state;

    make_result(s, RUNTIME_RESULT_VALUE, 2);
    add_str(s, "text/plain");
    add_str(s, "5");
    add_str(s, "application/vnd.a+json");
    add_str(s, "");
    assert_int_equal(feed(s), 0);
    make_error(s, 28, "OSError", "full \xc3\xa9", "Traceback");
    assert_int_equal(feed(s), 0);
    make_done(s, (uint32_t)-2);
    assert_int_equal(feed(s), 0);
    assert_string_equal(buf_text(&s->text),
                        "result 1: text/plain=5 application/vnd.a+json=\n"
                        "error 28: OSError|full \xc3\xa9|Traceback\n"
                        "done -2\n");
    assert_false(runtime_partial(&s->p));
}

static void messages_in_pieces_of_any_size_are_the_same(void **state)
{
    struct seen *s = *state;
    struct buf all;

    buf_init(&all, 1u << 20);
    for (int i = 0; i < 3; i++) {
        make_result(s, 0, 1);
        add_str(s, "text/plain");
        add_str(s, "some text of some length");
        finish(s);
        buf_add(&all, s->msg.data, s->msg.len, NULL);
        make_done(s, 0);
        finish(s);
        buf_add(&all, s->msg.data, s->msg.len, NULL);
    }
    for (size_t piece = 1; piece <= all.len; piece++) {
        s->text.len = 0;
        for (size_t at = 0; at < all.len; at += piece) {
            size_t n = piece < all.len - at ? piece : all.len - at;

            assert_int_equal(runtime_feed(&s->p, all.data + at, n, NULL), 0);
        }
        assert_false(runtime_partial(&s->p));
        assert_int_equal(s->text.len, 3 * 53);
    }
    buf_fini(&all);
}

static void a_message_that_is_cut_off_is_seen(void **state)
{
    struct seen *s = *state;

    make_done(s, 0);
    finish(s);
    for (size_t n = 1; n < s->msg.len; n++) {
        struct runtime_parser p;

        runtime_parser_init(&p, &calls, s);
        assert_int_equal(runtime_feed(&p, s->msg.data, n, NULL), 0);
        assert_true(runtime_partial(&p));
        runtime_parser_fini(&p);
    }
    assert_int_equal(s->text.len, 0);
}

static void the_first_broken_rule_is_the_last_thing_read(void **state)
{
    struct seen *s = *state;

    begin(s, RUNTIME_CODE); /* the engine's own */
    buf_u32(&s->msg, 0, NULL);
    assert_int_equal(feed(s), -1);
    make_done(s, 0);
    assert_int_equal(feed(s), -1);
    assert_int_equal(s->text.len, 0);
}

static void a_size_past_the_cap_is_refused_at_once(void **state)
{
    struct seen *s = *state;
    const uint32_t head[2] = {RUNTIME_MESSAGE_MAX + 1, RUNTIME_RESULT};

    assert_int_equal(
        runtime_feed(&s->p, (const char *)head, sizeof(head), NULL), -1);
    assert_null(s->p.body);
}

static void a_large_size_alone_allocates_nothing(void **state)
{
    struct seen *s = *state;
    const uint32_t head[2] = {RUNTIME_MESSAGE_MAX, RUNTIME_RESULT};

    assert_int_equal(
        runtime_feed(&s->p, (const char *)head, sizeof(head), NULL), 0);
    assert_int_equal(s->p.room, 0);
    assert_int_equal(runtime_feed(&s->p, "xxxx", 4, NULL), 0);
    assert_in_range(s->p.room, 4, 8);
}

static void the_largest_message_passes_whole_and_in_pieces(void **state)
{
    struct seen *s = *state;
    const size_t size = RUNTIME_MESSAGE_MAX - 8 - 4 - 10 - 4;
    char *data = calloc(1, size);

    assert_non_null(data);
    make_result(s, 0, 1);
    add_str(s, "text/plain");
    add(s, data, size);
    free(data);
    assert_int_equal(s->msg.len, RUNTIME_MESSAGE_MAX + 8u);
    assert_int_equal(feed(s), 0);
    for (size_t at = 0; at < s->msg.len; at += 100000) {
        size_t n = s->msg.len - at < 100000 ? s->msg.len - at : 100000;

        assert_int_equal(runtime_feed(&s->p, s->msg.data + at, n, NULL), 0);
        assert_in_range(s->p.room, 0, RUNTIME_MESSAGE_MAX);
    }
    assert_null(s->p.body);
    assert_int_equal(s->text.len, 2 * 22);
}

/* Every prefix of a payload, with the size set to it, must be refused. */
static void refuse_every_prefix(struct seen *s)
{
    size_t whole = s->msg.len;

    for (size_t n = 8; n < whole; n++) {
        struct runtime_parser p;
        const uint32_t size = (uint32_t)(n - 8);

        memcpy(s->msg.data, &size, sizeof(size));
        runtime_parser_init(&p, &calls, s);
        assert_int_equal(runtime_feed(&p, s->msg.data, n, NULL), -1);
        runtime_parser_fini(&p);
    }
    assert_int_equal(s->text.len, 0);
}

static void refuse_one_more(struct seen *s)
{
    buf_add(&s->msg, "", 1, NULL);
    runtime_parser_init(&s->p, &calls, s);
    assert_int_equal(feed(s), -1);
}

static void truncated_payloads_are_refused(void **state)
{
    struct seen *s = *state;

    make_result(s, 0, 2);
    add_str(s, "text/plain");
    add_str(s, "x");
    add_str(s, "text/html");
    add_str(s, "y");
    refuse_every_prefix(s);
    make_error(s, 0, "n", "v", "t");
    refuse_every_prefix(s);
    make_done(s, 0);
    refuse_every_prefix(s);
}

static void bytes_too_many_are_refused(void **state)
{
    struct seen *s = *state;

    make_result(s, 0, 1);
    add_str(s, "text/plain");
    add_str(s, "x");
    refuse_one_more(s);
    make_error(s, 0, "n", "v", "t");
    refuse_one_more(s);
    make_done(s, 0);
    refuse_one_more(s);
    assert_int_equal(s->text.len, 0);
}

static int result_of(struct seen *s, uint32_t flags, uint32_t count,
                     const char *const *types)
{
    int r;

    make_result(s, flags, count);
    for (; *types != NULL; types++) {
        add_str(s, *types);
        add_str(s, "data");
    }
    runtime_parser_fini(&s->p);
    runtime_parser_init(&s->p, &calls, s);
    r = feed(s);
    return r;
}

static void mime_types_are_checked(void **state)
{
    struct seen *s = *state;
    static const char *const bad[] = {"",           "/",     "text",  "text/",
                                      "/plain",     "a/b/c", "a b/c", "a/b\n",
                                      "a/\xc3\xa9", "a/b;c", "a/(b)", "\x01/b"};
    char long_type[RUNTIME_MIME_MAX + 2];

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(
            result_of(s, 0, 1, (const char *const[]){bad[i], NULL}), -1);
    memset(long_type, 'a', sizeof(long_type) - 1);
    long_type[1] = '/';
    long_type[sizeof(long_type) - 1] = '\0';
    assert_int_equal(result_of(s, 0, 1, (const char *const[]){long_type, NULL}),
                     -1);
    assert_int_equal(
        result_of(s, 0, 1, (const char *const[]){long_type + 1, NULL}), -1);
    long_type[sizeof(long_type) - 2] = '\0';
    assert_int_equal(result_of(s, 0, 1, (const char *const[]){long_type, NULL}),
                     0);
    assert_int_equal(
        result_of(s, 0, 2, (const char *const[]){"a/b", "a/b", NULL}), -1);
    assert_int_equal(
        result_of(s, 0, 2, (const char *const[]){"a/b", "a/c", NULL}), 0);
}

static void counts_and_flags_are_checked(void **state)
{
    struct seen *s = *state;
    static const uint32_t counts[] = {0, 2, RUNTIME_MIMES_MAX + 1, 1u << 31,
                                      UINT32_MAX};

    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        assert_int_equal(
            result_of(s, 0, counts[i], (const char *const[]){"a/b", NULL}), -1);
    for (uint32_t bit = 1; bit < 32; bit++)
        assert_int_equal(
            result_of(s, 1u << bit, 1, (const char *const[]){"a/b", NULL}), -1);
}

static void lengths_that_lie_are_refused(void **state)
{
    struct seen *s = *state;
    static const uint32_t lens[] = {5, 1u << 31, UINT32_MAX - 3, UINT32_MAX};

    for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
        make_result(s, 0, 1);
        add_str(s, "a/b");
        buf_u32(&s->msg, lens[i], NULL);
        buf_add(&s->msg, "dat", 3, NULL);
        refuse_one_more(s);
    }
}

static int error_of(struct seen *s, uint32_t sys, const char *name,
                    const char *value)
{
    make_error(s, sys, name, value, "trace");
    runtime_parser_init(&s->p, &calls, s);
    return feed(s);
}

static void errors_are_utf8_with_a_small_errno(void **state)
{
    struct seen *s = *state;
    static const char *const bad[] = {
        "\x80",
        "\xff",
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x9f\x80",
        "\xed\xa0\x80",
        "\xc3",
        "a\xe2\x82",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5",
        "\xc3(",
        "\xe2\x82(",
        "\xf0\x9f\x98",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(error_of(s, 0, "n", bad[i]), -1);
        assert_int_equal(error_of(s, 0, bad[i], "v"), -1);
    }
    assert_int_equal(error_of(s, 4096, "n", "v"), -1);
    assert_int_equal(error_of(s, UINT32_MAX, "n", "v"), -1);
    assert_int_equal(s->text.len, 0);
    assert_int_equal(error_of(s, 4095, "", ""), 0);
    assert_int_equal(error_of(s, 0, "\xed\x9f\xbf\xee\x80\x80",
                              "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xc2\x80"),
                     0);
}

static void an_error_from_a_call_ends_the_reading(void **state)
{
    struct seen *s = *state;

    s->refuse = 1;
    assert_int_equal(result_of(s, 0, 1, (const char *const[]){"a/b", NULL}),
                     -1);
    s->refuse = 0;
    make_done(s, 0);
    assert_int_equal(feed(s), -1);
}

#define HOLDS(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(each_kind_of_message_is_told),
        HOLDS(messages_in_pieces_of_any_size_are_the_same),
        HOLDS(a_message_that_is_cut_off_is_seen),
        HOLDS(the_first_broken_rule_is_the_last_thing_read),
        HOLDS(a_size_past_the_cap_is_refused_at_once),
        HOLDS(a_large_size_alone_allocates_nothing),
        HOLDS(the_largest_message_passes_whole_and_in_pieces),
        HOLDS(truncated_payloads_are_refused),
        HOLDS(bytes_too_many_are_refused),
        HOLDS(mime_types_are_checked),
        HOLDS(counts_and_flags_are_checked),
        HOLDS(lengths_that_lie_are_refused),
        HOLDS(errors_are_utf8_with_a_small_errno),
        HOLDS(an_error_from_a_call_ends_the_reading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
