/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_log - `karzer log`: what crossed the boundary, is the chain whole, where
 * does it end. Reads the record and never writes to it. Exit status 1: the
 * record is damaged.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/cli/show.h"
#include "src/core/boundary.h"
#include "src/core/json_text.h"
#include "src/core/record.h"

#define LOG_DAMAGED 1
#define DUMP (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)

enum action { ACTION_SHOW, ACTION_VERIFY, ACTION_HEAD };

struct log_args {
    enum action action;
    struct boundary_filter filter;
    const char *anchor; /* as it was said */
    bool json;
    bool help;
};

static int take_word(struct log_args *a, const char *word, struct err *err)
{
    if (a->action == ACTION_SHOW && strcmp(word, "verify") == 0)
        a->action = ACTION_VERIFY;
    else if (a->action == ACTION_SHOW && strcmp(word, "head") == 0)
        a->action = ACTION_HEAD;
    else
        return err_set(err, ERR_INVALID,
                       "log: \"%.64s\" is neither `verify` nor `head`", word);
    return 0;
}

static void take_option(struct log_args *a, const struct option_hit *hit)
{
    const struct {
        enum option_id id;
        const char **to;
    } texts[] = {{OPTION_RUN, &a->filter.run_id},
                 {OPTION_KIND, &a->filter.kind},
                 {OPTION_SINCE, &a->filter.since},
                 {OPTION_ANCHOR, &a->anchor}};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].id == hit->id)
            *texts[i].to = hit->value;
    a->json = a->json || hit->id == OPTION_JSON;
    a->help = a->help || hit->id == OPTION_HELP;
}

/* A kind, or a start of some that ends in '.'. */
static int check_kind(const char *kind, struct err *err)
{
    const char *names[EVENT_COUNT];
    size_t n = 0, len = strlen(kind);
    const char *near;

    for (size_t i = EVENT_NONE + 1; i < EVENT_COUNT; i++) {
        const char *name = event_rows[i].name;

        if (strcmp(name, kind) == 0 ||
            (len > 0 && kind[len - 1] == '.' && strncmp(name, kind, len) == 0))
            return 0;
        names[n++] = name;
    }
    near = option_nearest(kind, names, n);
    if (near != NULL)
        return err_set(err, ERR_INVALID,
                       "--kind: \"%.64s\" is no kind of record; did you mean "
                       "%s?",
                       kind, near);
    return err_set(err, ERR_INVALID,
                   "--kind: \"%.64s\" is no kind of record; kinds are as in "
                   "run.granted, file.out, or `file.` for all that start so",
                   kind);
}

static int check_anchor(const char *text, struct err *err)
{
    char hash[SHA256_HEX_SIZE];
    uint64_t seq;

    if (record_anchor_parse(text, &seq, hash) == 0 || access(text, R_OK) == 0)
        return 0;
    return err_set(err, ERR_INVALID,
                   "--anchor: \"%.64s\" is not \"N HASH\" as `karzer log head` "
                   "prints it, nor a file that can be read",
                   text);
}

static int check_args(struct log_args *a, struct err *err)
{
    bool filters = a->filter.run_id != NULL || a->filter.kind != NULL ||
                   a->filter.since != NULL;
    uint64_t us;

    if (a->action != ACTION_SHOW && filters)
        return err_set(err, ERR_INVALID,
                       "log: --run, --kind and --since choose records to show");
    if (a->action != ACTION_VERIFY && a->anchor != NULL)
        return err_set(err, ERR_INVALID,
                       "--anchor: only `karzer log verify` takes one");
    if (a->filter.run_id != NULL &&
        !id_valid(a->filter.run_id, strlen(a->filter.run_id)))
        return err_set(err, ERR_INVALID, "--run: \"%.64s\" is not a run id",
                       a->filter.run_id);
    if (a->filter.kind != NULL && check_kind(a->filter.kind, err) < 0)
        return -1;
    if (a->filter.since != NULL &&
        boundary_since(a->filter.since, &us, err) < 0)
        return err_wrap(err, "--since");
    return a->anchor == NULL ? 0 : check_anchor(a->anchor, err);
}

static int parse(struct log_args *a, int argc, char **argv, struct err *err)
{
    struct option_scan scan = option_scan(VERB_LOG, argc, argv);
    struct option_hit hit;
    int r;

    for (;;) {
        r = option_next(&scan, &hit, err);
        if (r < 0)
            return -1;
        if (r > 0)
            take_option(a, &hit);
        else if (scan.at >= argc)
            break;
        else if (take_word(a, argv[scan.at++], err) < 0)
            return -1;
    }
    return a->help ? 0 : check_args(a, err);
}

static int show_json(const json_t *record, void *ctx)
{
    AUTO(mem) char *text = json_text(record, DUMP);

    (void)ctx;
    if (text == NULL)
        return -1;
    return printf("%s\n", text) < 0 ? -1 : 0;
}

