/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff - see handoff.h. The engine is trusted, but a holder that is started
 * by hand, or by a broken engine, must refuse and not guess.
 */
#include "jail/handoff.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define MOUNT_FLAGS                                                            \
    (HOLDER_MOUNT_RW | HOLDER_MOUNT_OPTIONAL | HOLDER_MOUNT_OWNED |            \
     HOLDER_MOUNT_MADE | HOLDER_MOUNT_KEEP)
#define MECHANISMS ((UINT64_C(1) << HOLDER_MECHANISM_COUNT) - 1)

static int bad(struct err *err, const char *what)
{
    return err_set(err, ERR_INVALID, "hand-off: %s", what);
}

/* The NUL-terminated string at `offset`, or NULL. */
static const char *text_at(const struct holder_handoff *h, uint32_t offset)
{
    const char *s = (const char *)h + offset;
    size_t room;

    if (offset < sizeof(*h) || offset >= h->size)
        return NULL;
    room = h->size - offset;
    if (room > PATH_MAX)
        room = PATH_MAX;
    return memchr(s, '\0', room) == NULL ? NULL : s;
}

/* "/a/b": no empty part, no "." and "..", no slash at the end; not "/". */
static int is_plain(const char *path)
{
    if (path == NULL)
        return 0;
    while (*path == '/') {
        size_t n = strcspn(++path, "/");

        if (n == 0 || n > NAME_MAX || (n == 1 && path[0] == '.') ||
            (n == 2 && path[0] == '.' && path[1] == '.'))
            return 0;
        path += n;
        if (*path == '\0')
            return 1;
    }
    return 0;
}

static int check_path(const struct holder_handoff *h, uint32_t offset,
                      const char *what, struct err *err)
{
    const char *s = text_at(h, offset);

    if (s == NULL || s[0] != '/')
        return err_set(err, ERR_INVALID, "hand-off: %s is no absolute path",
                       what);
    return 0;
}

/* What the view is to hold and the host has not. */
static int check_made(const struct holder_handoff *h,
                      const struct holder_mount *m, struct err *err)
{
    uint32_t kind = m->flags & HOLDER_MOUNT_MADE;

    if ((h->flags & HOLDER_BARE) == 0)
        return bad(err, "only a bare view has mounts that are made");
    if ((kind & (kind - 1)) != 0 ||
        (m->flags & (HOLDER_MOUNT_OPTIONAL | HOLDER_MOUNT_OWNED)) != 0)
        return bad(err, "a mount is of two kinds");
    if (kind == HOLDER_MOUNT_LINK && text_at(h, m->source) == NULL)
        return bad(err, "a link has no text");
    if (kind == HOLDER_MOUNT_FILE &&
        (m->source < sizeof(*h) || m->source > h->size ||
         m->size > h->size - m->source))
        return bad(err, "a file is out of range");
    return 0;
}

static int check_source(const struct holder_handoff *h,
                        const struct holder_mount *m, struct err *err)
{
    uint32_t kind = m->flags & HOLDER_MOUNT_MADE;

    if ((m->size != 0 && kind != HOLDER_MOUNT_FILE) || m->mode > 07777 ||
        (m->mode != 0 && (kind == 0 || kind == HOLDER_MOUNT_LINK)))
        return bad(err, "a mount has what its kind has not");
    if ((m->flags & HOLDER_MOUNT_KEEP) != 0 && kind != HOLDER_MOUNT_DIR)
        return bad(err, "a mount has what its kind has not");
    if (kind != 0)
        return check_made(h, m, err);
    return check_path(h, m->source, "a source", err);
}

static int check_mount(const struct holder_handoff *h,
                       const struct holder_mount *m, struct err *err)
{
    if (check_source(h, m, err) < 0 ||
        check_path(h, m->target, "a target", err) < 0)
        return -1;
    if (!is_plain(text_at(h, m->target)))
        return bad(err, "a target is not a plain path");
    if ((m->flags & ~(uint32_t)MOUNT_FLAGS) != 0)
        return bad(err, "a mount has unknown flags");
    if (m->owner_uid == UINT32_MAX || m->owner_gid == UINT32_MAX)
        return bad(err, "a mount has no owner");
    return 0;
}

