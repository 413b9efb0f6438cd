/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp_table - see seccomp_table.h. */
#include "tools/seccomp_table.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <asm/termbits.h>
#include <asm/unistd_64.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A word is its offset in struct seccomp_data. */
#define NR offsetof(struct seccomp_data, nr)
#define LO(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define HI(n) (LO(n) + 4)

/* clang-format off */
const struct target targets[TARGETS] = {
#define ANSWER(id, value, text) {#id, KIND_ANSWER, value, 0, 0, 0},
#define QUIET(id, answer, reason) {#id, KIND_QUIET, 0, 0, T_##answer, 0},
#define CHOOSE(id, variant, with, without)                                     \
    {#id, KIND_CHOOSE, SECCOMP_##variant, 0, T_##with, T_##without},
#define SWITCH(id, word, mask, otherwise, text)                                \
    {#id, KIND_SWITCH, mask, word, 0, T_##otherwise},
#include "jail/seccomp.def"
};

const struct range rows[] = {
#define CASE(id, value, target) {T_##id, value, value, T_##target},
#define RANGE(id, from, to, target) {T_##id, from, to, T_##target},
#define CALL(name, target) {T_ROOT, __NR_##name, __NR_##name, T_##target},
#define CALL_AT(name, number, target) {T_ROOT, number, number, T_##target},
#include "jail/seccomp.def"
};
/* clang-format on */

#define ROWS (sizeof(rows) / sizeof(rows[0]))

unsigned row_first[TARGETS], row_count[TARGETS];

_Noreturn void fail(const char *what, unsigned n)
{
    fprintf(stderr, "seccomp_gen: %s (%u)\n", what, n);
    exit(1);
}

void table_find_rows(void)
{
    for (unsigned i = 0; i < ROWS; i++) {
        enum target_id t = rows[i].in;
        if (row_count[t]++ == 0)
            row_first[t] = i;
        if (row_first[t] + row_count[t] != i + 1)
            fail(targets[t].name, i);
    }
}

/* Is it an errno, and not one that is quiet? */
static bool told(enum target_id t)
{
    uint32_t value = targets[t].value;

    return targets[t].kind == KIND_ANSWER &&
           (value & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO &&
           (value & SECCOMP_RET_DATA) != 0;
}

/* The first that answers the same, so that neighbours are one range. */
static enum target_id same_quiet(enum target_id t)
{
    for (enum target_id i = 0; i < t; i++)
        if (targets[i].kind == KIND_QUIET && targets[i].with == targets[t].with)
            return i;
    return t;
}

enum target_id resolve(enum target_id t, unsigned variant)
{
    while (targets[t].kind == KIND_CHOOSE)
        t = (variant & targets[t].value) != 0 ? targets[t].with
                                              : targets[t].otherwise;
    if ((variant & SECCOMP_OBSERVE) == 0)
        return targets[t].kind == KIND_QUIET ? targets[t].with : t;
    if (targets[t].kind == KIND_QUIET)
        return same_quiet(t);
    return told(t) ? T_NOTIFY : t;
}

bool is_switch(enum target_id t)
{
    return targets[t].kind == KIND_SWITCH;
}

uint32_t value_of(enum target_id t)
{
    return targets[targets[t].kind == KIND_QUIET ? targets[t].with : t].value;
}

uint32_t word_of(const struct seccomp_data *d, uint32_t offset)
{
    uint32_t v;

    memcpy(&v, (const char *)d + offset, sizeof(v));
    return v;
}

enum target_id follow(enum target_id t, const struct seccomp_data *d)
{
    uint32_t v = word_of(d, targets[t].word) & targets[t].value;

    for (unsigned i = row_first[t]; i < row_first[t] + row_count[t]; i++)
        if (v >= rows[i].from && v <= rows[i].to)
            return rows[i].target;
    return targets[t].otherwise;
}

uint32_t by_table(unsigned variant, const struct seccomp_data *d)
{
    enum target_id t = T_ROOT;

    if (d->arch != AUDIT_ARCH_X86_64)
        return value_of(resolve(T_ENOSYS, variant));
    while (is_switch(t = resolve(t, variant)))
        t = follow(t, d);
    return value_of(t);
}

/* Every number that x86_64 has given out is decided here, on purpose. */
void table_check_complete(void)
{
    for (uint32_t nr = 0; nr <= LAST_CALL; nr++) {
        unsigned found = 0;
        for (unsigned i = row_first[T_ROOT];
             i < row_first[T_ROOT] + row_count[T_ROOT]; i++)
            found += rows[i].from == nr;
        if (found != 1 && (nr < 337 || nr > 423))
            fail("not exactly one row for call", nr);
    }
}

/* The rows of the calls again, with the reason that stands before them. */
static const struct {
    const char *name, *reason; /* a call has no reason of its own */
    uint32_t nr;
} named[] = {
#define GROUP(name, reason) {name, reason, 0},
#define CALL(name, target) {#name, NULL, __NR_##name},
#define CALL_AT(name, number, target) {#name, NULL, number},
#include "jail/seccomp.def"
};

void table_print_names(void)
{
    const char *reason = "";

    printf("/* Generated from jail/seccomp.def by tools/seccomp_gen.c. */\n");
    for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        if (named[i].reason != NULL)
            reason = named[i].reason;
        else
            printf("NAME(%u, \"%s\", \"%s\")\n", named[i].nr, named[i].name,
                   reason);
    }
}
