/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_bwrap - `karzer bwrap`, and karzer under the name bwrap: a program that
 * starts bubblewrap gets a cell with limits and a record. The cell is always of
 * the container tier.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/path.h"
#include "src/cli/bwrap.h"
#include "src/cli/cli.h"
#include "src/cli/forward.h"
#include "src/cli/terminal.h"

/* Bubblewrap has no limits; what is not said is wide. */
static int limits_widen(struct bwrap *b, struct err *err)
{
    static const struct {
        const char *option, *value;
    } usuals[] = {{"mem", "4G"},      {"cpu-time", "24h"}, {"wall", "24h"},
                  {"pids", "4096"},   {"disk", "1G"},      {"inodes", "262144"},
                  {"nofile", "4096"}, {"output", "1G"}};
    struct limits *limits = &b->args->req.limits;
    const struct limit_row *cpu = limit_find("cpu");
    char text[16];

    for (size_t i = 0; i < ARRAY_LEN(usuals); i++) {
        const struct limit_row *row = limit_find(usuals[i].option);

        if (b->limits_said & (UINT64_C(1) << ((row - limit_rows) & 63)))
            continue;
        if (limits_parse(limits, row, usuals[i].value, err) < 0)
            return -1;
    }
    snprintf(text, sizeof(text), "%d", get_nprocs());
    if (b->limits_said & (UINT64_C(1) << ((cpu - limit_rows) & 63)))
        return 0;
    return limits_parse(limits, cpu, text, err);
}

/* Will `path` be a directory in the cell? The last row over it says so. */
static bool is_directory_inside(const struct view *v, const char *path)
{
    char source[2 * PATH_MAX];
    struct stat st;

    for (size_t i = v->count; i > 0; i--) {
        const struct view_row *r = &v->rows[i - 1];

        if (path_is_below(r->target, path) && strcmp(r->target, path) != 0)
            return true; /* it leads there */
        if (!path_is_below(path, r->target))
            continue;
        if (r->kind == VIEW_DIR)
            return strcmp(path, r->target) == 0;
        if (r->kind != VIEW_BIND)
            return false;
        snprintf(source, sizeof(source), "%s%s", r->source,
                 path + strlen(r->target));
        return stat(source, &st) == 0 && S_ISDIR(st.st_mode);
    }
    return strcmp(path, "/tmp") == 0;
}

/* As bubblewrap: where the caller is, else HOME, else the root. */
static int cwd_choose(struct view *v, const struct strs *env, struct err *err)
{
    AUTO(mem) char *here = getcwd(NULL, 0);
    const char *home = "/";

    for (size_t i = 0; i < env->len; i++)
        if (strncmp(env->at[i], "HOME=", 5) == 0)
            home = env->at[i] + 5;
    if (v->cwd != NULL)
        return 0;
    if (here != NULL && is_directory_inside(v, here))
        home = here;
    else if (home[0] != '/' || !is_directory_inside(v, home))
        home = "/";
    v->cwd = strdup(home);
    return v->cwd == NULL ? err_set(err, ERR_HOST, "out of memory") : 0;
}

/* root's own id is never the cell's, unless it is said. */
static void ids_choose(struct bwrap *b)
{
    if (!b->uid_said)
        b->view->uid = geteuid() == 0 ? 1000 : geteuid();
    if (!b->gid_said)
        b->view->gid = getegid() == 0 ? 1000 : getegid();
}

static int request_fill(struct bwrap *b, const struct option_scan *scan,
                        struct err *err)
{
    struct request *req = &b->args->req;

    if (scan->at == scan->argc)
        return err_set(err, ERR_INVALID,
                       "no command given: bwrap OPTIONS -- CMD ARGS...");
    for (int i = scan->at; i < scan->argc; i++)
        if (strs_add(&req->argv, scan->argv[i], err) < 0)
            return -1;
    req->tier = strdup("container");
    if (req->tier == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    ids_choose(b);
    if (limits_widen(b, err) < 0 ||
        bwrap_env(b, cli_environment(), &req->env, err) < 0 ||
        cwd_choose(b->view, &req->env, err) < 0 ||
        strs_addf(&req->env, err, "PWD=%s", b->view->cwd) < 0)
        return -1;
    req->has_stdin = cli_has_stdin();
    req->terminal = isatty(0) == 1 && isatty(1) == 1 && isatty(2) == 1;
    if (req->terminal)
        terminal_size(&req->rows, &req->columns);
    return request_check(req, err);
}

/* EOF counts, too. */
static int block(int fd, struct err *err)
{
    char c;
    ssize_t n;

    if (fd < 0)
        return 0;
    do
        n = read(fd, &c, 1);
    while (n < 0 && errno == EINTR);
    return n < 0 ? err_sys(err, "--block-fd: descriptor %d", fd) : 0;
}

static int version(void)
{
    printf("bubblewrap 0.8.0 (karzer " KARZER_VERSION ")\n");
    return cli_finish(0);
}

static int run(struct bwrap *b, struct option_scan *scan, struct err *err)
{
    if (request_fill(b, scan, err) < 0 || block(b->block_fd, err) < 0)
        return cli_fail(err);
    if (b->die && forward_parent() < 0) {
        err_set(err, ERR_HOST, "--die-with-parent: the parent has ended");
        return cli_fail(err);
    }
    return run_request(b->args);
}

int cmd_bwrap(int argc, char **argv)
{
    struct option_scan scan = option_scan(VERB_BWRAP, argc, argv);
    struct run_args args = {0};
    struct bwrap b = {.args = &args, .read_fd = bwrap_read_fd};
    struct err err = {0};
    int status;

    if (request_init(&args.req, &err) < 0)
        return cli_fail(&err);
    args.req.view = b.view = calloc(1, sizeof(*b.view));
    if (b.view == NULL) {
        err_set(&err, ERR_HOST, "out of memory");
        status = cli_fail(&err);
    } else if (bwrap_parse(&b, &scan, &err) < 0) {
        status = cli_fail(&err);
    } else if (b.help) {
        option_help(stdout, VERB_BWRAP);
        status = cli_finish(0);
    } else {
        status = b.version ? version() : run(&b, &scan, &err);
    }
    bwrap_fini(&b);
    run_args_fini(&args);
    return status;
}
