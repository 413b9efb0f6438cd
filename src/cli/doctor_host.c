/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_host - control groups, swap, and what karzer itself needs of this
 * host: its helpers, its record, a Python.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/cgroup.h"
#include "src/base/fd.h"
#include "src/base/slot.h"
#include "src/cli/child.h"
#include "src/cli/doctor.h"
#include "src/core/boundary.h"
#include "src/tier/scope.h"

/* ---- control groups ---- */

static const char *layout(void)
{
    static const char v2[] = "/sys/fs/cgroup/cgroup.controllers";

    if (access(v2, F_OK) == 0)
        return "v2";
    if (access("/sys/fs/cgroup/unified/cgroup.controllers", F_OK) == 0)
        return "hybrid: v1, and a v2 tree without controllers";
    if (access("/sys/fs/cgroup/memory", F_OK) == 0 ||
        access("/sys/fs/cgroup/pids", F_OK) == 0)
        return "v1";
    return NULL;
}

static void look_layout(const struct doctor *d, struct finding *f)
{
    const char *text = layout();

    if (text != NULL) {
        finding_present(f, "%s", text);
        return;
    }
    finding_missing(f, "none is mounted at /sys/fs/cgroup");
    finding_fix(f, "%s",
                d->distro == DISTRO_OTHER
                    ? "mount -t cgroup2 none /sys/fs/cgroup"
                    : "boot with systemd, or mount -t cgroup2 none "
                      "/sys/fs/cgroup");
}

/* What a cell has where there is no such control group; a result's `effective`
 * says the same (jail/limits.c decides it). */
static const char *const instead[CGROUP_PART_COUNT] = {
    [CGROUP_PIDS] = "RLIMIT_NPROC (Linux 5.14 or later)",
    [CGROUP_MEMORY] = "RLIMIT_DATA for each process, and a sampled sum of all",
    [CGROUP_CPU] = ("processor affinity: whole processors; --cpu below 1.0 "
                    "needs --may-lack cpu, and is then not limited"),
    [CGROUP_CPUACCT] =
        "a sampled sum of all processes, and RLIMIT_CPU for each",
};

static bool is_layout(const char *name)
{
    const char *is = layout();

    return is != NULL && strcmp(is, name) == 0;
}

static void fix_part(const struct doctor *d, struct finding *f)
{
    char boot[256];

    if (geteuid() == 0) {
        finding_fix(f, "a writable /sys/fs/cgroup with this controller (in a "
                       "container: give it its own cgroup namespace, rw)");
    } else if (is_layout("v2")) {
        finding_fix(f, "log in by a session of systemd's (or loginctl "
                       "enable-linger), start karzer in a delegated scope: "
                       "systemd-run --user --scope -p Delegate=yes karzer ..., "
                       "or as root");
    } else {
        finding_fix_boot(f, d, "systemd.unified_cgroup_hierarchy=1");
        snprintf(boot, sizeof(boot), "%.250s", f->fix);
        finding_fix(f, "run karzer as root, or %s", boot);
    }
}

/* An ordinary user's, under systemd: not where we are, but where his holders
 * are started. */
static bool look_scope(const struct doctor *d, struct finding *f)
{
    int r = geteuid() == 0 ? -1 : scope_look(&d->dirs, NULL);

    if (r >= 0)
        finding_present(f, "%s",
                        r > 0 ? "v2, in the delegated scope of the parked "
                                "karzer-scope"
                              : "v2, in a delegated scope that the first run "
                                "asks systemd for");
    return r >= 0;
}

static void look_part(const struct doctor *d, struct finding *f,
                      enum cgroup_part part)
{
    struct cgroup_host host;
    struct err err = {0};
    int tree;

    if (cgroup_find(&host, &err) < 0) {
        finding_missing(f, "%.200s", err.text);
        return;
    }
    tree = host.of[part];
    if (tree >= 0)
        finding_present(f, "v%d, writable below %.120s",
                        host.tree[tree].version, host.tree[tree].path);
    else
        finding_missing(f, "%s",
                        host.why[part] != NULL ? host.why[part] : "not there");
    cgroup_close(&host);
    if (tree >= 0 || look_scope(d, f))
        return;
    snprintf(f->instead, sizeof(f->instead), "%s", instead[part]);
    fix_part(d, f);
}

static void look_memory(const struct doctor *d, struct finding *f)
{
    look_part(d, f, CGROUP_MEMORY);
    if (f->state == FINDING_MISSING && geteuid() == 0 && layout() != NULL)
        finding_fix_boot(f, d, "cgroup_enable=memory");
}

static void look_pids(const struct doctor *d, struct finding *f)
{
    look_part(d, f, CGROUP_PIDS);
}

static void look_cpu(const struct doctor *d, struct finding *f)
{
    look_part(d, f, CGROUP_CPU);
}

static void look_cpuacct(const struct doctor *d, struct finding *f)
{
    look_part(d, f, CGROUP_CPUACCT);
}

