/* SPDX-License-Identifier: Apache-2.0 */
/* denied - see denied.h. */
#include "src/tier/denied.h"

#include <stdlib.h>

int denied_keep(struct cell *cell, const struct holder_message *m,
                struct err *err)
{
    size_t n = cell->denied_count;
    struct holder_message *more = cell->denied;

    if (n >= CELL_DENIED_MAX)
        return err_set(err, ERR_INTERNAL, "the holder tells too much");
    if ((n & (n - 1)) == 0) /* 0, 1, 2, 4: there is no room */
        more = reallocarray(more, n == 0 ? 1 : 2 * n, sizeof(*more));
    if (more == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    cell->denied = more;
    more[n] = *m;
    more[n].denied.comm[sizeof(m->denied.comm) - 1] = '\0';
    cell->denied_count++;
    return 0;
}
