/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec - see exec.h. What runs between clone() and execve() runs on the
 * agent's memory: it writes only to the `struct start` it was given, allocates
 * nothing and ends with _exit().
 */
#include "agent/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/terminal.h"

#define PATH_DEFAULT "/bin:/usr/bin" /* as execvp() when PATH is not set */
#define VEC_SMALL 1024u
#define CHILD_STACK 16384u
#define CHILD_FD_MAX 4
#define PIPE_READ 0
#define PIPE_WRITE 1

static struct rlimit files_own, files_child;

struct start {
    const struct exec_plan *plan;
    char **argv; /* argv[-1] is free */
    char **envp;
    int fd[CHILD_FD_MAX]; /* the child's ends; -1: none */
    struct exec_failure failure;
};

void exec_init(void)
{
    if (getrlimit(RLIMIT_NOFILE, &files_own) < 0)
        return;
    files_child = (struct rlimit){files_own.rlim_cur, files_own.rlim_cur};
    if (files_own.rlim_cur == files_own.rlim_max)
        return;
    files_own.rlim_cur = files_own.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files_own);
}

/* A script without "#!" is one for the shell, as execvp() has it. */
static void exec_one(struct start *s, const char *path)
{
    char *first = s->argv[0];

    execve(path, s->argv, s->envp);
    if (errno != ENOEXEC)
        return;
    s->argv[-1] = (char *)"/bin/sh";
    s->argv[0] = (char *)path;
    execve("/bin/sh", s->argv - 1, s->envp);
    s->argv[0] = first;
}

static const char *path_variable(char *const *envp)
{
    for (; *envp != NULL; envp++) {
        if (strncmp(*envp, "PATH=", 5) == 0)
            return *envp + 5;
    }
    return PATH_DEFAULT;
}

/* Puts the next directory of *list and the name together. 0: one is there, 1:
 * the list has ended, -1: too long for a path. */
static int path_next(const char **list, const char *name, char *out)
{
    const char *dir = *list, *end;
    size_t dir_len, name_len = strlen(name);

    if (dir == NULL)
        return 1;
    end = strchrnul(dir, ':');
    *list = *end == ':' ? end + 1 : NULL;
    dir_len = (size_t)(end - dir);
    if (dir_len >= AGENT_PATH_MAX || name_len >= AGENT_PATH_MAX - dir_len - 1)
        return -1;
    memcpy(out, dir, dir_len);
    if (dir_len > 0)
        out[dir_len++] = '/';
    memcpy(out + dir_len, name, name_len + 1);
    return 0;
}

/* Errors that mean: look in the next directory. */
static bool is_elsewhere(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES ||
           error == ESTALE || error == ENODEV || error == ETIMEDOUT;
}

/* ENOENT of all: is there a file at least (whose interpreter is missing)? */
static enum agent_stage stage_missing(const char *list, const char *name,
                                      char *path)
{
    int r;

    while ((r = path_next(&list, name, path)) != 1) {
        if (r == 0 && access(path, F_OK) == 0)
            return AGENT_STAGE_EXEC;
    }
    return AGENT_STAGE_LOOKUP;
}

/* Returns, with the stage, only when nothing could be executed. */
static enum agent_stage exec_lookup(struct start *s)
{
    static char path[AGENT_PATH_MAX];
    const char *list = path_variable(s->envp), *all = list;
    char *name = s->argv[0];
    bool denied = false;
    int r;

    if (strchr(name, '/') != NULL) {
        exec_one(s, name);
        return AGENT_STAGE_EXEC;
    }
    while (*name != 0 && (r = path_next(&list, name, path)) != 1) {
        if (r < 0)
            continue;
        exec_one(s, path);
        denied = denied || errno == EACCES;
        if (!is_elsewhere(errno))
            return AGENT_STAGE_EXEC;
    }
    errno = denied ? EACCES : ENOENT;
    if (denied)
        return AGENT_STAGE_EXEC;
    r = (int)stage_missing(*name == 0 ? NULL : all, name, path);
    errno = ENOENT;
    return (enum agent_stage)r;
}

