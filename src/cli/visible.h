/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible - makes the bytes of an untrusted program safe for a terminal.
 *
 * Passed on: text, \n, \t, \r, and colour (CSI digits m). Everything else that
 * a terminal might obey is spelt out: ^[ for ESC, ^G, \x9b for a byte that is
 * not UTF-8, \u009b and \u202e for C1 and bidirectional controls. A sequence
 * may be cut anywhere between two calls. Pure; what is held back is bounded.
 */
#ifndef KARZER_CLI_VISIBLE_H
#define KARZER_CLI_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

#define VISIBLE_HELD_MAX 32
/* Room that `out` must have for `len` bytes of input; visible_end needs that
 * of 0 bytes. */
#define VISIBLE_ROOM(len) (4 * ((len) + VISIBLE_HELD_MAX) + 8)

struct visible { /* zeroed: nothing held */
    unsigned char held[VISIBLE_HELD_MAX];
    size_t held_len;
    bool coloured; /* a colour was set and not reset */
};

/* Bytes put into out. */
size_t visible_put(struct visible *v, const void *data, size_t len, char *out);

/* What is still held is spelt out, and colours are reset. */
size_t visible_end(struct visible *v, char *out);

#endif
