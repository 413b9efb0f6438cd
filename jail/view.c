/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view - see view.h. Two views share all but their base: the container's is
 * the host's /usr and a generated /etc, the process view is what the hand-off
 * lists. Paths without a leading slash are below our own new tmpfs, where
 * nobody else can have put a link.
 */
#include "jail/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/dev.h"
#include "jail/etc.h"
#include "jail/handoff.h"
#include "jail/made.h"
#include "jail/mask.h"
#include "jail/template.h"
#include "jail/tree.h"
#include "src/base/auto.h"
#include "src/base/sys.h"

#define PROC_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
#define QUIET (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

struct dir {
    const char *name;
    mode_t mode;
};

static const struct dir dirs[] = {
    {"proc", 0555},        {"sys", 0555},
    {"sys/devices", 0555}, {"sys/devices/system", 0555},
    {"tmp", 0755},         {"var", 0755},
    {"var/tmp", 0755},     {"home", 0755},
    {"home/user", 0755},
};

/* /tmp is the place of all scratch. */
static const struct dir bare_dirs[] = {{"proc", 0555}, {"tmp", 0755}};

static const struct dir bare_sys[] = {
    {"sys", 0555}, {"sys/devices", 0555}, {"sys/devices/system", 0555}};

static const struct dir container_dirs[] = {
    {"usr", 0755}, {"root", 0755}, {"run", 0755}, {"srv", 0755}, {"opt", 0755},
};

/* Where scratch is seen; the last covers the place of the whole. The working
 * directory is the new root. */
static const struct scratch {
    const char *name, *at;
    mode_t mode;
    bool own, bare;
} scratches[] = {
    {"tmp/vartmp", "var/tmp", 01777, false, false},
    {"tmp/shm", "dev/shm", 01777, false, true},
    {"tmp/home", "home/user", 0700, true, false},
    {"tmp/tmp", "tmp", 01777, false, true},
};

static int make_dirs(const struct jail *j, const struct dir *d, size_t n,
                     struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (mkdirat(j->root_fd, d[i].name, d[i].mode) < 0)
            return err_sys(err, "make /%s", d[i].name);
    return 0;
}

static int root_attr(const struct jail *j, uint64_t set, uint64_t clr)
{
    const struct mount_attr a = {
        .attr_set = set, .attr_clr = clr, .propagation = MS_PRIVATE};

    return sys_mount_setattr(j->root_fd, "", AT_EMPTY_PATH, &a, sizeof(a));
}

/* A tmpfs on top of the old root, which nothing of it reaches: only a lookup
 * that starts at our descriptor does. */
