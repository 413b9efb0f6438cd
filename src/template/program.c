/* SPDX-License-Identifier: Apache-2.0 */
/* program - see program.h. Called by packages.c. */
#include "src/template/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/auto.h"

/* "http_proxy=..." and its like. */
static bool is_passed(const char *entry)
{
    static const char *const ends[] = {"_proxy", "_PROXY", "APT_CONFIG",
                                       "SOURCE_DATE_EPOCH"};
    size_t n = strcspn(entry, "=");

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t m = strlen(ends[i]);

        if (n >= m && memcmp(entry + n - m, ends[i], m) == 0)
            return true;
    }
    return false;
}

int program_env(struct strs *env, struct err *err)
{
    static const char *const base[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C.UTF-8",
        "DEBIAN_FRONTEND=noninteractive"};

    for (size_t i = 0; i < ARRAY_LEN(base); i++)
        if (strs_add(env, base[i], err) < 0)
            return -1;
    for (char **at = environ; *at != NULL; at++)
        if (is_passed(*at) && strs_add(env, *at, err) < 0)
            return -1;
    return 0;
}

void program_become(char *const argv[], const struct strs *env)
{
    execve(argv[0], argv, env->at);
}

int program_wait(pid_t pid, const char *name, struct err *err)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys(err, "wait for %s", name);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFSIGNALED(status))
        return err_set(err, ERR_HOST, "%s was ended by signal %d", name,
                       WTERMSIG(status));
    return err_set(err, ERR_HOST, "%s failed (%d); what it said is above", name,
                   WEXITSTATUS(status));
}

static void child(char *const argv[], int out, const struct strs *env)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1)
        program_become(argv, env);
    _exit(127);
}

static int collect(int fd, struct buf *out, struct err *err)
{
    char part[4096];
    ssize_t n;

    while ((n = read(fd, part, sizeof(part))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "read");
        if (buf_add(out, part, (size_t)n, err) < 0)
            return -1;
    }
    return 0;
}

int program_read(char *const argv[], struct buf *out, struct err *err)
{
    struct strs env = {0};
    int both[2], r;
    pid_t pid;

    if (program_env(&env, err) < 0 || pipe2(both, O_CLOEXEC) < 0) {
        strs_fini(&env);
        return err_sys(err, "pipe");
    }
    pid = fork();
    if (pid == 0)
        child(argv, both[1], &env);
    close(both[1]);
    r = pid < 0 ? err_sys(err, "fork") : collect(both[0], out, err);
    close(both[0]);
    if (pid > 0 && program_wait(pid, argv[0], r < 0 ? NULL : err) < 0)
        r = -1;
    strs_fini(&env);
    return r;
}
