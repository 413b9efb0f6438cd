/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop - see loop.h. Called by main.c. The engine is trusted but checked: a
 * frame that breaks a rule ends the agent, and with it the cell.
 *
 * Frames for a command that has just ended are dropped: the engine may not
 * have seen its EXITED when it sent them.
 */
#include "agent/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "agent/decode.h"
#include "agent/exec.h"
#include "agent/reap.h"

#define SLOTS (AGENT_CMD_MAX + 1)
#define WATCH_MAX (2 + SLOTS * 4)
#define KILL_PAUSE_MS 5
#define KILL_PATIENCE_MS 2000 /* then the holder has to end what is left */
#define FRAMES_PER_TURN 64

/* Frames from the engine */

static bool is_busy(const struct agent *a, uint16_t cmd)
{
    return a->command[cmd].state != COMMAND_FREE || file_busy(&a->file[cmd]);
}

static int on_exec(struct agent *a, const struct agent_frame *head,
                   char *payload)
{
    struct command *c = &a->command[head->cmd];
    struct exec_plan plan;

    if (is_busy(a, head->cmd) || decode_exec(payload, head->size, &plan) < 0)
        return -1;
    a->file[head->cmd].kind = FILE_FREE;
    if (a->last) {
        const struct exec_failure ending = {ESHUTDOWN, AGENT_STAGE_START};

        frame_put(&a->out, AGENT_EXEC_FAILED, head->cmd, &ending,
                  sizeof(ending));
        return 0;
    }
    c->cmd = head->cmd;
    command_exec(c, &plan, &a->out);
    a->alone = a->killing = false;
    return 0;
}

static bool takes_input(const struct command *c)
{
    return c->state == COMMAND_RUNNING || c->state == COMMAND_ENDED;
}

static int on_input(struct agent *a, const struct agent_frame *head,
                    char *payload)
{
    struct command *c = &a->command[head->cmd];

    if (!takes_input(c))
        return 0;
    return command_input(
        c, head->type == AGENT_STDIN ? COMMAND_STDIN : COMMAND_RUNTIME_IN,
        payload, head->size);
}

static int on_input_eof(struct agent *a, const struct agent_frame *head,
                        char *payload)
{
    struct command *c = &a->command[head->cmd];

    (void)payload;
    if (takes_input(c))
        command_input_eof(c, head->type == AGENT_STDIN_EOF
                                 ? COMMAND_STDIN
                                 : COMMAND_RUNTIME_IN);
    return 0;
}

static int on_signal(struct agent *a, const struct agent_frame *head,
                     char *payload)
{
    uint32_t number;

    if (decode_number(payload, head->size, &number, NULL) < 0)
        return -1;
    if (number < 1 || number >= NSIG)
        return -1;
    command_signal(&a->command[head->cmd], (int)number);
    return 0;
}

