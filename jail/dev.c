/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dev - see dev.h. An ordinary user may not make nodes, and binds the host's; a
 * read-only mount does not hinder writing to a device.
 *
 * Without a memory cgroup zero is a second full: it reads the same, but cannot
 * be mapped, and so makes no shared memory that nobody counts.
 */
#include "jail/dev.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "jail/tree.h"
#include "src/base/auto.h"

static const struct node {
    const char *name;
    unsigned major, minor;
} nodes[] = {
    {"/dev/null", 1, 3},   {"/dev/zero", 1, 5},    {"/dev/full", 1, 7},
    {"/dev/random", 1, 8}, {"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0},
};

static const struct link {
    const char *name, *to;
} links[] = {
    {"dev/fd", "/proc/self/fd"},       {"dev/stdin", "/proc/self/fd/0"},
    {"dev/stdout", "/proc/self/fd/1"}, {"dev/stderr", "/proc/self/fd/2"},
    {"dev/ptmx", "pts/ptmx"},
};

static const struct node *node_for(const struct jail *j, size_t i)
{
    const struct node *zero = &nodes[1], *full = &nodes[2];

    if (&nodes[i] == zero && j->effective[HOLDER_MEMORY] == HOLDER_HOW_SAMPLED)
        return full;
    return &nodes[i];
}

static int nodes_make(const struct jail *j, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        if (mknodat(j->root_fd, nodes[i].name + 1, S_IFCHR | 0666,
                    makedev(node_for(j, i)->major, node_for(j, i)->minor)) < 0)
            return err_sys(err, "make %s", nodes[i].name);
    return 0;
}

static int nodes_bind(const struct jail *j, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        const char *name = nodes[i].name;

        if (mknodat(j->root_fd, name + 1, S_IFREG | 0666, 0) < 0)
            return err_sys(err, "make %s", name);
        if (tree_bind(node_for(j, i)->name, name + 1) < 0)
            return err_sys(err, "bind %s", name);
    }
    return 1;
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
    /* the first one decides: a container's root may make none */
    if (j->root && nodes_make(j, err) == 0)
        return 0;
    return nodes_bind(j, err);
}

/* Their number is the cell's own: what all may have is for the host. */
int dev_terminals(struct err *err)
{
    if (mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=0620,max=64") < 0)
        return err_sys(err, "mount /dev/pts");
    return 0;
}
