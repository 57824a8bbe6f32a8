/* Measuring what searches do with a pool: snapshots, forks and rollouts. */
#pragma once

#include "trainyard.h"

enum { BENCH_ROLLERS_MAX = 8 /* agents that play rollouts */ };

/* How many of each a second, in one thread: from the median of short slices that take turns. */
typedef struct BenchForks {
    double saves_per_s;
    double restores_per_s; /* into one slot, checked, with its row */
    double forks_per_s;    /* slots that get the same snapshot, each with a future of its own */
    uint32_t rollers;
    struct BenchRoller {
        const TyAgent *agent;  /* that does not search itself */
        double rollouts_per_s; /* to the end, from positions all over the episodes */
    } roller[BENCH_ROLLERS_MAX];
} BenchForks;

TyStatus bench_forks_measure(const TyRuleset *ruleset, double seconds, BenchForks *forks);
