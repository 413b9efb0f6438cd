/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp - see seccomp.h. */
#include "jail/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>

#include "jail/handoff.h"
#include "jail/seccomp_programs.h"
#include "src/base/sys.h"

_Static_assert(sizeof(seccomp_programs) / sizeof(seccomp_programs[0]) ==
                   SECCOMP_VARIANTS,
               "one program per variant");

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

unsigned seccomp_variant_of(const struct holder_handoff *h)
{
    for (uint32_t i = 0; i < h->mount_count; i++)
        if ((handoff_mount(h, i)->flags & HOLDER_MOUNT_RW) != 0)
            return SECCOMP_SHARED_TREE;
    return 0;
}

/* A caller that waits for the holder is not interrupted by signals, which
   would send the signal twice; kernels before 5.19 do not know the flag. */
static int load_supervised(const struct sock_fprog *program, struct err *err)
{
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
                     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    int fd = sys_seccomp(SECCOMP_SET_MODE_FILTER, flags, (void *)program);

    if (fd < 0 && errno == EINVAL)
        fd = sys_seccomp(SECCOMP_SET_MODE_FILTER,
                         SECCOMP_FILTER_FLAG_NEW_LISTENER, (void *)program);
    if (fd < 0 && errno == EBUSY)
        return err_set(err, ERR_HOST,
                       "calls of this cell need a listener, and a container "
                       "around us has the only one (seccomp notification)");
    return fd < 0 ? err_sys(err, "load the supervised system call filter") : fd;
}

int seccomp_load(enum holder_tier tier, unsigned variant, int *listener,
                 struct err *err)
{
    if (tier != HOLDER_TIER_PROCESS && tier != HOLDER_TIER_CONTAINER)
        return err_set(err, ERR_INTERNAL, "no system call filter for tier %d",
                       (int)tier);
    if (variant >= SECCOMP_VARIANTS)
        return err_set(err, ERR_INTERNAL, "no system call filter %u", variant);
    if (tier == HOLDER_TIER_CONTAINER && (variant & SECCOMP_NO_NAMESPACES) != 0)
        return err_set(err, ERR_INTERNAL, "a container has namespaces");
    if (seccomp_asks(variant) && listener == NULL)
        return err_set(err, ERR_INTERNAL, "nobody would hear the filter");

    struct sock_fprog program = seccomp_programs[variant];
    if (seccomp_asks(variant)) {
        int fd = load_supervised(&program, err);
        if (fd < 0)
            return -1;
        *listener = fd;
        return 0;
    }
    if (sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        return err_sys(err, "load the system call filter");
    return 0;
}

int seccomp_load_observed(enum holder_tier tier, unsigned *variant,
                          int *listener, struct err *err)
{
    *listener = -1;
    if (seccomp_load(tier, *variant | SECCOMP_OBSERVE, listener, err) == 0) {
        *variant |= SECCOMP_OBSERVE;
        return 0;
    }
    *variant &= ~(unsigned)SECCOMP_OBSERVE;
    return seccomp_load(tier, *variant, listener, err);
}

/* The five instructions that the generator writes. */
static uint32_t run(const struct sock_fprog *p, const struct seccomp_data *call)
{
    uint32_t a = 0;

    for (unsigned at = 0; at < p->len; at++) {
        const struct sock_filter *f = &p->filter[at];

        if (f->code == (BPF_LD | BPF_W | BPF_ABS))
            memcpy(&a, (const char *)call + f->k, sizeof(a));
        else if (f->code == (BPF_ALU | BPF_AND | BPF_K))
            a &= f->k;
        else if (f->code == (BPF_JMP | BPF_JA))
            at += f->k;
        else if (f->code == (BPF_JMP | BPF_JEQ | BPF_K))
            at += a == f->k ? f->jt : f->jf;
        else if (f->code == (BPF_JMP | BPF_JGE | BPF_K))
            at += a >= f->k ? f->jt : f->jf;
        else if (f->code == (BPF_RET | BPF_K))
            return f->k;
        else
            break;
    }
    return SECCOMP_RET_ERRNO | ENOSYS;
}

uint32_t seccomp_judge(unsigned variant, const struct seccomp_data *call)
{
    variant &= ~(unsigned)SECCOMP_OBSERVE;
    if (variant >= SECCOMP_VARIANTS)
        return SECCOMP_RET_ERRNO | ENOSYS;
    return run(&seccomp_programs[variant], call);
}
