/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_refused - a notification of any numbers, from a thread and a program of
 * any name: the holder's judgement is one that the filter could have, and what
 * is recorded is JSON with a name, an errno and the number.
 */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jail/seccomp.h"
#include "src/core/refused.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_judgement(unsigned variant, const struct holder_denied *d)
{
    struct seccomp_data call = {.nr = d->nr, .arch = d->arch};
    uint32_t got;

    for (size_t i = 0; i < 6; i++)
        call.args[i] = d->arg[i];
    got = seccomp_judge(variant, &call);
    if (got != SECCOMP_RET_ALLOW && got != SECCOMP_RET_USER_NOTIF &&
        (got & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO)
        abort();
}

static void check_event(const struct holder_message *m)
{
    json_t *o = refused_json(m), *again;
    char *text = o == NULL ? NULL : json_dumps(o, JSON_ENSURE_ASCII);

    if (text == NULL)
        abort();
    again = json_loads(text, 0, NULL);
    if (again == NULL || !json_equal(o, again) ||
        json_string_length(json_object_get(o, "call")) == 0 ||
        json_string_length(json_object_get(o, "errno")) == 0 ||
        json_string_length(json_object_get(o, "text")) == 0 ||
        strlen(text) > 16384)
        abort();
    json_decref(again);
    json_decref(o);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct holder_message m = {.type = HOLDER_DENIED};
    size_t n = sizeof(m.denied);

    if (size < 2)
        return 0;
    m.value = data[0] & HOLDER_DENIED_TOTAL;
    memcpy(&m.denied, data + 2, size - 2 < n ? size - 2 : n);
    if (size - 2 > n)
        memcpy(m.text, data + 2 + n,
               size - 2 - n < sizeof(m.text) ? size - 2 - n : sizeof(m.text));
    /* As the holder and the engine terminate them. */
    m.denied.comm[sizeof(m.denied.comm) - 1] = '\0';
    m.text[sizeof(m.text) - 1] = '\0';
    check_judgement(data[1], &m.denied);
    check_event(&m);
    return 0;
}
