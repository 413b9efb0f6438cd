/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_client - libkarzer against an engine that this program itself plays:
 * what goes over the wire, what comes back, and engines that lie or die.
 */
#include "include/karzer/karzer.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/engine.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/client/span.h"

/* ---- the engine's side, in a process of its own ---- */

static char *message(uint32_t type, uint32_t *len)
{
    struct engine_head head;
    char *text;

    if (fd_read_full(ENGINE_FD, &head, sizeof(head)) != sizeof(head))
        _exit(0);
    text = head.type == type ? malloc(head.size + 1u) : NULL;
    if (text == NULL ||
        fd_read_full(ENGINE_FD, text, head.size) != (ssize_t)head.size)
        _exit(3);
    text[head.size] = '\0';
    *len = head.size;
    return text;
}

static void say(uint32_t type, const void *data, size_t len)
{
    const struct engine_head head = {(uint32_t)len, type};

    fd_write_all(ENGINE_FD, &head, sizeof(head));
    fd_write_all(ENGINE_FD, data, len);
}

static void say_json(const char *text)
{
    say(ENGINE_JSON, text, strlen(text));
}

/* A result whose stdout is the request's JSON and stderr the blob in base64. */
static void echo(json_t *request, const char *code)
{
    char *text = json_dumps(request, JSON_COMPACT);
    json_t *answer = json_pack(
        "{s:{s:s,s:s,s:n,s:n,s:s,s:s,s:s,s:s,s:[{s:s,s:s},{s:[i,i]}],"
        "s:{s:s,s:s,s:s},s:{s:i,s:n},s:{s:i}}}",
        "result", "status", "error", "message", "a \"message\"\n", "exit_code",
        "signal", "stdout", text, "stdout_encoding", "utf-8", "stderr",
        "AP8=", "stderr_encoding", "base64", "results", "text/plain", code,
        "image/png", "iVBO", "application/json", 1, 2, "error", "name",
        "Value\xc3\xa9rror", "value", "", "traceback", "line 1\n", "usage",
        "cpu_ms", 12, "disk_bytes", "timing", "run_us", 7);
    char *out = json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII);

    say_json(out == NULL ? "{}" : out);
    free(out);
    free(text);
    json_decref(answer);
}

static void say_raw(const char *text, uint32_t size, uint32_t type)
{
    const struct engine_head head = {size, type};

    fd_write_all(ENGINE_FD, &head, sizeof(head));
    fd_write_all(ENGINE_FD, text, strlen(text));
    _exit(0);
}

/* What the code of a run makes the engine do wrong. */
static void misbehave(const char *code)
{
    if (strcmp(code, "die") == 0)
        _exit(1);
    if (strcmp(code, "cut") == 0)
        say_raw("{\"res", 100, ENGINE_JSON);
    if (strcmp(code, "blob") == 0)
        say_raw("{}", 2, ENGINE_BLOB);
    if (strcmp(code, "huge") == 0)
        say_raw("{}", UINT32_MAX, ENGINE_JSON);
    if (strcmp(code, "text") == 0)
        say_raw("{\"result\":", 10, ENGINE_JSON);
}

static json_t *made; /* the request of the last sandbox */

static void handle(json_t *request)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    uint32_t len;

    if (op == NULL)
        _exit(4);
    if (strcmp(op, "sandbox.new") == 0 &&
        json_object_get(request, "tier") != NULL) {
        say_json("{\"error\":{\"code\":\"denied\",\"text\":\"no \\u00e9\"}}");
    } else if (strcmp(op, "sandbox.new") == 0) {
        json_decref(made);
        made = json_incref(request);
        say_json("{\"sandbox\": 5}");
    } else if (strcmp(op, "sandbox.run") == 0) {
        AUTO(mem) char *code = message(ENGINE_BLOB, &len);

        misbehave(code);
        echo(strcmp(code, "made") == 0 ? made : request, code);
    } else if (strcmp(op, "sandbox.exec") == 0) {
        echo(request, "exec");
    } else if (strcmp(op, "sandbox.put") == 0) {
        AUTO(mem) char *data = message(ENGINE_BLOB, &len);

        say_json(len == 3 && memcmp(data, "a\0b", 3) == 0
                     ? "{}"
                     : "{\"error\":{\"code\":\"host\",\"text\":\"bytes\"}}");
    } else if (strcmp(op, "sandbox.get") == 0) {
        say_json("{}");
        say(ENGINE_BLOB, "x\0y", 3);
    } else {
        say_json("{}");
    }
}

