/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child - the confined process that unpacks an archive, and what it says: one
 * struct at a time through a pipe, believed for counts that people see and for
 * the reason of a failure, never for what the tree is (tree.h looks itself).
 */
#ifndef KARZER_TEMPLATE_CHILD_H
#define KARZER_TEMPLATE_CHILD_H

#include "src/base/err.h"
#include "src/template/import.h"

struct child_result {
    struct put_counts counts;
    char sha256[SHA256_HEX_SIZE];
};

/*
 * Unpacks what `archive` gives into the empty directory `root`, with progress
 * on stderr. `name`: of the template, for people. 0: it is all there.
 */
int child_import(int archive, int root, const char *name,
                 struct child_result *out, struct err *err);

/* The directory `dir` as an archive: a descriptor to read it from, and the
 * process that writes it, to be waited for by child_packed. */
int child_pack(int dir, int store, int *archive, pid_t *pid, int *says,
               struct err *err);
int child_packed(pid_t pid, int says, struct err *err);

#endif
