/* SPDX-License-Identifier: Apache-2.0 */
/*
 * userns - see userns.h. A table of the settings that refuse user namespaces;
 * what no setting tells (a seccomp profile around us) is found at the start.
 */
#include "src/tier/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define APPARMOR "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define PROFILE "/etc/apparmor.d/karzer-jail"

static const struct setting {
    const char *path;
    long refuses; /* the value that refuses */
    const char *fix;
} settings[] = {
    {"/proc/sys/user/max_user_namespaces", 0,
     "user.max_user_namespaces is 0; as root: "
     "sysctl user.max_user_namespaces=15000"},
    {"/proc/sys/kernel/unprivileged_userns_clone", 0,
     "kernel.unprivileged_userns_clone is 0; as root: "
     "sysctl kernel.unprivileged_userns_clone=1"},
    {APPARMOR, 1,
     "AppArmor refuses user namespaces to programs without a profile; as root: "
     "a profile with `userns,` for karzer-jail in " PROFILE
     " (docs/hosts.md), or "
     "sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
};

int userns_allowed(struct err *err)
{
    char text[32], *end;

    if (access("/proc/self/ns/user", F_OK) < 0)
        return err_set(err, ERR_HOST,
                       "this kernel has no user namespaces (or /proc is not "
                       "mounted)");
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        if (fd_read_text(AT_FDCWD, settings[i].path, text, sizeof(text)) <= 0)
            continue;
        if (strcmp(settings[i].path, APPARMOR) == 0 &&
            access(PROFILE, F_OK) == 0)
            continue; /* then it is tried */
        errno = 0;
        if (strtol(text, &end, 10) == settings[i].refuses && end != text)
            return err_set(err, ERR_HOST, "%s", settings[i].fix);
    }
    return 0;
}
