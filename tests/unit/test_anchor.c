/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_anchor - anchors: when they are sent, where to, what reads them back,
 * what verify finds with them; and the operator's settings.
 */
#include "src/core/anchor.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "src/core/record.h"
#include "tests/unit/boundary_dir.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A record whose anchors go to `target`, one each two lines. */
static struct boundary *anchored(const char *target)
{
    struct boundary *b = opened();

    boundary_settings(
        b, &(struct record_settings){.anchor = target, .anchor_every = 2});
    return b;
}

static size_t read_back(struct anchors *all)
{
    struct err err = {0};

    if (anchors_read(all, path("anchors"), dir, &err) < 0)
        fail_msg("%s", err.text);
    anchors_sort(all);
    return all->len;
}

/* A file of another owner: only root can make one. */
static void make_target(void)
{
    if (geteuid() != 0)
        skip();
    spit("anchors", "", 0);
    assert_int_equal(chown(path("anchors"), 12345, 12345), 0);
}

static void each_so_many_lines_an_anchor_is_sent(void **state)
{
    char target[128];
    struct anchors all = {0};
    struct boundary *b;
    size_t len;

    (void)state;
    make_target();
    snprintf(target, sizeof(target), "%s", path("anchors"));
    b = anchored(target);
    for (int i = 0; i < 7; i++)
        add(b, i);
    boundary_close(b);
    assert_int_equal(read_back(&all), 3);
    assert_int_equal(all.at[0].seq, 2);
    assert_int_equal(all.at[2].seq, 6);
    assert_int_equal(boundary_verify(dir, &all, NULL, NULL), 0);
    free(slurp("boundary.jsonl", &len));
    assert_int_equal(good(NULL), 7); /* no anchor.failed */
    anchors_fini(&all);
}

static void a_full_file_is_followed_by_an_anchor(void **state)
{
    char target[128];
    struct anchors all = {0};
    struct boundary *b;

    (void)state;
    make_target();
    snprintf(target, sizeof(target), "%s", path("anchors"));
    b = opened();
    boundary_settings(b, &(struct record_settings){.anchor = target,
                                                   .anchor_every = 1000,
                                                   .rotate_at = 1000});
    for (int i = 0; i < 20; i++)
        add(b, i);
    boundary_close(b);
    assert_true(read_back(&all) >= 3);
    assert_int_equal(boundary_verify(dir, &all, NULL, NULL), 0);
    anchors_fini(&all);
}

static void a_file_of_the_owner_is_taken_when_it_can_only_grow(void **state)
{
    AUTO(fd) int fd = -1;
    char target[128];
    int flags = FS_APPEND_FL, none = 0;
    struct anchors all = {0};
    struct boundary *b;

    (void)state;
    spit("anchors", "", 0);
    fd = open(path("anchors"), O_RDONLY);
    if (ioctl(fd, FS_IOC_SETFLAGS, &flags) < 0)
        skip(); /* not on this file system, or not by this user */
    snprintf(target, sizeof(target), "%s", path("anchors"));
    b = anchored(target);
    add(b, 1);
    add(b, 2);
    boundary_close(b);
    assert_int_equal(ioctl(fd, FS_IOC_SETFLAGS, &none), 0);
    assert_int_equal(read_back(&all), 1);
    anchors_fini(&all);
}

/* What the last anchor alone would not tell: one of the old chain. */
static void any_anchor_tells_of_a_rewritten_chain(void **state)
{
    char target[128];
    struct anchors all = {0};
    struct err err = {0};
    struct boundary *b;

    (void)state;
    make_target();
    snprintf(target, sizeof(target), "%s", path("anchors"));
    b = anchored(target);
    add(b, 1);
    add(b, 2);
    boundary_close(b);
    assert_int_equal(unlink(path("boundary.jsonl")), 0);
    b = anchored(target);
    for (int i = 0; i < 6; i++)
        add(b, i);
    boundary_close(b);
    assert_int_equal(good(NULL), 6);
    assert_int_equal(read_back(&all), 4);
    assert_int_equal(boundary_verify(dir, &all, NULL, &err), -1);
    assert_non_null(strstr(err.text, "rewritten"));
    anchors_fini(&all);
}

static int socket_at(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path(name));
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static void syslog_gets_a_line_that_reads_back(void **state)
{
    AUTO(fd) int fd = socket_at("log");
    char target[128], line[4096] = "", head[100];
    struct anchors all = {0};
    struct boundary *b;

    (void)state;
    snprintf(target, sizeof(target), "syslog:%s", path("log"));
    b = anchored(target);
    add(b, 1);
    assert_int_equal(recv(fd, line, sizeof(line) - 1, 0), -1);
    add(b, 2);
    assert_true(recv(fd, line, sizeof(line) - 1, 0) > 0);
    boundary_close(b);
    assert_memory_equal(line, "<85>karzer[", 11);
    assert_int_equal(anchors_add(&all, line, dir, NULL), 1);
    assert_int_equal(boundary_head(dir, head, sizeof(head), NULL), 0);
    assert_int_equal(all.at[0].seq, 2);
    assert_string_equal(all.at[0].hash, head + 2);
    anchors_fini(&all);
}

static int count_kind(const json_t *record, void *ctx)
{
    assert_string_equal(json_string_value(json_object_get(record, "run")), RUN);
    ++*(int *)ctx;
    return 0;
}

static int failed_anchors(void)
{
    const struct boundary_filter f = {.kind = "anchor.failed"};
    int n = 0;

    assert_int_equal(boundary_read(dir, &f, count_kind, &n, NULL), 0);
    return n;
}

