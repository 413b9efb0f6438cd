/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cligen - what the commands of karzer look like to a shell and to man(1), from
 * the tables that its parser reads. Run by the makefile only; prints to stdout.
 */
#ifndef KARZER_TOOLS_CLIGEN_H
#define KARZER_TOOLS_CLIGEN_H

#include <stdbool.h>
#include <stddef.h>

#include "src/cli/rows.h"
#include "src/cli/verbs.h"

/* What a shell can offer as the value of an option. */
enum offer { OFFER_NOTHING, OFFER_FILES, OFFER_DIRS, OFFER_WORDS };

/* Of an option's row; the words, between spaces, in *words. */
enum offer offer_of(const struct option_row *row, const char **words);

/* The words that may follow a command's name, between spaces: `verify head`. */
const char *words_after(enum verb_id verb);

/* bubblewrap's options, which `karzer bwrap` has besides its own. */
struct bwrap_name {
    const char *name, *text;
};
extern const struct bwrap_name bwrap_names[];
size_t bwrap_names_of(enum verb_id verb); /* how many; 0 for any other verb */

/* The names of all commands, between spaces. */
const char *verb_names(void);

bool row_is_of(const struct option_row *row, enum verb_id verb);

void print_man(void);
void print_bash(void);
void print_zsh(void);

#endif