static int root_make(struct jail *j, struct err *err)
{
    AUTO(fd) int fs = sys_fsopen("tmpfs", FSOPEN_CLOEXEC);
    struct stat st;

    if (fs < 0 ||
        sys_fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
        sys_fsconfig(fs, FSCONFIG_SET_STRING, "size", "4m", 0) < 0 ||
        sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return err_sys(err, "make a tmpfs");
    j->root_fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
    if (j->root_fd < 0 || fstat(j->root_fd, &st) < 0)
        return err_sys(err, "mount a tmpfs");
    j->root_dev = st.st_dev;
    /* All of it: under systemd mounts are shared, and what root's cell takes
     * down would be taken from the host, too. */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_sys(err, "make / private");
    if (sys_move_mount(j->root_fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) <
        0)
        return err_sys(err, "attach the new root");
    if (fchdir(j->root_fd) < 0)
        return err_sys(err, "enter the new root");
    if (!j->bare)
        return make_dirs(j, dirs, ARRAY_LEN(dirs), err);
    if ((j->h->flags & HOLDER_BARE_SYS) != 0 &&
        make_dirs(j, bare_sys, ARRAY_LEN(bare_sys), err) < 0)
        return -1;
    return make_dirs(j, bare_dirs, ARRAY_LEN(bare_dirs), err);
}

/* The same link as on the host: 1. Or 0: it is no link into /usr. */
static int copy_link(const struct jail *j, const char *path)
{
    char to[64];
    ssize_t n = readlink(path, to, sizeof(to) - 1);

    if (n <= 0)
        return 0;
    to[n] = '\0';
    if (strncmp(to, "usr/", 4) != 0 && strncmp(to, "/usr/", 5) != 0)
        return 0;
    return symlinkat(to, j->root_fd, path + 1) == 0;
}

/* make: the mount point as well. */
static int bind_base(const char *path, bool make, struct err *err)
{
    if (make && mkdir(path + 1, 0755) < 0)
        return err_sys(err, "make %s", path);
    if (tree_bind(path, path + 1) < 0)
        return err_sys(err, "bind %s", path);
    return 0;
}

static int container_base(const struct jail *j, struct err *err)
{
    static const char *const merged[] = {"/bin",   "/sbin",  "/lib",
                                         "/lib32", "/lib64", "/libx32"};

    if (j->h->root != 0)
        return template_base(j, err);
    if (make_dirs(j, container_dirs, ARRAY_LEN(container_dirs), err) < 0 ||
        bind_base("/usr", false, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(merged); i++)
        if (!copy_link(j, merged[i]) && access(merged[i], F_OK) == 0 &&
            bind_base(merged[i], true, err) < 0)
            return -1;
    return etc_make(j, err);
}

/* lscpu, nproc and make want to know the processors; nothing else of /sys. */
static int sys_make(const struct jail *j, struct err *err)
{
    static const char cpu[] = "/sys/devices/system/cpu";

    if (j->bare && (j->h->flags & HOLDER_BARE_SYS) == 0)
        return 0;
    return access(cpu, F_OK) < 0 ? 0 : bind_base(cpu, true, err);
}

/*
 * A new /proc would show what is masked in the one around us, and is refused.
 * That one, then, for the process view: read-only, and with its masks. What a
 * process outside of our user namespace has is refused there, its command line
 * and its numbers are not.
 */
static int proc_outer(struct jail *j, struct err *err)
{
    int tree = tree_clone(AT_FDCWD, "/proc");

    if (tree < 0 ||
        tree_set(tree, QUIET | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC) < 0)
        return err_sys(err, "bind /proc");
    if (tree_attach(tree, j->root_fd, "proc") < 0)
        return err_sys(err, "mount the /proc around us");
    j->effective[HOLDER_PROCESSES] = HOLDER_HOW_OUTER_PROC;
    return 0;
}

static int proc_make(struct jail *j, struct err *err)
{
    /* Of the directory below the mount: it stays empty for ever. */
    j->empty_fd = openat(j->root_fd, "proc", O_PATH | O_CLOEXEC);
    if (j->empty_fd < 0)
        return err_sys(err, "/proc");
    if (mount("proc", "proc", "proc", PROC_FLAGS, NULL) == 0)
        return 0;
    if (errno != EPERM)
        return err_sys(err, "mount /proc");
    if (!j->container)
        return proc_outer(j, err);
    return err_set(
        err, ERR_HOST,
        "/proc cannot be mounted: the one around us is masked in "
        "part, as in a container; start that with "
        "--security-opt systempaths=unconfined (podman: unmask=ALL), "
        "or take --tier process");
}

static int scratch_bind(const struct jail *j, const struct scratch *s,
                        struct err *err)
{
    if (mkdir(s->name, s->mode) < 0 ||
        (s->own && j->root && chown(s->name, j->uid, j->gid) < 0))
        return err_sys(err, "make /%s", s->at);
    if (tree_bind(s->name, s->at) < 0)
        return err_sys(err, "mount /%s", s->at);
    return 0;
}

/* Directories that mounts below scratch need there. */
static unsigned mount_points(const struct holder_handoff *h)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < h->mount_count; i++) {
        const char *target = handoff_text(h, handoff_mount(h, i)->target);

        for (size_t k = 0; k < ARRAY_LEN(scratches); k++) {
            size_t len = strlen(scratches[k].at);

            if (strncmp(target + 1, scratches[k].at, len) != 0 ||
                target[1 + len] != '/')
                continue;
            for (const char *at = target + 1 + len; *at != '\0'; at++)
                count += *at == '/';
        }
    }
    return count;
}

