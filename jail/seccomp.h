/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp - loads the allow list of jail/seccomp.def into the calling thread.
 *
 * Called by the holder's child as the last step before it executes the agent.
 * The programs are compiled at build time (tools/seccomp_gen.c). Must never be
 * called with a thread that still has something to set up: a refusal here is
 * for good.
 */
#ifndef KARZER_JAIL_SECCOMP_H
#define KARZER_JAIL_SECCOMP_H

#include <linux/seccomp.h>
#include <stdint.h>

#include "abi/holder.h"
#include "src/base/err.h"

/* What this host lacks, or this run has; bits. */
enum seccomp_variant {
    /* No memory cgroup: refuse memory that no process maps (memfd, System V
       IPC, vmsplice, larger pipes); the listener is asked about shared
       anonymous maps. */
    SECCOMP_NO_MEMFD = 1,
    /* Affinity is the CPU limit: refuse to change it. */
    SECCOMP_NO_AFFINITY = 2,
    /* Landlock alone protects the host (process tier only). */
    SECCOMP_NO_NAMESPACES = 4,
    /* Landlock below ABI 3: refuse to empty files that may only be read. */
    SECCOMP_OLD_LANDLOCK = 8,
    /* Landlock below ABI 6: signals and F_SETOWN(_EX) go to the listener. */
    SECCOMP_SUPERVISE = 16,
    /* A tree of the host can be written: refuse setuid and setgid bits. Comes
       with NO_NAMESPACES by itself: there every tree is the host's. */
    SECCOMP_SHARED_TREE = 32,

    /* Refusals go to the listener, which answers as the variant without this
       bit would (seccomp_judge). */
    SECCOMP_OBSERVE = 64,

    SECCOMP_VARIANTS = 128,
};

/* SECCOMP_SHARED_TREE, or 0: whether a mount of a checked hand-off can be
   written. */
unsigned seccomp_variant_of(const struct holder_handoff *h);

/* Does somebody have to listen? */
static inline int seccomp_asks(unsigned variant)
{
    return (variant &
            (SECCOMP_SUPERVISE | SECCOMP_NO_MEMFD | SECCOMP_OBSERVE)) != 0;
}

/*
 * no_new_privs must be set. With seccomp_asks() *listener gets the notification
 * fd (close-on-exec); otherwise listener may be NULL and is left alone.
 */
int seccomp_load(enum holder_tier tier, unsigned variant, int *listener,
                 struct err *err);

/*
 * The same with SECCOMP_OBSERVE, or without it where no listener can be had:
 * a thread has one, and that of a container around us may be it. *variant is
 * then what was loaded; *listener is -1 when nobody needs to listen.
 */
int seccomp_load_observed(enum holder_tier tier, unsigned *variant,
                          int *listener, struct err *err);

/* What the variant without SECCOMP_OBSERVE returns for this call: the same
 * program, run here on numbers that the cell cannot change any more. */
uint32_t seccomp_judge(unsigned variant, const struct seccomp_data *call);

#endif
