/* SPDX-License-Identifier: Apache-2.0 */
/* container - all namespaces, a private read-only root, an allow list. */
#ifndef KARZER_TIER_CONTAINER_H
#define KARZER_TIER_CONTAINER_H

#include "src/core/tier.h"

extern const struct tier tier_container;

#endif
