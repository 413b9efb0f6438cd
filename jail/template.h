/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template - the base of a container's view from a template's tree, in place
 * of the host's /usr and /etc. Called by view.c.
 */
#ifndef KARZER_JAIL_TEMPLATE_H
#define KARZER_JAIL_TEMPLATE_H

#include "jail/jail.h"
#include "src/base/err.h"

/* The new root is the working directory, and still writable. */
int template_base(const struct jail *j, struct err *err);

#endif
