/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own - karzer's own places on this host, and whether a tree that a cell is to
 * see holds one of them or lies in one. Compared by what the directories are,
 * since a file system can be mounted at several names.
 */
#ifndef KARZER_CORE_OWN_H
#define KARZER_CORE_OWN_H

#include <stdbool.h>

#include "src/core/dirs.h"

/* Does one of the two directories hold the other, or are they the same? What is
 * not there holds nothing. */
bool own_overlap(const char *a, const char *b);

/* Of the record, which nothing inside may see. */
bool own_record(const struct dirs *dirs, const char *tree);

/* Of what nothing inside may write: the record, the programs that the next run
 * starts, the sockets and locks of runs. Its name in `out`. */
bool own_written(const struct dirs *dirs, const char *tree,
                 char out[DIRS_PATH_MAX]);

#endif
