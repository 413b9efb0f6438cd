/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock_cell - a holder in small for test_landlock.c, which alone includes
 * it: an ordinary user, with groups that root gave it and no namespace.
 */
#ifndef KARZER_TESTS_LANDLOCK_CELL_H
#define KARZER_TESTS_LANDLOCK_CELL_H

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
#include "jail/observe.h"
#include "jail/pass.h"
#include "jail/seccomp.h"
#include "jail/supervise.h"
#include "src/base/cgroup.h"
#include "src/base/fd.h"
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
static pid_t outside; /* a process of the same user, not of the cell */

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
    int listener = -1, status = 0;
    pid_t pid;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (limiter_attach(l, &err) < 0 || limiter_attach_v2(l, &err) < 0 ||
        limiter_rlimits(l, &err) < 0 ||
        landlock_enter(&t->h, scratch, c->abi, out->effective, &err) < 0 ||
        seccomp_load_observed(HOLDER_TIER_PROCESS, &variant, &listener, &err) <
            0 ||
        pass_send(up, &variant, sizeof(variant), listener) < 0) {
        snprintf(out->text, sizeof(out->text), "%.255s", err.text);
        _exit(99);
    }
    if (listener >= 0)
        close(listener);
    close(up);
    /* The agent is another process than the program. */
    pid = fork();
    if (pid == 0)
        _exit(c->program());
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
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
        int rest;
        struct pollfd p = {.fd = s == NULL ? -1 : supervise_fd(s, &rest),
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
    while (wait(NULL) > 0)
        ;
    limiter_reaped(l, &ru);
    limiter_sample(l, &out->usage);
}

static int hold(const struct cell *c, const struct handoff *t,
                struct limiter *l, struct outcome *out)
{
    struct jail j = {.proc_fd = open("/proc", O_PATH | O_CLOEXEC)};
    struct supervised held = {.limiter = l};
    struct supervise *s = NULL;
    int pair[2], listener, dir, nobody = -1;
    struct err err = {0};
    pid_t pid;

    dir = scratch_make(scratch_dir, SLOT, geteuid(), getegid(), &err);
    if (dir < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return snprintf(out->text, sizeof(out->text), "%.255s", err.text);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        be_cell(c, t, l, pair[1], out);
    }
    close(pair[1]);
    if (pass_recv(pair[0], &held.variant, sizeof(held.variant), &listener, 0) >
        0) {
        held.agent = pid;
        held.observer = observer_begin(&j, &nobody);
        if (listener >= 0 && supervise_new(listener, &held, &s, &err) < 0)
            return 1;
        limiter_watch_tree(l, dir, pid);
        watch(l, s, pid, out);
        out->held = 1;
    }
    supervise_free(s);
    close(pair[0]);
    return scratch_remove(scratch_dir, SLOT, &err);
}

/* The group itself, which only v2 needs: its children get the controllers, so
 * it holds no process of its own. */
static int give_v2(int parent, const char *own)
{
    static const char *const lent[] = {"", "/cgroup.procs",
                                       "/cgroup.subtree_control"};
    char file[96];

    snprintf(file, sizeof(file), "%s/cgroup.subtree_control", own);
    if (fd_write_text(parent, file, "+memory +pids +cpu") < 0)
        return -1;
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof(file), "%s%s", own, lent[i]);
        if (fchownat(parent, file, ORDINARY, ORDINARY, 0) < 0)
            return -1;
    }
    snprintf(file, sizeof(file), "%s/self", own);
    return mkdirat(parent, file, 0755) < 0
               ? -1
               : fchownat(parent, file, ORDINARY, ORDINARY, 0);
}

static int give_group(const struct cgroup_tree *tree, const char *own)
{
    int parent = tree->parent_fd;
    char file[96];

    if (mkdirat(parent, own, 0755) < 0)
        return -1;
    if (tree->version == 2) {
        if (give_v2(parent, own) < 0)
            return -1;
        snprintf(file, sizeof(file), "%s/self/cgroup.procs", own);
    } else {
        if (fchownat(parent, own, ORDINARY, ORDINARY, 0) < 0)
            return -1;
        snprintf(file, sizeof(file), "%s/tasks", own);
    }
    return fd_write_text(parent, file, "0");
}

/* Becomes the ordinary user, in the groups that root gave it. */
static int step_down(void)
{
    char own[64];

    snprintf(own, sizeof(own), "karzer-test-%d", getpid());
    for (unsigned i = 0; i < given.count; i++)
        if (give_group(&given.tree[i], own) < 0)
            return -1;
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
    if (effective[HOLDER_PIDS] == HOLDER_HOW_CGROUP1 ||
        effective[HOLDER_PIDS] == HOLDER_HOW_CGROUP2)
        hold(c, &t, l, out);
    limiter_free(l);
}

static void take_groups_back(pid_t pid)
{
    char own[64];

    snprintf(own, sizeof(own), "karzer-test-%d", pid);
    for (unsigned i = 0; i < given.count; i++) {
        char self[80];

        snprintf(self, sizeof(self), "%s/self", own);
        unlinkat(given.tree[i].parent_fd, self, AT_REMOVEDIR);
        unlinkat(given.tree[i].parent_fd, own, AT_REMOVEDIR);
    }
}

static struct outcome run(struct cell c)
{
    struct outcome *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct outcome out;
    pid_t pid;

    if (geteuid() != 0 || given.count == 0 || landlock_abi() < 1)
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
    if (geteuid() != 0)
        return 0; /* every test skips */
    if (mkdtemp(base) == NULL || chown(base, ORDINARY, ORDINARY) < 0)
        return -1;
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
    if (outside <= 0)
        return 0; /* set_up found that it is not root's */
    /* It lived as long as the tests. */
    kill(outside, SIGTERM);
    if (waitpid(outside, &status, 0) != outside || WTERMSIG(status) != SIGTERM)
        return -1;
    return rmdir(base);
}

#endif
