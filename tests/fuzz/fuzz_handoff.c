/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a hand-off: what the check takes can be used without another
 * look. The copy has exactly the size, so that a sanitizer sees one byte more.
 */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jail/handoff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
    if (!holds)
        abort();
}

static void check_text(const struct holder_handoff *h, uint32_t offset)
{
    const char *s = handoff_text(h, offset);
    size_t n = strlen(s);

    check(s[0] == '/' && n < PATH_MAX && offset + n < h->size);
}

static void check_all(const struct holder_handoff *h, size_t size)
{
    check(h->size == size && h->mount_count <= HOLDER_MOUNTS_MAX);
    check(h->limits.mem_bytes != 0 && h->limits.pids != 0);
    check_text(h, h->agent);
    if (h->scratch != 0)
        check_text(h, h->scratch);
    for (uint32_t i = 0; i < h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(h, i);
        const char *target;

        check_text(h, m->source);
        check_text(h, m->target);
        target = handoff_text(h, m->target);
        check(strstr(target, "//") == NULL && strstr(target, "/../") == NULL);
        check(target[strlen(target) - 1] != '/');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *copy = malloc(size == 0 ? 1 : size);
    struct err err = {0};

    check(copy != NULL);
    memcpy(copy, data, size);
    if (handoff_check(copy, size, &err) == 0)
        check_all(copy, size);
    else
        check(err.code == ERR_INVALID && err.text[0] != '\0');
    free(copy);
    return 0;
}
