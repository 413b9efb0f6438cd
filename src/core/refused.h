/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused - what the holder tells of a refused system call (HOLDER_DENIED), as
 * the fields of a call.denied event: names for numbers, and a plain sentence.
 *
 * Pure. What comes from the cell is numbers, the name of a thread and the path
 * of a program, both of which the cell chose: they are shown and decide
 * nothing.
 */
#ifndef KARZER_CORE_REFUSED_H
#define KARZER_CORE_REFUSED_H

#include <jansson.h>

#include "abi/holder.h"

/* A new object, or NULL: no memory. The message's texts are terminated. */
json_t *refused_json(const struct holder_message *m);

#endif
