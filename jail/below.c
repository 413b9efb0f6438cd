/* SPDX-License-Identifier: Apache-2.0 */
/*
 * below - see below.h. The list has the host's mounts besides those of the new
 * root, by the same kind of name; each name is looked up beneath the new root,
 * where one of the host's that is not shown finds nothing, or what is shown.
 */
#include "jail/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "jail/handoff.h"
#include "jail/mask.h"
#include "jail/tree.h"
#include "src/base/auto.h"
#include "src/base/fd.h"

/* clang-format off */
static const unsigned long kernels[] = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC,      CGROUP_SUPER_MAGIC,
    CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
    BPF_FS_MAGIC,     SECURITYFS_MAGIC, PSTOREFS_MAGIC,
    EFIVARFS_MAGIC,   BINFMTFS_MAGIC,   DEVPTS_SUPER_MAGIC,
    SELINUX_MAGIC,    SMACK_MAGIC,      NSFS_MAGIC,
};
/* clang-format on */

static bool is_kernels(int fd)
{
    struct statfs sf;

    if (fstatfs(fd, &sf) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++)
        if ((unsigned long)sf.f_type == kernels[i])
            return true;
    return false;
}

/* In place: "\040" is a blank. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; to++) {
        if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
            at[2] <= '7' && at[3] >= '0' && at[3] <= '7') {
            *to = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + at[3] - '0');
            at += 4;
        } else {
            *to = *at++;
        }
    }
    *to = '\0';
}

static bool is_below(const char *path, const char *tree)
{
    size_t n = strlen(tree);

    return strncmp(path, tree, n) == 0 && path[n] == '/';
}

/* As the cell sees it, or as the host does. */
static bool is_below_a_row(const struct jail *j, const char *path, bool inside)
{
    for (uint32_t i = 0; i < j->h->mount_count; i++) {
        const struct holder_mount *m = handoff_mount(j->h, i);

        if (handoff_is_host(m) &&
            is_below(path, handoff_text(j->h, inside ? m->target : m->source)))
            return true;
    }
    /* the container's base */
    return jail_has_host_base(j) &&
           (is_below(path, "/usr") || is_below(path, "/etc"));
}

static int mask_mounted(const struct jail *j, const char *path, struct err *err)
{
    AUTO(fd) int point = tree_find(j, path + 1);
    struct stat st;

    if (point < 0) /* the cell can do no more than we */
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
                       errno == ELOOP
                   ? 0
                   : err_sys(err, "look at the mount at %s", path);
    if (fstat(point, &st) < 0)
        st.st_mode = S_IFDIR; /* a FUSE of somebody's */
    else if (!is_kernels(point))
        return mask_point(j, point, S_IFSOCK, path + 1, err);
    return mask_over(j, point, st.st_mode) < 0
               ? err_sys(err, "hide the mount at %s", path)
               : 0;
}

/* "36 35 98:0 /root /point options ... - type source options" */
static char *mount_point(char *line, struct err *err)
{
    char *end;

    for (int i = 0; i < 4; i++) {
        line = strchr(line, ' ');
        if (line == NULL) {
            err_set(err, ERR_HOST, "the list of mounts is strange");
            return NULL;
        }
        line++;
    }
    end = strchr(line, ' ');
    if (end != NULL)
        *end = '\0';
    unescape(line);
    return line;
}

/* What is done with the name of each mount. */
typedef int each_fn(const struct jail *j, const char *path, void *ctx,
                    struct err *err);

static int list_open(const struct jail *j, struct err *err)
{
    int fd = openat(j->proc_fd, "self/mountinfo", O_RDONLY | O_CLOEXEC);

    return fd < 0 ? err_sys(err, "read the list of mounts") : fd;
}

/* Closes fd. */
static int each_mount(const struct jail *j, int fd, each_fn *each, void *ctx,
                      struct err *err)
{
    AUTO(file) FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    int r = 0;

    if (f == NULL) {
        err_sys(err, "read the list of mounts");
        fd_drop(&fd);
        return -1;
    }
    while (r == 0 && getline(&line, &room, f) > 0) {
        const char *path = mount_point(line, err);

        r = path == NULL ? -1 : each(j, path, ctx, err);
    }
    if (r == 0 && ferror(f))
        r = err_sys(err, "read the list of mounts");
    free(line);
    return r;
}

static int mask_one(const struct jail *j, const char *path, void *ctx,
                    struct err *err)
{
    (void)ctx;
    return is_below_a_row(j, path, true) ? mask_mounted(j, path, err) : 0;
}

int below_mask(const struct jail *j, struct err *err)
{
    int fd = list_open(j, err);

    return fd < 0 ? -1 : each_mount(j, fd, mask_one, NULL, err);
}

static int look_at(const struct jail *j, const char *path, void *ctx,
                   struct err *err)
{
    (void)err;
    *(bool *)ctx |= is_below_a_row(j, path, false);
    return 0;
}

int below_open(struct jail *j, struct err *err)
{
    j->list_fd = list_open(j, err);
    return j->list_fd < 0 ? -1 : 0;
}

/* The child has a copy of what was mounted at its clone: when anything changed
 * since the list was opened, ours may be another (proc_pid_mounts(5)). */
int below_look(struct jail *j, bool *found, struct err *err)
{
    AUTO(fd) int same = fcntl(j->list_fd, F_DUPFD_CLOEXEC, 0);
    struct pollfd p = {.fd = same, .events = POLLPRI};

    if (same < 0)
        return err_sys(err, "read the list of mounts");
    if (each_mount(j, fd_take(&j->list_fd), look_at, found, err) < 0)
        return -1;
    *found = *found || poll(&p, 1, 0) != 0;
    return 0;
}
