/* Measuring pools: what a batch of decisions costs through each door. */
#pragma once

#include "bench/bench_bare.h"
#include "trainyard.h"

enum {
    BENCH_BATCHES = 5, /* sizes of batches: rows of a group */
};

extern const uint32_t bench_batches[BENCH_BATCHES];

/* Who drives a pool, and how. */
typedef enum BenchDoor {
    BENCH_INPROC,  /* this process */
    BENCH_SHM,     /* another process than the daemon, through shared memory */
    BENCH_IPC,     /* the same over ZeroMQ, with the columns that a learner reads, masks as bits */
    BENCH_IPC_ALL, /* with every column, masks as bytes: what a client gets that asks for nothing */
    BENCH_BARE_IPC, /* two processes that exchange messages of the same sizes and do nothing else */
    BENCH_STEP_IPC, /* the same, but the one that answers steps the pool and copies its rows */
    BENCH_TCP,
    BENCH_BARE_TCP,
    BENCH_DOORS,
    BENCH_NONE = BENCH_DOORS,
} BenchDoor;

extern const char *const bench_door_names[BENCH_DOORS];

enum { BENCH_BASES = 3, BENCH_SHAPES = 4, BENCH_LINES_MAX = BENCH_DOORS * BENCH_SHAPES };

/* One door with a number of stepping threads and of groups. With one group the learner waits for
 * every step; with two, one group is stepped while it samples actions for the other. */
typedef struct BenchLine {
    BenchDoor door;
    uint32_t threads; /* that step; a client is a process beside them */
    uint32_t groups;
    double rate[BENCH_BATCHES];  /* decisions per second, the median slice; bare: rows */
    double best[BENCH_BATCHES];  /* the best slice */
    BenchDoor base[BENCH_BASES]; /* what `ratio` is of, with the same threads and groups */
    double ratio[BENCH_BASES]
                [BENCH_BATCHES]; /* the median of slices side by side; 0: not measured */
    double p50_us;               /* a round trip at batch 1; 0: not measured */
    double p99_us;
    BenchSizes sizes[BENCH_BATCHES]; /* of the messages; 0: there are none */
} BenchLine;

/* Bytes that things take. */
typedef struct BenchMemory {
    uint64_t slot; /* all that a slot of a large pool takes: */
    uint64_t slot_state;
    uint64_t slot_rows;   /* what the member sees and answers */
    uint64_t shm_client;  /* besides its rows and actions */
    uint64_t zmq_session; /* resident in the daemon, without kept replies; 0: not measured */
    uint64_t slots_10000; /* of a whole pool of 10,000 slots */
} BenchMemory;

typedef struct BenchPoolResult {
    uint32_t count;
    BenchLine lines[BENCH_LINES_MAX];
    uint32_t processors;
    BenchMemory memory;
} BenchPoolResult;

typedef struct BenchPoolPlan {
    double seconds;               /* about, all in all */
    uint32_t doors;               /* bit per BenchDoor */
    void (*progress)(void *user); /* called BENCH_POOL_STAGES times; may be NULL */
    void *user;
} BenchPoolPlan;

enum { BENCH_POOL_STAGES = BENCH_SHAPES * BENCH_BATCHES };

/* Measures the standard columns of the ruleset's pools. The policy is the masked sampler of the
 * library, in the process that drives the pool. */
TyStatus bench_pool_measure(const TyRuleset *ruleset, const BenchPoolPlan *plan,
                            BenchPoolResult *result);
