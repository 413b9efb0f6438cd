/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anchor - the number and the hash of a line of the record, kept where the
 * record's owner cannot write: sending one, reading those that were sent.
 * Sent by boundary.c; read for `karzer log verify --anchor`. Decides nothing:
 * boundary_read.c compares.
 */
#ifndef KARZER_CORE_ANCHOR_H
#define KARZER_CORE_ANCHOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/sha256.h"

struct anchor {
    uint64_t seq; /* 0: the empty record, whose hash is RECORD_GENESIS */
    char hash[SHA256_HEX_SIZE];
};

/* "syslog", "syslog:/socket", "/file" */
bool anchor_target_valid(const char *target);

/*
 * Appends the line "TIME karzer[PID]: anchor N HASH of DIR" to a file of
 * another owner or with the append-only attribute, or sends it to a syslog
 * socket. Never waits. -1: nobody has it.
 */
int anchor_send(const char *target, const char *dir, const struct anchor *a,
                struct err *err);

/* Anchors of one record; zeroed: none. */
struct anchors {
    struct anchor *at;
    size_t len;
};

/*
 * One line of text, without its newline: "N HASH" as `karzer log head` prints
 * it, or a line with what anchor_send() writes, of this `dir`. 1: added, 0: no
 * anchor of this record, -1: no memory, or too many.
 */
int anchors_add(struct anchors *all, const char *line, const char *dir,
                struct err *err);

/* All of a file, of any size. ERR_INVALID: there is none in it. */
int anchors_read(struct anchors *all, const char *path, const char *dir,
                 struct err *err);

/* By number, as the record has them. */
void anchors_sort(struct anchors *all);
void anchors_fini(struct anchors *all);

#endif
