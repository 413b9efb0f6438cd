/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - paths inside the cell: parents, and removal of whole trees.
 *
 * Directories on the way to the last component may be links (the agent has no
 * right that the program lacks); the last one is never followed. Returns -1
 * with errno. Called by file.c.
 */
#ifndef KARZER_AGENT_TREE_H
#define KARZER_AGENT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/agent.h"

#define TREE_NAME_MAX 256u /* with NUL */
#define TREE_DEPTH_MAX 16

/*
 * The directory that holds the last component, opened with O_PATH; its name in
 * `name`. With `make`, directories that are missing are made (0755).
 */
int tree_parent(const char *path, bool make, char name[TREE_NAME_MAX]);

/* Makes a directory with its parents; one that exists is fine. */
int tree_mkdir(const char *path, uint32_t mode);

/*
 * A removal that is under way. Each step does a bounded amount of work. A
 * directory deeper than TREE_DEPTH_MAX is first moved up into the tree's top:
 * depth costs neither stack nor descriptors.
 */
struct tree_remove {
    int depth;                 /* of the directory that is being emptied */
    int fd[TREE_DEPTH_MAX];    /* [0] holds the top of the tree; -1 after */
    bool seen[TREE_DEPTH_MAX]; /* entries since the last rewind */
    char name[TREE_DEPTH_MAX][TREE_NAME_MAX]; /* of fd[i], in fd[i - 1] */
    uint32_t moved;
};

/* 1: gone (it was no directory, or empty); 0: steps are needed. */
int tree_remove_start(struct tree_remove *r, const char *path);
/* 1: all is gone; 0: call again; -1: stopped, and closed. */
int tree_remove_step(struct tree_remove *r);
void tree_remove_stop(struct tree_remove *r);

#endif
