/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import - a tar archive, of any compression that libarchive undoes without
 * another program, into a tree by put.h. What it reads is hostile: it runs in a
 * confined child (confine.h), and reads nothing but the one descriptor.
 */
#ifndef KARZER_TEMPLATE_IMPORT_H
#define KARZER_TEMPLATE_IMPORT_H

#include "src/base/err.h"
#include "src/base/sha256.h"
#include "src/template/put.h"

struct import {
    struct put put;
    int fd;                       /* the archive, read to its end */
    char sha256[SHA256_HEX_SIZE]; /* of all its bytes, when it is done */

    /* After each entry; may be NULL. */
    void (*progress)(const struct import *im, void *ctx);
    void *ctx;
};

/* 0: the tree is whole. -1: it is not, and what is there is of no use. */
int import_run(struct import *im, struct err *err);

#endif
