/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plant - what the attacks are to find: credentials files of the operator and a
 * service on the host's loopback, each with a secret of its own.
 */
#ifndef KARZER_CLI_PLANT_H
#define KARZER_CLI_PLANT_H

#include <stddef.h>
#include <sys/types.h>

#include "src/base/err.h"

#define PLANT_FILES_MAX 4
#define PLANT_SECRET_SIZE 33 /* 128 random bits as hex, NUL */
#define PLANT_DIR_MAX 1024

struct plant_file {
    char dir[PLANT_DIR_MAX];
    char path[PLANT_DIR_MAX + 16];
    char secret[PLANT_SECRET_SIZE];
};

struct plant {
    struct plant_file files[PLANT_FILES_MAX];
    size_t file_count;
    char port[8];
    char service_secret[PLANT_SECRET_SIZE];
    pid_t service; /* a child of ours; 0: none */
};

/* Everything, or -1 and nothing. `home` may be NULL. Forks: call it before
 * anything is open that a child must not have. */
int plant_make(struct plant *p, const char *home, struct err *err);
void plant_remove(struct plant *p);

int plant_secret(char out[PLANT_SECRET_SIZE], struct err *err);

#endif
