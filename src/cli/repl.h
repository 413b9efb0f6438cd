/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repl - `karzer run -i`: blocks from stdin, one after the other, in one cell.
 */
#ifndef KARZER_CLI_REPL_H
#define KARZER_CLI_REPL_H

#include "src/core/run.h"

/* The exit status of the last block, or why there was none. */
int repl_run(struct engine *e, const struct request *req, struct err *err);

#endif
