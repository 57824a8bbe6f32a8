/* Draws of the library's own games: ty_draw for cases that come up at every step.
 *
 * What is drawn is random, so every branch on it is mispredicted: these have none, where ty_draw
 * looks for its outcome in a loop. Outcomes and counters are the same. With a tape they are
 * ty_draw. */
#pragma once

#include "core/bytes.h"
#include "core/draw.h"
#include "game.h"

/* The next number below `bound` of a stream. */
static inline uint32_t draw_next(TyPlay *play, uint32_t stream, uint32_t bound)
{
    TyHead *head = (TyHead *)play->state;
    return draw_below(head->seed, stream, &head->draws[stream], bound);
}

/* The outcome that is `value` of all weights: the number of sums that are passed. */
static inline uint32_t weights_pass(const uint8_t *weights, uint32_t count, uint32_t value)
{
    uint32_t sum = 0;
    uint32_t outcome = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        sum += weights[i];
        outcome += value >= sum;
    }
    return outcome;
}

/* For a small `count` that the compiler knows. */
static inline uint32_t draw_few(TyPlay *play, uint32_t stream, const uint8_t *weights,
                                uint32_t count)
{
    uint32_t total = 0;
    if (play->tape != NULL) {
        return ty_draw(play, stream, weights, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        total += weights[i];
    }
    return weights_pass(weights, count, draw_next(play, stream, total));
}

/* For weights that are the bytes of two words and have a sum below 256. */
static inline uint32_t draw_words(TyPlay *play, uint32_t stream, uint64_t low, uint64_t high)
{
    typedef uint64_t Words __attribute__((vector_size(16)));
    low *= 0x0101010101010101u; /* sums up to each byte */
    high = high * 0x0101010101010101u + (low >> 56) * 0x0101010101010101u;
    uint8_t value = (uint8_t)draw_next(play, stream, (uint32_t)(high >> 56));
    Words passed = (Words)((BytesOf16)((BytesOf16)(Words){low, high} <= value) & 1);
    return bytes_sum(passed[0] + passed[1]);
}

/* For up to 16 weights in an array of 16 whose rest is 0 and whose sum is below 256. */
static inline uint32_t draw_sixteen(TyPlay *play, uint32_t stream, const uint8_t weights[16],
                                    uint32_t count)
{
    if (play->tape != NULL) {
        return ty_draw(play, stream, weights, count);
    }
    return draw_words(play, stream, load_le64(weights), load_le64(weights + 8));
}

/* For ten weights whose sum is below 256. */
static inline uint32_t draw_ten(TyPlay *play, uint32_t stream, const uint8_t weights[10])
{
    if (play->tape != NULL) {
        return ty_draw(play, stream, weights, 10);
    }
    return draw_words(play, stream, load_le64(weights), load_le16(weights + 8));
}

/* For equally likely outcomes: one of the bits below `count` (at most 64) that are set. */
static inline uint32_t draw_bit(TyPlay *play, uint32_t stream, uint64_t bits, uint32_t count)
{
    if (play->tape != NULL) {
        uint8_t weights[64];
        bits_expand(bits, count, weights);
        return ty_draw(play, stream, weights, count);
    }
    return bits_select(bits, draw_next(play, stream, bits_count(bits)));
}
