/* Many episodes in a pool, with results that do not depend on the number of threads. */
#pragma once

#include "cli/cli.h"
#include "cli/estimate.h"
#include "replay/replay.h"

typedef struct Run {
    const Settings *settings; /* where the daemon is, if a seat is open */
    const TyRuleset *ruleset;
    Seating seating;
    uint64_t seed; /* episode i has seed + i */
    uint32_t episodes;
    uint32_t threads;
    const char *label;  /* for the progress bar */
    Recorder *recorder; /* writes every episode into a log; NULL: nobody does */
    bool notes;         /* with what agents tell of their choices */
} Run;

/* One row of integers per episode: the return of each player in 1/64, the number of decisions, the
 * metrics. */
typedef struct Results {
    uint32_t episodes;
    uint32_t columns;
    uint32_t players;
    int32_t *values;
    double seconds; /* wall time of the run */
} Results;

/* The columns as the statistics want them. */
Column results_return(const Results *results, uint32_t seat);
Column results_metric(const Results *results, uint32_t metric);
Column results_length(const Results *results); /* decisions per episode */
/* Decisions of all episodes together. */
uint64_t results_decisions(const Results *results);

/* Plays the episodes, on the daemon of --connect if a seat is open. On success the caller frees the
 * results with results_close; on failure (the log could not be written, the daemon refused) the
 * status says what. */
TyStatus run_episodes(const Run *run, Results *results);
void results_close(Results *results);

/* As many threads as --threads says; by default one per processor. */
uint32_t run_threads(const Settings *settings);