static void play_engine(void)
{
    for (;;) {
        uint32_t len;
        AUTO(mem) char *text = message(ENGINE_JSON, &len);
        json_t *request = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

        if (request == NULL)
            _exit(5);
        handle(request);
        json_decref(request);
    }
}

/* ---- the tests ---- */

static karzer *k;
static karzer_sandbox *sb;

static int setup(void **state)
{
    (void)state;
    return karzer_open("/proc/self/exe", &k, NULL) < 0 ||
                   karzer_sandbox_new(k, NULL, &sb, NULL) < 0
               ? -1
               : 0;
}

static int teardown(void **state)
{
    (void)state;
    karzer_sandbox_free(sb);
    karzer_close(k);
    return 0;
}

static karzer_result *ran(const char *code)
{
    karzer_result *r = NULL;
    karzer_error *err = NULL;

    if (karzer_sandbox_run(sb, code, strlen(code), &r, &err) < 0)
        fail_msg("%s", karzer_error_text(err));
    return r;
}

static void a_result_comes_back_with_all_its_parts(void **state)
{
    karzer_result *r = ran("1+1 \xf0\x9f\x98\x80");
    uint64_t n = 0;
    size_t len = 0;

    (void)state;
    assert_string_equal(karzer_result_status(r), "error");
    assert_string_equal(karzer_result_message(r), "a \"message\"\n");
    assert_int_equal(karzer_result_exit_code(r), -1);
    assert_int_equal(karzer_result_signal(r), 0);
    assert_string_equal(karzer_result_stdout(r, &len),
                        "{\"op\":\"sandbox.run\",\"sandbox\":5}");
    assert_int_equal(len, strlen(karzer_result_stdout(r, NULL)));
    assert_memory_equal(karzer_result_stderr(r, &len), "\0\xff", 3);
    assert_int_equal(len, 2);
    assert_string_equal(karzer_result_error_name(r), "Value\xc3\xa9rror");
    assert_string_equal(karzer_result_error_traceback(r), "line 1\n");
    assert_int_equal(karzer_result_values(r), 2);
    assert_int_equal(karzer_result_mimes(r, 0), 2);
    assert_int_equal(karzer_result_mimes(r, 2), 0);
    assert_string_equal(karzer_result_mime(r, 0, 1), "image/png");
    assert_null(karzer_result_mime(r, 0, 2));
    assert_string_equal(karzer_result_data(r, 0, "text/plain", NULL),
                        "1+1 \xf0\x9f\x98\x80");
    assert_memory_equal(karzer_result_data(r, 0, "image/png", &len), "\x89PN",
                        3);
    assert_int_equal(len, 3);
    assert_string_equal(karzer_result_data(r, 1, "application/json", NULL),
                        "[1,2]");
    assert_null(karzer_result_data(r, 1, "text/plain", NULL));
    assert_int_equal(karzer_result_usage(r, "cpu_ms", &n), 0);
    assert_int_equal(n, 12);
    assert_int_equal(karzer_result_usage(r, "run_us", &n), 0);
    assert_int_equal(karzer_result_usage(r, "disk_bytes", &n), -1);
    assert_int_equal(karzer_result_usage(r, "none", &n), -1);
    assert_memory_equal(karzer_result_json(r), "{\"status\":", 10);
    karzer_result_free(r);
}

