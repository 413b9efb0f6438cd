/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor - what this host can enforce: one table of checks, each tried for
 * real, in a child process where trying has an effect.
 */
#ifndef KARZER_CLI_DOCTOR_H
#define KARZER_CLI_DOCTOR_H

#include <stddef.h>

#include "src/core/dirs.h"

enum finding_state {
    FINDING_MISSING = 0,
    FINDING_PRESENT,
    FINDING_IDLE, /* not there, and not needed by this user */
};

struct finding {
    enum finding_state state;
    char seen[256];    /* what was found; "" when the name says it */
    char instead[160]; /* what takes its place meanwhile; "" when nothing */
    char fix[320];     /* what to do about it; "" when nothing */
};

/* Whose words a fix is told in; from /etc/os-release. */
enum distro { DISTRO_OTHER = 0, DISTRO_DEBIAN, DISTRO_UBUNTU, DISTRO_FEDORA };

struct doctor {
    enum distro distro;
    struct dirs dirs;
    char dirs_why[256]; /* why there are none; "" when there are */
};

struct doctor_check {
    const char *name;
    const char *gives; /* what karzer does with it */
    void (*look)(const struct doctor *d, struct finding *f);
};

/* Tables; each ends with a NULL name. */
extern const struct doctor_check doctor_namespaces[];
extern const struct doctor_check doctor_kernel[];
extern const struct doctor_check doctor_host[];
extern const struct doctor_check doctor_channels[];

/* ---- for the checks ---- */

void finding_present(struct finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void finding_idle(struct finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void finding_missing(struct finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void finding_fix(struct finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Fixes in the words of the distribution. */
void finding_fix_boot(struct finding *f, const struct doctor *d,
                      const char *parameter);
void finding_fix_package(struct finding *f, const struct doctor *d,
                         const char *package);

/* Runs `step` in a child that ends at once; what it returns (0 or an errno) is
 * returned. */
int doctor_try(int (*step)(const void *arg), const void *arg);

/* In such a child: a user namespace of its own where the caller maps to root.
 * 0 or an errno. */
int doctor_enter_userns(void);

/* A number from a file below /proc; -1: there is none. */
long doctor_number(const char *path);

#endif
