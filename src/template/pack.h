/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack - a directory of the host as a tar stream, for the importer to read: one
 * way in for every source. It runs with the caller's rights and follows no
 * link. A file that changes its size meanwhile is an error.
 */
#ifndef KARZER_TEMPLATE_PACK_H
#define KARZER_TEMPLATE_PACK_H

#include "src/base/err.h"

/* All of `dir` to `out`. `store` is never gone into: it would not end. */
int pack_run(int dir, int out, int store, struct err *err);

#endif
