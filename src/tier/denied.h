/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denied - what the holder told of refused system calls, until the core records
 * it. Called by holder.c alone; bounded, whatever the holder says.
 */
#ifndef KARZER_TIER_DENIED_H
#define KARZER_TIER_DENIED_H

#include "src/core/tier.h"

/* -1: there is no room, and the run cannot go on unrecorded. */
int denied_keep(struct cell *cell, const struct holder_message *m,
                struct err *err);

#endif
