/* SPDX-License-Identifier: Apache-2.0 */
/* peer - see peer.h. */
#include "scope/peer.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

static int same_namespaces(pid_t pid, struct err *err)
{
    static const char *const kinds[] = {"mnt", "user", "pid",   "net",
                                        "ipc", "uts",  "cgroup"};
    char path[64];
    struct stat ours, theirs;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        snprintf(path, sizeof(path), "/proc/self/ns/%s", kinds[i]);
        if (stat(path, &ours) < 0)
            return err_sys(err, "%s", path);
        snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kinds[i]);
        if (stat(path, &theirs) < 0)
            return err_sys(err, "%s", path);
        if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
            return err_set(err, ERR_DENIED, "another %s namespace", kinds[i]);
    }
    return 0;
}

/* Ours must not be higher than those it has. */
static int same_limits(pid_t pid, struct err *err)
{
    for (uint8_t i = 0; i < RLIM_NLIMITS; i++) { /* clang: an enum's */
        struct rlimit ours, theirs;

        if (prlimit(0, i, NULL, &ours) < 0 ||
            prlimit(pid, i, NULL, &theirs) < 0)
            return err_sys(err, "prlimit");
        if (ours.rlim_max > theirs.rlim_max)
            return err_set(err, ERR_DENIED, "its limit %d is lower", i);
    }
    return 0;
}

static int same_processors(pid_t pid, struct err *err)
{
    cpu_set_t ours, theirs;

    CPU_ZERO(&ours);
    CPU_ZERO(&theirs);
    if (sched_getaffinity(0, sizeof(ours), &ours) < 0 ||
        sched_getaffinity(pid, sizeof(theirs), &theirs) < 0)
        return err_sys(err, "processor affinity");
    return CPU_EQUAL(&ours, &theirs)
               ? 0
               : err_set(err, ERR_DENIED, "it has other processors");
}

static long field(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at == NULL ? -1 : strtol(at + strlen(key), NULL, 10);
}

/* A seccomp filter, or no_new_privs. */
static int same_confinement(pid_t pid, struct err *err)
{
    static const char *const keys[] = {"\nSeccomp:", "\nNoNewPrivs:"};
    char path[64], ours[4096], theirs[4096];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (fd_read_text(AT_FDCWD, "/proc/self/status", ours, sizeof(ours)) <= 0 ||
        fd_read_text(AT_FDCWD, path, theirs, sizeof(theirs)) <= 0)
        return err_sys(err, "%s", path);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (field(ours, keys[i]) != field(theirs, keys[i]))
            return err_set(err, ERR_DENIED, "it is confined otherwise:%.16s",
                           keys[i] + 1);
    return 0;
}

int peer_check(int fd, struct err *err)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
        return err_sys(err, "SO_PEERCRED");
    if (cred.uid != geteuid() || cred.pid <= 0)
        return err_set(err, ERR_DENIED, "another user");
    if (same_namespaces(cred.pid, err) < 0 || same_limits(cred.pid, err) < 0 ||
        same_processors(cred.pid, err) < 0)
        return -1;
    return same_confinement(cred.pid, err);
}
