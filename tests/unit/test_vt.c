/* SPDX-License-Identifier: Apache-2.0 */
/* What a program with a terminal of its own may make the operator's do. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "src/cli/vt.h"

#define IN_MAX 512

static uint64_t left;

static size_t pass(const char *in, size_t len, size_t cut, char *out)
{
    struct vt v = {.left = &left};
    size_t n;

    left = 0;
    n = vt_put(&v, in, cut, out);
    return n + vt_put(&v, in + cut, len - cut, out + n);
}

/* The same however it is cut in two. */
static void expect_bytes(const char *in, size_t len, const char *want)
{
    char out[2 * VT_ROOM(IN_MAX)];

    for (size_t cut = 0; cut <= len; cut++) {
        out[pass(in, len, cut, out)] = '\0';
        assert_string_equal(out, want);
    }
}

static void expect(const char *in, const char *want)
{
    expect_bytes(in, strlen(in), want);
}

static void expect_undo(const char *in, const char *want)
{
    char out[2 * VT_ROOM(IN_MAX)], undo[VT_UNDO_MAX + 1];

    pass(in, strlen(in), strlen(in), out);
    undo[vt_undo(left, undo)] = '\0';
    assert_string_equal(undo, want);
}

static void text_colours_and_the_cursor_are_passed_on(void **state)
{
    static const char *const all[] = {
        "a\tb\r\n\b\a caf\xc3\xa9 \xe2\x94\x80 \xf0\x9f\x98\x80",
        "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3m \x1b[4:3m",
        "\x1b[H\x1b[2J\x1b[10;20H\x1b[K\x1b[3A\x1b[5@\x1b[1;24r\x1b[4 q",
        "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b=\x1b(0qqq\x1b(B",
        "\x1b"
        "7\x1b"
        "8\x1b"
        "D\x1bM\x1b[!p\x0e\x0f",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect(all[i], all[i]);
}

static void titles_links_and_the_clipboard_are_removed(void **state)
{
    (void)state;
    expect("a\x1b]0;title\ab", "ab");
    expect("a\x1b]2;title\x1b\\b", "ab");
    expect("a\x1b]52;c;aGk=\ab", "ab");
    expect("\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\", "link");
    expect("\x1b[22;0;0t\x1b[23tx", "x");
    expect("\x1bkscreen title\x1b\\", "screen title");
}

static void questions_that_a_terminal_answers_are_removed(void **state)
{
    (void)state;
    expect("\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[21t\x1b[18t", "");
    expect("\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1b[?1$p\x1bZ\x05", "");
    expect("\x1b]10;?\a\x1b]11;?\a\x1b]4;1;?\x1b\\x", "x");
}

static void what_changes_more_than_the_picture_is_removed(void **state)
{
    (void)state;
    expect("\x1b[3J\x1b"
           "c\x1b[5i\x1b[8;1;1t\x1b[>4;2m\x1b[>1u\x1b%@\x1b#8",
           "");
    expect("\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\\x1bPdcs\x1b\\ok", "ok");
    expect("\x1b[?3h\x1b[?1h\x1b[?9999;25h", "\x1b[?1h\x1b[?25h");
    expect("\x1b[?1001;1000;1006h", "\x1b[?1000h\x1b[?1006h");
}

static void a_sequence_of_another_shape_is_removed(void **state)
{
    (void)state;
    expect("\x1b[999999H\x1b[1:2H\x1b[1<H\x1b[  q\x1b[s1\x1b[5s", "\x1b[s1");
    expect("\x1b[1;\x1b[2mx", "\x1b[2mx");
    expect("\x1b[1\nx", "\nx");
    expect("\x1b]never ended \x1b[1mx", "\x1b[1mx");
}

static void a_sequence_past_its_size_is_dropped_whole(void **state)
{
    char in[IN_MAX] = "\x1b[";

    (void)state;
    memset(in + 2, '1', 200);
    strcpy(in + 202, "mok");
    expect(in, "ok");
}

static void eight_bit_controls_and_hidden_characters_are_replaced(void **state)
{
    (void)state;
    expect("\x9b"
           "5n",
           "\xef\xbf\xbd"
           "5n");
    expect("\xc2\x9d"
           "0;t\a",
           "\xef\xbf\xbd"
           "0;t\a");
    expect("\xe2\x80\xae"
           "x",
           "\xef\xbf\xbd"
           "x");
    expect("\xe2\x94\x1b[1m", "\xef\xbf\xbd\x1b[1m");
    expect_bytes("a\0b\x7f\x01", 5, "ab");
}

static void the_console_s_palette_strings_have_no_end(void **state)
{
    (void)state;
    expect("\x1b]R\x1b[1mx", "\x1b[1mx");
    expect("\x1b]P0ffffffx", "x");
    expect("\x1bPqsixel#0;2;0;0;0~~\x1b\\x", "x");
}

static void a_string_without_an_end_does_not_hide_all_that_follows(void **state)
{
    const size_t len = 3u << 20;
    char *in = malloc(len), *out = malloc(VT_ROOM(len));
    size_t n;

    (void)state;
    assert_non_null(in);
    assert_non_null(out);
    memset(in, 'x', len);
    memcpy(in, "\x1b]0;", 4);
    n = pass(in, len, len / 2, out);
    assert_true(n > len / 2 && n < len);
    free(in);
    free(out);
}

static void what_is_in_force_at_the_end_is_undone(void **state)
{
    (void)state;
    expect_undo("plain", "");
    expect_undo("\x1b[?2004h\x1b[?2004l\x1b[?25l\x1b[?25h", "");
    expect_undo("\x1b[?25l\x1b[31m", "\x1b[?25h\x1b[0m");
    expect_undo("\x1b[?1000;1006h\x1b[?1049h",
                "\x1b[?1000l\x1b[?1006l\x1b[?1049l");
    expect_undo("\x1b(0\x1b[2;3r\x1b[3 q\x1b=",
                "\x1b>\x1b[0 q\x0f\x1b(B\x1b)B\x1b"
                "7\x1b[r\x1b"
                "8");
}

static void all_that_can_be_left_fits_the_room_for_its_undoing(void **state)
{
    char undo[VT_UNDO_MAX];

    (void)state;
    assert_in_range(vt_undo(UINT64_MAX, undo), 1, VT_UNDO_MAX);
}

static void a_clipboard_is_counted_and_a_title_is_not(void **state)
{
    static const char in[] = "\x1b]52;c;QQ==\a\x1b]0;52;\a\x1b]52;p;?\x1b\\";
    struct vt v = {.left = &left};
    char out[VT_ROOM(sizeof(in))];

    (void)state;
    assert_int_equal(vt_put(&v, in, strlen(in), out), 0);
    assert_int_equal(v.clipboard, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_colours_and_the_cursor_are_passed_on),
        cmocka_unit_test(titles_links_and_the_clipboard_are_removed),
        cmocka_unit_test(questions_that_a_terminal_answers_are_removed),
        cmocka_unit_test(what_changes_more_than_the_picture_is_removed),
        cmocka_unit_test(a_sequence_of_another_shape_is_removed),
        cmocka_unit_test(a_sequence_past_its_size_is_dropped_whole),
        cmocka_unit_test(eight_bit_controls_and_hidden_characters_are_replaced),
        cmocka_unit_test(the_console_s_palette_strings_have_no_end),
        cmocka_unit_test(
            a_string_without_an_end_does_not_hide_all_that_follows),
        cmocka_unit_test(what_is_in_force_at_the_end_is_undone),
        cmocka_unit_test(all_that_can_be_left_fits_the_room_for_its_undoing),
        cmocka_unit_test(a_clipboard_is_counted_and_a_title_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
