/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view - what a cell sees when the client lists it itself (karzer bwrap), in
 * place of the host's /usr and a generated /etc: part of a request, and what
 * policy makes of it.
 */
#ifndef KARZER_CORE_VIEW_H
#define KARZER_CORE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

#define VIEW_ROWS_MAX 160u
#define VIEW_BYTES_MAX (512u << 10) /* of all files together */

enum view_kind {
    VIEW_BIND = 0, /* a path of the host */
    VIEW_DIR,      /* an empty directory */
    VIEW_FILE,     /* a file with given bytes */
    VIEW_LINK,     /* a symbolic link */
};

/* Later rows stand over earlier ones. */
struct view_row {
    enum view_kind kind;
    char *source;  /* resolved path; bytes; what the link says. Owned */
    size_t size;   /* of the bytes */
    char *target;  /* absolute, plain. Owned */
    uint32_t mode; /* of DIR and FILE */
    bool rw;
    bool system; /* BIND: owners are shown as they are */
    bool keep;   /* DIR: what is there already stays */
    bool same;   /* BIND: the source is to be this very file, by descriptor */
    uint64_t dev, ino;
    const char *option; /* as the client called it; static */
};

struct view {
    struct view_row rows[VIEW_ROWS_MAX];
    size_t count, bytes;
    char *cwd;         /* absolute, inside */
    char *hostname;    /* NULL: the usual one */
    uint32_t uid, gid; /* inside */
    bool sys;          /* with what a cell has of /sys */
};

void view_fini(struct view *v);

/* Copies. ERR_INVALID: a target that is no plain absolute path, too much. */
int view_add(struct view *v, const struct view_row *row, struct err *err);

/* From a request's view to the grant's mounts. ERR_DENIED names the option. */
struct dirs;
struct grant;
int view_decide(const struct dirs *dirs, const struct view *v,
                struct grant *grant, struct err *err);

#endif
