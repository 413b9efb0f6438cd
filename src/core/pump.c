/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump - see pump.h. One loop: wait, read frames, read the holder, feed stdin
 * and code within the agent's credit, look at the clock.
 */
#include "src/core/pump.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/core/language.h"
#include "src/core/output.h"

#define STDIN_CHUNK (32u << 10)
#define QUEUE_ENOUGH (256u << 10)
#define KILL_GRACE_US (2 * 1000000u)
#define OUTPUT_END_FACTOR 64 /* times the cap ends the run */

/* ---- ending ---- */

static void end_program(struct pump *p)
{
    if (!p->spare) {
        cell_kill(p->cell);
    } else if (p->grace_us == 0) {
        p->grace_us = clock_us() + KILL_GRACE_US;
        if (stream_put(p->stream, AGENT_KILL_ALL, 0, NULL, 0, NULL) < 0)
            cell_kill(p->cell);
    }
}

/* ---- frames ---- */

static bool output_over(const struct pump *p, int which)
{
    uint64_t cap = p->grant->limits.output_bytes;
    uint64_t end;

    if (p->grant->output_kill)
        return p->seen[which] > cap;
    if (cap == 0)
        return false; /* nothing is kept, and nothing is too much */
    if (__builtin_mul_overflow(cap, (uint64_t)OUTPUT_END_FACTOR, &end))
        return false;
    return p->seen[which] > end;
}

static void take_output(struct pump *p, int which, const char *data, size_t len)
{
    struct output *o = which == 1 ? &p->result->out : &p->result->err;
    const struct run_io *io = p->io;

    if (p->ev->output || p->ev->killed) {
        output_count(o, len);
        return;
    }
    p->seen[which] += len;
    if (output_over(p, which)) {
        size_t over =
            (size_t)(p->seen[which] - p->grant->limits.output_bytes *
                                          (p->grant->output_kill ? 1u : 64u));

        p->ev->output = true;
        output_count(o, over);
        len -= over < len ? over : len;
        end_program(p);
    }
    if (io->output == NULL) {
        if (output_add(o, data, len) < 0)
            p->ev->internal = true;
        return;
    }
    output_count(o, len);
    if (io->output(io->ctx, which, data, len) < 0) {
        p->ev->killed = true;
        end_program(p);
    }
}

static int take_exited(struct pump *p, const struct agent_frame *f,
                       const char *payload, struct err *err)
{
    struct agent_exited e;

    if (f->size != sizeof(e))
        return err_set(err, ERR_INVALID, "the agent sent a bad EXITED");
    memcpy(&e, payload, sizeof(e));
    if (e.code < -1 || e.code > 255 || e.signal > 64 ||
        (e.code == -1) != (e.signal != 0))
        return err_set(err, ERR_INVALID, "the agent sent a bad EXITED");
    p->ev->exited = true;
    p->ev->code = e.code;
    p->ev->signal = (int)e.signal;
    p->exited = true;
    p->ended_us = clock_us();
    if (!p->last)
        cell_over(p->cell);
    return 0;
}

/* The language is not there: that is the host's, or a template's, lack. */
static int no_interpreter(struct pump *p)
{
    const struct language *lang = p->grant->language;

    p->ev->unavailable = true;
    snprintf(
        p->result->message, sizeof(p->result->message),
        "%s: no %s in the PATH of the cell: apt-get install %s, or name one "
        "with --interpreter",
        lang->name, lang->program, lang->package);
    return 0;
}

