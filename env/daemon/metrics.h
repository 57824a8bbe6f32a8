/* What the daemon counts of its requests, and the page on which operators read all of its numbers:
 * Prometheus' text format.
 *
 * Dispatch's thread counts and writes the page; workers' counters are read without locks. */
#pragma once

#include "core/text.h"
#include "proto/protocol.h"

enum {
    METRICS_LATENCIES = 15, /* upper bounds of the histogram; slower requests come behind them */
    METRICS_PAGE_MAX = 256 << 10,
};

/* What became of the requests of one operation. */
typedef struct OperationCounts {
    uint64_t requests;
    uint64_t errors[ERROR_COUNT];
    uint64_t latencies[METRICS_LATENCIES + 1];
    uint64_t nanoseconds; /* in all */
} OperationCounts;

/* By operation; the last is of messages that could not be read. */
typedef struct Metrics {
    OperationCounts operations[OP_COUNT + 1];
} Metrics;

/* A request of `operation` was answered after `nanoseconds`. */
void metrics_request(Metrics *metrics, uint32_t operation, uint64_t nanoseconds);
/* It was refused. */
void metrics_error(Metrics *metrics, uint32_t operation, ErrorCode code);
