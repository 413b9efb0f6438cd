/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack - one of the six attacks in one tier, and what it proved.
 */
#ifndef KARZER_CLI_ATTACK_H
#define KARZER_CLI_ATTACK_H

#include "src/base/err.h"
#include "src/cli/plant.h"
#include "src/core/run.h"
#include "src/core/tier.h"

enum attack_id {
#define ATTACK(id, name, what, python, shell) ATTACK_##id,
#include "src/cli/attacks.def"
#undef ATTACK
    ATTACK_COUNT
};

struct attack_row {
    const char *name;
    const char *what;
    const char *python;
    const char *shell;
};

extern const struct attack_row attack_rows[ATTACK_COUNT];

enum attack_outcome {
    ATTACK_NOT_RUN = 0, /* proves nothing */
    ATTACK_SUCCEEDED,
    ATTACK_BLOCKED,
};

extern const char *const attack_outcomes[];

struct attack_end {
    enum attack_outcome outcome;
    const char *status; /* of the run; NULL: there was none */
    char why[560];      /* with NOT_RUN */
};

/* What decides, taken from a result. */
struct attack_seen {
    enum status status;
    bool start;  /* the program's first word came */
    bool secret; /* so did a word that it prints on success */
};

enum attack_outcome attack_judge(enum attack_id id,
                                 const struct attack_seen *seen,
                                 const char **why);

/* Shows that a plain process does find what was planted. -1: not, and then a
 * refusal would prove nothing. */
int attack_control(const struct plant *p, struct err *err);

/* Runs one. `poll_signal` is asked as in struct run_io. -1 as run_once. */
int attack_run(struct engine *e, enum attack_id id, const struct tier *tier,
               const struct plant *p, int (*poll_signal)(void *ctx),
               struct attack_end *end, struct err *err);

#endif
