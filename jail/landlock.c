/* SPDX-License-Identifier: Apache-2.0 */
/* landlock - see landlock.h; landlock(7). */
#include "jail/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/handoff.h"
#include "jail/seccomp.h"
#include "src/base/auto.h"
#include "src/base/path.h"
#include "src/base/sys.h"

/* linux/landlock.h of Debian 12 ends with ABI 2. */
#define VERSION_FLAG 1u
#define RULE_PATH_BENEATH 1u
#define EXECUTE (UINT64_C(1) << 0)
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define BASE ((UINT64_C(1) << 13) - 1) /* ABI 1: all of these and removals */
#define REFER (UINT64_C(1) << 13)      /* ABI 2 */
#define TRUNCATE (UINT64_C(1) << 14)   /* ABI 3 */
#define IOCTL_DEV (UINT64_C(1) << 15)  /* ABI 5 */
#define NET_TCP UINT64_C(3)            /* ABI 4: bind and connect */
#define SCOPES UINT64_C(3)             /* ABI 6: abstract sockets and signals */

#define SEEN (EXECUTE | READ_FILE | READ_DIR)
#define OF_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV)
#define DEVICE (READ_FILE | WRITE_FILE)

struct attr {
    uint64_t fs, net, scoped;
};

struct rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

struct walls {
    int ruleset;
    uint64_t fs; /* what is handled: nothing else can be allowed */
};

/* clang-format off */
static const char *const masks[] = {
#define MASK(path, why) "/" path,
#include "jail/mask.def"
#include "jail/mask_etc.def"
#undef MASK
};

static const struct {
    const char *path;
    uint64_t allowed;
} usual[] = {
    {"/dev/null", DEVICE},
    {"/dev/zero", DEVICE},
    {"/dev/full", DEVICE},
    {"/dev/random", DEVICE},
    {"/dev/urandom", DEVICE},
    {"/proc", READ_FILE | READ_DIR},
    {"/sys/devices/system/cpu", READ_FILE | READ_DIR},
};
/* clang-format on */

int landlock_abi(void)
{
    int abi = sys_landlock_create_ruleset(NULL, 0, VERSION_FLAG);

    return abi < 0 ? 0 : abi;
}

unsigned landlock_variant(int abi)
{
    unsigned bits = SECCOMP_NO_NAMESPACES;

    if (abi < 3)
        bits |= SECCOMP_OLD_LANDLOCK;
    if (abi < 6)
        bits |= SECCOMP_SUPERVISE;
    return bits;
}

static int allow_fd(const struct walls *w, int fd, uint64_t allowed)
{
    struct rule rule = {.allowed = allowed & w->fs, .fd = fd};
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -1;
    if (!S_ISDIR(st.st_mode))
        rule.allowed &= OF_FILES;
    if (rule.allowed == 0)
        return 0;
    return sys_landlock_add_rule(w->ruleset, RULE_PATH_BENEATH, &rule, 0);
}

/* 1: the path itself is masked; 2: something below it is, and exists. */
static int masked(const char *path)
{
    size_t len = strcmp(path, "/") == 0 ? 0 : strlen(path);
    int below = 0;

    for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
        if (strncmp(masks[i], path, len) != 0)
            continue;
        if (masks[i][len] == '\0')
            return 1;
        if (masks[i][len] == '/' && below == 0 &&
            faccessat(AT_FDCWD, masks[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            below = 2;
    }
    return below;
}

static int allow_tree(const struct walls *w, int fd, const char *path,
                      uint64_t allowed);

/* A directory with masked names in it: each of the others for itself. Links
 * are left out: they need no right, and what they name must not get one. */
static int allow_entries(const struct walls *w, int dir, const char *path,
                         uint64_t allowed)
{
    int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct dirent *e;
    int r = 0;

    if (d == NULL) {
        fd_drop(&own);
        return errno == EACCES ? 0 : -1;
    }
    while (r == 0 && (e = readdir(d)) != NULL) {
        AUTO(fd) int fd = -1;
        char full[PATH_MAX];
        struct stat st;
        int n = snprintf(full, sizeof(full), "%s/%s",
                         strcmp(path, "/") == 0 ? "" : path, e->d_name);

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            n < 0 || (size_t)n >= sizeof(full))
            continue;
        fd = openat(dir, e->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))
            r = allow_tree(w, fd, full, allowed);
    }
    closedir(d);
    return r;
}

static int allow_tree(const struct walls *w, int fd, const char *path,
                      uint64_t allowed)
{
    int how = masked(path);

    if (how == 1)
        return 0;
    if (how == 0)
        return allow_fd(w, fd, allowed);
    /* Its names can be listed, those of masked directories too. */
    if (allow_fd(w, fd, allowed & READ_DIR) < 0)
        return -1;
    return allow_entries(w, fd, path, allowed);
}

/* Masks are known by their real names. */
static int allow_open(const struct walls *w, int fd, uint64_t allowed)
{
    char real[PATH_MAX];

    if (fd < 0 || path_name(fd, real, sizeof(real)) < 0)
        return -1;
    return allow_tree(w, fd, real, allowed);
}

