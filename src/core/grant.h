/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grant - what was allowed: the only input of a tier.
 *
 * Made by policy_decide() from a request; complete: a tier adds no default
 * that widens it. A zeroed grant allows nothing.
 */
#ifndef KARZER_CORE_GRANT_H
#define KARZER_CORE_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/strs.h"
#include "src/core/dirs.h"
#include "src/core/limits.h"
#include "src/core/template.h"

#define GRANT_MOUNTS_MAX 64u

struct grant_mount {
    char *source; /* absolute host path */
    char *target; /* absolute path inside */
    bool rw;
    bool optional; /* a source that does not exist is skipped */
    bool owned;    /* what is made there belongs to the owner of `source` */
};

struct grant {
    const char *run_id; /* the request's */
    const struct tier *tier;
    const struct language *language; /* the program is its driver, which speaks
                                        abi/runtime.h; NULL: any program */
    const struct dirs *dirs; /* the engine's: where holders and slots are */

    struct limits limits;
    uint64_t may_lack; /* bit per enum holder_mechanism */

    struct grant_mount mounts[GRANT_MOUNTS_MAX];
    size_t mount_count;

    struct template *template; /* the root in place of the host's /usr, locked;
                                  NULL: none */

    struct strs env;  /* complete environment of the program */
    struct strs argv; /* complete: with a runtime, the driver's */
    char *cwd;        /* absolute, inside */
    char *scratch;    /* host directory for scratch where no mount is possible,
                         or NULL */
    bool lasting;     /* several blocks or commands: each has the wall time */
    bool has_stdin;
    bool terminal; /* its stdin, stdout and stderr are one, of this size */
    uint16_t rows, columns;
    bool output_kill;
};

void grant_fini(struct grant *grant);

#endif
