/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id - names of runs: 48 bits of milliseconds, 80 random bits, as 26
 * characters of Crockford's base32 in lower case. Sorts by time as text.
 */
#ifndef KARZER_BASE_ID_H
#define KARZER_BASE_ID_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

#define ID_LEN 26
#define ID_SIZE 27 /* with NUL */

/* A new one. -1 when the kernel gives no random bytes. */
int id_new(char out[ID_SIZE], struct err *err);

/* Could id_new have made these `len` bytes? */
bool id_valid(const char *text, size_t len);

#endif
