/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cligen - `cligen man|bash|zsh`: main, and what the tables say about values.
 * An argument's name in options.def says what it is; where a value is one of a
 * few words, they are here.
 */
#include "tools/cligen/cligen.h"

#include <stdio.h>
#include <string.h>

#include "abi/holder.h"

#define WORDS_MAX 2048

static const char kinds[] =
#define EVENT(id, name, fields, text) name " "
#include "src/core/events.def"
#undef EVENT
    ;

static const char mechanisms[] =
#define M(id, name, what) name " "
    HOLDER_MECHANISMS(M)
#undef M
    ;

/* By the argument's name; `option` NULL: of any option. */
static const struct value {
    const char *arg, *option;
    enum offer offer;
    const char *words;
} values[] = {
    {"FILE", NULL, OFFER_FILES, NULL},
    {"PATH", NULL, OFFER_FILES, NULL},
    {"ANCHOR", NULL, OFFER_FILES, NULL},
    {"HOST:CELL", NULL, OFFER_FILES, NULL},
    {"DIR", NULL, OFFER_DIRS, NULL},
    {"DIR[:ro|rw]", NULL, OFFER_DIRS, NULL},
    {"TIER", NULL, OFFER_WORDS, "auto container process "},
    {"MODE", "net", OFFER_WORDS, "none "},
    {"LANG", NULL, OFFER_WORDS, "python node bash "},
    {"NAME", "may-lack", OFFER_WORDS, mechanisms},
    {"KIND", NULL, OFFER_WORDS, kinds},
};

/* clang-format off */
const struct bwrap_name bwrap_names[] = {
#define TAKEN(name, words, take, text) {name, text},
#define ALWAYS(name) {name, "so in any case"},
#define REFUSED(name, why) {name, "refused: " why},
#include "src/cli/bwrap.def"
#undef TAKEN
#undef ALWAYS
#undef REFUSED
};
/* clang-format on */

size_t bwrap_names_of(enum verb_id verb)
{
    return verb == VERB_BWRAP ? sizeof(bwrap_names) / sizeof(bwrap_names[0])
                              : 0;
}

enum offer offer_of(const struct option_row *row, const char **words)
{
    *words = "";
    for (size_t i = 0; row->arg != NULL && i < sizeof(values) / sizeof(*values);
         i++) {
        const struct value *v = &values[i];

        if (strcmp(v->arg, row->arg) != 0 ||
            (v->option != NULL && strcmp(v->option, row->name) != 0))
            continue;
        if (v->words != NULL)
            *words = v->words;
        return v->offer;
    }
    return OFFER_NOTHING;
}

bool row_is_of(const struct option_row *row, enum verb_id verb)
{
    return (row->verbs & (1u << verb)) != 0;
}

const char *verb_names(void)
{
    static char all[WORDS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < VERB_COUNT; i++)
        n += (size_t)snprintf(all + n, sizeof(all) - n, "%s ", verbs[i].name);
    return all;
}

/* Does `what` stand right before `at`? */
static bool after(const char *text, const char *at, const char *what)
{
    size_t len = strlen(what);

    return (size_t)(at - text) >= len && memcmp(at - len, what, len) == 0;
}

/* A usage that begins with a word in small letters, or has such a one after
 * "karzer VERB " or after " | ", names a word that may follow. */
const char *words_after(enum verb_id verb)
{
    static char out[WORDS_MAX];
    const char *usage = verbs[verb].usage;
    char start[64];
    size_t n = 0;

    if (strcmp(usage, "[COMMAND]") == 0)
        return verb_names();
    snprintf(start, sizeof(start), "karzer %s ", verbs[verb].name);
    out[0] = '\0';
    for (const char *at = usage; *at != '\0'; at++) {
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        bool first =
            at == usage || after(usage, at, start) || after(usage, at, " | ");

        if (first && len > 0 && strchr(" \n", at[len]) != NULL)
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s ", (int)len,
                                  at);
    }
    return out;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } pages[] = {{"man", print_man}, {"bash", print_bash}, {"zsh", print_zsh}};

    for (size_t i = 0; argc == 2 && i < sizeof(pages) / sizeof(*pages); i++)
        if (strcmp(pages[i].name, argv[1]) == 0) {
            pages[i].print();
            return fflush(stdout) == 0 ? 0 : 1;
        }
    fprintf(stderr, "usage: cligen man|bash|zsh\n");
    return 2;
}
