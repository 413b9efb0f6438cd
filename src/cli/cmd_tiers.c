/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tiers - `karzer tiers`: what holds code on this host, strongest last. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/auto.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/core/tier.h"

static int print_json(const struct tier *strongest)
{
    json_t *all = json_array();
    AUTO(mem) char *text = NULL;

    for (size_t i = 0; tiers[i] != NULL; i++) {
        struct err why = {0};
        int ok = tiers[i]->probe(&why) == 0;

        json_array_append_new(
            all,
            json_pack("{s:s,s:b,s:s?,s:s,s:b}", "name", tiers[i]->name,
                      "available", ok, "why", ok ? NULL : why.text, "promise",
                      tiers[i]->promise, "strongest", tiers[i] == strongest));
    }
    text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    printf("%s\n", text == NULL ? "null" : text);
    return cli_finish(text == NULL ? CLI_FAILED : 0);
}

static int print_table(const struct tier *strongest)
{
    printf("%-12s %-12s %s\n", "tier", "available", "promise");
    for (size_t i = 0; tiers[i] != NULL; i++) {
        struct err why = {0};
        int ok = tiers[i]->probe(&why) == 0;

        printf("%-12s %-12s %s\n", tiers[i]->name,
               tiers[i] == strongest ? "strongest"
               : ok                  ? "yes"
                                     : "no",
               tiers[i]->promise);
        if (!ok)
            printf("%-12s %-12s why not: %s\n", "", "", why.text);
    }
    return cli_finish(0);
}

int cmd_tiers(int argc, char **argv)
{
    struct option_scan scan = option_scan(VERB_TIERS, argc, argv);
    struct option_hit hit;
    struct err err = {0};
    const struct tier *strongest;
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
    strongest = tier_strongest(&err);
    return json ? print_json(strongest) : print_table(strongest);
}
