/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent - commands: what a real agent does with frames and programs. */
#include "tests/unit/agent_peer.h"

#include <time.h>

static struct peer_end end;
static struct peer peer;

static void hello_comes_first_and_eof_ends_the_agent(void **state)
{
    (void)state;
    peer_start(&peer);
    peer_stop(&peer);
}

static void shutdown_ends_the_agent_and_its_programs(void **state)
{
    pid_t sleeper;

    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, 0, "setsid sleep 60 & echo $!; wait");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    assert_int_equal(peer_next(&peer), AGENT_STDOUT);
    sleeper = (pid_t)strtol(peer.payload, NULL, 10);
    peer_send(&peer, AGENT_SHUTDOWN, 0, NULL, 0);
    assert_int_equal(peer_next(&peer), AGENT_NONE);
    assert_int_equal(peer_wait(&peer), 0);
    assert_int_equal(kill(sleeper, 0), -1);
}

static void output_and_status_come_back_exactly(void **state)
{
    static const char bytes[] = "a\0b\xff\xfe\n\x80 no newline";

    (void)state;
    peer_start(&peer);
    assert_int_equal(peer_run(&peer,
                              "printf 'a\\000b\\377\\376\\n\\200 no newline'; "
                              "printf err >&2; exit 42",
                              &end),
                     42);
    assert_int_equal(end.out_len, sizeof(bytes) - 1);
    assert_memory_equal(end.out, bytes, sizeof(bytes) - 1);
    assert_string_equal(end.err, "err");
    peer_stop(&peer);
}

static void a_signal_death_is_told_as_such(void **state)
{
    (void)state;
    peer_start(&peer);
    assert_int_equal(peer_run(&peer, "kill -SEGV $$", &end), -1);
    assert_int_equal(end.exited.signal, SIGSEGV);
    peer_stop(&peer);
}

static void a_program_has_no_descriptor_but_its_own(void **state)
{
    (void)state;
    peer_start(&peer);
    assert_int_equal(peer_run(&peer, "exec ls /proc/self/fd", &end), 0);
    assert_string_equal(end.out, "0\n1\n2\n3\n"); /* 3 is the directory */
    peer_stop(&peer);
}

static void a_program_starts_with_clean_signals_in_a_session(void **state)
{
    int pid, group, session;
    unsigned mask;

    (void)state;
    peer_start(&peer);
    peer_run(&peer, "exec grep -E '^Sig(Blk|Ign)' /proc/self/status", &end);
    assert_string_equal(end.out, "SigBlk:\t0000000000000000\n"
                                 "SigIgn:\t0000000000000000\n");
    peer_run(&peer, "echo $$; cut -d' ' -f5,6 /proc/$$/stat; umask", &end);
    assert_int_equal(
        sscanf(end.out, "%d %d %d %o", &pid, &group, &session, &mask), 4);
    assert_true(pid == group && group == session && mask == 022);
    peer_stop(&peer);
}

static void the_environment_is_the_given_one(void **state)
{
    static const char *const env[] = {PEER_ENV, "A=b c", "EMPTY=", NULL};

    (void)state;
    peer_start(&peer);
    peer_exec(&peer,
              &(struct peer_exec){
                  .cmd = 3,
                  .flags = AGENT_EXEC_NO_STDIN,
                  .cwd = "/usr",
                  .argv = (const char *const[]){"env", "-C", ".", "pwd", NULL},
                  .env = env});
    assert_int_equal(peer_finish(&peer, 3, &end), AGENT_EXITED);
    assert_string_equal(end.out, "/usr\n");
    peer_exec(&peer,
              &(struct peer_exec){.cmd = 3,
                                  .argv = (const char *const[]){"env", NULL},
                                  .env = env});
    assert_int_equal(peer_finish(&peer, 3, &end), AGENT_EXITED);
    assert_string_equal(end.out, PEER_ENV "\nA=b c\nEMPTY=\n");
    peer_stop(&peer);
}

