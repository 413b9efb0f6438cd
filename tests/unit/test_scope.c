/* SPDX-License-Identifier: Apache-2.0 */
/* test_scope - the parked spawner: whom it serves, what it says to systemd,
 * what it makes of the answer, and when it ends. systemd itself: tests/hosts.
 */
#include <setjmp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/scope.h"
#include "scope/dbus.h"
#include "scope/park.h"
#include "scope/peer.h"
#include "src/base/fd.h"
#include "src/base/fds.h"
#include "src/base/spawn.h"

/* ---- D-Bus ---- */

static const uint8_t *find(const uint8_t *data, size_t len, const char *what)
{
    const uint8_t *at = memmem(data, len, what, strlen(what) + 1);

    assert_non_null(at);
    return at;
}

static void
the_call_names_the_scope_the_process_and_that_it_is_delegated(void **state)
{
    uint8_t call[1024];
    size_t n = dbus_scope_call("karzer-7.scope", 0x1234567, call, sizeof(call));
    struct dbus_head h;
    uint32_t v;

    (void)state;
    assert_int_equal(dbus_parse(call, n, &h), 1);
    assert_int_equal(h.size, n);
    assert_int_equal(h.type, 1);
    find(call, n, "StartTransientUnit");
    find(call, n, "karzer-7.scope");
    find(call, n, "fail");
    memcpy(&v,
           call +
               ((size_t)(find(call, n, "Delegate") - call) + 9 + 3 + 3) / 4 * 4,
           4);
    assert_int_equal(v, 1);
    v = 0x1234567;
    assert_non_null(memmem(call, n, &v, sizeof(v)));
    assert_int_equal(dbus_scope_call("karzer-7.scope", 1, call, n - 1), 0);
}

/* An error that answers call 1, as systemd says it: two fields, REPLY_SERIAL
 * and ERROR_NAME, and one string. */
static size_t error_answer(uint8_t *out)
{
    static const uint8_t answer[] =
        "l\3\1\1\14\0\0\0\11\0\0\0\0\0\0\0" /* 12 bytes of body */
        "\5\1u\0\1\0\0\0\4\1s\0\4\0\0\0a.bc";
    const size_t fields = 8 + 8 + 5, head = (16 + fields + 7) / 8 * 8;

    memcpy(out, answer, 16);
    out[12] = (uint8_t)fields;
    memcpy(out + 16, answer + 16, fields);
    memset(out + 16 + fields, 0, head - 16 - fields);
    memcpy(out + head, "\7\0\0\0No\nway!", 12);
    return head + 12;
}

static void an_error_is_told_with_its_text(void **state)
{
    uint8_t m[128] = {0};
    size_t n = error_answer(m);
    struct dbus_head h;

    (void)state;
    assert_int_equal(dbus_parse(m, n, &h), 1);
    assert_int_equal(h.size, n);
    assert_int_equal(h.type, 3);
    assert_int_equal(h.reply, 1);
    assert_string_equal(h.error, "a.bc");
    assert_string_equal(h.text, "No?way!");
}

static void less_than_a_message_waits_for_more(void **state)
{
    uint8_t m[128] = {0};
    size_t n = error_answer(m);
    struct dbus_head h;

    (void)state;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(dbus_parse(m, i, &h), 0);
}

static void what_is_no_message_or_too_long_is_refused(void **state)
{
    uint8_t m[128] = {0};
    struct dbus_head h;

    (void)state;
    error_answer(m);
    m[0] = 'B';
    assert_int_equal(dbus_parse(m, sizeof(m), &h), -1);
    error_answer(m);
    m[7] = 0x7f; /* the body's length */
    assert_int_equal(dbus_parse(m, sizeof(m), &h), -1);
    error_answer(m);
    m[15] = 0x7f; /* the fields' length */
    assert_int_equal(dbus_parse(m, sizeof(m), &h), -1);
    error_answer(m);
    m[28] = 200; /* a string's length */
    assert_int_equal(dbus_parse(m, sizeof(m), &h), -1);
}

/* ---- whom it serves ---- */

/* What the one who listens thinks of a child that has done `first`. */
static int judged(int (*first)(void), struct err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(at.sun_family); /* any abstract name */
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int fd, r;
    pid_t pid;

    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    len = sizeof(at);
    getsockname(listener, (struct sockaddr *)&at, &len);
    assert_int_equal(listen(listener, 1), 0);
    pid = fork();
    if (pid == 0) {
        fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if ((first != NULL && first() < 0) ||
            connect(fd, (struct sockaddr *)&at, len) < 0)
            _exit(1);
        pause();
    }
    assert_true(fd_wait(listener, POLLIN, 10000));
    fd = accept(listener, NULL, NULL);
    r = peer_check(fd, err);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(fd);
    close(listener);
    return r;
}

static int fewer_files(void)
{
    const struct rlimit r = {16, 16};

    return setrlimit(RLIMIT_NOFILE, &r);
}

