/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hand-off is taken whole or refused: one broken field each, and a memfd that
 * somebody could still change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jail/handoff.h"
#include "src/base/auto.h"
#include "tests/unit/handoff_bytes.h"

#define AT(field) offsetof(struct handoff_bytes, field)
#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int check(const struct handoff_bytes *b)
{
    struct err err = {0};
    int r = handoff_check(b, sizeof(*b), &err);

    if (r < 0) {
        assert_int_equal(err.code, ERR_INVALID);
        assert_true(strlen(err.text) > 10);
    }
    return r;
}

static void a_good_handoff_is_taken(void **state)
{
    const struct handoff_bytes b = handoff_bytes_good();

    (void)state;
    assert_int_equal(check(&b), 0);
    assert_string_equal(handoff_text(&b.head, b.head.agent), "/agent");
    assert_string_equal(
        handoff_text(&b.head, handoff_mount(&b.head, 1)->target), "/srv/x");
}

/* clang-format off */
static const struct bad {
    size_t at;
    uint32_t value;
} bad_words[] = {
    {AT(head.magic), 1},
    {AT(head.version), HOLDER_VERSION + 1},
    {AT(head.size), 0},
    {AT(head.size), sizeof(struct handoff_bytes) - 1},
    {AT(head.size), sizeof(struct handoff_bytes) + 1},
    {AT(head.size), UINT32_MAX},
    {AT(head.tier), HOLDER_TIER_NONE},
    {AT(head.tier), 77},
    {AT(head.uid), 0},
    {AT(head.gid), 0},
    {AT(head.uid), UINT32_MAX},
    {AT(head.root), 1},
    {AT(head.mount_count), HOLDER_MOUNTS_MAX + 1},
    {AT(head.mount_count), UINT32_MAX},
    {AT(head.mount_count), 200},
    {AT(head.mounts), 0},
    {AT(head.mounts), 4},
    {AT(head.mounts), AT(mount) + 1},
    {AT(head.mounts), sizeof(struct handoff_bytes) - 4},
    {AT(head.mounts), UINT32_MAX - 3},
    {AT(head.agent), 0},
    {AT(head.agent), 8},
    {AT(head.agent), sizeof(struct handoff_bytes)},
    {AT(head.agent), UINT32_MAX},
    {AT(head.agent), AT(agent) + 1}, /* no slash */
    {AT(head.agent), AT(agent) + 6}, /* empty */
    {AT(head.scratch), 1},
    {AT(mount[0].source), 0},
    {AT(mount[0].target), UINT32_MAX},
    {AT(mount[1].flags), 8},
    {AT(mount[1].flags), HOLDER_MOUNT_KEEP},
    {AT(mount[1].size), 1},
    {AT(mount[1].mode), 0755},
    {AT(head.flags), HOLDER_BARE_SYS},
    {AT(head.flags), 4},
    {AT(head.hostname), UINT32_MAX},
    {AT(head.seen_uid), 1},
    {AT(head.seen_gid), 1},
    {AT(mount[0].owner_uid), UINT32_MAX},
    {AT(mount[0].owner_gid), UINT32_MAX},
    {AT(head.may_lack), 1u << HOLDER_MECHANISM_COUNT},
    {AT(head.limits.mem_bytes), 0},
    {AT(head.limits.disk_bytes), 0},
    {AT(head.limits.inodes), 0},
    {AT(head.limits.cpu_milli), 0},
    {AT(head.limits.pids), 0},
    {AT(head.limits.nofile), 0},
    {AT(head.limits.mem_bytes) + 4, UINT32_MAX},
    {AT(head.limits.disk_bytes) + 4, UINT32_MAX},
    {AT(head.limits.pids) + 4, 1},
    {AT(head.limits.wall_ms) + 4, UINT32_MAX},
};
/* clang-format on */

static void each_broken_word_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_words); i++) {
        struct handoff_bytes b = handoff_bytes_good();

        memcpy((char *)&b + bad_words[i].at, &bad_words[i].value,
               sizeof(bad_words[i].value));
        if (check(&b) == 0)
            fail_msg("row %zu was taken", i);
    }
}

static void a_target_that_is_not_plain_is_refused(void **state)
{
    static const char *const targets[] = {
        "/",     "//", "/a/", "/a//b", "/a/./b", "/a/../b", "/..",
        "/a/..", "/.", "a",   "",      "./a",    "//a",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        struct handoff_bytes b = handoff_bytes_good();

        strncpy(b.target, targets[i], sizeof(b.target) - 1);
        b.target[strlen(targets[i])] = '\0';
        if (check(&b) == 0)
            fail_msg("\"%s\" was taken", targets[i]);
    }
}

static void names_that_begin_with_dots_are_plain(void **state)
{
    static const char *const targets[] = {"/...", "/.a", "/..a/b", "/a../.b"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        struct handoff_bytes b = handoff_bytes_good();

        strncpy(b.target, targets[i], sizeof(b.target) - 1);
        assert_int_equal(check(&b), 0);
    }
}

static void a_string_without_an_end_is_refused(void **state)
{
    struct handoff_bytes b = handoff_bytes_good();

    (void)state;
    memset(b.last, 'x', sizeof(b.last));
    b.last[0] = '/';
    assert_int_equal(check(&b), -1);
}

static void bytes_that_end_early_are_refused(void **state)
{
    const struct handoff_bytes b = handoff_bytes_good();

    (void)state;
    for (size_t size = 0; size < sizeof(b); size++)
        assert_int_equal(handoff_check(&b, size, NULL), -1);
}

static int memfd_with(const void *data, size_t size, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void only_a_sealed_memfd_is_opened(void **state)
{
    static const int missing[] = {F_SEAL_WRITE, F_SEAL_SHRINK, F_SEAL_GROW,
                                  F_SEAL_SEAL};
    const struct handoff_bytes b = handoff_bytes_good();
    const struct holder_handoff *h = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
        AUTO(fd) int fd = memfd_with(&b, sizeof(b), SEALS & ~missing[i]);

        assert_int_equal(handoff_open(fd, &h, NULL), -1);
        assert_null(h);
    }
    AUTO(fd) int fd = memfd_with(&b, sizeof(b), SEALS);

    assert_int_equal(handoff_open(fd, &h, NULL), 0);
    assert_memory_equal(h, &b, sizeof(b));
}

static void what_is_no_memfd_is_not_opened(void **state)
{
    AUTO(fd) int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    AUTO(fd) int empty = memfd_with("", 0, SEALS);
    AUTO(fd) int big = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const struct holder_handoff *h = NULL;

    (void)state;
    assert_int_equal(ftruncate(big, HOLDER_HANDOFF_MAX + 1), 0);
    assert_int_equal(fcntl(big, F_ADD_SEALS, SEALS), 0);
    assert_int_equal(handoff_open(null, &h, NULL), -1);
    assert_int_equal(handoff_open(empty, &h, NULL), -1);
    assert_int_equal(handoff_open(big, &h, NULL), -1);
    assert_int_equal(handoff_open(-1, &h, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_handoff_is_taken),
        cmocka_unit_test(each_broken_word_is_refused),
        cmocka_unit_test(a_target_that_is_not_plain_is_refused),
        cmocka_unit_test(names_that_begin_with_dots_are_plain),
        cmocka_unit_test(a_string_without_an_end_is_refused),
        cmocka_unit_test(bytes_that_end_early_are_refused),
        cmocka_unit_test(only_a_sealed_memfd_is_opened),
        cmocka_unit_test(what_is_no_memfd_is_not_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
