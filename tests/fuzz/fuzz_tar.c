/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The importer of templates: any bytes as an archive, unpacked into a directory
 * of its own with small caps. Whatever they are: nothing beside that directory
 * has changed, all in it is a directory, a file or a link without a bit that
 * gives rights, and the caps hold. And the same bytes as dpkg's list.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <dirent.h>
#include <locale.h>
#include <unistd.h>

#include "src/template/dpkg.h"
#include "src/template/import.h"
#include "src/template/tree.h"

#define BYTES 65536u
#define ENTRIES 32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char base[64];
static int outside = -1;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void clean(void)
{
    tree_remove(AT_FDCWD, base, NULL);
}

static void prepare(void)
{
    if (outside >= 0)
        return;
    umask(022);
    setlocale(LC_CTYPE, "C.UTF-8");
    snprintf(base, sizeof(base), "/dev/shm/fuzz-tar-XXXXXX");
    must(mkdtemp(base) != NULL);
    atexit(clean);
    outside = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(outside >= 0);
}

/* Beside "in" there is nothing. */
static void only_in(void)
{
    int fd = openat(outside, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fdopendir(fd);
    struct dirent *e;

    must(d != NULL);
    while ((e = readdir(d)) != NULL)
        must(e->d_name[0] == '.' || strcmp(e->d_name, "in") == 0);
    closedir(d);
}

/* Files and directories have no bit of 07022. */
static void no_rights(int dir)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fdopendir(copy);
    struct dirent *e;
    struct stat st;

    must(d != NULL);
    while ((e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        must(fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0);
        must(S_ISLNK(st.st_mode) || (st.st_mode & 07022) == 0);
        if (S_ISDIR(st.st_mode)) {
            int sub = openat(dir, e->d_name,
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            must(sub >= 0);
            no_rights(sub);
            close(sub);
        }
    }
    closedir(d);
}

static void import(const uint8_t *data, size_t size)
{
    struct import im = {
        .put = {.caps = {.bytes = BYTES, .entries = ENTRIES, .depth = 8}}};
    struct tree_sum sum;
    struct err err = {0};

    must(mkdirat(outside, "in", 0755) == 0);
    im.put.root = openat(outside, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    im.fd = memfd_create("archive", MFD_CLOEXEC);
    must(im.put.root >= 0 && im.fd >= 0);
    must(write(im.fd, data, size) == (ssize_t)size);
    lseek(im.fd, 0, SEEK_SET);
    if (import_run(&im, &err) < 0)
        must(err.code != ERR_NONE && err.text[0] != '\0');
    close(im.fd);
    only_in();
    no_rights(im.put.root);
    must(tree_sum(im.put.root, &sum, NULL) == 0);
    must(im.put.counts.entries <= ENTRIES && im.put.counts.bytes <= BYTES);
    close(im.put.root);
    must(tree_remove(outside, "in", NULL) == 0);
}

static int package(const struct dpkg_package *p, void *ctx, struct err *err)
{
    (void)ctx;
    (void)err;
    must(p->name[0] != '\0' && strpbrk(p->name, " \n\x1b/") == NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prepare();
    import(data, size);
    dpkg_status((const char *)data, size, package, NULL, NULL);
    return 0;
}
