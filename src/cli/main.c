/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karzer - finds the command and calls it. The only reader of the environment:
 * what a command may know of it goes through cli.h. Does nothing that a run
 * does not need.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/buf.h"
#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/cli/show.h"
#include "src/cli/verbs.h"

static bool had_stdin;

int cli_dirs(struct dirs *dirs, struct err *err)
{
    return dirs_find(dirs, getenv("KARZER_STATE"), getenv("XDG_STATE_HOME"),
                     getenv("HOME"), err);
}

const char *cli_home(void)
{
    return getenv("HOME");
}

bool cli_has_stdin(void)
{
    return had_stdin;
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

/*
 * 0, 1 and 2 must be taken, or a file of ours gets such a number and is taken
 * for the client's. What was closed is opened so that using it is an error.
 */
static int descriptors_hold(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    had_stdin = true;
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (fd == STDIN_FILENO)
            had_stdin = false;
        if (open("/dev/null", modes[fd]) != fd)
            return -1;
    }
    return 0;
}

static int no_such_verb(const char *word)
{
    const char *names[VERB_COUNT];
    struct err err = {0};
    const char *near;

    for (size_t i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i].name;
    near = option_nearest(word, names, VERB_COUNT);
    if (near != NULL)
        err_set(&err, ERR_INVALID,
                "%.64s: no such command; did you mean `karzer %s`?", word,
                near);
    else
        err_set(&err, ERR_INVALID,
                "%.64s: no such command; `karzer help` lists them, and "
                "`karzer run` runs code",
                word);
    return cli_fail(&err);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
    const struct verb *verb;

    if (descriptors_hold() < 0)
        return CLI_FAILED;
    if (argc < 2) {
        option_help_all(stderr);
        return CLI_USAGE;
    }
    if (is_help(argv[1]))
        return cmd_help(1, argv);
    if (strcmp(argv[1], "--version") == 0)
        return cmd_version(1, argv);
    if (strcmp(argv[1], "engine") == 0)
        return cmd_engine(argc - 1, argv + 1);
    verb = verb_find(argv[1]);
    if (verb == NULL)
        return no_such_verb(argv[1]);
    if (argc > 2 && is_help(argv[2])) {
        option_help(stdout, (enum verb_id)(verb - verbs));
        return cli_finish(0);
    }
    return verb->run(argc - 1, argv + 1);
}
