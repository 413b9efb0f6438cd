/* SPDX-License-Identifier: Apache-2.0 */
/* say - see say.h. One write a line, so that lines of several do not mix. */
#include "src/template/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void say_clean(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f ||
            (unsigned char)*text >= 0x80)
            *text = '?';
}

void say(const char *fmt, ...)
{
    char line[1024] = "karzer: ";
    size_t n = strlen(line);
    va_list args;

    va_start(args, fmt);
    vsnprintf(line + n, sizeof(line) - n - 1, fmt, args);
    va_end(args);
    say_clean(line);
    n = strlen(line);
    line[n] = '\n';
    (void)!write(STDERR_FILENO, line, n + 1);
}
