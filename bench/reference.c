/* What memory costs on this machine. */
#include "bench/reference.h"

#include "bench/figure.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP = 1024, /* copies before those that are timed */
    COPIES = 2048,
    SLOTS = 65536,
    SLOT_SIZE = 1024,
    ALIGN = 64,
};

struct BenchReference {
    uint8_t *memory; /* SLOTS x SLOT_SIZE bytes */
    uint32_t *picks; /* random numbers, made beforehand */
    uint32_t pick;   /* the next of them, counted on and on */
    size_t size;     /* SLOT_SIZE */
    volatile uint64_t sum;
};

BenchReference *reference_open(void)
{
    BenchReference *reference = calloc(1, sizeof *reference);
    if (reference == NULL) {
        return NULL;
    }
    reference->size = SLOT_SIZE;
    reference->memory = aligned_alloc(ALIGN, (size_t)SLOTS * SLOT_SIZE);
    reference->picks = calloc(SLOTS, sizeof reference->picks[0]);
    if (reference->memory == NULL || reference->picks == NULL) {
        reference_close(reference);
        return NULL;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        reference->picks[i] = (uint32_t)(hash_mix(i * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
        memset(reference->memory + (size_t)i * SLOT_SIZE, (int)(reference->picks[i] & 0xff),
               SLOT_SIZE);
    }
    return reference;
}

void reference_close(BenchReference *reference)
{
    if (reference != NULL) {
        free(reference->memory);
        free(reference->picks);
        free(reference);
    }
}

/* The random number `index`, scaled to 0..bound-1. */
static uint32_t pick_below(const BenchReference *reference, uint32_t index, uint32_t bound)
{
    return (uint32_t)((uint64_t)reference->picks[index % SLOTS] * bound >> 32);
}

/* The size comes from memory, so that every compiler calls the library's memcpy. */
static void copy_slots(BenchReference *reference, uint32_t count)
{
    _Alignas(ALIGN) uint8_t copy[SLOT_SIZE];
    const uint8_t *memory = reference->memory;
    size_t size = reference->size;
    uint32_t first = reference->pick;
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t slot = pick_below(reference, i, SLOTS);
        memcpy(copy, memory + (size_t)slot * SLOT_SIZE, size);
        /* The compiler must believe that the whole copy is read. */
        __asm__ volatile("" : : "r"(copy) : "memory");
        sum += copy[i % SLOT_SIZE];
    }
    reference->pick += count;
    reference->sum += sum;
}

static void clone_states(BenchReference *reference, uint32_t count, size_t size, size_t stride)
{
    uint8_t *memory = reference->memory;
    uint32_t slots = (uint32_t)((size_t)SLOTS * SLOT_SIZE / stride);
    uint32_t first = reference->pick;
    for (uint32_t i = first; i < first + 2 * count; i += 2) {
        uint32_t to = pick_below(reference, i, slots);
        uint32_t from = pick_below(reference, i + 1, slots);
        if (to != from) {
            memcpy(memory + to * stride, memory + from * stride, size);
        }
    }
    __asm__ volatile("" : : "r"(memory) : "memory");
    reference->pick += 2 * count;
}

double reference_copy_ns(BenchReference *reference)
{
    copy_slots(reference, WARM_UP);
    uint64_t start = bench_clock_ns();
    copy_slots(reference, COPIES);
    return (double)(bench_clock_ns() - start) / COPIES;
}

double reference_clone_ns(BenchReference *reference, size_t size, size_t stride)
{
    clone_states(reference, WARM_UP, size, stride);
    uint64_t start = bench_clock_ns();
    clone_states(reference, COPIES, size, stride);
    return (double)(bench_clock_ns() - start) / COPIES;
}
