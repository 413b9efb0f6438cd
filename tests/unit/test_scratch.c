/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sweep of scratch takes, and what it leaves to other users. In a
 * directory of its own; the part with several users needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/auto.h"
#include "src/base/scratch.h"
#include "src/base/slot.h"

#define SLOT 7u
#define OTHER 4242u

static char dir[] = "/tmp/karzer-test-scratch-XXXXXX";
static char slots[64], path[64];

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(slots, sizeof(slots), "%s/slots", dir);
    snprintf(path, sizeof(path), "%s/karzer-%u", dir, SLOT);
    return mkdir(slots, 0700);
}

static int tear_down(void **state)
{
    char file[80];

    (void)state;
    snprintf(file, sizeof(file), "%s/slots", slots);
    unlink(file);
    rmdir(slots);
    return rmdir(dir);
}

static void made_by(uid_t uid)
{
    assert_int_equal(mkdir(path, 0700), 0);
    if (uid != geteuid())
        assert_int_equal(chown(path, uid, uid), 0);
}

static void a_sweep_takes_what_nobody_holds(void **state)
{
    (void)state;
    made_by(geteuid());
    assert_int_equal(scratch_sweep(dir, slots, NULL), 1);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_sweep_leaves_what_is_held(void **state)
{
    struct err err;
    AUTO(fd)
    int fd = scratch_make(dir, SLOT, geteuid(), getegid(), &err);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(scratch_sweep(dir, slots, NULL), 0);
    fd_drop(&fd);
    assert_int_equal(scratch_sweep(dir, slots, NULL), 1);
}

static void a_sweep_leaves_what_is_another_users(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    made_by(OTHER);
    assert_int_equal(scratch_sweep(dir, slots, NULL), 0);
    assert_int_equal(rmdir(path), 0);
}

static void a_sweep_of_root_takes_what_its_cell_had(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    made_by(SLOT_UID_BASE + SLOT + 1);
    assert_int_equal(scratch_sweep(dir, slots, NULL), 0);
    assert_int_equal(chown(path, SLOT_UID_BASE + SLOT, 0), 0);
    assert_int_equal(scratch_sweep(dir, slots, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_takes_what_nobody_holds),
        cmocka_unit_test(a_sweep_leaves_what_is_held),
        cmocka_unit_test(a_sweep_leaves_what_is_another_users),
        cmocka_unit_test(a_sweep_of_root_takes_what_its_cell_had),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