static int scratch_make(struct jail *j, struct err *err)
{
    const struct holder_limits *l = &j->h->limits;
    char options[96];
    struct stat st;

    /* its own root and the directories do not count against the program */
    snprintf(options, sizeof(options), "mode=0755,size=%llu,nr_inodes=%llu",
             (unsigned long long)l->disk_bytes,
             (unsigned long long)l->inodes + 1 + ARRAY_LEN(scratches) +
                 mount_points(j->h));
    if (mount("scratch", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
        return err_sys(err, "mount scratch");
    j->scratch_fd = openat(j->root_fd, "tmp", O_PATH | O_CLOEXEC);
    if (j->scratch_fd < 0 || fstat(j->scratch_fd, &st) < 0)
        return err_sys(err, "scratch");
    j->scratch_dev = st.st_dev;
    for (size_t i = 0; i < ARRAY_LEN(scratches); i++)
        if ((!j->bare || scratches[i].bare) &&
            scratch_bind(j, &scratches[i], err) < 0)
            return -1;
    j->effective[HOLDER_DISK] = HOLDER_HOW_TMPFS;
    return 0;
}

/* The tree of a row, with its attributes: -1 error, -2 not there. */
static int mount_open(const struct jail *j, uint32_t row, struct err *err)
{
    const struct holder_mount *m = handoff_mount(j->h, row);
    const char *source = handoff_text(j->h, m->source);
    uint64_t attr = QUIET;
    int tree;

    if (!handoff_is_host(m))
        return made_open(j, row, err);
    if (j->owned != NULL && j->owned[row] >= 0)
        return j->owned[row];
    if ((m->flags & HOLDER_MOUNT_RW) == 0)
        attr |= MOUNT_ATTR_RDONLY;
    /* The engine resolved the paths that were given to it: a link that is there
     * now, somebody has put there since. The others are the system's. */
    tree = (m->flags & HOLDER_MOUNT_OPTIONAL) == 0
               ? tree_clone_plain(source)
               : tree_clone(AT_FDCWD, source);
    if (tree < 0 && errno == ENOENT && (m->flags & HOLDER_MOUNT_OPTIONAL) != 0)
        return -2;
    if (tree < 0)
        return err_sys(err, "mount %s", source);
    if (tree_set(tree, attr) < 0) {
        err_sys(err, "mount %s", source);
        close(tree);
        return -1;
    }
    return tree;
}

/* /proc, /dev and /sys are ours: a mount over them could feed lies to what
 * comes later, here and in the cell. */
static int is_reserved(const char *target)
{
    static const char *const ours[] = {"/proc", "/dev", "/sys"};

    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        size_t n = strlen(ours[i]);

        if (strncmp(target, ours[i], n) == 0 &&
            (target[n] == '/' || target[n] == '\0'))
            return 1;
    }
    return 0;
}

static int mount_row(const struct jail *j, uint32_t row, struct err *err)
{
    const struct holder_mount *m = handoff_mount(j->h, row);
    const char *source = handoff_text(j->h, m->source);
    const char *target = handoff_text(j->h, m->target);
    int tree, point;

    if (is_reserved(target))
        return err_set(err, ERR_INVALID, "mount at %s: reserved", target);
    if ((m->flags & HOLDER_MOUNT_LINK) != 0)
        return made_link(j, row, err);
    if ((m->flags & HOLDER_MOUNT_KEEP) != 0 && made_is_there(j, target))
        return 0;
    if (handoff_is_host(m) && !j->bare && strcmp(source, target) == 0 &&
        strchr(source + 1, '/') == NULL && copy_link(j, source))
        return 0;
    tree = mount_open(j, row, err);
    if (tree < 0)
        return tree == -2 ? 0 : -1;
    point = tree_point(j, target, tree, err);
    if (point < 0) {
        close(tree);
        return -1;
    }
    if (tree_attach_fd(tree, point) < 0) {
        err_sys(err, "mount at %s", target);
        close(point);
        return -1;
    }
    return close(point);
}

static int mount_rows(const struct jail *j, struct err *err)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++)
        if (mount_row(j, i, err) < 0)
            return -1;
    return 0;
}

/* Everything until now, in one call: read-only, and private before anything is
 * mounted over it. The root stays writable, and has nodes if root made them. */
static int base_seal(const struct jail *j, uint64_t attr, struct err *err)
{
    uint64_t keep = MOUNT_ATTR_RDONLY;

    if (j->root)
        keep |= MOUNT_ATTR_NODEV;
    if (tree_set(j->root_fd, attr | MOUNT_ATTR_NOSUID | MOUNT_ATTR_RDONLY) <
            0 ||
        root_attr(j, 0, keep) < 0)
        return err_sys(err, "make the base read-only");
    return 0;
}

/*
 * The agent's program, below what will be scratch: on a read-only mount that no
 * path leads to, so that the cell cannot change it through /proc/self/exe
 * (CVE-2019-5736). A detached mount would do too, but closing one costs 0.1 ms.
 */
static int agent_make(struct jail *j, struct err *err)
{
    static const char at[] = "tmp/karzer-agent";
    const char *path = handoff_text(j->h, j->h->agent);

    if (mknodat(j->root_fd, at, S_IFREG | 0555, 0) < 0)
        return err_sys(err, "make /%s", at);
    if (tree_bind(path, at) < 0)
        return err_sys(err, "%s", path);
    j->agent_fd = openat(j->root_fd, at, O_PATH | O_CLOEXEC);
    return j->agent_fd < 0 ? err_sys(err, "%s", path) : 0;
}

static int base_make(struct jail *j, struct err *err)
{
    int r;

    if (agent_make(j, err) < 0 || sys_make(j, err) < 0 ||
        (j->container && !j->bare && container_base(j, err) < 0) ||
        base_seal(j, MOUNT_ATTR_NODEV, err) < 0)
        return -1;
    r = dev_make(j, err);
    return r > 0 ? base_seal(j, 0, err) : r;
}

int view_make(struct jail *j, struct err *err)
{
    if (root_make(j, err) < 0 || base_make(j, err) < 0 ||
        proc_make(j, err) < 0 || scratch_make(j, err) < 0 ||
        dev_terminals(err) < 0 || mount_rows(j, err) < 0)
        return -1;
    if (root_attr(j, MOUNT_ATTR_RDONLY, 0) < 0)
        return err_sys(err, "make the root read-only");
    j->effective[HOLDER_FILES] =
        j->container ? HOLDER_HOW_PRIVATE_ROOT : HOLDER_HOW_MOUNT_VIEW;
    return 0;
}

/* pivot_root(2), NOTES: the same directory twice puts the old root on top of
 * the new one, from where it is taken away. */
int view_turn(struct jail *j, struct err *err)
{
    if (fchdir(j->root_fd) < 0 || sys_pivot_root(".", ".") < 0)
        return err_sys(err, "pivot_root");
    if (umount2(".", MNT_DETACH) < 0)
        return err_sys(err, "detach the old root");
    if (chdir("/") < 0)
        return err_sys(err, "enter /");
    return 0;
}
