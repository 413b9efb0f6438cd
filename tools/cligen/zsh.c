/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zsh - the completion for zsh: one list of _arguments specifications a
 * command, between single quotes.
 */
#include "tools/cligen/cligen.h"

#include <stdio.h>
#include <string.h>

/* Text within [...] or after a `:` of a specification. */
static void quoted(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr("[]:\\", *text) != NULL)
            putchar('\\');
        putchar(*text);
    }
}

static void action(enum offer offer, const char *words)
{
    switch (offer) {
    case OFFER_FILES:
        printf("_files");
        break;
    case OFFER_DIRS:
        printf("_files -/");
        break;
    case OFFER_WORDS:
        printf("(%s)", words);
        break;
    case OFFER_NOTHING:
        printf(" ");
        break;
    }
}

/* '--name[text]:ARG:action'; a letter is a second specification. */
static void specification(const struct option_row *row, const char *name)
{
    const char *words;
    enum offer offer = offer_of(row, &words);

    printf("            '%s%s[", option_repeats(row->id) ? "*" : "", name);
    quoted(row->text);
    printf("]");
    if (row->arg != NULL) {
        printf(":");
        quoted(row->arg);
        printf(":");
        action(offer, words);
    }
    printf("' \\\n");
}

static void option(const struct option_row *row)
{
    char name[80];

    snprintf(name, sizeof(name), "--%s", row->name);
    specification(row, name);
    if (row->letter == 0)
        return;
    snprintf(name, sizeof(name), "-%c", row->letter);
    specification(row, name);
}

static void limits(void)
{
    char text[OPTION_LIMIT_TEXT_MAX];

    for (size_t i = 0; i < limit_row_count; i++) {
        option_limit_text(&limit_rows[i], text);
        printf("            '--%s[", limit_rows[i].option);
        quoted(text);
        printf("]:%s: ' \\\n", option_unit(limit_rows[i].unit));
    }
}

static void verb(enum verb_id v)
{
    const char *words = words_after(v);

    printf("    %s)\n        _arguments -s \\\n", verbs[v].name);
    for (size_t i = 0; i < option_row_count; i++)
        if (row_is_of(&option_rows[i], v))
            option(&option_rows[i]);
    for (size_t i = 0; i < bwrap_names_of(v); i++) {
        printf("            '*--%s[", bwrap_names[i].name);
        quoted(bwrap_names[i].text);
        printf("]' \\\n");
    }
    if (option_takes_limits(v))
        limits();
    if (v == VERB_EXEC)
        printf("            '*::command: _normal'\n");
    else if (words[0] != '\0')
        printf("            '1:word:(%s)'\n", words);
    else
        printf("            '*:file:_files'\n");
    printf("        ;;\n");
}

void print_zsh(void)
{
    printf("#compdef karzer\n"
           "# karzer(1) completion for zsh, made from the tables of its "
           "options.\n\n"
           "_karzer_verbs() {\n    local -a names=(\n");
    for (size_t i = 0; i < VERB_COUNT; i++) {
        printf("        '%s:", verbs[i].name);
        quoted(verbs[i].summary);
        printf("'\n");
    }
    printf("    )\n    _describe command names\n}\n\n"
           "_karzer() {\n"
           "    if ((CURRENT == 2)); then\n        _karzer_verbs\n"
           "        return\n    fi\n"
           "    local name=$words[2]\n"
           "    shift words\n    ((CURRENT--))\n"
           "    case $name in\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        verb((enum verb_id)i);
    printf("    esac\n}\n\n_karzer \"$@\"\n");
}
