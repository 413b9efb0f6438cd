/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_agent_terminal - a command on a terminal: what a real agent does with
 * its keys, its size, its end. Outside of a cell the terminal is one of the
 * host's /dev/pts.
 */
#include "tests/unit/agent_peer.h"

static struct peer_end end;
static struct peer peer;

static void start(uint32_t flags, const char *script)
{
    static const struct agent_size size = {.rows = 33, .columns = 101};
    struct agent_exec head = {.flags = flags | AGENT_EXEC_TERMINAL,
                              .argc = 3,
                              .envc = 1,
                              .size = size};
    const char *const words[] = {"/", "sh", "-c", script, PEER_ENV};
    char text[4096];
    size_t len = sizeof(head);

    memcpy(text, &head, sizeof(head));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        strcpy(text + len, words[i]);
        len += strlen(words[i]) + 1;
    }
    peer_start(&peer);
    peer_send(&peer, AGENT_EXEC, 1, text, len);
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
}

static void type(const char *keys)
{
    peer_send(&peer, AGENT_STDIN, 1, keys, strlen(keys));
}

/* Reads output until `word` has come. */
static void await_word(const char *word)
{
    char seen[8192] = "";
    size_t len = 0;

    while (strstr(seen, word) == NULL) {
        assert_int_equal(peer_next(&peer), AGENT_STDOUT);
        assert_true(len + peer.head.size < sizeof(seen));
        memcpy(seen + len, peer.payload, peer.head.size);
        len += peer.head.size;
        seen[len] = '\0';
    }
}

static void finish(int code)
{
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    end.out[end.out_len] = '\0';
    assert_int_equal(end.exited.code, code);
    peer_stop(&peer);
}

static void all_three_are_one_terminal_of_the_given_size(void **state)
{
    (void)state;
    start(0, "test -t 0 && test -t 1 && test -t 2 && stty size; echo e >&2;"
             ": </dev/tty && echo controlling; exec ls /proc/self/fd");
    finish(0);
    assert_string_equal(end.out,
                        "33 101\r\ne\r\ncontrolling\r\n0  1  2  3\r\n");
    assert_int_equal(end.err_len, 0);
}

static void a_new_size_is_told_to_the_program(void **state)
{
    static const struct agent_size size = {.rows = 7, .columns = 40};

    (void)state;
    start(0, "trap 'stty size; exit 3' WINCH; echo ready; "
             "while :; do sleep 0.05; done");
    await_word("ready");
    peer_send(&peer, AGENT_RESIZE, 1, &size, sizeof(size));
    finish(3);
    assert_non_null(strstr(end.out, "7 40"));
}

static void the_line_discipline_makes_signals_of_keys(void **state)
{
    (void)state;
    start(0, "stty -echo; trap 'echo int' INT; trap 'echo quit; exit 4' QUIT; "
             "echo ready; while :; do sleep 0.02; done");
    await_word("ready");
    type("\x03");
    await_word("int\r\n");
    type("\x1c");
    finish(4);
    assert_non_null(strstr(end.out, "quit\r\n"));
}

static void keys_are_echoed_and_edited_by_the_cells_terminal(void **state)
{
    (void)state;
    start(0, "read line; echo \"<$line>\"");
    type("ab\x7f"
         "c\xc3\xa9\x7f"
         "d\r");
    finish(0);
    assert_string_equal(end.out, "ab\b \bc\xc3\xa9\b \bd\r\n<acd>\r\n");
}

static void the_end_of_input_hangs_up(void **state)
{
    (void)state;
    start(0, "echo ready; exec sleep 60");
    await_word("ready");
    peer_send(&peer, AGENT_STDIN_EOF, 1, NULL, 0);
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    assert_int_equal(end.exited.signal, SIGHUP);
    peer_stop(&peer);
}

static void all_that_was_shown_comes_before_the_end(void **state)
{
    (void)state;
    start(AGENT_EXEC_LAST, "stty -opost; head -c 40000 /dev/zero | tr '\\0' x");
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    assert_int_equal(end.out_len, 40000);
    assert_int_equal(peer_wait(&peer), 0);
}

static void a_terminal_with_no_holder_for_a_while_does_not_end(void **state)
{
    (void)state;
    start(0, "exec 3>&1; (exec >/dev/null 2>&1 3>&- </dev/null; sleep 0.2; "
             "echo later >/dev/tty) & exec >/dev/null 2>&1 3>&- </dev/null; "
             "wait");
    finish(0);
    assert_string_equal(end.out, "later\r\n");
}

static void a_resize_without_a_terminal_changes_nothing(void **state)
{
    static const struct agent_size size = {.rows = 7, .columns = 40};

    (void)state;
    peer_start(&peer);
    peer_send(&peer, AGENT_RESIZE, 1, &size, sizeof(size));
    assert_int_equal(peer_run(&peer, "exit 5", &end), 5);
    peer_stop(&peer);
}

/* The agent ends at each: a rule is broken. */
static void a_terminal_goes_with_no_other_way_in_or_out(void **state)
{
    static const struct agent_exec heads[] = {
        {.flags = AGENT_EXEC_TERMINAL | AGENT_EXEC_NO_STDIN, .argc = 1},
        {.flags = AGENT_EXEC_TERMINAL | AGENT_EXEC_RUNTIME, .argc = 1},
        {.flags = 0, .argc = 1, .size = {.rows = 1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        char text[sizeof(heads[0]) + 7];

        memcpy(text, &heads[i], sizeof(heads[0]));
        memcpy(text + sizeof(heads[0]), "/\0true", 7);
        peer_start(&peer);
        peer_send(&peer, AGENT_EXEC, 1, text, sizeof(text));
        assert_int_equal(peer_next(&peer), AGENT_NONE);
        assert_int_equal(peer_wait(&peer), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_three_are_one_terminal_of_the_given_size),
        cmocka_unit_test(a_new_size_is_told_to_the_program),
        cmocka_unit_test(the_line_discipline_makes_signals_of_keys),
        cmocka_unit_test(keys_are_echoed_and_edited_by_the_cells_terminal),
        cmocka_unit_test(the_end_of_input_hangs_up),
        cmocka_unit_test(all_that_was_shown_comes_before_the_end),
        cmocka_unit_test(a_terminal_with_no_holder_for_a_while_does_not_end),
        cmocka_unit_test(a_resize_without_a_terminal_changes_nothing),
        cmocka_unit_test(a_terminal_goes_with_no_other_way_in_or_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
