/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text - a JSON value as text, whole or not at all: jansson's own dump
 * does not notice when memory for a key's name ran out, and leaves a part away.
 */
#ifndef KARZER_CORE_JSON_TEXT_H
#define KARZER_CORE_JSON_TEXT_H

#include <jansson.h>

/* Flags as of json_dumps(). The caller frees; NULL: no memory, or NULL given.
 */
char *json_text(const json_t *value, size_t flags);

#endif
