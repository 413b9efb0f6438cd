/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_kernel - what the kernel holds because a process asked it to, and no
 * figure of the process tells: its maps (each an object, also of pages that
 * nobody touched) and what its epoll instances watch; used by usage_proc.c
 * alone, where no control group counts. A process that lets nobody look has the
 * most that it can have.
 */
#include "jail/limiter.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define PAGE_KIB 4u
#define MAP_BYTES 200u   /* vm_area_struct, and its part of a tree */
#define MAPS_MOST 65530u /* vm.max_map_count, where it cannot be read */
#define WATCH_BYTES 200u /* epitem and eppoll_entry */

static uint64_t field(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

uint64_t kernel_maps_most(void)
{
    char text[32];
    uint64_t n = 0;

    if (fd_read_text(AT_FDCWD, "/proc/sys/vm/max_map_count", text,
                     sizeof(text)) > 0)
        n = strtoull(text, NULL, 10);
    return n > 0 ? n : MAPS_MOST;
}

static uint64_t maps_guess(const char *status, uint64_t most)
{
    uint64_t n = field(status, "\nVmSize:") / PAGE_KIB;

    return (n < most ? n : most) * MAP_BYTES;
}

/* Half of the descriptors watch the other half. */
static uint64_t watch_guess(const char *status)
{
    uint64_t half = field(status, "\nFDSize:") / 2;

    return half * half * WATCH_BYTES;
}

uint64_t kernel_guess(const char *status, uint64_t maps_most)
{
    return maps_guess(status, maps_most) + watch_guess(status);
}

/* Times that `sign` is in a file of /proc, up to `most`; -1: no look at it. */
static ssize_t count_signs(int dir, const char *file, char sign, size_t most)
{
    AUTO(fd) int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
    char text[16384];
    size_t count = 0;
    ssize_t n;

    if (fd < 0)
        return -1;
    while (count < most && (n = read(fd, text, sizeof(text))) != 0) {
        if (n < 0)
            return -1;
        for (ssize_t i = 0; i < n; i++)
            count += text[i] == sign;
    }
    return (ssize_t)count;
}

static bool is_epoll(int dir, const char *name)
{
    char link[32];
    ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);

    link[n < 0 ? 0 : n] = '\0';
    return strcmp(link, "anon_inode:[eventpoll]") == 0;
}

/* A line of fdinfo for each that is watched, besides four. */
static ssize_t watches(int proc, size_t most)
{
    int at = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = at < 0 ? NULL : fdopendir(at);
    size_t count = 0;
    struct dirent *e;
    char name[32];
    ssize_t n;

    if (d == NULL) {
        if (at >= 0)
            close(at);
        return -1;
    }
    while (count < most && (e = readdir(d)) != NULL) {
        if (!is_epoll(dirfd(d), e->d_name))
            continue;
        snprintf(name, sizeof(name), "fdinfo/%.16s", e->d_name);
        n = count_signs(proc, name, '\n', most);
        count += n < 0 ? 0 : (size_t)n;
    }
    closedir(d);
    return (ssize_t)count;
}

uint64_t kernel_exact(pid_t pid, const char *status, uint64_t maps_most,
                      uint64_t enough)
{
    char path[32];
    AUTO(fd) int proc = -1;
    uint64_t sum;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return 0;
    n = count_signs(proc, "maps", '\n', enough / MAP_BYTES);
    sum = n < 0 ? maps_guess(status, maps_most) : (uint64_t)n * MAP_BYTES;
    if (sum > enough)
        return sum;
    n = watches(proc, enough / WATCH_BYTES);
    return sum + (n < 0 ? watch_guess(status) : (uint64_t)n * WATCH_BYTES);
}
