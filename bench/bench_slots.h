/* Measuring pools from one slot to a million. */
#pragma once

#include "bench/figure.h"
#include "trainyard.h"

/* A pool of so many slots in one group, stepped by one thread, with random legal play. */
typedef struct BenchSize {
    uint32_t slots;
    uint64_t slot_bytes;     /* as the pool counts them */
    uint64_t resident_bytes; /* of a slot: what the process grew by */
    BenchFigure decision;    /* nanoseconds, of a step of all slots with sampling */
    double step_p50_us;      /* of a step of all slots, without sampling */
    double step_p99_us;
    uint32_t steps; /* that were timed */
} BenchSize;

enum { BENCH_SIZES = 3 };

/* Measures each size for about `seconds`. The slots are spread over their episodes. */
TyStatus bench_slots_measure(const TyRuleset *ruleset, double seconds,
                             BenchSize sizes[BENCH_SIZES]);
