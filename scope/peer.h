/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer - may who connected have a holder from here? Only this user, from where
 * we are ourselves: a holder that we start must have nothing that the one who
 * asked has not. So a cell, a container or a sandbox never gets one.
 */
#ifndef KARZER_SCOPE_PEER_H
#define KARZER_SCOPE_PEER_H

#include "src/base/err.h"

/* 0, or -1 and why not. */
int peer_check(int fd, struct err *err);

#endif
