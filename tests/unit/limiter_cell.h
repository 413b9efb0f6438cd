/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter_cell - a holder in small for the tests of the limiter: one child that
 * plays the agent and forks the program. Included by test_limiter*.c alone.
 */
#ifndef KARZER_TESTS_LIMITER_CELL_H
#define KARZER_TESTS_LIMITER_CELL_H

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "jail/limits.h"
#include "src/base/sys.h"

#define MIB (UINT64_C(1) << 20)
#define ORDINARY 65534

struct cell {
    struct holder_limits limits;
    void (*program)(int scratch); /* returns: exit 0 */
    int ordinary;                 /* as an ordinary user, without cgroups */
};

struct outcome {
    uint8_t effective[HOLDER_MECHANISM_COUNT];
    struct holder_usage usage;
    int status; /* of the program */
    int failed; /* the test's own machinery */
    char text[256];
};

static struct holder_limits roomy(void)
{
    return (struct holder_limits){
        .mem_bytes = 64 * MIB,
        .disk_bytes = 64 * MIB,
        .inodes = 1000,
        .cpu_milli = 2000,
        .cpu_time_ms = 20000,
        .pids = 16,
        .nofile = 256,
    };
}

static int make_scratch(const struct cell *c)
{
    int fs = sys_fsopen("tmpfs", 1);
    char text[32];
    int fd;

    if (fs < 0)
        return -1;
    snprintf(text, sizeof(text), "%llu",
             (unsigned long long)c->limits.disk_bytes);
    sys_fsconfig(fs, FSCONFIG_SET_STRING, "size", text, 0);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)c->limits.inodes);
    sys_fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", text, 0);
    sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
    fd = sys_fsmount(fs, 0, 0);
    close(fs);
    return fd;
}

/* The child that plays the agent. */
static void be_agent(const struct cell *c, const struct limiter *l, int scratch,
                     int *status)
{
    struct err err = {0};
    pid_t pid;

    if (limiter_attach(l, &err) < 0 || limiter_rlimits(l, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        _exit(99);
    }
    pid = fork();
    if (pid == 0) {
        c->program(scratch);
        _exit(0);
    }
    waitpid(pid, status, 0);
    while (wait(NULL) > 0)
        ;
    _exit(0);
}

static void hold(const struct cell *c, struct limiter *l, int scratch,
                 struct outcome *out)
{
    int cgroup = limiter_cgroup_fd(l);
    struct clone_args args = {.exit_signal = SIGCHLD};
    struct rusage ru;
    pid_t pid;

    if (cgroup >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)cgroup;
    }
    args.flags |= CLONE_NEWPID;
    pid = sys_clone3(&args);
    if (pid == 0)
        be_agent(c, l, scratch, &out->status);
    out->failed = pid < 0;
    if (pid < 0)
        return;
    limiter_watch(l, scratch, pid);
    while (wait4(pid, NULL, WNOHANG, &ru) == 0) {
        int hits = limiter_sample(l, &out->usage);

        if ((hits & (HOLDER_HIT_MEMORY_KILLED | HOLDER_HIT_DISK_KILLED |
                     HOLDER_HIT_CPU_TIME_KILLED)) != 0) {
            kill(pid, SIGKILL);
            out->status = SIGKILL;
        }
        usleep((useconds_t)limiter_interval_ms(l) * 1000);
    }
    limiter_reaped(l, &ru);
    limiter_sample(l, &out->usage);
}

static void run_holder(const struct cell *c, struct outcome *out)
{
    struct holder_handoff h = {.slot = 4095, .limits = c->limits};
    struct limiter *l;
    struct err err = {0};
    int scratch = c->ordinary ? -1 : make_scratch(c);

    out->failed = 1;
    if (c->ordinary &&
        (sys_setresgid(ORDINARY) < 0 || sys_setresuid(ORDINARY) < 0 ||
         prctl(PR_SET_DUMPABLE, 1) < 0))
        return;
    if (limiter_new(&h, out->effective, &l, &err) < 0) {
        snprintf(out->text, sizeof(out->text), "%.255s", err.text);
        return;
    }
    /* As the holder of an ordinary user does. */
    if (!c->ordinary || unshare(CLONE_NEWUSER) == 0)
        hold(c, l, scratch, out);
    limiter_free(l);
}

static struct outcome run(const struct cell *c)
{
    struct outcome *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct outcome out;
    pid_t pid;

    if (geteuid() != 0)
        skip();
    pid = fork();
    if (pid == 0) {
        run_holder(c, shared);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    out = *shared;
    munmap(shared, sizeof(*shared));
    if (out.failed)
        fail_msg("holder: %s", out.text);
    if (!c->ordinary && out.effective[HOLDER_PIDS] != HOLDER_HOW_CGROUP1 &&
        out.effective[HOLDER_PIDS] != HOLDER_HOW_CGROUP2)
        skip();
    return out;
}

static void touch(uint64_t bytes, int flags)
{
    char *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

    if (p == MAP_FAILED)
        _exit(12);
    memset(p, 1, bytes);
}

static void nothing(int scratch)
{
    (void)scratch;
}

static void touch_200m(int scratch)
{
    (void)scratch;
    touch(200 * MIB, MAP_PRIVATE);
}

static void four_of_30m(int scratch)
{
    (void)scratch;
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            touch(30 * MIB, MAP_PRIVATE);
            sleep(5);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

/* Two children take 60 MiB each; exits with how many were killed. */
static void outlive_two_of_60m(int scratch)
{
    int killed = 0, status;

    (void)scratch;
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            touch(60 * MIB, MAP_PRIVATE);
            usleep(800000);
            _exit(0);
        }
    while (wait(&status) > 0)
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    _exit(killed);
}

static void fork_100(int scratch)
{
    int failed = 0;

    (void)scratch;
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            usleep(200000);
            _exit(0);
        }
        if (pid < 0)
            failed = errno;
    }
    while (wait(NULL) > 0)
        ;
    _exit(failed == EAGAIN ? 11 : 0);
}

static void spin_in_orphans(int scratch)
{
    (void)scratch;
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            if (fork() == 0) {
                setsid();
                for (;;)
                    ;
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

#endif
