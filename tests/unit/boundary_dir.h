/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary_dir - a record in a directory of its own, for the tests of
 * boundary.h. Included once per test program.
 */
#ifndef KARZER_TESTS_UNIT_BOUNDARY_DIR_H
#define KARZER_TESTS_UNIT_BOUNDARY_DIR_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/core/boundary.h"

#define RUN "01jzzzzzzzzzzzzzzzzzzzzzzz"

static char dir[64];

static inline int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/karzer-record-XXXXXX");
    return mkdtemp(dir) == NULL ? -1 : 0;
}

static inline int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r -- '%s'", dir);
    return system(command);
}

static inline const char *path(const char *name)
{
    static char out[2][128];
    static int turn;

    turn = !turn;
    snprintf(out[turn], sizeof(out[turn]), "%s/%s", dir, name);
    return out[turn];
}

static inline struct boundary *opened(void)
{
    struct boundary *b = NULL;
    struct err err = {0};

    if (boundary_open(&b, dir, &err) < 0)
        fail_msg("%s", err.text);
    return b;
}

static inline void add(struct boundary *b, int n)
{
    struct err err = {0};
    json_t *f = json_pack("{s:i,s:s}", "size", n, "path", "/some/path");

    if (boundary_write(b, EVENT_FILE_IN, RUN, f, NULL, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void made(int count)
{
    struct boundary *b = opened();

    for (int i = 0; i < count; i++)
        add(b, i);
    boundary_close(b);
}

/* Verifies with "N HASH" (NULL: none). */
static inline int checked(const char *anchor, struct boundary_sum *sum,
                          struct err *err)
{
    struct anchors all = {0};
    int rc;

    if (anchor != NULL)
        assert_int_equal(anchors_add(&all, anchor, dir, err), 1);
    rc = boundary_verify(dir, &all, sum, err);
    anchors_fini(&all);
    return rc;
}

static inline uint64_t good(const char *anchor)
{
    struct boundary_sum sum = {0};
    struct err err = {0};

    if (checked(anchor, &sum, &err) < 0)
        fail_msg("%s", err.text);
    return sum.lines;
}

static inline void bad(const char *anchor, const char *why)
{
    struct err err = {0};

    if (checked(anchor, NULL, &err) == 0)
        fail_msg("not found: %s", why);
    assert_int_equal(err.code, ERR_INVALID);
    if (strstr(err.text, why) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", err.text, why);
}

/* A file of this record is full at this size. */
static inline void full_at(struct boundary *b, uint64_t size)
{
    boundary_settings(b, &(struct record_settings){.rotate_at = size});
}

/* The whole of a file; free() it. */
static inline char *slurp(const char *name, size_t *len)
{
    AUTO(fd) int fd = open(path(name), O_RDONLY);
    char *data = malloc(1u << 20);
    ssize_t n = fd_read_full(fd, data, (1u << 20) - 1);

    assert_true(n >= 0);
    data[n] = '\0';
    *len = (size_t)n;
    return data;
}

static inline void spit(const char *name, const char *data, size_t len)
{
    AUTO(fd) int fd = open(path(name), O_WRONLY | O_TRUNC | O_CREAT, 0600);

    assert_int_equal(fd_write_all(fd, data, len), 0);
}

#endif
