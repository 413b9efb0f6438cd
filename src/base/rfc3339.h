/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rfc3339 - times as text in UTC, without libc's time zone: gmtime() opens
 * /etc/localtime at its first call, which the start path need not pay.
 */
#ifndef KARZER_BASE_RFC3339_H
#define KARZER_BASE_RFC3339_H

#include <stdint.h>

#define RFC3339_SIZE 28 /* "2026-10-01T12:00:00.123456Z" and NUL */

/* Microseconds since 1970; years past 9999 are written as its end. */
void rfc3339_format(uint64_t us, char out[RFC3339_SIZE]);

/*
 * "2026-10-01T12:00:00.5Z", "...+02:00", or a day alone (its start, UTC).
 * -1: not such a text, or before 1970.
 */
int rfc3339_parse(const char *text, uint64_t *us);

uint64_t rfc3339_now(void); /* CLOCK_REALTIME in microseconds */

#endif