static int take_exec_failed(struct pump *p, const struct agent_frame *f,
                            const char *payload, struct err *err)
{
    uint32_t at[2];
    int no;

    if (f->size != sizeof(at))
        return err_set(err, ERR_INVALID, "the agent sent a bad EXEC_FAILED");
    memcpy(at, payload, sizeof(at));
    no = at[0] < 4096 ? (int)at[0] : EINVAL;
    p->exec_failed = p->exited = true;
    p->ended_us = clock_us();
    if (p->last)
        cell_kill(p->cell); /* no program will end it */
    if (at[1] == AGENT_STAGE_LOOKUP && p->parser != NULL)
        return no_interpreter(p);
    p->ev->exited = true;
    p->ev->code = at[1] == AGENT_STAGE_LOOKUP ||
                          (at[1] == AGENT_STAGE_EXEC && no == ENOENT)
                      ? 127
                      : 126;
    snprintf(p->result->message, sizeof(p->result->message), "%s: %s",
             at[1] == AGENT_STAGE_CHDIR ? p->grant->cwd
             : p->program != NULL       ? p->program
             : p->grant->argv.len > 0   ? p->grant->argv.at[0]
                                        : "the program",
             strerror(no));
    if (at[1] == AGENT_STAGE_START && no == EAGAIN)
        p->ev->uncaught_errno = EAGAIN;
    return 0;
}

static int take_credit(struct pump *p, const struct agent_frame *f,
                       const char *payload, struct err *err)
{
    uint32_t at[2];
    uint32_t *credit;

    if (f->size != sizeof(at))
        return err_set(err, ERR_INVALID, "the agent sent a bad CREDIT");
    memcpy(at, payload, sizeof(at));
    credit = at[0] == 0 ? &p->credit_stdin : &p->credit_runtime;
    if (at[0] > 1 || __builtin_add_overflow(*credit, at[1], credit))
        return err_set(err, ERR_INVALID, "the agent sent a bad CREDIT");
    return 0;
}

void pump_clock_start(struct pump *p, const struct grant *grant)
{
    uint64_t add;

    p->started = true;
    p->begun_us = clock_us();
    if (__builtin_mul_overflow(grant->limits.wall_ms, 1000u, &add) ||
        __builtin_add_overflow(p->begun_us, add, &p->deadline_us))
        p->deadline_us = UINT64_MAX;
}

/* A driver that talks nonsense is heard no more; the program is not ended, and
 * its own end is still the kernel's word. */
static void take_runtime(struct pump *p, const char *data, size_t len)
{
    struct err why = {0};

    if (p->deaf || runtime_feed(p->parser, data, len, &why) == 0)
        return;
    p->deaf = true;
    snprintf(p->result->message, sizeof(p->result->message), "%s", why.text);
    if (p->block)
        end_program(p); /* no DONE will be believed */
}

static int take_frame(struct pump *p, const struct agent_frame *f,
                      const char *payload, struct err *err)
{
    if (f->cmd != p->cmd)
        return 0; /* the late words of an earlier command */
    switch (f->type) {
    case AGENT_STARTED:
        pump_clock_start(p, p->grant);
        return 0;
    case AGENT_EXEC_FAILED:
        return take_exec_failed(p, f, payload, err);
    case AGENT_STDOUT:
        take_output(p, 1, payload, f->size);
        return 0;
    case AGENT_STDERR:
        take_output(p, 2, payload, f->size);
        return 0;
    case AGENT_RUNTIME_OUT:
        if (p->parser == NULL)
            break;
        take_runtime(p, payload, f->size);
        return 0;
    case AGENT_CREDIT:
        return take_credit(p, f, payload, err);
    case AGENT_EXITED:
        return take_exited(p, f, payload, err);
    default:
        break;
    }
    return err_set(err, ERR_INVALID, "the agent sent frame type %u", f->type);
}

static int take_frames(struct pump *p, struct err *err)
{
    struct agent_frame f;
    const char *payload;
    int r = 0;

    while (!p->done && !p->stream->eof &&
           (r = stream_next(p->stream, &f, &payload, err)) > 0) {
        if (take_frame(p, &f, payload, err) < 0)
            return -1;
        if (p->exited && !p->last)
            return 0;
    }
    if (!p->stream->eof)
        return r;
    *err = (struct err){0}; /* an end, whose reason the holder tells */
    cell_close_mounts(p->cell);
    return 0;
}

/* ---- what goes down ---- */

