/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback - the process tier where no mount or pid namespace can be had:
 * Landlock, a stricter filter, a directory of the host for scratch, and the
 * cgroup as the only handle on all processes. Called by main.c and enter.c.
 */
#ifndef KARZER_JAIL_FALLBACK_H
#define KARZER_JAIL_FALLBACK_H

#include "jail/jail.h"
#include "src/base/err.h"

/* After namespaces were refused (err says why, and goes on to say what else is
 * missing). In the holder: 0 when this cell can be held without, and
 * j->fallback is set; else -1. */
int fallback_choose(struct jail *j, struct err *err);

/* In the holder, when every process is dead. */
void fallback_clean(const struct jail *j);

/* In the child: Landlock. Fills effective[]. */
int fallback_enter(struct jail *j, struct err *err);

#endif
