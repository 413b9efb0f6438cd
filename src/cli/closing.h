/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closing - what a person is told after a run: one line for each thing that
 * was limited or refused, with the option that would allow it. Pure.
 */
#ifndef KARZER_CLI_CLOSING_H
#define KARZER_CLI_CLOSING_H

#include "src/base/strs.h"
#include "src/core/result.h"

/* Adds the lines, without "karzer: ". None for `ok` without events, and none
 * for a program that failed by itself. */
int closing_lines(const struct result *r, struct strs *lines, struct err *err);

#endif
