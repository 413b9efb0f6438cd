/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256 - the one hash of karzer: the record's chain, code and files.
 *
 * libcrypto's low-level functions, linked statically: 24 kB, no provider
 * machinery, no allocation, SHA-NI where the processor has it.
 */
#ifndef KARZER_BASE_SHA256_H
#define KARZER_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX_SIZE 65 /* 64 digits and NUL */

/* A value: a copy goes on by itself from where it was made. */
struct sha256 {
    uint64_t state[14]; /* libcrypto's */
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);

/* Ends it: 64 lower-case hex digits and NUL. init before the next use. */
void sha256_hex(struct sha256 *h, char out[SHA256_HEX_SIZE]);

/* All three at once. */
void sha256_of(const void *data, size_t len, char out[SHA256_HEX_SIZE]);

#endif
