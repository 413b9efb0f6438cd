/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show - see show.h. Written with write(2), not stdio: nothing is held back
 * from a person who waits.
 */
#include "src/cli/show.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fd.h"

#define CHUNK 4096    /* PIPE_BUF: a pipe that polls as ready takes so much */
#define WAIT_MS 100   /* how long a signal that came too early may wait */
#define CLEAN_AT 1024 /* bytes made visible at a time */

void show_init(struct show *s, int fd, size_t late_cap)
{
    struct stat st = {0};

    *s = (struct show){.fd = fd};
    buf_init(&s->late, late_cap);
    if (fstat(fd, &st) < 0)
        return;
    s->terminal = S_ISCHR(st.st_mode) && isatty(fd) == 1;
    s->waits = s->terminal || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
}

void show_fini(struct show *s)
{
    buf_fini(&s->late);
}

static int failed(struct show *s, int sys)
{
    s->gone = true;
    s->sys = sys;
    errno = sys;
    return -1;
}

/* 1: writable (or broken, which write tells); 0: past the deadline; -1: give
 * up. Signals that are blocked elsewhere come in here. */
static int wait_writable(struct show *s)
{
    struct pollfd pfd = {.fd = s->fd, .events = POLLOUT};
    const struct timespec ts = {.tv_nsec = WAIT_MS * 1000000L};
    const struct timespec now = {0};
    sigset_t none;
    bool first = true;

    sigemptyset(&none);
    for (;;) {
        if (ppoll(&pfd, 1, first ? &now : &ts, first ? NULL : &none) > 0)
            return 1;
        first = false;
        if (s->give_up != NULL && s->give_up())
            return -1;
        if (s->deadline_us != 0 && clock_us() >= s->deadline_us)
            return 0;
    }
}

static int keep_late(struct show *s, const char *data, size_t len)
{
    struct err err;

    if (buf_add(&s->late, data, len, &err) < 0)
        return failed(s, ENOBUFS);
    return 0;
}

/* Everything, or what the deadline left goes to s->late. */
static int push(struct show *s, const char *data, size_t len)
{
    while (len > 0) {
        size_t part = s->waits && len > CHUNK ? CHUNK : len;
        int ready = s->waits ? wait_writable(s) : 1;
        ssize_t n;

        if (ready < 0)
            return failed(s, ECANCELED);
        if (ready == 0)
            return keep_late(s, data, len);
        n = write(s->fd, data, part);
        if (n < 0 && (errno == EINTR || (errno == EAGAIN && s->waits)))
            continue;
        if (n < 0)
            return failed(s, errno);
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static int send_on(struct show *s, const char *data, size_t len)
{
    if (len == 0)
        return 0;
    if (s->late.len > 0) /* what came first goes first */
        return keep_late(s, data, len);
    return push(s, data, len);
}

int show_put(struct show *s, const void *data, size_t len)
{
    char clean[VISIBLE_ROOM(CLEAN_AT)];
    const char *at = data;

    _Static_assert(VT_ROOM(CLEAN_AT) <= sizeof(clean), "room for both");

    if (s->gone)
        return failed(s, s->sys);
    if (len == 0)
        return 0;
    s->middle = at[len - 1] != '\n';
    if (!s->terminal)
        return send_on(s, at, len);
    while (len > 0) {
        size_t part = len < CLEAN_AT ? len : CLEAN_AT;
        size_t n = s->vt != NULL ? vt_put(s->vt, at, part, clean)
                                 : visible_put(&s->visible, at, part, clean);

        if (send_on(s, clean, n) < 0)
            return -1;
        at += part;
        len -= part;
    }
    return 0;
}

int show_end(struct show *s)
{
    char clean[VISIBLE_ROOM(0)];

    if (s->gone)
        return failed(s, s->sys);
    s->deadline_us = 0; /* the program is gone: waiting costs nobody */
    if (s->terminal && send_on(s, clean, visible_end(&s->visible, clean)) < 0)
        return -1;
    if (push(s, s->late.data, s->late.len) < 0)
        return -1;
    buf_shift(&s->late, s->late.len);
    return 0;
}

#define LINE_MAX_LEN 1024

void show_line(int fd, const char *text)
{
    char one[LINE_MAX_LEN];
    char out[VISIBLE_ROOM(LINE_MAX_LEN) + 16] = "karzer: ";
    struct visible v = {0};
    size_t n = strlen(out);
    size_t len = strnlen(text, sizeof(one));

    for (size_t i = 0; i < len; i++) /* one line, whatever the text says */
        one[i] = text[i] == '\n' || text[i] == '\r' || text[i] == '\t'
                     ? ' '
                     : text[i];
    n += visible_put(&v, one, len, out + n);
    n += visible_end(&v, out + n);
    out[n++] = '\n';
    (void)!write(fd, out, n); /* there is nowhere to tell that this failed */
}
