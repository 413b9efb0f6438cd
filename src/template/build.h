/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build - how a template is made: its source becomes an archive, a confined
 * child unpacks that, the tree is hashed and described, and a name is given to
 * it. Until the last step nothing that a run could find has changed.
 */
#ifndef KARZER_TEMPLATE_BUILD_H
#define KARZER_TEMPLATE_BUILD_H

#include <jansson.h>

#include "src/base/err.h"
#include "src/template/store.h"

enum build_kind { BUILD_NONE = 0, BUILD_PACKAGES, BUILD_DIR, BUILD_TAR };

struct build {
    const char *name;
    enum build_kind kind;
    const char *value; /* the packages, or a path; "-" for a tar is stdin */
};

/* By the name of an option; BUILD_NONE: there is no such. */
enum build_kind build_kind(const char *name);

/* *manifest is the caller's to json_decref. */
int build_run(const struct store *s, const struct build *b, json_t **manifest,
              struct err *err);

#endif
