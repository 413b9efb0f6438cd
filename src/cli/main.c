/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karzer - finds the command and calls it. The only reader of the environment:
 * what a command may know of it goes through cli.h. Does nothing that a run
 * does not need.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/cli.h"
#include "src/cli/options.h"
#include "src/cli/verbs.h"

static int (*const runs[VERB_COUNT])(int argc, char **argv) = {
#define VERB(id, name, run, usage, summary, notes) [VERB_##id] = run,
#include "src/cli/verbs.def"
#undef VERB
};

/*
 * 0, 1 and 2 must be taken, or a file of ours gets such a number and is taken
 * for the client's. What was closed is opened so that using it is an error.
 */
static int descriptors_hold(bool *had_stdin)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    *had_stdin = true;
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (fd == STDIN_FILENO)
            *had_stdin = false;
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

/* Each of these is a row of environment.def. */
/* A link of that name, for programs that start bubblewrap. */
static bool is_bwrap(const char *name)
{
    const char *slash = strrchr(name, '/');

    return strcmp(slash == NULL ? name : slash + 1, "bwrap") == 0;
}

int main(int argc, char **argv)
{
    struct cli_start start = {
        .state_env = getenv("KARZER_STATE"),
        .xdg_state_home = getenv("XDG_STATE_HOME"),
        .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
        .home = getenv("HOME"),
        .anchor = getenv("KARZER_ANCHOR"),
        .anchor_every = getenv("KARZER_ANCHOR_EVERY"),
        .record_size = getenv("KARZER_RECORD_SIZE"),
        .term = getenv("TERM"),
        .environment = environ,
    };
    const struct verb *verb;

    if (descriptors_hold(&start.has_stdin) < 0) {
        perror("karzer: hold the places of stdin, stdout and stderr");
        return CLI_FAILED;
    }
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to tell */
    cli_start(&start);
    if (argc > 0 && is_bwrap(argv[0]))
        return cmd_bwrap(argc, argv);
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
    cli_json(option_json((enum verb_id)(verb - verbs), argc - 1, argv + 1));
    return runs[verb - verbs](argc - 1, argv + 1);
}
