/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dev - see dev.h. Nodes are bound from the host, since an ordinary user may
 * not make any; a read-only mount does not hinder writing to a device.
 */
#include "jail/dev.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/tree.h"
#include "src/base/auto.h"

static const char *const nodes[] = {"null",   "zero",    "full",
                                    "random", "urandom", "tty"};

static const struct link {
    const char *name, *to;
} links[] = {
    {"dev/fd", "/proc/self/fd"},       {"dev/stdin", "/proc/self/fd/0"},
    {"dev/stdout", "/proc/self/fd/1"}, {"dev/stderr", "/proc/self/fd/2"},
    {"dev/ptmx", "pts/ptmx"},
};

static int node_bind(const struct jail *j, const char *name, struct err *err)
{
    char host[32];
    const char *inside = host + 1;
    int tree;

    snprintf(host, sizeof(host), "/dev/%s", name);
    tree = tree_clone(AT_FDCWD, host);
    if (tree < 0)
        return err_sys(err, "%s", host);
    if (mknodat(j->root_fd, inside, S_IFREG | 0666, 0) < 0) {
        close(tree);
        return err_sys(err, "make %s", host);
    }
    if (tree_attach(tree, j->root_fd, inside) < 0)
        return err_sys(err, "bind %s", host);
    return 0;
}

int dev_make(const struct jail *j, struct err *err)
{
    static const char *const dirs[] = {"dev", "dev/shm", "dev/pts"};

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdirat(j->root_fd, dirs[i], 0755) < 0)
            return err_sys(err, "make /%s", dirs[i]);
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        if (symlinkat(links[i].to, j->root_fd, links[i].name) < 0)
            return err_sys(err, "make /%s", links[i].name);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        if (node_bind(j, nodes[i], err) < 0)
            return -1;
    return 0;
}

int dev_terminals(struct err *err)
{
    if (mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=0620") < 0)
        return err_sys(err, "mount /dev/pts");
    return 0;
}
