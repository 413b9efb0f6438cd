/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_args - see run_args.h. Called by cmd_run.c alone.
 */
#include "src/cli/run_args.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/runtime.h"
#include "src/base/auto.h"
#include "src/base/buf.h"
#include "src/base/fd.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/cli/run_terminal.h"
#include "src/core/language.h"
#include "src/core/tier.h"

static int set_text(char **at, const char *text, struct err *err)
{
    char *copy = strdup(text);

    if (copy == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    free(*at);
    *at = copy;
    return 0;
}

static int set_tier(struct run_args *args, const char *value, struct err *err)
{
    char known[128] = "auto";
    size_t n = strlen(known);

    if (strcmp(value, "auto") == 0) {
        free(args->req.tier);
        args->req.tier = NULL;
        return 0;
    }
    if (tier_find(value) != NULL)
        return set_text(&args->req.tier, value, err);
    for (size_t i = 0; tiers[i] != NULL && n < sizeof(known) - 1; i++)
        n += (size_t)snprintf(known + n, sizeof(known) - n, ", %s",
                              tiers[i]->name);
    return err_set(err, ERR_INVALID, "--tier: \"%.64s\" is no tier; known: %s",
                   value, known);
}

static int set_net(struct run_args *args, const char *value, struct err *err)
{
    (void)args;
    if (strcmp(value, "none") == 0)
        return 0;
    return err_set(err, ERR_INVALID,
                   "--net: \"%.64s\" is not known; there is only none: a cell "
                   "reaches nothing but its own loopback",
                   value);
}

static int add_env(struct run_args *args, const char *value, struct err *err)
{
    size_t len = strcspn(value, "=");
    bool good = len > 0 && !isdigit((unsigned char)value[0]);

    for (size_t i = 0; i < len; i++)
        good = good && (isalnum((unsigned char)value[i]) || value[i] == '_');
    if (!good)
        return err_set(err, ERR_INVALID,
                       "--env: \"%.*s\" is no name of a variable: letters, "
                       "digits and _, as in --env NAME=value",
                       (int)(len < 64 ? len : 64), value);
    if (value[len] == '\0')
        return err_set(err, ERR_INVALID,
                       "--env: %.64s has no value: --env %.64s=value (yours is "
                       "never passed on)",
                       value, value);
    return strs_add(&args->req.env, value, err);
}

static int add_in(struct run_args *args, const char *value, struct err *err)
{
    return request_add_in(&args->req, value, err);
}

static int add_out(struct run_args *args, const char *value, struct err *err)
{
    return request_add_out(&args->req, value, err);
}

static int add_may_lack(struct run_args *args, const char *value,
                        struct err *err)
{
    return request_add_may_lack(&args->req, value, err);
}

static int set_lang(struct run_args *args, const char *value, struct err *err)
{
    if (language_find(value) == NULL)
        return language_unknown("--lang", value, err);
    return set_text(&args->req.lang, value, err);
}

/* Cuts ":ro" or ":rw" off; anything else behind a colon is part of the name. */
static bool mode_take(char *dir, bool *rw)
{
    size_t len = strlen(dir);

    if (len < 3 || dir[len - 3] != ':')
        return false;
    if (strcmp(dir + len - 2, "rw") != 0 && strcmp(dir + len - 2, "ro") != 0)
        return false;
    *rw = dir[len - 1] == 'w';
    dir[len - 3] = '\0';
    return true;
}

/* "DIR:xx", where there is a DIR but none of the whole name. */
static void mode_wrong(const char *dir, struct err *err)
{
    const char *colon = strrchr(dir, ':');
    AUTO(mem)
    char *name = colon == NULL ? NULL : strndup(dir, (size_t)(colon - dir));
    struct stat st;

    if (name != NULL && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        err_set(err, ERR_INVALID,
                "--workspace: \"%.64s\" is no mode of %.200s: ro or rw",
                colon + 1, name);
}

static int set_workspace(struct run_args *args, const char *value,
                         struct err *err)
{
    AUTO(mem) char *dir = strdup(value);
    bool rw = false;

    if (dir == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    mode_take(dir, &rw);
    if (dir[0] == '\0')
        return err_set(err, ERR_INVALID,
                       "--workspace: names no directory: --workspace "
                       "DIR[:ro|rw]");
    if (request_workspace(&args->req, dir, rw, err) == 0)
        return 0;
    if (access(dir, F_OK) < 0)
        mode_wrong(dir, err);
    return -1;
}

/* Absolute, links as they are: a venv is known by the name of its program. */
static int set_interpreter(struct run_args *args, const char *value,
                           struct err *err)
{
    AUTO(mem) char *cwd = NULL;
    AUTO(mem) char *path = NULL;

    if (value[0] == '/')
        return set_text(&args->req.interpreter, value, err);
    cwd = getcwd(NULL, 0);
    if (cwd == NULL)
        return err_sys(err, "--interpreter: this directory");
    if (asprintf(&path, "%s/%s", cwd, value) < 0)
        return err_set(err, ERR_HOST, "out of memory");
    return set_text(&args->req.interpreter, path, err);
}

static int set_template(struct run_args *args, const char *value,
                        struct err *err)
{
    return set_text(&args->req.template, value, err);
}

static int set_flag(struct run_args *args, enum option_id id)
{
    if (id == OPTION_JSON)
        args->json = true;
    else if (id == OPTION_OUTPUT_KILL)
        args->req.output_kill = true;
    else if (id == OPTION_HELP)
        args->help = true;
    else if (id == OPTION_TERMINAL)
        args->req.terminal = true;
    else if (id == OPTION_INTERACTIVE)
        args->interactive = true;
    return 0;
}

static int (*const setters[OPTION_COUNT])(struct run_args *args,
                                          const char *value,
                                          struct err *err) = {
    [OPTION_LANG] = set_lang,
    [OPTION_TIER] = set_tier,
    [OPTION_NET] = set_net,
    [OPTION_ENV] = add_env,
    [OPTION_IN] = add_in,
    [OPTION_OUT] = add_out,
    [OPTION_WORKSPACE] = set_workspace,
    [OPTION_INTERPRETER] = set_interpreter,
    [OPTION_PYTHON] = set_interpreter,
    [OPTION_TEMPLATE] = set_template,
    [OPTION_MAY_LACK] = add_may_lack,
};

static int apply(struct run_args *args, const struct option_hit *hit,
                 struct err *err)
{
    if (hit->id == OPTION_LIMIT)
        return limits_parse(&args->req.limits, hit->limit, hit->value, err);
    if (setters[hit->id] != NULL)
        return setters[hit->id](args, hit->value, err);
    return set_flag(args, hit->id);
}

enum run_args_code run_args_guess(const char *text)
{
    struct stat st;

    if (text[0] == '\0' || strchr(text, '\n') != NULL || stat(text, &st) < 0)
        return CODE_TEXT;
    return S_ISDIR(st.st_mode) ? CODE_DIRECTORY : CODE_FILE;
}

/* "script.py" that does not exist is a slip, not code. */
static bool is_slip(const char *text)
{
    return language_suffix(text) && strpbrk(text, " \t\n()'\"=") == NULL;
}

/* "dir/f" that cannot be looked at is no code, unless it is just not there. */
static int check_reach(const char *text, struct err *err)
{
    struct stat st;

    if (strchr(text, '/') == NULL || strpbrk(text, " \t\n\r\v\f()") != NULL ||
        stat(text, &st) == 0 || errno == ENOENT)
        return 0;
    return err_set(err, ERR_HOST, "%.200s: %s; -c says that it is code", text,
                   strerror(errno));
}

/* All of a descriptor, up to the size that a block of code may have. */
static int code_read(struct request *req, int fd, const char *name,
                     struct err *err)
{
    AUTO(buf) struct buf all;
    char part[16384];
    ssize_t n;

    buf_init(&all, RUNTIME_CODE_MAX);
    while ((n = fd_read_full(fd, part, sizeof(part))) > 0)
        if (buf_add(&all, part, (size_t)n, err) < 0)
            return err_set(err, ERR_INVALID,
                           "%.200s: more than %u MB of code; give data as a "
                           "file with --in",
                           name, RUNTIME_CODE_MAX >> 20);
    if (n < 0)
        return err_sys(err, "read %.200s", name);
    req->code = all.data != NULL ? all.data : strdup("");
    req->code_len = all.len;
    all = (struct buf){0}; /* the bytes are the request's now */
    return req->code == NULL ? err_set(err, ERR_HOST, "out of memory") : 0;
}

/* The path as given; of a file in the workspace the one that it has inside. */
static int code_name_file(struct request *req, const char *path,
                          struct err *err)
{
    size_t n = req->workspace == NULL ? 0 : strlen(req->workspace);
    AUTO(mem) char *real = n == 0 ? NULL : realpath(path, NULL);

    if (real != NULL && strncmp(real, req->workspace, n) == 0 && real[n] == '/')
        path = real;
    return set_text(&req->code_name, path, err);
}

static int code_open(struct request *req, const char *path, struct err *err)
{
    AUTO(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%.200s", path);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID,
                       "%.200s: is a directory; name a file with code", path);
    if (code_read(req, fd, path, err) < 0)
        return -1;
    return code_name_file(req, path, err);
}

static int code_text(struct request *req, const char *text, struct err *err)
{
    req->code_len = strlen(text);
    if (set_text(&req->code, text, err) < 0)
        return -1;
    return set_text(&req->code_name, "<code>", err);
}

static int code_stdin(struct run_args *args, struct err *err)
{
    if (!cli_has_stdin())
        return err_set(err, ERR_INVALID,
                       "-: stdin is closed; give the code with -c or -f");
    args->stdin_is_code = true;
    if (code_read(&args->req, STDIN_FILENO, "stdin", err) < 0)
        return -1;
    return set_text(&args->req.code_name, "<stdin>", err);
}

static int code_guess(struct run_args *args, const char *text, struct err *err)
{
    if (strcmp(text, "-") == 0)
        return code_stdin(args, err);
    switch (run_args_guess(text)) {
    case CODE_FILE:
        return code_open(&args->req, text, err);
    case CODE_DIRECTORY:
        return err_set(err, ERR_INVALID,
                       "%.200s: is a directory; -c says that it is code", text);
    case CODE_GUESS:
    case CODE_TEXT:
        break;
    }
    if (is_slip(text))
        return err_set(err, ERR_HOST,
                       "%.200s: no such file; -c says that it is code", text);
    return check_reach(text, err) < 0 ? -1 : code_text(&args->req, text, err);
}

static int code_take(struct run_args *args, enum run_args_code how,
                     const char *text, struct err *err)
{
    int r;

    if (how == CODE_FILE && text[0] == '\0')
        return err_set(err, ERR_INVALID, "-f: names no file");
    if (how == CODE_TEXT)
        r = code_text(&args->req, text, err);
    else if (how == CODE_FILE)
        r = code_open(&args->req, text, err);
    else
        r = code_guess(args, text, err);
    if (r == 0 && args->req.code_len == 0)
        return err_set(err, ERR_INVALID,
                       "the code is empty: give CODE, -f FILE, or - for stdin");
    return r;
}

static int arguments_take(struct run_args *args, const struct option_scan *scan,
                          struct err *err)
{
    for (int i = scan->at; i < scan->argc; i++)
        if (strs_add(&args->req.argv, scan->argv[i], err) < 0)
            return -1;
    return 0;
}

/* What is to run, as the command line names it. */
struct code {
    const char *text; /* NULL: not yet */
    enum run_args_code how;
};

static int code_name_once(struct code *code, const char *text,
                          enum run_args_code how, struct err *err)
{
    if (code->text != NULL)
        return err_set(err, ERR_INVALID,
                       "\"%.64s\": one CODE only; arguments of the program "
                       "come after --",
                       text);
    *code = (struct code){text, how};
    return 0;
}

/* run: options stand on both sides of CODE, up to "--". */
static int run_words(struct run_args *args, struct option_scan *scan,
                     struct code *code, struct err *err)
{
    struct option_hit hit;

    while (!args->help) {
        int r = option_next(scan, &hit, err);

        if (r == 0 && (scan->dashes || scan->at == scan->argc))
            return 0;
        if (r == 0)
            r = code_name_once(code, scan->argv[scan->at++], CODE_GUESS, err);
        else if (r > 0 && hit.id == OPTION_CODE)
            r = code_name_once(code, hit.value, CODE_TEXT, err);
        else if (r > 0 && hit.id == OPTION_FILE)
            r = code_name_once(code, hit.value, CODE_FILE, err);
        else if (r > 0)
            r = apply(args, &hit, err);
        if (r < 0)
            return -1;
    }
    return 0;
}

/* What --lang says, else a #! line, a suffix, the interpreter's name, else
 * Python. */
static int lang_guess(struct request *req, struct err *err)
{
    const struct language *lang;

    if (req->lang != NULL)
        return 0;
    if (req->code == NULL) /* the first block is still to be typed */
        return set_text(&req->lang, "python", err);
    if (language_guess(req->code, req->code_len, req->code_name, &lang, err) <
        0)
        return -1;
    if (lang == NULL && req->interpreter != NULL)
        lang = language_of_program(req->interpreter);
    return set_text(&req->lang, lang == NULL ? "python" : lang->name, err);
}

static int run_parse(struct run_args *args, struct option_scan *scan,
                     struct err *err)
{
    struct code code = {0};

    if (run_words(args, scan, &code, err) < 0)
        return -1;
    if (args->help)
        return 0;
    if (code.text == NULL && !args->interactive)
        return err_set(err, ERR_INVALID,
                       "no CODE given: karzer run 'print(1)', a file, or - for "
                       "stdin");
    if ((code.text != NULL && code_take(args, code.how, code.text, err) < 0) ||
        lang_guess(&args->req, err) < 0)
        return -1;
    return arguments_take(args, scan, err);
}

/* exec: the first word that is no option starts the command. */
static int exec_parse(struct run_args *args, struct option_scan *scan,
                      struct err *err)
{
    struct option_hit hit;
    int r;

    while ((r = option_next(scan, &hit, err)) > 0) {
        if (apply(args, &hit, err) < 0)
            return -1;
        if (args->help)
            return 0;
    }
    if (r < 0)
        return -1;
    if (scan->at == scan->argc)
        return err_set(err, ERR_INVALID,
                       "no CMD given: karzer exec -- CMD ARGS...");
    return arguments_take(args, scan, err);
}

int run_args_parse(struct run_args *args, enum verb_id verb, int argc,
                   char **argv, struct err *err)
{
    struct option_scan scan = option_scan(verb, argc, argv);
    int r;

    *args = (struct run_args){0};
    if (request_init(&args->req, err) < 0)
        return -1;
    r = verb == VERB_RUN ? run_parse(args, &scan, err)
                         : exec_parse(args, &scan, err);
    if (r < 0 || args->help)
        return r;
    args->req.has_stdin = cli_has_stdin() && !args->stdin_is_code;
    if (args->req.terminal && run_terminal(args, &scan, err) < 0)
        return -1;
    if (args->interactive && run_interactive(args, &scan, err) < 0)
        return -1;
    return request_check(&args->req, err);
}

void run_args_fini(struct run_args *args)
{
    request_fini(&args->req);
}
