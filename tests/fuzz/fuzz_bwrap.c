/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bwrap - any words as bubblewrap's command line, the first half of them
 * by
 * --args. What is taken is within the caps, each row is plain, nothing of the
 * host is shown for writing that was not said so, and no word is lost.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/bwrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS_MAX 64

static const uint8_t *fed;
static size_t fed_len;

static int feed(int fd, struct buf *out, struct err *err)
{
    (void)fd;
    return buf_add(out, fed, fed_len, err);
}

static void check(int holds)
{
    if (!holds)
        abort();
}

static void check_view(const struct view *v)
{
    check(v->count <= VIEW_ROWS_MAX && v->bytes <= VIEW_BYTES_MAX);
    for (size_t i = 0; i < v->count; i++) {
        const struct view_row *r = &v->rows[i];

        check(r->target[0] == '/' && r->target[1] != '\0');
        check(strstr(r->target, "/../") == NULL &&
              strstr(r->target, "//") == NULL);
        check(r->kind != VIEW_BIND || r->source[0] == '/');
        check(!r->rw || strncmp(r->option, "ro-", 3) != 0);
        check((r->mode & ~0777u) == 0);
    }
}

/* NUL-separated words behind "bwrap --args 9". */
static int split(char *text, size_t size, char **argv)
{
    static char name[] = "bwrap", args[] = "--args", nine[] = "9";
    int argc = 0;
    size_t at = 0;

    argv[argc++] = name;
    argv[argc++] = args;
    argv[argc++] = nine;
    while (at < size && argc < WORDS_MAX) {
        argv[argc++] = text + at;
        at += strlen(text + at) + 1;
    }
    argv[argc] = NULL;
    return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *argv[WORDS_MAX + 1];
    static char *const mine[] = {(char *)(uintptr_t) "PATH=/bin",
                                 (char *)(uintptr_t) "KEY=1", NULL};
    struct run_args args = {.req = {.limits = limits_default()}};
    struct bwrap b = {.args = &args, .read_fd = feed};
    struct option_scan scan;
    struct strs env = {0};
    struct err err = {0};
    char *text;

    if (size < 1 || size > 4096)
        return 0;
    fed = data + 1;
    fed_len = data[0] % size;
    text = calloc(size + 1, 1);
    args.req.view = b.view = calloc(1, sizeof(*b.view));
    check(text != NULL && b.view != NULL);
    memcpy(text, data + 1 + fed_len, size - 1 - fed_len);
    scan = option_scan(VERB_BWRAP, split(text, size - 1 - fed_len, argv), argv);
    if (bwrap_parse(&b, &scan, &err) == 0) {
        check(scan.at <= scan.argc);
        check(bwrap_env(&b, mine, &env, &err) == 0 || err.text[0] != '\0');
    } else {
        check(err.text[0] != '\0');
    }
    check_view(b.view);
    strs_fini(&env);
    bwrap_fini(&b);
    run_args_fini(&args);
    free(text);
    return 0;
}
