/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_files - file operations of a real agent, on hostile trees. */
#include "tests/unit/agent_peer.h"

#include <sys/stat.h>

static struct peer peer;
static char top[64]; /* a directory of this test alone */

#define CMD 4

static const char *at(const char *name)
{
    static char path[8][4096];
    static int next;
    char *to = path[next++ % 8];

    snprintf(to, sizeof(path[0]), "%s/%s", top, name);
    return to;
}

static void send_path(uint16_t type, const char *path)
{
    peer_send(&peer, type, CMD, path, strlen(path) + 1);
}

static void send_two(uint16_t type, const char *first, const char *second)
{
    char text[8192];
    int n = snprintf(text, sizeof(text), "%s%c%s", first, 0, second);

    peer_send(&peer, type, CMD, text, (size_t)n + 1);
}

static void send_put(const char *path, uint32_t mode, uint64_t size)
{
    char text[sizeof(struct agent_put) + 4096];
    const struct agent_put put = {.mode = mode, .size = size};

    memcpy(text, &put, sizeof(put));
    strcpy(text + sizeof(put), path);
    peer_send(&peer, AGENT_FILE_PUT, CMD, text, sizeof(put) + strlen(path) + 1);
}

static void send_mkdir(const char *path, uint32_t mode)
{
    char text[4 + 4096];

    memcpy(text, &mode, sizeof(mode));
    strcpy(text + sizeof(mode), path);
    peer_send(&peer, AGENT_FILE_MKDIR, CMD, text,
              sizeof(mode) + strlen(path) + 1);
}

static void expect_error(int number)
{
    uint32_t sys;

    assert_int_equal(peer_next(&peer), AGENT_FILE_ERROR);
    assert_int_equal(peer.head.cmd, CMD);
    memcpy(&sys, peer.payload, sizeof(sys));
    assert_int_equal(sys, number);
}

static void expect_done(void)
{
    int type = peer_next(&peer);

    if (type == AGENT_FILE_ERROR) {
        uint32_t sys;

        memcpy(&sys, peer.payload, sizeof(sys));
        fail_msg("the agent says: %s", strerror((int)sys));
    }
    assert_int_equal(type, AGENT_FILE_DONE);
}

static struct agent_stat expect_stated(void)
{
    struct agent_stat st;

    assert_int_equal(peer_next(&peer), AGENT_FILE_STATED);
    memcpy(&st, peer.payload, sizeof(st));
    return st;
}

static void put(const char *path, const char *text)
{
    send_put(path, 0644, strlen(text));
    peer_send(&peer, AGENT_FILE_DATA, CMD, text, strlen(text));
    peer_send(&peer, AGENT_FILE_END, CMD, NULL, 0);
}

static void make_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void check_file(const char *path, const char *text)
{
    char got[256];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n;

    assert_true(fd >= 0);
    n = read(fd, got, sizeof(got) - 1);
    assert_true(n >= 0);
    got[n] = 0;
    close(fd);
    assert_string_equal(got, text);
}

/* How many names are in `top`. */
static int count_names(void)
{
    char command[128], line[32] = "";
    FILE *f;

    snprintf(command, sizeof(command), "ls -A %s | wc -l", top);
    f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    pclose(f);
    return atoi(line);
}

static int setup(void **state)
{
    (void)state;
    strcpy(top, "/tmp/karzer-agent-XXXXXX");
    if (mkdtemp(top) == NULL)
        return -1;
    peer_start(&peer);
    return 0;
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    peer_stop(&peer);
    snprintf(command, sizeof(command), "rm -rf %s", top);
    return system(command);
}

