/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child - a plain child process of the CLI, unconfined: for controls and for
 * timing. Never for what the user wants to run.
 */
#ifndef KARZER_CLI_CHILD_H
#define KARZER_CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"

struct child_end {
    int status;  /* as wait(2) tells it */
    uint64_t us; /* from the start until it is reaped */
};

/*
 * argv[0] is a path. stdin and stderr are /dev/null, the environment is ours;
 * what it writes to stdout goes into `out` (ended with
 * SIGKILL past its cap, or after timeout_ms). -1: it could not be started.
 */
int child_run(char *const argv[], int timeout_ms, struct buf *out,
              struct child_end *end, struct err *err);

/* Did it exit with 0? */
bool child_ok(const struct child_end *end);

/* The host's python3, sh and bash at their usual places; NULL: not there. */
const char *child_python(void);
const char *child_sh(void);
const char *child_bash(void);

#endif
