/* Chance: every random outcome of every game is a `draw`.
 *
 * value = f(seed, stream, counter). Streams are separate sources (a deck, a die), the counters live
 * in the state, so equal seeds meet equal cards and dice however the play between them differs. */
#pragma once

#include "base.h"
#include "core/hash.h"

/* What a stream adds to the seed. */
static inline uint64_t draw_stream(uint64_t stream)
{
    return hash_mix((stream + 1) * 0xd1342543de82ef95u);
}

/* Value `counter` under `seed` of the stream of which `draw_stream` is given. */
static inline uint64_t draw_mixed(uint64_t seed, uint64_t mixed, uint64_t counter)
{
    return hash_mix(hash_mix(seed ^ mixed) + (counter + 1) * 0x9e3779b97f4a7c15u);
}

/* Value `counter` of `stream` under `seed`. */
static inline uint64_t draw_value(uint64_t seed, uint64_t stream, uint64_t counter)
{
    return draw_mixed(seed, draw_stream(stream), counter);
}

/* Uniform in 0..bound-1, without bias (Lemire's multiply and reject); advances `counter`. */
static inline uint32_t draw_mixed_below(uint64_t seed, uint64_t mixed, uint32_t *counter,
                                        uint32_t bound)
{
    for (;;) {
        uint32_t value = (uint32_t)(draw_mixed(seed, mixed, (*counter)++) >> 32);
        uint64_t product = (uint64_t)value * bound;
        uint32_t low = (uint32_t)product;
        if (low >= bound || low >= (uint32_t)(-bound) % bound) {
            return (uint32_t)(product >> 32);
        }
    }
}

static inline uint32_t draw_below(uint64_t seed, uint64_t stream, uint32_t *counter, uint32_t bound)
{
    return draw_mixed_below(seed, draw_stream(stream), counter, bound);
}

/* The number below `total` that sampling from a mask draws; its bias is below total / 2^32. */
static inline uint32_t sample_below(uint32_t total, uint64_t seed, uint64_t counter)
{
    return (uint32_t)(((draw_value(seed, TY_STREAMS_MAX, counter) >> 32) * total) >> 32);
}

/* Outcome i with probability weights[i] / sum of all; the sum is positive and below 65,536.
 * Answered by the tape's script if there is one, otherwise by the generator. */
uint32_t draw_take(TyHead *head, TyTape *tape, uint32_t stream, const uint8_t *weights,
                   uint32_t count);
