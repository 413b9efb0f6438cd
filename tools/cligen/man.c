/* SPDX-License-Identifier: Apache-2.0 */
/*
 * man - the manual page karzer(1): the commands, their options, the limits,
 * with what the tables do not say around them.
 */
#include "tools/cligen/cligen.h"

#include <stdio.h>
#include <string.h>

static const struct variable {
    const char *name, *text;
} variables[] = {
#define VARIABLE(name, text) {name, text},
#include "src/cli/environment.def"
#undef VARIABLE
};

static void escaped(const char *at, size_t len)
{
    for (; len > 0; at++, len--) {
        if (*at == '\\')
            printf("\\e");
        else if (*at == '-')
            printf("\\-");
        else if (*at == '`')
            printf("\\(ga");
        else if (*at == '\'')
            printf("\\(aq");
        else if (*at == '^' || *at == '~')
            printf(*at == '^' ? "\\(ha" : "\\(ti");
        else
            putchar(*at);
    }
}

/* A line's start: nothing in it is a request. */
static void text(const char *at, size_t len)
{
    if (len > 0 && (*at == '.' || *at == '\''))
        printf("\\&");
    escaped(at, len);
}

#define LINE_MAX_LEN 64

/* Words, in lines of the source that a reader can see whole. */
static void line(const char *what)
{
    size_t column = 0;

    while (*what != '\0') {
        size_t len = strcspn(what, " ");

        if (column > 0 && column + len > LINE_MAX_LEN) {
            printf("\n");
            column = 0;
        } else if (column > 0) {
            printf(" ");
            column++;
        }
        if (column == 0)
            text(what, len);
        else
            escaped(what, len);
        column += len;
        what += len;
        what += strspn(what, " ");
    }
    printf("\n");
}

/* Lines; one that starts with a space stands as it is. */
static void paragraph(const char *lines)
{
    while (*lines != '\0') {
        char one[256];
        size_t len = strcspn(lines, "\n");

        snprintf(one, sizeof(one), "%.*s", (int)len, lines);
        if (*one == ' ')
            printf(".br\n");
        line(one + strspn(one, " "));
        lines += len + (lines[len] == '\n');
    }
}

static void entry(const char *name, const char *arg, const char *what)
{
    printf(".TP\n\\fB");
    text(name, strlen(name));
    printf("\\fR");
    if (arg != NULL) {
        printf(" \\fI");
        text(arg, strlen(arg));
        printf("\\fR");
    }
    printf("\n");
    line(what);
}

static void options_of(enum verb_id verb)
{
    char name[80];

    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        if (!row_is_of(row, verb))
            continue;
        if (row->letter != 0)
            snprintf(name, sizeof(name), "-%c, --%s", row->letter, row->name);
        else
            snprintf(name, sizeof(name), "--%s", row->name);
        entry(name, row->arg, row->text);
    }
    for (size_t i = 0; i < bwrap_names_of(verb); i++) {
        snprintf(name, sizeof(name), "--%s", bwrap_names[i].name);
        entry(name, NULL, bwrap_names[i].text);
    }
    if (option_takes_limits(verb))
        printf(".PP\nand the limits below.\n");
}

static void synopsis(enum verb_id verb)
{
    const char *at = verbs[verb].usage;

    printf("\\fBkarzer %s\\fR%s", verbs[verb].name, *at == '\0' ? "" : " ");
    for (;;) {
        size_t len = strcspn(at, "\n");

        text(at, len);
        if (at[len] == '\0')
            break;
        printf("\n.br\n");
        at += len + 1;
        at += strspn(at, " ");
    }
    printf("\n");
}

static void commands(void)
{
    printf(".SH COMMANDS\n");
    for (size_t v = 0; v < VERB_COUNT; v++) {
        printf(".SS karzer %s\n", verbs[v].name);
        synopsis((enum verb_id)v);
        printf(".PP\n");
        line(verbs[v].summary);
        paragraph(verbs[v].notes);
        options_of((enum verb_id)v);
    }
}

static void limits(void)
{
    char name[80], what[OPTION_LIMIT_TEXT_MAX];

    printf(".SH LIMITS\nOptions of run and exec; each text ends with the\n"
           "default, the least and the most.\n");
    for (size_t i = 0; i < limit_row_count; i++) {
        snprintf(name, sizeof(name), "--%s", limit_rows[i].option);
        option_limit_text(&limit_rows[i], what);
        entry(name, option_unit(limit_rows[i].unit), what);
    }
}

static const char head[] =
    ".TH KARZER 1 " KARZER_DATE " \"karzer " KARZER_VERSION
    "\" \"User Commands\"\n"
    ".SH NAME\n"
    "karzer \\- run code that nobody reviewed, so that it cannot hurt the "
    "host\n"
    ".SH SYNOPSIS\n"
    "\\fBkarzer\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n"
    ".SH DESCRIPTION\n"
    "One call runs one program in a fresh, confined environment with hard\n"
    "limits, without network and without credentials, and answers with what\n"
    "happened: the program's output, why it ended, and what was in force.\n"
    "Nothing degrades silently: what this host cannot enforce ends the run\n"
    "before it starts, unless \\fB\\-\\-may\\-lack\\fR names it. What crossed "
    "the\n"
    "boundary is in a record whose lines are chained by hashes.\n";

static const char tail[] =
    ".SH FILES\n"
    ".TP\n\\fI/var/lib/karzer\\fR, \\fI$XDG_STATE_HOME/karzer\\fR, "
    "\\fI~/.local/state/karzer\\fR\n"
    "The record, \\fIboundary.jsonl\\fR, and full files of it: of root, and "
    "of\n"
    "others.\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "karzer run \\(aqprint(1)\\(aq\n"
    "karzer run \\-\\-mem 64M \\-\\-wall 5s script.py\n"
    "karzer exec \\-\\-workspace .:rw \\-\\- make test\n"
    "karzer log verify\n"
    ".fi\n"
    ".SH SEE ALSO\n"
    ".BR bwrap (1),\n.BR timeout (1),\n.BR namespaces (7),\n.BR cgroups (7)\n";

void print_man(void)
{
    fputs(head, stdout);
    commands();
    limits();
    printf(".SH EXIT STATUS\nOf run and exec; other commands say above what "
           "theirs is.\n.PP\n");
    paragraph(option_exits);
    printf(".SH ENVIRONMENT\n");
    paragraph(option_environment);
    printf(".PP\nkarzer itself reads:\n");
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        entry(variables[i].name, NULL, variables[i].text);
    fputs(tail, stdout);
}