static void expect_failure(const char *const *argv, const char *cwd,
                           uint32_t number, uint32_t stage)
{
    peer_exec(&peer, &(struct peer_exec){.cmd = 2, .argv = argv, .cwd = cwd});
    assert_int_equal(peer_finish(&peer, 2, &end), AGENT_EXEC_FAILED);
    assert_int_equal(end.failed[0], number);
    assert_int_equal(end.failed[1], stage);
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void a_failed_start_says_where_and_why(void **state)
{
    (void)state;
    peer_start(&peer);
    expect_failure(ARGV("no-such-program-x"), NULL, ENOENT, AGENT_STAGE_LOOKUP);
    expect_failure(ARGV(""), NULL, ENOENT, AGENT_STAGE_LOOKUP);
    expect_failure(ARGV("/no/such"), NULL, ENOENT, AGENT_STAGE_EXEC);
    expect_failure(ARGV("/etc/passwd"), NULL, EACCES, AGENT_STAGE_EXEC);
    expect_failure(ARGV("/"), NULL, EACCES, AGENT_STAGE_EXEC);
    expect_failure(ARGV("true"), "/nowhere", ENOENT, AGENT_STAGE_CHDIR);
    assert_int_equal(peer_run(&peer, "echo fine", &end), 0);
    assert_string_equal(end.out, "fine\n");
    peer_stop(&peer);
}

static void write_script(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void scripts_start_as_execvp_starts_them(void **state)
{
    char dir[] = "/tmp/karzer-agent-XXXXXX", plain[64], broken[64], path[128];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(plain, sizeof(plain), "%s/plain", dir);
    snprintf(broken, sizeof(broken), "%s/broken", dir);
    snprintf(path, sizeof(path), "PATH=/nowhere:%s:/usr/bin", dir);
    write_script(plain, "echo \"$0 $1\"\n");
    write_script(broken, "#!/no/interpreter\n");
    peer_start(&peer);
    peer_exec(&peer, &(struct peer_exec){.cmd = 1,
                                         .argv = ARGV("plain", "arg"),
                                         .env = ARGV(path)});
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    snprintf(path, sizeof(path), "%s arg\n", plain);
    assert_string_equal(end.out, path);
    snprintf(path, sizeof(path), "PATH=%s", dir);
    peer_exec(&peer, &(struct peer_exec){
                         .cmd = 1, .argv = ARGV("broken"), .env = ARGV(path)});
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXEC_FAILED);
    assert_int_equal(end.failed[1], AGENT_STAGE_EXEC);
    peer_stop(&peer);
    unlink(plain);
    unlink(broken);
    rmdir(dir);
}

static void many_arguments_arrive(void **state)
{
    enum { COUNT = 100000 };
    static const char *argv[COUNT + 5] = {"sh", "-c", "echo $#", "x"};

    (void)state;
    for (int i = 0; i < COUNT; i++)
        argv[4 + i] = "1";
    peer_start(&peer);
    peer_exec(&peer, &(struct peer_exec){.cmd = 1, .argv = argv});
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    assert_string_equal(end.out, "100000\n");
    peer_stop(&peer);
}

static void a_hundred_megabytes_come_through_whole(void **state)
{
    const uint64_t size = 100u << 20;
    uint64_t total = 0;
    uint32_t seed = 1;
    int type;

    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, AGENT_EXEC_LAST,
               "yes 0123456 | head -c 104857600"); /* 8 bytes a line */
    while ((type = peer_next(&peer)) != AGENT_EXITED) {
        if (type == AGENT_STARTED)
            continue;
        assert_int_equal(type, AGENT_STDOUT);
        for (uint32_t i = 0; i < peer.head.size; i++)
            if (peer.payload[i] != "0123456\n"[(total + i) % 8])
                seed = 0;
        total += peer.head.size;
    }
    assert_int_equal(seed, 1);
    assert_true(total == size);
    assert_int_equal(peer_next(&peer), AGENT_NONE);
    assert_int_equal(peer_wait(&peer), 0);
}

