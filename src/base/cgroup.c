/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup - finds where groups can be made; see cgroup.h.
 *
 * v1: below this process's own group of each hierarchy, so that a limit which
 * an operator put around karzer holds for its cells too. v2: see cgroup_v2.c.
 * The usual mount points are tried first, /proc/self/mountinfo only after that.
 */
#include "src/base/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/cgroup_find.h"
#include "src/base/fd.h"

/* In the order of enum cgroup_part. */
static const char *const names[CGROUP_PART_COUNT] = {"pids", "memory", "cpu",
                                                     "cpuacct"};

/* What /proc/self/cgroup says of us. */
struct own {
    char text[8192];
    const char *v1[CGROUP_PART_COUNT]; /* our path, NULL: not a v1 hierarchy */
    const char *v2;
};

int cgroup_list_has(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = list; *at != '\0';) {
        size_t n = strcspn(at, ", \n");

        if (n == len && memcmp(at, name, n) == 0)
            return 1;
        at += n;
        at += strspn(at, ", \n");
    }
    return 0;
}

/* A line "4:cpu,cpuacct:/path"; cuts it into strings. */
static void own_line(struct own *own, char *line)
{
    char *list = strchr(line, ':');
    char *path = list == NULL ? NULL : strchr(list + 1, ':');

    if (path == NULL || path[1] != '/')
        return;
    *path++ = '\0';
    list++;
    if (list[0] == '\0' && line[0] == '0')
        own->v2 = path;
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        if (cgroup_list_has(list, names[i]))
            own->v1[i] = path;
}

static int own_read(struct own *own, struct err *err)
{
    char *save = NULL;

    memset(own->v1, 0, sizeof(own->v1));
    own->v2 = NULL;
    if (fd_read_text(AT_FDCWD, "/proc/self/cgroup", own->text,
                     sizeof(own->text)) < 0)
        return err_sys(err, "read /proc/self/cgroup");
    for (char *line = strtok_r(own->text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save))
        own_line(own, line);
    return 0;
}

/* A directory of this kind of file system, O_PATH; -1: it is not. */
static int open_kind(const char *path, unsigned long magic)
{
    AUTO(fd) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct statfs sf;

    if (fd < 0 || fstatfs(fd, &sf) < 0 || (unsigned long)sf.f_type != magic)
        return -1;
    return fd_take(&fd);
}

/* One line of mountinfo: is it a mount of `fs` with this controller (NULL:
 * any)? Then its root and mount point, as strings in `line`. */
static int mount_line(char *line, const char *fs, const char *controller,
                      char **root, char **point)
{
    char *dash = strstr(line, " - ");
    char *field[5] = {NULL};
    char *save = NULL;
    const char *type, *options;

    if (dash == NULL)
        return 0;
    *dash = '\0';
    for (int i = 0; i < 5; i++)
        field[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
    type = strtok_r(dash + 3, " ", &save);
    strtok_r(NULL, " ", &save);
    options = strtok_r(NULL, " ", &save);
    if (field[4] == NULL || options == NULL || strcmp(type, fs) != 0)
        return 0;
    if (controller != NULL && !cgroup_list_has(options, controller))
        return 0;
    *root = field[3];
    *point = field[4];
    return 1;
}

/* Below a mount's root, is `path` visible? Then what is left of it. */
static const char *below(const char *root, const char *path)
{
    size_t len = strlen(root);

    if (strcmp(root, "/") == 0)
        return path;
    if (strncmp(root, path, len) != 0)
        return NULL;
    if (path[len] == '\0')
        return "/";
    return path[len] == '/' ? path + len : NULL;
}

int cgroup_mount_find(const char *fs, const char *controller, const char *path,
                      struct cgroup_mount *out)
{
    AUTO(file) FILE *f = fopen("/proc/self/mountinfo", "re");
    AUTO(mem) char *line = NULL;
    size_t room = 0;

    while (f != NULL && getline(&line, &room, f) > 0) {
        char *root, *point;
        const char *rest;
        int n;

        if (!mount_line(line, fs, controller, &root, &point))
            continue;
        rest = below(root, path);
        if (rest == NULL)
            continue;
        n = snprintf(out->point, sizeof(out->point), "%s", point);
        if (n < 0 || (size_t)n >= sizeof(out->point))
            continue;
        out->rest = rest;
        if (strcmp(root, "/") == 0)
            root = "";
        n = snprintf(out->root, sizeof(out->root), "%s", root);
        if (n < 0 || (size_t)n >= sizeof(out->root))
            continue;
        return 0;
    }
    return -1;
}

unsigned cgroup_depth(const char *path)
{
    unsigned n = 0;

    for (; *path != '\0'; path++)
        if (path[0] == '/' && path[1] != '/' && path[1] != '\0')
            n++;
    return n;
}

/* Our own group in a v1 hierarchy: in the usual place, or where mountinfo says.
 * *rest: its path below the mount. */
static int open_v1(const char *name, const char *path, const char **rest)
{
    char full[CGROUP_PATH_MAX + 64];
    struct cgroup_mount mount;
    int n = snprintf(full, sizeof(full), "/sys/fs/cgroup/%s%s", name, path);
    int fd;

    if (n < 0 || (size_t)n >= sizeof(full))
        return -1;
    *rest = path;
    fd = open_kind(full, CGROUP_SUPER_MAGIC);
    if (fd >= 0)
        return fd;
    if (cgroup_mount_find("cgroup", name, path, &mount) < 0)
        return -1;
    *rest = mount.rest;
    n = snprintf(full, sizeof(full), "%s%s", mount.point, mount.rest);
    if (n < 0 || (size_t)n >= sizeof(full))
        return -1;
    return open_kind(full, CGROUP_SUPER_MAGIC);
}

/* The tree of this hierarchy, when an earlier part has found it: parts that
 * share a hierarchy share the line, so the path is the same string. */
static int shared_tree(const struct cgroup_host *host, const struct own *own,
                       int part)
{
    for (int i = 0; i < part; i++)
        if (own->v1[i] == own->v1[part] && host->of[i] >= 0)
            return host->of[i];
    return -1;
}

static void find_v1(struct cgroup_host *host, const struct own *own, int part)
{
    struct cgroup_tree *tree = &host->tree[host->count];
    const char *path = own->v1[part];
    AUTO(fd) int fd = -1;
    const char *rest;
    int shared = shared_tree(host, own, part);

    if (shared >= 0) {
        host->of[part] = shared;
        host->tree[shared].parts |= 1u << part;
        return;
    }
    host->why[part] = "its own group is outside what it can see";
    if (strstr(path, "/..") != NULL || strlen(path) >= sizeof(tree->path))
        return;
    host->why[part] = "the cgroup hierarchy is not mounted";
    fd = open_v1(names[part], path, &rest);
    if (fd < 0)
        return;
    host->why[part] = "this user may not make groups below its own";
    /* Root finds out by making one: the question costs as much. */
    if (geteuid() != 0 && faccessat(fd, ".", W_OK, AT_EACCESS) < 0)
        return;
    host->why[part] = NULL;
    tree->version = 1;
    tree->parts = 1u << part;
    tree->depth = cgroup_depth(rest);
    memcpy(tree->path, path, strlen(path) + 1);
    tree->parent_fd = fd_take(&fd);
    host->of[part] = (int)host->count++;
}

/* The v2 tree: in the usual places of unified and hybrid hosts. */
static int v2_mount(const char *path, struct cgroup_mount *out)
{
    static const char *const usual[] = {"/sys/fs/cgroup",
                                        "/sys/fs/cgroup/unified"};

    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        AUTO(fd) int fd = open_kind(usual[i], CGROUP2_SUPER_MAGIC);

        if (fd < 0)
            continue;
        snprintf(out->point, sizeof(out->point), "%s", usual[i]);
        out->root[0] = '\0';
        out->rest = path;
        return 0;
    }
    return cgroup_mount_find("cgroup2", NULL, path, out);
}

