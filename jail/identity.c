/* SPDX-License-Identifier: Apache-2.0 */
/* identity - see identity.h. */
#include "jail/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "jail/caps.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/slot.h"
#include "src/base/sys.h"

#define MAX_USERNS "sys/user/max_user_namespaces"

/* Not exact: an LSM may refuse later, and then root goes on without. */
static bool userns_allowed(const struct jail *j)
{
    char text[16];

    return fd_read_text(j->proc_fd, MAX_USERNS, text, sizeof(text)) < 0 ||
           strtol(text, NULL, 10) != 0;
}

int identity_choose(struct jail *j, struct err *err)
{
    const struct holder_handoff *h = j->h;

    j->root = h->uid != 0;
    if (!j->root && slot_root())
        return err_set(err, ERR_INVALID,
                       "the hand-off names no id, and root's is never used");
    if (j->root && geteuid() != 0)
        return err_set(err, ERR_INVALID,
                       "the hand-off names an id, and we are not root");
    j->uid = j->root ? h->uid : geteuid();
    j->gid = j->root ? h->gid : getegid();
    /* The process view has the host's /etc/passwd and its names. */
    j->user_ns = !j->root || (j->container && userns_allowed(j));
    if (j->user_ns && j->bare)
        j->seen_uid = h->seen_uid, j->seen_gid = h->seen_gid;
    else if (j->user_ns && (j->container || j->uid == 0))
        j->seen_uid = j->seen_gid = JAIL_UID; /* never as uid 0 */
    else
        j->seen_uid = j->uid, j->seen_gid = j->gid;
    return 0;
}

static int write_map(const struct jail *j, const char *name, uint32_t inside,
                     uint32_t outside)
{
    char text[48];

    snprintf(text, sizeof(text), "%u %u 1\n", inside, outside);
    return fd_write_text(j->proc_fd, name, text);
}

/* A new user namespace with our own id, and no other, in it: that needs no
 * right and no helper (user_namespaces(7)). */
static int enter_userns(const struct jail *j, const char **what)
{
    *what = "unshare";
    if (unshare(CLONE_NEWUSER) < 0)
        return -1;
    *what = "map ids";
    if (fd_write_text(j->proc_fd, "self/setgroups", "deny") < 0 ||
        write_map(j, "self/uid_map", j->seen_uid, j->uid) < 0 ||
        write_map(j, "self/gid_map", j->seen_gid, j->gid) < 0)
        return -1;
    return 0;
}

static const char *remedy(const struct jail *j, int sys)
{
    char text[16];

    if (!userns_allowed(j) || sys == ENOSPC) /* of a namespace around us */
        return "sysctl user.max_user_namespaces=10000";
    if (fd_read_text(j->proc_fd, "sys/kernel/unprivileged_userns_clone", text,
                     sizeof(text)) > 0 &&
        text[0] == '0')
        return "sysctl kernel.unprivileged_userns_clone=1";
    if (fd_read_text(j->proc_fd,
                     "sys/kernel/apparmor_restrict_unprivileged_userns", text,
                     sizeof(text)) > 0 &&
        text[0] == '1')
        return "an AppArmor profile with `userns,` for karzer-jail "
               "(docs/hosts.md), or sysctl "
               "kernel.apparmor_restrict_unprivileged_userns=0";
    return "a host or container configuration that permits unshare(2)";
}

int identity_enter(struct jail *j, struct err *err)
{
    const char *what;
    int sys;

    if (enter_userns(j, &what) == 0)
        return 0;
    sys = errno;
    err_sys(err, "user namespaces are refused (%s)", what);
    if (err != NULL) {
        size_t n = strlen(err->text);

        snprintf(err->text + n, sizeof(err->text) - n, "; it needs %s",
                 remedy(j, sys));
    }
    return -1;
}

static int set_ids(const struct jail *j, struct err *err)
{
    if (sys_setgroups(0, NULL) < 0 || sys_setresgid(j->gid) < 0 ||
        sys_setresuid(j->uid) < 0)
        return err_sys(err, "become id %u", j->uid);
    return 0;
}

static void set_users(struct jail *j)
{
    bool own = j->root && j->uid == j->h->uid;

    if (j->user_ns)
        j->effective[HOLDER_USERS] =
            own ? HOLDER_HOW_USERNS_OWN : HOLDER_HOW_USERNS_CALLER;
    else
        j->effective[HOLDER_USERS] =
            own ? HOLDER_HOW_OWN_ID : HOLDER_HOW_CALLER_ID;
}

/* Only ever in a user namespace of its own: else it is the host's limit. */
static void forbid_nesting(const struct jail *j)
{
    fd_write_text(j->proc_fd, MAX_USERNS, "0");
}

/* Where the cell has the caller's id, what it watches is counted as his, who
 * has 128 instances as a rule: a part is the cell's, in all its processes. */
static void share_watches(const struct jail *j)
{
    fd_write_text(j->proc_fd, "sys/user/max_inotify_instances", "32");
    fd_write_text(j->proc_fd, "sys/user/max_inotify_watches", "16384");
}

static int become_mapped(struct jail *j, struct err *err)
{
    const char *what;

    /* capabilities are kept for the case that there is no namespace to get
     * a new set in; dumpable, as the change made our /proc files root's */
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || set_ids(j, err) < 0)
        return err_sys(err, "become id %u", j->uid);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (enter_userns(j, &what) < 0) {
        if (strcmp(what, "unshare") != 0)
            return err_sys(err, "user namespace: %s", what);
        j->user_ns = false;
        set_users(j);
        return caps_bound_kept(err);
    }
    forbid_nesting(j);
    return 0;
}

int identity_become(struct jail *j, struct err *err)
{
    set_users(j);
    if (!j->root) {
        if (j->user_ns) {
            forbid_nesting(j);
            share_watches(j);
        }
        return 0;
    }
    if (j->user_ns)
        return become_mapped(j, err);
    /* The right to shrink the bounding set is lost with the id. */
    return caps_bound(err) < 0 ? -1 : set_ids(j, err);
}
