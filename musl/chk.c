/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chk - what the host's static libraries, compiled for glibc, want of a libc
 * that musl does not have: the checked forms of three functions. Linked into
 * `karzer` when it is built with musl. The buffer's size, which the checked
 * form is told, bounds what is written.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc's names and arguments: its headers give them no prototype here. */
int __vsnprintf_chk(char *s, size_t n, int flag, size_t size, const char *f,
                    va_list ap);
int __snprintf_chk(char *s, size_t n, int flag, size_t size, const char *f,
                   ...);
char *__strncpy_chk(char *to, const char *from, size_t n, size_t size);

int __vsnprintf_chk(char *s, size_t n, int flag, size_t size, const char *f,
                    va_list ap)
{
    (void)flag;
    if (n > size)
        abort();
    return vsnprintf(s, n, f, ap);
}

int __snprintf_chk(char *s, size_t n, int flag, size_t size, const char *f, ...)
{
    va_list ap;
    int r;

    va_start(ap, f);
    r = __vsnprintf_chk(s, n, flag, size, f, ap);
    va_end(ap);
    return r;
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t size)
{
    if (n > size)
        abort();
    return strncpy(to, from, n);
}
