/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_template - `karzer template`: parses, and becomes karzer-template, which
 * does it (libarchive is its, and no run loads that). A name that could be a
 * path never gets so far.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/strs.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/core/template.h"

struct template_args {
    const char *action, *name;
    const char *kind, *value; /* of build: what from */
    bool json, help;
};

static const struct action {
    const char *name;
    bool has_name;
} actions[] = {{"build", true},
               {"list", false},
               {"show", true},
               {"rm", true},
               {"gc", false}};

static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}

static int take_word(struct template_args *a, const char *word, struct err *err)
{
    if (a->action == NULL) {
        a->action = word;
        return 0;
    }
    if (a->name != NULL)
        return err_set(err, ERR_INVALID, "\"%.64s\": one NAME only", word);
    a->name = word;
    return 0;
}

static int take_option(struct template_args *a, const struct option_hit *hit,
                       struct err *err)
{
    const char *kind = hit->id == OPTION_PACKAGES ? "packages"
                       : hit->id == OPTION_DIR    ? "dir"
                       : hit->id == OPTION_TAR    ? "tar"
                                                  : NULL;

    a->json = a->json || hit->id == OPTION_JSON;
    a->help = a->help || hit->id == OPTION_HELP;
    if (kind == NULL)
        return 0;
    if (a->kind != NULL)
        return err_set(err, ERR_INVALID, "--%s and --%s: one source only",
                       a->kind, kind);
    if (hit->value[0] == '\0')
        return err_set(err, ERR_INVALID, "--%s: names nothing", kind);
    a->kind = kind;
    a->value = hit->value;
    return 0;
}

static int check(const struct template_args *a, struct err *err)
{
    const struct action *action =
        a->action == NULL ? NULL : action_find(a->action);
    bool build = action == &actions[0];

    if (action == NULL)
        return err_set(err, ERR_INVALID,
                       "\"%.64s\" is none of build, list, show, rm and gc",
                       a->action == NULL ? "" : a->action);
    if (action->has_name && a->name == NULL)
        return err_set(err, ERR_INVALID, "template %s: names no template",
                       a->action);
    if (!action->has_name && a->name != NULL)
        return err_set(err, ERR_INVALID, "template %s: takes no NAME",
                       a->action);
    if (a->name != NULL && template_name_check(a->name, err) < 0)
        return -1;
    if (build && a->kind == NULL)
        return err_set(err, ERR_INVALID,
                       "template build: from what? --packages, --dir or --tar");
    if (!build && a->kind != NULL)
        return err_set(err, ERR_INVALID, "--%s: only build takes it", a->kind);
    return 0;
}

static int parse(struct template_args *a, int argc, char **argv,
                 struct err *err)
{
    struct option_scan scan = option_scan(VERB_TEMPLATE, argc, argv);
    struct option_hit hit;
    int r;

    while (!a->help) {
        r = option_next(&scan, &hit, err);
        if (r == 0 && scan.at >= argc)
            return check(a, err);
        if (r == 0)
            r = take_word(a, argv[scan.at++], err);
        else if (r > 0)
            r = take_option(a, &hit, err);
        if (r < 0)
            return -1;
    }
    return 0;
}

static int become(const struct template_args *a, struct err *err)
{
    const char *const words[] = {a->json ? "json" : "text", a->action, a->name,
                                 a->kind, a->value};
    char program[DIRS_PATH_MAX + 32];
    struct strs args = {0};
    struct dirs dirs;

    if (cli_dirs(&dirs, err) < 0)
        return -1;
    snprintf(program, sizeof(program), "%s/karzer-template", dirs.libexec);
    if (strs_add(&args, program, err) < 0 ||
        strs_add(&args, dirs.state, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i] != NULL && strs_add(&args, words[i], err) < 0)
            return -1;
    execve(program, args.at, environ);
    err_sys(err, "%s", program);
    strs_fini(&args);
    return -1;
}

int cmd_template(int argc, char **argv)
{
    struct template_args args = {0};
    struct err err = {0};

    if (parse(&args, argc, argv, &err) < 0)
        return cli_fail(&err);
    if (args.help) {
        option_help(stdout, VERB_TEMPLATE);
        return cli_finish(0);
    }
    become(&args, &err);
    return cli_fail(&err);
}