static void an_anchor_that_cannot_be_sent_is_an_event(void **state)
{
    static const char *const targets[] = {
        "syslog:%s/none", "%s/none", "%s", "%s/mine", "%s/link", "%s/fifo"};
    struct boundary_sum sum = {0};

    (void)state;
    spit("mine", "", 0);
    assert_int_equal(symlink("mine", path("link")), 0);
    assert_int_equal(mkfifo(path("fifo"), 0600), 0);
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        json_t *copy = json_array();
        char target[128];
        struct boundary *b;

        snprintf(target, sizeof(target), targets[i], dir);
        b = anchored(target);
        assert_int_equal(
            boundary_write(b, EVENT_FILE_IN, RUN, NULL, copy, NULL), 0);
        assert_int_equal(
            boundary_write(b, EVENT_FILE_IN, RUN, NULL, copy, NULL), 0);
        boundary_close(b);
        assert_in_range(json_array_size(copy), 3, 4);
        json_decref(copy);
    }
    assert_true(failed_anchors() >= (int)ARRAY_LEN(targets));
    assert_int_equal(checked(NULL, &sum, NULL), 0);
    assert_int_equal(sum.unanchored, failed_anchors());
}

/* A daemon that does not read must not stop a run. */
static void a_full_socket_does_not_block(void **state)
{
    AUTO(fd) int fd = socket_at("log");
    char target[128];
    struct boundary *b;

    (void)state;
    (void)fd;
    snprintf(target, sizeof(target), "syslog:%s", path("log"));
    b = anchored(target);
    for (int i = 0; i < 5000 && failed_anchors() == 0; i += 100)
        for (int k = 0; k < 100; k++)
            add(b, k);
    boundary_close(b);
    assert_true(failed_anchors() > 0);
}

static void lines_of_others_are_no_anchors(void **state)
{
    static const char *const no[] = {"",
                                     "4 12",
                                     "anchor 4 " HASH,
                                     "anchor 4 " HASH " of /other",
                                     "anchor 4 " HASH " of /rec/more",
                                     "anchor 4 " HASH " of /re",
                                     "anchor x " HASH " of /rec",
                                     "anchor 04 " HASH " of /rec",
                                     "anchor 4 " HASH "0 of /rec",
                                     "4 " HASH " of /rec",
                                     "4 " HASH " ",
                                     "Dec  1 12:00:00 host sshd[1]: hello"};
    static const char *const yes[] = {
        "4 " HASH, "anchor 4 " HASH " of /rec",
        "Dec  1 12:00:00 host karzer[1]: anchor 4 " HASH " of /rec",
        "karzer[1]: anchor 3 01232026 karzer[2]: anchor 4 " HASH " of /rec"};
    struct anchors all = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        if (anchors_add(&all, no[i], "/rec", NULL) != 0)
            fail_msg("taken: %s", no[i]);
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        if (anchors_add(&all, yes[i], "/rec", NULL) != 1)
            fail_msg("not taken: %s", yes[i]);
    assert_int_equal(all.len, ARRAY_LEN(yes));
    assert_int_equal(
        anchors_add(&all, "anchor 4 " HASH " of /a%0Ab%20c", "/a\nb c", NULL),
        1);
    anchors_fini(&all);
}

static void anchors_are_found_among_lines_of_any_length(void **state)
{
    size_t len = 2000000;
    AUTO(mem) char *text = malloc(len);
    struct anchors all = {0};
    struct err err = {0};
    char line[256];
    int n = snprintf(line, sizeof(line), "anchor 4 " HASH " of %s\n", dir);

    (void)state;
    memset(text, 'x', len);
    memcpy(text, line, (size_t)n);
    text[1000000] = '\n';
    memcpy(text + len - n, line, (size_t)n);
    text[len - (size_t)n - 1] = '\n';
    spit("anchors", text, len);
    assert_int_equal(read_back(&all), 2);
    anchors_fini(&all);
    spit("anchors", text + n, len - 2 * (size_t)n);
    assert_int_equal(anchors_read(&all, path("anchors"), dir, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "no anchor of this record"));
}

static void settings_are_read_or_refused_by_name(void **state)
{
    struct record_settings s = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(record_settings_parse(&s, NULL, NULL, NULL, NULL), 0);
    assert_null(s.anchor);
    assert_int_equal(record_settings_parse(&s, "syslog", "7", "1M", NULL), 0);
    assert_string_equal(s.anchor, "syslog");
    assert_int_equal(s.anchor_every, 7);
    assert_int_equal(s.rotate_at, 1 << 20);
    assert_int_equal(record_settings_parse(&s, "syslog:x", NULL, NULL, &err),
                     -1);
    assert_memory_equal(err.text, "KARZER_ANCHOR: ", 15);
    assert_int_equal(record_settings_parse(&s, "", NULL, NULL, NULL), -1);
    assert_int_equal(record_settings_parse(&s, "a/b", NULL, NULL, NULL), -1);
    assert_int_equal(record_settings_parse(&s, NULL, "0", NULL, &err), -1);
    assert_memory_equal(err.text, "KARZER_ANCHOR_EVERY: ", 21);
    assert_int_equal(record_settings_parse(&s, NULL, NULL, "1", &err), -1);
    assert_memory_equal(err.text, "KARZER_RECORD_SIZE: ", 20);
}

int main(void)
{
#define EACH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(each_so_many_lines_an_anchor_is_sent),
        EACH(a_full_file_is_followed_by_an_anchor),
        EACH(a_file_of_the_owner_is_taken_when_it_can_only_grow),
        EACH(any_anchor_tells_of_a_rewritten_chain),
        EACH(syslog_gets_a_line_that_reads_back),
        EACH(an_anchor_that_cannot_be_sent_is_an_event),
        EACH(a_full_socket_does_not_block),
        EACH(lines_of_others_are_no_anchors),
        EACH(anchors_are_found_among_lines_of_any_length),
        EACH(settings_are_read_or_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
