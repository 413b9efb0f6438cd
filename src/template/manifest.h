/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest - what a template is made of, as JSON beside its tree: its digest,
 * where it came from, what was left out, and its packages with their hashes.
 */
#ifndef KARZER_TEMPLATE_MANIFEST_H
#define KARZER_TEMPLATE_MANIFEST_H

#include <jansson.h>

#include "src/base/err.h"
#include "src/template/put.h"
#include "src/template/tree.h"

struct manifest_source {
    const char *kind;   /* "packages", "dir", "tar" */
    const char *value;  /* as it was asked for */
    const char *sha256; /* of the archive that was read */
    int debs;           /* the directory with the packages' files, or -1 */
};

/* `root` is the finished tree. A new reference, or NULL and why. */
json_t *manifest_make(int root, const struct manifest_source *source,
                      const struct tree_sum *sum,
                      const struct put_counts *counts, struct err *err);

/* Writes or reads "manifest.json" in a directory. */
int manifest_write(int dir, const json_t *manifest, struct err *err);
json_t *manifest_read(int dir, struct err *err);

#endif
