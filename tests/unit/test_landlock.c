/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall without namespaces: Landlock, the strict filter, supervised signals.
 * Root gives an ordinary user groups of its own, and that user holds a cell
 * there; each test is what a program in the cell tries. Run with what this
 * kernel offers, and as if it had ABI 2.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "jail/landlock.h"
#include "jail/limits.h"
#include "jail/pass.h"
#include "jail/seccomp.h"
#include "jail/supervise.h"
#include "src/base/cgroup.h"
#include "src/base/scratch.h"
#include "src/base/sys.h"

#define MIB (UINT64_C(1) << 20)
#define ORDINARY 65534
#define SLOT 4094
#define OLD_ABI 2

/* The operator's things, in a directory of this user that no mount names. */
static char base[] = "/dev/shm/karzer-test-landlock-XXXXXX";
static char secret[64], readable[64], scratch_dir[64], scratch[80];
static struct cgroup_host given;

struct outcome {
    uint8_t effective[HOLDER_MECHANISM_COUNT];
    struct holder_usage usage;
    int status;
    int held; /* the holder came to its end */
    char text[256];
};

struct cell {
    int (*program)(void); /* 0: as it must be; else a line number */
    int abi;
    struct holder_limits limits;
};

/* What a hand-off of the process tier looks like. */
struct handoff {
    struct holder_handoff h;
    struct holder_mount mounts[6];
    char text[1024];
};

static uint32_t put_text(struct handoff *t, size_t *at, const char *s)
{
    size_t start = *at;

    strcpy(t->text + start, s);
    *at += strlen(s) + 1;
    return (uint32_t)(offsetof(struct handoff, text) + start);
}

static void fill_handoff(struct handoff *t, const struct cell *c)
{
    const char *const seen[] = {"/usr",   "/bin", "/lib",
                                "/lib64", "/etc", readable};
    size_t at = 0;

    memset(t, 0, sizeof(*t));
    t->h.slot = SLOT;
    t->h.tier = HOLDER_TIER_PROCESS;
    t->h.limits = c->limits;
    t->h.mount_count = 6;
    t->h.mounts = offsetof(struct handoff, mounts);
    for (size_t i = 0; i < 6; i++) {
        t->mounts[i].source = t->mounts[i].target = put_text(t, &at, seen[i]);
        t->mounts[i].flags = HOLDER_MOUNT_OPTIONAL;
    }
    t->h.agent = put_text(t, &at, "/bin/true");
    t->h.scratch = put_text(t, &at, scratch_dir);
}

static void be_cell(const struct cell *c, const struct handoff *t,
                    const struct limiter *l, int up, struct outcome *out)
{
    unsigned variant = landlock_variant(c->abi);
    struct err err = {0};
    int listener = -1;

    if (limiter_attach(l, &err) < 0 || limiter_attach_v2(l, &err) < 0 ||
        limiter_rlimits(l, &err) < 0 ||
        landlock_enter(&t->h, scratch, c->abi, out->effective, &err) < 0 ||
        seccomp_load(HOLDER_TIER_PROCESS, variant, &listener, &err) < 0 ||
        pass_send(up, "", 1, listener) < 0) {
        snprintf(out->text, sizeof(out->text), "%.255s", err.text);
        _exit(99);
    }
    if (listener >= 0)
        close(listener);
    close(up);
    /* The agent is another process than the program. */
    if (fork() == 0)
        _exit(c->program());
    int status = 0;
    wait(&status);
    while (wait(NULL) > 0)
        ;
    out->status = status;
    _exit(0);
}

/* The holder's loop, in small. */
static void watch(struct limiter *l, struct supervise *s, pid_t pid,
                  struct outcome *out)
{
    struct rusage ru;
    int hits;

    while (wait4(pid, NULL, WNOHANG, &ru) == 0) {
        struct pollfd p = {.fd = s == NULL ? -1 : supervise_fd(s),
                           .events = POLLIN};

        if (poll(&p, 1, limiter_interval_ms(l)) > 0 && supervise_answer(s) < 0)
            s = NULL;
        hits = limiter_sample(l, &out->usage);
        if ((hits & (HOLDER_HIT_MEMORY_KILLED | HOLDER_HIT_DISK_KILLED |
                     HOLDER_HIT_CPU_TIME_KILLED)) != 0) {
            out->status = SIGKILL;
            limiter_kill(l);
        }
    }
    limiter_kill(l);
    limiter_reaped(l, &ru);
    limiter_sample(l, &out->usage);
}

static int hold(const struct cell *c, const struct handoff *t,
                struct limiter *l, struct outcome *out)
{
    struct supervise *s = NULL;
    int pair[2], listener, dir;
    struct err err = {0};
    char byte;
    pid_t pid;

