/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observer: which refused calls a listener is asked about, that they stay
 * refused without one, and what is counted and told of them.
 */
#include "jail/observe.h"

#include <asm/unistd_64.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>

#include "src/base/fd.h"
#include "tests/unit/seccomp_child.h"

/* Where nobody answers: a call that was told would never return. */
static int quiet_rows(const void *arg)
{
    static const long quiet[] = {__NR_clone3, __NR_io_uring_setup};
    int bad = 0;

    (void)arg;
    for (size_t i = 0; i < ARRAY_LEN(quiet); i++) {
        const struct row r = {"", quiet[i], {~0ull, ~0ull}, 0, 0, 0};

        bad += call(&r) != ENOSYS;
    }
    return bad;
}

/* Every row of calls: what is told is asked about, what is quiet is not. */
static void a_refused_call_is_told_but_for_the_quiet_ones(void **state)
{
    static const struct row told[] = {
        {"mount", __NR_mount, {0}},
        {"clone user", __NR_clone, {CLONE_NEWUSER | SIGCHLD}},
        {"raw socket", __NR_socket, {AF_INET, SOCK_RAW, 1}},
        {"packet socket", __NR_socket, {AF_PACKET, SOCK_RAW, 0}},
        {"TIOCSTI", __NR_ioctl, {0, HIGH | TIOCSTI}},
        {"no call", 471, {0}},
        {"x32", 0x40000000 | __NR_getpid, {0}},
    };

    (void)state;
    the_holder_is_asked(SECCOMP_OBSERVE, told, ARRAY_LEN(told));
    the_holder_is_asked(SECCOMP_OBSERVE | MEM, told, ARRAY_LEN(told));
    in_child(SECCOMP_OBSERVE, quiet_rows, NULL);
}

static int drops_its_listener(const void *arg)
{
    const struct row mount = {"mount", __NR_mount, {0}};
    const struct row i386 = {"clone3", __NR_clone3, {0}};

    close(*(const int *)arg);
    return call(&mount) != ENOSYS || call(&i386) != ENOSYS || getpid() < 1;
}

static void without_a_listener_refused_calls_are_absent(void **state)
{
    int status, listener = -1;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        load(SECCOMP_OBSERVE, &listener);
        _exit(drops_its_listener(&listener));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int loads_twice(void)
{
    struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog program = {1, &all};
    unsigned variant = SECCOMP_SHARED_TREE;
    struct err err = {0};
    int second = -1;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0)
        return 1;
    return seccomp_load_observed(HOLDER_TIER_PROCESS, &variant, &second, &err) <
               0 ||
           second != -1 || variant != SECCOMP_SHARED_TREE;
}

