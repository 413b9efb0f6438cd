/* SPDX-License-Identifier: Apache-2.0 */
/* process - the host's own programs at their own paths, from a list. */
#ifndef KARZER_TIER_PROCESS_H
#define KARZER_TIER_PROCESS_H

#include "src/core/tier.h"

extern const struct tier tier_process;

#endif
