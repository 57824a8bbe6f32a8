/* Measuring what a decision costs, beside a reference that every machine has. */
#pragma once

#include "bench/figure.h"
#include "trainyard.h"

/* Times in nanoseconds. A decision is: sample a legal action, step, and for the next seat to act
 * the mask and the observation row; with a reset where an episode ended. */
typedef struct BenchResult {
    BenchFigure decision; /* wall time of the whole loop */
    BenchFigure sample;   /* its parts, timed in sweeps over many episodes */
    BenchFigure step;
    BenchFigure legal;
    BenchFigure observe;
    BenchFigure reset;
    BenchFigure clone; /* memcpy of a state between two random slots */
    BenchFigure copy;  /* memcpy of 1 KiB from a random one of 65,536 slots */
    double decisions_per_episode;
    uint64_t decisions; /* in the slices of `decision` */
    uint64_t checksum;  /* of what was computed, so that nothing is optimised away */
} BenchResult;

/* Measures for about `seconds`, in one thread, everything interleaved. */
TyStatus bench_measure(const TyRuleset *ruleset, double seconds, BenchResult *result);

/* What the figures depend on. */
void bench_processor(char *name, size_t size);
const char *bench_compiler(void);
const char *bench_build(void);
