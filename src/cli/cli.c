/* SPDX-License-Identifier: Apache-2.0 */
/* cli - see cli.h. Called by every command. */
#include "src/cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/cli/show.h"
#include "src/core/json_text.h"
#include "src/core/output.h"
#include "src/core/run.h"
#include "src/core/tier.h"

static struct cli_start started;
static bool as_json;

void cli_start(const struct cli_start *start)
{
    started = *start;
}

int cli_dirs(struct dirs *dirs, struct err *err)
{
    if (dirs_find(dirs, started.state_env, started.xdg_state_home, started.home,
                  err) < 0)
        return -1;
    dirs_runtime(dirs, started.xdg_runtime_dir);
    return record_settings_parse(&dirs->record, started.anchor,
                                 started.anchor_every, started.record_size,
                                 err);
}

int cli_try(const struct tier *tier, struct err *err)
{
    struct engine *engine = NULL;
    struct dirs dirs;

    if (tier->probe(err) < 0 || cli_dirs(&dirs, err) < 0 ||
        engine_open(&engine, &dirs, err) < 0)
        return -1;
    engine_close(engine);
    return engine_try(&dirs, tier, err);
}

const char *cli_home(void)
{
    return started.home;
}

char *const *cli_environment(void)
{
    return started.environment;
}

const char *cli_term(void)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+._";
    const char *term = started.term;

    if (term == NULL || term[0] == '\0' || strlen(term) > 64 ||
        term[strspn(term, word)] != '\0')
        return "xterm";
    return term;
}

bool cli_has_stdin(void)
{
    return started.has_stdin;
}

void cli_json(bool json)
{
    as_json = json;
}

int cli_warn(const struct err *err)
{
    show_line(STDERR_FILENO, err->text);
    return err->code == ERR_INVALID ? CLI_USAGE : CLI_FAILED;
}

static void print_error(const struct err *err)
{
    static const char *const codes[] = {
        [ERR_NONE] = "internal", [ERR_INVALID] = "invalid",
        [ERR_DENIED] = "denied", [ERR_LIMIT] = "limit",
        [ERR_HOST] = "host",     [ERR_INTERNAL] = "internal",
    };
    json_t *all = json_pack("{s:{s:s,s:o}}", "error", "code", codes[err->code],
                            "text", text_json(err->text));
    AUTO(mem) char *text = json_text(all, JSON_COMPACT);

    json_decref(all);
    printf("%s\n", text == NULL ? "{\"error\":{}}" : text);
    fflush(stdout);
}

int cli_fail(const struct err *err)
{
    if (as_json)
        print_error(err);
    return cli_warn(err);
}

int cli_finish(int status)
{
    struct err err = {0};

    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    err_sys(&err, "write to stdout");
    return cli_warn(&err);
}
