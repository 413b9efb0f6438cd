/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tiers - `karzer tiers`: what holds code on this host, strongest last. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/auto.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/core/json_text.h"
#include "src/core/tier.h"

#define ROWS_MAX 8

struct row {
    bool available;
    struct err why; /* when it is not */
};

struct table {
    struct row at[ROWS_MAX];
    size_t count;
    size_t strongest; /* past the end: none */
};

/* Each is tried, and not believed: settings do not tell what a seccomp profile
 * or a sandbox around us refuses. */
static void table_fill(struct table *t)
{
    t->strongest = ROWS_MAX;
    for (; tiers[t->count] != NULL && t->count < ROWS_MAX; t->count++) {
        struct row *row = &t->at[t->count];

        row->available = cli_try(tiers[t->count], &row->why) == 0;
        if (row->available)
            t->strongest = t->count;
    }
}

static int print_json(const struct table *t)
{
    json_t *all = json_array();
    AUTO(mem) char *text = NULL;

    for (size_t i = 0; i < t->count; i++) {
        const struct row *row = &t->at[i];

        json_array_append_new(
            all, json_pack("{s:s,s:b,s:s?,s:s,s:b}", "name", tiers[i]->name,
                           "available", row->available, "why",
                           row->available ? NULL : row->why.text, "promise",
                           tiers[i]->promise, "strongest", i == t->strongest));
    }
    text = json_text(all, JSON_COMPACT);
    json_decref(all);
    printf("%s\n", text == NULL ? "null" : text);
    return cli_finish(text == NULL ? CLI_FAILED : 0);
}

static int print_table(const struct table *t)
{
    printf("%-12s %-12s %s\n", "tier", "available", "promise");
    for (size_t i = 0; i < t->count; i++) {
        const struct row *row = &t->at[i];

        printf("%-12s %-12s %s\n", tiers[i]->name,
               i == t->strongest ? "strongest"
               : row->available  ? "yes"
                                 : "no",
               tiers[i]->promise);
        if (!row->available)
            printf("%-12s %-12s why not: %s\n", "", "", row->why.text);
    }
    return cli_finish(0);
}

int cmd_tiers(int argc, char **argv)
{
    struct option_scan scan = option_scan(VERB_TIERS, argc, argv);
    struct option_hit hit;
    struct err err = {0};
    struct table t = {0};
    bool json = false;
    int r;

    while ((r = option_next(&scan, &hit, &err)) > 0) {
        if (hit.id == OPTION_HELP) {
            option_help(stdout, VERB_TIERS);
            return cli_finish(0);
        }
        json = true;
    }
    if (r == 0)
        r = option_no_more(&scan, &err);
    if (r < 0)
        return cli_fail(&err);
    table_fill(&t);
    return json ? print_json(&t) : print_table(&t);
}
