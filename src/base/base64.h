/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64 - bytes as RFC 4648 text, with padding. Our own: libcrypto's encoder
 * drags a megabyte of it into a static program.
 */
#ifndef KARZER_BASE_BASE64_H
#define KARZER_BASE_BASE64_H

#include <stddef.h>

/* NUL-terminated; free() it. NULL: no memory, or `len` is past what fits. */
char *base64_encode(const void *data, size_t len);

#endif
