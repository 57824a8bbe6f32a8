/* Measuring what a decision costs, beside a reference that every machine has. */
#include "bench/bench.h"

#include "bench/reference.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BENCH_SLOTS = 256, /* episodes that are played side by side */
    BENCH_SWEEPS = 4,  /* over all slots, per slice: shorter than a turn on a shared processor */
    BENCH_CLONE_ROUNDS = 64,
    BENCH_ALIGN = 64,
};

/* A quantity: how often it was done in the slice that is being taken, how long that took, and the
 * slices so far. */
typedef struct Meter {
    uint64_t count;
    uint64_t ns;
    BenchSlices slices;
} Meter;

typedef struct Bench {
    const TyRuleset *ruleset;
    size_t state_stride;
    size_t row_stride;
    size_t mask_stride;
    uint8_t *states;
    uint8_t *rows;
    uint8_t *masks;
    uint8_t *spare; /* one state per slot, for timing resets */
    BenchReference *reference;
    uint32_t actions[BENCH_SLOTS];
    int32_t rewards[BENCH_SLOTS][TY_SEATS_MAX];
    uint64_t seed;    /* of the next episode */
    uint64_t counter; /* of the next sampled action */
    uint64_t episodes;
    uint64_t checksum;
    uint64_t decisions; /* that were timed as a whole */
    Meter whole, sample, step, legal, observe, reset;
    BenchSlices clone, copy;
} Bench;

/* Adds the time since `start` to the meter and returns what time it is. */
static uint64_t meter_add(Meter *meter, uint64_t count, uint64_t start)
{
    uint64_t now = bench_clock_ns();
    meter->count += count;
    meter->ns += now - start;
    return now;
}

/* The slice is complete. */
static void meter_cut(Meter *meter)
{
    slices_add(&meter->slices, (double)meter->ns / (double)meter->count);
    meter->count = 0;
    meter->ns = 0;
}

/* ---- Set-up ---- */

static size_t align_up(size_t size)
{
    return (size + BENCH_ALIGN - 1) / BENCH_ALIGN * BENCH_ALIGN;
}

/* Forgets what was measured so far. */
static void bench_clear(Bench *bench)
{
    Meter *meters[] = {&bench->whole, &bench->sample,  &bench->step,
                       &bench->legal, &bench->observe, &bench->reset};
    for (size_t i = 0; i < sizeof meters / sizeof meters[0]; i++) {
        slices_clear(&meters[i]->slices);
    }
    slices_clear(&bench->clone);
    slices_clear(&bench->copy);
    bench->decisions = 0;
}

static void bench_close(Bench *bench)
{
    bench_clear(bench);
    free(bench->states);
    free(bench->rows);
    free(bench->masks);
    free(bench->spare);
    reference_close(bench->reference);
    free(bench);
}

static uint8_t *slot_state(const Bench *bench, uint32_t slot)
{
    return bench->states + slot * bench->state_stride;
}

static uint8_t *slot_mask(const Bench *bench, uint32_t slot)
{
    return bench->masks + slot * bench->mask_stride;
}

static uint8_t *slot_row(const Bench *bench, uint32_t slot)
{
    return bench->rows + slot * bench->row_stride;
}

static void slot_observe(const Bench *bench, uint32_t slot)
{
    const uint8_t *state = slot_state(bench, slot);
    ty_observe(bench->ruleset, state, (uint32_t)ty_head(state)->seat, slot_row(bench, slot));
}

static Bench *bench_open(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    Bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        return NULL;
    }
    bench->ruleset = ruleset;
    bench->state_stride = align_up(shape->state_size);
    bench->row_stride = align_up(shape->row_size);
    bench->mask_stride = align_up(shape->action_count);
    bench->states = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->state_stride);
    bench->spare = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->state_stride);
    bench->rows = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->row_stride);
    bench->masks = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->mask_stride);
    bench->reference = reference_open();
    if (bench->states == NULL || bench->spare == NULL || bench->rows == NULL ||
        bench->masks == NULL || bench->reference == NULL) {
        bench_close(bench);
        return NULL;
    }
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        ty_reset(ruleset, slot_state(bench, slot), bench->seed++, NULL);
        ty_legal(ruleset, slot_state(bench, slot), slot_mask(bench, slot));
        slot_observe(bench, slot);
    }
    return bench;
}

/* ---- The whole loop ---- */

static void slot_reset_if_over(Bench *bench, uint32_t slot)
{
    uint8_t *state = slot_state(bench, slot);
    if (ty_head(state)->over) {
        ty_reset(bench->ruleset, state, bench->seed++, NULL);
        bench->episodes++;
    }
}

static uint32_t slot_sample(Bench *bench, uint32_t slot)
{
    return ty_sample(slot_mask(bench, slot), ty_shape(bench->ruleset)->action_count, 0,
                     bench->counter++);
}

