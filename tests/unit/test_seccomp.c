/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allow list as the kernel sees it: children load each variant and make
 * calls. What a call answers is told by its errno; no call may kill. (That each
 * program says what the table says is proved at build time by seccomp_gen.)
 */
#include "jail/seccomp.h"

#include <asm/sockios.h>
#include <asm/unistd_64.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/auto.h"
#include "tests/unit/seccomp_child.h"
#include "tests/unit/seccomp_rows.h"

static int as_wanted(int want, int got)
{
    if (want == NEWER && got == ENOSYS)
        return 1;
    if (want != PASS && want != NEWER)
        return got == want;
    return got == 0 || got == ENOENT || got == EBADF || got == EINVAL ||
           got == EFAULT || got == ESRCH || got == ENXIO;
}

struct rows {
    const struct row *at;
    size_t len;
    unsigned variant;
};

static int all_rows(const void *arg)
{
    const struct rows *rows = arg;
    int bad = 0;

    for (size_t i = 0; i < rows->len; i++) {
        const struct row *r = &rows->at[i];
        int want = (rows->variant & r->bits) != 0 ? r->with : r->want;
        int got = (int)call(r);
        if (as_wanted(want, got))
            continue;
        fprintf(stderr, "%s (variant %u): %s, wanted %s\n", r->what,
                rows->variant, strerrorname_np(got),
                want < 0 ? "the kernel's" : strerrorname_np(want));
        bad++;
    }
    return bad > 0;
}

static void walk(const struct row *rows, size_t len)
{
    static const unsigned variants[] = {
        0,          MEM,      AFF,           MEM | AFF, OLD,         BARE,
        BARE | OLD, FALLBACK, BARE | SHARED, SHARED,    SHARED | OLD};

    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        struct rows all = {rows, len, variants[v]};
        in_child(variants[v], all_rows, &all);
    }
}

static void a_namespace_is_never_made_or_entered(void **state)
{
    (void)state;
    walk(namespaces, ARRAY_LEN(namespaces));
}

static void a_socket_is_local_tcp_udp_or_route(void **state)
{
    (void)state;
    walk(sockets, ARRAY_LEN(sockets));
}

static void a_command_is_judged_by_its_low_32_bits(void **state)
{
    (void)state;
    walk(commands, ARRAY_LEN(commands));
}

static void no_device_is_made_and_in_a_shared_tree_no_setuid(void **state)
{
    (void)state;
    walk(files, ARRAY_LEN(files));
}

static int has_bits(int dirfd, const char *name)
{
    struct stat st;

    return fstatat(dirfd, name, &st, 0) == 0 &&
           (st.st_mode & (S_ISUID | S_ISGID)) != 0;
}

/* How many of these made a name with one of the bits. */
static int tries_for_bits(int dirfd)
{
    int file = openat(dirfd, "plain", O_CREAT | O_RDWR, 0755);
    int temp = openat(dirfd, ".", O_TMPFILE | O_RDWR, 06755);

    openat(dirfd, "open", O_CREAT | O_RDWR, 06755);
    mkdirat(dirfd, "mkdir", 06755);
    mknodat(dirfd, "mknod", S_IFREG | 06755, 0);
    mknodat(dirfd, "fifo", S_IFIFO | 06755, 0);
    fchmod(file, 06755);
    if (temp >= 0)
        linkat(temp, "", dirfd, "temp", AT_EMPTY_PATH);
    return has_bits(dirfd, "plain") + has_bits(dirfd, "open") +
           has_bits(dirfd, "mkdir") + has_bits(dirfd, "mknod") +
           has_bits(dirfd, "fifo") + has_bits(dirfd, "temp");
}

static int makes_none(const void *arg)
{
    return tries_for_bits(*(const int *)arg);
}

static int makes_some(const void *arg)
{
    return tries_for_bits(*(const int *)arg) < 4;
}

