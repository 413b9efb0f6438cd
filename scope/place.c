/* SPDX-License-Identifier: Apache-2.0 */
/* place - see place.h. What systemd did is seen in /proc/self/cgroup, not
 * believed. */
#include "scope/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "scope/dbus.h"
#include "src/base/auto.h"
#include "src/base/fd.h"

#define MOUNT "/sys/fs/cgroup"
#define LEAF "parked"
#define MOVE_US 20000000u

/* Our group in the v2 tree; 0, or -1. */
static int own_group(char *out, size_t size)
{
    char text[4096];
    char *at;

    if (fd_read_text(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) <= 0)
        return -1;
    at = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (at == NULL)
        return -1;
    at = strchr(at, '/');
    if (at == NULL)
        return -1;
    at[strcspn(at, "\n")] = '\0';
    return snprintf(out, size, "%s", at) < (int)size ? 0 : -1;
}

/* The job that systemd has queued is done when we are there. */
static int wait_moved(const char *name, char *path, size_t size,
                      struct err *err)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    uint64_t end = clock_us() + MOVE_US;
    size_t len = strlen(name), n;

    while (clock_us() < end) {
        if (own_group(path, size) < 0)
            return err_set(err, ERR_HOST, "this host has no cgroup v2 tree");
        n = strlen(path);
        if (n > len && path[n - len - 1] == '/' &&
            strcmp(path + n - len, name) == 0)
            return 0;
        nanosleep(&nap, NULL);
    }
    return err_set(err, ERR_HOST, "systemd made a scope and did not move us");
}

/* A group that holds processes cannot give controllers to those below. */
static int make_ready(const char *path, struct err *err)
{
    static const char *const wanted[] = {"+memory", "+pids", "+cpu"};
    char full[PATH_MAX];
    AUTO(fd) int dir = -1;
    int given = 0;

    snprintf(full, sizeof(full), MOUNT "%s", path);
    dir = open(full, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || mkdirat(dir, LEAF, 0700) < 0 ||
        fd_write_text(dir, LEAF "/cgroup.procs", "0") < 0)
        return err_sys(err, "enter %.256s/" LEAF, path);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (fd_write_text(dir, "cgroup.subtree_control", wanted[i]) == 0)
            given |= 1 << i;
    if ((given & 3) != 3)
        return err_set(err, ERR_HOST,
                       "systemd delegates no memory and pids controllers to "
                       "this user");
    return 0;
}

int place_take(const char *runtime_dir, struct err *err)
{
    char name[64], socket[PATH_MAX], path[PATH_MAX - 64];
    unsigned salt = 0;

    if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) < 0)
        salt = (unsigned)clock_us();
    snprintf(name, sizeof(name), "karzer-%d-%08x.scope", (int)getpid(), salt);
    snprintf(socket, sizeof(socket), "%.4000s/systemd/private", runtime_dir);
    if (dbus_start_scope(socket, name, getpid(), err) < 0 ||
        wait_moved(name, path, sizeof(path), err) < 0)
        return -1;
    return make_ready(path, err);
}
