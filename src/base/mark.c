/* SPDX-License-Identifier: Apache-2.0 */
/* mark - see mark.h. The number is random, so no two cells have the same. */
#include "src/base/mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/slot.h"
#include "src/base/sys.h"

#define PREFIX "mark "
#define LIMIT "\nMax realtime timeout"
#define LEAST (UINT64_C(1) << 61) /* microseconds: for ever */
#define SWEEP_US 2000000u

int mark_make(int slot_fd, unsigned slot, uint64_t *mark, struct err *err)
{
    char note[64];
    struct rlimit have;

    if (sys_getrlimit(RLIMIT_RTTIME, &have) < 0 ||
        have.rlim_max != RLIM_INFINITY)
        return err_set(err, ERR_HOST, "RLIMIT_RTTIME is limited already");
    if (getrandom(mark, sizeof(*mark), GRND_NONBLOCK) != sizeof(*mark))
        return err_sys(err, "random numbers");
    *mark = (*mark >> 3) | LEAST;
    snprintf(note, sizeof(note), PREFIX "%" PRIu64 "\n", *mark);
    return slot_note(slot_fd, slot, note) < 0 ? err_sys(err, "note in the slot")
                                              : 0;
}

int mark_is_note(const char *note)
{
    return strncmp(note, PREFIX, strlen(PREFIX)) == 0;
}

/* Has its last thread ended? The first may have before. */
static int is_dead(const char *pid)
{
    char path[64], byte;
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%.16s/exe", pid);
    if (readlink(path, &byte, 1) >= 0 || errno != ENOENT)
        return 0;
    snprintf(path, sizeof(path), "/proc/%.16s/task", pid);
    return stat(path, &st) < 0 ||
           st.st_nlink <= 3; /* one, and two of its own */
}

/* The hard limit: "Max realtime timeout  SOFT  HARD  us". */
static int carries(const char *pid, uint64_t mark)
{
    char path[64], text[4096];
    uint64_t soft, hard;
    const char *at;

    if (is_dead(pid))
        return 0; /* and its parent has not looked yet */
    snprintf(path, sizeof(path), "/proc/%.16s/limits", pid);
    if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
        return 0;
    at = strstr(text, LIMIT);
    return at != NULL &&
           sscanf(at + strlen(LIMIT), "%" SCNu64 " %" SCNu64, &soft, &hard) ==
               2 &&
           hard == mark;
}

/* The descriptor first: then a pid that was used again is not ours. */
static int end_one(const char *name, uint64_t mark)
{
    AUTO(fd) int pidfd = -1;

    if (!carries(name, mark))
        return 0;
    pidfd = sys_pidfd_open((pid_t)strtol(name, NULL, 10), 0);
    if (pidfd < 0 || !carries(name, mark))
        return 0;
    sys_pidfd_send_signal(pidfd, SIGKILL);
    return 1;
}

/* How many there were; -1: not known. */
static int end_all(uint64_t mark)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int seen = 0;

    if (d == NULL)
        return -1;
    while ((e = readdir(d)) != NULL)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
            seen += end_one(e->d_name, mark);
    closedir(d);
    return seen;
}

int mark_sweep(const char *note)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    uint64_t mark, end = clock_us() + SWEEP_US;

    if (sscanf(note, PREFIX "%" SCNu64, &mark) != 1 || mark < LEAST)
        return -1;
    for (;;) {
        int n = end_all(mark);

        if (n <= 0)
            return n;
        if (clock_us() > end)
            return -1;
        nanosleep(&nap, NULL);
    }
}
