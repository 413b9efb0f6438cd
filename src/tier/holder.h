/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder - starts a holder program with a sealed hand-off and talks to it.
 *
 * Shared by the tiers; the cell_* functions of src/core/tier.h live here. A
 * tier adds to the grant's mounts what its own view needs, and nothing else.
 */
#ifndef KARZER_TIER_HOLDER_H
#define KARZER_TIER_HOLDER_H

#include "src/core/tier.h"

/* Starts karzer-jail for `grant`; `extra` are mounts of the tier's view, put
 * before the grant's. Returns at once: cell_wait_ready tells. */
int holder_start(const struct grant *grant, enum holder_tier tier,
                 const struct grant_mount *extra, size_t extra_count,
                 struct cell **out, struct err *err);

/* Where slots are locked: one place per machine for root, whose cells get ids
 * by slot; the state directory for others. Creates it. */
int holder_slot_dir(const struct dirs *dirs, const char **dir, struct err *err);

#endif
