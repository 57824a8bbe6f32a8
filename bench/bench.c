/* Measuring what a decision costs, beside a reference that every machine has. */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench.h"

#include "core/hash.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BENCH_SLOTS = 256,    /* episodes that are played side by side */
    BENCH_SWEEPS = 64,    /* over all slots, per round */
    BENCH_WARM_UP = 8192, /* copies before those that are timed */
    BENCH_COPIES = 32768, /* reference copies and clones per round */
    BENCH_CLONE_ROUNDS = 4,
    BENCH_REF_SLOTS = 65536,
    BENCH_REF_SIZE = 1024,
    BENCH_ALIGN = 64,
};

/* A quantity: how often it was done, and how long that took. */
typedef struct Meter {
    uint64_t count;
    uint64_t ns;
} Meter;

typedef struct Bench {
    const TyRuleset *ruleset;
    size_t state_stride;
    size_t row_stride;
    size_t mask_stride;
    uint8_t *states;
    uint8_t *rows;
    uint8_t *masks;
    uint8_t *spare;  /* one state per slot, for timing resets */
    uint8_t *memory; /* BENCH_REF_SLOTS x BENCH_REF_SIZE bytes */
    uint32_t *picks; /* random numbers, made beforehand */
    uint32_t actions[BENCH_SLOTS];
    int32_t rewards[BENCH_SLOTS][TY_SEATS_MAX];
    uint64_t seed;    /* of the next episode */
    uint64_t counter; /* of the next sampled action */
    uint64_t episodes;
    uint64_t checksum;
    uint32_t pick;   /* the next of `picks`, counted on and on */
    size_t ref_size; /* BENCH_REF_SIZE */
    Meter whole, sample, step, legal, observe, reset, clone, copy;
} Bench;

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Adds the time since `start` to the meter and returns what time it is. */
static uint64_t meter_add(Meter *meter, uint64_t count, uint64_t start)
{
    uint64_t now = clock_ns();
    meter->count += count;
    meter->ns += now - start;
    return now;
}

static double meter_mean(const Meter *meter)
{
    return meter->count > 0 ? (double)meter->ns / (double)meter->count : 0;
}

/* ---- Set-up ---- */

static size_t align_up(size_t size)
{
    return (size + BENCH_ALIGN - 1) / BENCH_ALIGN * BENCH_ALIGN;
}

static void bench_close(Bench *bench)
{
    free(bench->states);
    free(bench->rows);
    free(bench->masks);
    free(bench->spare);
    free(bench->memory);
    free(bench->picks);
    free(bench);
}

static void bench_fill_memory(Bench *bench)
{
    for (uint32_t i = 0; i < BENCH_REF_SLOTS; i++) {
        bench->picks[i] = (uint32_t)(hash_mix(i * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
        memset(bench->memory + (size_t)i * BENCH_REF_SIZE, (int)(bench->picks[i] & 0xff),
               BENCH_REF_SIZE);
    }
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
    bench->ref_size = BENCH_REF_SIZE;
    bench->state_stride = align_up(shape->state_size);
    bench->row_stride = align_up(shape->row_size);
    bench->mask_stride = align_up(shape->action_count);
    bench->states = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->state_stride);
    bench->spare = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->state_stride);
    bench->rows = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->row_stride);
    bench->masks = aligned_alloc(BENCH_ALIGN, BENCH_SLOTS * bench->mask_stride);
    bench->memory = aligned_alloc(BENCH_ALIGN, (size_t)BENCH_REF_SLOTS * BENCH_REF_SIZE);
    bench->picks = calloc(BENCH_REF_SLOTS, sizeof *bench->picks);
    if (bench->states == NULL || bench->spare == NULL || bench->rows == NULL ||
        bench->masks == NULL || bench->memory == NULL || bench->picks == NULL) {
        bench_close(bench);
        return NULL;
    }
    bench_fill_memory(bench);
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
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < BENCH_SWEEPS; i++) {
        sweep_whole(bench);
    }
    meter_add(&bench->whole, (uint64_t)BENCH_SWEEPS * BENCH_SLOTS, start);
    bench->checksum += bench->episodes - episodes;
}

/* ---- Its parts: the clock is read once per sweep, not once per decision ---- */

static void sweep_parts(Bench *bench)
{
    const TyRuleset *ruleset = bench->ruleset;
    uint64_t start = clock_ns();
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
    start = clock_ns();
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        ty_legal(ruleset, slot_state(bench, slot), slot_mask(bench, slot));
    }
    start = meter_add(&bench->legal, BENCH_SLOTS, start);
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        slot_observe(bench, slot);
    }
    meter_add(&bench->observe, BENCH_SLOTS, start);
}

static void measure_resets(Bench *bench)
{
    uint64_t start = clock_ns();
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        ty_reset(bench->ruleset, bench->spare + slot * bench->state_stride, bench->seed++, NULL);
    }
    meter_add(&bench->reset, BENCH_SLOTS, start);
}

