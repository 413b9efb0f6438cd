/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending - which limit ended a run, and the sentence that says it: one table
 * for the result's message and for what a person is told.
 */
#ifndef KARZER_CORE_ENDING_H
#define KARZER_CORE_ENDING_H

#include <stdbool.h>

#include "src/core/limits.h"
#include "src/core/result.h"

/* Fills result->message for an end by a limit or from outside, with the option
 * that would allow more; otherwise leaves it. Status, detail and usage are
 * final. */
void ending_explain(struct result *r, const struct limits *limits);

/* Was it the limit of this option ("mem") that ended the run? */
bool ending_is(const struct result *r, const char *option);

#endif
