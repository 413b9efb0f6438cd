/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cut - JSON text of a value within a budget: long strings, lists and
 * objects are cut, with a mark that says how much is missing. Used by record.c
 * for a line that would be too long, and by nothing else.
 */
#ifndef KARZER_CORE_RECORD_CUT_H
#define KARZER_CORE_RECORD_CUT_H

#include <jansson.h>
#include <stddef.h>

#include "src/base/buf.h"
#include "src/base/err.h"

/* Appends at most max(budget, 64) bytes; SIZE_MAX: all of it. */
int record_put_value(struct buf *out, const json_t *value, size_t budget,
                     struct err *err);

#endif
