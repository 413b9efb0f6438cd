/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - walks a tree by descriptors, without following a link: its digest, and
 * its removal.
 */
#ifndef KARZER_TEMPLATE_TREE_H
#define KARZER_TEMPLATE_TREE_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/base/sha256.h"

struct tree_sum {
    char digest[SHA256_HEX_SIZE];
    uint64_t entries, files, bytes;
};

/*
 * Of everything below `dir` in the order of names: per entry its type, mode,
 * path, and the SHA-256 of its bytes or the target of the link. Times and
 * owners do not count. -1 for anything but directories, files and links.
 */
int tree_sum(int dir, struct tree_sum *sum, struct err *err);

/* Removes `name` in `dir` with all below it, what it can of it. 0 when it is
 * gone, also when it was not there. */
int tree_remove(int dir, const char *name, struct err *err);

#endif
