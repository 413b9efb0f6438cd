/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall without namespaces: Landlock, the strict filter, supervised signals.
 * Each test is what a program in the cell tries. Run with what this kernel
 * offers, and as if it had ABI 2.
 */
#include "tests/unit/landlock_cell.h"

/* In the cell. */
#define MUST(x)                                                                \
    do {                                                                       \
        if (!(x))                                                              \
            return __LINE__ % 251 + 1;                                         \
    } while (0)
#define REFUSED(x, error) MUST((x) == -1 && errno == (error))

static int read_what_is_not_listed(void)
{
    REFUSED(open(secret, O_RDONLY), EACCES);
    REFUSED(open(base, O_RDONLY | O_DIRECTORY), EACCES);
    REFUSED(open("/etc/shadow", O_RDONLY), EACCES);
    MUST(open("/etc/environment", O_RDONLY) == -1); /* a mask */
    REFUSED(open("/home", O_RDONLY | O_DIRECTORY), EACCES);
    REFUSED(open("/dev/shm/new", O_RDWR | O_CREAT, 0600), EACCES);
    REFUSED(execl(secret, secret, NULL), EACCES);
    return 0;
}

static int use_what_is_listed(void)
{
    char path[128];
    int fd;

    MUST(open("/etc/passwd", O_RDONLY) >= 0);
    MUST(open("/usr/bin", O_RDONLY | O_DIRECTORY) >= 0);
    MUST(open(readable, O_RDONLY) >= 0);
    MUST(open("/dev/null", O_RDWR) >= 0);
    MUST(open("/proc/self/status", O_RDONLY) >= 0);
    MUST(system("/bin/echo a | /bin/cat >/dev/null") == 0);
    snprintf(path, sizeof(path), "%s/tmp/file", scratch);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    MUST(fd >= 0 && write(fd, "x", 1) == 1);
    MUST(chdir(scratch) == 0 && mkdir("home/d", 0700) == 0);
    MUST(rename("tmp/file", "tmp/other") == 0);
    return 0;
}

static int change_what_may_only_be_read(void)
{
    struct stat st;

    REFUSED(open(readable, O_RDWR), EACCES);
    REFUSED(open(readable, O_RDONLY | O_TRUNC), EACCES);
    REFUSED(truncate(readable, 0), EACCES);
    REFUSED(syscall(SYS_openat2, AT_FDCWD, readable,
                    &(struct open_how){.flags = O_RDONLY | O_TRUNC},
                    sizeof(struct open_how)),
            ENOSYS);
    REFUSED(unlink(readable), EACCES);
    REFUSED(chmod(readable, 0600), EPERM);
    REFUSED(fchmod(open(readable, O_RDONLY), 0600), EPERM);
    REFUSED(chown(readable, getuid(), getgid()), EPERM);
    REFUSED(utimensat(AT_FDCWD, readable, NULL, 0), EPERM);
    REFUSED(syscall(SYS_setxattr, readable, "user.a", "b", 1, 0), EPERM);
    MUST(stat(readable, &st) == 0 && st.st_size == 8);
    return 0;
}

static int connect_somewhere(void)
{
    int pair[2];

    REFUSED(socket(AF_UNIX, SOCK_STREAM, 0), EACCES);
    REFUSED(socket(AF_INET, SOCK_STREAM, 0), EACCES);
    REFUSED(socket(AF_INET6, SOCK_DGRAM, 0), EACCES);
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    REFUSED(syscall(SYS_shmget, 1, 4096, 01600), ENOSYS);
    REFUSED(syscall(SYS_mq_open, "/q", O_RDWR | O_CREAT, 0600, NULL), ENOSYS);
    return 0;
}

