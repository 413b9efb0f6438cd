/* SPDX-License-Identifier: Apache-2.0 */
/* policy - see policy.h. Called by run.c alone. */
#include "src/core/policy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/base/path.h"
#include "src/core/interpreter.h"
#include "src/core/language.h"
#include "src/core/own.h"
#include "src/core/tier.h"

void grant_fini(struct grant *grant)
{
    for (size_t i = 0; i < grant->mount_count; i++) {
        free(grant->mounts[i].source);
        free(grant->mounts[i].target);
    }
    strs_fini(&grant->env);
    strs_fini(&grant->argv);
    free(grant->cwd);
    free(grant->scratch);
    template_close(grant->template);
    free(grant->hostname);
    *grant = (struct grant){0};
}

/* The whole environment of a program, before --env; docs/cli.md lists it. */
static const char *const base_env[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ("HOME=" CELL_HOME),
    "USER=user",
    "LOGNAME=user",
    "SHELL=/bin/sh",
    "LANG=C.UTF-8",
    "TMPDIR=/tmp",
};

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");

    return strcspn(b, "=") == n && memcmp(a, b, n) == 0;
}

static int env_decide(const struct request *req, struct grant *grant,
                      struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(base_env) && req->view == NULL; i++) {
        bool given = false;

        for (size_t k = 0; k < req->env.len; k++)
            given = given || same_name(base_env[i], req->env.at[k]);
        if (i == 0 && req->interpreter != NULL && req->lang == NULL)
            continue; /* interpreter_decide adds it */
        if (!given && strs_add(&grant->env, base_env[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < req->env.len; i++) {
        bool again = false; /* the last one counts */

        for (size_t k = i + 1; k < req->env.len; k++)
            again = again || same_name(req->env.at[i], req->env.at[k]);
        if (!again && strs_add(&grant->env, req->env.at[i], err) < 0)
            return -1;
    }
    return 0;
}

static int mount_add(struct grant *grant, const char *source,
                     const char *target, struct grant_mount how,
                     struct err *err)
{
    struct grant_mount *m = &grant->mounts[grant->mount_count];

    if (grant->mount_count == GRANT_MOUNTS_MAX)
        return err_set(err, ERR_LIMIT, "more than %u mounts", GRANT_MOUNTS_MAX);
    *m = how;
    m->source = strdup(source);
    m->target = strdup(target);
    grant->mount_count++;
    if (m->source == NULL || m->target == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return 0;
}

/* Nothing inside may reach what manages it: the record, and with rights to
 * write the programs that the next run starts. */
static int own_things_decide(const struct dirs *dirs, const struct request *req,
                             struct err *err)
{
    char place[DIRS_PATH_MAX];

    if (own_record(dirs, req->workspace))
        return err_set(err, ERR_DENIED,
                       "--workspace: %s holds karzer's own record (%s): show a "
                       "smaller directory, or set KARZER_STATE to one outside",
                       req->workspace, dirs->state);
    if (req->workspace_rw && own_written(dirs, req->workspace, place))
        return err_set(err, ERR_DENIED,
                       "--workspace: %s holds the karzer that runs this (%s), "
                       "and the code could change it: use an installed one",
                       req->workspace, place);
    return 0;
}

static int workspace_decide(const struct dirs *dirs, const struct request *req,
                            struct grant *grant, struct err *err)
{
    static const char *const never[] = {"/proc", "/sys", "/dev", "/karzer"};

    if (req->workspace == NULL)
        return 0;
    if (strcmp(req->workspace, "/") == 0)
        return err_set(err, ERR_DENIED, "--workspace: not the whole host");
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (path_is_below(req->workspace, never[i]))
            return err_set(err, ERR_DENIED, "--workspace: not below %s",
                           never[i]);
    if (own_things_decide(dirs, req, err) < 0)
        return -1;
    return mount_add(
        grant, req->workspace, req->workspace,
        (struct grant_mount){.rw = req->workspace_rw, .owned = true}, err);
}

/* Makes the trees of --interpreter visible; for a command its bin leads the
 * PATH. */
static int interpreter_decide(const struct request *req, struct grant *grant,
                              struct interpreter *in, struct err *err)
{
    const struct grant_mount how = {0};

    if (req->interpreter == NULL)
        return 0;
    if (interpreter_find(req->interpreter, grant->language, in, err) < 0)
        return -1;
    if (in->venv[0] != '\0' &&
        mount_add(grant, in->venv, in->venv, how, err) < 0)
        return -1;
    if (in->base[0] != '\0' &&
        mount_add(grant, in->base, in->base, how, err) < 0)
        return -1;
    for (size_t i = 0; i < req->env.len; i++)
        if (same_name("PATH=", req->env.at[i]))
            return 0;
    if (req->lang != NULL)
        return 0;
    return strs_addf(&grant->env, err, "PATH=%.*s:%s",
                     (int)(strrchr(in->exe, '/') - in->exe), in->exe,
                     base_env[0] + strlen("PATH="));
}

/* The program that stands for a block of code: the driver. */
static int runtime_decide(const struct dirs *dirs, const char *exe,
                          struct grant *grant, struct err *err)
{
    const char *program = grant->language->program;
    char source[DIRS_PATH_MAX + 16];

    snprintf(source, sizeof(source), "%s/runtime", dirs->share);
    if (mount_add(grant, source, CELL_RUNTIME, (struct grant_mount){0}, err) <
        0)
        return -1;
    return language_argv(grant->language, exe[0] == '\0' ? program : exe,
                         CELL_RUNTIME, grant->limits.mem_bytes, &grant->argv,
                         err);
}

static int tier_decide(const struct request *req, struct grant *grant,
                       struct err *err)
{
    if (req->tier == NULL || strcmp(req->tier, "auto") == 0) {
        grant->tier = tier_strongest(err);
        return grant->tier == NULL ? -1 : 0;
    }
    grant->tier = tier_find(req->tier);
    if (grant->tier == NULL)
        return err_set(err, ERR_INVALID,
                       "--tier: \"%s\" is not known; `karzer tiers` lists them",
                       req->tier);
    if (grant->tier->probe(err) < 0)
        return err_wrap(err, "%s", grant->tier->name);
    return 0;
}

/* What other tiers show is the host's own programs: that is no template. */
static int template_decide(const struct dirs *dirs, const struct request *req,
                           struct grant *grant, struct err *err)
{
    if (req->template == NULL)
        return 0;
    if (!grant->tier->has_root)
        return err_set(err, ERR_HOST,
                       "--template: the %s tier shows the host's own programs "
                       "and no template; --tier container does",
                       grant->tier->name);
    return template_open(dirs->state, req->template, &grant->template, err);
}

int policy_decide(const struct dirs *dirs, const struct request *req,
                  struct grant *grant, struct err *err)
{
    const char *cwd = req->view != NULL        ? req->view->cwd
                      : req->workspace != NULL ? req->workspace
                                               : CELL_HOME;
    struct interpreter in = {.exe = ""};

    grant->language = req->lang == NULL ? NULL : language_find(req->lang);
    if (req->lang != NULL && grant->language == NULL)
        return language_unknown("--lang", req->lang, err);
    grant->run_id = req->id;
    grant->dirs = dirs;
    grant->limits = req->limits;
    grant->may_lack = req->may_lack;
    grant->has_stdin = req->has_stdin;
    grant->output_kill = req->output_kill;
    grant->terminal = req->terminal;
    grant->rows = req->rows;
    grant->columns = req->columns;
    grant->cwd = strdup(cwd);
    if (grant->cwd == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (tier_decide(req, grant, err) < 0 ||
        template_decide(dirs, req, grant, err) < 0 ||
        env_decide(req, grant, err) < 0 ||
        workspace_decide(dirs, req, grant, err) < 0 ||
        interpreter_decide(req, grant, &in, err) < 0 ||
        (req->view != NULL && view_decide(dirs, req->view, grant, err) < 0))
        return -1;
    if (grant->bare && grant->tier->adapts)
        return err_set(err, ERR_DENIED,
                       "a view of one's own is the container tier's");
    if (grant->tier->adapts &&
        (grant->scratch = strdup(HOLDER_SCRATCH)) == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (req->lang != NULL && runtime_decide(dirs, in.exe, grant, err) < 0)
        return -1;
    for (size_t i = 0; i < req->argv.len; i++)
        if (strs_add(&grant->argv, req->argv.at[i], err) < 0)
            return -1;
    return 0;
}
