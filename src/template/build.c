/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build - see build.h. What is left in work/NAME by a build that was killed is
 * used by the next one of the same source, and removed by any other.
 */
#include "src/template/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/path.h"
#include "src/template/child.h"
#include "src/template/confine.h"
#include "src/template/manifest.h"
#include "src/template/packages.h"
#include "src/template/say.h"
#include "src/template/tree.h"

#define SOURCE_MAX 65536u

static const char *const kinds[] = {[BUILD_NONE] = "",
                                    [BUILD_PACKAGES] = "packages",
                                    [BUILD_DIR] = "dir",
                                    [BUILD_TAR] = "tar"};

struct making {
    const struct store *store;
    const struct build *b;
    int work; /* work/NAME, locked */
    int deb;  /* work/NAME/make: what packages.h has, or -1 */
    int tree; /* work/NAME/tree */
    int root; /* work/NAME/tree/root */
    struct child_result read;
};

enum build_kind build_kind(const char *name)
{
    for (size_t i = BUILD_PACKAGES; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i], name) == 0)
            return (enum build_kind)i;
    return BUILD_NONE;
}

static int open_dir(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A new one of ours, or the one that is there. */
static int make_dir(int dir, const char *name, mode_t mode, struct err *err)
{
    int fd;

    if (mkdirat(dir, name, mode) < 0 && errno != EEXIST)
        return err_sys(err, "make %s", name);
    fd = open_dir(dir, name);
    return fd < 0 ? err_sys(err, "open %s", name) : fd;
}

/* ---- what an earlier build left ---- */

static int source_is(const struct making *m, const char *source)
{
    AUTO(mem) char *text = malloc(SOURCE_MAX);

    return text != NULL &&
           fd_read_text(m->work, "source", text, SOURCE_MAX) > 0 &&
           strcmp(text, source) == 0;
}

static int source_put(const struct making *m, const char *source,
                      struct err *err)
{
    AUTO(fd)
    int fd =
        openat(m->work, "source",
               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 || fd_write_all(fd, source, strlen(source)) < 0)
        return err_sys(err, "write source");
    return 0;
}

static int work_begin(struct making *m, struct err *err)
{
    AUTO(mem) char *source = NULL;

    if (asprintf(&source, "%s\n%s\n", kinds[m->b->kind], m->b->value) < 0)
        return err_set(err, ERR_HOST, "out of memory");
    if (!source_is(m, source) && (tree_remove(m->work, "make", err) < 0 ||
                                  source_put(m, source, err) < 0))
        return -1;
    if (tree_remove(m->work, "tree", err) < 0)
        return -1;
    m->tree = make_dir(m->work, "tree", 0755, err);
    if (m->tree < 0)
        return -1;
    m->root = make_dir(m->tree, "root", 0755, err);
    if (m->root < 0)
        return -1;
    if (fchmod(m->root, 0755) < 0 ||
        (geteuid() == 0 && fchown(m->root, TEMPLATE_UID, TEMPLATE_UID) < 0))
        return err_sys(err, "prepare the tree");
    return 0;
}

/* ---- the sources ---- */

static int from_packages(struct making *m, struct err *err)
{
    AUTO(fd) int tar = -1;

    m->deb = make_dir(m->work, "make", 0755, err);
    if (m->deb < 0)
        return -1;
    if (faccessat(m->deb, PACKAGES_TAR, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        say("template %s: using the packages of a build that did not end",
            m->b->name);
    else if (packages_make(m->deb, m->b->value, err) < 0)
        return -1;
    tar = openat(m->deb, PACKAGES_TAR, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (tar < 0)
        return err_sys(err, "open " PACKAGES_TAR);
    return child_import(tar, m->root, m->b->name, &m->read, err);
}

/* "-" is stdin. A link that a cell may have made is not followed. */
static int tar_open(const char *path, struct err *err)
{
    AUTO(fd) int at = -1;
    char link[32];
    int fd;

    if (strcmp(path, "-") == 0)
        fd = dup(STDIN_FILENO);
    else if ((at = path_open(path, err)) < 0)
        return err_wrap(err, "--tar");
    else {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
        fd = open(link, O_RDONLY | O_CLOEXEC);
    }
    return fd < 0 ? err_sys(err, "--tar %s", path) : fd;
}

static int from_tar(struct making *m, struct err *err)
{
    AUTO(fd) int tar = tar_open(m->b->value, err);
    struct stat st;

    if (tar < 0)
        return -1;
    if (fstat(tar, &st) < 0)
        return err_sys(err, "--tar %s", m->b->value);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID,
                       "--tar %s: a directory; --dir takes "
                       "one",
                       m->b->value);
    if (child_import(tar, m->root, m->b->name, &m->read, err) < 0)
        return err_wrap(err, "--tar %s", m->b->value);
    return 0;
}

/* What the packer says is why the archive ended. */
static int from_dir(struct making *m, struct err *err)
{
    AUTO(fd) int at = path_open(m->b->value, err);
    AUTO(fd) int dir = -1;
    AUTO(fd) int archive = -1;
    struct err why = {0};
    pid_t pid = -1;
    int says = -1, r, packed;

    if (at < 0)
        return err_wrap(err, "--dir");
    dir = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "--dir %s", m->b->value);
    if (child_pack(dir, m->store->fd, &archive, &pid, &says, err) < 0)
        return -1;
    r = child_import(archive, m->root, m->b->name, &m->read, err);
    fd_drop(&archive);
    packed = child_packed(pid, says, &why);
    if (packed < 0 && (r == 0 || why.sys != EPIPE))
        *err = why;
    return r < 0 || packed < 0 ? err_wrap(err, "--dir %s", m->b->value) : 0;
}

/* ---- the end ---- */

static json_t *describe(struct making *m, struct tree_sum *sum, struct err *err)
{
    AUTO(fd)
    int debs = m->deb < 0 ? -1 : open_dir(m->deb, PACKAGES_DEBS);
    const struct manifest_source source = {.kind = kinds[m->b->kind],
                                           .value = m->b->value,
                                           .sha256 = m->read.sha256,
                                           .debs = debs};
    json_t *manifest;

    say("template %s: checking what it became", m->b->name);
    if (tree_sum(m->root, sum, err) < 0)
        return NULL;
    manifest = manifest_make(m->root, &source, sum, &m->read.counts, err);
    if (manifest == NULL)
        return NULL;
    if (manifest_write(m->tree, manifest, err) < 0) {
        json_decref(manifest);
        return NULL;
    }
    return manifest;
}

static void work_end(struct making *m)
{
    static const char *const all[] = {"make", "tree", "source"};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        tree_remove(m->work, all[i], NULL);
}

/* The work of a source that has to be read anew is of no use any more. */
static void work_fail(struct making *m)
{
    tree_remove(m->work, "tree", NULL);
    tree_remove(m->work, "make/" PACKAGES_TAR, NULL);
    if (m->b->kind != BUILD_PACKAGES)
        work_end(m);
}

static int make(struct making *m, json_t **manifest, struct err *err)
{
    static int (*const from[])(struct making * m, struct err * err) = {
        [BUILD_PACKAGES] = from_packages,
        [BUILD_DIR] = from_dir,
        [BUILD_TAR] = from_tar,
    };
    struct tree_sum sum;

    if (work_begin(m, err) < 0 || from[m->b->kind](m, err) < 0)
        return -1;
    *manifest = describe(m, &sum, err);
    if (*manifest == NULL)
        return -1;
    if (store_commit(m->store, m->b->name, sum.digest, err) < 0) {
        json_decref(*manifest);
        *manifest = NULL;
        return -1;
    }
    return 0;
}

int build_run(const struct store *s, const struct build *b, json_t **manifest,
              struct err *err)
{
    struct making m = {.store = s, .b = b, .deb = -1, .tree = -1, .root = -1};
    int r;

    if (template_name_check(b->name, err) < 0 ||
        store_work(s, b->name, &m.work, err) < 0)
        return -1;
    r = make(&m, manifest, err);
    if (r < 0)
        work_fail(&m);
    else
        work_end(&m);
    store_work_end(s, b->name);
    fd_drop(&m.root);
    fd_drop(&m.tree);
    fd_drop(&m.deb);
    fd_drop(&m.work);
    return r;
}
