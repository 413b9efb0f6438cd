/* SPDX-License-Identifier: Apache-2.0 */
/* screen - see screen.h. */
#include "src/cli/screen.h"

#include <errno.h>
#include <unistd.h>

#include "src/base/fd.h"
#include "src/cli/bundle.h"
#include "src/cli/cli.h"
#include "src/cli/closing.h"
#include "src/cli/forward.h"
#include "src/cli/terminal.h"

int screen_output(void *ctx, int stream, const void *data, size_t len)
{
    struct screen *screen = ctx;

    return show_put(stream == 1 ? &screen->out : &screen->err, data, len);
}

int screen_result(void *ctx, const json_t *bundle)
{
    struct screen *screen = ctx;

    return bundle_show(bundle, &screen->out, &screen->err);
}

void screen_init(struct screen *screen, const struct limits *limits)
{
    uint64_t deadline = clock_us() + limits->wall_ms * 1000;
    size_t cap = (size_t)limits->output_bytes * 64 * 2 + (1u << 20);

    show_init(&screen->out, STDOUT_FILENO, cap);
    show_init(&screen->err, STDERR_FILENO, cap);
    screen->out.deadline_us = screen->err.deadline_us = deadline;
    screen->out.give_up = screen->err.give_up = forward_kills;
    screen->vt = (struct vt){0};
}

void screen_warn(const struct screen *screen)
{
    if (screen->vt.clipboard > 0)
        show_line(STDERR_FILENO,
                  "terminal: the program asked for your clipboard; it was not "
                  "passed on");
}

void screen_fini(struct screen *screen)
{
    show_fini(&screen->out);
    show_fini(&screen->err);
}

/* What stdout did not take is karzer's failure, except that a reader who left
 * knows it already. */
int screen_status(struct show *s, const char *name, int status)
{
    struct err err = {0};

    if (show_end(s) == 0 || s->sys == EPIPE || s->sys == ECANCELED)
        return status;
    errno = s->sys;
    err_sys(&err, "write to %s", name);
    return cli_warn(&err);
}

void screen_closing(struct screen *screen, const struct result *r)
{
    struct strs lines = {0};
    struct err err = {0};
    /* whoever closed the pipe of the output knows why it ended */
    bool left = screen->out.sys == EPIPE && r->status == STATUS_KILLED;
    bool middle =
        screen->err.middle ||
        (screen->out.middle && screen->out.terminal && screen->err.terminal);

    if (!left && closing_lines(r, &lines, &err) < 0)
        cli_fail(&err);
    if (lines.len > 0 && middle)
        (void)!write(STDERR_FILENO, "\n", 1);
    for (size_t i = 0; i < lines.len; i++)
        show_line(STDERR_FILENO, lines.at[i]);
    strs_fini(&lines);
}

int screen_enter(struct screen *screen, struct run_io *io, struct err *err)
{
    if (terminal_enter(err) < 0)
        return -1;
    screen->vt.left = terminal_left();
    screen->out.vt = &screen->vt;
    io->window = terminal_size;
    return 0;
}