static int tree_open_v2(struct cgroup_tree *tree)
{
    char full[CGROUP_PATH_MAX + sizeof((struct cgroup_mount){0}.point)];
    struct cgroup_mount mount;

    if (v2_mount(tree->path, &mount) < 0)
        return -1;
    snprintf(full, sizeof(full), "%s%s", mount.point, mount.rest);
    tree->depth = cgroup_depth(mount.rest);
    return open_kind(full, CGROUP2_SUPER_MAGIC);
}

int cgroup_tree_open(struct cgroup_tree *tree)
{
    const char *rest;

    tree->parent_fd = -1;
    if (tree->version == 2)
        tree->parent_fd = tree_open_v2(tree);
    for (int i = 0; tree->version == 1 && i < CGROUP_PART_COUNT; i++) {
        if ((tree->parts >> i & 1) == 0)
            continue;
        tree->parent_fd = open_v1(names[i], tree->path, &rest);
        if (tree->parent_fd >= 0)
            tree->depth = cgroup_depth(rest);
        break;
    }
    return tree->parent_fd < 0 ? -1 : 0;
}

static void find_v2(struct cgroup_host *host, const struct own *own,
                    unsigned want)
{
    struct cgroup_tree *tree = &host->tree[host->count];
    const char *why = "no cgroup hierarchy is mounted";
    struct cgroup_mount mount;

    tree->parent_fd = -1;
    if (own->v2 != NULL && strstr(own->v2, "/..") == NULL &&
        v2_mount(own->v2, &mount) == 0)
        why = cgroup_v2_find(&mount, want, tree);
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if ((want & (1u << i)) == 0)
            continue;
        if (tree->parent_fd >= 0 && (tree->parts & (1u << i)) != 0)
            host->of[i] = (int)host->count;
        else
            host->why[i] = why;
    }
    if (tree->parent_fd >= 0)
        host->count++;
}

int cgroup_find(struct cgroup_host *host, struct err *err)
{
    unsigned missing = 0;
    struct own own;

    memset(host, 0, sizeof(*host));
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        host->of[i] = -1;
        host->tree[i].parent_fd = -1;
    }
    if (own_read(&own, err) < 0)
        return -1;
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (own.v1[i] != NULL)
            find_v1(host, &own, i);
        else
            missing |= 1u << i;
    }
    if (missing != 0)
        find_v2(host, &own, missing);
    return 0;
}

void cgroup_close(struct cgroup_host *host)
{
    for (unsigned i = 0; i < host->count; i++)
        fd_drop(&host->tree[i].parent_fd);
    host->count = 0;
}
