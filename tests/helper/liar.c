/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liar - an agent that breaks the rules of abi/agent.h, one way a mode. The
 * tests put it in the place of karzer-agent, with the mode written over the
 * digits of `mode`, and look at what the engine makes of it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/agent.h"

static volatile char mode[] = "LIAR-MODE=00";

static void say(const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = write(AGENT_STREAM_FD, at, len);

        if (n <= 0)
            _exit(0);
        at += n;
        len -= (size_t)n;
    }
}

static void frame(uint16_t type, uint16_t cmd, const void *data, uint32_t len)
{
    const struct agent_frame f = {.size = len, .type = type, .cmd = cmd};

    say(&f, sizeof(f));
    say(data, len);
}

static void hello(uint32_t version)
{
    frame(AGENT_HELLO, 0, &version, sizeof(version));
}

static void wait_for_exec(void)
{
    char first;

    if (read(AGENT_STREAM_FD, &first, 1) != 1)
        _exit(0);
}

static void flood(uint16_t type, uint16_t cmd)
{
    static char data[AGENT_DATA_MAX];

    for (;;)
        frame(type, cmd, data, sizeof(data));
}

static void no_hello(void)
{
}

static void wrong_version(void)
{
    hello(AGENT_VERSION + 1);
    pause();
}

static void no_end(void)
{
    hello(AGENT_VERSION);
    for (;;)
        pause();
}

static void huge_frame(void)
{
    const struct agent_frame f = {.size = UINT32_MAX, .type = AGENT_STDOUT};

    hello(AGENT_VERSION);
    say(&f, sizeof(f));
    flood(AGENT_STDOUT, 1);
}

static void unknown_type(void)
{
    hello(AGENT_VERSION);
    frame(999, 1, "x", 1);
    pause();
}

static void unknown_command(void)
{
    hello(AGENT_VERSION);
    frame(AGENT_STDOUT, 4711, "x", 1);
    pause();
}

static void half_a_frame(void)
{
    const struct agent_frame f = {.size = 100, .type = AGENT_STDOUT, .cmd = 1};

    hello(AGENT_VERSION);
    wait_for_exec();
    say(&f, sizeof(f));
    say("half", 4);
}

static void short_exit(void)
{
    hello(AGENT_VERSION);
    wait_for_exec();
    frame(AGENT_STARTED, 1, "", 0);
    frame(AGENT_EXITED, 1, "xx", 2);
    pause();
}

static void impossible_exit(void)
{
    const struct agent_exited e = {.code = 99999, .signal = 4711};

    hello(AGENT_VERSION);
    wait_for_exec();
    frame(AGENT_STARTED, 1, "", 0);
    frame(AGENT_EXITED, 1, &e, sizeof(e));
    pause();
}

static void dies(void)
{
    hello(AGENT_VERSION);
    wait_for_exec();
    frame(AGENT_STARTED, 1, "", 0);
    abort();
}

static void floods_output(void)
{
    hello(AGENT_VERSION);
    wait_for_exec();
    frame(AGENT_STARTED, 1, "", 0);
    flood(AGENT_STDOUT, 1);
}

static void floods_entries(void)
{
    hello(AGENT_VERSION);
    wait_for_exec();
    flood(AGENT_FILE_ENTRY, 1);
}

static void endless_credit(void)
{
    const uint32_t credit[2] = {0, UINT32_MAX};

    hello(AGENT_VERSION);
    wait_for_exec();
    for (;;)
        frame(AGENT_CREDIT, 1, credit, sizeof(credit));
}

static void (*const modes[])(void) = {
    no_hello,      wrong_version,   huge_frame,
    unknown_type,  unknown_command, half_a_frame,
    short_exit,    impossible_exit, dies,
    floods_output, floods_entries,  endless_credit,
    no_end,
};

int main(void)
{
    size_t at = (size_t)(mode[10] - '0') * 10 + (size_t)(mode[11] - '0');

    signal(SIGPIPE, SIG_IGN);
    if (at < sizeof(modes) / sizeof(modes[0]))
        modes[at]();
    return 0;
}
