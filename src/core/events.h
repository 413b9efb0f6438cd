/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - the records of a run, one function a moment. Called by run.c; each
 * also adds the event to result->boundary. -1: it cannot be written.
 */
#ifndef KARZER_CORE_EVENTS_H
#define KARZER_CORE_EVENTS_H

#include "src/core/boundary.h"
#include "src/core/grant.h"
#include "src/core/request.h"
#include "src/core/result.h"
#include "src/core/run.h"

int events_refused(struct boundary *b, const struct request *req,
                   struct result *r, struct err *err);
int events_granted(struct boundary *b, const struct request *req,
                   const struct grant *grant, struct result *r,
                   struct err *err);
int events_started(struct boundary *b, struct result *r, struct err *err);
int events_code_run(struct boundary *b, const char *sandbox, const char *lang,
                    const struct run_next *next, struct result *r,
                    struct err *err);

/* A refused system call, as the holder told it. */
int events_denied(struct boundary *b, const struct holder_message *m,
                  struct result *r, struct err *err);

/* One record for each limit that was hit, with the option that raises it. */
int events_limits(struct boundary *b, struct result *r,
                  const struct grant *grant, const struct evidence *ev,
                  struct err *err);
int events_finished(struct boundary *b, struct result *r, struct err *err);

#endif
