/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode - see decode.h. Called with bytes from the stream; never trusts a
 * count or a length that it has not compared with what is there.
 */
#include "agent/decode.h"

#include <string.h>

#define EXEC_FLAGS                                                             \
    (AGENT_EXEC_LAST | AGENT_EXEC_RUNTIME | AGENT_EXEC_NO_STDIN |              \
     AGENT_EXEC_TERMINAL)

struct rule {
    uint32_t min; /* payload bytes */
    uint32_t max;
    uint16_t cmd_min; /* 1: the frame is about one command or operation */
    uint16_t known;
};

/* clang-format off */
#define PATHS(n) (2 * (n)), (AGENT_PATH_MAX * (n))
#define NUMBER ((uint32_t)sizeof(uint32_t))
#define PUT ((uint32_t)sizeof(struct agent_put))
#define SIZE ((uint32_t)sizeof(struct agent_size))
static const struct rule rules[] = {
    [AGENT_EXEC]         = {sizeof(struct agent_exec) + 3, AGENT_EXEC_MAX, 1, 1},
    [AGENT_STDIN]        = {0, AGENT_DATA_MAX, 1, 1},
    [AGENT_STDIN_EOF]    = {0, 0, 1, 1},
    [AGENT_RUNTIME_IN]   = {0, AGENT_DATA_MAX, 1, 1},
    [AGENT_RUNTIME_EOF]  = {0, 0, 1, 1},
    [AGENT_SIGNAL]       = {NUMBER, NUMBER, 1, 1},
    [AGENT_KILL_ALL]     = {0, 0, 0, 1},
    [AGENT_FILE_PUT]     = {PUT + 2, PUT + AGENT_PATH_MAX, 1, 1},
    [AGENT_FILE_DATA]    = {0, AGENT_DATA_MAX, 1, 1},
    [AGENT_FILE_END]     = {0, 0, 1, 1},
    [AGENT_FILE_GET]     = {PATHS(1), 1, 1},
    [AGENT_FILE_STAT]    = {PATHS(1), 1, 1},
    [AGENT_FILE_LIST]    = {PATHS(1), 1, 1},
    [AGENT_FILE_MKDIR]   = {NUMBER + 2, NUMBER + AGENT_PATH_MAX, 1, 1},
    [AGENT_FILE_REMOVE]  = {PATHS(1), 1, 1},
    [AGENT_FILE_RENAME]  = {PATHS(2), 1, 1},
    [AGENT_FILE_SYMLINK] = {PATHS(2), 1, 1},
    [AGENT_SHUTDOWN]     = {0, 0, 0, 1},
    [AGENT_RESIZE]       = {SIZE, SIZE, 1, 1},
};
/* clang-format on */

int decode_head(const struct agent_frame *head)
{
    const struct rule *rule;

    if (head->type >= sizeof(rules) / sizeof(rules[0]))
        return -1;
    rule = &rules[head->type];
    if (!rule->known || head->size < rule->min || head->size > rule->max)
        return -1;
    if (head->cmd < rule->cmd_min || head->cmd > AGENT_CMD_MAX)
        return -1;
    return 0;
}

/* The end of the string at `at`, after its NUL; NULL when it has none. */
static char *string_end(char *at, const char *end)
{
    char *nul = memchr(at, 0, (size_t)(end - at));

    return nul == NULL ? NULL : nul + 1;
}

/* A terminal goes with no other way in or out, a size with a terminal. */
static int check_terminal(const struct agent_exec *head)
{
    if ((head->flags & AGENT_EXEC_TERMINAL) == 0)
        return head->size.rows == 0 && head->size.columns == 0 ? 0 : -1;
    return head->flags & (AGENT_EXEC_RUNTIME | AGENT_EXEC_NO_STDIN) ? -1 : 0;
}

int decode_exec(char *payload, size_t len, struct exec_plan *plan)
{
    struct agent_exec head;
    const char *end = payload + len;
    char *at = payload + sizeof(head);
    uint64_t count;

    if (len < sizeof(head))
        return -1;
    memcpy(&head, payload, sizeof(head));
    count = (uint64_t)head.argc + head.envc;
    if ((head.flags & ~(uint32_t)EXEC_FLAGS) != 0 || check_terminal(&head) < 0)
        return -1;
    if (head.argc == 0 || count > len) /* each is one byte at least */
        return -1;
    *plan = (struct exec_plan){head.flags, head.argc, head.envc,
                               head.size,  at,        NULL};
    if (at == end || *at != '/')
        return -1;
    at = string_end(at, end);
    plan->strings = at;
    for (uint64_t i = 0; at != NULL && i < count; i++)
        at = at == end ? NULL : string_end(at, end);
    return at == end ? 0 : -1;
}

size_t decode_exec_slots(const struct exec_plan *plan)
{
    return (size_t)plan->argc + plan->envc + 3;
}

void decode_exec_vec(const struct exec_plan *plan, char **vec)
{
    char *at = plan->strings;

    *vec++ = NULL;
    for (uint32_t i = 0; i < plan->argc; i++, at += strlen(at) + 1)
        *vec++ = at;
    *vec++ = NULL;
    for (uint32_t i = 0; i < plan->envc; i++, at += strlen(at) + 1)
        *vec++ = at;
    *vec = NULL;
}

int decode_strings(const char *payload, size_t len, const char **out,
                   size_t count)
{
    const char *end = payload + len;

    for (size_t i = 0; i < count; i++) {
        const char *nul = memchr(payload, 0, (size_t)(end - payload));

        if (nul == NULL || nul == payload)
            return -1;
        if (nul - payload >= (ptrdiff_t)AGENT_PATH_MAX)
            return -1;
        out[i] = payload;
        payload = nul + 1;
    }
    return payload == end ? 0 : -1;
}

int decode_put(const char *payload, size_t len, struct agent_put *put,
               const char **path)
{
    if (len < sizeof(*put))
        return -1;
    memcpy(put, payload, sizeof(*put));
    if (put->zero != 0)
        return -1;
    return decode_strings(payload + sizeof(*put), len - sizeof(*put), path, 1);
}

int decode_size(const char *payload, size_t len, struct agent_size *size)
{
    if (len != sizeof(*size))
        return -1;
    memcpy(size, payload, len);
    return 0;
}

int decode_number(const char *payload, size_t len, uint32_t *number,
                  const char **path)
{
    if (len < sizeof(*number))
        return -1;
    memcpy(number, payload, sizeof(*number));
    payload += sizeof(*number);
    len -= sizeof(*number);
    if (path == NULL)
        return len == 0 ? 0 : -1;
    return decode_strings(payload, len, path, 1);
}
