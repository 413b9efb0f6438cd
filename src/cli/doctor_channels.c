/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_channels - what of this host lets neighbours tell what others do, by
 * time alone. No sandbox on a shared kernel closes these: the operator does, by
 * settings of the host; see SECURITY.md. Called by cmd_doctor.c; changes
 * nothing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fd.h"
#include "src/cli/doctor.h"

#define CPU "/sys/devices/system/cpu/"

static void look_smt(const struct doctor *d, struct finding *f)
{
    long active = doctor_number(CPU "smt/active");

    (void)d;
    if (active == 0) {
        finding_present(f, "no processor has a second thread");
    } else if (active < 0) {
        finding_idle(f, "this kernel does not tell");
    } else {
        finding_missing(f, "two threads share each core, and its caches");
        finding_fix(f, "where neighbours do not trust each other: echo off "
                       ">" CPU "smt/control, or boot with nosmt");
    }
}

/* A cell takes no part in it (jail/seccomp.def), but others may. */
static void look_merging(const struct doctor *d, struct finding *f)
{
    long run = doctor_number("/sys/kernel/mm/ksm/run");

    (void)d;
    if (run != 1) {
        finding_present(f, "pages are not merged");
        return;
    }
    finding_missing(f, "KSM merges equal pages; a cell's are not among them");
    finding_fix(f, "echo 2 >/sys/kernel/mm/ksm/run");
}

static int vulnerable(DIR *dir, char *names, size_t size)
{
    struct dirent *e;
    int count = 0;
    size_t at = 0;

    while ((e = readdir(dir)) != NULL) {
        char text[256];
        int n;

        if (e->d_name[0] == '.' ||
            fd_read_text(dirfd(dir), e->d_name, text, sizeof(text)) <= 0 ||
            strncmp(text, "Vulnerable", 10) != 0)
            continue;
        count++;
        n = snprintf(names + at, size - at, " %.40s", e->d_name);
        at = n > 0 && (size_t)n < size - at ? at + (size_t)n : size - 1;
    }
    return count;
}

static void look_flaws(const struct doctor *d, struct finding *f)
{
    DIR *dir = opendir(CPU "vulnerabilities");
    char names[160] = "";
    int count;

    (void)d;
    if (dir == NULL) {
        finding_idle(f, "this kernel does not tell");
        return;
    }
    count = vulnerable(dir, names, sizeof(names));
    closedir(dir);
    if (count == 0) {
        finding_present(f, "none is open that this kernel knows");
        return;
    }
    finding_missing(f, "open:%s", names);
    finding_fix(f, "the processor's microcode (Debian: intel-microcode or "
                   "amd64-microcode), and no mitigations=off at boot");
}

/* clang-format off */
const struct doctor_check doctor_channels[] = {
    {"SMT", "no neighbour on the same core", look_smt},
    {"merging of pages", "no neighbour's memory is told by time", look_merging},
    {"processor flaws", "no memory is read by speculation", look_flaws},
    {NULL, NULL, NULL},
};
/* clang-format on */
