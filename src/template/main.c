/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karzer-template - makes, shows and removes templates. Started by `karzer
 * template`, which has parsed the command line: STATE json|text VERB ARGS...
 * With json, the answer or the error is an object on stdout, as everywhere.
 */
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/template/build.h"
#include "src/template/manifest.h"
#include "src/template/packages.h"
#include "src/template/say.h"
#include "src/template/show.h"
#include "src/template/store.h"

static int verb_build(const struct store *s, char **args, bool json,
                      struct err *err)
{
    const struct build b = {
        .name = args[0], .kind = build_kind(args[1]), .value = args[2]};
    json_t *manifest = NULL;

    if (b.kind == BUILD_NONE)
        return err_set(err, ERR_INVALID, "%s: no source", args[1]);
    if (b.kind == BUILD_PACKAGES && packages_check(b.value, err) < 0)
        return -1;
    if (build_run(s, &b, &manifest, err) < 0)
        return -1;
    show_built(b.name, manifest, json);
    json_decref(manifest);
    return 0;
}

static int verb_list(const struct store *s, char **args, bool json,
                     struct err *err)
{
    (void)args;
    return show_list(s, json, err);
}

static int verb_show(const struct store *s, char **args, bool json,
                     struct err *err)
{
    return show_one(s, args[0], json, err);
}

static int verb_rm(const struct store *s, char **args, bool json,
                   struct err *err)
{
    struct store_gone gone;

    if (store_rm(s, args[0], &gone, err) < 0)
        return -1;
    show_gone(&gone, json);
    return 0;
}

static int verb_gc(const struct store *s, char **args, bool json,
                   struct err *err)
{
    struct store_gone gone;

    (void)args;
    if (store_gc(s, &gone, err) < 0)
        return -1;
    show_gone(&gone, json);
    return 0;
}

static const struct verb {
    const char *name;
    int args;
    int (*run)(const struct store *s, char **args, bool json, struct err *err);
} verbs[] = {
    {"build", 3, verb_build}, {"list", 0, verb_list}, {"show", 1, verb_show},
    {"rm", 1, verb_rm},       {"gc", 0, verb_gc},
};

static int dispatch(int argc, char **argv, bool json, struct err *err)
{
    struct store s = {.fd = -1};
    int r = -1;

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (strcmp(verbs[i].name, argv[3]) != 0 || verbs[i].args != argc - 4)
            continue;
        r = store_open(argv[1], &s, err);
        if (r == 0)
            r = verbs[i].run(&s, argv + 4, json, err);
        store_close(&s);
        return r;
    }
    return err_set(err, ERR_INVALID,
                   "karzer-template is started by `karzer "
                   "template`, not by hand");
}

int main(int argc, char **argv)
{
    struct err err = {0};
    bool json = argc > 2 && strcmp(argv[2], "json") == 0;
    int r;

    umask(022);
    setlocale(LC_CTYPE, "C.UTF-8"); /* names of archives, as libarchive sees */
    if (argc < 4)
        r = err_set(&err, ERR_INVALID,
                    "karzer-template is started by `karzer template`, not by "
                    "hand");
    else
        r = dispatch(argc, argv, json, &err);
    if (r == 0 && fflush(stdout) != 0)
        r = err_sys(&err, "write to stdout");
    if (r == 0)
        return 0;
    say_clean(err.text);
    if (json)
        show_error(&err);
    say("%s", err.text);
    return err.code == ERR_INVALID ? 2 : 125;
}
