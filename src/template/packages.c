/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packages - see packages.h. In the namespaces, the build's directory is /tmp:
 * one path for all that mmdebstrap writes, whatever rights the caller's own
 * directories have. The files of packages are kept in a directory that is
 * mounted as apt's, so that a build that was killed goes on where it was.
 */
#include "src/template/packages.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/strs.h"
#include "src/template/confine.h"
#include "src/template/program.h"
#include "src/template/sources.h"
#include "src/template/tree.h"

#define MMDEBSTRAP "/usr/bin/mmdebstrap"
#define PART "root.tar.part"
#define ARCHIVES "\"$1/var/cache/apt/archives\""

/* clang-format off */
#define DEVICES "for d in null zero full random urandom tty; do "

static const char *const options[] = {
    MMDEBSTRAP, "--mode=root", "--variant=essential", "--format=tar",
    "--aptopt=APT::Sandbox::User \"root\"",
    "--aptopt=Acquire::Retries \"3\"",
    "--dpkgopt=force-unsafe-io",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
    /* its /dev needs ids that there are not: ours has the harmless devices */
    "--skip=download/empty,essential/unlink,cleanup/apt/cache,"
        "chroot/mount/dev,chroot/mount/sys",
    "--setup-hook=mkdir -p " ARCHIVES " /tmp/" PACKAGES_DEBS "/partial && "
        "mount --bind /tmp/" PACKAGES_DEBS " " ARCHIVES,
    "--extract-hook=" DEVICES "touch \"$1/dev/$d\" && "
        "mount --bind \"/dev/$d\" \"$1/dev/$d\" || exit; done",
    "--customize-hook=umount " ARCHIVES " && "
        DEVICES "umount \"$1/dev/$d\" || exit; done",
};
/* clang-format on */

static int word_check(const char *word, size_t len, struct err *err)
{
    bool good = len > 0 && len < 128 && isalnum((unsigned char)word[0]);

    for (size_t i = 0; i < len; i++)
        good = good && (isalnum((unsigned char)word[i]) ||
                        strchr("+-.:=~_", word[i]) != NULL);
    if (good)
        return 0;
    return err_set(err, ERR_INVALID,
                   "--packages: \"%.*s\" is no name of a package",
                   (int)(len < 64 ? len : 64), word);
}

int packages_check(const char *list, struct err *err)
{
    for (;;) {
        size_t n = strcspn(list, ",");

        if (word_check(list, n, err) < 0)
            return -1;
        list += n;
        if (*list++ == '\0')
            return 0;
    }
}

static int command_make(struct strs *argv, const char *list, struct err *err)
{
    struct strs files = {0};
    int r = sources_find(&files, err);

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(options); i++)
        r = strs_add(argv, options[i], err);
    if (r == 0)
        r = strs_addf(argv, err, "--include=%s", list);
    if (r == 0) /* the suite is the one of the sources */
        r = strs_add(argv, "", err);
    if (r == 0)
        r = strs_add(argv, "/tmp/" PART, err);
    for (size_t i = 0; r == 0 && i < files.len; i++)
        r = strs_add(argv, files.at[i], err);
    strs_fini(&files);
    return r;
}

/* ---- in the children ---- */

static int private_tmp(const char *path)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(path, "/tmp", NULL, MS_BIND, NULL) < 0)
        return -1;
    return 0;
}

static int path_of(int dir, char path[PATH_MAX])
{
    char link[32];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
    n = readlink(link, path, PATH_MAX - 1);
    if (n > 0)
        path[n] = '\0';
    return n > 0 ? 0 : -1;
}

static int map_id(const char *file, unsigned id)
{
    char text[32];

    snprintf(text, sizeof(text), "0 %u 1\n", id);
    return fd_write_text(AT_FDCWD, file, text);
}

/* Root gives up what it is first: no right over the host goes along. */
static int spaces_enter(int dir, struct err *err)
{
    bool root = geteuid() == 0;
    char path[PATH_MAX]; /* a descriptor is of the mount namespace we leave */
    unsigned uid, gid;

    if (path_of(dir, path) < 0)
        return err_sys(err, "the build's directory");
    if (root && (unshare(CLONE_NEWNS) < 0 || private_tmp(path) < 0))
        return err_sys(err, "a mount namespace");
    if (confine_identity(err) < 0)
        return -1;
    uid = geteuid();
    gid = getegid();
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ||
        unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                CLONE_NEWUTS) < 0)
        return err_sys(err, "packages are installed in a user namespace, and "
                            "this host refuses it (`karzer doctor` knows "
                            "why)");
    if (fd_write_text(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 ||
        map_id("/proc/self/uid_map", uid) < 0 ||
        map_id("/proc/self/gid_map", gid) < 0)
        return err_sys(err, "map ids");
    if (!root && private_tmp(path) < 0)
        return err_sys(err, "a private /tmp");
    return 0;
}

static int become(const struct strs *argv, struct err *err)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct strs env = {0};

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        confine_fake_owners(err) < 0)
        return -1;
    if (null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0 || chdir("/tmp") < 0)
        return err_sys(err, "descriptors");
    umask(022);
    if (program_env(&env, err) < 0)
        return -1;
    program_become(argv->at, &env);
    return err_sys(err, "%s", argv->at[0]);
}

static void tell(const struct err *err)
{
    (void)!write(2, "karzer: ", 8);
    (void)!write(2, err->text, strlen(err->text));
    (void)!write(2, "\n", 1);
}

/* The first process of the pid namespace: with it, everything there ends. */
static int outer(int dir, const struct strs *argv, struct err *err)
{
    pid_t pid;

    if (spaces_enter(dir, err) < 0)
        return -1;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    pid = fork();
    if (pid < 0)
        return err_sys(err, "fork");
    if (pid == 0) {
        become(argv, err);
        tell(err);
        _exit(126);
    }
    return program_wait(pid, "mmdebstrap", err);
}

/* ---- in karzer-template ---- */

static int run(int dir, const struct strs *argv, struct err *err)
{
    pid_t pid = fork();

    if (pid < 0)
        return err_sys(err, "fork");
    if (pid == 0) {
        int r = outer(dir, argv, err);

        if (r < 0)
            tell(err);
        _exit(r < 0 ? 1 : 0);
    }
    return program_wait(pid, "mmdebstrap", err);
}

/* The trees of builds that were killed. */
static void clean(int dir)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        if (strncmp(e->d_name, "mmdebstrap.", 11) == 0)
            tree_remove(dir, e->d_name, NULL);
    if (d != NULL)
        closedir(d);
}

int packages_make(int dir, const char *list, struct err *err)
{
    struct strs argv = {0};
    int r;

    if (access(MMDEBSTRAP, X_OK) < 0)
        return err_set(err, ERR_HOST,
                       "--packages needs mmdebstrap; as root: apt-get install "
                       "mmdebstrap");
    if (geteuid() == 0 && fchown(dir, TEMPLATE_UID, TEMPLATE_UID) < 0)
        return err_sys(err, "give the build its directory");
    clean(dir);
    r = command_make(&argv, list, err);
    if (r == 0)
        r = run(dir, &argv, err);
    strs_fini(&argv);
    if (r == 0 && renameat(dir, PART, dir, PACKAGES_TAR) < 0)
        r = err_sys(err, "mmdebstrap made no archive");
    return r;
}
