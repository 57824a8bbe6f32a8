/* Measuring pools from one slot to a million. */
#include "bench/bench_slots.h"

#include "bench/bench_daemon.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdlib.h>
#include <unistd.h>

static const uint32_t slot_counts[BENCH_SIZES] = {1, 1000, 1000000};

enum {
    SEED = 1,
    SPREAD_SLOTS = 1000,  /* of the pool whose positions the others begin in */
    SPREAD_ROUNDS = 1000, /* that bring them apart */
    STEPS_MIN = 4,
    STEPS_PER_SLICE = 4096, /* decisions, if a step has fewer */
};

/* Puts the positions of `from`, with a future of its own each, into the slots of `to`. */
static TyStatus pool_spread(const TyPool *from, TyPool *to, uint32_t slots)
{
    void *snapshot = malloc(ty_pool_snapshot_size(from));
    TyStatus status =
        snapshot != NULL ? ty_status_ok() : ty_status_fail(TY_NO_MEMORY, "bench: no memory");
    for (uint32_t slot = 0; slot < slots && status.code == TY_OK; slot++) {
        uint64_t key = hash_mix(slot);
        ty_pool_save(from, slot % SPREAD_SLOTS, snapshot);
        status = ty_pool_restore(to, snapshot, &slot, 1, &(TyRestore){.keys = &key, .seat = -1});
    }
    free(snapshot);
    return status;
}

/* The cost of decisions in slices, and the time of every step among them. */
static void size_measure(TyPool *pool, double seconds, BenchSize *size)
{
    BenchSlices slices = {.count = 0};
    BenchSlices steps = {.count = 0};
    const TySlab *slab = ty_pool_slab(pool, 0);
    uint32_t rounds = 1 + STEPS_PER_SLICE / size->slots;
    uint64_t begin = bench_clock_ns();
    while (steps.count < STEPS_MIN || (double)(bench_clock_ns() - begin) < seconds * 1e9) {
        uint64_t start = bench_clock_ns();
        ty_pool_step_random(pool, 0, 0, SEED, rounds);
        slices_add(&slices, (double)(bench_clock_ns() - start) / ((double)rounds * size->slots));
        ty_sample_rows(slab, 0, SEED);
        start = bench_clock_ns();
        ty_pool_step(pool, 0, 0, NULL);
        slices_add(&steps, (double)(bench_clock_ns() - start) * 1e-3);
    }
    size->decision = slices_figure(&slices);
    size->step_p50_us = slices_quantile(&steps, 0.5);
    size->step_p99_us = slices_quantile(&steps, 0.99);
    size->steps = steps.count;
    slices_clear(&slices);
    slices_clear(&steps);
}

static TyStatus size_run(const TyRuleset *ruleset, const TyPool *spread, double seconds,
                         BenchSize *size)
{
    const TyPoolConfig config = {.slots = size->slots, .threads = 1, .seed = SEED};
    TyPool *pool = NULL;
    uint64_t before = process_resident(getpid());
    TyStatus status = ty_pool_open(ruleset, &config, &pool);
    if (status.code == TY_OK) {
        uint64_t after = process_resident(getpid());
        size->resident_bytes = after > before ? (after - before) / size->slots : 0;
        size->slot_bytes = ty_pool_slot_bytes(pool);
        status = pool_spread(spread, pool, size->slots);
    }
    if (status.code == TY_OK) {
        size_measure(pool, seconds, size);
    }
    ty_pool_close(pool);
    return status;
}

TyStatus bench_slots_measure(const TyRuleset *ruleset, double seconds, BenchSize sizes[BENCH_SIZES])
{
    const TyPoolConfig config = {.slots = SPREAD_SLOTS, .threads = 1, .seed = SEED};
    TyPool *spread = NULL;
    TyStatus status = ty_pool_open(ruleset, &config, &spread);
    if (status.code == TY_OK) {
        ty_pool_step_random(spread, 0, 0, SEED, SPREAD_ROUNDS);
    }
    for (uint32_t i = 0; i < BENCH_SIZES && status.code == TY_OK; i++) {
        sizes[i] = (BenchSize){.slots = slot_counts[i]};
        status = size_run(ruleset, spread, seconds, &sizes[i]);
    }
    ty_pool_close(spread);
    return status;
}
