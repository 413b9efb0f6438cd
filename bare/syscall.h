/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall - the one door of bare/ into the kernel (x86_64). Used by bare/ only;
 * programs call the usual functions.
 */
#ifndef KARZER_BARE_SYSCALL_H
#define KARZER_BARE_SYSCALL_H

/* What the kernel answers: a value, or -errno. */
static inline long bare_call(long number, long a, long b, long c, long d,
                             long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* The same as libc answers: -1 and errno. */
long bare_result(long result);

#endif
