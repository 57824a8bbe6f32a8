/* SipHash-2-4 (Aumasson and Bernstein, 2012): a pseudo-random function with a key of 128 bits.
 * Whoever does not know the key learns nothing from some values about the others. */
#pragma once

#include "core/bytes.h"

#include <stddef.h>

enum { SIPHASH_KEY_SIZE = 16 };

static inline uint64_t siphash_rotate(uint64_t word, uint32_t bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void siphash_rounds(uint64_t v[4], uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = siphash_rotate(v[1], 13) ^ v[0];
        v[3] = siphash_rotate(v[3], 16) ^ v[2];
        v[0] = siphash_rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = siphash_rotate(v[1], 17) ^ v[2];
        v[3] = siphash_rotate(v[3], 21) ^ v[0];
        v[2] = siphash_rotate(v[2], 32);
    }
}

static inline void siphash_take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    siphash_rounds(v, 2);
    v[0] ^= word;
}

/* The value of `size` bytes under `key`. */
static inline uint64_t siphash(const uint8_t key[SIPHASH_KEY_SIZE], const uint8_t *bytes,
                               size_t size)
{
    uint64_t low = load_le64(key);
    uint64_t high = load_le64(key + 8);
    uint64_t v[4] = {low ^ 0x736f6d6570736575u, high ^ 0x646f72616e646f6du,
                     low ^ 0x6c7967656e657261u, high ^ 0x7465646279746573u};
    uint64_t last = (uint64_t)size << 56;
    size_t whole = size / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) {
        siphash_take(v, load_le64(bytes + i));
    }
    for (size_t i = whole; i < size; i++) {
        last |= (uint64_t)bytes[i] << (8 * (i - whole));
    }
    siphash_take(v, last);
    v[2] ^= 0xff;
    siphash_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
