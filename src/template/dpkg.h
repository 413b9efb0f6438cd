/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpkg - which packages a tree says are installed in it (var/lib/dpkg/status).
 * The text is as foreign as the archive it came in.
 */
#ifndef KARZER_TEMPLATE_DPKG_H
#define KARZER_TEMPLATE_DPKG_H

#include <stddef.h>

#include "src/base/err.h"

#define DPKG_TEXT_MAX (64u << 20)
#define DPKG_PACKAGES_MAX 50000u
#define DPKG_FIELD_SIZE 256

struct dpkg_package {
    char name[DPKG_FIELD_SIZE];
    char version[DPKG_FIELD_SIZE];
    char architecture[DPKG_FIELD_SIZE];
};

/* Calls `each` for each installed package with a sane name, version and
 * architecture. Pure. -1: too many, or `each` said so. */
int dpkg_status(const char *text, size_t len,
                int (*each)(const struct dpkg_package *p, void *ctx,
                            struct err *err),
                void *ctx, struct err *err);

#endif
