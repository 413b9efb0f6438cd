/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter - see enter.h. Each row says why it stands where it stands. A step that
 * fails ends the child: nothing of the cell has run by then.
 */
#include "jail/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/caps.h"
#include "jail/fallback.h"
#include "jail/handoff.h"
#include "jail/identity.h"
#include "jail/landlock.h"
#include "jail/limits.h"
#include "jail/mask.h"
#include "jail/pass.h"
#include "jail/seccomp.h"
#include "jail/spaces.h"
#include "jail/view.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define SIGNALS_REAL_TIME 32 /* the kernel's SIGRTMIN: libc starts later */

struct step {
    const char *name;
    int (*run)(struct jail *j, struct err *err);
};

/* In place of the control socket, which is the holder's alone. */
static int stream_take(struct jail *j, struct err *err)
{
    (void)j;
    return dup3(HOLDER_STREAM_FD, HOLDER_CONTROL_FD, 0) < 0
               ? err_sys(err, "descriptors")
               : 0;
}

static int groups_enter(struct jail *j, struct err *err)
{
    if (!j->later)
        return limiter_attach(j->limiter, err);
    return limiter_follow(j->limiter, j->up_fd, j->effective, err);
}

/* When the host lacks memory, the cell goes first. */
static int process_prepare(struct jail *j, struct err *err)
{
    (void)err;
    umask(0); /* the view sets each mode itself */
    fd_write_text(j->proc_fd, "self/oom_score_adj", "1000");
    return 0;
}

static int agent_open(struct jail *j, struct err *err)
{
    const char *path = handoff_text(j->h, j->h->agent);

    j->agent_fd = open(path, O_PATH | O_CLOEXEC);
    return j->agent_fd < 0 ? err_sys(err, "%s", path) : 0;
}

static int rights_drop(struct jail *j, struct err *err)
{
    (void)j;
    return caps_drop(err);
}

/* The holder may have died before the kernel knew that we want to follow. */
static int holder_follow(struct jail *j, struct err *err)
{
    struct pollfd p = {.fd = j->up_fd};

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_sys(err, "prctl");
    if (poll(&p, 1, 0) != 0)
        return err_set(err, ERR_HOST, "the holder has gone");
    return 0;
}

static int process_settle(struct jail *j, struct err *err)
{
    sigset_t none;
    int null;

    (void)j;
    umask(022);
    setsid();
    sigemptyset(&none);
    for (int sig = 1; sig < SIGNALS_REAL_TIME; sig++)
        if (sig != SIGKILL && sig != SIGSTOP)
            signal(sig, SIG_DFL);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        return err_sys(err, "signals");
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        return err_sys(err, "/dev/null");
    return 0;
}

static int limits_set(struct jail *j, struct err *err)
{
    return limiter_rlimits(j->limiter, err);
}

/* 3 is the stream already; 4 to 6 are ours until the exec closes them. None of
 * ours is there yet: these numbers were inherited. */
static int descriptors_close(struct jail *j, struct err *err)
{
    int *const kept[] = {&j->up_fd, &j->agent_fd, &j->scratch_fd};

    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        int to = HOLDER_CONTROL_FD + 1 + (int)i;

        if (*kept[i] < 0)
            continue; /* without namespaces: scratch */
        if (dup3(*kept[i], to, O_CLOEXEC) < 0)
            return err_sys(err, "descriptors");
        *kept[i] = to;
    }
    if (sys_close_range(HOLDER_CONTROL_FD + 1 + (unsigned)ARRAY_LEN(kept), ~0u,
                        0) < 0)
        return err_sys(err, "close descriptors");
    return 0;
}

/* The filter, and the report of what is in force: with the listener, which only
 * now exists, and the scratch tmpfs to be watched. After it, only a failure is
 * told, or the end of the socket: the agent runs. */
