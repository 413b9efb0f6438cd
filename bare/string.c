/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string - the functions of <string.h> for programs without libc. The compiler
 * calls some of them by itself, so they must be here under these names, and a
 * loop must not be turned into a call of the function that it is in: KEEP().
 *
 * Copies are "rep movsb", which processors of the last ten years do fast.
 */
#include <string.h>

#define KEEP() __asm__ volatile("" ::: "memory")

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    void *at = to;

    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n)::"memory");
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    char *at = to;
    const char *src = from;

    if (at <= src || at >= src + n)
        return memcpy(to, from, n);
    while (n-- > 0) {
        at[n] = src[n];
        KEEP();
    }
    return to;
}

void *memset(void *to, int c, size_t n)
{
    void *at = to;

    __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(c) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;

    for (size_t i = 0; i < n; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
        KEEP();
    }
    return 0;
}

void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *at = s;

    for (size_t i = 0; i < n; i++) {
        if (at[i] == (unsigned char)c)
            return (void *)(at + i);
        KEEP();
    }
    return NULL;
}

size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n] != 0) {
        n++;
        KEEP();
    }
    return n;
}

char *strchrnul(const char *s, int c)
{
    while (*s != 0 && *s != (char)c) {
        s++;
        KEEP();
    }
    return (char *)s;
}

char *strchr(const char *s, int c)
{
    s = strchrnul(s, c);
    return *s == (char)c ? (char *)s : NULL;
}

char *strrchr(const char *s, int c)
{
    for (size_t n = strlen(s) + 1; n-- > 0;) {
        if (s[n] == (char)c)
            return (char *)(s + n);
        KEEP();
    }
    return NULL;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i] || a[i] == 0)
            return (unsigned char)a[i] - (unsigned char)b[i];
        KEEP();
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, (size_t)-1);
}
