/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run - a small tour of karzer.h: two blocks of Python that share a variable, a
 * file in and out, a command, and an endless loop that ends.
 *
 *   cc run.c -lkarzer -o run && ./run [PATH OF karzer]
 */
#include <karzer/karzer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(karzer_error *err)
{
    fprintf(stderr, "run: %s\n", karzer_error_text(err));
    karzer_error_free(err);
    return 1;
}

static void show(const karzer_result *r)
{
    uint64_t ms = 0;
    size_t len;
    const char *out = karzer_result_stdout(r, &len);

    fwrite(out, 1, len, stdout);
    for (size_t i = 0; i < karzer_result_values(r); i++) {
        const char *text = karzer_result_data(r, i, "text/plain", NULL);

        printf("value: %s\n", text == NULL ? "(no text)" : text);
    }
    if (karzer_result_error_name(r) != NULL)
        printf("%s: %s\n", karzer_result_error_name(r),
               karzer_result_error_value(r));
    if (karzer_result_usage(r, "cpu_ms", &ms) == 0)
        printf("[%s, %llu ms of processor time]\n", karzer_result_status(r),
               (unsigned long long)ms);
    else
        printf("[%s]\n", karzer_result_status(r));
}

static int python(karzer_sandbox *sb, const char *code, karzer_error **err)
{
    karzer_result *r;

    printf("\n>>> %s\n", code);
    if (karzer_sandbox_run(sb, code, strlen(code), &r, err) < 0)
        return -1;
    show(r);
    karzer_result_free(r);
    return 0;
}

static int tour(karzer_sandbox *sb, karzer_error **err)
{
    static const char *const ls[] = {"ls", "-l", "/tmp", NULL};
    const char *text = "three words here\n";
    karzer_result *r;
    void *data;
    size_t len;

    if (karzer_sandbox_put(sb, "/tmp/in.txt", text, strlen(text), err) < 0 ||
        python(sb, "words = open('/tmp/in.txt').read().split()", err) < 0 ||
        python(sb, "open('/tmp/out.txt', 'w').write(' '.join(words[::-1]))",
               err) < 0 ||
        karzer_sandbox_get(sb, "/tmp/out.txt", &data, &len, err) < 0)
        return -1;
    printf("\nout.txt: %.*s\n", (int)len, (const char *)data);
    free(data);
    if (karzer_sandbox_exec(sb, ls, &r, err) < 0)
        return -1;
    show(r);
    karzer_result_free(r);
    return python(sb, "while True: pass", err);
}

int main(int argc, char **argv)
{
    karzer_error *err = NULL;
    karzer_sandbox *sb;
    karzer *k;
    int r;

    if (karzer_open(argc > 1 ? argv[1] : NULL, &k, &err) < 0)
        return failed(err);
    r = karzer_sandbox_new(k, NULL, &sb, &err);
    if (r == 0) {
        r = karzer_sandbox_limit(sb, "mem_bytes", 128 << 20, &err);
        if (r == 0)
            r = karzer_sandbox_limit(sb, "cpu_time_ms", 500, &err);
        if (r == 0)
            r = tour(sb, &err);
        karzer_sandbox_free(sb);
    }
    karzer_close(k);
    return r < 0 ? failed(err) : 0;
}
