/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etc - see etc.h. The host's /etc is listed once, and each name is looked up
 * in the table, so that what is not there costs nothing.
 */
#include "jail/etc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/tree.h"
#include "src/base/sys.h"
#include "src/base/auto.h"
#include "src/base/fd.h"

/* clang-format off */
static const char *const taken[] = {
#define ETC(name, why) name,
#include "jail/etc.def"
#undef ETC
};

static const struct file {
    const char *name, *text;
} files[] = {
    {"hostname", "karzer\n"},
    {"hosts", "127.0.0.1\tlocalhost karzer\n"
              "::1\tlocalhost ip6-localhost ip6-loopback\n"},
    {"nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\n"
                      "hosts: files dns\nnetworks: files\nprotocols: files\n"
                      "services: files\nethers: files\nrpc: files\n"},
    {"resolv.conf", "# no network\n"},
};
/* clang-format on */

static int put(int dir, const char *name, const char *text, struct err *err)
{
    AUTO(fd)
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
        return err_sys(err, "write /etc/%s", name);
    return 0;
}

int etc_users(const struct jail *j, int dir, struct err *err)
{
    char text[512];

    snprintf(text, sizeof(text),
             "root:x:0:0:root:/root:/usr/sbin/nologin\n"
             "user:x:%u:%u:user:" JAIL_HOME ":/bin/sh\n"
             "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
             j->seen_uid, j->seen_gid);
    if (put(dir, "passwd", text, err) < 0)
        return -1;
    snprintf(text, sizeof(text),
             "root:x:0:\ntty:x:5:\nuser:x:%u:\nnogroup:x:65534:\n",
             j->seen_gid);
    return put(dir, "group", text, err);
}

static int is_taken(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        const char *row = taken[i];
        size_t n;

        if (row[0] != name[0])
            continue;
        n = strlen(row);
        if (row[n - 1] == '*' ? strncmp(row, name, n - 1) == 0
                              : strcmp(row, name) == 0)
            return 1;
    }
    return 0;
}

/* Does a link of /etc lead to where the cell has the same as the host? */
static int link_holds(const char *to)
{
    static const char *const same[] = {"/usr/", "../usr/", "../proc/",
                                       "/etc/alternatives/", "alternatives/"};

    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (strncmp(to, same[i], strlen(same[i])) == 0)
            return strstr(to + 3, "..") == NULL;
    return 0;
}

static int copy_link(int host, int dir, const char *name)
{
    char to[PATH_MAX];
    ssize_t n = readlinkat(host, name, to, sizeof(to) - 1);

    if (n < 0)
        return 0;
    to[n] = '\0';
    return link_holds(to) && symlinkat(to, dir, name) == 0;
}

/* A directory entry's type, links followed; 0: it is not there for us. */
static mode_t type_of(int host, const struct dirent64 *d)
{
    struct stat st;

    if (d->d_type == DT_DIR)
        return S_IFDIR;
    if (d->d_type == DT_REG)
        return S_IFREG;
    return fstatat(host, d->d_name, &st, 0) < 0 ? 0 : st.st_mode & S_IFMT;
}

static int take(int host, const struct dirent64 *d, struct err *err)
{
    char path[NAME_MAX + 8];
    const char *inside = path + 1;
    mode_t type = type_of(host, d);
    int r;

    if (type != S_IFDIR && type != S_IFREG)
        return 0;
    snprintf(path, sizeof(path), "/etc/%s", d->d_name);
    r = type == S_IFDIR ? mkdir(inside, 0755)
                        : mknod(inside, S_IFREG | 0644, 0);
    if (r < 0)
        return err_sys(err, "make %s", path);
    /* what vanishes meanwhile is empty */
    if (tree_bind(path, inside) < 0 && errno != ENOENT)
        return err_sys(err, "bind %s", path);
    return 0;
}

static int take_all(int host, int dir, struct err *err)
{
    _Alignas(struct dirent64) char list[8192];
    ssize_t len;

    while ((len = sys_getdents64(host, list, sizeof(list))) > 0) {
        const struct dirent64 *d;

        for (ssize_t at = 0; at < len; at += d->d_reclen) {
            d = (const void *)(list + at);
            if (!is_taken(d->d_name))
                continue;
            if (d->d_type == DT_LNK && copy_link(host, dir, d->d_name))
                continue;
            if (take(host, d, err) < 0)
                return -1;
        }
    }
    return len < 0 ? err_sys(err, "list /etc") : 0;
}

int etc_make(const struct jail *j, struct err *err)
{
    AUTO(fd) int host = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO(fd) int dir = -1;

    if (host < 0)
        return err_sys(err, "/etc");
    if (mkdirat(j->root_fd, "etc", 0755) < 0)
        return err_sys(err, "make /etc");
    dir = openat(j->root_fd, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "/etc");
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (put(dir, files[i].name, files[i].text, err) < 0)
            return -1;
    if (etc_users(j, dir, err) < 0)
        return -1;
    return take_all(host, dir, err);
}
