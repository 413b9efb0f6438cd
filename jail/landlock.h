/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock - the process tier's wall where no namespace can be had: Landlock
 * for files and signals, and a stricter system call filter for what Landlock
 * does not know (modes, owners, times, attributes, sockets, IPC).
 *
 * Called by the holder's child, with cgroups in force, as one of the last steps
 * before the filter. Landlock only ever allows: what no mount of the hand-off
 * names is out of reach, and what the masks name is left out of a mount. Paths
 * are the host's: a mount is seen at its source, scratch where it is. Names,
 * sizes and owners of other files, and other users' processes in /proc, stay
 * visible.
 */
#ifndef KARZER_JAIL_LANDLOCK_H
#define KARZER_JAIL_LANDLOCK_H

#include <stdint.h>

#include "abi/holder.h"
#include "src/base/err.h"

/* What this kernel offers; 0: nothing. */
int landlock_abi(void);

/* Bits of jail/seccomp.h that must go with it. */
unsigned landlock_variant(int abi);

/*
 * Confines the caller, for good. `scratch` is the cell's own directory
 * (src/base/scratch.h). Fills effective[FILES, PROCESSES, NETWORK, IPC, DISK];
 * reads effective[MEMORY].
 * Also bounds the size of one file, since scratch is shared with the host.
 */
int landlock_enter(const struct holder_handoff *h, const char *scratch, int abi,
                   uint8_t *effective, struct err *err);

#endif
