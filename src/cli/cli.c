/* SPDX-License-Identifier: Apache-2.0 */
/* cli - see cli.h. Called by every command. */
#include "src/cli/cli.h"

#include <stdio.h>
#include <unistd.h>

#include "src/cli/show.h"

static struct cli_start started;

void cli_start(const struct cli_start *start)
{
    started = *start;
}

int cli_dirs(struct dirs *dirs, struct err *err)
{
    return dirs_find(dirs, started.state_env, started.xdg_state_home,
                     started.home, err);
}

const char *cli_home(void)
{
    return started.home;
}

bool cli_has_stdin(void)
{
    return started.has_stdin;
}

int cli_fail(const struct err *err)
{
    show_line(STDERR_FILENO, err->text);
    return err->code == ERR_INVALID ? CLI_USAGE : CLI_FAILED;
}

int cli_finish(int status)
{
    struct err err = {0};

    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    err_sys(&err, "write to stdout");
    cli_fail(&err);
    return CLI_FAILED;
}
