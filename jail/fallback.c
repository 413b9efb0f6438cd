/* SPDX-License-Identifier: Apache-2.0 */
/* fallback - see fallback.h. What it cannot hide is named by effective[]. */
#include "jail/fallback.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "jail/handoff.h"
#include "jail/landlock.h"
#include "jail/limits.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/scratch.h"

static const char *scratch_dir(const struct jail *j)
{
    return handoff_text(j->h, j->h->scratch);
}

/* An id of its own for the cell, and an end for what has it. */
static bool may_change_ids(const struct jail *j)
{
    const unsigned long long needed =
        1u << CAP_CHOWN | 1u << CAP_KILL | 1u << CAP_SETGID | 1u << CAP_SETUID;
    char text[4096];
    const char *at = NULL;

    if (fd_read_text(j->proc_fd, "self/status", text, sizeof(text)) > 0)
        at = strstr(text, "\nCapEff:");
    return at != NULL &&
           (strtoull(at + strlen("\nCapEff:"), NULL, 16) & needed) == needed;
}

int fallback_choose(struct jail *j, struct err *err)
{
    struct err why = {0};

    j->mechanism = HOLDER_MECHANISM_COUNT; /* no --may-lack helps */
    if (j->container)
        return -1;
    if (landlock_abi() < 1)
        return err_wrap(err, "neither namespaces nor Landlock");
    if (j->h->scratch == 0)
        return err_wrap(err, "neither namespaces nor a place for scratch");
    if (j->root && !may_change_ids(j))
        return err_wrap(err, "neither namespaces nor the right to change ids: "
                             "root needs CAP_CHOWN, CAP_KILL, CAP_SETGID and "
                             "CAP_SETUID, an ordinary user nothing");
    if (limiter_handle(j->limiter, HOLDER_SLOT_FD, j->effective, &why) < 0)
        return err_wrap(err,
                        "neither namespaces nor a control group, and "
                        "without them %.150s",
                        why.text);
    /* What outlives the agent is ours to reap, and never becomes init's. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return err_sys(err, "become the reaper of orphans");
    j->tree_fd = scratch_make(scratch_dir(j), j->h->slot, j->uid, j->gid, err);
    if (j->tree_fd < 0)
        return -1;
    j->fallback = true;
    j->user_ns = false;
    return 0;
}

void fallback_clean(const struct jail *j)
{
    if (j->fallback)
        scratch_remove(scratch_dir(j), j->h->slot, NULL);
}

int fallback_enter(struct jail *j, struct err *err)
{
    char path[PATH_MAX];

    if (scratch_path(scratch_dir(j), j->h->slot, path, sizeof(path), err) < 0)
        return -1;
    return landlock_enter(j->h, path, landlock_abi(), j->effective, err);
}