static int signal_outside(void)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    int fd, pair[2];

    REFUSED(kill(outside, 0), EPERM);
    REFUSED(kill(outside, SIGKILL), EPERM);
    MUST(kill(-getpgid(outside), SIGKILL) == -1);
    REFUSED(syscall(SYS_tgkill, outside, outside, SIGKILL), EPERM);
    REFUSED(syscall(SYS_tkill, outside, SIGKILL), EPERM);
    REFUSED(syscall(SYS_rt_sigqueueinfo, outside, SIGUSR1, &info), EPERM);
    REFUSED(syscall(SYS_rt_tgsigqueueinfo, outside, outside, SIGUSR1, &info),
            EPERM);
    fd = sys_pidfd_open(outside, 0);
    MUST(fd >= 0);
    REFUSED(sys_pidfd_send_signal(fd, SIGKILL), EPERM);
    /* Landlock's scope refuses only the signal itself, which would end it. */
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    if (fcntl(pair[0], F_SETOWN, outside) == 0)
        MUST(fcntl(pair[0], F_SETFL, O_ASYNC) == 0 &&
             write(pair[1], "x", 1) == 1);
    else
        MUST(errno == EPERM);
    if (fcntl(pair[0], F_SETOWN, -getpgid(outside)) == 0)
        MUST(write(pair[1], "x", 1) == 1);
    return 0;
}

static int signal_everyone(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        for (;;)
            pause();
    MUST(kill(-1, SIGKILL) == 0);
    MUST(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL);
    return 0;
}

static volatile sig_atomic_t got;

static void count(int sig)
{
    (void)sig;
    got = got + 1;
}

static int signal_own(void)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    int status, fd;
    pid_t pid;

    signal(SIGUSR1, count);
    MUST(setpgid(0, 0) == 0);
    MUST(raise(SIGUSR1) == 0 && got == 1);
    MUST(kill(getpid(), SIGUSR1) == 0 && got == 2);
    MUST(kill(0, SIGUSR1) == 0 && got == 3);
    MUST(sigqueue(getpid(), SIGUSR1, (union sigval){0}) == 0 && got == 4);
    MUST(syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGUSR1, &info) ==
             0 &&
         got == 5);
    MUST(fcntl(0, F_SETOWN, getpid()) == 0);
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    fd = sys_pidfd_open(pid, 0);
    MUST(sys_pidfd_send_signal(fd, 0) == 0);
    MUST(kill(pid, 0) == 0 && syscall(SYS_tkill, pid, SIGTERM) == 0);
    MUST(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGTERM);
    REFUSED(kill(pid, 0), ESRCH);
    REFUSED(kill(getpid(), 12345), EINVAL);
    return 0;
}

static int many_files(void)
{
    char path[128];

    for (int i = 0;; i++) {
        int fd;

        snprintf(path, sizeof(path), "%s/tmp/%d", scratch, i);
        fd = open(path, O_WRONLY | O_CREAT, 0600);
        if (fd >= 0 && write(fd, path, 64) < 0)
            return 1;
        close(fd);
        usleep(500);
    }
}

static int large_files(void)
{
    static char block[1 << 20];
    char path[128];

    for (int i = 0;; i++) {
        int fd;

        snprintf(path, sizeof(path), "%s/tmp/%d", scratch, i);
        fd = open(path, O_WRONLY | O_CREAT, 0600);
        for (int k = 0; k < 4; k++)
            if (write(fd, block, sizeof(block)) < 0)
                return 1;
        close(fd);
        usleep(5000);
    }
}

static int one_large_file(void)
{
    static char block[1 << 20];
    char path[128];
    int fd;

    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof(path), "%s/tmp/large", scratch);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (int k = 0; k < 20; k++)
        if (write(fd, block, sizeof(block)) < 0)
            return errno == EFBIG ? 0 : 1;
    return 2;
}

static int hidden_and_deep(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/tmp", scratch);
    MUST(chdir(path) == 0);
    MUST(mkdir("hidden", 0300) == 0 && mkdir("hidden/x", 0) == 0);
    for (int i = 0; i < 90; i++)
        MUST(mkdir("d", 0700) == 0 && chdir("d") == 0);
    return 0;
}

