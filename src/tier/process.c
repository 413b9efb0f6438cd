/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process - starts karzer-jail with the process view: the host's own programs
 * at their own paths, from a list, read-only; everything else is absent.
 */
#include "src/tier/process.h"

#include "src/base/auto.h"
#include "src/tier/holder.h"

#define SEEN(path)                                                             \
    {                                                                          \
        .source = path, .target = path, .optional = true                       \
    }

/* What an ordinary program needs of the host. Not /home, /root, /var, /run,
 * /srv, /mnt, /media: those hold people's data. */
static const struct grant_mount visible[] = {
    SEEN("/usr"),   SEEN("/bin"),   SEEN("/sbin"),   SEEN("/lib"),
    SEEN("/lib32"), SEEN("/lib64"), SEEN("/libx32"), SEEN("/etc"),
    SEEN("/opt"),   SEEN("/nix"),
};

/* The holder finds out what this host has and says what is missing. */
static int probe(struct err *err)
{
    (void)err;
    return 0;
}

static int start(const struct grant *grant, struct cell **out, struct err *err)
{
    return holder_start(grant, HOLDER_TIER_PROCESS, visible, ARRAY_LEN(visible),
                        out, err);
}

const struct tier tier_process = {
    .name = "process",
    .promise = "the host's programs at their own paths, read-only; limits, "
               "and a seccomp allow list; the kernel is shared with the host",
    .adapts = true, /* without namespaces the host's own paths are seen */
    .probe = probe,
    .start = start,
};
