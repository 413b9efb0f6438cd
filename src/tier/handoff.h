/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff - a grant as the sealed bytes that a holder gets (abi/holder.h).
 */
#ifndef KARZER_TIER_HANDOFF_H
#define KARZER_TIER_HANDOFF_H

#include <stddef.h>

#include "abi/holder.h"
#include "src/base/err.h"
#include "src/core/grant.h"

/* A sealed memfd. `extra` are the tier's own mounts, before the grant's. */
int handoff_make(const struct grant *grant, enum holder_tier tier,
                 const struct grant_mount *extra, size_t extra_count,
                 unsigned slot, int *out, struct err *err);

#endif
