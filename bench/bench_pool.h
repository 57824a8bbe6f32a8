/* Measuring pools: what a batch of decisions costs through each door. */
#pragma once

#include "trainyard.h"

enum {
    BENCH_BATCHES = 5,    /* sizes of batches: rows of a group */
    BENCH_LINES_MAX = 16, /* door x threads x groups */
};

extern const uint32_t bench_batches[BENCH_BATCHES];

/* One door with a number of stepping threads and of groups. With one group the learner waits for
 * every step; with two, one group is stepped while it samples actions for the other. */
typedef struct BenchLine {
    const char *door; /* "inproc", "shm" */
    uint32_t threads; /* that step; a client is a process beside them */
    uint32_t groups;
    double rate[BENCH_BATCHES]; /* decisions per second */
    double
        ratio[BENCH_BATCHES]; /* of the in-process rate of the same threads and groups; 0: none */
    double p50_us;            /* a round trip at batch 1; 0: not measured */
    double p99_us;
} BenchLine;

typedef struct BenchPoolResult {
    uint32_t count;
    BenchLine lines[BENCH_LINES_MAX];
    uint64_t slot_bytes;   /* of a pool of the largest batch */
    uint64_t client_bytes; /* that a shared-memory client takes besides its rows and actions */
} BenchPoolResult;

/* Measures every line for about `seconds` all in all. The policy is ty_sample_rows, in the process
 * that drives the pool. */
TyStatus bench_pool_measure(const TyRuleset *ruleset, double seconds, BenchPoolResult *result);