/* Every descriptor of the agent is above CHILD_FD_MAX - 1 and close-on-exec. */
static int child_setup(const struct start *s)
{
    sigset_t none;

    if (setsid() < 0)
        return -1;
    for (int i = 0; i < CHILD_FD_MAX; i++) {
        if (s->fd[i] >= 0 && dup2(s->fd[i], i) < 0)
            return -1;
    }
    if ((s->plan->flags & AGENT_EXEC_TERMINAL) != 0 && terminal_take(0) < 0)
        return -1;
    if (files_own.rlim_max != files_child.rlim_max &&
        setrlimit(RLIMIT_NOFILE, &files_child) < 0)
        return -1;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int child_main(void *arg)
{
    struct start *s = arg;
    enum agent_stage stage = AGENT_STAGE_START;

    if (child_setup(s) < 0)
        goto out;
    stage = AGENT_STAGE_CHDIR;
    if (chdir(s->plan->cwd) < 0)
        goto out;
    stage = exec_lookup(s);
out:
    s->failure.sys = (uint32_t)errno;
    s->failure.stage = stage;
    _exit(127);
}

static pid_t child_start(struct start *s)
{
    static char stack[CHILD_STACK] __attribute__((aligned(16)));
    pid_t pid = clone(child_main, stack + sizeof(stack),
                      CLONE_VM | CLONE_VFORK | SIGCHLD, s);

    if (pid < 0)
        s->failure.sys = (uint32_t)errno;
    return pid;
}

/* One pipe: our end is non-blocking, the child's is not. */
static int open_pipe(int *ours, int *childs, int our_side)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC) < 0)
        return -1;
    *ours = p[our_side];
    *childs = p[!our_side];
    return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static int open_runtime(int *ours, int *childs)
{
    int p[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) < 0)
        return -1;
    *ours = p[0];
    *childs = p[1];
    return 0;
}

static int open_terminal(const struct exec_plan *plan, struct exec_ends *ends,
                         int *childs)
{
    if (terminal_open(&plan->size, &ends->in, &ends->held) < 0)
        return -1;
    ends->out = fcntl(ends->in, F_DUPFD_CLOEXEC, 0);
    for (int i = 0; i < 3; i++) {
        childs[i] = fcntl(ends->held, F_DUPFD_CLOEXEC, CHILD_FD_MAX);
        if (childs[i] < 0)
            return -1;
    }
    return ends->out < 0 ? -1 : 0;
}

static int open_ends(uint32_t flags, struct exec_ends *ends, int *childs)
{
    if ((flags & AGENT_EXEC_NO_STDIN) != 0) {
        childs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (childs[0] < 0)
            return -1;
    } else if (open_pipe(&ends->in, &childs[0], PIPE_WRITE) < 0) {
        return -1;
    }
    if (open_pipe(&ends->out, &childs[1], PIPE_READ) < 0)
        return -1;
    if (open_pipe(&ends->err, &childs[2], PIPE_READ) < 0)
        return -1;
    if ((flags & AGENT_EXEC_RUNTIME) == 0)
        return 0;
    return open_runtime(&ends->runtime, &childs[3]);
}

static int open_way(const struct exec_plan *plan, struct exec_ends *ends,
                    int *childs)
{
    if ((plan->flags & AGENT_EXEC_TERMINAL) != 0)
        return open_terminal(plan, ends, childs);
    return open_ends(plan->flags, ends, childs);
}

static void close_all(const int *fd, int n)
{
    for (int i = 0; i < n; i++) {
        if (fd[i] >= 0)
            close(fd[i]);
    }
}

/* Pointers for up to a million strings, but mostly for a few. */
static char **vec_take(size_t slots)
{
    static char *small[VEC_SMALL];
    void *big;

    if (slots <= VEC_SMALL)
        return small;
    big = mmap(NULL, slots * sizeof(char *), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return big == MAP_FAILED ? NULL : big;
}

static void vec_drop(char **vec, size_t slots)
{
    if (slots > VEC_SMALL)
        munmap(vec, slots * sizeof(char *));
}

pid_t exec_start(const struct exec_plan *plan, struct exec_ends *ends,
                 struct exec_failure *failure)
{
    struct start start = {.plan = plan, .fd = {-1, -1, -1, -1}};
    size_t slots = decode_exec_slots(plan);
    char **vec = vec_take(slots);
    pid_t pid = -1;

    *ends = (struct exec_ends){-1, -1, -1, -1, -1};
    if (vec == NULL || open_way(plan, ends, start.fd) < 0) {
        start.failure.sys = (uint32_t)errno;
    } else {
        decode_exec_vec(plan, vec);
        start.argv = vec + 1;
        start.envp = vec + 1 + plan->argc + 1;
        pid = child_start(&start);
    }
    if (vec != NULL)
        vec_drop(vec, slots);
    close_all(start.fd, CHILD_FD_MAX);
    if (start.failure.sys == 0)
        return pid;
    close_all(
        (int[]){ends->in, ends->out, ends->err, ends->runtime, ends->held}, 5);
    *failure = start.failure;
    return -1;
}
