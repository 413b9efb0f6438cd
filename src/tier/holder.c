/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder - see holder.h. The engine's side of abi/holder.h: what it sends is
 * sealed, what it reads is checked; the holder's word on usage is believed,
 * since it runs our program with more rights than the cell has.
 */
#include "src/tier/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/cgroup.h"
#include "src/base/fd.h"
#include "src/base/scratch.h"
#include "src/base/slot.h"
#include "src/base/spawn.h"
#include "src/base/sys.h"
#include "src/tier/denied.h"
#include "src/tier/handoff.h"
#include "src/tier/scope.h"

#define ROOT_SLOT_DIR "/run/karzer"
/* An emulated machine is slow; a stuck holder is not. */
#define READY_MS 60000
#define END_MS 20000

int holder_slot_dir(const struct dirs *dirs, const char **dir, struct err *err)
{
    struct stat st;

    if (!slot_root()) {
        *dir = dirs->state;
        return 0;
    }
    if (mkdir(ROOT_SLOT_DIR, 0700) < 0 && errno != EEXIST)
        return err_sys(err,
                       "make %s (/run must be writable: mount -t tmpfs "
                       "run /run)",
                       ROOT_SLOT_DIR);
    if (access(ROOT_SLOT_DIR, W_OK) < 0 && errno == EROFS)
        return err_sys(err, "%s (it must be writable: mount -t tmpfs run /run)",
                       ROOT_SLOT_DIR);
    if (lstat(ROOT_SLOT_DIR, &st) < 0)
        return err_sys(err, "%s", ROOT_SLOT_DIR);
    if (!S_ISDIR(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022) != 0)
        return err_set(err, ERR_HOST, "%s is not a directory of root's alone",
                       ROOT_SLOT_DIR);
    *dir = ROOT_SLOT_DIR;
    return 0;
}

void tiers_sweep(const struct dirs *dirs)
{
    const char *dir = NULL;

    if (holder_slot_dir(dirs, &dir, NULL) < 0)
        return;
    cgroup_sweep(dir, NULL);
    scratch_sweep(HOLDER_SCRATCH, dir, NULL);
}

/* Both pairs; [0] is the engine's end. */
static int pairs_open(int control[2], int stream[2], struct err *err)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
        return err_sys(err, "socketpair");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) < 0) {
        err_sys(err, "socketpair");
        fd_drop(&control[0]);
        fd_drop(&control[1]);
        return -1;
    }
    return 0;
}

static int launch(struct cell *cell, const struct dirs *dirs, int handoff,
                  struct err *err)
{
    int control[2] = {-1, -1}, stream[2] = {-1, -1};
    char jail[DIRS_PATH_MAX + 16];
    int fds[4];
    int r;

    if (pairs_open(control, stream, err) < 0)
        return -1;
    cell->control_fd = control[0];
    cell->stream_fd = stream[0];
    snprintf(jail, sizeof(jail), "%s/karzer-jail", dirs->libexec);
    fds[0] = control[1];
    fds[1] = stream[1];
    fds[2] = handoff;
    fds[3] = cell->slot_fd;
    r = scope_spawn(dirs, jail, fds, &cell->holder, &cell->pidfd)
            ? 0
            : spawn_program(jail, fds, ARRAY_LEN(fds), &cell->holder,
                            &cell->pidfd, err);
    fd_drop(&control[1]);
    fd_drop(&stream[1]);
    if (r == 0 && fd_set_nonblock(cell->stream_fd, 1) < 0)
        r = err_sys(err, "stream");
    return r;
}

static void usage_unknown(struct holder_usage *u)
{
    *u = (struct holder_usage){
        .cpu_us = HOLDER_UNKNOWN,
        .peak_memory_bytes = HOLDER_UNKNOWN,
        .kernel_peak_bytes = HOLDER_UNKNOWN,
        .peak_processes = HOLDER_UNKNOWN,
        .disk_bytes = HOLDER_UNKNOWN,
        .memory_kills = HOLDER_UNKNOWN,
        .forks_refused = HOLDER_UNKNOWN,
    };
}

int holder_start(const struct grant *grant, enum holder_tier tier,
                 const struct grant_mount *extra, size_t extra_count,
                 struct cell **out, struct err *err)
{
    struct cell *cell = calloc(1, sizeof(*cell));
    AUTO(fd) int handoff = -1;
    const char *slots = NULL;

    if (cell == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    cell->tier = grant->tier;
    cell->stream_fd = cell->control_fd = cell->pidfd = cell->slot_fd = -1;
    cell->mounts_fd = -1;
    usage_unknown(&cell->usage);
    if (holder_slot_dir(grant->dirs, &slots, err) < 0 ||
        slot_take(slots, &cell->slot, &cell->slot_fd, err) < 0 ||
        handoff_make(grant, tier, extra, extra_count, cell->slot, &handoff,
                     err) < 0 ||
        launch(cell, grant->dirs, handoff, err) < 0) {
        cell_free(cell);
        return -1;
    }
    *out = cell;
    return 0;
}

/* 1: a message; 0: none now; -1: EOF, or not a message of ours. */
static int control_next(struct cell *cell, struct holder_message *m,
                        struct err *err)
{
    ssize_t n;

