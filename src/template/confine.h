/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine - what the child gives up before it looks at the first foreign byte:
 * root's identity, new privileges, other files (Landlock), and all system calls
 * but those of reading one descriptor and making files (seccomp).
 */
#ifndef KARZER_TEMPLATE_CONFINE_H
#define KARZER_TEMPLATE_CONFINE_H

#include "src/base/err.h"
#include "src/base/slot.h"
#include "src/template/put.h"

/* Whose files a template's are when root builds it: an id that nobody has, and
 * no cell. */
#define TEMPLATE_UID (SLOT_UID_BASE + SLOT_COUNT)

/* As root: becomes TEMPLATE_UID. Otherwise nothing. */
int confine_identity(struct err *err);

/* Everything else; `tree` is the one directory that stays usable. 1: without
 * Landlock, which this kernel lacks; the rest holds. */
int confine_enter(int tree, const struct put_caps *caps, struct err *err);

/* For the installation of packages, with one id in the namespace: to give a
 * file to another owner does nothing and succeeds. */
int confine_fake_owners(struct err *err);

#endif
