/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_kernel - system calls that holders are built on: seccomp, Landlock,
 * pidfd, the mount calls, KVM.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/kvm.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/sys.h"
#include "src/cli/doctor.h"

static void look_kernel(const struct doctor *d, struct finding *f)
{
    struct utsname un;
    unsigned major = 0, minor = 0;

    (void)d;
    uname(&un);
    if (sscanf(un.release, "%u.%u", &major, &minor) == 2 &&
        (major > 5 || (major == 5 && minor >= 12))) {
        finding_present(f, "Linux %.60s", un.release);
        return;
    }
    finding_missing(f, "Linux %.60s", un.release);
    finding_fix(f, "Linux 5.12 or later (Debian 12 has 6.1)");
}

/* arg: the flags. */
static int use_filter(const void *arg)
{
    const unsigned *flags = arg;
    struct sock_filter allow = {.code = BPF_RET | BPF_K,
                                .k = SECCOMP_RET_ALLOW};
    struct sock_fprog program = {.len = 1, .filter = &allow};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return errno;
    return sys_seccomp(SECCOMP_SET_MODE_FILTER, *flags, &program) < 0 ? errno
                                                                      : 0;
}

static void look_seccomp(const struct doctor *d, struct finding *f)
{
    static const struct action {
        uint32_t value;
        const char *name;
    } actions[] = {
        {SECCOMP_RET_KILL_PROCESS, "kill"},
        {SECCOMP_RET_ERRNO, "errno"},
        {SECCOMP_RET_TRAP, "trap"},
    };
    const unsigned flags = 0;
    int r = doctor_try(use_filter, &flags);

    (void)d;
    if (r != 0) {
        finding_missing(f, "load a filter: %s", strerror(r));
        finding_fix(f, "a kernel with CONFIG_SECCOMP_FILTER");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        uint32_t action = actions[i].value;

        if (sys_seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
            continue;
        finding_missing(f, "filters load, without the action %s",
                        actions[i].name);
        finding_fix(f, "Linux 4.14 or later");
        return;
    }
    finding_present(f, "filters load; kill, errno and trap are there");
}

static void look_notify(const struct doctor *d, struct finding *f)
{
    const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    int r = doctor_try(use_filter, &flags);

    (void)d;
    if (r == 0) {
        finding_present(f, "a filter that asks a listener loads");
        return;
    }
    finding_missing(f, "%s",
                    r == EBUSY ? "another listens around us" : strerror(r));
    snprintf(f->instead, sizeof(f->instead),
             "refused calls are refused, and not recorded");
    finding_fix(f, "%s",
                r == EBUSY ? "a container whose engine does not listen "
                             "to its system calls (seccomp notify)"
                           : "Linux 5.0 or later");
}

static void look_landlock(const struct doctor *d, struct finding *f)
{
    int abi =
        sys_landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    if (abi > 0) {
        finding_present(f, "ABI %d%s", abi,
                        abi < 3   ? "; seccomp refuses truncate in its place"
                        : abi < 6 ? "; the holder sends signals in its place"
                                  : "");
        return;
    }
    finding_missing(f, "%s",
                    errno == EOPNOTSUPP ? "built in, but switched off at boot"
                                        : strerror(errno));
    if (errno == EOPNOTSUPP)
        finding_fix_boot(f, d, "lsm=landlock,lockdown,yama,apparmor,bpf");
    else
        finding_fix(f, "a kernel with CONFIG_SECURITY_LANDLOCK (Linux 5.13)");
}

static void look_pidfd(const struct doctor *d, struct finding *f)
{
    AUTO(fd) int fd = sys_pidfd_open(getpid(), 0);

    (void)d;
    if (fd >= 0) {
        finding_present(f, "%s", "there");
        return;
    }
    finding_missing(f, "pidfd_open: %s", strerror(errno));
    finding_fix(f, "Linux 5.3 or later");
}

/* A tree built by descriptors, as a cell's root is. */
static int use_mount_api(const void *arg)
{
    int r = geteuid() == 0 ? 0 : doctor_enter_userns();
    AUTO(fd) int fs = -1;
    AUTO(fd) int tree = -1;

    (void)arg;
    if (r != 0 || unshare(CLONE_NEWNS) < 0)
        return r != 0 ? r : errno;
    fs = sys_fsopen("tmpfs", FSOPEN_CLOEXEC);
    if (fs < 0 || sys_fsconfig(fs, FSCONFIG_SET_STRING, "size", "64k", 0) < 0 ||
        sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return errno;
    tree = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NODEV);
    return tree < 0 ? errno : 0;
}

static void look_mount_api(const struct doctor *d, struct finding *f)
{
    int r = doctor_try(use_mount_api, NULL);

    (void)d;
    if (r == 0) {
        finding_present(f, "%s", "a tmpfs was made by fsopen and fsmount");
        return;
    }
    finding_missing(f, "fsopen, fsmount: %s", strerror(r));
    finding_fix(f, "%s",
                r == ENOSYS ? "Linux 5.12 or later"
                            : "user and mount namespaces (above)");
}

/* Child of a child: maps itself, then waits to be looked at. */
static int mapped_child(const void *arg)
{
    const int *ends = arg; /* ready to write, done to read */
    int r = doctor_enter_userns();
    char byte = 0;

    close(ends[2]);
    if (r != 0)
        return r;
    (void)!write(ends[0], &byte, 1);
    (void)!read(ends[1], &byte, 1);
    return 0;
}

static int map_tree(pid_t pid)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP};
    AUTO(fd) int userns = -1;
    AUTO(fd) int tree = -1;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
    userns = open(path, O_RDONLY | O_CLOEXEC);
    tree = sys_open_tree(AT_FDCWD, "/var/tmp",
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (userns < 0 || tree < 0)
        return errno;
    attr.userns_fd = (__u64)userns;
    return sys_mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0
               ? errno
               : 0;
}