/* ---- Copies ---- */

/* The random number `index`, scaled to 0..bound-1. */
static uint32_t pick_below(const Bench *bench, uint32_t index, uint32_t bound)
{
    return (uint32_t)((uint64_t)bench->picks[index % BENCH_REF_SLOTS] * bound >> 32);
}

/* The size comes from memory, so that every compiler calls the library's memcpy. */
static void copy_reference(Bench *bench, uint32_t count)
{
    _Alignas(BENCH_ALIGN) uint8_t copy[BENCH_REF_SIZE];
    const uint8_t *memory = bench->memory;
    size_t size = bench->ref_size;
    uint32_t first = bench->pick;
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t slot = pick_below(bench, i, BENCH_REF_SLOTS);
        memcpy(copy, memory + (size_t)slot * BENCH_REF_SIZE, size);
        /* The compiler must believe that the whole copy is read. */
        __asm__ volatile("" : : "r"(copy) : "memory");
        sum += copy[i % BENCH_REF_SIZE];
    }
    bench->pick += count;
    bench->checksum += sum;
}

/* Clones between random slots, as a search does that keeps many states. */
static void copy_states(Bench *bench, uint32_t count)
{
    uint8_t *memory = bench->memory;
    size_t size = ty_shape(bench->ruleset)->state_size;
    size_t stride = bench->state_stride;
    uint32_t slots = (uint32_t)((size_t)BENCH_REF_SLOTS * BENCH_REF_SIZE / stride);
    uint32_t first = bench->pick;
    for (uint32_t i = first; i < first + 2 * count; i += 2) {
        uint32_t to = pick_below(bench, i, slots);
        uint32_t from = pick_below(bench, i + 1, slots);
        if (to != from) {
            memcpy(memory + to * stride, memory + from * stride, size);
        }
    }
    __asm__ volatile("" : : "r"(memory) : "memory");
    bench->pick += 2 * count;
}

static void measure_copies(Bench *bench)
{
    copy_reference(bench, BENCH_WARM_UP);
    uint64_t start = clock_ns();
    copy_reference(bench, BENCH_COPIES);
    meter_add(&bench->copy, BENCH_COPIES, start);
}

/* Clones write to the memory that the reference reads: they have their turn when it is done. */
static void measure_clones(Bench *bench)
{
    copy_states(bench, BENCH_WARM_UP);
    uint64_t start = clock_ns();
    copy_states(bench, BENCH_COPIES);
    meter_add(&bench->clone, BENCH_COPIES, start);
}

/* ---- Results ---- */

static void bench_round(Bench *bench)
{
    measure_whole(bench);
    measure_copies(bench);
    sweep_whole(bench);
    for (uint32_t i = 0; i < BENCH_SWEEPS; i++) {
        sweep_parts(bench);
    }
    measure_resets(bench);
}

static void bench_clear(Bench *bench)
{
    const Meter empty = {.count = 0};
    bench->whole = bench->sample = bench->step = bench->legal = empty;
    bench->observe = bench->reset = bench->clone = bench->copy = empty;
}

static void bench_run(Bench *bench, double seconds)
{
    uint64_t start = clock_ns();
    do {
        bench_round(bench);
    } while ((double)(clock_ns() - start) < seconds * 1e9);
}

/* The length of the episodes of random play, which gives episodes per second. */
static double decisions_per_episode(const Bench *bench)
{
    return bench->episodes > 0 ? (double)bench->counter / (double)bench->episodes : 0;
}

TyStatus bench_measure(const TyRuleset *ruleset, double seconds, BenchResult *result)
{
    Bench *bench = bench_open(ruleset);
    if (bench == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for the bench");
    }
    /* The slots begin together; after a while they are spread over their episodes. */
    bench_run(bench, seconds * 0.1);
    bench_clear(bench);
    bench_run(bench, seconds * 0.9);
    for (uint32_t i = 0; i < BENCH_CLONE_ROUNDS; i++) {
        measure_clones(bench);
    }
    double length = decisions_per_episode(bench);
    double whole = meter_mean(&bench->whole);
    *result = (BenchResult){
        .ns_per_decision = whole,
        .sample_ns = meter_mean(&bench->sample),
        .step_ns = meter_mean(&bench->step),
        .legal_ns = meter_mean(&bench->legal),
        .observe_ns = meter_mean(&bench->observe),
        .reset_ns = meter_mean(&bench->reset),
        .clone_ns = meter_mean(&bench->clone),
        .ref_copy_ns = meter_mean(&bench->copy),
        .decisions_per_s = 1e9 / whole,
        .episodes_per_s = length > 0 ? 1e9 / whole / length : 0,
        .decisions = bench->whole.count,
        .checksum = bench->checksum,
    };
    for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
        result->checksum += slot_row(bench, slot)[0] + slot_mask(bench, slot)[0];
    }
    bench_close(bench);
    return status_ok();
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
