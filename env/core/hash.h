/* 64-bit hashing of fields, the same on every machine. Not for secrets. */
#pragma once

#include "core/bytes.h"

#include <stddef.h>

/* The finaliser of SplitMix64: a bijection in which every input bit moves every output bit. */
static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x;
}

static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
    return hash_mix(hash ^ (value + 0x9e3779b97f4a7c15u));
}

static inline uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
    uint64_t word = 0;
    size_t whole = size / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) {
        hash = hash_add(hash, load_le64(bytes + i));
    }
    for (size_t i = whole; i < size; i++) {
        word |= (uint64_t)bytes[i] << (8 * (i & 7));
    }
    return hash_add(hash_add(hash, word), size);
}