static int filter_load(struct jail *j, struct err *err)
{
    unsigned variant = limiter_seccomp_variant(j->limiter) |
                       (j->fallback ? landlock_variant(landlock_abi())
                                    : seccomp_variant_of(j->h));
    struct holder_message m = {.type = HOLDER_READY};
    AUTO(fd) int listener = -1;
    int fds[PASS_MAX];
    size_t count = 0;

    if (seccomp_load_observed((enum holder_tier)j->h->tier, &variant, &listener,
                              err) < 0)
        return -1;
    j->effective[HOLDER_SYSCALLS] = HOLDER_HOW_SECCOMP_ALLOW;
    if ((variant & SECCOMP_OBSERVE) != 0)
        j->effective[HOLDER_OBSERVER] = HOLDER_HOW_LISTENER;
    memcpy(m.effective, j->effective, sizeof(m.effective));
    m.value = variant;
    if (listener >= 0)
        fds[count++] = listener;
    if (j->scratch_fd >= 0)
        fds[count++] = j->scratch_fd;
    if (pass_send_all(j->up_fd, &m, sizeof(m), fds, count) < 0)
        return err_sys(err, "tell the holder");
    return 0;
}

static int agent_start(struct jail *j, struct err *err)
{
    char *const argv[] = {(char[]){"karzer-agent"}, NULL};
    char *const envp[] = {NULL};

    sys_execveat(j->agent_fd, "", argv, envp, AT_EMPTY_PATH);
    return err_sys(err, "start the agent");
}

/* clang-format off */
static const struct step steps[] = {
    {"stream", stream_take},              /* first: nothing else becomes fd 3 */
    {"process", process_prepare},         /* needs the host's /proc as it is */
    {"view", view_make},                  /* while the old root is visible */
    {"root", view_turn},                  /* all that comes from there is here */
    {"masks", mask_files},                /* no name leads out any more */
    {"control groups", groups_enter},     /* the holder made them meanwhile; the
                                             cgroup view starts here */
    {"namespaces", spaces_settle},        /* needs rights over the host's time */
    {"network", spaces_join},             /* the holder made it meanwhile; every
                                             mount exists */
    {"identity", identity_become},        /* all below needs no root */
    {"capabilities", rights_drop},        /* after the last right is used */
    {"holder", holder_follow},            /* a change of ids undoes it */
    {"session", process_settle},          /* /dev/null is the cell's */
    {"rlimits", limits_set},              /* in the cell's user namespace */
    {"descriptors", descriptors_close},   /* before anyone else could use one */
    {"seccomp", filter_load},             /* it forbids all of the above; and
                                             nothing more is found out */
    {"exec", agent_start},
};

/* Without namespaces. */
static const struct step fallback_steps[] = {
    {"stream", stream_take},
    {"control groups", groups_enter},     /* the only handle on all processes */
    {"process", process_prepare},
    {"agent", agent_open},                /* Landlock would ask for a right */
    {"identity", identity_become},
    {"capabilities", rights_drop},
    {"holder", holder_follow},
    {"session", process_settle},
    {"Landlock", fallback_enter},         /* it forbids nothing that follows */
    {"rlimits", limits_set},              /* no more files than that */
    {"descriptors", descriptors_close},
    {"seccomp", filter_load},
    {"exec", agent_start},
};
/* clang-format on */

static void tell_failure(const struct jail *j, const struct err *err)
{
    struct holder_message m = {
        .type = HOLDER_FAILED, .sys = err->sys, .mechanism = j->mechanism};

    snprintf(m.text, sizeof(m.text), "%.*s", (int)sizeof(m.text) - 1,
             err->text);
    pass_send(j->up_fd, &m, sizeof(m), -1);
}

static void walk(struct jail *j, const struct step *step, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};

        if (step[i].run(j, &err) == 0)
            continue;
        err_wrap(&err, "%s", step[i].name);
        tell_failure(j, &err);
        return;
    }
}

_Noreturn void enter(struct jail *j)
{
    if (j->fallback)
        walk(j, fallback_steps, ARRAY_LEN(fallback_steps));
    else
        walk(j, steps, ARRAY_LEN(steps));
    _exit(1);
}
