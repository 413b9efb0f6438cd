/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_settings - what the operator says about the record: where its anchors
 * go, how often, and when a file of it is full. Taken from the environment by
 * main.c, part of struct dirs; nothing of a request gets here.
 */
#ifndef KARZER_CORE_RECORD_SETTINGS_H
#define KARZER_CORE_RECORD_SETTINGS_H

#include <stdint.h>

#include "src/base/err.h"

#define RECORD_ROTATE_AT (UINT64_C(64) << 20)
#define RECORD_ANCHOR_EVERY 100u

/* Zeroed: no anchors, and the file size above. */
struct record_settings {
    const char *anchor;    /* "syslog", "syslog:PATH", a file's path; or NULL */
    uint64_t anchor_every; /* lines; 0 is RECORD_ANCHOR_EVERY */
    uint64_t rotate_at;    /* bytes; 0 is RECORD_ROTATE_AT */
};

/*
 * From the texts of KARZER_ANCHOR, KARZER_ANCHOR_EVERY and KARZER_RECORD_SIZE;
 * NULL: not said. `anchor` stays the caller's. ERR_INVALID names the variable.
 */
int record_settings_parse(struct record_settings *out, const char *anchor,
                          const char *every, const char *size, struct err *err);

#endif
