/* SPDX-License-Identifier: Apache-2.0 */
/* userns - may this user make a user namespace? Told from the sysctls. */
#ifndef KARZER_TIER_USERNS_H
#define KARZER_TIER_USERNS_H

#include "src/base/err.h"

/* 0: nothing speaks against it. -1: which setting, and how to change it. */
int userns_allowed(struct err *err);

#endif
