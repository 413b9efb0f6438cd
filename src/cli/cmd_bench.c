/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_bench - `karzer bench`: median and maximum of print(1) in every tier and
 * in plain python3, each a whole process from fork to reaped, interleaved so
 * that a busy moment hits all alike. Then where the time of a run goes.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/auto.h"
#include "src/cli/child.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/core/json_text.h"
#include "src/core/tier.h"

#define RUNS_DEFAULT 10
#define RUNS_MAX 10000
#define CASES_MAX 16
#define ARGS_MAX 12
#define ONE_MS 120000

/* One line of the table: a command line, and how long it took. */
struct bench_case {
    char name[48];
    const char *argv[ARGS_MAX + 1];
    const char *want; /* its stdout; NULL: a result as JSON */
    uint64_t *us;     /* one a run */
    uint64_t *parts[4];
};

static const char *const part_names[] = {"create_us", "start_us", "run_us",
                                         "destroy_us"};

struct bench {
    struct bench_case at[CASES_MAX];
    size_t count;
    size_t runs;
    bool json;
};

/* us[] of a case: filled by bench_case, n values. */
static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static double median_ms(uint64_t *us, size_t n)
{
    qsort(us, n, sizeof(*us), by_size);
    if (n % 2 == 1)
        return (double)us[n / 2] / 1000;
    return (double)(us[n / 2 - 1] + us[n / 2]) / 2000;
}

static double max_ms(const uint64_t *sorted, size_t n)
{
    return (double)sorted[n - 1] / 1000;
}

static struct bench_case *case_add(struct bench *b, const char *name,
                                   const char *want, const char *const *argv)
{
    struct bench_case *c = &b->at[b->count];

    if (b->count == CASES_MAX)
        return NULL;
    b->count++;
    snprintf(c->name, sizeof(c->name), "%s", name);
    c->want = want;
    for (size_t i = 0; i < ARGS_MAX && argv[i] != NULL; i++)
        c->argv[i] = argv[i];
    return c;
}

#define SELF "/proc/self/exe"
#define CODE "print(1)"

static void cases_of_tier(struct bench *b, const char *tier, const char *python)
{
    const char *const exec[] = {SELF, "exec", "--tier", tier, "--", python,
                                "-I", "-S",   "-c",     CODE, NULL};
    const char *const run[] = {SELF, "run", "--tier", tier, "-c", CODE, NULL};
    const char *const json[] = {SELF, "run", "--json", "--tier",
                                tier, "-c",  CODE,     NULL};
    char name[48];

    snprintf(name, sizeof(name), "exec, %s", tier);
    case_add(b, name, "1\n", exec);
    snprintf(name, sizeof(name), "run, %s", tier);
    case_add(b, name, "1\n", run);
    snprintf(name, sizeof(name), "run --json, %s", tier);
    case_add(b, name, NULL, json);
}

static int cases_fill(struct bench *b, const char *only, struct err *err)
{
    const char *python = child_python();
    const char *const plain[] = {python, "-I", "-S", "-c", CODE, NULL};
    size_t found = 0;

    if (python == NULL)
        return err_set(err, ERR_HOST,
                       "python3 is neither in /usr/bin nor in /usr/local/bin; "
                       "install it");
    case_add(b, "plain python3", "1\n", plain);
    for (size_t i = 0; tiers[i] != NULL; i++) {
        if (only != NULL && strcmp(only, tiers[i]->name) != 0)
            continue;
        found++;
        if (tiers[i]->probe(err) == 0)
            cases_of_tier(b, tiers[i]->name, python);
    }
    if (found == 0)
        return err_set(
            err, ERR_INVALID,
            "--tier: \"%.64s\" is no tier; `karzer tiers` lists them", only);
    return b->count > 1 ? 0 : err_wrap(err, "no tier is available");
}

static int rooms_fill(struct bench *b, struct err *err)
{
    for (size_t i = 0; i < b->count; i++) {
        struct bench_case *c = &b->at[i];
        bool ok = (c->us = calloc(b->runs, sizeof(*c->us))) != NULL;

        for (size_t k = 0; c->want == NULL && k < ARRAY_LEN(c->parts); k++)
            ok = ok && (c->parts[k] = calloc(b->runs, sizeof(*c->us))) != NULL;
        if (!ok)
            return err_set(err, ERR_HOST, "out of memory");
    }
    return 0;
}

static void rooms_free(struct bench *b)
{
    for (size_t i = 0; i < b->count; i++) {
        free(b->at[i].us);
        for (size_t k = 0; k < ARRAY_LEN(b->at[i].parts); k++)
            free(b->at[i].parts[k]);
    }
}

static int parts_take(struct bench_case *c, size_t run, const char *text,
                      struct err *err)
{
    json_t *all = json_loads(text, 0, NULL);
    const json_t *timing = json_object_get(all, "timing");
    const json_t *status = json_object_get(all, "status");
    bool ok =
        json_is_string(status) && strcmp(json_string_value(status), "ok") == 0;

    for (size_t k = 0; ok && k < ARRAY_LEN(part_names); k++)
        c->parts[k][run] = (uint64_t)json_integer_value(
            json_object_get(timing, part_names[k]));
    json_decref(all);
    return ok ? 0
              : err_set(err, ERR_HOST, "%s: the run was not ok: %.200s",
                        c->name, text);
}