static int on_resize(struct agent *a, const struct agent_frame *head,
                     char *payload)
{
    struct agent_size size;

    if (decode_size(payload, head->size, &size) < 0)
        return -1;
    command_resize(&a->command[head->cmd], &size);
    return 0;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* As pid 1 once is enough: no fork escapes kill(-1). Elsewhere what forks in
 * between must be found again. */
static void kill_start(struct agent *a)
{
    a->killing = true;
    a->kill_since_ms = now_ms();
    a->kill_next_ms = getpid() == 1 ? UINT64_MAX : 0;
    if (reap_kill_all() < 0)
        a->gave_up = true;
}

static void kill_turn(struct agent *a)
{
    uint64_t now = now_ms();

    if (now - a->kill_since_ms > KILL_PATIENCE_MS)
        a->gave_up = true;
    else if (now >= a->kill_next_ms) {
        a->kill_next_ms = now + KILL_PAUSE_MS;
        a->gave_up = reap_kill_all() < 0;
    }
    if (a->gave_up || a->alone)
        a->killing = false;
}

static int on_kill_all(struct agent *a, const struct agent_frame *head,
                       char *payload)
{
    (void)head;
    (void)payload;
    kill_start(a);
    return 0;
}

static int on_file(struct agent *a, const struct agent_frame *head,
                   char *payload)
{
    if (is_busy(a, head->cmd))
        return -1;
    return file_start(&a->file[head->cmd], head, payload, &a->out);
}

static int on_file_data(struct agent *a, const struct agent_frame *head,
                        char *payload)
{
    return file_data(&a->file[head->cmd], payload, head->size, &a->out);
}

static int on_file_end(struct agent *a, const struct agent_frame *head,
                       char *payload)
{
    (void)payload;
    return file_end(&a->file[head->cmd], &a->out);
}

typedef int (*frame_handler)(struct agent *a, const struct agent_frame *head,
                             char *payload);

/* clang-format off */
static const frame_handler handlers[] = { /* decode_head() knows the types */
    [AGENT_EXEC]         = on_exec,
    [AGENT_STDIN]        = on_input,
    [AGENT_STDIN_EOF]    = on_input_eof,
    [AGENT_RUNTIME_IN]   = on_input,
    [AGENT_RUNTIME_EOF]  = on_input_eof,
    [AGENT_SIGNAL]       = on_signal,
    [AGENT_KILL_ALL]     = on_kill_all,
    [AGENT_FILE_PUT]     = on_file,
    [AGENT_FILE_DATA]    = on_file_data,
    [AGENT_FILE_END]     = on_file_end,
    [AGENT_FILE_GET]     = on_file,
    [AGENT_FILE_STAT]    = on_file,
    [AGENT_FILE_LIST]    = on_file,
    [AGENT_FILE_MKDIR]   = on_file,
    [AGENT_FILE_REMOVE]  = on_file,
    [AGENT_FILE_RENAME]  = on_file,
    [AGENT_FILE_SYMLINK] = on_file,
    [AGENT_RESIZE]       = on_resize,
};
/* clang-format on */

static enum loop_end take_frames(struct agent *a)
{
    struct agent_frame head;
    char *payload;

    a->more = true;
    for (int i = 0; i < FRAMES_PER_TURN && frame_free(&a->out); i++) {
        int r = frame_next(&a->in, &head, &payload);

        if (r < 0)
            return LOOP_BROKEN;
        if (r == 0) {
            a->more = false;
            return LOOP_ON;
        }
        if (head.type == AGENT_SHUTDOWN)
            return LOOP_GONE;
        if (handlers[head.type](a, &head, payload) < 0)
            return LOOP_BROKEN;
    }
    return LOOP_ON;
}

/* The dead */

static void on_dead(void *ctx, pid_t pid, int status)
{
    struct agent *a = ctx;

    for (unsigned i = 1; i < SLOTS; i++) {
        struct command *c = &a->command[i];

        if (c->state != COMMAND_RUNNING || c->pid != pid)
            continue;
        command_reaped(c, status);
        a->last = a->last || (c->flags & AGENT_EXEC_LAST) != 0;
    }
}

static void collect(struct agent *a)
{
    struct signalfd_siginfo woken;
    enum reap_left left;

    while (read(a->children, &woken, sizeof(woken)) > 0)
        continue;
    left = reap_children(on_dead, a);
    a->reap = left == REAP_MORE;
    a->alone = left == REAP_NOBODY;
}

/* What has ended is drained; after the last command only once nobody is left
 * who could write. */
static void end_commands(struct agent *a)
{
    if (a->last && !a->alone && !a->killing && !a->gave_up)
        kill_start(a);
    else if (a->killing)
        kill_turn(a);
    if (a->last && !a->alone && !a->gave_up)
        return;
    for (unsigned i = 1; i < SLOTS; i++) {
        if (a->command[i].state == COMMAND_ENDED)
            command_drain(&a->command[i]);
    }
}

/* One turn */

/* -1: bytes were lost. */
static int move(struct agent *a)
{
    int r = 0;

    a->first = (a->first + 1) % SLOTS;
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned at = (a->first + i) % SLOTS;

        command_turn(&a->command[at], &a->out);
        if (a->command[at].lost)
            r = -1;
        if (file_wants_turn(&a->file[at]))
            file_turn(&a->file[at], &a->out);
    }
    return r;
}