static void options_are_said_before_the_first_use(void **state)
{
    karzer_error *err = NULL;
    karzer_result *r;

    (void)state;
    assert_int_equal(chdir("/tmp"), 0);
    assert_int_equal(karzer_sandbox_limit(sb, "mem_bytes", 1, NULL), 0);
    assert_int_equal(karzer_sandbox_limit(sb, "pids", 64, NULL), 0);
    assert_int_equal(karzer_sandbox_option(sb, "env", "A=\"1\"\n", NULL), 0);
    assert_int_equal(karzer_sandbox_option(sb, "env", "B=2", NULL), 0);
    assert_int_equal(karzer_sandbox_option(sb, "may-lack", "swap", NULL), 0);
    assert_int_equal(karzer_sandbox_option(sb, "workspace", "/tmp:rw", NULL),
                     0);
    assert_int_equal(karzer_sandbox_option(sb, "lang", "python", NULL), 0);
    assert_int_equal(karzer_sandbox_option(sb, "python", "v/bin/python", NULL),
                     0);
    assert_int_equal(karzer_sandbox_option(sb, "template", "t", NULL), 0);
    assert_int_equal(karzer_sandbox_option(sb, "color", "red", &err), -1);
    assert_int_equal(karzer_error_code(err), KARZER_ERROR_INVALID);
    karzer_error_free(err);
    assert_int_equal(karzer_sandbox_option(sb, "env", "C=\xff", &err), -1);
    assert_non_null(strstr(karzer_error_text(err), "UTF-8"));
    karzer_error_free(err);
    assert_int_equal(karzer_sandbox_option(sb, "workspace", "/nowhere", NULL),
                     -1);
    assert_int_equal(karzer_sandbox_limit(sb, "pids", UINT64_MAX, NULL), -1);
    r = ran("made");
    assert_string_equal(
        strstr(karzer_result_stdout(r, NULL), "\"workspace\""),
        "\"workspace\":\"/tmp\",\"workspace_rw\":true,\"lang\":\"python\","
        "\"python\":\"/tmp/v/bin/"
        "python\",\"template\":\"t\",\"limits\":{\"mem_bytes\":1,\"pids\":64},"
        "\"env\":[\"A=\\\"1\\\"\\n\",\"B=2\"],\"may_lack\":[\"swap\"]}");
    karzer_result_free(r);
    assert_int_equal(karzer_sandbox_option(sb, "env", "D=1", NULL), -1);
    assert_int_equal(karzer_sandbox_limit(sb, "pids", 1, NULL), -1);
}

static void commands_and_files_keep_their_bytes(void **state)
{
    const char *const argv[] = {"echo", "a\"\\\n\001\xc3\xa9", "", NULL};
    const char *const bad[] = {"echo", "\xc3(", NULL};
    karzer_result *r = NULL;
    karzer_error *err = NULL;
    void *data = NULL;
    size_t len = 0;

    (void)state;
    assert_int_equal(karzer_sandbox_exec(sb, argv, &r, NULL), 0);
    assert_string_equal(karzer_result_stdout(r, NULL),
                        "{\"op\":\"sandbox.exec\",\"sandbox\":5,\"argv\":["
                        "\"echo\",\"a\\\"\\\\\\n\\u0001\xc3\xa9\",\"\"]}");
    karzer_result_free(r);
    assert_int_equal(karzer_sandbox_exec(sb, bad, &r, NULL), -1);
    assert_int_equal(karzer_sandbox_put(sb, "/tmp/x", "a\0b", 3, NULL), 0);
    assert_int_equal(karzer_sandbox_put(sb, "/tmp/x", NULL, 0, &err), -1);
    assert_int_equal(karzer_error_code(err), KARZER_ERROR_HOST);
    karzer_error_free(err);
    assert_int_equal(karzer_sandbox_get(sb, "/tmp/x", &data, &len, NULL), 0);
    assert_int_equal(len, 3);
    assert_memory_equal(data, "x\0y", 4);
    free(data);
}

static void a_refusal_is_an_error_with_its_code(void **state)
{
    karzer_sandbox *other = NULL;
    karzer_result *r = NULL;
    karzer_error *err = NULL;

    (void)state;
    assert_int_equal(karzer_sandbox_new(k, "vm", &other, NULL), 0);
    assert_int_equal(karzer_sandbox_run(other, "1", 1, &r, &err), -1);
    assert_null(r);
    assert_int_equal(karzer_error_code(err), KARZER_ERROR_DENIED);
    assert_string_equal(karzer_error_text(err), "no \xc3\xa9");
    karzer_error_free(err);
    karzer_sandbox_free(other);
    karzer_result_free(ran("the engine is still there"));
}

