/* SPDX-License-Identifier: Apache-2.0 */
/* json_text - see json_text.h. */
#include "src/core/json_text.h"

#include <stdbool.h>
#include <stdint.h>

#include "src/base/auto.h"
#include "src/base/buf.h"

struct sink {
    struct buf text;
    bool failed; /* once is for good */
};

static int sink_add(const char *data, size_t len, void *ctx)
{
    struct sink *s = ctx;

    s->failed = s->failed || buf_add(&s->text, data, len, NULL) < 0;
    return s->failed ? -1 : 0;
}

char *json_text(const json_t *value, size_t flags)
{
    struct sink s = {.failed = value == NULL};
    char *text;

    buf_init(&s.text, SIZE_MAX / 2);
    if (s.failed || json_dump_callback(value, sink_add, &s, flags) != 0 ||
        s.failed || s.text.len == 0) {
        buf_fini(&s.text);
        return NULL;
    }
    text = s.text.data; /* ends with a NUL */
    return text;
}
