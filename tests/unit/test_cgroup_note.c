/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notes in the slots, and groups that are found by them: made from within
 * another group than the sweep's. The tests of groups are skipped where this
 * user may not make any.
 */
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
#include "src/base/cgroup_group.h"
#include "src/base/slot.h"

static char dir[] = "/tmp/karzer-test-note-XXXXXX";
static struct cgroup_host host;
static unsigned slot;
static int slot_fd;

static char seen[SLOT_NOTE_MAX];
static unsigned seen_slot, seen_count;
static int answer;

static int look(unsigned at, const char *note)
{
    seen_slot = at;
    seen_count++;
    snprintf(seen, sizeof(seen), "%s", note);
    return answer;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(strrchr(dir, '-'), "-XXXXXX");
    answer = 0;
    seen_count = 0;
    if (mkdtemp(dir) == NULL || slot_take(dir, &slot, &slot_fd, NULL) < 0)
        return -1;
    cgroup_note_in(-1);
    return cgroup_find(&host, NULL);
}

static void drop_slot(void)
{
    if (slot_fd >= 0)
        close(slot_fd);
    slot_fd = -1;
}

static int tear_down(void **state)
{
    char path[64];

    (void)state;
    cgroup_note_in(-1);
    cgroup_close(&host);
    drop_slot();
    snprintf(path, sizeof(path), "%s/slots", dir);
    unlink(path);
    return rmdir(dir);
}

static void a_note_of_a_dead_owner_is_found_once(void **state)
{
    (void)state;
    assert_int_equal(slot_note(slot_fd, slot, "left: this\n"), 0);
    drop_slot();
    assert_int_equal(slot_notes(dir, look), 1);
    assert_int_equal(seen_slot, slot);
    assert_string_equal(seen, "left: this\n");
    assert_int_equal(slot_notes(dir, look), 0);
    assert_int_equal(seen_count, 1);
}

static void a_note_of_a_living_owner_is_not_touched(void **state)
{
    (void)state;
    assert_int_equal(slot_note(slot_fd, slot, "alive"), 0);
    assert_int_equal(slot_notes(dir, look), 0);
    assert_int_equal(seen_count, 0);
}

static void a_note_that_was_taken_back_is_not_found(void **state)
{
    (void)state;
    assert_int_equal(slot_note(slot_fd, slot, "left"), 0);
    assert_int_equal(slot_note(slot_fd, slot, NULL), 0);
    drop_slot();
    assert_int_equal(slot_notes(dir, look), 0);
    assert_int_equal(seen_count, 0);
}

static void a_note_stays_until_all_is_clean(void **state)
{
    (void)state;
    assert_int_equal(slot_note(slot_fd, slot, "stuck"), 0);
    drop_slot();
    answer = -1;
    assert_int_equal(slot_notes(dir, look), 0);
    answer = 0;
    assert_int_equal(slot_notes(dir, look), 1);
    assert_int_equal(seen_count, 2);
}

static void a_short_note_hides_a_longer_one(void **state)
{
    (void)state;
    assert_int_equal(slot_note(slot_fd, slot, "a long note"), 0);
    assert_int_equal(slot_note(slot_fd, slot, "short"), 0);
    drop_slot();
    assert_int_equal(slot_notes(dir, look), 1);
    assert_string_equal(seen, "short");
}

static void a_note_that_does_not_fit_is_refused(void **state)
{
    char note[SLOT_NOTE_MAX + 1];

    (void)state;
    memset(note, 'x', sizeof(note));
    note[SLOT_NOTE_MAX] = '\0';
    assert_int_equal(slot_note(slot_fd, slot, note), -1);
    note[SLOT_NOTE_MAX - 1] = '\0';
    assert_int_equal(slot_note(slot_fd, slot, note), 0);
    drop_slot();
    assert_int_equal(slot_notes(dir, look), 1);
    assert_string_equal(seen, note);
}

static void a_directory_without_slots_has_no_notes(void **state)
{
    (void)state;
    assert_int_equal(slot_notes("/nonexistent", look), 0);
}

static void a_note_that_names_no_place_is_nothing(void **state)
{
    static const char *const bad[] = {
        "",
        "\n",
        "1 1 \n",
        "1 1 =\n",
        "1 1 relative\n",
        "1 0 /\n",
        "1 16 /\n",
        "3 1 /\n",
        "1 1 /../..\n",
        "1 1 /a/../b\n",
        "1 1 /",
        "1 1 /no/such/group/anywhere\n",
        "words\n",
    };
    struct cgroup_host read;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cgroup_note_read(bad[i], &read);
        assert_int_equal(read.count, 0);
    }
}

static void need_groups(void)
{
    if (host.count == 0)
        skip();
}

static int exists(unsigned tree, const char *path)
{
    return faccessat(host.tree[tree].parent_fd, path, F_OK, 0) == 0;
}