static void sweep_whole(Bench *bench)
{
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        uint8_t *state = slot_state(bench, slot);
        uint32_t action = slot_sample(bench, slot);
        ty_step(bench->ruleset, state, action, bench->rewards[slot], NULL);
        slot_reset_if_over(bench, slot);
        ty_legal(bench->ruleset, state, slot_mask(bench, slot));
        slot_observe(bench, slot);
    }
}

static void measure_whole(Bench *bench)
{
    sweep_whole(bench); /* brings the slots back into the caches */
    uint64_t episodes = bench->episodes;
    uint64_t start = bench_clock_ns();
    for (uint32_t i = 0; i < BENCH_SWEEPS; i++) {
        sweep_whole(bench);
    }
    meter_add(&bench->whole, (uint64_t)BENCH_SWEEPS * BENCH_SLOTS, start);
    meter_cut(&bench->whole);
    bench->decisions += (uint64_t)BENCH_SWEEPS * BENCH_SLOTS;
    bench->checksum += bench->episodes - episodes;
}

/* ---- Its parts: the clock is read once per sweep, not once per decision ---- */

static void sweep_parts(Bench *bench)
{
    const TyRuleset *ruleset = bench->ruleset;
    uint64_t start = bench_clock_ns();
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        bench->actions[slot] = slot_sample(bench, slot);
    }
    start = meter_add(&bench->sample, BENCH_SLOTS, start);
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        ty_step(ruleset, slot_state(bench, slot), bench->actions[slot], bench->rewards[slot], NULL);
    }
    meter_add(&bench->step, BENCH_SLOTS, start);
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        slot_reset_if_over(bench, slot);
    }
    start = bench_clock_ns();
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        ty_legal(ruleset, slot_state(bench, slot), slot_mask(bench, slot));
    }
    start = meter_add(&bench->legal, BENCH_SLOTS, start);
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        slot_observe(bench, slot);
    }
    meter_add(&bench->observe, BENCH_SLOTS, start);
}

static void measure_parts(Bench *bench)
{
    sweep_whole(bench);
    for (uint32_t i = 0; i < BENCH_SWEEPS; i++) {
        sweep_parts(bench);
    }
    meter_cut(&bench->sample);
    meter_cut(&bench->step);
    meter_cut(&bench->legal);
    meter_cut(&bench->observe);
}

static void measure_resets(Bench *bench)
{
    uint64_t start = bench_clock_ns();
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        ty_reset(bench->ruleset, bench->spare + slot * bench->state_stride, bench->seed++, NULL);
    }
    meter_add(&bench->reset, BENCH_SLOTS, start);
    meter_cut(&bench->reset);
}

/* ---- Results ---- */

static void bench_run(Bench *bench, double seconds)
{
    uint64_t start = bench_clock_ns();
    do {
        measure_whole(bench);
        slices_add(&bench->copy, reference_copy_ns(bench->reference));
        measure_parts(bench);
        measure_resets(bench);
    } while ((double)(bench_clock_ns() - start) < seconds * 1e9);
}

static BenchResult bench_result(const Bench *bench)
{
    BenchResult result = {
        .decision = slices_figure(&bench->whole.slices),
        .sample = slices_figure(&bench->sample.slices),
        .step = slices_figure(&bench->step.slices),
        .legal = slices_figure(&bench->legal.slices),
        .observe = slices_figure(&bench->observe.slices),
        .reset = slices_figure(&bench->reset.slices),
        .clone = slices_figure(&bench->clone),
        .copy = slices_figure(&bench->copy),
        .decisions = bench->decisions,
        .checksum = bench->checksum,
    };
    if (bench->episodes > 0) {
        result.decisions_per_episode = (double)bench->counter / (double)bench->episodes;
    }
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        result.checksum += slot_row(bench, slot)[0] + slot_mask(bench, slot)[0];
    }
    return result;
}

TyStatus bench_measure(const TyRuleset *ruleset, double seconds, BenchResult *result)
{
    Bench *bench = bench_open(ruleset);
    if (bench == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the bench");
    }
    /* The slots begin together; after a while they are spread over their episodes. */
    bench_run(bench, seconds * 0.1);
    bench_clear(bench);
    bench_run(bench, seconds * 0.9);
    for (uint32_t i = 0; i < BENCH_CLONE_ROUNDS; i++) {
        slices_add(&bench->clone,
                   reference_clone_ns(bench->reference, ty_shape(ruleset)->state_size,
                                      bench->state_stride));
    }
    *result = bench_result(bench);
    bench_close(bench);
    return ty_status_ok();
}

/* ---- Circumstances ---- */

void bench_processor(char *name, size_t size)
{
    snprintf(name, size, "unknown");
    FILE *stream = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (stream != NULL) {
        fclose(stream);
    }
}

const char *bench_compiler(void)
{
#ifdef __clang__
    return __VERSION__;
#else
    return "gcc " __VERSION__;
#endif
}

/* The build says so itself if it can; otherwise from what the compiler tells. */
const char *bench_build(void)
{
#if defined(TY_BUILD_TYPE)
    return TY_BUILD_TYPE;
#elif defined(__OPTIMIZE__)
    return "optimised";
#else
    return "debug";
#endif
}