/* name=value; a text of plain characters without its quotes. */
static int show_field(const char *name, const json_t *value)
{
    AUTO(mem) char *text = json_text(value, DUMP);
    size_t len;

    if (text == NULL)
        return -1;
    len = strlen(text);
    if (json_is_string(value) && len > 2 &&
        strcspn(text + 1, " =\"\\") == len - 2)
        return printf(" %s=%.*s", name, (int)len - 2, text + 1);
    return printf(" %s=%s", name, text);
}

static const char *text_of(const json_t *record, const char *name)
{
    return json_string_value(json_object_get(record, name));
}

static int show_text(const json_t *record, void *ctx)
{
    static const char *const heads[] = {"seq", "time", "prev",
                                        "run", "kind", "self"};
    const char *run = text_of(record, "run");
    const char *name;
    json_t *value;

    (void)ctx;
    if (printf("%s %-26s %s", text_of(record, "time"), run == NULL ? "-" : run,
               text_of(record, "kind")) < 0)
        return -1;
    json_object_foreach((json_t *)record, name, value)
    {
        size_t i = 0;

        while (i < ARRAY_LEN(heads) && strcmp(name, heads[i]) != 0)
            i++;
        if (i == ARRAY_LEN(heads) && show_field(name, value) < 0)
            return -1;
    }
    return printf("\n") < 0 ? -1 : 0;
}

/* "N HASH", or a file of anchors. */
static int find_anchors(const struct log_args *a, const char *state,
                        struct anchors *all, struct err *err)
{
    int found;

    if (a->anchor == NULL)
        return 0;
    found = anchors_add(all, a->anchor, state, err);
    if (found == 0 && anchors_read(all, a->anchor, state, err) < 0)
        found = -1;
    if (found < 0)
        return err_wrap(err, "--anchor");
    anchors_sort(all);
    return 0;
}

static void tell_sum(const struct boundary_sum *sum, size_t anchors)
{
    printf("whole: %llu records", (unsigned long long)sum->lines);
    if (anchors == 1)
        printf(", and the anchor holds");
    else if (anchors > 1)
        printf(", and all %zu anchors hold", anchors);
    printf("\n");
    if (sum->torn > 0)
        printf("torn ends that were kept: %llu (karzer log --kind "
               "record.torn)\n",
               (unsigned long long)sum->torn);
    if (sum->unanchored > 0)
        printf("anchors that were not kept: %llu (karzer log --kind "
               "anchor.failed)\n",
               (unsigned long long)sum->unanchored);
    if (sum->set_back > 0)
        printf("times the clock was set back: %llu (the order is that of the "
               "chain)\n",
               (unsigned long long)sum->set_back);
}

static int verify(const char *state, const struct log_args *a, struct err *err)
{
    struct anchors all = {0};
    struct boundary_sum sum;
    int r = find_anchors(a, state, &all, err);

    if (r == 0)
        r = boundary_verify(state, &all, &sum, err);
    if (r == 0 && a->json)
        printf("{\"whole\":true,\"records\":%llu,\"torn\":%llu,"
               "\"anchors\":%zu,\"unanchored\":%llu,\"set_back\":%llu}\n",
               (unsigned long long)sum.lines, (unsigned long long)sum.torn,
               all.len, (unsigned long long)sum.unanchored,
               (unsigned long long)sum.set_back);
    else if (r == 0)
        tell_sum(&sum, all.len);
    anchors_fini(&all);
    return r;
}

static int head(const char *state, const struct log_args *a, struct err *err)
{
    char text[128];
    uint64_t seq;
    char hash[SHA256_HEX_SIZE];

    if (boundary_head(state, text, sizeof(text), err) < 0)
        return -1;
    if (!a->json)
        printf("%s\n", text);
    else if (record_anchor_parse(text, &seq, hash) == 0)
        printf("{\"records\":%llu,\"hash\":\"%s\"}\n", (unsigned long long)seq,
               hash);
    return 0;
}

static int act(const char *state, const struct log_args *a, struct err *err)
{
    switch (a->action) {
    case ACTION_VERIFY:
        return verify(state, a, err);
    case ACTION_HEAD:
        return head(state, a, err);
    case ACTION_SHOW:
        break;
    }
    return boundary_read(state, &a->filter, a->json ? show_json : show_text,
                         NULL, err);
}

int cmd_log(int argc, char **argv)
{
    struct log_args args = {0};
    struct err err = {0};
    struct dirs dirs;
    int status = 0;

    if (parse(&args, argc, argv, &err) < 0)
        return cli_fail(&err);
    if (args.help) {
        option_help(stdout, VERB_LOG);
        return cli_finish(0);
    }
    if (cli_dirs(&dirs, &err) < 0)
        return cli_fail(&err);
    if (act(dirs.state, &args, &err) < 0) {
        /* ERR_INVALID: not the request, which was checked, but the record */
        status = err.code == ERR_INVALID ? LOG_DAMAGED : CLI_FAILED;
        if (cli_finish(0) != 0)
            return CLI_FAILED;
        cli_fail(&err);
    }
    return cli_finish(status);
}
