/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp_table - jail/seccomp.def as the generator walks it: targets, the rows
 * of each switch, and what a call gets by a plain reading of them. At build
 * time only.
 */
#ifndef KARZER_TOOLS_SECCOMP_TABLE_H
#define KARZER_TOOLS_SECCOMP_TABLE_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

#include "jail/seccomp.h"

#define LAST_CALL 470u /* the newest call that the table knows */

enum target_id {
#define ANSWER(id, value, text) T_##id,
#define QUIET(id, answer, reason) T_##id,
#define CHOOSE(id, variant, with, without) T_##id,
#define SWITCH(id, word, mask, otherwise, text) T_##id,
#include "jail/seccomp.def"
    TARGETS
};

enum kind { KIND_ANSWER, KIND_QUIET, KIND_CHOOSE, KIND_SWITCH };

struct target {
    const char *name;
    enum kind kind;
    uint32_t value; /* answer; variant bit; mask */
    uint32_t word;
    enum target_id with, otherwise;
};

struct range {
    enum target_id in;
    uint32_t from, to;
    enum target_id target;
};

extern const struct target targets[TARGETS];
extern const struct range rows[];

/* The rows of a switch stand together: the first, and how many. */
extern unsigned row_first[TARGETS], row_count[TARGETS];

_Noreturn void fail(const char *what, unsigned n);

/* First of all: fills row_first and row_count. Then, that every number that
 * x86_64 has given out is decided, on purpose. */
void table_find_rows(void);
void table_check_complete(void);

/* Through choices to a switch or an answer; with SECCOMP_OBSERVE every errno
 * that is not quiet is one. */
enum target_id resolve(enum target_id t, unsigned variant);
bool is_switch(enum target_id t);
/* What the filter returns for a target that resolve() gave. */
uint32_t value_of(enum target_id t);

/* Where a switch sends this call; and what it gets in the end. */
uint32_t word_of(const struct seccomp_data *d, uint32_t offset);
enum target_id follow(enum target_id t, const struct seccomp_data *d);
uint32_t by_table(unsigned variant, const struct seccomp_data *d);

/* The names of all calls and why, for src/core/refused.c. */
void table_print_names(void);

#endif