    dir = scratch_make(scratch_dir, SLOT, geteuid(), getegid(), &err);
    if (dir < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return snprintf(out->text, sizeof(out->text), "%.255s", err.text);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        be_cell(c, t, l, pair[1], out);
    }
    close(pair[1]);
    if (pass_recv(pair[0], &byte, 1, &listener, 0) == 1) {
        if (listener >= 0 && supervise_new(listener, l, pid, &s, &err) < 0)
            return 1;
        limiter_watch_tree(l, dir, pid);
        watch(l, s, pid, out);
        out->held = 1;
    }
    supervise_free(s);
    close(pair[0]);
    return scratch_remove(scratch_dir, SLOT, &err);
}

/* Becomes the ordinary user, in the groups that root gave it. */
static int step_down(void)
{
    char own[64];

    snprintf(own, sizeof(own), "karzer-test-%d", getpid());
    for (unsigned i = 0; i < given.count; i++) {
        int parent = given.tree[i].parent_fd;
        char file[80];
        int fd;

        if (mkdirat(parent, own, 0755) < 0 ||
            fchownat(parent, own, ORDINARY, ORDINARY, 0) < 0)
            return -1;
        snprintf(file, sizeof(file), "%s/tasks", own);
        fd = openat(parent, file, O_WRONLY);
        if (fd < 0 || write(fd, "0", 1) != 1)
            return -1;
        close(fd);
    }
    if (sys_setgroups(0, NULL) < 0 || sys_setresgid(ORDINARY) < 0 ||
        sys_setresuid(ORDINARY) < 0)
        return -1;
    return prctl(PR_SET_DUMPABLE, 1);
}

static void run_holder(const struct cell *c, struct outcome *out)
{
    uint8_t effective[HOLDER_MECHANISM_COUNT] = {0};
    static struct handoff t;
    struct limiter *l;
    struct err err = {0};

    if (step_down() < 0) {
        snprintf(out->text, sizeof(out->text), "give groups: errno %d", errno);
        return;
    }
    fill_handoff(&t, c);
    if (limiter_new(&t.h, effective, &l, &err) < 0) {
        snprintf(out->text, sizeof(out->text), "%.255s", err.text);
        return;
    }
    if (effective[HOLDER_PIDS] == HOLDER_HOW_CGROUP1)
        hold(c, &t, l, out);
    limiter_free(l);
}

static void take_groups_back(pid_t pid)
{
    char own[64];

    snprintf(own, sizeof(own), "karzer-test-%d", pid);
    for (unsigned i = 0; i < given.count; i++)
        unlinkat(given.tree[i].parent_fd, own, AT_REMOVEDIR);
}

static struct outcome run(struct cell c)
{
    struct outcome *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct outcome out;
    pid_t pid;

    if (geteuid() != 0 || given.count == 0 || given.tree[0].version != 1 ||
        landlock_abi() < 1)
        skip();
    if (c.limits.mem_bytes == 0)
        c.limits = (struct holder_limits){.mem_bytes = 64 * MIB,
                                          .disk_bytes = 16 * MIB,
                                          .inodes = 100,
                                          .cpu_milli = 1000,
                                          .cpu_time_ms = 10000,
                                          .pids = 32,
                                          .nofile = 256};
    if (c.abi == 0)
        c.abi = landlock_abi();
    pid = fork();
    if (pid == 0) {
        run_holder(&c, shared);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    take_groups_back(pid);
    out = *shared;
    munmap(shared, sizeof(*shared));
    if (!out.held)
        fail_msg("holder: %s", out.text);
    return out;
}

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
    REFUSED(open("/etc/default/useradd", O_RDONLY), EACCES);
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

static pid_t outside; /* a process of the same user, not of the cell */

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

static int plant(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);

    if (fd < 0 || write(fd, "#!/bad\n\n", 8) != 8)
        return -1;
    close(fd);
    return chown(path, ORDINARY, ORDINARY);
}

static int set_up(void **state)
{
    (void)state;
    cgroup_find(&given, NULL);
    if (mkdtemp(base) == NULL || chown(base, ORDINARY, ORDINARY) < 0)
        return geteuid() == 0 ? -1 : 0;
    snprintf(secret, sizeof(secret), "%s/secret", base);
    snprintf(readable, sizeof(readable), "%s/readable", base);
    snprintf(scratch_dir, sizeof(scratch_dir), "%s/scratch", base);
    if (scratch_path(scratch_dir, SLOT, scratch, sizeof(scratch), NULL) < 0)
        return -1;
    outside = fork();
    if (outside == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        if (sys_setresgid(ORDINARY) < 0 || sys_setresuid(ORDINARY) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    return plant(secret) < 0 || plant(readable) < 0 ||
                   mkdir(scratch_dir, 0700) < 0 ||
                   chown(scratch_dir, ORDINARY, ORDINARY) < 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    int status;

    (void)state;
    cgroup_close(&given);
    unlink(secret);
    unlink(readable);
    rmdir(scratch_dir);
    /* It lived as long as the tests. */
    kill(outside, SIGTERM);
    if (geteuid() == 0 && (waitpid(outside, &status, 0) != outside ||
                           WTERMSIG(status) != SIGTERM))
        return -1;
    return rmdir(base);
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
