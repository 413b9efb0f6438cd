/* SPDX-License-Identifier: Apache-2.0 */
/* test_sha256 - the vectors of FIPS 180-4, in pieces. */
#include "src/base/sha256.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"

static void known_texts_have_their_known_sums(void **state)
{
    static const char *const rows[][2] = {
        {"",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char hex[SHA256_HEX_SIZE];

        sha256_of(rows[i][0], strlen(rows[i][0]), hex);
        assert_string_equal(hex, rows[i][1]);
    }
}

static void a_million_bytes_in_odd_pieces_sum_up(void **state)
{
    char hex[SHA256_HEX_SIZE];
    char piece[997];
    struct sha256 h;
    size_t left = 1000000;

    (void)state;
    memset(piece, 'a', sizeof(piece));
    sha256_init(&h);
    for (size_t n; left > 0; left -= n) {
        n = left < sizeof(piece) ? left : sizeof(piece);
        sha256_add(&h, piece, n);
    }
    sha256_hex(&h, hex);
    assert_string_equal(
        hex,
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void a_copy_goes_on_by_itself(void **state)
{
    char one[SHA256_HEX_SIZE], two[SHA256_HEX_SIZE], abc[SHA256_HEX_SIZE];
    struct sha256 h, copy;

    (void)state;
    sha256_init(&h);
    sha256_add(&h, "ab", 2);
    copy = h;
    sha256_add(&h, "c", 1);
    sha256_add(&copy, "d", 1);
    sha256_hex(&h, one);
    sha256_hex(&copy, two);
    sha256_of("abc", 3, abc);
    assert_string_equal(one, abc);
    assert_string_not_equal(one, two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_their_known_sums),
        cmocka_unit_test(a_million_bytes_in_odd_pieces_sum_up),
        cmocka_unit_test(a_copy_goes_on_by_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
