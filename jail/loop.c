/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop - see loop.h. The child's word is taken only before its exec, while it
 * is our own program; from then on the kernel's counters are all that counts.
 */
#include "jail/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jail/limits.h"
#include "jail/observe.h"
#include "jail/pass.h"
#include "jail/seccomp.h"
#include "jail/supervise.h"
#include "jail/tell.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define KILLED_BITS                                                            \
    (HOLDER_HIT_MEMORY_KILLED | HOLDER_HIT_DISK_KILLED |                       \
     HOLDER_HIT_CPU_TIME_KILLED)
#define HIT_BITS 32
#define BURY_US 2000000u
#define UP_MESSAGES 3 /* an error of the socket, READY, FAILED, its end */

struct state {
    struct loop *l;
    struct supervise *calls; /* answers calls of the cell; NULL: not needed */
    struct observer *observer;
    bool reported;                /* the child is confined, and about to exec */
    bool ready;                   /* the engine was told */
    bool asked;                   /* it waits for USAGE */
    uint64_t wall_us;             /* the backstop; 0: none */
    uint64_t sample_us;           /* the next sample */
    uint32_t hits;                /* our own: WALL_KILLED */
    struct holder_message failed; /* type NONE until there is a reason */
};

static struct holder_message failure(const struct jail *j,
                                     const struct err *err)
{
    struct holder_message m = {
        .type = HOLDER_FAILED, .sys = err->sys, .mechanism = j->mechanism};

    snprintf(m.text, sizeof(m.text), "%.*s", (int)sizeof(m.text) - 1,
             err->text);
    return m;
}

void loop_refuse(int control, const struct jail *j, const struct err *err)
{
    const struct holder_message m = failure(j, err);

    tell(control, &m);
}

/* Nobody listens any more: what would have asked gets ENOSYS. */
static void stop_calls(struct state *s)
{
    supervise_free(s->calls);
    s->calls = NULL;
}

/* Pid 1 of a pid namespace takes everything with it. Without one, nobody may
 * fork while all are killed. */
static void kill_cell(struct state *s)
{
    sys_pidfd_send_signal(s->l->pidfd, SIGKILL);
    if (!s->l->j->fallback)
        return;
    stop_calls(s);
    limiter_kill(s->l->j->limiter);
}

static void tell_hits(const struct state *s, uint32_t hits)
{
    for (unsigned bit = 0; bit < HIT_BITS; bit++) {
        const struct holder_message m = {.type = HOLDER_LIMIT,
                                         .value = 1u << bit};

        if ((hits >> bit & 1) != 0)
            tell(s->l->control, &m);
    }
}

static void sample(struct state *s, struct holder_usage *u)
{
    uint32_t hits = (uint32_t)limiter_sample(s->l->j->limiter, u);

    if ((hits & KILLED_BITS) != 0)
        kill_cell(s);
    tell_hits(s, hits);
    u->hits |= s->hits;
}

static void go_ready(struct state *s)
{
    const struct holder_limits *limits = &s->l->j->h->limits;
    struct holder_message m = {.type = HOLDER_READY,
                               .mechanism = HOLDER_MECHANISM_COUNT,
                               .agent_pid = s->l->pid};
    uint64_t now = clock_us();

    memcpy(m.effective, s->l->j->effective, sizeof(m.effective));
    tell(s->l->control, &m);
    s->ready = true;
    s->sample_us = now + (uint64_t)limiter_interval_ms(s->l->j->limiter) * 1000;
    if (limits->wall_ms != 0)
        s->wall_us = now + (limits->wall_ms + HOLDER_WALL_GRACE_MS) * 1000;
}

/* Takes the listener of the filter, or -1: there is none. */
static void listen_to(struct state *s, int fd, unsigned variant)
{
    struct jail *j = s->l->j;
    const struct supervised cell = {.limiter = j->limiter,
                                    .observer = s->observer,
                                    .agent = s->l->pid,
                                    .variant = variant};
    struct err err;

    if (fd >= 0 && supervise_new(fd, &cell, &s->calls, &err) < 0) {
        s->failed = failure(j, &err);
        kill_cell(s);
    }
}

/* The child is confined: with the listener, if there is one, then with what is
 * to be watched; without namespaces that is known here. Takes fds. */
static void take_report(struct state *s, const struct holder_message *m,
                        const int fds[PASS_MAX])
{
    struct jail *j = s->l->j;
    bool asks = seccomp_asks(m->value);

    memcpy(j->effective, m->effective, sizeof(j->effective));
    s->reported = true;
    if (j->fallback)
        limiter_watch_tree(j->limiter, fd_take(&j->tree_fd), s->l->pid);
    else
        limiter_watch(j->limiter, fds[asks], s->l->pid);
    listen_to(s, asks ? fds[0] : -1, m->value);
}

/* The child has something to say, or has executed the agent, or is dead. */
static void read_child(struct state *s)
{
    struct holder_message m;
    int fds[PASS_MAX];
    ssize_t n = pass_recv_all(s->l->up, &m, sizeof(m), fds, MSG_DONTWAIT);

    if (n < 0)
        return;
    if (n == (ssize_t)sizeof(m) && m.type == HOLDER_READY && !s->reported)
        return take_report(s, &m, fds);
    for (size_t i = 0; i < PASS_MAX; i++)
        fd_auto(&fds[i]);
    if (n == (ssize_t)sizeof(m) && m.type == HOLDER_FAILED) {
        s->failed = m;
        return;
    }
    fd_drop(&s->l->up);
    if (s->reported && s->failed.type == HOLDER_NONE)
        go_ready(s);
}

