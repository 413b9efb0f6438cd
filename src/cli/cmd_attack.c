/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_attack - `karzer attack`: six attacks against every tier of this host,
 * as a table or JSON. Exits with 0 only when all were tried and all blocked.
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/cli/attack.h"
#include "src/cli/cli.h"
#include "src/cli/forward.h"
#include "src/cli/options.h"
#include "src/core/json_text.h"
#include "src/core/run.h"

#define TIERS_MAX 8

struct column {
    const struct tier *tier;
    bool available;
    struct err why; /* when it is not */
    struct attack_end ends[ATTACK_COUNT];
};

struct table {
    struct column at[TIERS_MAX];
    size_t count;
    bool json;
};

static bool aborted;

static int on_signal(void *ctx)
{
    int sig = forward_next(ctx);

    if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
        aborted = true;
    return aborted ? -1 : sig < 0 ? -1 : 0;
}

static int table_init(struct table *t, const char *only, struct err *err)
{
    if (only != NULL && strcmp(only, "auto") == 0)
        only = NULL;
    for (size_t i = 0; tiers[i] != NULL && t->count < TIERS_MAX; i++) {
        struct column *c = &t->at[t->count];

        if (only != NULL && strcmp(only, tiers[i]->name) != 0)
            continue;
        c->tier = tiers[i];
        c->available = cli_try(tiers[i], &c->why) == 0;
        t->count++;
    }
    if (t->count == 0)
        return err_set(
            err, ERR_INVALID,
            "--tier: \"%.64s\" is no tier; `karzer tiers` lists them", only);
    return 0;
}

static int options_take(int argc, char **argv, struct table *t, bool *help,
                        struct err *err)
{
    struct option_scan scan = option_scan(VERB_ATTACK, argc, argv);
    const char *only = NULL;
    struct option_hit hit;
    int r;

    while ((r = option_next(&scan, &hit, err)) > 0) {
        if (hit.id == OPTION_ONE_TIER)
            only = hit.value;
        else if (hit.id == OPTION_JSON)
            t->json = true;
        else
            *help = true;
    }
    if (r < 0 || option_no_more(&scan, err) < 0)
        return -1;
    return *help ? 0 : table_init(t, only, err);
}

static int attack_all(struct table *t, const struct plant *p, struct err *err)
{
    struct engine *engine = NULL;
    struct dirs dirs;
    int r = 0;

    if (cli_dirs(&dirs, err) < 0 || engine_open(&engine, &dirs, err) < 0)
        return -1;
    for (size_t i = 0; i < t->count && r == 0; i++)
        for (int id = 0; id < ATTACK_COUNT && r == 0; id++) {
            if (!t->at[i].available)
                continue;
            r = attack_run(engine, (enum attack_id)id, t->at[i].tier, p,
                           on_signal, &t->at[i].ends[id], err);
            if (r == 0 && aborted)
                r = err_set(err, ERR_HOST, "attack: ended by a signal");
        }
    engine_close(engine);
    return r;
}

/* 0: all blocked; 1: one was not; CLI_FAILED: one could not be tried. */
static int verdict(const struct table *t)
{
    size_t tried = 0, missed = 0;

    for (size_t i = 0; i < t->count; i++) {
        for (int id = 0; t->at[i].available && id < ATTACK_COUNT; id++) {
            enum attack_outcome o = t->at[i].ends[id].outcome;

            if (o == ATTACK_SUCCEEDED)
                return 1;
            missed += o == ATTACK_NOT_RUN;
            tried++;
        }
    }
    return tried > 0 && missed == 0 ? 0 : CLI_FAILED;
}

static void print_cell(const struct column *c, int id)
{
    const struct attack_end *end = &c->ends[id];
    char text[64];

    if (!c->available)
        snprintf(text, sizeof(text), "unavailable");
    else if (end->outcome == ATTACK_BLOCKED)
        snprintf(text, sizeof(text), "blocked (%s)", end->status);
    else
        snprintf(text, sizeof(text), "%s", attack_outcomes[end->outcome]);
    printf(" %-20s", text);
}

static void print_table(const struct table *t)
{
    printf("%-48s", "attack");
    for (size_t i = 0; i < t->count; i++)
        printf(" %-20s", t->at[i].tier->name);
    printf("\n");
    for (int id = 0; id < ATTACK_COUNT; id++) {
        printf("%-48s", attack_rows[id].what);
        for (size_t i = 0; i < t->count; i++)
            print_cell(&t->at[i], id);
        printf("\n");
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct column *c = &t->at[i];

        if (!c->available)
            printf("%s: unavailable: %s\n", c->tier->name, c->why.text);
        for (int id = 0; c->available && id < ATTACK_COUNT; id++)
            if (c->ends[id].outcome == ATTACK_NOT_RUN)
                printf("%s: %s: not run: %s\n", c->tier->name,
                       attack_rows[id].name, c->ends[id].why);
    }
}

static json_t *column_json(const struct column *c)
{
    json_t *all = json_array();

    for (int id = 0; c->available && id < ATTACK_COUNT; id++) {
        const struct attack_end *end = &c->ends[id];

        json_array_append_new(all,
                              json_pack("{s:s,s:s,s:s,s:s?,s:s?}", "attack",
                                        attack_rows[id].name, "what",
                                        attack_rows[id].what, "outcome",
                                        end->outcome == ATTACK_SUCCEEDED
                                            ? "succeeded"
                                            : attack_outcomes[end->outcome],
                                        "status", end->status, "why",
                                        end->why[0] == '\0' ? NULL : end->why));
    }
    return json_pack("{s:s,s:b,s:s?,s:o}", "tier", c->tier->name, "available",
                     c->available, "why", c->available ? NULL : c->why.text,
                     "attacks", all);
}

static int print_json(const struct table *t, int status)
{
    json_t *columns = json_array();
    AUTO(mem) char *text = NULL;
    json_t *all;

    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(columns, column_json(&t->at[i]));
    all = json_pack("{s:b,s:o}", "blocked", status == 0, "tiers", columns);
    text = json_text(all, JSON_COMPACT);
    json_decref(all);
    printf("%s\n", text == NULL ? "null" : text);
    return text == NULL ? CLI_FAILED : status;
}

int cmd_attack(int argc, char **argv)
{
    struct table t = {0};
    struct err err = {0};
    struct plant plant;
    bool help = false;
    int status, r;

    if (options_take(argc, argv, &t, &help, &err) < 0)
        return cli_fail(&err);
    if (help) {
        option_help(stdout, VERB_ATTACK);
        return cli_finish(0);
    }
    forward_start();
    if (plant_make(&plant, cli_home(), &err) < 0)
        return cli_fail(&err);
    r = attack_control(&plant, &err);
    if (r == 0)
        r = attack_all(&t, &plant, &err);
    plant_remove(&plant);
    if (r < 0) {
        cli_fail(&err);
        return CLI_FAILED;
    }
    status = verdict(&t);
    if (t.json)
        status = print_json(&t, status);
    else
        print_table(&t);
    return cli_finish(status);
}
