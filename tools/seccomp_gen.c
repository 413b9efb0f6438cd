/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp_gen - compiles jail/seccomp.def into one BPF program per variant and
 * prints build/gen/jail/seccomp_programs.h; with an argument it prints
 * build/gen/src/core/call_names.h. Runs at build time only.
 *
 * A call number is found by comparing ranges: neighbours with the same answer
 * are one range, so some 130 comparisons tell 471 calls apart. Each program is
 * then run against a plain reading of the table: a difference fails the build.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/seccomp_table.h"

#define INSNS_MAX 1024u
#define RANGES_MAX 512u

/* ---- the program, written from its end, since jumps only go forward ---- */

struct program {
    struct sock_filter at[INSNS_MAX]; /* at[0] is the last instruction */
    unsigned len;
    unsigned variant;
    int where[TARGETS]; /* index of a target's first instruction, or -1 */
};

static int put(struct program *p, unsigned code, uint32_t k)
{
    if (p->len == INSNS_MAX)
        fail("program too long", p->variant);
    p->at[p->len] = (struct sock_filter){(uint16_t)code, 0, 0, k};
    return (int)p->len++;
}

/* A copy of the target that a conditional jump can reach from here. */
static int reach(struct program *p, enum target_id t)
{
    int distance = (int)p->len - p->where[t];

    if (p->where[t] < 0)
        fail(targets[t].name, p->variant);
    if (distance < 250)
        return p->where[t];
    if (!is_switch(t))
        p->where[t] = put(p, BPF_RET | BPF_K, value_of(t));
    else
        p->where[t] = put(p, BPF_JMP | BPF_JA, (uint32_t)distance - 1);
    return p->where[t];
}

static int jump(struct program *p, unsigned op, uint32_t k, int yes, int no)
{
    int jt = (int)p->len - yes - 1;
    int jf = (int)p->len - no - 1;

    if (jt < 0 || jf < 0 || jt > 255 || jf > 255)
        fail("jump too far", p->variant);
    int at = put(p, BPF_JMP | op | BPF_K, k);
    p->at[at].jt = (uint8_t)jt;
    p->at[at].jf = (uint8_t)jf;
    return at;
}

/* ---- one switch: the cheapest tree over its ranges ---- */

/* In 1/435 of a microsecond: an instruction to compile, and a step of the walk
   that the kernel makes at load for each call number. */
#define COST_INSN 65u
#define COST_STEP 1u

struct tree {
    struct range at[RANGES_MAX];
    unsigned len;
    uint32_t cost[RANGES_MAX][RANGES_MAX];
    uint16_t split[RANGES_MAX][RANGES_MAX]; /* 0: a chain of equality tests */
};

static struct tree tree;

