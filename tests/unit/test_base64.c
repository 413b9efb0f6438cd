/* SPDX-License-Identifier: Apache-2.0 */
/* Base64, by the vectors of RFC 4648. */
#include "src/base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void it_encodes_the_vectors_of_the_rfc(void **state)
{
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *out = base64_encode(rows[i][0], strlen(rows[i][0]));

        assert_string_equal(out, rows[i][1]);
        free(out);
    }
}

static void it_encodes_bytes_of_every_value(void **state)
{
    char *out = base64_encode("\x00\xff\xfb\xef\xbe", 5);

    (void)state;
    assert_string_equal(out, "AP/7774=");
    free(out);
}

static void an_impossible_length_is_refused(void **state)
{
    (void)state;
    assert_null(base64_encode("", SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_encodes_the_vectors_of_the_rfc),
        cmocka_unit_test(it_encodes_bytes_of_every_value),
        cmocka_unit_test(an_impossible_length_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