static long rss_kib(pid_t pid)
{
    char path[64], line[256];
    long kib = -1;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    fclose(f);
    return kib;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void an_engine_that_does_not_read_stops_the_program(void **state)
{
    (void)state;
    peer_start(&peer);
    for (uint16_t cmd = 1; cmd <= 4; cmd++)
        peer_shell(&peer, cmd, AGENT_EXEC_NO_STDIN, "exec yes");
    pause_ms(500);
    assert_in_range(rss_kib(peer.pid), 1, 2048);
    peer_send(&peer, AGENT_KILL_ALL, 0, NULL, 0); /* still obeyed */
    for (int left = 4; left > 0;)
        left -= peer_next(&peer) == AGENT_EXITED;
    peer_stop(&peer);
}

/* Sends `total` bytes of stdin within the credit. */
static void send_within_credit(uint16_t type, uint32_t channel, size_t total)
{
    static char chunk[16384];
    size_t credit = AGENT_CREDIT_START;

    while (total > 0) {
        size_t n = sizeof(chunk) < total ? sizeof(chunk) : total;
        uint32_t more[2];

        if (credit >= n) {
            peer_send(&peer, type, 1, chunk, n);
            credit -= n;
            total -= n;
            continue;
        }
        assert_int_equal(peer_next(&peer), AGENT_CREDIT);
        memcpy(more, peer.payload, sizeof(more));
        assert_int_equal(more[0], channel);
        credit += more[1];
        assert_true(credit <= AGENT_CREDIT_START);
    }
}

static void stdin_flows_within_its_credit_to_eof(void **state)
{
    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, 0, "exec wc -c");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    send_within_credit(AGENT_STDIN, 0, 10u << 20);
    peer_send(&peer, AGENT_STDIN_EOF, 1, NULL, 0);
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    assert_string_equal(end.out, "10485760\n");
    peer_stop(&peer);
}

static void stdin_that_nobody_reads_is_dropped_with_credit_back(void **state)
{
    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, 0, "exec <&-; exec sleep 60");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    send_within_credit(AGENT_STDIN, 0, 1u << 20);
    peer_send(&peer, AGENT_SIGNAL, 1, &(uint32_t){SIGTERM}, 4);
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    assert_int_equal(end.exited.signal, SIGTERM);
    peer_send(&peer, AGENT_STDIN, 1, "late", 4); /* ended: passed over */
    peer_send(&peer, AGENT_STDIN_EOF, 1, NULL, 0);
    assert_int_equal(peer_run(&peer, "true", &end), 0);
    peer_stop(&peer);
}

static void signals_reach_the_whole_process_group(void **state)
{
    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, 0,
               "(trap 'echo child; exit' USR1; while :; do sleep 0.01; done) & "
               "trap 'wait; echo parent; exit 7' USR1; sleep 0.2; echo ready; "
               "while :; do sleep 0.01; done");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    assert_int_equal(peer_next(&peer), AGENT_STDOUT);
    peer_send(&peer, AGENT_SIGNAL, 1, &(uint32_t){SIGUSR1}, 4);
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    assert_int_equal(end.exited.code, 7);
    assert_string_equal(end.out, "child\nparent\n");
    peer_stop(&peer);
}

static void the_last_command_takes_everything_with_it(void **state)
{
    pid_t sleeper = -1;

    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 2, 0, "exec yes >/dev/null");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    peer_shell(&peer, 1, AGENT_EXEC_LAST,
               "(setsid sh -c 'sleep 60 & echo $!; sleep 60' &) ; sleep 0.3; "
               "exit 5");
    for (int left = 2; left > 0;) {
        int type = peer_next(&peer);

        left -= type == AGENT_EXITED;
        if (type == AGENT_STDOUT)
            sleeper = (pid_t)strtol(peer.payload, NULL, 10);
    }
    assert_int_equal(peer_next(&peer), AGENT_NONE);
    assert_int_equal(peer_wait(&peer), 0);
    assert_int_equal(kill(sleeper, 0), -1);
}

static void background_children_do_not_delay_an_end(void **state)
{
    (void)state;
    peer_start(&peer);
    assert_int_equal(peer_run(&peer, "(yes & sleep 60 &); echo done", &end), 0);
    assert_true(end.out_len > 0);
    peer_send(&peer, AGENT_KILL_ALL, 0, NULL, 0);
    assert_int_equal(peer_run(&peer, "exit 3", &end), 3);
    peer_stop(&peer);
}

