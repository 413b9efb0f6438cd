/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_version - `karzer version`. */
#include <stdio.h>

#include "src/cli/cli.h"
#include "src/cli/options.h"

int cmd_version(int argc, char **argv)
{
    struct option_scan scan = option_scan(VERB_VERSION, argc, argv);
    struct option_hit hit;
    struct err err = {0};
    int r = option_next(&scan, &hit, &err);

    if (r == 0)
        r = option_no_more(&scan, &err);
    if (r < 0)
        return cli_fail(&err);
    if (r > 0)
        option_help(stdout, VERB_VERSION);
    else
        printf("karzer %s\n", KARZER_VERSION);
    return cli_finish(0);
}