static bool is_finished(const struct agent *a)
{
    if (!a->last || frame_waiting(&a->out))
        return false;
    for (unsigned i = 1; i < SLOTS; i++) {
        if (a->command[i].state != COMMAND_FREE)
            return false;
    }
    return true;
}

struct watch {
    struct pollfd fd[WATCH_MAX];
    bool *ready[WATCH_MAX]; /* NULL: to be woken is enough */
    nfds_t count;
};

static void watch_add(struct watch *w, int fd, short events, bool *ready)
{
    w->fd[w->count] = (struct pollfd){.fd = fd, .events = events};
    w->ready[w->count++] = ready;
}

static void watch_command(struct watch *w, struct command *c, bool room)
{
    if (c->state != COMMAND_RUNNING && c->state != COMMAND_ENDED)
        return;
    for (int i = 0; i < COMMAND_INPUTS; i++) {
        if (c->in[i].fd >= 0 && c->in[i].len > c->in[i].at)
            watch_add(w, c->in[i].fd, POLLOUT, NULL);
    }
    for (int i = 0; room && i < COMMAND_OUTPUTS; i++) {
        if (c->out[i].fd >= 0 && !c->out[i].ready)
            watch_add(w, c->out[i].fd, POLLIN, &c->out[i].ready);
    }
}

/* 0: do not wait; -1: until something happens. */
static int patience(const struct agent *a)
{
    bool room = !frame_waiting(&a->out);

    if (a->reap || (a->more && frame_free(&a->out)))
        return 0;
    for (unsigned i = 1; room && i < SLOTS; i++) {
        if (file_wants_turn(&a->file[i]) || command_wants_turn(&a->command[i]))
            return 0;
    }
    return a->killing ? KILL_PAUSE_MS : -1;
}

/* Waits; what is ready is noted where it belongs. */
static int wait_for(struct agent *a, bool *readable)
{
    bool room = !frame_waiting(&a->out), dead = false;
    short events = (short)((a->more ? 0 : POLLIN) | (room ? 0 : POLLOUT));
    struct watch w = {.count = 0};

    watch_add(&w, a->stream, events, NULL);
    watch_add(&w, a->children, POLLIN, &dead);
    for (unsigned i = 1; i < SLOTS; i++)
        watch_command(&w, &a->command[i], room);
    if (poll(w.fd, w.count, patience(a)) < 0 && errno != EINTR)
        return -1;
    *readable = (w.fd[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    for (nfds_t i = 1; i < w.count; i++) {
        if (w.fd[i].revents != 0 && w.ready[i] != NULL)
            *w.ready[i] = true;
    }
    a->reap = a->reap || dead;
    return 0;
}

static enum loop_end turn(struct agent *a, bool readable)
{
    enum loop_end end;

    if (readable && !a->more && frame_fill(&a->in, a->stream) < 0)
        return LOOP_GONE;
    end = take_frames(a);
    if (end != LOOP_ON)
        return end;
    if (a->reap || a->killing)
        collect(a);
    end_commands(a);
    if (move(a) < 0)
        return LOOP_BROKEN;
    if (frame_flush(&a->out, a->stream) < 0)
        return LOOP_GONE;
    return is_finished(a) ? LOOP_DONE : LOOP_ON;
}

enum loop_end loop_run(struct agent *a)
{
    const uint32_t version = AGENT_VERSION;
    enum loop_end end;
    bool readable = true; /* an EXEC may have come before us */

    frame_put(&a->out, AGENT_HELLO, 0, &version, sizeof(version));
    while ((end = turn(a, readable)) == LOOP_ON) {
        if (wait_for(a, &readable) < 0)
            return LOOP_BROKEN;
    }
    return end;
}
