/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: made, held, emptied, removed, swept. Needs a host where this user may
 * make groups; else each test is skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/cgroup.h"
#include "src/base/slot.h"

static char dir[] = "/tmp/karzer-test-cgroup-XXXXXX";
static struct cgroup_host host;
static unsigned slot;
static int slot_fd = -1;

static int set_up(void **state)
{
    (void)state;
    strcpy(strrchr(dir, '-'), "-XXXXXX");
    if (mkdtemp(dir) == NULL || slot_take(dir, &slot, &slot_fd, NULL) < 0)
        return -1;
    return cgroup_find(&host, NULL);
}

static int tear_down(void **state)
{
    char path[64];

    (void)state;
    cgroup_close(&host);
    close(slot_fd);
    snprintf(path, sizeof(path), "%s/slots", dir);
    unlink(path);
    return rmdir(dir);
}

static void need_groups(void)
{
    if (host.count == 0)
        skip();
}

static int exists(unsigned tree, const char *name)
{
    return faccessat(host.tree[tree].parent_fd, name, F_OK, 0) == 0;
}

/* A process in every tree of the group, which ignores polite signals. */
static pid_t start_in(const struct cgroup *group)
{
    int procs[CGROUP_PART_COUNT];
    pid_t pid = fork();

    if (pid != 0) {
        int ready = 0;

        for (int i = 0; i < 2000 && !ready; i++, usleep(1000))
            ready = cgroup_holds(&host, group, pid) == 1;
        assert_true(ready);
        return pid;
    }
    signal(SIGTERM, SIG_IGN);
    for (unsigned i = 0; i < host.count; i++)
        procs[i] = openat(group->dir[i], "cgroup.procs", O_WRONLY);
    /* Holds no lock: only the parent's descriptors do. */
    close(slot_fd);
    for (unsigned i = 0; i < host.count; i++)
        close(group->dir[i]);
    /* The first tree last: then the parent sees that all are done. */
    for (unsigned i = host.count; i-- > 0;)
        if (write(procs[i], "0", 1) != 1)
            _exit(1);
    for (;;)
        pause();
}

static void a_group_is_made_in_every_tree_and_removed(void **state)
{
    struct cgroup group;

    (void)state;
    need_groups();
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    for (unsigned i = 0; i < host.count; i++)
        assert_true(exists(i, group.name));
    assert_int_equal(cgroup_remove(&host, &group), 0);
    for (unsigned i = 0; i < host.count; i++)
        assert_false(exists(i, group.name));
}

static void a_group_is_closed_to_other_users(void **state)
{
    struct cgroup group;
    struct stat st;

    (void)state;
    need_groups();
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    assert_int_equal(fstat(group.dir[0], &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(cgroup_remove(&host, &group), 0);
}

static void a_held_group_is_not_made_twice(void **state)
{
    struct cgroup_host other;
    struct cgroup group, second;
    struct err err = {0};

    (void)state;
    need_groups();
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    assert_int_equal(cgroup_find(&other, NULL), 0);
    assert_int_equal(cgroup_make(&other, slot, &second, &err), -1);
    assert_non_null(strstr(err.text, "held by another run"));
    cgroup_close(&other);
    assert_int_equal(cgroup_remove(&host, &group), 0);
}

static void processes_are_known_and_killed(void **state)
{
    struct cgroup group;
    int status;
    pid_t pid;

    (void)state;
    need_groups();
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    assert_int_equal(cgroup_holds(&host, &group, getpid()), 0);
    pid = start_in(&group);
    assert_int_equal(cgroup_empty(&host, &group), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(cgroup_holds(&host, &group, pid), 0);
    assert_int_equal(cgroup_remove(&host, &group), 0);
}

static void drop_without_removing(struct cgroup *group)
{
    for (int i = CGROUP_PART_COUNT - 1; i >= 0; i--) {
        if (group->dir[i] >= 0)
            close(group->dir[i]);
        group->dir[i] = -1;
    }
}

static void what_a_dead_holder_left_is_made_anew(void **state)
{
    struct cgroup group;
    int status;
    pid_t pid;

    (void)state;
    need_groups();
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    pid = start_in(&group);
    drop_without_removing(&group);
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(cgroup_remove(&host, &group), 0);
}

static void a_sweep_leaves_what_has_an_owner(void **state)
{
    struct cgroup group;
    struct err err = {0};

    (void)state;
    need_groups();
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    assert_true(cgroup_sweep(dir, &err) >= 0);
    assert_true(exists(0, group.name));
    /* The slot is free, but the group's own lock is held. */
    close(slot_fd);
    slot_fd = -1;
    assert_true(cgroup_sweep(dir, &err) >= 0);
    assert_true(exists(0, group.name));
    assert_int_equal(cgroup_remove(&host, &group), 0);
}

static void a_sweep_removes_what_has_none(void **state)
{
    struct cgroup group;
    int status;
    pid_t pid;

    (void)state;
    need_groups();
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    pid = start_in(&group);
    drop_without_removing(&group);
    close(slot_fd);
    slot_fd = -1;
    assert_true(cgroup_sweep(dir, NULL) >= 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (unsigned i = 0; i < host.count; i++)
        assert_false(exists(i, group.name));
}

/* As if the holder had run in another group of the last tree: moves that part.
 * 0: there is only one tree, and everything is in one place. */
static int leave_part_elsewhere(char *name, char *elsewhere, char *path)
{
    struct cgroup group;
    unsigned last = host.count - 1;

    if (last == 0)
        return 0;
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    sprintf(name, "%s", group.name);
    sprintf(elsewhere, "other-%u", slot);
    sprintf(path, "%s/%s", elsewhere, name);
    assert_int_equal(unlinkat(host.tree[last].parent_fd, name, AT_REMOVEDIR),
                     0);
    assert_int_equal(mkdirat(host.tree[last].parent_fd, elsewhere, 0755), 0);
    assert_int_equal(mkdirat(host.tree[last].parent_fd, path, 0755), 0);
    drop_without_removing(&group);
    return 1;
}

static void a_sweep_finds_parts_below_another_group(void **state)
{
    char elsewhere[64], name[64], path[160];
    unsigned last;

    (void)state;
    need_groups();
    if (!leave_part_elsewhere(name, elsewhere, path))
        skip();
    last = host.count - 1;
    close(slot_fd);
    slot_fd = -1;
    assert_true(cgroup_sweep(dir, NULL) >= 1);
    assert_false(exists(last, path));
    assert_false(exists(0, name));
    assert_int_equal(
        unlinkat(host.tree[last].parent_fd, elsewhere, AT_REMOVEDIR), 0);
}

static void a_new_group_clears_parts_below_another_group(void **state)
{
    char elsewhere[64], name[64], path[160];
    struct cgroup group;
    unsigned last;

    (void)state;
    need_groups();
    if (!leave_part_elsewhere(name, elsewhere, path))
        skip();
    last = host.count - 1;
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    assert_false(exists(last, path));
    assert_int_equal(cgroup_remove(&host, &group), 0);
    assert_int_equal(
        unlinkat(host.tree[last].parent_fd, elsewhere, AT_REMOVEDIR), 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_group_is_made_in_every_tree_and_removed),
        CASE(a_group_is_closed_to_other_users),
        CASE(a_held_group_is_not_made_twice),
        CASE(processes_are_known_and_killed),
        CASE(what_a_dead_holder_left_is_made_anew),
        CASE(a_sweep_leaves_what_has_an_owner),
        CASE(a_sweep_removes_what_has_none),
        CASE(a_sweep_finds_parts_below_another_group),
        CASE(a_new_group_clears_parts_below_another_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
