/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity - who the cell is on the host, and who it sees itself as.
 *
 * Root gives each cell an unused host id, in a user namespace of its own that
 * is made last: its namespaces and mounts belong to the host's, so that no
 * right inside reaches them. An ordinary user needs the user namespace first,
 * for the right to make the others; there the cell has the caller's id.
 */
#ifndef KARZER_JAIL_IDENTITY_H
#define KARZER_JAIL_IDENTITY_H

#include "jail/jail.h"
#include "src/base/err.h"

/* In the holder. Decides root, user_ns, ids. */
int identity_choose(struct jail *j, struct err *err);

/* In the holder of an ordinary user: enters a user namespace. On failure err
 * says what to change on the host. */
int identity_enter(struct jail *j, struct err *err);

/* In the holder of root: clones the OWNED mounts and maps their owner to the
 * cell's id; where a file system cannot, the cell gets the owner's id. */
int identity_owned(struct jail *j, struct err *err);

/* In the child: becomes the cell's id. Fills effective[USERS]. */
int identity_become(struct jail *j, struct err *err);

#endif