static void in_new_directory(unsigned variant, int (*body)(const void *))
{
    static const char *const names[] = {"plain", "open", "mknod", "fifo",
                                        "temp"};
    char dir[] = "/tmp/karzer-seccomp.XXXXXX";

    assert_non_null(mkdtemp(dir));
    int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dirfd >= 0);
    in_child(variant, body, &dirfd);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlinkat(dirfd, names[i], 0);
    unlinkat(dirfd, "mkdir", AT_REMOVEDIR);
    close(dirfd);
    assert_int_equal(rmdir(dir), 0);
}

static void setuid_bits_land_only_where_no_tree_is_shared(void **state)
{
    (void)state;
    in_new_directory(0, makes_some);
    in_new_directory(SHARED, makes_none);
    in_new_directory(BARE, makes_none);
    in_new_directory(FALLBACK, makes_none);
}

static void a_mount_that_can_be_written_is_a_shared_tree(void **state)
{
    struct {
        struct holder_handoff h;
        struct holder_mount m[2];
    } all = {.h = {.mounts = sizeof(all.h), .mount_count = 2}};

    (void)state;
    all.m[0].flags = HOLDER_MOUNT_OPTIONAL;
    assert_int_equal(seccomp_variant_of(&all.h), 0);
    all.m[1].flags = HOLDER_MOUNT_RW | HOLDER_MOUNT_OWNED;
    assert_int_equal(seccomp_variant_of(&all.h), SECCOMP_SHARED_TREE);
    all.h.mount_count = 1;
    assert_int_equal(seccomp_variant_of(&all.h), 0);
    all.h.mount_count = 0;
    assert_int_equal(seccomp_variant_of(&all.h), 0);
}

static void memory_that_nobody_counts_is_refused(void **state)
{
    (void)state;
    walk(resources, ARRAY_LEN(resources));
}

static void an_unknown_or_x32_call_is_absent(void **state)
{
    (void)state;
    walk(unknown, ARRAY_LEN(unknown));
}

/* Arguments of all ones: no pointer is valid, no flag is. */
static int refused_rows(const void *arg)
{
    static const struct {
        const char *what;
        long nr;
        int want;
    } refused[] = {
#define ALLOW(name)
#define REFUSE(name) {#name, __NR_##name, EPERM},
#define ABSENT(name) {#name, __NR_##name, ENOSYS},
#include "jail/seccomp.def"
    };
    int bad = 0;

    (void)arg;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct row r = {refused[i].what,
                        refused[i].nr,
                        {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull},
                        refused[i].want};
        struct rows one = {&r, 1, 0};
        bad += all_rows(&one);
    }
    return bad > 0;
}

static void every_refused_row_answers_its_errno(void **state)
{
    (void)state;
    for (unsigned v = 0; v < SECCOMP_OBSERVE; v++)
        in_child(v, refused_rows, NULL);
}

static long int80(long nr)
{
    long rc;

    __asm__ volatile("int $0x80" : "=a"(rc) : "a"(nr) : "memory", "cc");
    return rc;
}

static int i386_answers(const void *arg)
{
    (void)arg;
    return int80(20) != -ENOSYS || int80(21) != -ENOSYS; /* getpid, mount */
}

static void a_32_bit_call_is_absent(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(int80(20) != getpid());
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        skip(); /* a kernel without them */
    for (unsigned v = 0; v < SECCOMP_OBSERVE; v++)
        in_child(v, i386_answers, NULL);
}

static int ordinary_work(const void *arg)
{
    char name[] = "/tmp/karzer-seccomp.XXXXXX";
    int fd = mkstemp(name), p[2], status;
    pid_t pid = fork();

    (void)arg;
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "echo x | cat >/dev/null", (char *)NULL);
        _exit(127);
    }
    int bad = fd < 0 || pid < 0 || waitpid(pid, &status, 0) != pid ||
              status != 0 || unlink(name) != 0 || pipe(p) != 0 ||
              write(p[1], "x", 1) != 1 || kill(getpid(), 0) != 0;
    return bad;
}

