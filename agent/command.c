/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command - see command.h. Called by loop.c. Never blocks: pipes are
 * non-blocking, the runtime socket is used with MSG_DONTWAIT.
 *
 * "What a pipe holds" is asked with FIONREAD and never waited for: others than
 * the program may hold its pipes and write for ever.
 */
#include "agent/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/exec.h"
#include "agent/terminal.h"

/* Less than this is not worth a read while more room will come. */
#define ROOM_MIN 4096u
#define CREDIT_STEP (AGENT_CREDIT_START / 4)

static const uint16_t out_types[COMMAND_OUTPUTS] = {
    [COMMAND_STDOUT] = AGENT_STDOUT,
    [COMMAND_STDERR] = AGENT_STDERR,
    [COMMAND_RUNTIME_OUT] = AGENT_RUNTIME_OUT,
};

static void in_open(struct command_in *in, int fd)
{
    in->fd = fd;
    in->ending = false;
    in->credit = AGENT_CREDIT_START;
    in->taken = in->at = in->len = 0;
}

void command_exec(struct command *c, const struct exec_plan *plan,
                  struct frame_out *out)
{
    struct exec_failure failure;
    struct exec_ends ends;
    pid_t pid = exec_start(plan, &ends, &failure);

    if (pid < 0) {
        frame_put(out, AGENT_EXEC_FAILED, c->cmd, &failure, sizeof(failure));
        return;
    }
    c->state = COMMAND_RUNNING;
    c->flags = plan->flags;
    c->pid = pid;
    c->behind = false;
    c->lost = false;
    c->held = ends.held;
    in_open(&c->in[COMMAND_STDIN], ends.in);
    in_open(&c->in[COMMAND_RUNTIME_IN], ends.runtime);
    c->out[COMMAND_STDOUT] = (struct command_out){.fd = ends.out};
    c->out[COMMAND_STDERR] = (struct command_out){.fd = ends.err};
    c->out[COMMAND_RUNTIME_OUT] = (struct command_out){.fd = ends.runtime};
    frame_put(out, AGENT_STARTED, c->cmd, NULL, 0);
}

/* The runtime channel is one socket for both directions. */
static void close_in(struct command *c, enum command_input which)
{
    struct command_in *in = &c->in[which];

    if (in->fd < 0)
        return;
    if (which == COMMAND_STDIN)
        close(in->fd);
    else if (c->out[COMMAND_RUNTIME_OUT].fd < 0)
        close(in->fd);
    else
        shutdown(in->fd, SHUT_WR);
    in->fd = -1;
}

static void close_out(struct command *c, enum command_output which)
{
    struct command_out *out = &c->out[which];

    if (out->fd >= 0 &&
        (which != COMMAND_RUNTIME_OUT || c->in[COMMAND_RUNTIME_IN].fd < 0))
        close(out->fd);
    *out = (struct command_out){.fd = -1};
}

/* The other end is closed: of a pipe, a socket, a terminal. Anything else is an
 * error that has no business there, and nothing may look like an end by it. */
static bool is_end(int error)
{
    return error == EPIPE || error == ECONNRESET || error == EIO;
}

/* Writes what the program takes now; 0 to len bytes. Drops all when it is
 * closed. */
static size_t in_write(struct command *c, enum command_input which,
                       const char *data, size_t len)
{
    struct command_in *in = &c->in[which];
    ssize_t n;

    if (in->fd < 0 || len == 0)
        return len;
    if (which == COMMAND_STDIN)
        n = write(in->fd, data, len);
    else
        n = send(in->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0)
        return (size_t)n;
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    c->lost = c->lost || !is_end(errno);
    close_in(c, which);
    return len;
}

int command_input(struct command *c, enum command_input which, const char *data,
                  size_t len)
{
    struct command_in *in = &c->in[which];
    size_t done = 0;

    if (len > in->credit || in->ending)
        return -1;
    in->credit -= (uint32_t)len;
    if (in->len == in->at)
        done = in_write(c, which, data, len);
    in->taken += (uint32_t)done;
    if (done == len)
        return 0;
    memmove(in->data, in->data + in->at, in->len - in->at);
    in->len -= in->at;
    in->at = 0;
    /* fits: what waits is never more than the credit was */
    memcpy(in->data + in->len, data + done, len - done);
    in->len += (uint32_t)(len - done);
    return 0;
}

/* With the last descriptor of our end the kernel hangs the terminal up. */
static void hang_up(struct command *c)
{
    if (c->held < 0)
        return;
    close_out(c, COMMAND_STDOUT);
    close(c->held);
    c->held = -1;
}

static void end_input(struct command *c, enum command_input which)
{
    close_in(c, which);
    hang_up(c);
}

void command_input_eof(struct command *c, enum command_input which)
{
    struct command_in *in = &c->in[which];

    in->ending = true;
    if (in->at == in->len)
        end_input(c, which);
}

static bool owes_credit(const struct command_in *in)
{
    return in->taken >= CREDIT_STEP && !in->ending;
}

static void in_turn(struct command *c, enum command_input which,
                    struct frame_out *out)
{
    struct command_in *in = &c->in[which];
    uint32_t credit[2] = {which, 0};

    if (in->len > in->at) {
        size_t n = in_write(c, which, in->data + in->at, in->len - in->at);

        in->at += (uint32_t)n;
        in->taken += (uint32_t)n;
        if (in->at == in->len) {
            in->at = in->len = 0;
            if (in->ending)
                end_input(c, which);
        }
    }
    if (!owes_credit(in) || !frame_free(out))
        return;
    credit[1] = in->taken;
    in->credit += in->taken;
    in->taken = 0;
    frame_put(out, AGENT_CREDIT, c->cmd, credit, sizeof(credit));
}