static void where_another_listens_already_nothing_is_told(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(loads_twice());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static uint32_t judged(unsigned variant, int nr, uint64_t a, uint64_t b)
{
    const struct seccomp_data d = {
        .nr = nr, .arch = AUDIT_ARCH_X86_64, .args = {a, b}};

    return seccomp_judge(variant, &d);
}

static void the_holder_judges_as_the_filter_does(void **state)
{
    const struct seccomp_data foreign = {.nr = 20, .arch = AUDIT_ARCH_I386};

    (void)state;
    assert_int_equal(judged(SECCOMP_OBSERVE, __NR_mount, 0, 0),
                     SECCOMP_RET_ERRNO | EPERM);
    assert_int_equal(judged(SECCOMP_OBSERVE, __NR_socket, AF_PACKET, 0),
                     SECCOMP_RET_ERRNO | EAFNOSUPPORT);
    assert_int_equal(judged(0, __NR_getpid, 0, 0), SECCOMP_RET_ALLOW);
    assert_int_equal(judged(SECCOMP_OBSERVE, __NR_kill, 1, 9),
                     SECCOMP_RET_ALLOW);
    assert_int_equal(
        judged(SECCOMP_SUPERVISE | SECCOMP_OBSERVE, __NR_kill, 1, 9),
        SECCOMP_RET_USER_NOTIF);
    assert_int_equal(judged(0, -1, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
    assert_int_equal(judged(SECCOMP_VARIANTS, __NR_getpid, 0, 0),
                     SECCOMP_RET_ERRNO | ENOSYS);
    assert_int_equal(seccomp_judge(0, &foreign), SECCOMP_RET_ERRNO | ENOSYS);
}

/* ---- what is told ---- */

static int engine = -1, holder = -1;
static struct observer *observer;

static int set_up(void **state)
{
    static struct jail j;
    int pair[2];

    (void)state;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    engine = pair[0];
    holder = pair[1];
    j.proc_fd = open("/proc", O_PATH | O_CLOEXEC);
    observer = observer_begin(&j, &holder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (engine >= 0)
        close(engine);
    observer_settle(observer); /* begins anew */
    if (holder >= 0)
        close(holder);
    return 0;
}

static void refuse(int nr, uint32_t arch, int error)
{
    const struct seccomp_notif ask = {.pid = 1,
                                      .data = {.nr = nr, .arch = arch}};

    observer_note(observer, -1, &ask, error);
}

static void refuse_many(int nr, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        refuse(nr, AUDIT_ARCH_X86_64, EPERM);
}

/* The next message: its count, or 0 when there is none. */
static uint64_t next(struct holder_message *m)
{
    if (recv(engine, m, sizeof(*m), MSG_DONTWAIT) != (ssize_t)sizeof(*m))
        return 0;
    assert_int_equal(m->type, HOLDER_DENIED);
    return m->denied.count;
}

static size_t drain(void)
{
    struct holder_message m;
    size_t n = 0;

    while (next(&m) > 0)
        n++;
    return n;
}

static void
the_first_of_a_kind_are_told_at_once_and_then_the_number(void **state)
{
    struct holder_message m;

    (void)state;
    refuse_many(__NR_mount, 1000);
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(next(&m), i);
        assert_int_equal(m.value & HOLDER_DENIED_TOTAL, 0);
    }
    assert_int_equal(next(&m), 0);
    observer_settle(observer);
    assert_int_equal(next(&m), 1000);
    assert_int_equal(m.value & HOLDER_DENIED_TOTAL, HOLDER_DENIED_TOTAL);
    assert_int_equal(m.denied.nr, __NR_mount);
    assert_int_equal(m.denied.error, EPERM);
    assert_int_equal(next(&m), 0);
}

static void what_was_told_whole_is_not_told_again(void **state)
{
    struct holder_message m;

    (void)state;
    refuse_many(__NR_ptrace, 2);
    assert_int_equal(drain(), 2);
    observer_settle(observer);
    assert_int_equal(next(&m), 0);
    refuse_many(__NR_ptrace, 1);
    assert_int_equal(next(&m), 1); /* the count began anew */
}

/* Numbers that no call has, in both tables: they are three kinds, and the call
 * that comes after them has its name. */
static void numbers_of_no_call_hide_no_other_call(void **state)
{
    struct holder_message m;
    uint64_t sum = 0, mounts = 0;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        refuse(1000 + i, AUDIT_ARCH_X86_64, ENOSYS);
        refuse(0x40000000 | i, AUDIT_ARCH_X86_64, ENOSYS);
        refuse(i, AUDIT_ARCH_I386, ENOSYS);
    }
    refuse_many(__NR_mount, 7);
    drain();
    observer_settle(observer);
    for (uint64_t n; (n = next(&m)) > 0;) {
        sum += n;
        mounts += m.denied.nr == __NR_mount ? n : 0;
    }
    assert_int_equal(mounts, 7);
    assert_int_equal(sum, 15007);
}

/* Whatever a cell does: so many words, and not one lost number. */
static void words_are_bounded_and_no_number_is_lost(void **state)
{
    struct holder_message m;
    uint64_t sum = 0;
    size_t at_once, totals = 0;

    (void)state;
    for (int error = 1; error < 100; error++)
        for (int nr = 0; nr < 500; nr++)
            refuse(nr, AUDIT_ARCH_X86_64, error);
    at_once = drain();
    assert_in_range(at_once, 1, HOLDER_DENIED_ONCE);
    for (int rest = -1; rest < 0;) { /* a socket does not hold them all */
        rest = observer_settle(observer);
        for (uint64_t n; (n = next(&m)) > 0; totals++)
            sum += n;
    }
    assert_in_range(totals, 1, HOLDER_DENIED_KINDS);
    assert_int_equal(sum + at_once, 99 * 500);
}

static void an_engine_that_does_not_read_is_not_waited_for(void **state)
{
    (void)state;
    for (int nr = 0; nr < 500; nr++)
        refuse(nr, AUDIT_ARCH_X86_64, EPERM);
    assert_int_equal(observer_settle(observer), -1);
    assert_int_equal(observer_settle(observer), -1);
    close(engine);
    engine = -1;
    assert_int_equal(observer_settle(observer), 0); /* nobody is told */
    refuse_many(__NR_mount, 10);
    close(holder);
    holder = -1;
    refuse_many(__NR_mount, 10);
    assert_int_equal(observer_settle(observer), 0);
}

static void past_its_allowance_a_cell_waits(void **state)
{
    uint64_t answered = 0, begin = clock_us(), taken;

    (void)state;
    while (clock_us() - begin < 200000)
        if (observer_rest_ms(observer) == 0) {
            refuse_many(__NR_mount, 1);
            answered++;
        }
    taken = (clock_us() - begin) / 1000;
    assert_true(answered >= 1000);
    /* 1,024 at most at once, twice: what was left, and what came meanwhile. */
    assert_true(answered <= 2 * 1024 + 2 * taken);
}

/* A thousand took two seconds of the holder's: the next come late. */
static void where_answers_are_dear_there_are_few(void **state)
{
    (void)state;
    refuse_many(__NR_mount, 1024);
    observer_spent(observer, 2000000);
    assert_in_range(observer_rest_ms(observer), 500, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_call_is_told_but_for_the_quiet_ones),
        cmocka_unit_test(without_a_listener_refused_calls_are_absent),
        cmocka_unit_test(where_another_listens_already_nothing_is_told),
        cmocka_unit_test(the_holder_judges_as_the_filter_does),
#define TOLD(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TOLD(the_first_of_a_kind_are_told_at_once_and_then_the_number),
        TOLD(what_was_told_whole_is_not_told_again),
        TOLD(numbers_of_no_call_hide_no_other_call),
        TOLD(words_are_bounded_and_no_number_is_lost),
        TOLD(an_engine_that_does_not_read_is_not_waited_for),
        TOLD(past_its_allowance_a_cell_waits),
        TOLD(where_answers_are_dear_there_are_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