static void ordinary_work_is_done_in_every_variant(void **state)
{
    (void)state;
    for (unsigned v = 0; v < SECCOMP_VARIANTS; v++)
        if (!seccomp_asks(v & ~(unsigned)SECCOMP_OBSERVE)) /* nobody answers */
            in_child(v, ordinary_work, NULL);
}

static int owner_by_ioctl(const void *arg)
{
    (void)arg;
    return ioctl(0, FIOSETOWN, NULL) == 0 || errno != EPERM;
}

static void every_way_to_signal_asks_the_holder(void **state)
{
    static const struct row rows[] = {
        {"kill", __NR_kill, {1, 0}},
        {"tkill", __NR_tkill, {1, 0}},
        {"tgkill", __NR_tgkill, {1, 1, 0}},
        {"rt_sigqueueinfo", __NR_rt_sigqueueinfo, {1}},
        {"rt_tgsigqueueinfo", __NR_rt_tgsigqueueinfo, {1}},
        {"pidfd_send_signal", __NR_pidfd_send_signal, {9999}},
        {"F_SETOWN", __NR_fcntl, {0, HIGH | F_SETOWN, 1}},
        {"F_SETOWN_EX", __NR_fcntl, {0, F_SETOWN_EX}},
    };

    (void)state;
    the_holder_is_asked(SECCOMP_SUPERVISE, rows, ARRAY_LEN(rows));
    in_child(SECCOMP_SUPERVISE, owner_by_ioctl, NULL);
}

static void without_a_memory_cgroup_shared_memory_asks_the_holder(void **state)
{
    static const struct row rows[] = {
        {"shared", __NR_mmap, {0, 4096, 3, 0x21, ~0ull}},
        {"shared, checked", __NR_mmap, {0, 4096, 3, 0x23, ~0ull}},
        {"shared, at a place", __NR_mmap, {0, 4096, 3, 0x100031, ~0ull}},
        {"shared, high bits", __NR_mmap, {0, 4096, 3, HIGH | 0x4021, ~0ull}},
    };

    (void)state;
    the_holder_is_asked(MEM, rows, ARRAY_LEN(rows));
}

static void what_makes_no_sense_is_not_loaded(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(seccomp_load(HOLDER_TIER_NONE, 0, NULL, &err), -1);
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_int_equal(
        seccomp_load(HOLDER_TIER_PROCESS, SECCOMP_VARIANTS, NULL, &err), -1);
    assert_int_equal(
        seccomp_load(HOLDER_TIER_PROCESS, SECCOMP_SUPERVISE, NULL, &err), -1);
    assert_int_equal(seccomp_load(HOLDER_TIER_CONTAINER, BARE, NULL, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_namespace_is_never_made_or_entered),
        cmocka_unit_test(a_socket_is_local_tcp_udp_or_route),
        cmocka_unit_test(a_command_is_judged_by_its_low_32_bits),
        cmocka_unit_test(no_device_is_made_and_in_a_shared_tree_no_setuid),
        cmocka_unit_test(setuid_bits_land_only_where_no_tree_is_shared),
        cmocka_unit_test(a_mount_that_can_be_written_is_a_shared_tree),
        cmocka_unit_test(memory_that_nobody_counts_is_refused),
        cmocka_unit_test(an_unknown_or_x32_call_is_absent),
        cmocka_unit_test(every_refused_row_answers_its_errno),
        cmocka_unit_test(a_32_bit_call_is_absent),
        cmocka_unit_test(ordinary_work_is_done_in_every_variant),
        cmocka_unit_test(every_way_to_signal_asks_the_holder),
        cmocka_unit_test(without_a_memory_cgroup_shared_memory_asks_the_holder),
        cmocka_unit_test(what_makes_no_sense_is_not_loaded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
