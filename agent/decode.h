/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode - what the engine's bytes say: pure functions over one payload.
 *
 * Everything is checked before it is believed; a payload that breaks a rule of
 * abi/agent.h gives -1, and the agent then exits. Nothing here makes a system
 * call. Called by loop.c and by the fuzzer.
 */
#ifndef KARZER_AGENT_DECODE_H
#define KARZER_AGENT_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/agent.h"

/* A frame's head, before its payload has come: type, size, cmd. 0 or -1. */
int decode_head(const struct agent_frame *head);

/* An EXEC. The strings stay in the payload, which the plan does not own. */
struct exec_plan {
    uint32_t flags; /* enum agent_exec_flag */
    uint32_t argc;
    uint32_t envc;
    struct agent_size size; /* with AGENT_EXEC_TERMINAL */
    char *cwd;
    char *strings; /* argc, then envc of them, each NUL-terminated */
};

int decode_exec(char *payload, size_t len, struct exec_plan *plan);

/*
 * The pointers of a decoded plan. `vec` has decode_exec_slots() places: one
 * that is free (a script without "#!" gets its shell there), argv, NULL,
 * environment, NULL.
 */
size_t decode_exec_slots(const struct exec_plan *plan);
void decode_exec_vec(const struct exec_plan *plan, char **vec);

/* Exactly `count` NUL-terminated strings, each 1 to AGENT_PATH_MAX - 1 long. */
int decode_strings(const char *payload, size_t len, const char **out,
                   size_t count);

/* FILE_PUT: the struct, then a path. */
int decode_put(const char *payload, size_t len, struct agent_put *put,
               const char **path);

/* RESIZE. */
int decode_size(const char *payload, size_t len, struct agent_size *size);

/* A uint32_t, then (when `path` is not NULL) a path. */
int decode_number(const char *payload, size_t len, uint32_t *number,
                  const char **path);

#endif
