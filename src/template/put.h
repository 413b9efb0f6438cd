/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put - makes the files of a template beneath one directory, and nowhere else.
 *
 * Every name is foreign: it is brought into plain form or refused, and looked
 * up beneath the descriptor without following a link. Only directories, files,
 * links and hard links between files are made; bits, owners and attributes that
 * a cell has no use for are not. What is past a cap is refused. The first
 * refusal ends a build: a tree is whole or it is not there.
 */
#ifndef KARZER_TEMPLATE_PUT_H
#define KARZER_TEMPLATE_PUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

#define PUT_PATH_MAX 2048u
#define PUT_NAME_MAX 255u
#define PUT_LINK_MAX 4095u

struct put_caps {
    uint64_t bytes; /* sum of the sizes of all files */
    uint64_t entries;
    unsigned depth; /* components of a name */
};

extern const struct put_caps put_caps_default;

/* What was made, and what was left out. */
struct put_counts {
    uint64_t entries, files, bytes;
    uint64_t privileges; /* setuid, setgid and sticky bits, capabilities */
    uint64_t attributes; /* files with extended attributes, ACLs or flags */
    uint64_t skipped;    /* names of directories that a cell has of its own */
};

struct put {
    int root;
    struct put_caps caps;
    struct put_counts counts;
};

/*
 * A name of an archive as "a/b/c", without "." and empty parts; "" is the top
 * itself. -1: absolute, with "..", too long, too deep, or with a control
 * character. Pure.
 */
int put_path(const char *raw, unsigned depth, char out[PUT_PATH_MAX],
             struct err *err);

/* Is a plain path below a directory that each cell has of its own? */
bool put_is_skipped(const char *path);

/* One more entry of this size; ERR_LIMIT past a cap. */
int put_count(struct put *p, uint64_t bytes, struct err *err);

/* By plain paths. Parents that are missing are made. What is there already is
 * an error, except a directory. `mode` loses what nobody needs. */
int put_dir(struct put *p, const char *path, mode_t mode, struct err *err);
int put_link(struct put *p, const char *path, const char *to, struct err *err);
int put_hard(struct put *p, const char *path, const char *to, struct err *err);
int put_file(struct put *p, const char *path, mode_t mode, int *fd,
             struct err *err);

/* What every tree has: /etc and /usr, the names of users and hosts that a cell
 * goes by. Files that stand there are replaced, or for users added to. */
int put_finish(struct put *p, struct err *err);

#endif
