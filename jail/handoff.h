/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff - the sealed bytes of abi/holder.h, checked once at the door.
 *
 * What handoff_check() accepts can be used without another look: offsets are
 * in range, strings end, paths are absolute, counts are capped. Called by the
 * holder's main and by the fuzzer; it touches nothing but the bytes.
 */
#ifndef KARZER_JAIL_HANDOFF_H
#define KARZER_JAIL_HANDOFF_H

#include <stddef.h>

#include "abi/holder.h"
#include "src/base/err.h"

/* `data` is aligned as malloc() and mmap() do it. ERR_INVALID, and why. */
int handoff_check(const void *data, size_t size, struct err *err);

/* Maps a sealed memfd and checks it. It stays mapped until the exit. */
int handoff_open(int fd, const struct holder_handoff **out, struct err *err);

/* Of a hand-off that was checked. */
static inline const char *handoff_text(const struct holder_handoff *h,
                                       uint32_t offset)
{
    return (const char *)h + offset;
}

/* Is it of the host? Only then its source is a path. */
static inline int handoff_is_host(const struct holder_mount *m)
{
    return (m->flags & HOLDER_MOUNT_MADE) == 0;
}

static inline const struct holder_mount *
handoff_mount(const struct holder_handoff *h, uint32_t i)
{
    return (const struct holder_mount *)(const void *)((const char *)h +
                                                       h->mounts) +
           i;
}

#endif
