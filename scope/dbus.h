/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dbus - the one conversation that karzer-scope has: with the user's systemd,
 * over its private socket, to ask for a scope. D-Bus Specification, "Message
 * Protocol". Called by main.c. What comes back is read with caps, and nothing
 * of it is believed but that the call was refused and why.
 */
#ifndef KARZER_SCOPE_DBUS_H
#define KARZER_SCOPE_DBUS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

#define DBUS_MESSAGE_MAX 65536u

/* What is of interest in a message. */
struct dbus_head {
    size_t size;    /* of the whole message */
    uint8_t type;   /* 2: return, 3: error */
    uint32_t reply; /* the serial that it answers; 0: none */
    char error[128];
    char text[256]; /* of an error: the first string of its body */
};

/* A message at the start of `data`: 1; 0: more bytes are needed; -1: it is none
 * of ours. Pure. */
int dbus_parse(const uint8_t *data, size_t len, struct dbus_head *out);

/* The call for a scope `name` around `pid`, delegated: its bytes, at most
 * `size`; 0: they do not fit. Pure. */
size_t dbus_scope_call(const char *name, pid_t pid, uint8_t *out, size_t size);

/* Asks systemd at `socket` for it, and waits for the answer: 0 the job is
 * queued, -1 and why not. */
int dbus_start_scope(const char *socket, const char *name, pid_t pid,
                     struct err *err);

#endif
