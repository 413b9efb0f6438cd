/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest - see manifest.h. Called by build.c after the tree is whole, and by
 * the commands that show templates. Texts of the tree become JSON only where
 * they are plain (dpkg.h).
 */
#include "src/template/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/rfc3339.h"
#include "src/base/sha256.h"
#include "src/base/sys.h"
#include "src/core/output.h"
#include "src/template/dpkg.h"

#define NAME "manifest.json"
#define MANIFEST_MAX (64u << 20)

struct packages {
    json_t *list;
    int debs;
};

/* Of the package's file, where the build kept it: name_version_arch.deb, with
 * a ':' written %3a. */
static bool deb_hash(int debs, const struct dpkg_package *p,
                     char hex[SHA256_HEX_SIZE])
{
    const char *epoch = strchr(p->version, ':');
    char name[3 * DPKG_FIELD_SIZE + 16], block[65536];
    AUTO(fd) int fd = -1;
    struct sha256 h;
    ssize_t n;

    if (debs < 0)
        return false;
    snprintf(name, sizeof(name), "%s_%.*s%s%s_%s.deb", p->name,
             epoch == NULL ? 0 : (int)(epoch - p->version), p->version,
             epoch == NULL ? "" : "%3a", epoch == NULL ? p->version : epoch + 1,
             p->architecture);
    fd = openat(debs, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    sha256_init(&h);
    while ((n = fd_read_full(fd, block, sizeof(block))) > 0)
        sha256_add(&h, block, (size_t)n);
    if (n < 0)
        return false;
    sha256_hex(&h, hex);
    return true;
}

static int package_add(const struct dpkg_package *p, void *ctx, struct err *err)
{
    struct packages *all = ctx;
    char hex[SHA256_HEX_SIZE];
    json_t *one = json_pack("{s:s,s:s,s:s,s:s?}", "name", p->name, "version",
                            p->version, "architecture", p->architecture,
                            "sha256", deb_hash(all->debs, p, hex) ? hex : NULL);

    if (one == NULL || json_array_append_new(all->list, one) < 0)
        return err_set(err, ERR_HOST, "out of memory");
    return 0;
}

/* A tree that dpkg did not make has no packages. */
static int packages_read(int root, struct packages *all, struct err *err)
{
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC,
                                 .resolve =
                                     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    AUTO(fd) int fd = sys_openat2(root, "var/lib/dpkg/status", &how);
    AUTO(mem) char *text = NULL;
    struct stat st;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    if (st.st_size > (off_t)DPKG_TEXT_MAX)
        return err_set(err, ERR_LIMIT, "its list of packages is too long");
    text = malloc((size_t)st.st_size + 1);
    if (text == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    n = fd_read_full(fd, text, (size_t)st.st_size);
    if (n < 0)
        return err_sys(err, "read its list of packages");
    return dpkg_status(text, (size_t)n, package_add, all, err);
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *manifest_make(int root, const struct manifest_source *source,
                      const struct tree_sum *sum,
                      const struct put_counts *counts, struct err *err)
{
    struct packages all = {.list = json_array(), .debs = source->debs};
    char time[RFC3339_SIZE];
    json_t *m;

    if (all.list == NULL || packages_read(root, &all, err) < 0) {
        json_decref(all.list);
        return NULL;
    }
    rfc3339_format(rfc3339_now(), time);
    m = json_pack(
        "{s:i,s:s,s:s,s:{s:s,s:o,s:s?},s:o,s:o,s:o,s:{s:o,s:o,s:o},s:o}",
        "version", 1, "sha256", sum->digest, "created", time, "source", "kind",
        source->kind, "value", text_json(source->value), "archive_sha256",
        source->sha256, "entries", number(sum->entries), "files",
        number(sum->files), "bytes", number(sum->bytes), "left_out",
        "privileges", number(counts->privileges), "attributes",
        number(counts->attributes), "names", number(counts->skipped),
        "packages", all.list);
    if (m == NULL)
        err_set(err, ERR_HOST, "out of memory");
    return m;
}

int manifest_write(int dir, const json_t *manifest, struct err *err)
{
    AUTO(mem) char *text = json_dumps(manifest, JSON_INDENT(1));
    AUTO(fd) int fd = -1;

    if (text == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    fd = openat(dir, NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0644);
    if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0 ||
        fd_write_all(fd, "\n", 1) < 0)
        return err_sys(err, "write " NAME);
    return 0;
}

json_t *manifest_read(int dir, struct err *err)
{
    AUTO(fd) int fd = openat(dir, NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    AUTO(mem) char *text = NULL;
    json_error_t why;
    struct stat st;
    json_t *m;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > (off_t)MANIFEST_MAX) {
        err_sys(err, "read " NAME);
        return NULL;
    }
    text = malloc((size_t)st.st_size + 1);
    n = text == NULL ? -1 : fd_read_full(fd, text, (size_t)st.st_size);
    m = n < 0 ? NULL : json_loadb(text, (size_t)n, 0, &why);
    if (m == NULL)
        err_set(err, ERR_HOST, NAME ": it is damaged");
    return m;
}
