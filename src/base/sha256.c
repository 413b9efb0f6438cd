/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256 - see sha256.h. The deprecated names are meant: EVP would link the
 * whole provider machinery into a static program that starts in a millisecond.
 */
#include "src/base/sha256.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

_Static_assert(sizeof(struct sha256) >= sizeof(SHA256_CTX), "room for it");
_Static_assert(_Alignof(struct sha256) >= _Alignof(SHA256_CTX), "aligned");

void sha256_init(struct sha256 *h)
{
    SHA256_Init((SHA256_CTX *)h->state);
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
    SHA256_Update((SHA256_CTX *)h->state, data, len);
}

void sha256_hex(struct sha256 *h, char out[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sum[SHA256_DIGEST_LENGTH];

    SHA256_Final(sum, (SHA256_CTX *)h->state);
    for (size_t i = 0; i < sizeof(sum); i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[2 * sizeof(sum)] = '\0';
}

void sha256_of(const void *data, size_t len, char out[SHA256_HEX_SIZE])
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, data, len);
    sha256_hex(&h, out);
}