static int survive(void)
{
    if (fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    return 0;
}

#define PASSES(name, program, level)                                           \
    static void name(void **state)                                             \
    {                                                                          \
        struct outcome out = run((struct cell){program, level, {0}});          \
                                                                               \
        (void)state;                                                           \
        if (out.status != 0)                                                   \
            fail_msg("in the cell: status %x, line %% 251 is %d", out.status,  \
                     WEXITSTATUS(out.status) - 1);                             \
        assert_int_equal(out.usage.hits, 0);                                   \
    }

PASSES(what_is_not_listed_cannot_be_read, read_what_is_not_listed, 0)
PASSES(what_is_listed_can_be_used, use_what_is_listed, 0)
PASSES(nothing_of_the_host_can_be_changed, change_what_may_only_be_read, 0)
PASSES(no_socket_of_the_host_can_be_reached, connect_somewhere, 0)
PASSES(no_signal_leaves_the_cell, signal_outside, 0)
PASSES(signals_to_everyone_stay_inside, signal_everyone, 0)
PASSES(signals_within_the_cell_work, signal_own, 0)
PASSES(abi2_what_is_not_listed_cannot_be_read, read_what_is_not_listed, OLD_ABI)
PASSES(abi2_what_is_listed_can_be_used, use_what_is_listed, OLD_ABI)
PASSES(abi2_nothing_of_the_host_can_be_changed, change_what_may_only_be_read,
       OLD_ABI)
PASSES(abi2_no_socket_of_the_host_can_be_reached, connect_somewhere, OLD_ABI)
PASSES(abi2_no_signal_leaves_the_cell, signal_outside, OLD_ABI)
PASSES(abi2_signals_to_everyone_stay_inside, signal_everyone, OLD_ABI)
PASSES(abi2_signals_within_the_cell_work, signal_own, OLD_ABI)
PASSES(one_file_ends_with_efbig, one_large_file, 0)
PASSES(hidden_and_deep_directories_are_removed, hidden_and_deep, 0)
PASSES(nothing_outlives_the_cell, survive, 0)

static void too_many_files_end_the_cell(void **state)
{
    struct outcome out = run((struct cell){many_files, 0, {0}});

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_DISK_KILLED);
}

static void too_many_bytes_end_the_cell(void **state)
{
    struct outcome out = run((struct cell){large_files, 0, {0}});

    (void)state;
    assert_int_equal(out.usage.hits, HOLDER_HIT_DISK_KILLED);
    assert_true(out.usage.disk_bytes > 16 * MIB);
}

static void what_is_in_force_is_named(void **state)
{
    struct outcome out = run((struct cell){survive, OLD_ABI, {0}});

    (void)state;
    assert_int_equal(out.effective[HOLDER_FILES], HOLDER_HOW_LANDLOCK);
    assert_int_equal(out.effective[HOLDER_PROCESSES], HOLDER_HOW_SUPERVISED);
    assert_int_equal(out.effective[HOLDER_NETWORK], HOLDER_HOW_SECCOMP);
    assert_int_equal(out.effective[HOLDER_IPC], HOLDER_HOW_SECCOMP);
    assert_int_equal(out.effective[HOLDER_DISK], HOLDER_HOW_SAMPLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_listed_cannot_be_read),
        cmocka_unit_test(what_is_listed_can_be_used),
        cmocka_unit_test(nothing_of_the_host_can_be_changed),
        cmocka_unit_test(no_socket_of_the_host_can_be_reached),
        cmocka_unit_test(no_signal_leaves_the_cell),
        cmocka_unit_test(signals_to_everyone_stay_inside),
        cmocka_unit_test(signals_within_the_cell_work),
        cmocka_unit_test(abi2_what_is_not_listed_cannot_be_read),
        cmocka_unit_test(abi2_what_is_listed_can_be_used),
        cmocka_unit_test(abi2_nothing_of_the_host_can_be_changed),
        cmocka_unit_test(abi2_no_socket_of_the_host_can_be_reached),
        cmocka_unit_test(abi2_no_signal_leaves_the_cell),
        cmocka_unit_test(abi2_signals_to_everyone_stay_inside),
        cmocka_unit_test(abi2_signals_within_the_cell_work),
        cmocka_unit_test(one_file_ends_with_efbig),
        cmocka_unit_test(hidden_and_deep_directories_are_removed),
        cmocka_unit_test(nothing_outlives_the_cell),
        cmocka_unit_test(too_many_files_end_the_cell),
        cmocka_unit_test(too_many_bytes_end_the_cell),
        cmocka_unit_test(what_is_in_force_is_named),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
