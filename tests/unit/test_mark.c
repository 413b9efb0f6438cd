/* SPDX-License-Identifier: Apache-2.0 */
/* test_mark - who carries a mark is found and ended, and nobody else. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/fd.h"
#include "src/base/mark.h"
#include "src/base/slot.h"

struct place {
    char dir[64];
    unsigned slot;
    int fd;
    uint64_t mark;
    char note[SLOT_NOTE_MAX];
};

static struct place *at;

static int keep_note(unsigned slot, const char *note)
{
    assert_int_equal(slot, at->slot);
    snprintf(at->note, sizeof(at->note), "%s", note);
    return 0;
}

static void place_make(struct place *p)
{
    at = p;
    snprintf(p->dir, sizeof(p->dir), "/tmp/karzer-unit-mark-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    assert_int_equal(slot_take(p->dir, &p->slot, &p->fd, NULL), 0);
    assert_int_equal(mark_make(p->fd, p->slot, &p->mark, NULL), 0);
    assert_int_equal(slot_inherit(p->fd, p->slot, keep_note), 0);
}

static void place_remove(struct place *p)
{
    char path[80];

    close(p->fd);
    snprintf(path, sizeof(path), "%s/slots", p->dir);
    unlink(path);
    assert_int_equal(rmdir(p->dir), 0);
}

/* A child that waits, with this limit on real time; 0: as it is. */
static pid_t child(uint64_t limit)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        const struct rlimit r = {limit, limit};

        if (limit != 0 && setrlimit(RLIMIT_RTTIME, &r) < 0)
            _exit(1);
        (void)!write(ready[1], "x", 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

/* It was not touched: now it ends. */
static void end_alive(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

static void who_carries_the_mark_is_ended_and_nobody_else(void **state)
{
    struct place p = {0};
    pid_t marked, other, plain;
    int status = 0;

    (void)state;
    place_make(&p);
    other = child(p.mark - 1);
    plain = child(0);
    assert_true(mark_is_note(p.note));
    assert_int_equal(mark_sweep(p.note), 0);
    end_alive(other);
    end_alive(plain);
    marked = child(p.mark);
    assert_int_equal(mark_sweep(p.note), 0);
    assert_int_equal(waitpid(marked, &status, 0), marked);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    place_remove(&p);
}

static void a_note_that_no_holder_wrote_ends_nobody(void **state)
{
    static const char *const notes[] = {"mark \n", "mark 5\n", "mark -1\n",
                                        "mark x", "mark 99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        pid_t pid = child(5);

        mark_sweep(notes[i]);
        end_alive(pid);
    }
    assert_false(mark_is_note("1 3 /a\n"));
    assert_int_equal(mark_sweep("mark 5\n"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_carries_the_mark_is_ended_and_nobody_else),
        cmocka_unit_test(a_note_that_no_holder_wrote_ends_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