    do
        n = recv(cell->control_fd, m, sizeof(*m), MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (n != (ssize_t)sizeof(*m))
        return err_set(
            err, ERR_INTERNAL,
            n <= 0 ? "the holder has gone" : "the holder sent %zd bytes", n);
    m->text[sizeof(m->text) - 1] = '\0';
    return 1;
}

static void failed(struct cell *cell, const struct holder_message *m)
{
    static const char *const names[] = {
#define M(id, name, what) name,
        HOLDER_MECHANISMS(M)
#undef M
    };
    struct err *f = &cell->failure;

    if (m->mechanism < HOLDER_MECHANISM_COUNT)
        err_set(f, ERR_HOST, "%s: %s (--may-lack %s runs without it)",
                names[m->mechanism], m->text, names[m->mechanism]);
    else
        err_set(f, ERR_HOST, "%s", m->text);
    f->sys = m->sys;
    cell->ended = true;
}

/*
 * While this is open, the cell's mounts stay when it dies, and the holder need
 * not wait for them: the last to close takes them down (0.2 ms), which is us,
 * while the holder cleans up. If it cannot be had, they go earlier.
 */
static void keep_mounts(struct cell *cell)
{
    char path[32];

    if (cell->mounts_fd >= 0 ||
        cell->effective[HOLDER_PROCESSES] != HOLDER_HOW_NAMESPACE)
        return;
    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)cell->agent);
    cell->mounts_fd = open(path, O_RDONLY | O_CLOEXEC);
}

void cell_close_mounts(struct cell *cell)
{
    fd_drop(&cell->mounts_fd);
}

static int take_message(struct cell *cell, const struct holder_message *m,
                        uint32_t *hits, struct err *err)
{
    switch ((enum holder_message_type)m->type) {
    case HOLDER_READY:
        memcpy(cell->effective, m->effective, sizeof(cell->effective));
        cell->agent = m->agent_pid;
        cell->ready = true;
        keep_mounts(cell);
        return 0;
    case HOLDER_FAILED:
        failed(cell, m);
        return 0;
    case HOLDER_LIMIT:
        *hits |= m->value;
        cell->usage.hits |= m->value;
        return 0;
    case HOLDER_ENDED:
        cell->ended = true;
        cell->usage = m->usage;
        *hits |= m->usage.hits;
        return 0;
    case HOLDER_USAGE:
        cell->usage = m->usage;
        cell->asked = false;
        return 0;
    case HOLDER_DENIED:
        return denied_keep(cell, m, err);
    case HOLDER_NONE:
    case HOLDER_KILL:
    case HOLDER_ASK:
    case HOLDER_OVER:
        break;
    }
    err_set(&cell->failure, ERR_INTERNAL, "the holder sent message %u",
            m->type);
    return 0;
}

int cell_read_control(struct cell *cell, uint32_t *hits, struct err *err)
{
    struct holder_message m;
    int r;

    while (!cell->ended && (r = control_next(cell, &m, err)) != 0) {
        if (r < 0 || take_message(cell, &m, hits, err) < 0)
            return -1;
    }
    return 0;
}

/* Reads the control socket until `*flag` is `want` or the time is up. */
static int wait_for(struct cell *cell, const bool *flag, bool want, int ms,
                    struct err *err)
{
    uint64_t until = clock_us() + (uint64_t)ms * 1000;
    uint32_t hits = 0;

    for (;;) {
        uint64_t now;

        if (cell_read_control(cell, &hits, err) < 0)
            return -1;
        if (*flag == want || cell->ended)
            return 0;
        now = clock_us();
        if (now >= until)
            return err_set(err, ERR_INTERNAL, "the holder does not answer");
        fd_wait(cell->control_fd, POLLIN, (int)((until - now) / 1000) + 1);
    }
}

int cell_wait_ready(struct cell *cell, struct err *err)
{
    if (wait_for(cell, &cell->ready, true, READY_MS, err) < 0)
        return -1;
    if (cell->ready)
        return 0;
    if (err != NULL)
        *err = cell->failure;
    return -1;
}

static int control_send(struct cell *cell, enum holder_message_type type)
{
    const struct holder_message m = {.type = type};

    return send(cell->control_fd, &m, sizeof(m), MSG_NOSIGNAL) ==
                   (ssize_t)sizeof(m)
               ? 0
               : -1;
}

void cell_over(struct cell *cell)
{
    if (!cell->ended)
        control_send(cell, HOLDER_OVER);
}

int cell_ask_usage(struct cell *cell, struct err *err)
{
    if (cell->ended)
        return 0;
    cell->asked = true;
    if (control_send(cell, HOLDER_ASK) < 0)
        return err_sys(err, "ask the holder");
    return wait_for(cell, &cell->asked, false, END_MS, err);
}

void cell_kill(struct cell *cell)
{
    if (!cell->ended && !cell->killed)
        control_send(cell, HOLDER_KILL);
    cell->killed = true;
}

int cell_end(struct cell *cell, struct err *err)
{
    if (cell->ended)
        return 0;
    cell_kill(cell);
    if (wait_for(cell, &cell->ended, true, END_MS, err) == 0)
        return 0;
    /* It did not tell. Without stream and control, agent and holder end by
     * themselves; what they leave, the sweep of the next engine removes. */
    usage_unknown(&cell->usage);
    cell->ended = true;
    fd_drop(&cell->stream_fd);
    fd_drop(&cell->control_fd);
    return -1;
}

void cell_free(struct cell *cell)
{
    if (cell == NULL)
        return;
    if (cell->pidfd >= 0)
        cell_end(cell, NULL);
    fd_drop(&cell->stream_fd);
    fd_drop(&cell->control_fd);
    if (cell->pidfd >= 0 && spawn_wait(cell->pidfd, END_MS) < 0) {
        sys_pidfd_send_signal(cell->pidfd, SIGKILL);
        spawn_wait(cell->pidfd, END_MS);
    }
    fd_drop(&cell->mounts_fd);
    fd_drop(&cell->pidfd);
    fd_drop(&cell->slot_fd);
    free(cell->denied);
    free(cell);
}
