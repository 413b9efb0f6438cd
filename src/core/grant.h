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

#define GRANT_MOUNTS_MAX 200u

/* With `bare` there may be other things than paths of the host. */
enum grant_kind { GRANT_BIND = 0, GRANT_DIR, GRANT_FILE, GRANT_LINK };

struct grant_mount {
    enum grant_kind kind;
    char *source;  /* absolute host path; a file's bytes; what a link says */
    size_t size;   /* of the bytes */
    uint32_t mode; /* of a directory or file that is made */
    bool keep;     /* a directory: what is there already stays */
    char *target;  /* absolute path inside */
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
    bool bare;     /* nothing is seen but the mounts: no /usr, no /etc */
    bool bare_sys; /* with what a container has of /sys */
    uint32_t seen_uid, seen_gid; /* with bare: who the program is, inside */
    char *hostname;              /* NULL: the usual one */

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
