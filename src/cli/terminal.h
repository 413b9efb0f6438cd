/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal - the operator's terminal while a program has one of its own
 * (exec -t): raw, and given back as it was, whatever becomes of karzer.
 *
 * A guard, a child that does nothing else, waits for karzer's end: where karzer
 * could not give the terminal back itself (SIGKILL), the guard does.
 */
#ifndef KARZER_CLI_TERMINAL_H
#define KARZER_CLI_TERMINAL_H

#include <stdint.h>

#include "src/base/err.h"

/* ERR_INVALID when stdin or stdout is no terminal. */
int terminal_check(struct err *err);

/* The size of the window now; 24 lines of 80 when it does not tell. */
void terminal_size(uint16_t *rows, uint16_t *columns);

/* Once, before anything else is open. */
int terminal_enter(struct err *err);

/* For vt.h: what is to be undone at the end. */
uint64_t *terminal_left(void);

/* As it was. Nothing when it was not entered, or was left. */
void terminal_leave(void);

#endif
