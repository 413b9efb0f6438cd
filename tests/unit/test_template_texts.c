/* SPDX-License-Identifier: Apache-2.0 */
/* test_template_texts - what a template's build reads: dpkg's list, apt's
 * sources. */
#include "src/template/dpkg.h"
#include "src/template/sources.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static int count_package(const struct dpkg_package *p, void *ctx,
                         struct err *err)
{
    char *all = ctx;

    (void)err;
    snprintf(all + strlen(all), 256 - strlen(all), "%s=%s/%s ", p->name,
             p->version, p->architecture);
    return 0;
}

static void installed_packages_are_read_and_no_others(void **state)
{
    static const char text[] =
        "Package: a\nStatus: install ok installed\nVersion: 1:2-3\n"
        "Architecture: all\nDescription: x\n Package: no\n\n"
        "Package: b\nStatus: deinstall ok config-files\nVersion: 1\n"
        "Architecture: all\n\n"
        "Package: c\x1b\nStatus: install ok installed\nVersion: 1\n"
        "Architecture: all\n\n\n"
        "Version: 1\nStatus: install ok installed\n\n"
        "Package: d\nStatus: install ok installed\nVersion: 4\n"
        "Architecture: amd64";
    char all[256] = "";

    (void)state;
    assert_int_equal(dpkg_status(text, strlen(text), count_package, all, NULL),
                     0);
    assert_string_equal(all, "a=1:2-3/all d=4/amd64 ");
}

static void the_distributions_own_sources_are_taken_each_once(void **state)
{
    static const char text[] =
        "Debian|/etc/apt/sources.list.d/debian.sources:1\n"
        "Other|/etc/apt/sources.list.d/other.list:3\n"
        "Debian|/etc/apt/sources.list.d/debian.sources:9\n"
        "debian|/etc/apt/sources.list:1\n"
        "Debian|relative:1\nDebianX|/x:1\nbroken\n|";
    struct strs files = {0};

    (void)state;
    assert_int_equal(sources_take(text, "debian", &files, NULL), 0);
    assert_int_equal(files.len, 2);
    assert_string_equal(files.at[0], "/etc/apt/sources.list.d/debian.sources");
    assert_string_equal(files.at[1], "/etc/apt/sources.list");
    strs_fini(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(installed_packages_are_read_and_no_others),
        cmocka_unit_test(the_distributions_own_sources_are_taken_each_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