static int by_from(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

static void add_range(uint32_t from, uint32_t to, enum target_id target)
{
    if (tree.len > 0 && tree.at[tree.len - 1].target == target) {
        tree.at[tree.len - 1].to = to;
        return;
    }
    if (tree.len == RANGES_MAX)
        fail("too many ranges", target);
    tree.at[tree.len++] = (struct range){0, from, to, target};
}

/* All 32-bit values as ranges, neighbours with one target merged. */
static void collect(enum target_id t, unsigned variant)
{
    static struct range mine[RANGES_MAX];
    unsigned n = row_count[t];
    uint64_t next = 0;
    enum target_id rest = resolve(targets[t].otherwise, variant);

    if (n > RANGES_MAX)
        fail("too many rows", n);
    memcpy(mine, &rows[row_first[t]], n * sizeof(mine[0]));
    qsort(mine, n, sizeof(mine[0]), by_from);
    tree.len = 0;
    for (unsigned i = 0; i < n; i++) {
        if (mine[i].from < next || mine[i].to < mine[i].from)
            fail("rows overlap", mine[i].from);
        if (mine[i].from > next)
            add_range((uint32_t)next, mine[i].from - 1, rest);
        add_range(mine[i].from, mine[i].to, resolve(mine[i].target, variant));
        next = (uint64_t)mine[i].to + 1;
    }
    if (next <= UINT32_MAX)
        add_range((uint32_t)next, UINT32_MAX, rest);
}

/* How many calls walk through ranges i to j. */
static uint32_t calls_in(enum target_id t, unsigned i, unsigned j)
{
    uint32_t to = tree.at[j].to < LAST_CALL ? tree.at[j].to : LAST_CALL;

    if (t != T_ROOT || tree.at[i].from > to)
        return t != T_ROOT;
    return to - tree.at[i].from + 1;
}

/* Single values in one target's range: as many equality tests, or 0. */
static unsigned chain_of(unsigned i, unsigned j)
{
    if ((j - i) % 2 != 0)
        return 0;
    for (unsigned k = i + 1; k < j; k += 2)
        if (tree.at[k].from != tree.at[k].to ||
            tree.at[k + 1].target != tree.at[i].target)
            return 0;
    return (j - i) / 2;
}

static void plan(enum target_id t)
{
    for (unsigned i = 0; i < tree.len; i++)
        tree.cost[i][i] = 0;
    for (unsigned n = 1; n < tree.len; n++)
        for (unsigned i = 0; i + n < tree.len; i++) {
            unsigned j = i + n, chain = chain_of(i, j);
            uint32_t calls = calls_in(t, i, j) * COST_STEP;
            uint32_t best =
                chain == 0 ? UINT32_MAX : (COST_INSN + calls) * chain;
            unsigned split = 0;
            for (unsigned m = i + 1; m <= j; m++) {
                uint32_t cost =
                    COST_INSN + calls + tree.cost[i][m - 1] + tree.cost[m][j];
                if (cost < best) {
                    best = cost;
                    split = m;
                }
            }
            tree.cost[i][j] = best;
            tree.split[i][j] = (uint16_t)split;
        }
}

static int grow(struct program *p, unsigned i, unsigned j)
{
    unsigned m = tree.split[i][j];
    int yes, no;

    if (i == j)
        return reach(p, tree.at[i].target);
    if (m != 0) {
        yes = grow(p, m, j);
        no = grow(p, i, m - 1);
        /* `no` may have moved a shared target; `yes` is still within reach. */
        return jump(p, BPF_JGE, tree.at[m].from, yes, no);
    }
    no = reach(p, tree.at[i].target);
    for (unsigned k = j - 1; k > i && k < j; k -= 2) {
        yes = reach(p, tree.at[k].target);
        no = jump(p, BPF_JEQ, tree.at[k].from, yes, no);
    }
    return no;
}

static void compile(struct program *p, enum target_id t)
{
    if (p->where[t] >= 0)
        return;
    if (!is_switch(t)) {
        p->where[t] = put(p, BPF_RET | BPF_K, value_of(t));
        return;
    }
    collect(t, p->variant);
    for (unsigned i = 0; i < tree.len; i++) {
        compile(p, tree.at[i].target);
        collect(t, p->variant); /* a nested switch used the same tree */
    }
    plan(t);
    int top = grow(p, 0, tree.len - 1);
    if (top != (int)p->len - 1)
        put(p, BPF_JMP | BPF_JA, (uint32_t)((int)p->len - top - 1));
    if (targets[t].value != UINT32_MAX)
        put(p, BPF_ALU | BPF_AND | BPF_K, targets[t].value);
    p->where[t] = put(p, BPF_LD | BPF_W | BPF_ABS, targets[t].word);
}

static void compile_all(struct program *p, unsigned variant)
{
    p->len = 0;
    p->variant = variant;
    for (unsigned t = 0; t < TARGETS; t++)
        p->where[t] = -1;
    compile(p, T_ROOT);
    int foreign = reach(p, resolve(T_ENOSYS, variant));
    jump(p, BPF_JEQ, AUDIT_ARCH_X86_64, p->where[T_ROOT], foreign);
    put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
}

/* ---- the proof: program and table, run side by side ---- */

static uint32_t by_program(const struct program *p,
                           const struct seccomp_data *d)
{
    uint32_t a = 0;

    for (unsigned at = p->len; at-- > 0;) {
        struct sock_filter f = p->at[at];
        if (f.code == (BPF_LD | BPF_W | BPF_ABS))
            a = word_of(d, f.k);
        else if (f.code == (BPF_ALU | BPF_AND | BPF_K))
            a &= f.k;
        else if (f.code == (BPF_JMP | BPF_JA))
            at -= f.k;
        else if (f.code == (BPF_JMP | BPF_JEQ | BPF_K))
            at -= a == f.k ? f.jt : f.jf;
        else if (f.code == (BPF_JMP | BPF_JGE | BPF_K))
            at -= a >= f.k ? f.jt : f.jf;
        else
            return f.k;
    }
    return 0;
}

static uint32_t draw(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* A value in, at or beside some row of this switch; half the time in it, so
   that what it leads to is reached. */
static uint32_t draw_edge(enum target_id t)
{
    const struct range *r = &rows[row_first[t] + draw() % row_count[t]];
    uint32_t edges[8] = {r->from,     r->to,  r->from,           r->to,
                         r->from - 1, draw(), 1u << draw() % 32, r->to + 1};

    return edges[draw() % 8];
}

/* The words that the next switches on the way look at: each decision is close,
   and the bits that no switch should look at are random. */
static void draw_way(unsigned variant, struct seccomp_data *d, unsigned steps)
{
    enum target_id t = resolve(follow(T_ROOT, d), variant);

    for (; steps > 0 && is_switch(t); steps--) {
        uint32_t mask = targets[t].value;
        uint32_t v = (draw_edge(t) & mask) | (draw() & ~mask);
        memcpy((char *)d + targets[t].word, &v, sizeof(v));
        t = resolve(follow(t, d), variant);
    }
}

static void check_one(const struct program *p, const struct seccomp_data *d)
{
    if (by_program(p, d) != by_table(p->variant, d))
        fail("program and table differ on call", (unsigned)d->nr);
}

/* Arguments meant for the call or, since it may take a neighbour's way, for the
   calls beside it; then off that way again at its first fork. */
static void prove_call(const struct program *p, enum target_id t, uint32_t nr)
{
    struct seccomp_data d = {.arch = AUDIT_ARCH_X86_64};
    bool plain = !is_switch(resolve(t, p->variant));

    for (unsigned n = 0; n < (plain ? 50 : 1000); n++) {
        for (unsigned a = 0; a < 6; a++)
            d.args[a] = (draw() % 2 ? (uint64_t)draw() << 32 : 0) |
                        (draw() % 2 ? draw() : 0);
        d.nr = (int)(n % 4 < 2 ? nr : nr + n % 4 * 2 - 5);
        draw_way(p->variant, &d, TARGETS);
        d.nr = (int)nr;
        draw_way(p->variant, &d, draw() % 2);
        check_one(p, &d);
    }
}

static void prove(const struct program *p)
{
    struct seccomp_data d = {.arch = AUDIT_ARCH_X86_64};

    for (unsigned n = 0; n < 2048; n++) {
        d.nr = (int)(n / 2 | (n % 2 ? 0x40000000u : 0)); /* x32 calls, too */
        check_one(p, &d);
    }
    for (unsigned i = row_first[T_ROOT];
         i < row_first[T_ROOT] + row_count[T_ROOT]; i++)
        prove_call(p, rows[i].target, rows[i].from);
    d.nr = 0;
    for (unsigned i = 0; i < 32; i++) {
        d.arch = AUDIT_ARCH_X86_64 ^ 1u << i;
        check_one(p, &d);
    }
}

static unsigned served_by(unsigned v) /* the variant with this one's program */
{
    return (v & SECCOMP_NO_NAMESPACES) != 0 ? v | SECCOMP_SHARED_TREE : v;
}

static void print(const struct program *p)
{
    printf("\nstatic const struct sock_filter seccomp_program_%u[%u] = {\n",
           p->variant, p->len);
    for (unsigned at = p->len; at-- > 0;)
        printf("{%u,%u,%u,%#xu},%s", p->at[at].code, p->at[at].jt, p->at[at].jf,
               p->at[at].k, at % 4 == 0 ? "\n" : "");
    printf("};\n");
}

int main(int argc, char *argv[])
{
    static struct program p;
    unsigned len[SECCOMP_VARIANTS];

    (void)argv;
    table_find_rows();
    table_check_complete();
    if (argc > 1) {
        table_print_names();
        return fflush(stdout) != 0 || ferror(stdout);
    }
    printf("/* Generated from jail/seccomp.def by tools/seccomp_gen.c. */\n"
           "#include <linux/filter.h>\n");
    for (unsigned v = 0; v < SECCOMP_VARIANTS; v++) {
        if (served_by(v) != v)
            continue;
        compile_all(&p, v);
        prove(&p);
        print(&p);
        len[v] = p.len;
    }
    printf("\nstatic const struct sock_fprog seccomp_programs[%d] = {\n",
           SECCOMP_VARIANTS);
    for (unsigned v = 0; v < SECCOMP_VARIANTS; v++)
        printf("{%u, (struct sock_filter *)seccomp_program_%u},\n",
               len[served_by(v)], served_by(v));
    printf("};\n");
    return fflush(stdout) != 0 || ferror(stdout);
}
