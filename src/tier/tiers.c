/* SPDX-License-Identifier: Apache-2.0 */
/* tiers - the array, weakest first; the order is that of `karzer tiers`. */
#include "src/core/tier.h"

#include <string.h>

#include "src/tier/container.h"
#include "src/tier/process.h"

const struct tier *const tiers[] = {&tier_process, &tier_container, NULL};

const struct tier *tier_find(const char *name)
{
    for (size_t i = 0; tiers[i] != NULL; i++)
        if (strcmp(tiers[i]->name, name) == 0)
            return tiers[i];
    return NULL;
}

const struct tier *tier_strongest(struct err *err)
{
    const struct tier *best = NULL;

    for (size_t i = 0; tiers[i] != NULL; i++)
        if (tiers[i]->probe(best == NULL ? err : NULL) == 0)
            best = tiers[i];
    return best;
}
