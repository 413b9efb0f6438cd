/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bash - the completion for bash. Uses nothing but bash: bash-completion need
 * not be installed. Names in the tables have no character that a shell minds.
 */
#include "tools/cligen/cligen.h"

#include <stdio.h>

static const char head[] =
    "# karzer(1) completion for bash, made from the tables of its options.\n"
    "# shellcheck shell=bash disable=SC2207\n\n";

static const char tail[] =
    "# Where the program's own words begin: 0, or the index of `--`.\n"
    "_karzer_dashes()\n"
    "{\n"
    "    local i\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [ \"${COMP_WORDS[i]}\" != -- ] || { echo \"$i\"; return; }\n"
    "    done\n"
    "    echo 0\n"
    "}\n\n"
    "_karzer()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local verb=${COMP_WORDS[1]} dashes words\n"
    "    COMPREPLY=()\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "        COMPREPLY=($(compgen -W \"$_karzer_verbs --help --version\" -- "
    "\"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    dashes=$(_karzer_dashes)\n"
    "    if [ \"$dashes\" != 0 ]; then\n"
    "        compopt -o default\n"
    "        [ \"$verb\" != exec ] || [ \"$COMP_CWORD\" != $((dashes + 1)) ] "
    "||\n"
    "            COMPREPLY=($(compgen -c -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    if [ \"$cur\" = = ]; then # --name=VALUE comes as three words\n"
    "        cur=\n"
    "    elif [ \"$prev\" = = ]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n"
    "    words=$(_karzer_value \"$verb $prev\")\n"
    "    case $words in\n"
    "    ':files') compopt -o default; return ;;\n"
    "    ':dirs') compopt -o dirnames; return ;;\n"
    "    ':none') return ;;\n"
    "    esac\n"
    "    if [ -z \"$words\" ] && [[ $cur == -* ]]; then\n"
    "        words=$(_karzer_options \"$verb\")\n"
    "    elif [ -z \"$words\" ]; then\n"
    "        words=$(_karzer_words \"$verb\")\n"
    "        compopt -o default\n"
    "    fi\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "}\n"
    "complete -F _karzer karzer\n";

static void print_options(void)
{
    printf("_karzer_options()\n{\n    case $1 in\n");
    for (size_t v = 0; v < VERB_COUNT; v++) {
        printf("    %s) echo", verbs[v].name);
        for (size_t i = 0; i < option_row_count; i++)
            if (row_is_of(&option_rows[i], (enum verb_id)v))
                printf(" --%s", option_rows[i].name);
        for (size_t i = 0; i < bwrap_names_of((enum verb_id)v); i++)
            printf(" --%s", bwrap_names[i].name);
        for (size_t i = 0;
             option_takes_limits((enum verb_id)v) && i < limit_row_count; i++)
            printf(" --%s", limit_rows[i].option);
        printf(" ;;\n");
    }
    printf("    esac\n}\n\n");
}

static void print_words(void)
{
    printf("# What may follow a command.\n_karzer_words()\n{\n"
           "    case $1 in\n");
    for (size_t v = 0; v < VERB_COUNT; v++)
        if (words_after((enum verb_id)v)[0] != '\0')
            printf("    %s) echo %s;;\n", verbs[v].name,
                   words_after((enum verb_id)v));
    printf("    esac\n}\n\n");
}

static void print_value(enum verb_id verb, const struct option_row *row)
{
    const char *words;
    enum offer offer = offer_of(row, &words);

    printf("    '%s --%s'", verbs[verb].name, row->name);
    if (row->letter != 0)
        printf("|'%s -%c'", verbs[verb].name, row->letter);
    printf(") echo %s;;\n", offer == OFFER_FILES  ? ":files "
                            : offer == OFFER_DIRS ? ":dirs "
                            : words[0] == '\0'    ? ":none "
                                                  : words);
}

static void print_values(void)
{
    printf(
        "# The value of an option: words, :files, :dirs, :none; nothing when "
        "it\n# takes none, or is no option.\n_karzer_value()\n{\n"
        "    case $1 in\n");
    for (size_t v = 0; v < VERB_COUNT; v++) {
        for (size_t i = 0; i < option_row_count; i++)
            if (row_is_of(&option_rows[i], (enum verb_id)v) &&
                option_rows[i].arg != NULL)
                print_value((enum verb_id)v, &option_rows[i]);
        for (size_t i = 0;
             option_takes_limits((enum verb_id)v) && i < limit_row_count; i++)
            printf("    '%s --%s') echo :none ;;\n", verbs[v].name,
                   limit_rows[i].option);
    }
    printf("    esac\n}\n\n");
}

void print_bash(void)
{
    printf("%s_karzer_verbs='%s'\n\n", head, verb_names());
    print_options();
    print_words();
    print_values();
    fputs(tail, stdout);
}
