/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strs - a list of owned strings that ends with NULL, up to a cap.
 */
#ifndef KARZER_BASE_STRS_H
#define KARZER_BASE_STRS_H

#include <stddef.h>

#include "src/base/err.h"

#define STRS_MAX 65536u

struct strs {
    char **at; /* at[len] is NULL; NULL while empty */
    size_t len;
};

void strs_fini(struct strs *s);
int strs_add(struct strs *s, const char *text, struct err *err); /* copies */
int strs_addf(struct strs *s, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