/* Numbers of refused calls first, then usage; as soon as there is room. */
static void answer_engine(struct state *s)
{
    struct holder_message answer = {.type = HOLDER_USAGE};

    if (observer_settle(s->observer) < 0)
        return;
    sample(s, &answer.usage);
    s->asked = tell(s->l->control, &answer) < 0;
}

static void read_engine(struct state *s)
{
    struct holder_message m;
    ssize_t n;

    do
        n = recv(s->l->control, &m, sizeof(m), MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n == (ssize_t)sizeof(m) && m.type == HOLDER_ASK && s->ready) {
        s->asked = true;
        return;
    }
    if (n == (ssize_t)sizeof(m) && m.type == HOLDER_OVER) {
        s->wall_us = 0;
        return;
    }
    if (n != (ssize_t)sizeof(m)) /* the engine has gone */
        fd_drop(&s->l->control);
    kill_cell(s);
}

static void on_time(struct state *s, uint64_t now)
{
    struct holder_usage u;

    if (s->wall_us != 0 && now >= s->wall_us) {
        s->wall_us = 0;
        s->hits |= HOLDER_HIT_WALL_KILLED;
        tell_hits(s, HOLDER_HIT_WALL_KILLED);
        kill_cell(s);
    }
    if (now < s->sample_us)
        return;
    sample(s, &u);
    s->sample_us = now + (uint64_t)limiter_interval_ms(s->l->j->limiter) * 1000;
}

/* rest_ms 0: nothing else to wait for. */
static int wait_ms(const struct state *s, int rest_ms)
{
    uint64_t now = clock_us();
    int ms = rest_ms == 0 ? -1 : rest_ms;
    int sample_ms;

    if (!s->ready)
        return ms;
    sample_ms =
        now >= s->sample_us ? 0 : (int)((s->sample_us - now) / 1000) + 1;
    return ms < 0 || sample_ms < ms ? sample_ms : ms;
}

static void answer_calls(struct state *s)
{
    if (s->calls != NULL && supervise_answer(s->calls) < 0)
        stop_calls(s);
}

/* Until the child is dead, but not yet reaped. */
static void watch(struct state *s)
{
    struct pollfd p[4] = {{.events = POLLIN},
                          {.events = POLLIN},
                          {.events = POLLIN},
                          {.events = POLLIN}};

    for (;;) {
        int rest_ms = 0;

        p[0].fd = s->l->control; /* -1 is left out */
        p[0].events = s->asked ? POLLIN | POLLOUT : POLLIN;
        p[1].fd = s->l->up;
        p[2].fd = s->l->pidfd;
        p[3].fd = s->calls == NULL ? -1 : supervise_fd(s->calls, &rest_ms);
        if (poll(p, ARRAY_LEN(p), wait_ms(s, rest_ms)) < 0) {
            if (errno != EINTR)
                return kill_cell(s);
            continue;
        }
        if (p[1].revents != 0 && s->l->up >= 0)
            read_child(s);
        if (p[0].revents != 0 && s->l->control >= 0)
            read_engine(s);
        if (s->asked && s->l->control >= 0)
            answer_engine(s);
        if (p[2].revents != 0)
            return;
        if (p[3].revents != 0)
            answer_calls(s);
        if (s->ready)
            on_time(s, clock_us());
    }
}

/* Without a pid namespace: what the agent left is our child now. All of it was
 * killed, and is reaped as soon as the kernel is done with it. */
static void bury_cell(struct state *s)
{
    const struct timespec nap = {.tv_nsec = 500000};
    uint64_t end = clock_us() + BURY_US;
    pid_t pid;

    stop_calls(s);
    limiter_kill(s->l->j->limiter);
    while ((pid = waitpid(-1, NULL, __WALL | WNOHANG)) >= 0)
        if (pid == 0 && (clock_us() > end || nanosleep(&nap, NULL) < 0))
            return;
}

static void tell_failure(struct state *s, int status)
{
    struct holder_message *m = &s->failed;

    if (m->type == HOLDER_NONE) {
        m->type = HOLDER_FAILED;
        m->mechanism = HOLDER_MECHANISM_COUNT;
        if (WIFSIGNALED(status))
            snprintf(m->text, sizeof(m->text),
                     "the set-up was ended by signal %d", WTERMSIG(status));
        else
            snprintf(m->text, sizeof(m->text), "the set-up ended early");
    }
    m->text[sizeof(m->text) - 1] = '\0';
    if (s->l->control >= 0)
        tell(s->l->control, m);
}

/* Nothing runs any more: now there is time for an engine that reads late. */
static void tell_end(const struct state *s, const struct holder_message *m)
{
    while (observer_settle(s->observer) < 0 || tell(s->l->control, m) < 0) {
        if (errno != EAGAIN)
            return;
        fd_wait(s->l->control, POLLOUT, -1);
    }
}

void loop_hold(struct loop *loop, const struct err *failed)
{
    struct state s = {.l = loop,
                      .observer = observer_begin(loop->j, &loop->control)};
    struct holder_message ended = {.type = HOLDER_ENDED};
    struct rusage ru = {0};
    int status = 0;
    pid_t pid;

    if (failed != NULL) {
        s.failed = failure(loop->j, failed);
        kill_cell(&s);
    }
    watch(&s);
    do
        pid = wait4(loop->pid, &status, 0, &ru);
    while (pid < 0 && errno == EINTR);
    for (int i = 0; i < UP_MESSAGES && loop->up >= 0; i++)
        read_child(&s); /* what it said before it ended */
    if (loop->j->fallback)
        bury_cell(&s);
    if (!s.ready)
        return tell_failure(&s, status);
    limiter_reaped(loop->j->limiter, &ru);
    sample(&s, &ended.usage);
    tell_end(&s, &ended);
}
