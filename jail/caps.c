/* SPDX-License-Identifier: Apache-2.0 */
/* caps - see caps.h; capabilities(7). */
#include "jail/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "src/base/sys.h"

#define CAPS_END 64 /* the kernel answers EINVAL past its own last */
#define SECURE                                                                 \
    (SECURE_ALL_BITS & ~issecure_mask(SECURE_KEEP_CAPS) & ~NO_FIXUP) |         \
        SECURE_ALL_LOCKS
/* The fixup is what drops the capabilities when root becomes another id. */
#define NO_FIXUP issecure_mask(SECURE_NO_SETUID_FIXUP)

static const struct __user_cap_header_struct head = {
    .version = _LINUX_CAPABILITY_VERSION_3};

int caps_bound(struct err *err)
{
    for (unsigned long cap = 0; cap < CAPS_END; cap++) {
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
            continue;
        if (errno == EINVAL)
            break;
        if (errno == EPERM) /* an ordinary user without a namespace */
            return 0;
        return err_sys(err, "capability %lu", cap);
    }
    if (prctl(PR_SET_SECUREBITS, (unsigned long)(SECURE), 0, 0, 0) < 0)
        return err_sys(err, "secure bits");
    return 0;
}

int caps_bound_kept(struct err *err)
{
    const uint32_t bit = CAP_TO_MASK(CAP_SETPCAP);
    const struct __user_cap_data_struct set[2] = {
        {.permitted = bit, .effective = bit}};

    if (sys_capset(&head, set) < 0)
        return err_sys(err, "keep a capability");
    return caps_bound(err);
}

int caps_drop(struct err *err)
{
    const struct __user_cap_data_struct none[2] = {{0}};

    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return err_sys(err, "ambient capabilities");
    if (caps_bound(err) < 0)
        return -1;
    if (sys_capset(&head, none) < 0)
        return err_sys(err, "drop capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, "no_new_privs");
    return 0;
}
