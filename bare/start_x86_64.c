/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start - the entry of a program that does without glibc's start.
 *
 * Why: glibc's start asks the processor who it is with some 45 CPUID
 * instructions. In a virtual machine each one leaves the guest: 270 us of a
 * program that else starts in 80 (docs/decisions/bare.md). The programs linked
 * with this folder instead of libc are started in every run; they use libc's
 * headers, and the few functions that bare/ defines under their usual names.
 * One thread, no malloc, no stdio, no locale, no atexit.
 */
#include <asm/prctl.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bare/syscall.h"

int main(int argc, char **argv, char **envp);
__attribute__((noreturn, used)) void bare_start(uintptr_t *stack);
__attribute__((noreturn)) void __stack_chk_fail(void);

/* What compiled code expects at %fs: its own address, and the canary. */
static struct {
    void *self;
    uintptr_t unused[4];
    uintptr_t canary; /* %fs:0x28 */
} thread;

char **environ;

__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call bare_start\n"
        "    hlt\n");

/* The kernel's random bytes become the canary; its first byte is a NUL, so
 * that no string can write it. */
__attribute__((no_stack_protector)) static void
canary_from(const uintptr_t *auxv)
{
    for (; auxv[0] != AT_NULL; auxv += 2) {
        if (auxv[0] == AT_RANDOM)
            memcpy(&thread.canary, (const void *)auxv[1],
                   sizeof(thread.canary));
    }
    thread.canary &= ~(uintptr_t)0xff;
}

/* stack: argc, argv..., NULL, envp..., NULL, auxv (System V ABI). No canary
 * exists yet. */
__attribute__((no_stack_protector)) void bare_start(uintptr_t *stack)
{
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1);
    uintptr_t *end = stack + 1 + argc + 1;

    environ = (char **)end;
    while (*end != 0)
        end++;
    canary_from(end + 1);
    thread.self = &thread;
    bare_call(SYS_arch_prctl, ARCH_SET_FS, (long)&thread, 0, 0, 0, 0);
    _exit(main(argc, argv, environ));
}

void __stack_chk_fail(void)
{
    _exit(134);
}

/*
 * clone(fn, stack, flags, arg): without the optional arguments. The child finds
 * fn and arg on its new stack; the parent's is left alone.
 */
__asm__(".text\n"
        ".globl clone\n"
        ".type clone, @function\n"
        "clone:\n"
        "    and $-16, %rsi\n"
        "    sub $16, %rsi\n"
        "    mov %rcx, 8(%rsi)\n"
        "    mov %rdi, 0(%rsi)\n"
        "    mov %rdx, %rdi\n" /* flags */
        "    xor %edx, %edx\n" /* parent_tid, child_tid, tls: none */
        "    xor %r10d, %r10d\n"
        "    xor %r8d, %r8d\n"
        "    mov $56, %eax\n" /* SYS_clone */
        "    syscall\n"
        "    test %rax, %rax\n"
        "    jz 1f\n"
        "    mov %rax, %rdi\n"
        "    jmp bare_result\n" /* sets errno, returns to the caller */
        "1:  xor %ebp, %ebp\n"
        "    pop %rax\n"
        "    pop %rdi\n"
        "    call *%rax\n"
        "    mov %eax, %edi\n"
        "    mov $60, %eax\n" /* SYS_exit */
        "    syscall\n"
        "    hlt\n");
