/* The operations that need no pool. */
#pragma once

#include "daemon/dispatch_internal.h"

/* Begins a session or takes one up; the reply, which is not kept. */
Buffer *hello_answer(Dispatch *dispatch, uint64_t peer, bool needs_token, const Request *request);
void stats_answer(Dispatch *dispatch, Session *session, Job *job);