static int no_new_rights(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int another_user(void)
{
    return setresuid(54321, 54321, 54321);
}

static void who_is_as_we_are_is_served(void **state)
{
    struct err err = {0};

    (void)state;
    if (judged(NULL, &err) < 0)
        fail_msg("%s", err.text);
}

static void who_has_less_than_we_is_not(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(judged(fewer_files, &err), -1);
    assert_non_null(strstr(err.text, "lower"));
    assert_int_equal(judged(no_new_rights, &err), -1);
    assert_non_null(strstr(err.text, "confined"));
}

static void another_user_is_not(void **state)
{
    struct err err = {0};

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(judged(another_user, &err), -1);
    assert_non_null(strstr(err.text, "another user"));
}

/* ---- its life ---- */

struct place {
    char dir[64], file[96];
    struct sockaddr_un at;
    int lock, listener;
    pid_t pid;
};

static void place_make(struct place *p)
{
    int dir;

    memset(p, 0, sizeof(*p));
    snprintf(p->dir, sizeof(p->dir), "/tmp/karzer-unit-scope-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    dir = park_dir(p->dir, NULL);
    assert_true(dir >= 0);
    assert_int_equal(park_lock(dir, &p->lock, NULL), 0);
    assert_int_equal(park_listen(p->dir, &p->listener, NULL), 0);
    close(dir);
    p->at.sun_family = AF_UNIX;
    snprintf(p->at.sun_path, sizeof(p->at.sun_path), "%s/" SCOPE_SOCKET,
             p->dir);
}

static void place_remove(struct place *p)
{
    static const char *const names[] = {SCOPE_SOCKET, SCOPE_LOCK, SCOPE_DIR,
                                        "."};

    for (size_t i = 0; i < 4; i++) {
        snprintf(p->file, sizeof(p->file), "%s/%s", p->dir, names[i]);
        remove(p->file);
    }
    assert_int_equal(rmdir(p->dir) == 0 || access(p->dir, F_OK) != 0, 1);
}

/* Asks for `program`: the answer, and its pidfd. */
static struct scope_answer ask(struct place *p, const char *program,
                               uint32_t version, int *pidfd)
{
    struct scope_request req = {.version = version};
    struct scope_answer answer = {0};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const int fds[SCOPE_FDS] = {0, 0, 0, 0};

    snprintf(req.jail, sizeof(req.jail), "%s", program);
    assert_int_equal(connect(fd, (struct sockaddr *)&p->at, sizeof(p->at)), 0);
    assert_int_equal(fds_send(fd, &req, sizeof(req), fds, SCOPE_FDS), 0);
    *pidfd = -1;
    if (fds_recv(fd, &answer, sizeof(answer), pidfd, 1) < 0)
        answer.pid = 0;
    close(fd);
    return answer;
}

static void serve(struct place *p, int idle_ms)
{
    p->pid = fork();
    if (p->pid == 0) {
        park_serve(p->listener, idle_ms);
        _exit(7);
    }
}

static void a_holder_is_started_and_its_end_can_be_waited_for(void **state)
{
    struct place p;
    struct scope_answer answer;
    int pidfd;

    (void)state;
    place_make(&p);
    serve(&p, 10000);
    answer = ask(&p, "/bin/true", SCOPE_VERSION, &pidfd);
    assert_true(answer.pid > 0 && pidfd >= 0);
    assert_int_equal(spawn_wait(pidfd, 10000), 0);
    close(pidfd);
    kill(p.pid, SIGKILL);
    waitpid(p.pid, NULL, 0);
    place_remove(&p);
}

static void
what_is_no_program_or_of_another_version_is_not_started(void **state)
{
    struct place p;
    int pidfd;

    (void)state;
    place_make(&p);
    serve(&p, 10000);
    assert_int_equal(ask(&p, "/bin/true", 99, &pidfd).pid, 0);
    assert_int_equal(ask(&p, "true", SCOPE_VERSION, &pidfd).pid, 0);
    assert_int_equal(ask(&p, "/nowhere", SCOPE_VERSION, &pidfd).pid, 0);
    kill(p.pid, SIGKILL);
    waitpid(p.pid, NULL, 0);
    place_remove(&p);
}

static void unused_it_ends(void **state)
{
    struct place p;
    int status;

    (void)state;
    place_make(&p);
    serve(&p, 50);
    assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    place_remove(&p);
}

static void only_one_lives_and_a_dead_one_is_in_nobodys_way(void **state)
{
    struct place p;
    int dir, lock, listener;

    (void)state;
    place_make(&p);
    dir = park_dir(p.dir, NULL);
    assert_int_equal(park_lock(dir, &lock, NULL), -1);
    close(p.lock); /* as its death does */
    assert_int_equal(park_lock(dir, &lock, NULL), 0);
    assert_int_equal(park_listen(p.dir, &listener, NULL), 0);
    close(listener);
    close(lock);
    close(dir);
    place_remove(&p);
}

static void a_directory_that_others_can_enter_is_refused(void **state)
{
    char dir[] = "/tmp/karzer-unit-scope-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(park_dir(dir, NULL), -1);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_call_names_the_scope_the_process_and_that_it_is_delegated),
        cmocka_unit_test(an_error_is_told_with_its_text),
        cmocka_unit_test(less_than_a_message_waits_for_more),
        cmocka_unit_test(what_is_no_message_or_too_long_is_refused),
        cmocka_unit_test(who_is_as_we_are_is_served),
        cmocka_unit_test(who_has_less_than_we_is_not),
        cmocka_unit_test(another_user_is_not),
        cmocka_unit_test(a_holder_is_started_and_its_end_can_be_waited_for),
        cmocka_unit_test(
            what_is_no_program_or_of_another_version_is_not_started),
        cmocka_unit_test(unused_it_ends),
        cmocka_unit_test(only_one_lives_and_a_dead_one_is_in_nobodys_way),
        cmocka_unit_test(a_directory_that_others_can_enter_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
