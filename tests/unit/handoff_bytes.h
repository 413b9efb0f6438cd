/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff_bytes - a hand-off that holds, for tests to break one thing of.
 */
#ifndef KARZER_TESTS_HANDOFF_BYTES_H
#define KARZER_TESTS_HANDOFF_BYTES_H

#include <stddef.h>
#include <string.h>

#include "abi/holder.h"

struct handoff_bytes {
    struct holder_handoff head;
    struct holder_mount mount[2];
    char agent[16], source[16], target[16], last[16];
};

static inline struct handoff_bytes handoff_bytes_good(void)
{
    struct handoff_bytes b = {
        .head = {.magic = HOLDER_MAGIC,
                 .version = HOLDER_VERSION,
                 .size = sizeof(b),
                 .tier = HOLDER_TIER_CONTAINER,
                 .slot = 7,
                 .uid = 4711,
                 .gid = 4711,
                 .mount_count = 2,
                 .mounts = offsetof(struct handoff_bytes, mount),
                 .agent = offsetof(struct handoff_bytes, agent),
                 .limits = {.mem_bytes = 1 << 20,
                            .disk_bytes = 1 << 20,
                            .inodes = 100,
                            .cpu_milli = 1000,
                            .pids = 10,
                            .nofile = 100}},
        .agent = "/agent",
        .source = "/usr/lib",
        .target = "/opt/lib",
        .last = "/srv/x",
    };

    for (int i = 0; i < 2; i++)
        b.mount[i] = (struct holder_mount){
            .source = offsetof(struct handoff_bytes, source),
            .target = offsetof(struct handoff_bytes, target)};
    b.mount[1].target = offsetof(struct handoff_bytes, last);
    return b;
}

#endif