static int case_run(struct bench_case *c, size_t run, struct err *err)
{
    AUTO(buf) struct buf out;
    struct child_end end;

    buf_init(&out, 1u << 20);
    if (child_run((char *const *)c->argv, ONE_MS, &out, &end, err) < 0)
        return err_wrap(err, "%s", c->name);
    c->us[run] = end.us;
    if (!child_ok(&end))
        return err_set(err, ERR_HOST,
                       "%s: ended with status %d; run it by hand to see why",
                       c->name,
                       WIFEXITED(end.status) ? WEXITSTATUS(end.status)
                                             : 128 + WTERMSIG(end.status));
    if (c->want == NULL)
        return parts_take(c, run, buf_text(&out), err);
    if (strcmp(buf_text(&out), c->want) != 0)
        return err_set(err, ERR_HOST, "%s: printed \"%.80s\"", c->name,
                       buf_text(&out));
    return 0;
}

static int bench_run(struct bench *b, struct err *err)
{
    for (size_t i = 0; i < b->count; i++) /* warm: not counted */
        if (case_run(&b->at[i], 0, err) < 0)
            return -1;
    for (size_t run = 0; run < b->runs; run++)
        for (size_t i = 0; i < b->count; i++)
            if (case_run(&b->at[i], run, err) < 0)
                return -1;
    return 0;
}

static void print_table(struct bench *b)
{
    double plain = median_ms(b->at[0].us, b->runs);

    printf("print(1), %zu runs each, milliseconds\n", b->runs);
    printf("%-28s %9s %9s %9s\n", "", "median", "max", "x plain");
    for (size_t i = 0; i < b->count; i++) {
        struct bench_case *c = &b->at[i];
        double median = median_ms(c->us, b->runs);

        if (c->want != NULL)
            printf("%-28s %9.2f %9.2f %9.2f\n", c->name, median,
                   max_ms(c->us, b->runs), median / plain);
    }
    printf("\n%-28s %9s %9s %9s %9s\n", "where a run's time goes", "create",
           "start", "run", "destroy");
    for (size_t i = 0; i < b->count; i++) {
        struct bench_case *c = &b->at[i];

        if (c->want != NULL)
            continue;
        printf("%-28s", c->name);
        for (size_t k = 0; k < ARRAY_LEN(c->parts); k++)
            printf(" %9.2f", median_ms(c->parts[k], b->runs));
        printf("\n");
    }
}

static json_t *case_json(struct bench *b, struct bench_case *c)
{
    double median = median_ms(c->us, b->runs);
    json_t *one = json_pack("{s:s,s:f,s:f}", "case", c->name, "median_ms",
                            median, "max_ms", max_ms(c->us, b->runs));
    json_t *parts = c->want == NULL ? json_object() : NULL;

    for (size_t k = 0; parts != NULL && k < ARRAY_LEN(c->parts); k++)
        json_object_set_new(
            parts, part_names[k],
            json_integer((json_int_t)(1000 * median_ms(c->parts[k], b->runs))));
    if (parts != NULL)
        json_object_set_new(one, "timing", parts);
    return one;
}

static int print_json(struct bench *b)
{
    json_t *cases = json_array();
    AUTO(mem) char *text = NULL;
    json_t *all;

    for (size_t i = 0; i < b->count; i++)
        json_array_append_new(cases, case_json(b, &b->at[i]));
    all = json_pack("{s:I,s:o}", "runs", (json_int_t)b->runs, "cases", cases);
    text = json_text(all, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(all);
    printf("%s\n", text == NULL ? "null" : text);
    return text == NULL ? CLI_FAILED : 0;
}

static int runs_parse(const char *text, size_t *runs, struct err *err)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < 1 || n > RUNS_MAX)
        return err_set(err, ERR_INVALID,
                       "--runs: \"%.64s\" is not a number from 1 to %d", text,
                       RUNS_MAX);
    *runs = (size_t)n;
    return 0;
}

static int options_take(int argc, char **argv, struct bench *b,
                        const char **only, bool *help, struct err *err)
{
    struct option_scan scan = option_scan(VERB_BENCH, argc, argv);
    struct option_hit hit;
    int r;

    while ((r = option_next(&scan, &hit, err)) > 0) {
        if (hit.id == OPTION_RUNS && runs_parse(hit.value, &b->runs, err) < 0)
            return -1;
        if (hit.id == OPTION_ONE_TIER)
            *only = strcmp(hit.value, "auto") == 0 ? NULL : hit.value;
        if (hit.id == OPTION_JSON)
            b->json = true;
        if (hit.id == OPTION_HELP)
            *help = true;
    }
    return r < 0 ? -1 : option_no_more(&scan, err);
}

int cmd_bench(int argc, char **argv)
{
    struct bench b = {.runs = RUNS_DEFAULT};
    const char *only = NULL;
    struct err err = {0};
    bool help = false;
    int status = 0;

    if (options_take(argc, argv, &b, &only, &help, &err) < 0)
        return cli_fail(&err);
    if (help) {
        option_help(stdout, VERB_BENCH);
        return cli_finish(0);
    }
    if (cases_fill(&b, only, &err) < 0)
        return cli_fail(&err);
    if (rooms_fill(&b, &err) < 0 || bench_run(&b, &err) < 0)
        status = cli_fail(&err);
    else if (b.json)
        status = print_json(&b);
    else
        print_table(&b);
    rooms_free(&b);
    return cli_finish(status);
}
