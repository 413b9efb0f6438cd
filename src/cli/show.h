/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show - the way of a program's output to a person or a pipe.
 *
 * A terminal gets what visible.h lets through, or vt.h, where the program has a
 * terminal of its own; anything else gets the bytes as they are. A reader that
 * does not read holds the program up, but never past the deadline: what comes
 * later is kept and written by show_end, when the run is over.
 */
#ifndef KARZER_CLI_SHOW_H
#define KARZER_CLI_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/cli/visible.h"
#include "src/cli/vt.h"

struct show {
    int fd;        /* not owned */
    bool terminal; /* someone looks at it */
    bool waits;    /* a write may block: a pipe, a socket, a terminal */
    bool middle;   /* the last byte was not a newline */
    bool gone;     /* a write failed; `sys` says how */
    int sys;
    uint64_t deadline_us;  /* clock_us(); 0: none */
    bool (*give_up)(void); /* asked while waiting; NULL: never */
    struct visible visible;
    struct vt *vt; /* in the place of visible; NULL: not; not owned */
    struct buf late;
};

/* `late_cap` bounds what is kept after the deadline. */
void show_init(struct show *s, int fd, size_t late_cap);
void show_fini(struct show *s);

/* 0; -1: nobody reads any more (errno), or give_up said so (ECANCELED). */
int show_put(struct show *s, const void *data, size_t len);

/* Writes what is held or late; then the stream has had everything. */
int show_end(struct show *s);

/* "karzer: text" as one line, every control character spelt out. */
void show_line(int fd, const char *text);

#endif
