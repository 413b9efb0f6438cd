/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs - the commands of karzer, from verbs.def.
 *
 * A command gets argv from its own name on (argv[0] is "run") and returns the
 * exit status of the process. `karzer engine`, which libkarzer starts, is for
 * programs and in no list.
 */
#ifndef KARZER_CLI_VERBS_H
#define KARZER_CLI_VERBS_H

enum verb_id {
#define VERB(id, name, run, usage, summary, notes) VERB_##id,
#include "src/cli/verbs.def"
#undef VERB
    VERB_COUNT
};

#define VERB(id, name, run, usage, summary, notes)                             \
    int run(int argc, char **argv);
#include "src/cli/verbs.def"
#undef VERB
int cmd_engine(int argc, char **argv);

struct verb {
    const char *name;
    const char *usage;   /* after the name */
    const char *summary; /* one sentence */
    const char *notes;   /* lines, or "" */
};

extern const struct verb verbs[VERB_COUNT];

/* NULL: no such command. */
const struct verb *verb_find(const char *name);

#endif
