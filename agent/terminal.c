/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal - see terminal.h. The program's end is asked from ours
 * (TIOCGPTPEER), not opened below /dev/pts by its number.
 */
#include "agent/terminal.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER 0x5441
#endif

void terminal_resize(int ours, const struct agent_size *size)
{
    const struct winsize ws = {.ws_row = size->rows, .ws_col = size->columns};

    ioctl(ours, TIOCSWINSZ, &ws);
}

/* Erasing takes whole characters of UTF-8. */
static int set_utf8(int fd)
{
    struct termios t;

    if (tcgetattr(fd, &t) < 0)
        return -1;
    t.c_iflag |= IUTF8;
    return tcsetattr(fd, TCSANOW, &t);
}

int terminal_open(const struct agent_size *size, int *ours, int *programs)
{
    int unlock = 0;

    *ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (*ours < 0 || ioctl(*ours, TIOCSPTLCK, &unlock) < 0)
        return -1;
    *programs = ioctl(*ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*programs < 0)
        return -1;
    terminal_resize(*ours, size);
    return set_utf8(*programs);
}

int terminal_take(int fd)
{
    return ioctl(fd, TIOCSCTTY, 0);
}