static int feed_code(struct pump *p, struct err *err)
{
    while (p->code != NULL && p->code_at < p->code->len &&
           p->credit_runtime > 0 && p->stream->out.len < QUEUE_ENOUGH) {
        size_t n = p->code->len - p->code_at;

        n = n < p->credit_runtime ? n : p->credit_runtime;
        n = n < AGENT_DATA_MAX ? n : AGENT_DATA_MAX;
        if (stream_put(p->stream, AGENT_RUNTIME_IN, p->cmd,
                       p->code->data + p->code_at, n, err) < 0)
            return -1;
        p->code_at += n;
        p->credit_runtime -= (uint32_t)n;
    }
    return 0;
}

static bool wants_stdin(const struct pump *p)
{
    return p->grant->has_stdin && !p->stdin_eof && !p->exited &&
           p->io->stdin_fd >= 0 && p->credit_stdin > 0 &&
           p->stream->out.len < QUEUE_ENOUGH;
}

static int feed_stdin(struct pump *p, struct err *err)
{
    char chunk[STDIN_CHUNK];
    size_t room =
        p->credit_stdin < sizeof(chunk) ? p->credit_stdin : sizeof(chunk);
    ssize_t n = read(p->io->stdin_fd, chunk, room);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n > 0) {
        p->credit_stdin -= (uint32_t)n;
        return stream_put(p->stream, AGENT_STDIN, p->cmd, chunk, (size_t)n,
                          err);
    }
    p->stdin_eof = true;
    if (p->grant->terminal && p->grace_us == 0) {
        p->hung_up = true; /* the agent hangs the program's up, too */
        p->grace_us = clock_us() + KILL_GRACE_US;
    }
    return stream_put(p->stream, AGENT_STDIN_EOF, p->cmd, NULL, 0, err);
}

static int feed_window(struct pump *p, struct err *err)
{
    struct agent_size size = {0};

    if (p->io->window == NULL)
        return 0;
    p->io->window(&size.rows, &size.columns);
    return stream_put(p->stream, AGENT_RESIZE, p->cmd, &size, sizeof(size),
                      err);
}

static int feed_signal(struct pump *p, struct err *err)
{
    int sig = p->io->poll_signal == NULL ? 0 : p->io->poll_signal(p->io->ctx);
    uint32_t at;

    if (sig == 0)
        return 0;
    if (sig < 0) {
        p->ev->killed = true;
        end_program(p);
        return 0;
    }
    if (sig == SIGWINCH && p->grant->terminal)
        return feed_window(p, err);
    at = (uint32_t)sig;
    return stream_put(p->stream, AGENT_SIGNAL, p->cmd, &at, sizeof(at), err);
}

/* ---- the clock, the holder ---- */

static void look_at_clock(struct pump *p)
{
    uint64_t now = clock_us();

    if (p->started && !p->exited && !p->ev->wall && now >= p->deadline_us) {
        p->ev->wall = true;
        end_program(p);
    }
    if (p->grace_us != 0 && now >= p->grace_us && !p->exited) {
        p->ev->killed = p->ev->killed || p->hung_up;
        cell_kill(p->cell);
    }
}

static struct timespec time_left(const struct pump *p)
{
    uint64_t at = UINT64_MAX, now = clock_us();

    if (p->started && !p->ev->wall)
        at = p->deadline_us;
    if (p->grace_us != 0 && p->grace_us < at)
        at = p->grace_us;
    if (at == UINT64_MAX)
        at = now + 60 * 1000000u;
    at = at > now ? at - now : 0;
    return (struct timespec){.tv_sec = (time_t)(at / 1000000u),
                             .tv_nsec = (long)(at % 1000000u) * 1000};
}

static int take_control(struct pump *p, struct err *err)
{
    if (cell_read_control(p->cell, &p->ev->hits, err) < 0) {
        p->ev->internal = true;
        return -1;
    }
    if (p->cell->ended && !p->cell->ready && p->cell->failure.code) {
        *err = p->cell->failure;
        p->ev->unavailable = true;
        return -1;
    }
    return 0;
}

static int tell_ready(struct pump *p, pump_told_fn *ready, void *ctx,
                      struct err *err)
{
    if (!p->cell->ready || p->ready_told)
        return 0;
    p->ready_told = true;
    return ready(ctx, err);
}

