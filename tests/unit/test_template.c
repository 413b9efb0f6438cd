/* SPDX-License-Identifier: Apache-2.0 */
/* test_template - names, what is made of an archive, and the store. */
#include "src/template/import.h"
#include "src/template/put.h"
#include "src/template/store.h"
#include "src/template/tree.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

static char base[64];
static int dir = -1;

static int setup(void **state)
{
    (void)state;
    umask(022);
    snprintf(base, sizeof(base), "/tmp/karzer-test-template-XXXXXX");
    if (mkdtemp(base) == NULL)
        return -1;
    dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    fd_drop(&dir);
    return tree_remove(AT_FDCWD, base, NULL);
}

/* ---- names ---- */

static void a_name_is_one_component(void **state)
{
    static const char *const good[] = {"a",     "science", "py3.11",
                                       "a_b-c", "0",       "a..b"};
    static const char *const bad[] = {
        "",    ".",   "..",       ".a", "-a", "_a",  "A",     "a/b",
        "a b", "a\n", "\xc3\xa9", "a:", "/",  "../", "a\x7f", "a*"};
    char longest[66];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(template_name_ok(good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(template_name_ok(bad[i]));
    memset(longest, 'a', sizeof(longest));
    longest[64] = '\0';
    assert_true(template_name_ok(longest));
    longest[64] = 'a';
    longest[65] = '\0';
    assert_false(template_name_ok(longest));
}

static void names_of_archives_become_plain_or_are_refused(void **state)
{
    static const struct {
        const char *raw, *plain; /* NULL: refused */
    } rows[] = {
        {"a/b", "a/b"},         {"./a/b/", "a/b"},   {"a//b", "a/b"},
        {"a/./b", "a/b"},       {".", ""},           {"./", ""},
        {"a b", "a b"},         {"...", "..."},      {"..a", "..a"},
        {"\xff", "\xff"},       {"/a", NULL},        {"../a", NULL},
        {"a/..", NULL},         {"a/../b", NULL},    {"a\nb", NULL},
        {"a\x1b[0m", NULL},     {"a\x7f", NULL},     {"..", NULL},
        {"1/2/3/4", "1/2/3/4"}, {"1/2/3/4/5", NULL},
    };
    char out[PUT_PATH_MAX], name[300];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int r = put_path(rows[i].raw, 4, out, NULL);

        assert_int_equal(r, rows[i].plain == NULL ? -1 : 0);
        if (r == 0)
            assert_string_equal(out, rows[i].plain);
    }
    memset(name, 'n', 256);
    name[256] = '\0';
    assert_int_equal(put_path(name, 4, out, NULL), -1);
    name[255] = '\0';
    assert_int_equal(put_path(name, 4, out, NULL), 0);
}

static void places_that_a_cell_has_of_its_own_are_skipped(void **state)
{
    (void)state;
    assert_true(put_is_skipped("dev"));
    assert_true(put_is_skipped("dev/sda"));
    assert_true(put_is_skipped("home/user/x"));
    assert_false(put_is_skipped("device"));
    assert_false(put_is_skipped("usr/dev"));
    assert_false(put_is_skipped("var/tmp"));
}

/* ---- putting ---- */

static struct put put_new(void)
{
    return (struct put){.root = dir, .caps = put_caps_default};
}

static void nothing_is_made_through_a_link(void **state)
{
    struct put p = put_new();
    int fd = -1;

    (void)state;
    assert_int_equal(put_link(&p, "out", "/tmp", NULL), 0);
    assert_int_equal(put_link(&p, "up", "..", NULL), 0);
    assert_int_equal(put_dir(&p, "in", 0755, NULL), 0);
    assert_int_equal(put_link(&p, "round", "in", NULL), 0);
    assert_int_equal(put_file(&p, "out/x", 0644, &fd, NULL), -1);
    assert_int_equal(put_file(&p, "up/x", 0644, &fd, NULL), -1);
    assert_int_equal(put_file(&p, "round/x", 0644, &fd, NULL), -1);
    assert_int_equal(put_file(&p, "out", 0644, &fd, NULL), -1);
    assert_int_equal(put_dir(&p, "out", 0755, NULL), -1);
    assert_int_equal(put_hard(&p, "h", "out", NULL), -1);
    assert_int_equal(put_hard(&p, "h", "up/x", NULL), -1);
    assert_int_equal(fd, -1);
}

static void what_gives_rights_is_never_set(void **state)
{
    struct put p = put_new();
    AUTO(fd) int fd = -1;
    struct stat st;

    (void)state;
    assert_int_equal(put_file(&p, "a/b/s", 06777, &fd, NULL), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(put_dir(&p, "d", 03002, NULL), 0);
    assert_int_equal(fstatat(dir, "d", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(put_dir(&p, "d", 0755, NULL), 0);
    assert_int_equal(fstatat(dir, "d", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
}

static void caps_hold_to_the_last_entry_and_byte(void **state)
{
    struct put p = {.root = dir, .caps = {.bytes = 10, .entries = 3}};

    (void)state;
    assert_int_equal(put_count(&p, 4, NULL), 0);
    assert_int_equal(put_count(&p, 7, NULL), -1);
    assert_int_equal(put_count(&p, UINT64_MAX, NULL), -1);
    assert_int_equal(put_count(&p, 6, NULL), 0);
    assert_int_equal(put_count(&p, 0, NULL), 0);
    assert_int_equal(put_count(&p, 0, NULL), -1);
}

static void users_of_the_archive_stay_and_the_cells_is_added(void **state)
{
    struct put p = put_new();
    char text[512];
    int fd = -1;

    (void)state;
    assert_int_equal(put_file(&p, "etc/passwd", 0644, &fd, NULL), 0);
    assert_int_equal(fd_write_all(fd, "www:x:33:33::/:/bin/sh", 22), 0);
    fd_drop(&fd);
    assert_int_equal(put_link(&p, "etc/hosts", "/etc/shadow", NULL), 0);
    assert_int_equal(put_finish(&p, NULL), 0);
    assert_true(fd_read_text(dir, "etc/passwd", text, sizeof(text)) > 0);
    assert_string_equal(text, "www:x:33:33::/:/bin/sh\n"
                              "user:x:1000:1000:user:/home/user:/bin/sh\n");
    assert_true(fd_read_text(dir, "etc/hosts", text, sizeof(text)) > 0);
    assert_non_null(strstr(text, "karzer"));
    assert_true(fd_read_text(dir, "etc/group", text, sizeof(text)) > 0);
    assert_non_null(strstr(text, "user:x:1000:"));
    assert_int_equal(put_finish(&p, NULL), 0); /* as often as one likes */
}

/* ---- importing ---- */

static void add_entry(struct archive *a, const char *name, unsigned type,
                      const char *text)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, 04755);
    archive_entry_set_mtime(e, 1000, 0);
    archive_entry_set_size(e, type == AE_IFREG ? (la_int64_t)strlen(text) : 0);
    if (type == AE_IFLNK)
        archive_entry_set_symlink(e, text);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (type == AE_IFREG)
        archive_write_data(a, text, strlen(text));
    archive_entry_free(e);
}

/* A memfd with an archive of these; `filter` compresses it. */
static int archive_of(int (*filter)(struct archive *a), bool node)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    struct archive *a = archive_write_new();

    archive_write_set_format_pax(a);
    assert_int_equal(filter(a), ARCHIVE_OK);
    assert_int_equal(archive_write_open_fd(a, fd), ARCHIVE_OK);
    add_entry(a, "./usr/", AE_IFDIR, "");
    add_entry(a, "./usr/f", AE_IFREG, "text");
    add_entry(a, "./usr/l", AE_IFLNK, "/etc/passwd");
    add_entry(a, "./dev/null", AE_IFCHR, "");
    if (node)
        add_entry(a, "./usr/fifo", AE_IFIFO, "");
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void an_archive_becomes_a_tree_whatever_its_filter(void **state)
{
    int (*const filters[])(struct archive * a) = {
        archive_write_add_filter_none, archive_write_add_filter_gzip,
        archive_write_add_filter_xz, archive_write_add_filter_zstd,
        archive_write_add_filter_bzip2};
    char first[SHA256_HEX_SIZE] = "";
    struct tree_sum sum;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        char name[16];
        struct import im = {.put = put_new(), .fd = archive_of(filters[i], 0)};
        struct err err = {0};
        struct stat st;

        snprintf(name, sizeof(name), "tree%zu", i);
        assert_int_equal(mkdirat(dir, name, 0755), 0);
        im.put.root = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (import_run(&im, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(im.put.counts.files, 1);
        assert_int_equal(im.put.counts.skipped, 1);
        assert_int_equal(im.put.counts.privileges, 3);
        assert_int_equal(strlen(im.sha256), 64);
        assert_int_equal(fstatat(im.put.root, "usr/f", &st, 0), 0);
        assert_int_equal(st.st_mtime, 1000);
        assert_int_equal(tree_sum(im.put.root, &sum, NULL), 0);
        if (first[0] != '\0')
            assert_string_equal(sum.digest, first);
        memcpy(first, sum.digest, sizeof(first));
        close(im.put.root);
        close(im.fd);
    }
}

static void an_archive_with_a_node_is_refused_with_its_name(void **state)
{
    struct import im = {.put = put_new(),
                        .fd = archive_of(archive_write_add_filter_none, 1)};
    struct err err = {0};

    (void)state;
    assert_int_equal(import_run(&im, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "usr/fifo"));
    close(im.fd);
}

/* ---- trees ---- */

static void make_file(const char *path, const char *text, mode_t mode)
{
    AUTO(fd)
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
}

static void a_digest_is_of_names_modes_and_bytes(void **state)
{
    struct tree_sum a, b;

    (void)state;
    make_file("x", "1", 0644);
    make_file("y", "2", 0644);
    assert_int_equal(tree_sum(dir, &a, NULL), 0);
    assert_int_equal(a.files, 2);
    assert_int_equal(a.bytes, 2);
    make_file("x", "1", 0644); /* another time */
    assert_int_equal(tree_sum(dir, &b, NULL), 0);
    assert_string_equal(a.digest, b.digest);
    make_file("x", "1", 0755);
    assert_int_equal(tree_sum(dir, &b, NULL), 0);
    assert_string_not_equal(a.digest, b.digest);
    make_file("x", "3", 0644);
    assert_int_equal(tree_sum(dir, &b, NULL), 0);
    assert_string_not_equal(a.digest, b.digest);
    make_file("x", "1", 0644);
    assert_int_equal(renameat(dir, "y", dir, "z"), 0);
    assert_int_equal(tree_sum(dir, &b, NULL), 0);
    assert_string_not_equal(a.digest, b.digest);
}

static void a_tree_goes_and_what_its_links_lead_to_stays(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(mkdirat(dir, "kept", 0755), 0);
    make_file("kept/f", "x", 0644);
    assert_int_equal(mkdirat(dir, "t", 0755), 0);
    assert_int_equal(mkdirat(dir, "t/closed", 0700), 0);
    make_file("t/closed/f", "x", 0400);
    assert_int_equal(symlinkat("../kept", dir, "t/link"), 0);
    assert_int_equal(fchmodat(dir, "t/closed", 0, 0), 0);
    assert_int_equal(tree_remove(dir, "t", NULL), 0);
    assert_int_equal(fstatat(dir, "t", &st, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(fstatat(dir, "kept/f", &st, 0), 0);
    assert_int_equal(tree_remove(dir, "t", NULL), 0);
}

/* ---- the store ---- */

static void commit(const struct store *s, const char *name, const char *digest)
{
    char path[160];
    int work = -1;
    struct err err = {0};

    assert_int_equal(store_work(s, name, &work, &err), 0);
    snprintf(path, sizeof(path), "work/%s/tree", name);
    assert_int_equal(tree_remove(s->fd, path, NULL), 0);
    assert_int_equal(mkdirat(s->fd, path, 0755), 0);
    snprintf(path, sizeof(path), "work/%s/tree/root", name);
    assert_int_equal(mkdirat(s->fd, path, 0755), 0);
    if (store_commit(s, name, digest, &err) < 0)
        fail_msg("%s", err.text);
    close(work);
}

static bool has_tree(const struct store *s, const char *digest)
{
    char path[160];

    snprintf(path, sizeof(path), "trees/%s", digest);
    return faccessat(s->fd, path, F_OK, 0) == 0;
}

#define DIGEST_A                                                               \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST_B                                                               \
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void a_tree_in_use_is_kept_until_it_is_free(void **state)
{
    struct store s = {.fd = -1};
    struct store_gone gone;
    struct template *t = NULL;

    (void)state;
    assert_int_equal(template_open(base, "x", &t, NULL), -1);
    assert_int_equal(store_open(base, &s, NULL), 0);
    commit(&s, "x", DIGEST_A);
    assert_int_equal(template_open(base, "x", &t, NULL), 0);
    assert_string_equal(t->digest, DIGEST_A);
    assert_true(store_in_use(&s, DIGEST_A));
    assert_int_equal(store_rm(&s, "x", &gone, NULL), 0);
    assert_int_equal(gone.kept, 1);
    assert_true(has_tree(&s, DIGEST_A));
    assert_int_equal(store_gc(&s, &gone, NULL), 0);
    assert_int_equal(gone.trees, 0);
    template_close(t);
    assert_int_equal(store_gc(&s, &gone, NULL), 0);
    assert_int_equal(gone.trees, 1);
    assert_false(has_tree(&s, DIGEST_A));
    store_close(&s);
}

static void a_tree_with_another_name_stays_and_a_replaced_one_goes(void **state)
{
    struct store s = {.fd = -1};
    struct store_gone gone;

    (void)state;
    assert_int_equal(store_open(base, &s, NULL), 0);
    commit(&s, "x", DIGEST_A);
    commit(&s, "y", DIGEST_A);
    assert_int_equal(store_rm(&s, "x", &gone, NULL), 0);
    assert_true(has_tree(&s, DIGEST_A));
    commit(&s, "y", DIGEST_B);
    assert_false(has_tree(&s, DIGEST_A));
    assert_true(has_tree(&s, DIGEST_B));
    assert_int_equal(store_rm(&s, "x", &gone, NULL), -1);
    store_close(&s);
}

static void one_build_of_a_name_at_a_time(void **state)
{
    struct store s = {.fd = -1};
    struct store_gone gone;
    int first = -1, second = -1;
    struct err err = {0};

    (void)state;
    assert_int_equal(store_open(base, &s, NULL), 0);
    assert_int_equal(store_work(&s, "x", &first, NULL), 0);
    assert_int_equal(store_work(&s, "x", &second, &err), -1);
    assert_int_equal(err.code, ERR_HOST);
    assert_int_equal(store_work(&s, "y", &second, NULL), 0);
    close(second);
    assert_int_equal(store_gc(&s, &gone, NULL), 0);
    assert_int_equal(gone.works, 1); /* y's; x's is somebody's */
    assert_int_equal(faccessat(s.fd, "work/x", F_OK, 0), 0);
    close(first);
    store_close(&s);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_one_component),
        cmocka_unit_test(names_of_archives_become_plain_or_are_refused),
        cmocka_unit_test(places_that_a_cell_has_of_its_own_are_skipped),
        T(nothing_is_made_through_a_link),
        T(what_gives_rights_is_never_set),
        T(caps_hold_to_the_last_entry_and_byte),
        T(users_of_the_archive_stay_and_the_cells_is_added),
        T(an_archive_becomes_a_tree_whatever_its_filter),
        T(an_archive_with_a_node_is_refused_with_its_name),
        T(a_digest_is_of_names_modes_and_bytes),
        T(a_tree_goes_and_what_its_links_lead_to_stays),
        T(a_tree_in_use_is_kept_until_it_is_free),
        T(a_tree_with_another_name_stays_and_a_replaced_one_goes),
        T(one_build_of_a_name_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
