/* A daemon as a process of its own, for the tests of its doors. */
#pragma once

#include "bench/bench_daemon.h"
#include "proto/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* `options` are added to its command line, NULL-terminated; NULL: none. */
static inline void daemon_start(BenchDaemon *daemon, const char *const *options)
{
    const BenchDaemonPlan plan = {.program = TY_BUILD_DIR "/trainyardd", .options = options};
    TyStatus status = bench_daemon_start(&plan, daemon);
    assert_string_equal(status.message, "");
}

static inline void daemon_stop(BenchDaemon *daemon)
{
    TyStatus status = bench_daemon_stop(daemon);
    assert_string_equal(status.message, "");
}
