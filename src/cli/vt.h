/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vt - what of a program's output reaches the operator's terminal when the
 * program has a terminal of its own (exec -t): text, and the control sequences
 * of vt.def. Everything else is removed, since spelling it out, as visible.h
 * does, would spoil the screen.
 *
 * What comes out is whole: a sequence is held until its end and then passed or
 * dropped, so nothing that follows can complete it to another. A byte that is
 * not UTF-8 and a character that hides others become U+FFFD. Pure; what is held
 * is bounded.
 */
#ifndef KARZER_CLI_VT_H
#define KARZER_CLI_VT_H

#include <stddef.h>
#include <stdint.h>

#define VT_HELD_MAX 80
/* Room that `out` must have for `len` bytes of input, and for vt_undo. */
#define VT_ROOM(len) (3 * (len) + 400)
#define VT_UNDO_MAX 512

enum vt_state {
    VT_GROUND = 0,
    VT_CHARACTER, /* the start of one in UTF-8 */
    VT_ESCAPE,    /* ESC, maybe one byte between */
    VT_CSI,       /* ESC [ */
    VT_CSI_TOO_LONG,
    VT_STRING, /* ESC ] P X ^ _: dropped up to its end */
    VT_STRING_ESCAPE,
};

struct vt { /* zeroed but for `left` */
    /* What is in force and to be undone; may be memory that another process
     * reads when this one is killed. */
    uint64_t *left;
    enum vt_state state;
    unsigned char held[VT_HELD_MAX];
    size_t held_len;
    unsigned char kind; /* of a string */
    uint32_t number;    /* an OSC's, while its digits come */
    size_t string_len;
    uint64_t clipboard; /* how often the clipboard was to be written or read */
};

/* Bytes put into out. */
size_t vt_put(struct vt *v, const void *data, size_t len, char *out);

/* What brings a terminal back from `left`. Async-signal-safe. */
size_t vt_undo(uint64_t left, char out[VT_UNDO_MAX]);

#endif