static int use_idmap(const void *arg)
{
    int ready[2], done[2], r;
    char byte;
    pid_t pid;

    (void)arg;
    if (unshare(CLONE_NEWNS) < 0 || pipe(ready) < 0 || pipe(done) < 0)
        return errno;
    pid = fork();
    if (pid < 0)
        return errno;
    if (pid == 0) {
        const int ends[] = {ready[1], done[0], done[1]};

        _exit(mapped_child(ends));
    }
    close(ready[1]);
    r = read(ready[0], &byte, 1) == 1 ? map_tree(pid) : EPERM;
    close(done[1]);
    waitpid(pid, NULL, 0);
    return r;
}

static void look_idmap(const struct doctor *d, struct finding *f)
{
    int r;

    (void)d;
    if (geteuid() != 0) {
        finding_idle(f, "only root maps mounts; your cells have your own id");
        return;
    }
    r = doctor_try(use_idmap, NULL);
    if (r == 0) {
        finding_present(f, "/var/tmp can be mapped");
        return;
    }
    finding_missing(f, "/var/tmp: %s", strerror(r));
    finding_fix(f, "a --workspace:rw on a file system that can be mapped "
                   "(ext4, xfs, btrfs; Linux 5.12)");
}

static void look_openat2(const struct doctor *d, struct finding *f)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    AUTO(fd) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(fd) int fd = sys_openat2(root, ".", &how);

    (void)d;
    if (fd >= 0) {
        finding_present(f, "%s", "there");
        return;
    }
    finding_missing(f, "%s", strerror(errno));
    finding_fix(f, "Linux 5.6 or later, and no seccomp filter around us that "
                   "refuses it");
}

static void look_kvm(const struct doctor *d, struct finding *f)
{
    AUTO(fd) int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    int version = fd < 0 ? -1 : ioctl(fd, KVM_GET_API_VERSION, 0);

    (void)d;
    if (version == KVM_API_VERSION) {
        finding_present(f, "/dev/kvm opens, API %d", version);
        return;
    }
    finding_idle(f, "/dev/kvm: %s; no tier of this version needs it",
                 fd < 0 ? strerror(errno) : "another API");
}

const struct doctor_check doctor_kernel[] = {
    {"kernel", "everything below", look_kernel},
    {"seccomp", "which system calls a cell can make", look_seccomp},
    {"seccomp notification", "system calls that are answered from outside",
     look_notify},
    {"Landlock", "files of the process tier where there are no namespaces",
     look_landlock},
    {"pidfd", "signals that reach the right process", look_pidfd},
    {"mount calls", "a root built without looking up a path", look_mount_api},
    {"mapped mounts", "files in a --workspace that belong to its owner",
     look_idmap},
    {"openat2", "files that come out beneath one directory", look_openat2},
    {"kvm", "hardware virtualisation", look_kvm},
    {NULL, NULL, NULL},
};
