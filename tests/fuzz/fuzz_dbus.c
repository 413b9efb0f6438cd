/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What systemd answers to karzer-scope, any bytes: a message lies within what
 * came, its texts end and can be printed, and less of it is never a message.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scope/dbus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void printable(const char *text, size_t size)
{
    size_t n = strnlen(text, size);

    if (n == size)
        abort();
    for (size_t i = 0; i < n; i++)
        if (text[i] < 32 || text[i] > 126)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dbus_head h, less;

    if (dbus_parse(data, size, &h) != 1)
        return 0;
    if (h.size > size || h.size > DBUS_MESSAGE_MAX || h.size < 16)
        abort();
    printable(h.error, sizeof(h.error));
    printable(h.text, sizeof(h.text));
    if (dbus_parse(data, h.size - 1, &less) == 1)
        abort();
    return 0;
}