static void the_runtime_channel_is_fd_3_both_ways(void **state)
{
    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, AGENT_EXEC_RUNTIME | AGENT_EXEC_NO_STDIN,
               "head -c 5 <&3; cat <&3 | wc -c; printf over >&3");
    assert_int_equal(peer_next(&peer), AGENT_STARTED);
    peer_send(&peer, AGENT_RUNTIME_IN, 1, "hello", 5);
    send_within_credit(AGENT_RUNTIME_IN, 1, AGENT_CREDIT_START - 5);
    peer_send(&peer, AGENT_RUNTIME_EOF, 1, NULL, 0);
    assert_int_equal(peer_finish(&peer, 1, &end), AGENT_EXITED);
    assert_non_null(strstr(end.out, "hello"));
    assert_non_null(strstr(end.out, "65531\n"));
    assert_string_equal(end.runtime, "over");
    peer_stop(&peer);
}

/* The n-th word on the channel comes after n words on stdout and stderr. */
static void stdout_goes_out_before_later_runtime_bytes(void **state)
{
    size_t out = 0, err = 0, runtime = 0;
    int type;

    (void)state;
    peer_start(&peer);
    peer_shell(&peer, 1, AGENT_EXEC_RUNTIME | AGENT_EXEC_NO_STDIN,
               "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo 1234567; "
               "echo 1234567 >&2; echo 1234567 >&3; done");
    while ((type = peer_next(&peer)) != AGENT_EXITED) {
        out += type == AGENT_STDOUT ? peer.head.size : 0;
        err += type == AGENT_STDERR ? peer.head.size : 0;
        runtime += type == AGENT_RUNTIME_OUT ? peer.head.size : 0;
        assert_true(runtime <= out && runtime <= err);
    }
    assert_true(out == 16000 && err == 16000 && runtime == 16000);
    peer_stop(&peer);
}

static void fifteen_commands_run_at_once(void **state)
{
    int left = AGENT_CMD_MAX;

    (void)state;
    peer_start(&peer);
    for (uint16_t cmd = 1; cmd <= AGENT_CMD_MAX; cmd++)
        peer_shell(&peer, cmd, 0, "read x; echo got; exit $x");
    for (uint16_t cmd = AGENT_CMD_MAX; cmd > 0; cmd--) {
        char text[8];
        int n = snprintf(text, sizeof(text), "%u\n", cmd);

        peer_send(&peer, AGENT_STDIN, cmd, text, (size_t)n);
    }
    while (left > 0) {
        struct agent_exited exited;

        if (peer_next(&peer) != AGENT_EXITED)
            continue;
        memcpy(&exited, peer.payload, sizeof(exited));
        assert_int_equal(exited.code, peer.head.cmd);
        left--;
    }
    peer_stop(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_comes_first_and_eof_ends_the_agent),
        cmocka_unit_test(shutdown_ends_the_agent_and_its_programs),
        cmocka_unit_test(output_and_status_come_back_exactly),
        cmocka_unit_test(a_signal_death_is_told_as_such),
        cmocka_unit_test(a_program_has_no_descriptor_but_its_own),
        cmocka_unit_test(a_program_starts_with_clean_signals_in_a_session),
        cmocka_unit_test(the_environment_is_the_given_one),
        cmocka_unit_test(a_failed_start_says_where_and_why),
        cmocka_unit_test(scripts_start_as_execvp_starts_them),
        cmocka_unit_test(many_arguments_arrive),
        cmocka_unit_test(a_hundred_megabytes_come_through_whole),
        cmocka_unit_test(an_engine_that_does_not_read_stops_the_program),
        cmocka_unit_test(stdin_flows_within_its_credit_to_eof),
        cmocka_unit_test(stdin_that_nobody_reads_is_dropped_with_credit_back),
        cmocka_unit_test(signals_reach_the_whole_process_group),
        cmocka_unit_test(the_last_command_takes_everything_with_it),
        cmocka_unit_test(background_children_do_not_delay_an_end),
        cmocka_unit_test(the_runtime_channel_is_fd_3_both_ways),
        cmocka_unit_test(stdout_goes_out_before_later_runtime_bytes),
        cmocka_unit_test(fifteen_commands_run_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
