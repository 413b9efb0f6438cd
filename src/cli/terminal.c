/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal - see terminal.h. Called by cmd_run.c. What handlers and the guard
 * do is async-signal-safe: a tcsetattr and a write. Neither ever reads from the
 * terminal.
 */
#include "src/cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/sys.h"
#include "src/cli/vt.h"

static struct terminal {
    bool entered;
    struct termios before, raw;
    uint64_t *left; /* shared with the guard */
    pid_t guard;
    int alive; /* the guard reads its end until karzer is no more */
} terminal;

int terminal_check(struct err *err)
{
    static const char *const names[] = {"stdin", "stdout"};

    for (int fd = 0; fd < 2; fd++)
        if (isatty(fd) != 1)
            return err_set(err, ERR_INVALID,
                           "-t: %s is no terminal; without -t the program gets "
                           "a pipe",
                           names[fd]);
    return 0;
}

void terminal_size(uint16_t *rows, uint16_t *columns)
{
    struct winsize ws = {0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) < 0 || ws.ws_row == 0 ||
        ws.ws_col == 0)
        ws = (struct winsize){.ws_row = 24, .ws_col = 80};
    *rows = ws.ws_row;
    *columns = ws.ws_col;
}

/* From a signal handler or the guard, too. */
static void give_back(const struct terminal *t)
{
    char undo[VT_UNDO_MAX];
    size_t n = vt_undo(*t->left, undo);

    if (n > 0)
        (void)!write(STDOUT_FILENO, undo, n);
    *t->left = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &t->before);
}

/* ---- the guard ---- */

/* It holds nothing but the terminal and the pipe, and no signal of the terminal
 * reaches it, since it has a session of its own. */
__attribute__((noreturn)) static void guard_main(int from)
{
    char c;
    ssize_t n;

    setsid();
    if (dup2(from, 2) < 0 || sys_close_range(3, ~0u, 0) < 0)
        _exit(1);
    do
        n = read(2, &c, 1);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        give_back(&terminal);
    _exit(0);
}

static int guard_start(struct terminal *t, struct err *err)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC) < 0)
        return err_sys(err, "-t: a pipe");
    t->guard = fork();
    if (t->guard == 0)
        guard_main(p[0]);
    close(p[0]);
    t->alive = p[1];
    if (t->guard > 0)
        return 0;
    close(p[1]);
    return err_sys(err, "-t: a process");
}

/* A byte says that there is nothing to do. */
static void guard_end(struct terminal *t)
{
    (void)!write(t->alive, "", 1);
    close(t->alive);
    while (waitpid(t->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* ---- signals ---- */

/* A crash: the shell that waits for us must find its terminal. */
static void on_crash(int sig)
{
    give_back(&terminal);
    raise(sig); /* as if there had been no handler */
}

/* Stopped from outside; Ctrl-Z is the program's. */
static void on_stop(int sig)
{
    int saved = errno;

    (void)sig;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
    raise(SIGSTOP);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.raw);
    raise(SIGWINCH); /* maybe it has another size now */
    errno = saved;
}

static void signals_take(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT,
                                  SIGFPE,  SIGILL, SIGSYS};
    struct sigaction crash = {.sa_handler = on_crash,
                              .sa_flags = (int)SA_RESETHAND};
    struct sigaction stop = {.sa_handler = on_stop};

    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &crash, NULL);
    sigaction(SIGTSTP, &stop, NULL);
}

/* ---- enter and leave ---- */

int terminal_enter(struct err *err)
{
    struct terminal *t = &terminal;

    if (tcgetattr(STDIN_FILENO, &t->before) < 0)
        return err_sys(err, "-t: stdin");
    t->raw = t->before;
    cfmakeraw(&t->raw);
    t->left = mmap(NULL, sizeof(*t->left), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->left == MAP_FAILED)
        return err_sys(err, "-t: memory");
    if (guard_start(t, err) < 0)
        return -1;
    t->entered = true;
    signals_take();
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &t->raw) < 0) {
        err_sys(err, "-t: stdin");
        terminal_leave();
        return -1;
    }
    return 0;
}

uint64_t *terminal_left(void)
{
    return terminal.left;
}

void terminal_leave(void)
{
    struct terminal *t = &terminal;

    if (!t->entered)
        return;
    t->entered = false;
    signal(SIGTSTP, SIG_DFL);
    give_back(t);
    guard_end(t);
}