static int check_mounts(const struct holder_handoff *h, struct err *err)
{
    uint64_t bytes = h->mount_count * (uint64_t)sizeof(struct holder_mount);

    if (h->mount_count > HOLDER_MOUNTS_MAX)
        return bad(err, "too many mounts");
    if (h->mount_count == 0)
        return 0;
    if (h->mounts < sizeof(*h) || h->mounts % _Alignof(struct holder_mount) ||
        h->mounts > h->size || bytes > h->size - h->mounts)
        return bad(err, "the mounts are out of range");
    for (uint32_t i = 0; i < h->mount_count; i++)
        if (check_mount(h, handoff_mount(h, i), err) < 0)
            return -1;
    return 0;
}

static int check_limits(const struct holder_limits *l, struct err *err)
{
    if (l->mem_bytes == 0 || l->disk_bytes == 0 || l->inodes == 0 ||
        l->cpu_milli == 0 || l->pids == 0 || l->nofile == 0)
        return bad(err, "a limit is missing");
    if (l->mem_bytes > INT64_MAX / 4 || l->disk_bytes > INT64_MAX / 4 ||
        l->inodes > INT64_MAX / 4 || l->cpu_milli > UINT32_MAX ||
        l->cpu_time_ms > UINT32_MAX * UINT64_C(1000) ||
        l->wall_ms > UINT32_MAX * UINT64_C(1000) || l->pids > INT32_MAX ||
        l->nofile > INT32_MAX)
        return bad(err, "a limit is too large");
    return 0;
}

static int check_bare(const struct holder_handoff *h, struct err *err)
{
    bool bare = (h->flags & HOLDER_BARE) != 0;

    if ((h->flags & ~(uint32_t)(HOLDER_BARE | HOLDER_BARE_SYS)) != 0 ||
        (h->flags == HOLDER_BARE_SYS))
        return bad(err, "unknown flags");
    if ((bare || h->hostname != 0) && h->tier != HOLDER_TIER_CONTAINER)
        return bad(err, "only a container has a view or a name of its own");
    if (!bare && (h->seen_uid != 0 || h->seen_gid != 0))
        return bad(err, "only a bare view says who is seen");
    if (h->seen_uid == UINT32_MAX || h->seen_gid == UINT32_MAX)
        return bad(err, "wrong id inside");
    if (h->hostname != 0 && (text_at(h, h->hostname) == NULL ||
                             strlen(text_at(h, h->hostname)) > HOST_NAME_MAX))
        return bad(err, "the host's name is none");
    return 0;
}

int handoff_check(const void *data, size_t size, struct err *err)
{
    const struct holder_handoff *h = data;

    if (size < sizeof(*h) || size > HOLDER_HANDOFF_MAX)
        return bad(err, "wrong size");
    if (h->magic != HOLDER_MAGIC || h->version != HOLDER_VERSION)
        return bad(err, "not of this version of karzer");
    if (h->size != size)
        return bad(err, "wrong size");
    if (h->tier != HOLDER_TIER_PROCESS && h->tier != HOLDER_TIER_CONTAINER)
        return bad(err, "unknown tier");
    if (h->uid == UINT32_MAX || h->gid == UINT32_MAX ||
        (h->uid == 0) != (h->gid == 0))
        return bad(err, "wrong id");
    if ((h->may_lack & ~MECHANISMS) != 0)
        return bad(err, "unknown mechanism");
    if (check_path(h, h->agent, "the agent", err) < 0)
        return -1;
    if (h->scratch != 0 && check_path(h, h->scratch, "scratch", err) < 0)
        return -1;
    if (h->root != 0 && check_path(h, h->root, "the root", err) < 0)
        return -1;
    if (h->root != 0 && h->tier != HOLDER_TIER_CONTAINER)
        return bad(err, "only a container has another root");
    if (h->root != 0 && (h->flags & HOLDER_BARE) != 0)
        return bad(err, "a bare view has no root");
    if (check_limits(&h->limits, err) < 0 || check_bare(h, err) < 0)
        return -1;
    return check_mounts(h, err);
}

int handoff_open(int fd, const struct holder_handoff **out, struct err *err)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;
    size_t size;
    void *data;

    if (seals < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "hand-off: not a memfd");
    if ((seals & SEALS) != SEALS)
        return bad(err, "not sealed");
    if (st.st_size <= 0 || st.st_size > (off_t)HOLDER_HANDOFF_MAX)
        return bad(err, "wrong size");
    size = (size_t)st.st_size;
    data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED)
        return err_sys(err, "hand-off: map");
    if (handoff_check(data, size, err) < 0) {
        munmap(data, size);
        return -1;
    }
    *out = data;
    return 0;
}