/* As in the mount view (view.c): no link in a path that the engine resolved. */
static int allow_source(const struct walls *w, const char *path, bool optional,
                        uint64_t allowed)
{
    AUTO(fd)
    int fd = optional ? open(path, O_PATH | O_CLOEXEC) : path_open_plain(path);

    return allow_open(w, fd, allowed);
}

/* Without a look at the masks: /proc has new entries all the time. What it
 * hides from an ordinary user stays hidden. */
static int allow_whole(const struct walls *w, const char *path,
                       uint64_t allowed)
{
    AUTO(fd) int fd = open(path, O_PATH | O_CLOEXEC);

    return fd < 0 ? -1 : allow_fd(w, fd, allowed);
}

static int allow_mount(const struct walls *w, const struct holder_handoff *h,
                       const struct holder_mount *m, struct err *err)
{
    const char *source = handoff_text(h, m->source);
    uint64_t allowed = (m->flags & HOLDER_MOUNT_RW) != 0 ? ~UINT64_C(0) : SEEN;
    bool optional = (m->flags & HOLDER_MOUNT_OPTIONAL) != 0;

    if (allow_source(w, source, optional, allowed) == 0)
        return 0;
    if (optional && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return 0;
    return err_sys(err, "%s", source);
}

/* /dev/zero makes shared memory that only a memory cgroup counts. */
static int allow_usual(const struct walls *w, bool zero, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if ((zero || strcmp(usual[i].path, "/dev/zero") != 0) &&
            allow_whole(w, usual[i].path, usual[i].allowed) < 0 &&
            errno != ENOENT)
            return err_sys(err, "%s", usual[i].path);
    return 0;
}

static int allow_all(const struct walls *w, const struct holder_handoff *h,
                     const char *scratch, struct err *err)
{
    const char *agent = handoff_text(h, h->agent);

    for (uint32_t i = 0; i < h->mount_count; i++)
        if (allow_mount(w, h, handoff_mount(h, i), err) < 0)
            return -1;
    if (allow_whole(w, agent, EXECUTE | READ_FILE) < 0)
        return err_sys(err, "%s", agent);
    if (allow_whole(w, scratch, ~UINT64_C(0)) < 0)
        return err_sys(err, "%s", scratch);
    return 0;
}

static struct attr handled(int abi)
{
    struct attr a = {.fs = BASE};

    if (abi >= 2)
        a.fs |= REFER;
    if (abi >= 3)
        a.fs |= TRUNCATE;
    if (abi >= 5)
        a.fs |= IOCTL_DEV;
    if (abi >= 4)
        a.net = NET_TCP;
    if (abi >= 6)
        a.scoped = SCOPES;
    return a;
}

static size_t attr_size(int abi)
{
    if (abi < 4)
        return sizeof(uint64_t);
    return abi < 6 ? 2 * sizeof(uint64_t) : sizeof(struct attr);
}

/* One file cannot outgrow scratch between two samples of the sum. */
static int bound_files(const struct holder_handoff *h, struct err *err)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_FSIZE, &r) < 0)
        return err_sys(err, "read RLIMIT_FSIZE");
    if (h->limits.disk_bytes < r.rlim_max)
        r.rlim_max = h->limits.disk_bytes;
    r.rlim_cur = r.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &r) < 0)
        return err_sys(err, "set RLIMIT_FSIZE");
    return 0;
}

int landlock_enter(const struct holder_handoff *h, const char *scratch, int abi,
                   uint8_t *effective, struct err *err)
{
    struct attr a = handled(abi);
    struct walls w = {.fs = a.fs};
    bool zero = effective[HOLDER_MEMORY] != HOLDER_HOW_SAMPLED;
    AUTO(fd) int ruleset = -1;

    if (abi < 1 || abi > landlock_abi())
        return err_set(err, ERR_HOST,
                       "this kernel has neither namespaces for this user nor "
                       "Landlock");
    ruleset = sys_landlock_create_ruleset(&a, attr_size(abi), 0);
    if (ruleset < 0)
        return err_sys(err, "make a Landlock ruleset");
    w.ruleset = ruleset;
    if (allow_usual(&w, zero, err) < 0 || allow_all(&w, h, scratch, err) < 0 ||
        bound_files(h, err) < 0)
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        sys_landlock_restrict_self(ruleset, 0) < 0)
        return err_sys(err, "enter the Landlock domain");
    effective[HOLDER_FILES] = HOLDER_HOW_LANDLOCK;
    effective[HOLDER_PROCESSES] =
        abi >= 6 ? HOLDER_HOW_LANDLOCK_SCOPE : HOLDER_HOW_SUPERVISED;
    effective[HOLDER_NETWORK] = HOLDER_HOW_SECCOMP;
    effective[HOLDER_IPC] = HOLDER_HOW_SECCOMP;
    effective[HOLDER_DISK] = HOLDER_HOW_SAMPLED;
    return 0;
}
