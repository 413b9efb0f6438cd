/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirs - where karzer's own things are on this host.
 *
 * Programs and runtimes are found beside /proc/self/exe, never by PATH or the
 * environment: <exe>/../libexec/karzer and <exe>/../share/karzer. State (the
 * record, the slots) is /var/lib/karzer for root and $XDG_STATE_HOME/karzer
 * (~/.local/state/karzer) for others; KARZER_STATE names another directory.
 */
#ifndef KARZER_CORE_DIRS_H
#define KARZER_CORE_DIRS_H

#include "src/base/err.h"
#include "src/core/record_settings.h"

#define DIRS_PATH_MAX 4096

struct dirs {
    char libexec[DIRS_PATH_MAX];
    char share[DIRS_PATH_MAX];
    char state[DIRS_PATH_MAX];   /* exists, 0700, ours */
    char runtime[DIRS_PATH_MAX]; /* of the login; "": none */
    struct record_settings record;
};

/* `record` is zeroed. */
int dirs_find(struct dirs *dirs, const char *state_env,
              const char *xdg_state_home, const char *home, struct err *err);

/* The runtime directory: what XDG_RUNTIME_DIR says, or the usual one of this
 * user. For ordinary users only; who uses it checks whose it is. */
void dirs_runtime(struct dirs *dirs, const char *xdg_runtime_dir);

#endif
