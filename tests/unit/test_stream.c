/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's end of the agent stream, against an agent that lies. */
#include "src/cell/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "src/base/auto.h"

struct both {
    int fd[2];
    struct stream s;
};

static int set_up(void **state)
{
    struct both *b = calloc(1, sizeof(*b));

    if (b == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, b->fd) < 0)
        return -1;
    *state = b;
    return stream_init(&b->s, b->fd[0], NULL);
}

static int tear_down(void **state)
{
    struct both *b = *state;

    stream_fini(&b->s);
    close(b->fd[0]);
    if (b->fd[1] >= 0)
        close(b->fd[1]);
    free(b);
    return 0;
}

static void say(struct both *b, uint16_t type, uint16_t cmd, uint32_t size,
                const void *data, size_t len)
{
    const struct agent_frame f = {.size = size, .type = type, .cmd = cmd};

    assert_int_equal(write(b->fd[1], &f, sizeof(f)), sizeof(f));
    if (len > 0)
        assert_int_equal(write(b->fd[1], data, len), len);
}

static void hello(struct both *b)
{
    const uint32_t version = AGENT_VERSION;

    say(b, AGENT_HELLO, 0, sizeof(version), &version, sizeof(version));
}

static int next(struct both *b, struct agent_frame *f, const char **at)
{
    return stream_next(&b->s, f, at, NULL);
}

static void a_frame_arrives_whole_when_it_came_in_pieces(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    hello(b);
    say(b, AGENT_STDOUT, 1, 4, "ab", 2);
    assert_int_equal(next(b, &f, &at), 0);
    assert_int_equal(write(b->fd[1], "cd", 2), 2);
    assert_int_equal(next(b, &f, &at), 1);
    assert_int_equal(f.type, AGENT_STDOUT);
    assert_memory_equal(at, "abcd", 4);
}

static void a_frame_before_hello_ends_the_stream(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    say(b, AGENT_STDOUT, 1, 0, NULL, 0);
    assert_int_equal(next(b, &f, &at), -1);
}

static void a_second_hello_ends_the_stream(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    hello(b);
    hello(b);
    assert_int_equal(next(b, &f, &at), -1);
}

static void another_version_ends_the_stream(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;
    const uint32_t version = AGENT_VERSION + 1;

    say(b, AGENT_HELLO, 0, sizeof(version), &version, sizeof(version));
    assert_int_equal(next(b, &f, &at), -1);
}

static void a_size_past_the_cap_ends_it_before_the_bytes_come(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    hello(b);
    say(b, AGENT_STDOUT, 1, AGENT_DATA_MAX + 1, NULL, 0);
    assert_int_equal(next(b, &f, &at), -1);
    assert_false(b->s.eof);
}

static void a_command_number_past_the_cap_ends_the_stream(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    hello(b);
    say(b, AGENT_STDOUT, AGENT_CMD_MAX + 1, 0, NULL, 0);
    assert_int_equal(next(b, &f, &at), -1);
}

static void the_engines_own_frame_types_are_not_taken_from_it(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    hello(b);
    say(b, AGENT_EXEC, 1, 0, NULL, 0);
    assert_int_equal(next(b, &f, &at), -1);
}

static void an_end_in_the_middle_of_a_frame_is_an_end(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    hello(b);
    say(b, AGENT_STDOUT, 1, 100, "abc", 3);
    close(b->fd[1]);
    b->fd[1] = -1;
    assert_int_equal(next(b, &f, &at), -1);
    assert_true(b->s.eof);
}

static void what_an_agent_said_before_it_went_is_read(void **state)
{
    struct both *b = *state;
    struct agent_frame f;
    const char *at;

    hello(b);
    say(b, AGENT_STDOUT, 1, 2, "hi", 2);
    close(b->fd[1]);
    b->fd[1] = -1;
    assert_int_equal(stream_put(&b->s, AGENT_STDIN_EOF, 1, NULL, 0, NULL), 0);
    assert_int_equal(stream_flush(&b->s, NULL), 0);
    assert_int_equal(next(b, &f, &at), 1);
    assert_memory_equal(at, "hi", 2);
    assert_int_equal(next(b, &f, &at), -1);
    assert_true(b->s.eof);
}

static void a_queue_has_a_cap_and_keeps_whole_frames(void **state)
{
    struct both *b = *state;
    static char big[AGENT_EXEC_MAX];
    size_t len;
    int r = 0;

    for (int i = 0; i < 8 && r == 0; i++) {
        len = b->s.out.len;
        r = stream_put(&b->s, AGENT_STDIN, 1, big, sizeof(big), NULL);
    }
    assert_int_equal(r, -1);
    assert_int_equal(b->s.out.len, len);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_frame_arrives_whole_when_it_came_in_pieces),
        T(a_frame_before_hello_ends_the_stream),
        T(a_second_hello_ends_the_stream),
        T(another_version_ends_the_stream),
        T(a_size_past_the_cap_ends_it_before_the_bytes_come),
        T(a_command_number_past_the_cap_ends_the_stream),
        T(the_engines_own_frame_types_are_not_taken_from_it),
        T(an_end_in_the_middle_of_a_frame_is_an_end),
        T(what_an_agent_said_before_it_went_is_read),
        T(a_queue_has_a_cap_and_keeps_whole_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
