/* SPDX-License-Identifier: Apache-2.0 */
/* forward - see forward.h. */
#include "src/cli/forward.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define TWICE_US 2000000u
#define ASKS_MAX 3u

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                SIGUSR1, SIGUSR2, SIGWINCH};

static volatile sig_atomic_t seen[ARRAY_LEN(passed_on)];
static struct forward_asks asks; /* of the handlers: one runs at a time */
static volatile sig_atomic_t kills;

bool forward_ask(struct forward_asks *a, uint64_t now_us)
{
    bool twice = a->count > 0 && now_us - a->last_us < TWICE_US;

    a->count++;
    a->last_us = now_us;
    return twice || a->count >= ASKS_MAX;
}

static void on_signal(int sig)
{
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        if (passed_on[i] == sig)
            seen[i] = 1;
    if ((sig == SIGINT || sig == SIGTERM) && forward_ask(&asks, clock_us()))
        kills = 1;
}

/* A handler, not SIG_IGN: what is ignored stays so across an exec. */
static void on_pipe(int sig)
{
    (void)sig;
}

void forward_start(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    struct sigaction pipe = {.sa_handler = on_pipe, .sa_flags = SA_RESTART};
    struct sigaction old;
    sigset_t block;

    sigemptyset(&block);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        sigaddset(&block, passed_on[i]);
    sa.sa_mask = block;
    sigprocmask(SIG_BLOCK, &block, NULL);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        int sig = passed_on[i];

        if (sigaction(sig, &sa, &old) == 0 && old.sa_handler == SIG_IGN)
            sigaction(sig, &old, NULL);
    }
    sigaction(SIGPIPE, &pipe, NULL);
}

bool forward_kills(void)
{
    return kills != 0;
}

static void on_parent(int sig)
{
    (void)sig;
    kills = 1;
}

int forward_parent(void)
{
    const struct sigaction sa = {.sa_handler = on_parent};
    pid_t parent = getppid();
    sigset_t block; /* as the others: let in while karzer waits */

    sigemptyset(&block);
    sigaddset(&block, SIGPWR);
    sigprocmask(SIG_BLOCK, &block, NULL);
    if (sigaction(SIGPWR, &sa, NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGPWR) < 0)
        return -1;
    return getppid() == parent ? 0 : -1;
}

void forward_again(void)
{
    sigset_t all, old;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    asks = (struct forward_asks){0};
    kills = 0;
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        seen[i] = 0;
    sigprocmask(SIG_SETMASK, &old, NULL);
}

int forward_next(void *ctx)
{
    (void)ctx;
    if (kills != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        if (seen[i] == 0)
            continue;
        seen[i] = 0;
        return passed_on[i];
    }
    return 0;
}