static bool finished(struct pump *p)
{
    if (p->cell->ended)
        p->done = p->stream->eof; /* read what it had said before */
    else if (!p->last)
        p->done = p->exited;
    return p->done;
}

/* ---- the loop ---- */

static int wait_once(struct pump *p, bool *in, bool *control, bool *input)
{
    const struct timespec left = time_left(p);
    sigset_t none;
    struct pollfd fds[4] = {
        {.fd = p->stream->eof ? -1 : p->stream->fd, .events = POLLIN},
        {.fd = p->cell->ended ? -1 : p->cell->control_fd, .events = POLLIN},
        {.fd = wants_stdin(p) ? p->io->stdin_fd : -1, .events = POLLIN},
        {.fd = p->io->watch_client ? p->io->client_fd : -1,
         .events = POLLRDHUP},
    };

    sigemptyset(&none);
    if (stream_pending(p->stream))
        fds[0].events |= POLLOUT;
    if (ppoll(fds, 4, &left, &none) < 0) {
        *in = *control = *input = false;
        return errno == EINTR ? 0 : -1;
    }
    *in = (fds[0].revents & ~POLLOUT) != 0;
    *control = fds[1].revents != 0;
    *input = fds[2].revents != 0;
    if (fds[3].revents != 0 && !p->ev->killed) {
        p->ev->killed = true;
        cell_kill(p->cell);
    }
    return 0;
}

static int turn(struct pump *p, pump_told_fn *ready, void *ctx, struct err *err)
{
    bool in, control, input;

    if (feed_code(p, err) < 0)
        return -1;
    if (!p->stream->eof && stream_flush(p->stream, err) < 0)
        return -1;
    if (tell_ready(p, ready, ctx, err) < 0)
        return -1; /* no record, no run */
    if (wait_once(p, &in, &control, &input) < 0)
        return err_sys(err, "poll");
    if (control && take_control(p, err) < 0)
        return -1;
    if (p->cell->denied_count > 0 && p->ready_told && p->denied(ctx, err) < 0)
        return -1;
    if (in && take_frames(p, err) < 0)
        return -1;
    if (input && feed_stdin(p, err) < 0)
        return -1;
    if (feed_signal(p, err) < 0)
        return -1;
    look_at_clock(p);
    return 0;
}

int pump_run(struct pump *p, pump_told_fn *ready, void *ctx, struct err *err)
{
    int r = 0;

    while (r == 0 && !finished(p))
        r = turn(p, ready, ctx, err);
    if (r == 0) /* ready and the end may come in one */
        r = tell_ready(p, ready, ctx, err);
    if (r < 0 && !p->ev->unavailable)
        p->ev->internal = true;
    if (p->ended_us == 0)
        p->ended_us = clock_us();
    return r;
}

/* ---- for file operations ---- */

int pump_drain(struct stream *s, int timeout_ms, struct err *err)
{
    while (stream_pending(s)) {
        if (stream_flush(s, err) < 0)
            return -1;
        if (stream_pending(s) && !fd_wait(s->fd, POLLOUT, timeout_ms))
            return err_set(err, ERR_INTERNAL, "the agent does not read");
    }
    return 0;
}

int pump_frame(struct stream *s, struct cell *cell, int timeout_ms,
               struct agent_frame *frame, const char **payload, struct err *err)
{
    uint64_t until = clock_us() + (uint64_t)timeout_ms * 1000;
    uint32_t hits = 0;
    int r;

    while ((r = stream_next(s, frame, payload, err)) == 0) {
        uint64_t now = clock_us();
        struct pollfd fds[2] = {
            {.fd = s->fd, .events = POLLIN},
            {.fd = cell->control_fd, .events = POLLIN},
        };

        if (now >= until)
            return 0;
        if (poll(fds, 2, (int)((until - now) / 1000) + 1) > 0 &&
            fds[1].revents != 0 && cell_read_control(cell, &hits, err) < 0)
            return -1;
        if (cell->ended && cell->failure.code) {
            *err = cell->failure;
            return -1;
        }
    }
    return r;
}
