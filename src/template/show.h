/* SPDX-License-Identifier: Apache-2.0 */
/* show - templates for people, or as JSON on stdout. */
#ifndef KARZER_TEMPLATE_SHOW_H
#define KARZER_TEMPLATE_SHOW_H

#include <jansson.h>
#include <stdbool.h>

#include "src/base/err.h"
#include "src/template/store.h"

int show_list(const struct store *s, bool json, struct err *err);
int show_one(const struct store *s, const char *name, bool json,
             struct err *err);
void show_built(const char *name, const json_t *manifest, bool json);
void show_gone(const struct store_gone *gone, bool json);
void show_error(const struct err *err);

#endif
