/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8 - the characters of a program's output, for visible.c and vt.c, which
 * see their bytes one by one. Pure.
 */
#ifndef KARZER_CLI_UTF8_H
#define KARZER_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 2 to 4 by the first byte; 0: no character of more than one starts so. */
size_t utf8_length(unsigned char b);

/* May `b` come after the `len` bytes of a character? Refuses overlong forms,
 * surrogates, and what is above U+10FFFF. */
bool utf8_follows(const unsigned char *held, size_t len, unsigned char b);

/* Of a whole, valid character of two bytes or more. */
uint32_t utf8_decode(const unsigned char *s, size_t len);

/* Is it a control of a terminal, or does it change the order or the direction
 * of what stands around it? */
bool utf8_hides(const unsigned char *s, size_t len);

#endif
