/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask - something empty over files that a cell has no business with: known
 * carriers of tokens, parts of /proc, sockets. Called when all else is in
 * place; the new root is sealed then.
 */
#ifndef KARZER_JAIL_MASK_H
#define KARZER_JAIL_MASK_H

#include <sys/types.h>

#include "jail/jail.h"
#include "src/base/err.h"

/* Those of mask.def, and for the process view mask_etc.def, that exist. In the
 * new root, as the root. */
int mask_files(struct jail *j, struct err *err);

/* Below the new root, if it exists, the cell may open it, and it is of this
 * kind (S_IFMT; 0: any). */
int mask_path(const struct jail *j, const char *path, mode_t only,
              struct err *err);

/* The same for what `point` (O_PATH) names; `path` is for messages. */
int mask_point(const struct jail *j, int point, mode_t only, const char *path,
               struct err *err);

/* Over what `point` names, a directory by its mode or not. -1 with errno. */
int mask_over(const struct jail *j, int point, mode_t mode);

#endif
