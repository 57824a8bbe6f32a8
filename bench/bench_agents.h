/* Measuring what a decision of each built-in agent costs. */
#pragma once

#include "bench/figure.h"
#include "trainyard.h"

enum { BENCH_AGENTS_MAX = 32 /* that play one game */ };

/* Processor time in nanoseconds, of all threads: what an agent does is often longer than its turn
 * on a shared processor. A decision has the row and the mask that the agent is shown. */
typedef struct BenchAgent {
    const TyAgent *agent;
    BenchFigure decision;
    uint64_t decisions;
} BenchAgent;

typedef struct BenchAgents {
    uint32_t count;
    BenchAgent agents[BENCH_AGENTS_MAX];
    BenchFigure copy; /* the reference, see bench.h */
} BenchAgents;

/* Lets each of the agents of `result` play all seats for about `seconds`, at least one decision
 * each, by turns. They begin in the same positions, which lie all over episodes of the game's
 * `expert`. */
TyStatus bench_agents_measure(const TyRuleset *ruleset, double seconds, BenchAgents *result);