void command_resize(const struct command *c, const struct agent_size *size)
{
    if (c->state == COMMAND_RUNNING && c->held >= 0)
        terminal_resize(c->in[COMMAND_STDIN].fd, size);
}

void command_signal(const struct command *c, int signal)
{
    /* A session's leader cannot leave its group; until it is reaped, the
     * number is its own. */
    if (c->state == COMMAND_RUNNING)
        kill(-c->pid, signal);
}

void command_reaped(struct command *c, int status)
{
    c->state = COMMAND_ENDED;
    c->end.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->end.signal = WIFSIGNALED(status) ? (uint32_t)WTERMSIG(status) : 0;
}

static void owe(struct command_out *out)
{
    int held = 0;

    out->owed = 0;
    if (out->fd >= 0 && ioctl(out->fd, FIONREAD, &held) == 0 && held > 0)
        out->owed = (size_t)held;
}

void command_drain(struct command *c)
{
    c->state = COMMAND_DRAINING;
    /* The runtime channel first: what stdout gets in between may go out
     * earlier than it must, never later. */
    owe(&c->out[COMMAND_RUNTIME_OUT]);
    owe(&c->out[COMMAND_STDOUT]);
    owe(&c->out[COMMAND_STDERR]);
    /* Of a terminal FIONREAD tells a part; a read that finds none ends it. */
    if (c->held >= 0 && c->out[COMMAND_STDOUT].fd >= 0)
        c->out[COMMAND_STDOUT].owed = TERMINAL_HOLDS;
}

/* One read of at most `most` bytes into a frame. */
static void out_read(struct command *c, enum command_output which, size_t most,
                     struct frame_out *out)
{
    struct command_out *from = &c->out[which];
    size_t room = frame_room(out);
    ssize_t n;

    if (room > most)
        room = most;
    else if (room < ROOM_MIN && room < most)
        return;
    from->ready = false;
    if (which == COMMAND_RUNTIME_OUT)
        n = recv(from->fd, frame_space(out), room, MSG_DONTWAIT);
    else
        n = read(from->fd, frame_space(out), room);
    if (n > 0) {
        frame_commit(out, out_types[which], c->cmd, (uint32_t)n);
        from->owed -= (size_t)n < from->owed ? (size_t)n : from->owed;
        return;
    }
    from->owed = 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    c->lost = c->lost || (n < 0 && !is_end(errno));
    close_out(c, which);
}

/* Sends what is owed. True when nothing is any more. */
static bool pay(struct command *c, enum command_output which,
                struct frame_out *out)
{
    struct command_out *from = &c->out[which];

    while (from->owed > 0) {
        size_t before = from->owed;

        out_read(c, which, from->owed, out);
        if (from->owed == before)
            return false;
    }
    return true;
}

/* Runtime bytes that are there now, after all that stdout and stderr hold. */
static void runtime_turn(struct command *c, struct frame_out *out)
{
    struct command_out *runtime = &c->out[COMMAND_RUNTIME_OUT];

    if (!c->behind) {
        if (!runtime->ready)
            return;
        owe(runtime);
        owe(&c->out[COMMAND_STDOUT]);
        owe(&c->out[COMMAND_STDERR]);
        c->behind = true;
        if (runtime->owed == 0)
            runtime->owed = 1; /* its end: to be read too */
    }
    for (int i = 0; i < COMMAND_OUTPUTS; i++) {
        if (!pay(c, (enum command_output)i, out))
            return;
    }
    c->behind = false;
}

static void running_turn(struct command *c, struct frame_out *out)
{
    runtime_turn(c, out);
    for (int i = COMMAND_STDOUT; !c->behind && i <= COMMAND_STDERR; i++) {
        if (c->out[i].ready && c->out[i].fd >= 0)
            out_read(c, (enum command_output)i, AGENT_DATA_MAX, out);
    }
}

static void draining_turn(struct command *c, struct frame_out *out)
{
    for (int i = 0; i < COMMAND_OUTPUTS; i++) {
        if (!pay(c, (enum command_output)i, out))
            return;
    }
    if (!frame_free(out))
        return;
    frame_put(out, AGENT_EXITED, c->cmd, &c->end, sizeof(c->end));
    for (int i = 0; i < COMMAND_OUTPUTS; i++)
        close_out(c, (enum command_output)i);
    for (int i = 0; i < COMMAND_INPUTS; i++)
        close_in(c, (enum command_input)i);
    hang_up(c);
    c->state = COMMAND_FREE;
}

bool command_wants_turn(const struct command *c)
{
    if (c->state == COMMAND_FREE)
        return false;
    if (c->state == COMMAND_DRAINING || c->behind)
        return true;
    for (int i = 0; i < COMMAND_OUTPUTS; i++) {
        if (c->out[i].ready)
            return true;
    }
    return owes_credit(&c->in[COMMAND_STDIN]) ||
           owes_credit(&c->in[COMMAND_RUNTIME_IN]);
}

void command_turn(struct command *c, struct frame_out *out)
{
    if (c->state == COMMAND_FREE)
        return;
    if (c->state == COMMAND_DRAINING) {
        draining_turn(c, out);
        return;
    }
    for (int i = 0; i < COMMAND_INPUTS; i++)
        in_turn(c, (enum command_input)i, out);
    running_turn(c, out);
}
