/* SPDX-License-Identifier: Apache-2.0 */
/* made - see made.h. Names in scratch are ours: "row" and a number. */
#include "jail/made.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/handoff.h"
#include "jail/tree.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

bool made_is_there(const struct jail *j, const char *target)
{
    int fd = tree_find(j, target + 1);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int made_link(const struct jail *j, uint32_t row, struct err *err)
{
    const struct holder_mount *m = handoff_mount(j->h, row);

    return tree_link(j, handoff_text(j->h, m->target),
                     handoff_text(j->h, m->source), err);
}

/* A mask of ours does not count. */
static int settle(const struct jail *j, const char *name, uint32_t mode)
{
    if (fchmodat(j->scratch_fd, name, (mode_t)mode, 0) < 0)
        return -1;
    return j->root ? fchownat(j->scratch_fd, name, j->uid, j->gid, 0) : 0;
}

static int file_make(const struct jail *j, const struct holder_mount *m,
                     const char *name)
{
    AUTO(fd)
    int fd = openat(j->scratch_fd, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -1;
    return fd_write_all(fd, handoff_text(j->h, m->source), m->size);
}

int made_open(const struct jail *j, uint32_t row, struct err *err)
{
    const struct holder_mount *m = handoff_mount(j->h, row);
    bool file = (m->flags & HOLDER_MOUNT_FILE) != 0;
    uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    const char *target = handoff_text(j->h, m->target);
    char name[32];
    int tree, r;

    snprintf(name, sizeof(name), "row%u", row);
    r = file ? file_make(j, m, name) : mkdirat(j->scratch_fd, name, 0700);
    if (r < 0 || settle(j, name, m->mode) < 0)
        return err_sys(err, "make %s", target);
    if ((m->flags & HOLDER_MOUNT_RW) == 0)
        attr |= MOUNT_ATTR_RDONLY;
    tree = tree_clone(j->scratch_fd, name);
    if (tree < 0 || tree_set(tree, attr) < 0) {
        err_sys(err, "mount %s", target);
        if (tree >= 0)
            close(tree);
        return -1;
    }
    return tree;
}
