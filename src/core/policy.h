/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy - from what was asked to what is allowed.
 *
 * Looks at the host only to find the tier and the interpreter that the request
 * names; changes nothing.
 */
#ifndef KARZER_CORE_POLICY_H
#define KARZER_CORE_POLICY_H

#include "src/core/dirs.h"
#include "src/core/grant.h"
#include "src/core/request.h"

#define CELL_HOME "/home/user"
#define CELL_RUNTIME "/karzer/runtime"

/*
 * Fills a zeroed *grant; grant_fini it. ERR_DENIED: policy says no; ERR_HOST:
 * this host cannot do it; ERR_INVALID: the request makes no sense here. The
 * grant borrows from `req` and `dirs`.
 */
int policy_decide(const struct dirs *dirs, const struct request *req,
                  struct grant *grant, struct err *err);

#endif
