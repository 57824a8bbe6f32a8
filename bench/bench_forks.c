/* Measuring what searches do with a pool. */
#include "bench/bench_forks.h"

#include "agent.h"
#include "bench/figure.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdlib.h>

enum {
    SEED = 1,
    SLOTS = 256,
    SPREAD_ROUNDS = 1000, /* that bring the slots apart */
    SAVES = 128,          /* in a slice */
    FORKS = 64,           /* slots that one snapshot is restored into */
    COPIES = 4,           /* rollouts in a slice */
    FIGURES = 3 + BENCH_ROLLERS_MAX,
};

/* What is measured, in slices of nanoseconds for one. */
typedef struct Forker {
    TyPool *pool;
    void *snapshot;
    uint32_t next; /* slot */
    uint32_t rollers;
    const TyAgent *roller[BENCH_ROLLERS_MAX];
    BenchSlices slices[FIGURES];
} Forker;

static void slice_add(Forker *forker, uint32_t figure, uint64_t start, uint32_t count)
{
    slices_add(&forker->slices[figure], (double)(bench_clock_ns() - start) / count);
}

static void saves_time(Forker *forker)
{
    uint64_t start = bench_clock_ns();
    for (uint32_t i = 0; i < SAVES; i++) {
        ty_pool_save(forker->pool, forker->next++ % SLOTS, forker->snapshot);
    }
    slice_add(forker, 0, start, SAVES);
}

static void restores_time(Forker *forker)
{
    const TyRestore as_saved = {.seat = -1};
    uint64_t start = bench_clock_ns();
    for (uint32_t i = 0; i < SAVES; i++) {
        uint32_t slot = forker->next++ % SLOTS;
        ty_pool_restore(forker->pool, forker->snapshot, &slot, 1, &as_saved);
    }
    slice_add(forker, 1, start, SAVES);
}

static void forks_time(Forker *forker)
{
    uint32_t slots[FORKS];
    uint64_t keys[FORKS];
    for (uint32_t i = 0; i < FORKS; i++) {
        slots[i] = forker->next % SLOTS;
        keys[i] = hash_mix(forker->next++);
    }
    uint64_t start = bench_clock_ns();
    ty_pool_restore(forker->pool, forker->snapshot, slots, FORKS,
                    &(TyRestore){.keys = keys, .seat = -1});
    slice_add(forker, 2, start, FORKS);
}

static void rollouts_time(Forker *forker, uint32_t index)
{
    float earned[COPIES * TY_SEATS_MAX];
    uint64_t keys[COPIES];
    uint32_t slot = forker->next++ % SLOTS;
    for (uint32_t i = 0; i < COPIES; i++) {
        keys[i] = hash_mix(forker->next++);
    }
    uint64_t start = bench_clock_ns();
    ty_pool_rollout(forker->pool, slot, forker->roller[index], COPIES, keys, -1, 0, earned, NULL);
    slice_add(forker, 3 + index, start, COPIES);
}

/* Every restored slot plays on before its positions are used again: they must stay spread. */
static void forker_run(Forker *forker, double seconds)
{
    uint64_t begin = bench_clock_ns();
    do {
        saves_time(forker);
        restores_time(forker);
        forks_time(forker);
        ty_pool_step_random(forker->pool, 0, 0, SEED, 16);
        for (uint32_t i = 0; i < forker->rollers; i++) {
            rollouts_time(forker, i);
        }
    } while ((double)(bench_clock_ns() - begin) < seconds * 1e9);
}

static double forker_rate(const Forker *forker, uint32_t figure)
{
    return 1e9 / slices_quantile(&forker->slices[figure], 0.5);
}

static BenchForks forker_result(const Forker *forker)
{
    BenchForks forks = {.saves_per_s = forker_rate(forker, 0),
                        .restores_per_s = forker_rate(forker, 1),
                        .forks_per_s = forker_rate(forker, 2),
                        .rollers = forker->rollers};
    for (uint32_t i = 0; i < forker->rollers; i++) {
        forks.roller[i].agent = forker->roller[i];
        forks.roller[i].rollouts_per_s = forker_rate(forker, 3 + i);
    }
    return forks;
}

static void forker_close(Forker *forker)
{
    for (uint32_t i = 0; i < FIGURES; i++) {
        slices_clear(&forker->slices[i]);
    }
    free(forker->snapshot);
    ty_pool_close(forker->pool);
}

TyStatus bench_forks_measure(const TyRuleset *ruleset, double seconds, BenchForks *forks)
{
    const TyPoolConfig config = {.slots = SLOTS, .threads = 1, .seed = SEED};
    const TyAgent *agent = NULL;
    Forker forker = {.pool = NULL};
    TyStatus status = ty_pool_open(ruleset, &config, &forker.pool);
    if (status.code != TY_OK) {
        return status;
    }
    forker.snapshot = malloc(ty_pool_snapshot_size(forker.pool));
    if (forker.snapshot == NULL) {
        forker_close(&forker);
        return ty_status_fail(TY_NO_MEMORY, "bench: no memory for a snapshot");
    }
    for (uint32_t i = 0; (agent = ty_agent_at(ty_ruleset_game(ruleset), i)) != NULL; i++) {
        bool plays = agent->open == NULL; /* without settings */
        if (plays && !agent->plans && forker.rollers < BENCH_ROLLERS_MAX) {
            forker.roller[forker.rollers++] = agent;
        }
    }
    ty_pool_step_random(forker.pool, 0, 0, SEED, SPREAD_ROUNDS);
    forker_run(&forker, seconds);
    *forks = forker_result(&forker);
    forker_close(&forker);
    return ty_status_ok();
}
