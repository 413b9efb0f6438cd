/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program - the programs of the host that a build starts: apt-get, mmdebstrap.
 * By absolute path, with an environment made here: of the caller's only what
 * says how the network is reached.
 */
#ifndef KARZER_TEMPLATE_PROGRAM_H
#define KARZER_TEMPLATE_PROGRAM_H

#include <sys/types.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/strs.h"

int program_env(struct strs *env, struct err *err);

/* In a child: becomes the program. Returns only when that failed. */
void program_become(char *const argv[], const struct strs *env);

/* What it prints on stdout, up to the cap of `out`. -1: also when it failed. */
int program_read(char *const argv[], struct buf *out, struct err *err);

/* Waits. 0: it ended with 0. */
int program_wait(pid_t pid, const char *name, struct err *err);

#endif
