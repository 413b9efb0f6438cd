/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp_child - children that load a filter and make calls, and the
 * listener's side of it, for test_seccomp.c and test_observe.c.
 */
#ifndef KARZER_TESTS_UNIT_SECCOMP_CHILD_H
#define KARZER_TESTS_UNIT_SECCOMP_CHILD_H

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "jail/seccomp.h"
#include "src/base/auto.h"
#include "tests/unit/seccomp_rows.h"

static void load(unsigned variant, int *listener)
{
    struct err err = {0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        seccomp_load(HOLDER_TIER_PROCESS, variant, listener, &err) != 0) {
        fprintf(stderr, "load %u: %s\n", variant, err.text);
        _exit(99);
    }
}

/* The body's value is the child's exit status; 0 is what tests want. */
static void in_child(unsigned variant, int (*body)(const void *),
                     const void *arg)
{
    int status, listener = -1;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        load(variant, &listener);
        _exit(body(arg));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static long call(const struct row *r)
{
    long rc = syscall(r->nr, r->arg[0], r->arg[1], r->arg[2], r->arg[3],
                      r->arg[4], r->arg[5]);

    return rc < 0 ? errno : 0;
}

/* The holder's side: answers one request with errno EXDEV and tells its call.
 */
static int answer_one(int listener)
{
    struct seccomp_notif req = {0};
    struct seccomp_notif_resp resp = {.error = -EXDEV};

    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) != 0)
        return -1;
    resp.id = req.id;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) != 0)
        return -1;
    return req.data.nr;
}

static int is_asked(int listener, const struct row *r)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(call(r) == EXDEV ? 0 : 1);
    int nr = answer_one(listener);
    if (waitpid(pid, &status, 0) != pid || nr != r->nr || status != 0) {
        fprintf(stderr, "%s: asked for %d, status %d\n", r->what, nr, status);
        return 0;
    }
    return 1;
}

static void the_holder_is_asked(unsigned variant, const struct row *rows,
                                size_t count)
{
    int status, listener = -1;
    pid_t pid = fork();

    if (pid == 0) {
        load(variant, &listener);
        int bad = listener < 0 || (fcntl(listener, F_GETFD) & FD_CLOEXEC) == 0;
        for (size_t i = 0; i < count; i++)
            bad += !is_asked(listener, &rows[i]);
        _exit(bad != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#endif
