/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_doctor - `karzer doctor`: the tables of doctor_*.c and the tiers, for a
 * person or as JSON. 0 when some tier is available, else 1.
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/holder.h"
#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/cli/cli.h"
#include "src/cli/doctor.h"
#include "src/cli/options.h"
#include "src/core/json_text.h"
#include "src/core/tier.h"

static const struct section {
    const char *name;
    const struct doctor_check *checks;
} sections[] = {
    {"kernel", doctor_kernel},
    {"namespaces", doctor_namespaces},
    {"host", doctor_host},
    {"side channels", doctor_channels},
};

static const char *const states[] = {
    [FINDING_MISSING] = "missing",
    [FINDING_PRESENT] = "present",
    [FINDING_IDLE] = "unused",
};

static const struct {
    const char *id;
    enum distro distro;
} distros[] = {
    {"ubuntu", DISTRO_UBUNTU}, {"debian", DISTRO_DEBIAN},
    {"fedora", DISTRO_FEDORA}, {"rhel", DISTRO_FEDORA},
    {"centos", DISTRO_FEDORA},
};

/* A line "ID=debian", or one of the words of "ID_LIKE=...". */
static enum distro distro_find(void)
{
    char text[4096];

    if (fd_read_text(AT_FDCWD, "/etc/os-release", text, sizeof(text)) <= 0)
        return DISTRO_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(distros); i++)
        for (const char *at = text; at != NULL;
             at = strchr(at, '\n') == NULL ? NULL : strchr(at, '\n') + 1) {
            size_t len = strcspn(at, "\n");

            if (strncmp(at, "ID", 2) == 0 &&
                memmem(at, len, distros[i].id, strlen(distros[i].id)) != NULL)
                return distros[i].distro;
        }
    return DISTRO_OTHER;
}

static void print_finding(const struct doctor_check *check,
                          const struct finding *f)
{
    printf("  %-22s %-8s %s\n", check->name, states[f->state],
           f->seen[0] != '\0' ? f->seen : check->gives);
    if (f->state != FINDING_MISSING)
        return;
    printf("  %-22s %-8s for: %s\n", "", "", check->gives);
    if (f->instead[0] != '\0')
        printf("  %-22s %-8s instead: %s\n", "", "", f->instead);
    if (f->fix[0] != '\0')
        printf("  %-22s %-8s fix: %s\n", "", "", f->fix);
}

static void print_mechanisms(void)
{
    static const struct {
        const char *name, *what;
    } rows[] = {
#define M(id, name, what) {name, what},
        HOLDER_MECHANISMS(M)
#undef M
    };

    printf("\nmechanisms of a cell (--may-lack NAME; `effective` of a result "
           "says how each is in force)\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        printf("  %-22s %s\n", rows[i].name, rows[i].what);
}

static int print_all(const struct doctor *d)
{
    int available = 0;

    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        printf("%s%s\n", i == 0 ? "" : "\n", sections[i].name);
        for (const struct doctor_check *c = sections[i].checks; c->name; c++) {
            struct finding f = {0};

            c->look(d, &f);
            print_finding(c, &f);
        }
    }
    printf("\ntiers\n");
    for (size_t i = 0; tiers[i] != NULL; i++) {
        struct err why = {0};
        bool ok = cli_try(tiers[i], &why) == 0;

        available += ok;
        printf("  %-22s %-8s %s\n", tiers[i]->name, ok ? "present" : "missing",
               ok ? tiers[i]->promise : why.text);
    }
    print_mechanisms();
    return available > 0 ? 0 : 1;
}

static json_t *check_json(const struct doctor *d, const char *section,
                          const struct doctor_check *c)
{
    struct finding f = {0};

    c->look(d, &f);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s?,s:s?}", "section", section,
                     "name", c->name, "gives", c->gives, "state",
                     states[f.state], "seen", f.seen, "instead",
                     f.instead[0] == '\0' ? NULL : f.instead, "fix",
                     f.fix[0] == '\0' ? NULL : f.fix);
}

static int print_json(const struct doctor *d)
{
    json_t *checks = json_array(), *list = json_array();
    AUTO(mem) char *text = NULL;
    int available = 0;
    json_t *all;

    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        for (const struct doctor_check *c = sections[i].checks; c->name; c++)
            json_array_append_new(checks, check_json(d, sections[i].name, c));
    for (size_t i = 0; tiers[i] != NULL; i++) {
        struct err why = {0};
        bool ok = cli_try(tiers[i], &why) == 0;

        available += ok;
        json_array_append_new(list, json_pack("{s:s,s:b,s:s?}", "name",
                                              tiers[i]->name, "available", ok,
                                              "why", ok ? NULL : why.text));
    }
    all = json_pack("{s:o,s:o}", "checks", checks, "tiers", list);
    text = json_text(all, JSON_COMPACT);
    json_decref(all);
    printf("%s\n", text == NULL ? "null" : text);
    return text == NULL ? CLI_FAILED : available > 0 ? 0 : 1;
}

int cmd_doctor(int argc, char **argv)
{
    struct option_scan scan = option_scan(VERB_DOCTOR, argc, argv);
    struct doctor d = {0};
    struct option_hit hit;
    struct err err = {0};
    bool json = false;
    int r;

    while ((r = option_next(&scan, &hit, &err)) > 0) {
        if (hit.id == OPTION_HELP) {
            option_help(stdout, VERB_DOCTOR);
            return cli_finish(0);
        }
        json = true;
    }
    if (r < 0 || option_no_more(&scan, &err) < 0)
        return cli_fail(&err);
    d.distro = distro_find();
    if (cli_dirs(&d.dirs, &err) < 0)
        snprintf(d.dirs_why, sizeof(d.dirs_why), "%.250s", err.text);
    return cli_finish(json ? print_json(&d) : print_all(&d));
}
