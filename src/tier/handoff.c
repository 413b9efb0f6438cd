/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff - see handoff.h. Its bytes are the grant's; jail/handoff.c checks
 * them again. Called by holder.c.
 */
#include "src/tier/handoff.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "src/base/auto.h"
#include "src/base/buf.h"
#include "src/base/fd.h"
#include "src/base/slot.h"

static int add_string(struct buf *b, const char *s, uint32_t *at,
                      struct err *err)
{
    *at = (uint32_t)b->len;
    return buf_strz(b, s, err);
}

static int add_mount(struct buf *b, size_t row, const struct grant_mount *m,
                     struct err *err)
{
    static const uint32_t kinds[] = {[GRANT_BIND] = 0,
                                     [GRANT_DIR] = HOLDER_MOUNT_DIR,
                                     [GRANT_FILE] = HOLDER_MOUNT_FILE,
                                     [GRANT_LINK] = HOLDER_MOUNT_LINK};
    struct holder_mount hm = {
        .flags = kinds[m->kind], .size = (uint32_t)m->size, .mode = m->mode};
    struct stat st;

    if (m->keep)
        hm.flags |= HOLDER_MOUNT_KEEP;
    if (m->rw)
        hm.flags |= HOLDER_MOUNT_RW;
    if (m->optional)
        hm.flags |= HOLDER_MOUNT_OPTIONAL;
    if (m->owned) {
        if (stat(m->source, &st) < 0)
            return err_sys(err, "%s", m->source);
        hm.flags |= HOLDER_MOUNT_OWNED;
        hm.owner_uid = st.st_uid;
        hm.owner_gid = st.st_gid;
    }
    hm.source = (uint32_t)b->len;
    if ((m->kind == GRANT_FILE ? buf_add(b, m->source, m->size, err)
                               : buf_strz(b, m->source, err)) < 0 ||
        add_string(b, m->target, &hm.target, err) < 0)
        return -1;
    memcpy(b->data + row, &hm, sizeof(hm));
    return 0;
}

static struct holder_limits limits_of(const struct grant *grant)
{
    const struct limits *l = &grant->limits;

    return (struct holder_limits){
        .mem_bytes = l->mem_bytes,
        .disk_bytes = l->disk_bytes,
        .inodes = l->inodes,
        .cpu_milli = l->cpu_milli,
        .cpu_time_ms = l->cpu_time_ms,
        .pids = l->pids,
        .nofile = l->nofile,
        .wall_ms = grant->lasting ? 0 : l->wall_ms,
    };
}

/* Rows first, then the strings; offsets are patched in as strings come. */
static int handoff_fill(struct buf *b, struct holder_handoff *h,
                        const struct grant *grant,
                        const struct grant_mount *extra, size_t extra_count,
                        struct err *err)
{
    static const struct holder_mount none;
    char agent[DIRS_PATH_MAX + 16];
    size_t rows = sizeof(*h);

    h->mount_count = (uint32_t)(extra_count + grant->mount_count);
    h->mounts = (uint32_t)rows;
    if (buf_add(b, h, sizeof(*h), err) < 0)
        return -1;
    for (uint32_t i = 0; i < h->mount_count; i++)
        if (buf_add(b, &none, sizeof(none), err) < 0)
            return -1;
    snprintf(agent, sizeof(agent), "%s/karzer-agent", grant->dirs->libexec);
    if (add_string(b, agent, &h->agent, err) < 0 ||
        (grant->template != NULL &&
         add_string(b, grant->template->root, &h->root, err) < 0))
        return -1;
    if (grant->scratch != NULL &&
        add_string(b, grant->scratch, &h->scratch, err) < 0)
        return -1;
    if (grant->hostname != NULL &&
        add_string(b, grant->hostname, &h->hostname, err) < 0)
        return -1;
    for (uint32_t i = 0; i < h->mount_count; i++) {
        const struct grant_mount *m =
            i < extra_count ? &extra[i] : &grant->mounts[i - extra_count];

        if (add_mount(b, rows + i * sizeof(struct holder_mount), m, err) < 0)
            return -1;
    }
    h->size = (uint32_t)b->len;
    memcpy(b->data, h, sizeof(*h));
    return 0;
}

static int handoff_seal(const struct buf *b, int *out, struct err *err)
{
    AUTO(fd)
    int fd = memfd_create("karzer-handoff", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return err_sys(err, "memfd_create");
    if (fd_write_all(fd, b->data, b->len) < 0)
        return err_sys(err, "write the hand-off");
    if (fcntl(fd, F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return err_sys(err, "seal the hand-off");
    *out = fd_take(&fd);
    return 0;
}

static int identity_fill(struct holder_handoff *h, struct err *err)
{
    uint32_t id;

    if (!slot_root())
        return 0;
    if (slot_uid(h->slot, &id, err) < 0)
        return -1;
    h->uid = id;
    h->gid = id;
    return 0;
}

int handoff_make(const struct grant *grant, enum holder_tier tier,
                 const struct grant_mount *extra, size_t extra_count,
                 unsigned slot, int *out, struct err *err)
{
    struct holder_handoff h = {
        .magic = HOLDER_MAGIC,
        .version = HOLDER_VERSION,
        .tier = tier,
        .slot = slot,
        .may_lack = grant->may_lack,
        .limits = limits_of(grant),
        .flags = (grant->bare ? HOLDER_BARE : 0u) |
                 (grant->bare_sys ? HOLDER_BARE_SYS : 0u),
        .seen_uid = grant->seen_uid,
        .seen_gid = grant->seen_gid,
    };
    AUTO(buf) struct buf b;

    buf_init(&b, HOLDER_HANDOFF_MAX);
    if (extra_count + grant->mount_count > HOLDER_MOUNTS_MAX)
        return err_set(err, ERR_LIMIT, "more than %u mounts",
                       HOLDER_MOUNTS_MAX);
    if (identity_fill(&h, err) < 0 ||
        handoff_fill(&b, &h, grant, extra, extra_count, err) < 0)
        return -1;
    return handoff_seal(&b, out, err);
}
