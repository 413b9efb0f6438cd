/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container - starts karzer-jail with the container view, which the jail makes
 * itself from the host's /usr and a generated /etc.
 */
#include "src/tier/container.h"

#include "src/base/slot.h"
#include "src/tier/holder.h"
#include "src/tier/userns.h"

static int probe(struct err *err)
{
    if (slot_root())
        return 0; /* root does it without a user namespace, too */
    return userns_allowed(err);
}

static int start(const struct grant *grant, struct cell **out, struct err *err)
{
    return holder_start(grant, HOLDER_TIER_CONTAINER, NULL, 0, out, err);
}

const struct tier tier_container = {
    .name = "container",
    .promise = "own namespaces, a private read-only root, an allow list of "
               "system calls; the kernel is shared with the host",
    .has_root = true,
    .probe = probe,
    .start = start,
};
