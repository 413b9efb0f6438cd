/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help - what `karzer help` and --help print, and docs/cli.md: the rows of
 * verbs.def, options.def and limits.def, wrapped. Called by main.c and by the
 * commands; never on the way of a run.
 */
#include "src/cli/bwrap.h"
#include "src/cli/options.h"

#include <string.h>

#include "src/base/auto.h"
#include "src/cli/cli.h"
#include "src/cli/rows.h"

#define WIDTH 79
#define TEXT_AT 26 /* column of an option's text */
#define READS                                                                  \
    "karzer itself reads KARZER_STATE, the directory of its record, and "      \
    "what\n"                                                                   \
    "karzer(1) lists.\n"

/* Words of `text` from column `at` on, every line after the first indented. */
static void wrap(FILE *to, size_t at, size_t indent, const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, " ");

        if (at > indent && at + 1 + len > WIDTH) {
            fprintf(to, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', to);
            at++;
        }
        fwrite(text, 1, len, to);
        at += len;
        text += len;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

static void row_help(FILE *to, const char *head, const char *text)
{
    size_t at = strlen(head);

    if (at + 2 > TEXT_AT) {
        fprintf(to, "%s\n%*s", head, TEXT_AT, "");
    } else {
        fprintf(to, "%-*s", TEXT_AT, head);
    }
    wrap(to, TEXT_AT, TEXT_AT, text);
}

/* What is refused says so before it says why. */
static void bwrap_head(const struct bwrap_row *row, char *out, size_t size)
{
    snprintf(out, size, "      --%s%s", row->name,
             row->refused ? " (refused)" : "");
}

static void option_head(const struct option_row *row, char *out, size_t size)
{
    char letter[8] = "    ";

    if (row->letter != 0)
        snprintf(letter, sizeof(letter), "-%c, ", row->letter);
    snprintf(out, size, "  %s--%s%s%s", letter, row->name,
             row->arg != NULL ? " " : "", row->arg != NULL ? row->arg : "");
}

static void options_help(FILE *to, enum verb_id verb)
{
    char head[80], text[OPTION_LIMIT_TEXT_MAX];

    fprintf(to, "\noptions:\n");
    for (size_t i = 0; i < option_row_count; i++) {
        if (!(option_rows[i].verbs & (1u << verb)))
            continue;
        option_head(&option_rows[i], head, sizeof(head));
        row_help(to, head, option_rows[i].text);
    }
    for (size_t i = 0; verb == VERB_BWRAP && i < bwrap_row_count; i++) {
        bwrap_head(&bwrap_rows[i], head, sizeof(head));
        row_help(to, head, bwrap_rows[i].text);
    }
    if (!option_takes_limits(verb))
        return;
    fprintf(to, "\nlimits (default; from and to):\n");
    for (size_t i = 0; i < limit_row_count; i++) {
        snprintf(head, sizeof(head), "      --%s %s", limit_rows[i].option,
                 option_unit(limit_rows[i].unit));
        option_limit_text(&limit_rows[i], text);
        row_help(to, head, text);
    }
}

void option_help(FILE *to, enum verb_id verb)
{
    const struct verb *v = &verbs[verb];

    fprintf(to, "usage: karzer %s%s%s\n\n%s\n", v->name,
            v->usage[0] != '\0' ? " " : "", v->usage, v->summary);
    if (v->notes[0] != '\0')
        fprintf(to, "\n%s", v->notes);
    options_help(to, verb);
    if (option_takes_limits(verb))
        fprintf(to, "\n%s\n%s" READS, option_exits, option_environment);
}

void option_help_all(FILE *to)
{
    fprintf(to, "usage: karzer COMMAND [OPTIONS] ...\n\n"
                "karzer runs code nobody reviewed so that it cannot hurt the "
                "host.\n\ncommands:\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(to, "  %-9s %s\n", verbs[i].name, verbs[i].summary);
    fprintf(to, "\n`karzer COMMAND --help` explains one. First run:\n"
                "  karzer run 'print(1)'\n"
                "  karzer exec -- ls -l /\n");
}

/* A `|` would end the cell of a table. */
static void cell(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', to);
        fputc(*text, to);
    }
}

static void option_cells(FILE *to, const char *head, const char *text)
{
    fputs("| `", to);
    cell(to, head);
    fputs("` | ", to);
    cell(to, text);
    fputs(" |\n", to);
}

static void options_markdown(FILE *to, enum verb_id verb)
{
    char head[80], text[OPTION_LIMIT_TEXT_MAX];

    fprintf(to, "\n| option | what it does |\n|---|---|\n");
    for (size_t i = 0; i < option_row_count; i++) {
        if (!(option_rows[i].verbs & (1u << verb)))
            continue;
        option_head(&option_rows[i], head, sizeof(head));
        option_cells(to, head + strspn(head, " "), option_rows[i].text);
    }
    for (size_t i = 0; verb == VERB_BWRAP && i < bwrap_row_count; i++) {
        bwrap_head(&bwrap_rows[i], head, sizeof(head));
        option_cells(to, head + strspn(head, " "), bwrap_rows[i].text);
    }
    for (size_t i = 0; option_takes_limits(verb) && i < limit_row_count; i++) {
        snprintf(head, sizeof(head), "--%s %s", limit_rows[i].option,
                 option_unit(limit_rows[i].unit));
        option_limit_text(&limit_rows[i], text);
        option_cells(to, head, text);
    }
}

void option_markdown(FILE *to)
{
    fprintf(to, "# Commands of karzer\n\nPrinted by `karzer help --markdown` "
                "from src/cli/verbs.def, src/cli/options.def\nand "
                "src/core/limits.def. A limit's text ends with its default and "
                "its bounds.\n");
    for (size_t i = 0; i < VERB_COUNT; i++) {
        const struct verb *v = &verbs[i];

        fprintf(to, "\n## karzer %s\n\n```\nkarzer %s%s%s\n```\n\n%s\n",
                v->name, v->name, v->usage[0] != '\0' ? " " : "", v->usage,
                v->summary);
        if (v->notes[0] != '\0')
            fprintf(to, "\n%s", v->notes);
        options_markdown(to, (enum verb_id)i);
        if (option_takes_limits((enum verb_id)i))
            fprintf(to, "\n%s\n%s" READS, option_exits, option_environment);
    }
}

int cmd_help(int argc, char **argv)
{
    struct option_scan scan = option_scan(VERB_HELP, argc, argv);
    const struct verb *verb;
    struct option_hit hit;
    struct err err = {0};
    int r;

    while ((r = option_next(&scan, &hit, &err)) > 0) {
        if (hit.id == OPTION_MARKDOWN)
            option_markdown(stdout);
        else
            option_help(stdout, VERB_HELP);
        return cli_finish(0);
    }
    if (r < 0)
        return cli_fail(&err);
    if (scan.at >= argc) {
        option_help_all(stdout);
        return cli_finish(0);
    }
    verb = verb_find(argv[scan.at]);
    if (verb == NULL) {
        err_set(&err, ERR_INVALID,
                "%.64s: no such command; `karzer help` lists them",
                argv[scan.at]);
        return cli_fail(&err);
    }
    option_help(stdout, (enum verb_id)(verb - verbs));
    return cli_finish(0);
}