static void an_engine_that_lies_or_dies_is_an_error_for_good(void **state)
{
    static const struct {
        const char *how;
        enum karzer_error_code code;
    } rows[] = {
        {"die", KARZER_ERROR_ENGINE},    {"cut", KARZER_ERROR_ENGINE},
        {"blob", KARZER_ERROR_INTERNAL}, {"huge", KARZER_ERROR_INTERNAL},
        {"text", KARZER_ERROR_INTERNAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        karzer_result *r = NULL;
        karzer_error *err = NULL;

        assert_int_equal(
            karzer_sandbox_run(sb, rows[i].how, strlen(rows[i].how), &r, &err),
            -1);
        if (karzer_error_code(err) != rows[i].code)
            fail_msg("%s: %s", rows[i].how, karzer_error_text(err));
        karzer_error_free(err);
        assert_int_equal(karzer_sandbox_run(sb, "1", 1, &r, &err), -1);
        assert_int_equal(karzer_error_code(err), KARZER_ERROR_ENGINE);
        karzer_error_free(err);
        teardown(state);
        assert_int_equal(setup(state), 0);
    }
}

static void a_program_that_is_not_there_is_named(void **state)
{
    karzer *none = NULL;
    karzer_error *err = NULL;

    (void)state;
    assert_int_equal(karzer_open("/nowhere/karzer", &none, &err), -1);
    assert_null(none);
    assert_int_equal(karzer_error_code(err), KARZER_ERROR_HOST);
    assert_non_null(strstr(karzer_error_text(err), "/nowhere/karzer"));
    karzer_error_free(err);
    karzer_close(NULL);
    karzer_sandbox_free(NULL);
    karzer_result_free(NULL);
    karzer_error_free(NULL);
}

static struct span of(const char *text)
{
    return span_of(text, strlen(text));
}

static void malformed_json_is_not_found(void **state)
{
    static const char *const bad[] = {
        "",           " ",     "{",     "[1,",       "[1 2]", "{\"a\"}",
        "\"",         "\"a\\", "[1]]",  "{\"a\":}",  "{1:2}", "[,]",
        "{\"a\":1,}", "]",     "[\"a]", "{\"a\" 1}",
    };
    static const char *const bad_texts[] = {
        "\"\\x\"",     "\"\\u12\"",          "\"\\ud800\"",
        "\"\\udc00\"", "\"\\ud800\\u0041\"", "1",
        "null",        "\"\\u12g4\"",
    };
    char deep[2000];
    char *text;
    uint64_t n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(of(bad[i]).at);
    for (size_t i = 0; i < ARRAY_LEN(bad_texts); i++)
        assert_null(span_text(of(bad_texts[i]), NULL));
    memset(deep, '[', sizeof(deep));
    assert_null(span_of(deep, sizeof(deep)).at);
    text = span_text(of("\"\\ud83d\\ude00\\u00e9\\u20ac\\/\\b\""), NULL);
    assert_string_equal(text, "\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac/\b");
    free(text);
    assert_false(span_number(of("-1"), &n));
    assert_false(span_number(of("1.5"), &n));
    assert_false(span_number(of("18446744073709551616"), &n));
    assert_true(span_number(of("18446744073709551615"), &n));
    assert_true(span_number(
        span_member(of(" { \"x\" : [1, {}] , \"y\" : 7 } "), "y"), &n));
    assert_int_equal(n, 7);
    assert_null(span_member(of("[1]"), "y").at);
}

static void base64_is_strict(void **state)
{
    static const char *const bad[] = {
        "A", "AA", "AAA", "A===", "AA=A", "A*==", "===="};
    size_t len = 9;
    char *out;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(span_base64(bad[i], strlen(bad[i]), &len));
    out = span_base64("", 0, &len);
    assert_int_equal(len, 0);
    free(out);
    out = span_base64("YQ==", 4, &len);
    assert_string_equal(out, "a");
    free(out);
    out = span_base64("//79YWJj", 8, &len);
    assert_memory_equal(out,
                        "\xff\xfe\xfd"
                        "abc",
                        7);
    free(out);
}

int main(int argc, char **argv)
{
#define EACH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(a_result_comes_back_with_all_its_parts),
        EACH(options_are_said_before_the_first_use),
        EACH(commands_and_files_keep_their_bytes),
        EACH(a_refusal_is_an_error_with_its_code),
        EACH(an_engine_that_lies_or_dies_is_an_error_for_good),
        cmocka_unit_test(a_program_that_is_not_there_is_named),
        cmocka_unit_test(malformed_json_is_not_found),
        cmocka_unit_test(base64_is_strict),
    };

    if (argc == 2 && strcmp(argv[1], "engine") == 0)
        play_engine();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
