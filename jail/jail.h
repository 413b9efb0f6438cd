/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jail - what the parts of the holder know of the one cell it holds.
 *
 * Filled by main.c in the holder; the child of the clone goes on with its own
 * copy, and tells the holder what it found by one message.
 */
#ifndef KARZER_JAIL_JAIL_H
#define KARZER_JAIL_JAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/holder.h"
#include "src/base/err.h"

#define JAIL_HOME "/home/user"
#define JAIL_UID 1000 /* "user", as a container's program sees itself */

struct limiter;

struct jail {
    const struct holder_handoff *h;
    struct limiter *limiter;
    bool container; /* else the process view */
    bool bare;      /* a container whose view is only what is listed */
    bool root;      /* we are root, and the cell gets an id of its own */
    bool fallback;  /* no namespaces: Landlock, and the caller's id */
    bool later;     /* the groups are made while the child builds its view */
    bool user_ns;   /* the cell is, or will be, in a user namespace */

    uint32_t uid, gid;           /* of the cell, on the host */
    uint32_t seen_uid, seen_gid; /* inside */

    int proc_fd;  /* the host's /proc: our own files there stay writable */
    int agent_fd; /* the agent's program */
    int up_fd;    /* the child's socket to the holder */
    int tree_fd;  /* fallback: the scratch directory, O_RDONLY */
    int list_fd;  /* the list of mounts, open since before the clone */
    int *owned;   /* trees of the OWNED mounts, by row, or -1; NULL: none */

    /* the child, while it builds the view */
    int root_fd;    /* the new root */
    int empty_fd;   /* an empty directory of it */
    int scratch_fd; /* the whole scratch tmpfs */
    dev_t root_dev, scratch_dev;

    uint32_t mechanism; /* the one that failed, or HOLDER_MECHANISM_COUNT */
    uint8_t effective[HOLDER_MECHANISM_COUNT];
};

/* Does the cell see the host's /usr and a generated /etc? */
static inline bool jail_has_host_base(const struct jail *j)
{
    return j->container && !j->bare && j->h->root == 0;
}

/*
 * A mechanism cannot be had; err says why. 0 when the hand-off allows that
 * (it stays HOLDER_HOW_MISSING), else -1.
 */
static inline int jail_lacks(struct jail *j, enum holder_mechanism mechanism)
{
    j->effective[mechanism] = HOLDER_HOW_MISSING;
    if ((j->h->may_lack >> mechanism & 1) != 0)
        return 0;
    j->mechanism = mechanism;
    return -1;
}

#endif
