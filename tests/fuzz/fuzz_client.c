/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine's answer as libkarzer reads it: any bytes as a result, and every
 * getter of what came of it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/client/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const karzer_result *r)
{
    size_t len;
    uint64_t n;

    if (karzer_result_stdout(r, &len)[len] != '\0' ||
        karzer_result_stderr(r, &len)[len] != '\0')
        abort();
    karzer_result_usage(r, "cpu_ms", &n);
    for (size_t i = 0; i < karzer_result_values(r); i++)
        for (size_t k = 0; k < karzer_result_mimes(r, i); k++) {
            const char *mime = karzer_result_mime(r, i, k);
            const char *bytes = karzer_result_data(r, i, mime, &len);

            if (bytes == NULL || bytes[len] != '\0')
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf answer;
    karzer_result *r = NULL;

    buf_init(&answer, size + 1);
    if (buf_add(&answer, data, size, NULL) == 0 &&
        client_result(&answer, &r, NULL) == 0)
        look(r);
    karzer_result_free(r);
    buf_fini(&answer);
    return 0;
}
