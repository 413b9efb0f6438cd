/* SPDX-License-Identifier: Apache-2.0 */
/* id - see id.h. Never guessable: ids also name sandboxes to clients. */
#include "src/base/id.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

static int random_fill(unsigned char *out, size_t len)
{
    ssize_t n;

    /* Up to 256 bytes come whole or not at all. */
    do
        n = getrandom(out, len, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : -1;
}

int id_new(char out[ID_SIZE], struct err *err)
{
    unsigned char bytes[16];
    unsigned __int128 v = 0;
    struct timespec now;
    uint64_t ms;

    if (random_fill(bytes + 6, 10) < 0)
        return err_sys(err, "random bytes for an id");
    clock_gettime(CLOCK_REALTIME, &now);
    ms = (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
    for (int i = 5; i >= 0; i--, ms >>= 8)
        bytes[i] = (unsigned char)ms;
    for (size_t i = 0; i < sizeof(bytes); i++)
        v = v << 8 | bytes[i];
    for (int i = ID_LEN - 1; i >= 0; i--, v >>= 5)
        out[i] = digits[(unsigned)v & 31u];
    out[ID_LEN] = '\0';
    return 0;
}

bool id_valid(const char *text, size_t len)
{
    /* 128 bits: the first character carries three of them. */
    if (len != ID_LEN || text[0] < '0' || text[0] > '7')
        return false;
    for (size_t i = 1; i < len; i++)
        if (text[i] == '\0' || strchr(digits, text[i]) == NULL)
            return false;
    return true;
}
