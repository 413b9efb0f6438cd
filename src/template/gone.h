/* SPDX-License-Identifier: Apache-2.0 */
/* gone - the removing part of store.h. */
#ifndef KARZER_TEMPLATE_GONE_H
#define KARZER_TEMPLATE_GONE_H

#include "src/template/store.h"

/* With the store's lock held: removes a tree unless a name has it or a run uses
 * it. `gone` may be NULL. What cannot be removed is left for gc. */
void gone_tree(const struct store *s, const char *digest,
               struct store_gone *gone);

#endif
