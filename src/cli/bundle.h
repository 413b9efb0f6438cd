/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle - what a person sees of a displayed value: its text/plain on
 * stdout; on stderr one line for the types that only --json can give.
 */
#ifndef KARZER_CLI_BUNDLE_H
#define KARZER_CLI_BUNDLE_H

#include <jansson.h>

#include "src/cli/show.h"

/* 0, or -1 when nobody reads any more (show_put). */
int bundle_show(const json_t *bundle, struct show *out, struct show *note);

/* "[image/png, 12345 bytes; --json has it]\n" into text, or "" when text/plain
 * says all that there is to say: other text types are the same value again. */
void bundle_note(const json_t *bundle, char *text, size_t size);

#endif
