/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent parses: any bytes as a stream of frames, each payload decoded
 * as its type says. What is taken lies within the payload and the caps.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
    if (!holds)
        abort();
}

static void try_exec(char *payload, size_t len)
{
    struct exec_plan plan;
    size_t slots, strings = 0;
    char **vec;

    if (decode_exec(payload, len, &plan) < 0)
        return;
    slots = decode_exec_slots(&plan);
    check((plan.flags & AGENT_EXEC_TERMINAL) != 0 ||
          (plan.size.rows == 0 && plan.size.columns == 0));
    check(plan.argc > 0 && plan.cwd[0] == '/' && slots <= len + 3);
    vec = calloc(slots, sizeof(char *));
    check(vec != NULL);
    decode_exec_vec(&plan, vec);
    for (size_t i = 0; i < slots; i++) {
        if (vec[i] == NULL)
            continue;
        check(vec[i] > payload && vec[i] + strlen(vec[i]) < payload + len);
        strings++;
    }
    check(strings == (size_t)plan.argc + plan.envc);
    free(vec);
}

static void try_paths(const char *payload, size_t len)
{
    struct agent_put put;
    const char *path[2] = {"x", "x"};
    struct agent_size window;
    uint32_t number;

    if (decode_size(payload, len, &window) == 0)
        check(len == sizeof(window));
    if (decode_strings(payload, len, path, 1) == 0)
        check(strlen(path[0]) + 1 == len && len <= AGENT_PATH_MAX);
    if (decode_strings(payload, len, path, 2) == 0)
        check(strlen(path[0]) + strlen(path[1]) + 2 == len);
    if (decode_put(payload, len, &put, path) == 0)
        check(sizeof(put) + strlen(path[0]) + 1 == len && put.zero == 0);
    if (decode_number(payload, len, &number, path) == 0)
        check(sizeof(number) + strlen(path[0]) + 1 == len);
    if (decode_number(payload, len, &number, NULL) == 0)
        check(len == sizeof(number));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    while (size >= sizeof(struct agent_frame)) {
        struct agent_frame head;
        char *payload; /* of its own, so that ASan sees its ends */
        size_t len;

        memcpy(&head, data, sizeof(head));
        data += sizeof(head);
        size -= sizeof(head);
        if (decode_head(&head) < 0)
            return 0;
        check(head.size <= AGENT_EXEC_MAX && head.cmd <= AGENT_CMD_MAX);
        len = head.size < size ? head.size : size;
        payload = malloc(len + (len == 0));
        check(payload != NULL);
        memcpy(payload, data, len);
        if (head.type == AGENT_EXEC)
            try_exec(payload, len);
        else
            try_paths(payload, len);
        free(payload);
        data += len;
        size -= len;
    }
    return 0;
}