static void a_put_is_invisible_until_its_end(void **state)
{
    struct stat st;

    (void)state;
    send_put(at("a/b/file"), 0751, 7);
    peer_send(&peer, AGENT_FILE_DATA, CMD, "one ", 4);
    peer_send(&peer, AGENT_FILE_STAT, CMD + 1, at("a"), strlen(at("a")) + 1);
    expect_stated(); /* so the frames before it are done */
    assert_int_equal(stat(at("a/b/file"), &st), -1);
    peer_send(&peer, AGENT_FILE_DATA, CMD, "two", 3);
    peer_send(&peer, AGENT_FILE_END, CMD, NULL, 0);
    expect_done();
    check_file(at("a/b/file"), "one two");
    assert_int_equal(stat(at("a/b/file"), &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0751);
}

static void a_put_replaces_a_link_and_never_follows_it(void **state)
{
    struct stat st;

    (void)state;
    make_file(at("target"), "safe");
    assert_int_equal(symlink("target", at("link")), 0);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    put(at("link"), "new");
    expect_done();
    put(at("fifo"), "new");
    expect_done();
    check_file(at("target"), "safe");
    check_file(at("link"), "new");
    assert_int_equal(lstat(at("fifo"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
}

static void a_failed_put_is_told_once_and_leaves_nothing(void **state)
{
    (void)state;
    send_put(at("file"), 04755, 0); /* setuid */
    peer_send(&peer, AGENT_FILE_DATA, CMD, "x", 1);
    peer_send(&peer, AGENT_FILE_DATA, CMD, "x", 1);
    peer_send(&peer, AGENT_FILE_END, CMD, NULL, 0);
    expect_error(EPERM);
    send_put(at("file"), 0644, 1);
    peer_send(&peer, AGENT_FILE_DATA, CMD, "more", 4);
    peer_send(&peer, AGENT_FILE_END, CMD, NULL, 0);
    expect_error(EFBIG);
    send_put(at("file"), 0644, 5);
    peer_send(&peer, AGENT_FILE_DATA, CMD, "less", 4);
    peer_send(&peer, AGENT_FILE_END, CMD, NULL, 0);
    expect_error(EIO);
    send_put(at("file/.."), 0644, 0); /* and its number is used again */
    expect_error(EINVAL);
    put("/proc/no/such", "x");
    expect_error(ENOENT);
    make_file(at("plain"), "");
    put(at("plain/x"), "x");
    expect_error(ENOTDIR);
    assert_int_equal(mkdir(at("dir"), 0700), 0);
    put(at("dir"), "x");
    expect_error(EISDIR);
    assert_int_equal(count_names(), 2);
}

static void a_large_file_goes_in_and_comes_out(void **state)
{
    static char chunk[AGENT_DATA_MAX];
    const size_t count = 256;
    uint64_t total = 0;
    struct agent_stat st;
    int type;

    (void)state;
    for (size_t i = 0; i < sizeof(chunk); i++)
        chunk[i] = (char)(i * 31 >> 3);
    send_put(at("large"), 0600, 0);
    for (size_t i = 0; i < count; i++)
        peer_send(&peer, AGENT_FILE_DATA, CMD, chunk, sizeof(chunk));
    peer_send(&peer, AGENT_FILE_END, CMD, NULL, 0);
    expect_done();
    send_path(AGENT_FILE_GET, at("large"));
    st = expect_stated();
    assert_true(st.size == count * sizeof(chunk));
    while ((type = peer_next(&peer)) == AGENT_FILE_DATA) {
        size_t from = total % sizeof(chunk), n = peer.head.size;
        size_t first = n < sizeof(chunk) - from ? n : sizeof(chunk) - from;

        assert_memory_equal(peer.payload, chunk + from, first);
        assert_memory_equal(peer.payload + first, chunk, n - first);
        total += n;
    }
    assert_int_equal(type, AGENT_FILE_END);
    assert_true(total == st.size);
}

static void only_regular_files_come_out(void **state)
{
    (void)state;
    make_file(at("secret"), "x");
    assert_int_equal(symlink("secret", at("link")), 0);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    send_path(AGENT_FILE_GET, at("link"));
    expect_error(ELOOP);
    send_path(AGENT_FILE_GET, at("fifo")); /* and it does not block */
    expect_error(EINVAL);
    send_path(AGENT_FILE_GET, top);
    expect_error(EISDIR);
    send_path(AGENT_FILE_GET, "/dev/zero");
    expect_error(EINVAL);
    send_path(AGENT_FILE_GET, at("missing"));
    expect_error(ENOENT);
    send_path(AGENT_FILE_GET, "etc/passwd");
    expect_error(EINVAL);
    send_path(AGENT_FILE_GET, "/proc/self/status"); /* size 0: nothing */
    assert_true(expect_stated().size == 0);
    assert_int_equal(peer_next(&peer), AGENT_FILE_END);
}

static void stat_describes_the_thing_itself(void **state)
{
    struct agent_stat st;

    (void)state;
    make_file(at("file"), "12345");
    assert_int_equal(symlink("any where\n", at("link")), 0);
    send_path(AGENT_FILE_STAT, at("file"));
    st = expect_stated();
    assert_true(st.size == 5 && S_ISREG(st.mode) && st.links == 1);
    assert_int_equal(peer.head.size, sizeof(st));
    send_path(AGENT_FILE_STAT, at("link"));
    st = expect_stated();
    assert_true(S_ISLNK(st.mode));
    assert_int_equal(peer.head.size, sizeof(st) + 11);
    assert_memory_equal(peer.payload + sizeof(st), "any where\n", 11);
    send_path(AGENT_FILE_STAT, "/");
    assert_true(S_ISDIR(expect_stated().mode));
}

static void names_come_as_they_are(void **state)
{
    static const char *const names[] = {"a b", "new\nline", "\xff\xfe", "-rf",
                                        "..."};
    const size_t count = sizeof(names) / sizeof(names[0]);
    unsigned seen = 0;
    int type;

    (void)state;
    for (size_t i = 0; i < count; i++)
        make_file(at(names[i]), "");
    send_path(AGENT_FILE_LIST, top);
    while ((type = peer_next(&peer)) == AGENT_FILE_ENTRY) {
        const char *name = peer.payload + sizeof(struct agent_stat);

        assert_int_equal(peer.head.size,
                         sizeof(struct agent_stat) + strlen(name) + 1);
        for (size_t i = 0; i < count; i++)
            seen |= strcmp(name, names[i]) == 0 ? 1u << i : 0;
    }
    assert_int_equal(type, AGENT_FILE_DONE);
    assert_int_equal(seen, (1u << count) - 1);
    assert_int_equal(symlink(top, at("link")), 0);
    send_path(AGENT_FILE_LIST, at("link"));
    expect_error(ENOTDIR);
    send_path(AGENT_FILE_LIST, at("-rf"));
    expect_error(ENOTDIR);
}

static void a_long_list_comes_whole_however_slowly_it_is_read(void **state)
{
    enum { COUNT = 20000 };
    int count = 0, type;
    char name[160];

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "%0100d", i);
        make_file(at(name), "");
    }
    send_path(AGENT_FILE_LIST, top);
    poll(NULL, 0, 200);
    while ((type = peer_next(&peer)) == AGENT_FILE_ENTRY)
        count++;
    assert_int_equal(type, AGENT_FILE_DONE);
    assert_int_equal(count, COUNT);
    send_path(AGENT_FILE_REMOVE, top);
    expect_done();
    assert_int_equal(access(top, F_OK), -1);
    assert_int_equal(mkdir(top, 0700), 0);
}

/* 300 directories deep, with files and a link at each level. */
static void make_deep(const char *outside)
{
    int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; i < 300; i++) {
        int down;

        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        assert_int_equal(mkdirat(fd, "e", 0700), 0);
        assert_int_equal(symlinkat(outside, fd, "link"), 0);
        assert_int_equal(mknodat(fd, "fifo", S_IFIFO | 0600, 0), 0);
        down = openat(fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(down >= 0);
        close(fd);
        fd = down;
    }
    close(fd);
}

static void removal_takes_any_depth_and_follows_nothing(void **state)
{
    char outside[] = "/tmp/karzer-agent-XXXXXX", kept[64];

    (void)state;
    assert_non_null(mkdtemp(outside));
    snprintf(kept, sizeof(kept), "%s/kept", outside);
    make_file(kept, "kept");
    make_deep(outside);
    send_path(AGENT_FILE_REMOVE, at("d"));
    expect_done();
    send_path(AGENT_FILE_REMOVE, at("link"));
    expect_done();
    send_path(AGENT_FILE_REMOVE, at("e"));
    expect_done();
    send_path(AGENT_FILE_REMOVE, at("fifo"));
    expect_done();
    assert_int_equal(count_names(), 0);
    check_file(kept, "kept");
    unlink(kept);
    rmdir(outside);
    send_path(AGENT_FILE_REMOVE, at("gone"));
    expect_error(ENOENT);
    send_path(AGENT_FILE_REMOVE, "/");
    expect_error(EINVAL);
    send_path(AGENT_FILE_REMOVE, at("."));
    expect_error(EINVAL);
}

static void directories_names_and_links_are_made(void **state)
{
    char target[16];
    struct stat st;

    (void)state;
    send_mkdir(at("a/b/c/"), 0777);
    expect_done();
    assert_int_equal(stat(at("a/b/c"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0777);
    send_mkdir(at("a/b/c"), 0700);
    expect_done();
    send_mkdir(at("x"), 02755);
    expect_error(EPERM);
    make_file(at("file"), "text");
    send_mkdir(at("file"), 0755);
    expect_error(ENOTDIR);
    send_two(AGENT_FILE_RENAME, at("file"), at("a/file"));
    expect_done();
    check_file(at("a/file"), "text");
    send_two(AGENT_FILE_SYMLINK, "../over there", at("a/link"));
    expect_done();
    assert_int_equal(readlink(at("a/link"), target, sizeof(target)), 13);
    send_two(AGENT_FILE_SYMLINK, "x", at("a/link"));
    expect_error(EEXIST);
    send_two(AGENT_FILE_RENAME, at("none"), at("a/none"));
    expect_error(ENOENT);
}

static void operations_go_on_while_a_program_floods(void **state)
{
    struct agent_exited exited;
    int type;

    (void)state;
    peer_shell(&peer, 1, AGENT_EXEC_NO_STDIN, "exec yes");
    make_file(at("file"), "text");
    for (int i = 0; i < 20; i++) {
        send_path(AGENT_FILE_GET, at("file"));
        do {
            type = peer_next(&peer);
        } while (type != AGENT_FILE_END);
    }
    peer_send(&peer, AGENT_SIGNAL, 1, &(uint32_t){SIGKILL}, 4);
    while (peer_next(&peer) != AGENT_EXITED)
        continue;
    memcpy(&exited, peer.payload, sizeof(exited));
    assert_int_equal(exited.signal, SIGKILL);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_put_is_invisible_until_its_end),
        FILE_TEST(a_put_replaces_a_link_and_never_follows_it),
        FILE_TEST(a_failed_put_is_told_once_and_leaves_nothing),
        FILE_TEST(a_large_file_goes_in_and_comes_out),
        FILE_TEST(only_regular_files_come_out),
        FILE_TEST(stat_describes_the_thing_itself),
        FILE_TEST(names_come_as_they_are),
        FILE_TEST(a_long_list_comes_whole_however_slowly_it_is_read),
        FILE_TEST(removal_takes_any_depth_and_follows_nothing),
        FILE_TEST(directories_names_and_links_are_made),
        FILE_TEST(operations_go_on_while_a_program_floods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
