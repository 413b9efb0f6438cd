/* SPDX-License-Identifier: Apache-2.0 */
/* request - see request.h. Parsing and bounds; no decision is made here. */
#include "src/core/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "abi/agent.h"
#include "abi/holder.h"
#include "abi/runtime.h"
#include "src/base/auto.h"
#include "src/base/id.h"
#include "src/base/path.h"
#include "src/core/language.h"
#include "src/core/template.h"

int request_init(struct request *req, struct err *err)
{
    *req = (struct request){.limits = limits_default()};
    return id_new(req->id, err);
}

static void pairs_fini(struct file_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].from);
        free(pairs[i].to);
    }
}

void request_fini(struct request *req)
{
    free(req->tier);
    free(req->lang);
    free(req->code);
    free(req->code_name);
    strs_fini(&req->argv);
    strs_fini(&req->env);
    pairs_fini(req->in, req->in_count);
    pairs_fini(req->out, req->out_count);
    if (req->view != NULL)
        view_fini(req->view);
    free(req->view);
    free(req->workspace);
    free(req->template);
    free(req->interpreter);
    *req = (struct request){0};
}

/* Copies up to a ':' that no backslash protects; *text ends behind it. */
static char *part_take(const char **text)
{
    char *part = malloc(strlen(*text) + 1), *to = part;
    const char *at = *text;

    if (part == NULL)
        return NULL;
    while (*at != '\0' && *at != ':') {
        if (at[0] == '\\' && at[1] != '\0')
            at++;
        *to++ = *at++;
    }
    *to = '\0';
    *text = at;
    return part;
}

static int pair_parse(const char *text, struct file_pair *pair,
                      const char *shape, struct err *err)
{
    const char *at = text;
    char *from = part_take(&at);
    char *to = NULL;

    if (from != NULL && *at == ':') {
        at++;
        to = part_take(&at);
    }
    if (from == NULL || to == NULL || *at != '\0' || *from == '\0' ||
        *to == '\0') {
        free(from);
        free(to);
        return err_set(err, ERR_INVALID,
                       "\"%s\" is not %s (a ':' in a name is written \\:)",
                       text, shape);
    }
    *pair = (struct file_pair){.from = from, .to = to};
    return 0;
}

/* "d/a:/tmp/" puts it into that directory, under the host's name of it. */
static int into_directory(struct file_pair *pair, struct err *err)
{
    size_t to = strlen(pair->to), end = strlen(pair->from), at;
    char *whole;

    if (pair->to[to - 1] != '/')
        return 0;
    while (end > 0 && pair->from[end - 1] == '/')
        end--;
    for (at = end; at > 0 && pair->from[at - 1] != '/';)
        at--;
    if (end == at ||
        (end - at <= 2 && strspn(pair->from + at, ".") >= end - at))
        return err_set(err, ERR_INVALID,
                       "\"%s\" has no name to have in %s: write that name "
                       "behind it",
                       pair->from, pair->to);
    whole = malloc(to + (end - at) + 1);
    if (whole == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    memcpy(whole, pair->to, to);
    memcpy(whole + to, pair->from + at, end - at);
    whole[to + (end - at)] = '\0';
    free(pair->to);
    pair->to = whole;
    return 0;
}

int request_add_in(struct request *req, const char *text, struct err *err)
{
    struct file_pair *pair = &req->in[req->in_count];

    if (req->in_count == REQUEST_FILES_MAX)
        return err_set(err, ERR_INVALID, "--in: more than %u files",
                       REQUEST_FILES_MAX);
    if (pair_parse(text, pair, "HOST:CELL", err) < 0)
        return err_wrap(err, "--in");
    if (into_directory(pair, err) < 0) {
        pairs_fini(pair, 1);
        return err_wrap(err, "--in");
    }
    req->in_count++;
    return 0;
}

int request_add_out(struct request *req, const char *text, struct err *err)
{
    if (req->out_count == REQUEST_FILES_MAX)
        return err_set(err, ERR_INVALID, "--out: more than %u files",
                       REQUEST_FILES_MAX);
    if (pair_parse(text, &req->out[req->out_count], "CELL:HOST", err) < 0)
        return err_wrap(err, "--out");
    req->out_count++;
    return 0;
}

int request_add_may_lack(struct request *req, const char *name, struct err *err)
{
    static const char *const names[] = {
#define M(id, n, what) n,
        HOLDER_MECHANISMS(M)
#undef M
    };

    for (unsigned i = 0; i < HOLDER_MECHANISM_COUNT; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        req->may_lack |= UINT64_C(1) << i;
        return 0;
    }
    return err_set(err, ERR_INVALID,
                   "--may-lack: \"%s\" is no mechanism; `karzer doctor` lists "
                   "them",
                   name);
}

static int env_check(const struct strs *env, struct err *err)
{
    for (size_t i = 0; i < env->len; i++) {
        const char *eq = strchr(env->at[i], '=');

        if (eq == NULL || eq == env->at[i])
            return err_set(err, ERR_INVALID, "--env: \"%s\" is not K=V",
                           env->at[i]);
    }
    return 0;
}

static int sizes_check(const struct request *req, struct err *err)
{
    size_t bytes = 0;

    for (size_t i = 0; i < req->argv.len; i++)
        bytes += strlen(req->argv.at[i]) + 1;
    for (size_t i = 0; i < req->env.len; i++)
        bytes += strlen(req->env.at[i]) + 1;
    if (bytes > AGENT_EXEC_MAX - 16384)
        return err_set(err, ERR_INVALID,
                       "arguments and environment of %zu bytes; at most %u",
                       bytes, AGENT_EXEC_MAX - 16384);
    if (req->code_len > RUNTIME_CODE_MAX)
        return err_set(err, ERR_INVALID,
                       "code of %zu bytes; at most %u: give it as a file with "
                       "--in and import it",
                       req->code_len, RUNTIME_CODE_MAX);
    return 0;
}

/* Cell paths: absolute or below the home directory, and short enough. */
static int paths_check(const struct file_pair *pairs, size_t count, bool out,
                       struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *cell = out ? pairs[i].from : pairs[i].to;

        if (strlen(cell) + 16 > AGENT_PATH_MAX)
            return err_set(err, ERR_INVALID, "a path of %zu bytes",
                           strlen(cell));
    }
    return 0;
}

