/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_namespaces - each kind of namespace, made in a child; as an ordinary
 * user inside a user namespace, as a cell would be.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/cli/doctor.h"

/* A user namespace that may mount: AppArmor lets it be made, and then refuses
 * everything inside. */
static int use_userns(const void *arg)
{
    int r = doctor_enter_userns();

    (void)arg;
    if (r != 0)
        return r;
    if (unshare(CLONE_NEWNS) < 0)
        return errno;
    return mount("karzer", "/tmp", "tmpfs", 0, "size=4k") < 0 ? errno : 0;
}

static const struct refusal {
    const char *path;
    long value;
    const char *seen, *fix;
} refusals[] = {
    {"/proc/sys/user/max_user_namespaces", 0, "user.max_user_namespaces is 0",
     "sysctl -w user.max_user_namespaces=15000 (and a file in /etc/sysctl.d)"},
    {"/proc/sys/kernel/unprivileged_userns_clone", 0,
     "kernel.unprivileged_userns_clone is 0",
     "sysctl -w kernel.unprivileged_userns_clone=1 (and a file in "
     "/etc/sysctl.d)"},
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
     "AppArmor refuses user namespaces to programs without a profile",
     "an AppArmor profile with `userns,` for karzer-jail, or "
     "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
};

static void look_userns(const struct doctor *d, struct finding *f)
{
    int r = doctor_try(use_userns, NULL);

    (void)d;
    if (r == 0) {
        finding_present(f, "%s", "made, mapped and mounted in");
        return;
    }
    finding_missing(f, "refused: %s", strerror(r));
    finding_fix(f, "this kernel or the container around us refuses it: run "
                   "karzer as root, or outside of that container");
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (doctor_number(refusals[i].path) != refusals[i].value)
            continue;
        finding_missing(f, "%s", refusals[i].seen);
        finding_fix(f, "%s", refusals[i].fix);
        break;
    }
    if (geteuid() == 0)
        f->state = FINDING_IDLE; /* root does without */
}

static int use_namespace(const void *arg)
{
    int flag = *(const int *)arg;
    int r = geteuid() == 0 ? 0 : doctor_enter_userns();

    if (r != 0)
        return r;
    return unshare(flag) < 0 ? errno : 0;
}

static void look_namespace(const struct doctor *d, struct finding *f, int flag,
                           const char *limit)
{
    int r = doctor_try(use_namespace, &flag);

    (void)d;
    if (r == 0) {
        finding_present(f, "%s", "made");
        return;
    }
    finding_missing(f, "unshare: %s", strerror(r));
    if (r == ENOSPC && doctor_number(limit) == 0)
        finding_fix(f, "%s is 0: write 15000 to it", limit);
    else if (r == EINVAL)
        finding_fix(f, "a kernel that has it");
    else
        finding_fix(f, "user namespaces (above), or run karzer as root");
}

#define NAMESPACE(name, flag)                                                  \
    static void look_##name(const struct doctor *d, struct finding *f)         \
    {                                                                          \
        look_namespace(d, f, flag, "/proc/sys/user/max_" #name "_namespaces"); \
    }

NAMESPACE(mnt, CLONE_NEWNS)
NAMESPACE(pid, CLONE_NEWPID)
NAMESPACE(net, CLONE_NEWNET)
NAMESPACE(ipc, CLONE_NEWIPC)
NAMESPACE(uts, CLONE_NEWUTS)
NAMESPACE(cgroup, CLONE_NEWCGROUP)
NAMESPACE(time, CLONE_NEWTIME)

/* A fresh /proc needs a pid namespace, and one whole /proc to be seen. */
static int mount_proc(const void *arg)
{
    (void)arg;
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 NULL) < 0
               ? errno
               : 0;
}

static int use_proc(const void *arg)
{
    int r = geteuid() == 0 ? 0 : doctor_enter_userns();

    (void)arg;
    if (r != 0)
        return r;
    if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
        return errno;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return errno;
    return doctor_try(mount_proc, NULL);
}

static void look_proc(const struct doctor *d, struct finding *f)
{
    int r = doctor_try(use_proc, NULL);

    (void)d;
    if (r == 0) {
        finding_present(f, "%s", "a fresh one can be mounted");
        return;
    }
    finding_missing(f, "mount proc: %s", strerror(r));
    finding_fix(f, "%s",
                r == EPERM ? "something is mounted over parts of /proc (a "
                             "container around us?): run karzer outside of it, "
                             "or with an unmasked /proc"
                           : "mount and pid namespaces (above)");
}

const struct doctor_check doctor_namespaces[] = {
    {"user namespaces", "the container tier for ordinary users", look_userns},
    {"mount namespace", "what a cell sees of the file system", look_mnt},
    {"pid namespace", "which processes a cell sees", look_pid},
    {"net namespace", "what a cell can connect to", look_net},
    {"ipc namespace", "System V IPC and message queues of its own", look_ipc},
    {"uts namespace", "a host name of its own", look_uts},
    {"cgroup namespace", "a cell does not see where it is", look_cgroup},
    {"time namespace", "uptime starts at 0", look_time},
    {"proc", "a cell's own /proc", look_proc},
    {NULL, NULL, NULL},
};
