/* SPDX-License-Identifier: Apache-2.0 */
/* doctor - see doctor.h: what the checks share. */
#include "src/cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fd.h"

static void put(char *out, size_t size, const char *fmt, va_list ap)
{
    vsnprintf(out, size, fmt, ap);
}

#define FINDING(name, value)                                                   \
    void name(struct finding *f, const char *fmt, ...)                         \
    {                                                                          \
        va_list ap;                                                            \
                                                                               \
        f->state = value;                                                      \
        va_start(ap, fmt);                                                     \
        put(f->seen, sizeof(f->seen), fmt, ap);                                \
        va_end(ap);                                                            \
    }

FINDING(finding_present, FINDING_PRESENT)
FINDING(finding_idle, FINDING_IDLE)
FINDING(finding_missing, FINDING_MISSING)

void finding_fix(struct finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put(f->fix, sizeof(f->fix), fmt, ap);
    va_end(ap);
}

void finding_fix_boot(struct finding *f, const struct doctor *d,
                      const char *parameter)
{
    switch (d->distro) {
    case DISTRO_DEBIAN:
    case DISTRO_UBUNTU:
        finding_fix(f,
                    "add %s to GRUB_CMDLINE_LINUX in /etc/default/grub, then "
                    "update-grub and reboot",
                    parameter);
        return;
    case DISTRO_FEDORA:
        finding_fix(f, "grubby --update-kernel=ALL --args=%s, then reboot",
                    parameter);
        return;
    case DISTRO_OTHER:
        break;
    }
    finding_fix(f, "add %s to the kernel's command line and reboot", parameter);
}

void finding_fix_package(struct finding *f, const struct doctor *d,
                         const char *package)
{
    switch (d->distro) {
    case DISTRO_DEBIAN:
    case DISTRO_UBUNTU:
        finding_fix(f, "apt install %s", package);
        return;
    case DISTRO_FEDORA:
        finding_fix(f, "dnf install %s", package);
        return;
    case DISTRO_OTHER:
        break;
    }
    finding_fix(f, "install %s", package);
}

int doctor_try(int (*step)(const void *arg), const void *arg)
{
    pid_t pid = fork();
    int status;

    if (pid < 0)
        return errno;
    if (pid == 0)
        _exit(step(arg) & 0xff); /* every errno of Linux fits */
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int doctor_enter_userns(void)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (unshare(CLONE_NEWUSER) < 0)
        return errno;
    if (fd_write_text(AT_FDCWD, "/proc/self/setgroups", "deny") < 0)
        return errno;
    snprintf(map, sizeof(map), "0 %u 1", uid);
    if (fd_write_text(AT_FDCWD, "/proc/self/uid_map", map) < 0)
        return errno;
    snprintf(map, sizeof(map), "0 %u 1", gid);
    return fd_write_text(AT_FDCWD, "/proc/self/gid_map", map) < 0 ? errno : 0;
}

long doctor_number(const char *path)
{
    char text[32], *end;
    long n;

    if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
        return -1;
    n = strtol(text, &end, 10);
    return end == text ? -1 : n;
}