int request_workspace(struct request *req, const char *dir, bool rw,
                      struct err *err)
{
    AUTO(fd) int fd = path_open(dir, err);
    char real[PATH_MAX];
    struct stat st;

    if (fd < 0)
        return err_wrap(err, "--workspace");
    if (fstat(fd, &st) < 0 || path_name(fd, real, sizeof(real)) < 0)
        return err_sys(err, "--workspace: %.200s", dir);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_HOST,
                       "--workspace: %.200s is not a directory; --in copies a "
                       "file in",
                       dir);
    /* the cell has no more rights, and an empty directory would be a lie */
    if (faccessat(fd, ".", R_OK | X_OK, 0) < 0)
        return err_sys(err,
                       "--workspace: %.200s: you need the rights to list and "
                       "enter it",
                       dir);
    if (req->workspace != NULL)
        return err_set(err, ERR_INVALID, "--workspace: given twice");
    req->workspace = strdup(real);
    req->workspace_rw = rw;
    return req->workspace == NULL ? err_set(err, ERR_HOST, "out of memory") : 0;
}

int request_check(const struct request *req, struct err *err)
{
    const struct language *lang =
        req->lang == NULL ? NULL : language_find(req->lang);

    if (req->lang == NULL && req->argv.len == 0)
        return err_set(err, ERR_INVALID, "no command given");
    if (req->lang == NULL && req->argv.at[0][0] == '\0')
        return err_set(err, ERR_INVALID, "the command is empty");
    if (req->lang != NULL && lang == NULL)
        return language_unknown("--lang", req->lang, err);
    if (lang != NULL &&
        language_check(lang, req->code, req->code == NULL ? 0 : req->code_len,
                       err) < 0)
        return -1;
    if (req->template != NULL && template_name_check(req->template, err) < 0)
        return err_wrap(err, "--template");
    if (req->template != NULL && req->interpreter != NULL)
        return err_set(err, ERR_INVALID,
                       "--template and --interpreter: a template has its own "
                       "interpreter, and sees none of the host's");
    if (env_check(&req->env, err) < 0 || sizes_check(req, err) < 0 ||
        paths_check(req->in, req->in_count, false, err) < 0)
        return -1;
    return paths_check(req->out, req->out_count, true, err);
}