static void a_note_says_where_the_groups_are(void **state)
{
    struct cgroup_host read;
    struct cgroup group;

    (void)state;
    need_groups();
    cgroup_note_in(slot_fd);
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    assert_int_equal(pread(slot_fd, seen, sizeof(seen),
                           (off_t)(SLOT_COUNT + slot * SLOT_NOTE_MAX)) > 0,
                     1);
    cgroup_note_read(seen, &read);
    assert_int_equal(read.count, host.count);
    for (unsigned i = 0; i < read.count; i++) {
        assert_string_equal(read.tree[i].path, host.tree[i].path);
        assert_int_equal(read.tree[i].depth, host.tree[i].depth);
        assert_int_equal(faccessat(read.tree[i].parent_fd, group.name, F_OK, 0),
                         0);
    }
    cgroup_close(&read);
    assert_int_equal(cgroup_remove(&host, &group), 0);
    drop_slot();
    assert_int_equal(slot_notes(dir, look), 0);
}

/* Lets the last tree's groups be made below another group, as a holder does
 * that was started in there; its name. */
static const char *move_last(void)
{
    struct cgroup_tree *tree = &host.tree[host.count - 1];
    static char name[64];
    size_t len = strlen(tree->path);
    int fd;

    snprintf(name, sizeof(name), "note-test-%u", slot);
    assert_int_equal(mkdirat(tree->parent_fd, name, 0755), 0);
    fd = openat(tree->parent_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    close(tree->parent_fd);
    tree->parent_fd = fd;
    snprintf(tree->path + len, sizeof(tree->path) - len, "%s%s",
             len == 1 ? "" : "/", name);
    return name;
}

/* A process in every tree, that keeps no descriptor and so no lock. */
static pid_t start_in(const struct cgroup *group)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        for (int fd = 3; fd < 256; fd++)
            if (fd != ready[1])
                close(fd);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    for (unsigned i = 0; i < host.count; i++) {
        char text[32];
        int fd = openat(group->dir[i], "cgroup.procs", O_WRONLY);

        snprintf(text, sizeof(text), "%d", pid);
        assert_true(fd >= 0 && write(fd, text, strlen(text)) > 0);
        close(fd);
    }
    return pid;
}

static void a_sweep_from_another_group_kills_and_removes(void **state)
{
    const char *elsewhere;
    struct cgroup group;
    int status;
    pid_t pid;

    (void)state;
    need_groups();
    elsewhere = move_last();
    cgroup_note_in(slot_fd);
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    pid = start_in(&group);
    for (unsigned i = host.count; i-- > 0;)
        close(group.dir[i]);
    assert_true(exists(host.count - 1, group.name));
    drop_slot();
    cgroup_note_in(-1);
    assert_true(cgroup_sweep(dir, NULL) >= 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    for (unsigned i = 0; i < host.count; i++)
        assert_false(exists(i, group.name));
    snprintf(seen, sizeof(seen), "../%s", elsewhere);
    assert_int_equal(
        unlinkat(host.tree[host.count - 1].parent_fd, seen, AT_REMOVEDIR), 0);
}

static void the_next_owner_of_the_slot_removes_it_first(void **state)
{
    const char *elsewhere;
    struct cgroup_host now;
    struct cgroup group;
    int status;
    pid_t pid;

    (void)state;
    need_groups();
    assert_int_equal(cgroup_find(&now, NULL), 0);
    elsewhere = move_last();
    cgroup_note_in(slot_fd);
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    pid = start_in(&group);
    for (unsigned i = host.count; i-- > 0;)
        close(group.dir[i]);
    assert_int_equal(cgroup_make(&now, slot, &group, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_false(exists(host.count - 1, group.name));
    assert_int_equal(cgroup_remove(&now, &group), 0);
    cgroup_close(&now);
    snprintf(seen, sizeof(seen), "../%s", elsewhere);
    assert_int_equal(
        unlinkat(host.tree[host.count - 1].parent_fd, seen, AT_REMOVEDIR), 0);
}

static void a_sweep_leaves_a_noted_group_that_is_held(void **state)
{
    struct cgroup group;

    (void)state;
    need_groups();
    cgroup_note_in(slot_fd);
    assert_int_equal(cgroup_make(&host, slot, &group, NULL), 0);
    drop_slot();
    cgroup_note_in(-1);
    assert_true(cgroup_sweep(dir, NULL) >= 0);
    for (unsigned i = 0; i < host.count; i++)
        assert_true(exists(i, group.name));
    assert_int_equal(cgroup_remove(&host, &group), 0);
    /* The note outlived it, and goes with the next sweep. */
    assert_int_equal(cgroup_sweep(dir, NULL), 1);
    assert_int_equal(slot_notes(dir, look), 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_note_of_a_dead_owner_is_found_once),
        CASE(a_note_of_a_living_owner_is_not_touched),
        CASE(a_note_that_was_taken_back_is_not_found),
        CASE(a_note_stays_until_all_is_clean),
        CASE(a_short_note_hides_a_longer_one),
        CASE(a_note_that_does_not_fit_is_refused),
        CASE(a_directory_without_slots_has_no_notes),
        CASE(a_note_that_names_no_place_is_nothing),
        CASE(a_note_says_where_the_groups_are),
        CASE(a_sweep_from_another_group_kills_and_removes),
        CASE(the_next_owner_of_the_slot_removes_it_first),
        CASE(a_sweep_leaves_a_noted_group_that_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
