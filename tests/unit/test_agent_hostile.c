/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_hostile - frames that break a rule end a real agent. */
#include "tests/unit/agent_peer.h"

static struct peer peer;

struct hostile {
    const char *what;
    struct agent_frame head;
    const char *payload; /* head.size bytes, or fewer when it must not matter */
    size_t len;
};

#define EXEC_HEAD(flags, argc, envc, zero)                                     \
    flags "\0\0\0" argc "\0\0\0" envc "\0\0\0" zero "\0\0\0"

static void a_broken_frame_ends_the_agent(void **state)
{
    static const char head[] = EXEC_HEAD("\0", "\1", "\0", "\0") "/\0x\0";
    static const struct hostile cases[] = {
        {"type 0", {0, 0, 1}, "", 0},
        {"unknown type", {0, 40, 1}, "", 0},
        {"agent's own type", {0, AGENT_EXITED, 1}, "", 0},
        {"cmd 0", {1, AGENT_STDIN, 0}, "x", 1},
        {"cmd 16", {1, AGENT_STDIN, 16}, "x", 1},
        {"too large", {AGENT_EXEC_MAX + 1, AGENT_EXEC, 1}, "", 0},
        {"4 GiB", {UINT32_MAX, AGENT_STDIN, 1}, "", 0},
        {"short exec", {18, AGENT_EXEC, 1}, head, 18},
        {"unterminated", {19, AGENT_EXEC, 1}, head, 19},
        {"data without put", {1, AGENT_FILE_DATA, 1}, "x", 1},
        {"end without put", {0, AGENT_FILE_END, 1}, "", 0},
        {"path without NUL", {4, AGENT_FILE_STAT, 1}, "/etc", 4},
        {"NUL in path", {5, AGENT_FILE_STAT, 1}, "/e\0c", 5},
        {"signal 0", {4, AGENT_SIGNAL, 1}, "\0\0\0", 4},
        {"signal 65", {4, AGENT_SIGNAL, 1}, "\x41\0\0", 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer_start(&peer);
        peer_write(&peer, &cases[i].head, sizeof(cases[i].head));
        /* its head may have ended the agent already */
        send(peer.fd, cases[i].payload, cases[i].len, MSG_NOSIGNAL);
        if (peer_next(&peer) != AGENT_NONE || peer_wait(&peer) != 1)
            fail_msg("%s", cases[i].what);
    }
}

static void more_stdin_than_credit_ends_the_agent(void **state)
{
    static char chunk[AGENT_CREDIT_START + 1];

    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, 0, "exec sleep 60");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    peer_send(&peer, AGENT_STDIN, 1, chunk, sizeof(chunk));
    assert_int_equal(peer_next(&peer), AGENT_NONE);
    assert_int_equal(peer_wait(&peer), 1);
}

static void a_busy_number_is_not_given_twice(void **state)
{
    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, 0, "exec sleep 60");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    peer_shell(&peer, 1, 0, "true");
    assert_int_equal(peer_next(&peer), AGENT_NONE);
    assert_int_equal(peer_wait(&peer), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_frame_ends_the_agent),
        cmocka_unit_test(more_stdin_than_credit_ends_the_agent),
        cmocka_unit_test(a_busy_number_is_not_given_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
