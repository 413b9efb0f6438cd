/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reaches a terminal and a pipe, and the lines at the end of a run; what
 * proves that an attack was blocked; when a signal kills.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "src/base/fd.h"
#include "src/cli/attack.h"
#include "src/cli/bundle.h"
#include "src/cli/closing.h"
#include "src/core/ending.h"
#include "src/cli/forward.h"
#include "src/cli/show.h"
#include "src/cli/visible.h"

#define ROOM VISIBLE_ROOM(256)

static const char *clean(const char *in, size_t len, size_t cut, char *out)
{
    struct visible v = {0};
    size_t n = visible_put(&v, in, cut, out);

    n += visible_put(&v, in + cut, len - cut, out + n);
    n += visible_end(&v, out + n);
    out[n] = '\0';
    return out;
}

/* The same however it is cut in two. */
static void expect_visible(const char *in, const char *want)
{
    size_t len = strlen(in);
    char out[2 * ROOM];

    for (size_t cut = 0; cut <= len; cut++)
        assert_string_equal(clean(in, len, cut, out), want);
}

static void text_and_colour_pass(void **state)
{
    (void)state;
    expect_visible("a\tb\r\nc", "a\tb\r\nc");
    expect_visible("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
                   "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    expect_visible("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m");
    expect_visible("\x1b[38;2;1;2;3mx\x1b[m", "\x1b[38;2;1;2;3mx\x1b[m");
}

static void a_colour_that_was_left_on_is_reset(void **state)
{
    (void)state;
    expect_visible("\x1b[31mred", "\x1b[31mred\x1b[0m");
}

static void other_controls_are_spelt_out(void **state)
{
    (void)state;
    expect_visible("\x1b]0;title\a", "^[]0;title^G");
    expect_visible("\x1b]52;c;aGk=\x1b\\", "^[]52;c;aGk=^[\\");
    expect_visible("\x1bP1$q\x1b\\", "^[P1$q^[\\");
    expect_visible("\x1b[2J\x1b[H", "^[[2J^[[H");
    expect_visible("\x1b[?1049h", "^[[?1049h");
    expect_visible("\x1b[>4;2m", "^[[>4;2m");
    expect_visible("\x1b[6n\x1b"
                   "c",
                   "^[[6n^[c");
    expect_visible("a\bb\x7f\x01", "a^Hb^?^A");
    expect_visible("\x1b\x1b[31m", "^[\x1b[31m\x1b[0m");
    expect_visible("\x1b[3", "^[[3");
}

static void c1_controls_are_spelt_out_raw_and_encoded(void **state)
{
    (void)state;
    expect_visible("\x9b"
                   "2J",
                   "\\x9b2J");
    expect_visible("\xc2\x9b"
                   "2J",
                   "\\u009b2J");
    expect_visible("\xc2\x9d"
                   "0;x\xc2\x9c",
                   "\\u009d0;x\\u009c");
}

static void what_changes_the_order_of_text_is_spelt_out(void **state)
{
    (void)state;
    expect_visible("\xe2\x80\xae"
                   "abc\xe2\x81\xa6",
                   "\\u202eabc\\u2066");
    expect_visible("\xe2\x80\x8f\xd8\x9c", "\\u200f\\u061c");
}

static void broken_utf8_is_spelt_out_byte_by_byte(void **state)
{
    (void)state;
    expect_visible("\xff\xfe", "\\xff\\xfe");
    expect_visible("\xe2\x82", "\\xe2\\x82");
    expect_visible("\xe2\x82x", "\\xe2\\x82x");
    expect_visible("\xc0\x9b", "\\xc0\\x9b");
    expect_visible("\xed\xa0\x80", "\\xed\\xa0\\x80");
    expect_visible("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    expect_visible("\xe2\x1b[2J", "\\xe2^[[2J");
}

static void an_endless_sequence_is_held_no_longer_than_its_bound(void **state)
{
    char in[200], out[2 * ROOM];

    (void)state;
    memset(in, '1', sizeof(in));
    in[0] = '\x1b';
    in[1] = '[';
    in[sizeof(in) - 1] = 'm';
    clean(in, sizeof(in), 100, out);
    assert_int_equal(strlen(out), sizeof(in) + 1);
    assert_memory_equal(out, "^[[1", 4);
}

static void a_pipe_gets_the_bytes_as_they_are(void **state)
{
    const char in[] = "\x1b[2J\0\x9b\xff";
    struct show s;
    char got[64];
    int p[2];

    (void)state;
    assert_int_equal(pipe(p), 0);
    show_init(&s, p[1], 1024);
    assert_false(s.terminal);
    assert_int_equal(show_put(&s, in, sizeof(in)), 0);
    assert_int_equal(show_end(&s), 0);
    assert_int_equal(read(p[0], got, sizeof(got)), sizeof(in));
    assert_memory_equal(got, in, sizeof(in));
    show_fini(&s);
    close(p[0]);
    close(p[1]);
}

static void a_reader_that_left_is_an_error(void **state)
{
    struct show s;
    int p[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(p), 0);
    close(p[0]);
    show_init(&s, p[1], 1024);
    assert_int_equal(show_put(&s, "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(show_put(&s, "x", 1), -1);
    assert_int_equal(show_end(&s), -1);
    show_fini(&s);
    close(p[1]);
}

static void a_reader_that_sleeps_holds_up_until_the_deadline_only(void **state)
{
    static char block[100000], got[200000];
    struct show s;
    size_t n = 0;
    int p[2];

    (void)state;
    assert_int_equal(pipe(p), 0);
    memset(block, 'a', sizeof(block));
    show_init(&s, p[1], 1u << 20);
    s.deadline_us = clock_us() + 1000;
    assert_int_equal(show_put(&s, block, sizeof(block)), 0);
    assert_true(s.late.len > 0);
    assert_int_equal(show_put(&s, "end", 3), 0);
    while (n < sizeof(block) - s.late.len + 3)
        n += (size_t)read(p[0], got + n, sizeof(got) - n);
    assert_int_equal(show_end(&s), 0);
    close(p[1]);
    n += (size_t)fd_read_full(p[0], got + n, sizeof(got) - n);
    assert_int_equal(n, sizeof(block) + 3);
    assert_memory_equal(got + sizeof(block), "end", 3);
    show_fini(&s);
    close(p[0]);
}

static bool always(void)
{
    return true;
}

static void a_wait_for_a_reader_can_be_given_up(void **state)
{
    static char block[100000];
    struct show s;
    int p[2];

    (void)state;
    assert_int_equal(pipe(p), 0);
    show_init(&s, p[1], 1u << 20);
    s.give_up = always;
    assert_int_equal(show_put(&s, block, sizeof(block)), -1);
    assert_int_equal(errno, ECANCELED);
    show_fini(&s);
    close(p[0]);
    close(p[1]);
}

static void a_terminal_gets_no_control_sequence(void **state)
{
    struct termios raw;
    struct show s;
    const char *want = "\x1b[31mx^[]0;t^G\x1b[0m";
    char got[256];
    size_t at = 0;
    ssize_t n;
    int main_fd, fd;

    (void)state;
    if (openpty(&main_fd, &fd, NULL, NULL, NULL) < 0)
        skip();
    tcgetattr(fd, &raw);
    cfmakeraw(&raw);
    tcsetattr(fd, TCSANOW, &raw);
    show_init(&s, fd, 1024);
    assert_true(s.terminal);
    assert_int_equal(show_put(&s, "\x1b[3", 3), 0);
    assert_int_equal(show_put(&s, "1mx\x1b]0;t\a", 9), 0);
    assert_true(s.middle);
    assert_int_equal(show_end(&s), 0);
    while (at < strlen(want)) { /* a terminal may give it in pieces */
        n = read(main_fd, got + at, sizeof(got) - 1 - at);
        assert_true(n > 0);
        at += (size_t)n;
    }
    got[at] = '\0';
    assert_string_equal(got, want);
    show_fini(&s);
    close(main_fd);
    close(fd);
}

static void a_line_of_ours_is_one_line(void **state)
{
    char got[128] = "";
    int p[2];

    (void)state;
    assert_int_equal(pipe(p), 0);
    show_line(p[1], "a\nkarzer: b\x1b[2J");
    assert_true(read(p[0], got, sizeof(got) - 1) > 0);
    assert_string_equal(got, "karzer: a karzer: b^[[2J\n");
    close(p[0]);
    close(p[1]);
}

/* ---- closing lines ---- */

static void expect_lines(struct result *r, const char *want)
{
    struct limits limits = limits_default();
    struct strs lines = {0};
    char all[1024] = "";
    size_t n = 0;

    ending_explain(r, &limits);
    assert_int_equal(closing_lines(r, &lines, NULL), 0);
    for (size_t i = 0; i < lines.len; i++)
        n += (size_t)snprintf(all + n, sizeof(all) - n, "%s\n", lines.at[i]);
    assert_string_equal(all, want);
    strs_fini(&lines);
}

static struct result a_result(enum status status, const char *detail)
{
    struct result r;

    assert_int_equal(result_init(&r, 0, NULL), 0);
    r.status = status;
    r.detail = detail;
    return r;
}

static void hit(struct result *r, const char *limit, const char *value)
{
    char allow[32];

    snprintf(allow, sizeof(allow), "--%s", limit);
    json_array_append_new(
        r->boundary, json_pack("{s:s,s:s,s:s,s:s}", "kind", "limit.hit",
                               "limit", limit, "value", value, "allow", allow));
}

static void each_ending_names_the_option_that_allows_more(void **state)
{
    static const struct {
        enum status status;
        const char *detail, *want;
    } rows[] = {
        {STATUS_TIMEOUT, "wall",
         "timeout: wall time of 30s ran out; --wall raises it\n"},
        {STATUS_TIMEOUT, "cpu",
         "timeout: processor time of 10s ran out; --cpu-time raises it\n"},
        {STATUS_OUTPUT, NULL,
         "output: too much output for the limit of 1M; --output raises it\n"},
        {STATUS_PROCESSES, NULL,
         "processes: the limit of 64 was reached; --pids raises it\n"},
        {STATUS_DISK, NULL,
         "disk: scratch space of 32M or 16384 files was full; --disk or "
         "--inodes raises it\n"},
        {STATUS_KILLED, NULL, "killed: ended by the client or the operator\n"},
        {STATUS_OK, NULL, ""},
        {STATUS_ERROR, NULL, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct result r = a_result(rows[i].status, rows[i].detail);

        expect_lines(&r, rows[i].want);
        result_fini(&r);
    }
}

static void memory_tells_the_peak_when_it_is_known(void **state)
{
    struct result r = a_result(STATUS_MEMORY, NULL);

    (void)state;
    expect_lines(&r,
                 "memory: the limit of 256M was reached; --mem raises it\n");
    r.peak_memory_bytes = 255u << 20;
    hit(&r, "mem", "256M");
    expect_lines(&r, "memory: the limit of 256M was reached (peak 255M); --mem "
                     "raises it\n");
    result_fini(&r);
}

static void a_limit_that_was_survived_is_told_once(void **state)
{
    struct result r = a_result(STATUS_OK, NULL);

    (void)state;
    hit(&r, "pids", "64");
    hit(&r, "pids", "64");
    expect_lines(&r, "pids: the limit of 64 was reached; --pids raises it\n");
    hit(&r, "disk", "32M");
    expect_lines(&r, "pids: the limit of 64 was reached; --pids raises it\n"
                     "disk: the limit of 32M was reached; --disk or --inodes "
                     "raises it\n");
    result_fini(&r);
}

static void signals_messages_and_refused_files_are_told(void **state)
{
    struct result r = a_result(STATUS_ERROR, NULL);

    (void)state;
    r.signal = SIGSEGV;
    expect_lines(&r, "error: ended by signal 11 (Segmentation fault)\n");
    r.signal = 0;
    snprintf(r.message, sizeof(r.message), "nope: not found");
    expect_lines(&r, "error: nope: not found\n");
    snprintf(r.message, sizeof(r.message), "a fifo");
    json_array_append_new(r.boundary,
                          json_pack("{s:s,s:s,s:s}", "kind", "file.refused",
                                    "path", "/tmp/f", "reason", "a fifo"));
    expect_lines(&r, "file not copied: /tmp/f: a fifo\n");
    result_fini(&r);
}

static void a_file_is_named_once(void **state)
{
    struct result r = a_result(STATUS_OK, NULL);

    (void)state;
    json_array_append_new(
        r.boundary, json_pack("{s:s,s:s,s:s}", "kind", "file.refused", "path",
                              "f", "reason", "--out /home/user/f: a fifo"));
    expect_lines(&r, "file not copied: /home/user/f: a fifo\n");
    result_fini(&r);
    r = a_result(STATUS_DENIED, NULL);
    snprintf(r.message, sizeof(r.message), "--in d/f: a fifo; no");
    json_array_append_new(r.boundary,
                          json_pack("{s:s,s:s,s:s,s:s}", "kind", "file.refused",
                                    "host", "d/f", "path", "/tmp/x", "reason",
                                    "a fifo"));
    expect_lines(&r, "denied: --in d/f: a fifo; no\n");
    result_fini(&r);
}

/* ---- displayed values ---- */

static void expect_note(const char *json, const char *want)
{
    json_t *bundle = json_loads(json, 0, NULL);
    char text[512];

    assert_non_null(bundle);
    bundle_note(bundle, text, sizeof(text));
    assert_string_equal(text, want);
    json_decref(bundle);
}

static void a_note_tells_what_only_json_has(void **state)
{
    (void)state;
    expect_note("{\"text/plain\": \"1\"}", "");
    expect_note("{\"text/plain\": \"1\", \"text/html\": \"<b>\"}", "");
    expect_note("{\"image/png\": \"aGVsbG8=\"}",
                "[image/png, 5 bytes; --json has it]\n");
    expect_note("{\"text/html\": \"<b>\"}",
                "[text/html, 3 bytes; --json has it]\n");
    expect_note("{\"image/png\": 7}", "[image/png, 0 bytes; --json has it]\n");
}

/* ---- attacks, signals ---- */

static void only_what_started_can_be_blocked(void **state)
{
    const struct {
        enum attack_id id;
        struct attack_seen seen;
        enum attack_outcome want;
    } rows[] = {
        {ATTACK_MEMORY, {STATUS_MEMORY, true, false}, ATTACK_BLOCKED},
        {ATTACK_MEMORY, {STATUS_ERROR, true, false}, ATTACK_BLOCKED},
        {ATTACK_MEMORY, {STATUS_MEMORY, true, true}, ATTACK_SUCCEEDED},
        {ATTACK_MEMORY, {STATUS_MEMORY, false, false}, ATTACK_NOT_RUN},
        {ATTACK_MEMORY, {STATUS_INTERNAL, true, false}, ATTACK_NOT_RUN},
        {ATTACK_MEMORY, {STATUS_TIMEOUT, true, false}, ATTACK_NOT_RUN},
        {ATTACK_FILES, {STATUS_OK, true, false}, ATTACK_NOT_RUN},
        {ATTACK_FILES, {STATUS_UNAVAILABLE, false, false}, ATTACK_NOT_RUN},
        {ATTACK_FILES, {STATUS_OK, false, true}, ATTACK_SUCCEEDED},
        {ATTACK_LOOP, {STATUS_TIMEOUT, true, false}, ATTACK_BLOCKED},
        {ATTACK_LOOP, {STATUS_TIMEOUT, false, false}, ATTACK_NOT_RUN},
        {ATTACK_LOOP, {STATUS_ERROR, true, false}, ATTACK_NOT_RUN},
    };
    const char *why;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(attack_judge(rows[i].id, &rows[i].seen, &why),
                         rows[i].want);
}

static void the_second_ask_within_two_seconds_kills(void **state)
{
    struct forward_asks quick = {0}, slow = {0};

    (void)state;
    assert_false(forward_ask(&quick, 1000));
    assert_true(forward_ask(&quick, 1500000));
    assert_false(forward_ask(&slow, 1000));
    assert_false(forward_ask(&slow, 5000000));
    assert_true(forward_ask(&slow, 9000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_colour_pass),
        cmocka_unit_test(a_colour_that_was_left_on_is_reset),
        cmocka_unit_test(other_controls_are_spelt_out),
        cmocka_unit_test(c1_controls_are_spelt_out_raw_and_encoded),
        cmocka_unit_test(what_changes_the_order_of_text_is_spelt_out),
        cmocka_unit_test(broken_utf8_is_spelt_out_byte_by_byte),
        cmocka_unit_test(an_endless_sequence_is_held_no_longer_than_its_bound),
        cmocka_unit_test(a_pipe_gets_the_bytes_as_they_are),
        cmocka_unit_test(a_reader_that_left_is_an_error),
        cmocka_unit_test(a_reader_that_sleeps_holds_up_until_the_deadline_only),
        cmocka_unit_test(a_wait_for_a_reader_can_be_given_up),
        cmocka_unit_test(a_terminal_gets_no_control_sequence),
        cmocka_unit_test(a_line_of_ours_is_one_line),
        cmocka_unit_test(each_ending_names_the_option_that_allows_more),
        cmocka_unit_test(memory_tells_the_peak_when_it_is_known),
        cmocka_unit_test(a_limit_that_was_survived_is_told_once),
        cmocka_unit_test(signals_messages_and_refused_files_are_told),
        cmocka_unit_test(a_file_is_named_once),
        cmocka_unit_test(a_note_tells_what_only_json_has),
        cmocka_unit_test(only_what_started_can_be_blocked),
        cmocka_unit_test(the_second_ask_within_two_seconds_kills),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