static void look_swap(const struct doctor *d, struct finding *f)
{
    char text[4096];
    ssize_t n = fd_read_text(AT_FDCWD, "/proc/swaps", text, sizeof(text));
    const char *line = n > 0 ? strchr(text, '\n') : NULL;

    (void)d;
    if (n < 0) {
        finding_missing(f, "/proc/swaps: %s", strerror(errno));
    } else if (line == NULL || line[1] == '\0') {
        finding_present(f, "this host has none, so a cell has none");
    } else if (access("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes",
                      F_OK) == 0 ||
               is_layout("v2")) {
        finding_present(f, "a cell's is limited by its control group");
    } else {
        finding_missing(f, "this host swaps, and no control group limits it");
        finding_fix_boot(f, d, "swapaccount=1");
    }
}

/* ---- ids ---- */

static void look_id(const struct doctor *d, struct finding *f)
{
    struct err err = {0};
    uint32_t uid;

    (void)d;
    if (geteuid() != 0) {
        finding_idle(f, "your cells have your id, in a user namespace");
    } else if (slot_uid(0, &uid, &err) == 0) {
        finding_present(f, "cells run as %u and above", uid);
    } else {
        finding_missing(f, "%.200s", err.text);
        finding_fix(f, "map ids from %u on into the user namespace around us",
                    SLOT_UID_BASE);
    }
}

static void look_processes(const struct doctor *d, struct finding *f)
{
    struct rlimit rl;

    (void)d;
    getrlimit(RLIMIT_NPROC, &rl);
    if (rl.rlim_cur == RLIM_INFINITY) {
        finding_present(f, "no limit on processes of this user");
        return;
    }
    if (rl.rlim_cur >= 1024) {
        finding_present(f, "%llu processes for this user",
                        (unsigned long long)rl.rlim_cur);
        return;
    }
    finding_missing(f, "only %llu processes for this user",
                    (unsigned long long)rl.rlim_cur);
    finding_fix(f, "ulimit -u 4096, or nproc in /etc/security/limits.conf");
}

/* ---- karzer's own ---- */

static void look_helpers(const struct doctor *d, struct finding *f)
{
    static const char *const names[] = {"karzer-jail", "karzer-agent"};
    struct statvfs vfs;
    char path[DIRS_PATH_MAX + 32];

    if (d->dirs_why[0] != '\0') {
        finding_missing(f, "%.250s", d->dirs_why);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", d->dirs.libexec, names[i]);
        if (access(path, X_OK) == 0)
            continue;
        finding_missing(f, "%.200s: %s", path, strerror(errno));
        finding_fix(f, "make install, or run build/bin/karzer where it was "
                       "built");
        return;
    }
    if (statvfs(d->dirs.libexec, &vfs) == 0 && (vfs.f_flag & ST_NOEXEC)) {
        finding_missing(f, "%.200s is on a noexec mount", d->dirs.libexec);
        finding_fix(f, "install karzer on a file system that is not noexec");
        return;
    }
    finding_present(f, "%.250s", d->dirs.libexec);
}

static void look_record(const struct doctor *d, struct finding *f)
{
    struct boundary *b;
    struct err err = {0};

    if (d->dirs_why[0] != '\0') {
        finding_missing(f, "%.250s", d->dirs_why);
        finding_fix(f, "a home directory, or KARZER_STATE=DIR");
        return;
    }
    if (boundary_open(&b, d->dirs.state, &err) < 0) {
        finding_missing(f, "%.250s", err.text);
        finding_fix(f, "a directory of yours with mode 0700 and free space; "
                       "KARZER_STATE names another");
        return;
    }
    boundary_close(b);
    finding_present(f, "%.250s", d->dirs.state);
}

static void look_python(const struct doctor *d, struct finding *f)
{
    const char *path = child_python();

    if (path != NULL) {
        finding_present(f, "%s", path);
        return;
    }
    finding_missing(f, "neither /usr/bin/python3 nor /usr/local/bin/python3");
    finding_fix_package(f, d, "python3");
}

static void look_mmdebstrap(const struct doctor *d, struct finding *f)
{
    static const char path[] = "/usr/bin/mmdebstrap";

    if (access(path, X_OK) == 0) {
        finding_present(f, "%s", path);
        return;
    }
    finding_missing(f, "%s is not there", path);
    snprintf(f->instead, sizeof(f->instead),
             "karzer template build --dir or --tar");
    finding_fix_package(f, d, "mmdebstrap");
}

const struct doctor_check doctor_host[] = {
    {"cgroups", "limits of a whole cell", look_layout},
    {"cgroup memory", "the limit on memory", look_memory},
    {"cgroup pids", "the limit on processes", look_pids},
    {"cgroup cpu", "the share of the processors", look_cpu},
    {"cgroup cpuacct", "processor time of all descendants", look_cpuacct},
    {"swap", "memory that is really memory", look_swap},
    {"ids", "a host id of its own for each cell of root", look_id},
    {"processes", "room for cells beside what this user runs", look_processes},
    {"helpers", "karzer-jail and karzer-agent", look_helpers},
    {"record", "the boundary record; without it nothing runs", look_record},
    {"python3", "karzer run", look_python},
    {"mmdebstrap", "karzer template build --packages", look_mmdebstrap},
    {NULL, NULL, NULL},
};
