/* Masks and rows, 64 bytes at a time on processors that can do that (AVX-512), 32 where there are
 * AVX2 and BMI2, and in smaller pieces on others, with the same results. Which of the three is
 * found out at run time: one build runs everywhere. The plain versions are named here for their
 * tests. */
#pragma once

#include "core/bytes.h"

/* Writes a byte, 0 or 1, for each of `count` bits. */
void mask_write(const uint64_t *bits, uint32_t count, uint8_t *mask);
void mask_write_plain(const uint64_t *bits, uint32_t count, uint8_t *mask);

/* Writes 64 bytes of which each has the value 1, 2 and 4 for its bit in the words. */
void planes_write(uint64_t ones, uint64_t twos, uint64_t fours, uint8_t *out);

/* Writes of 64 bytes by how much they are more than `value`, and 0 for those that are not or whose
 * bit is not set. */
void excess_write(const uint8_t bytes[64], uint8_t value, uint64_t bits, uint8_t *out);
void excess_write_plain(const uint8_t bytes[64], uint8_t value, uint64_t bits, uint8_t *out);

/* Writes byte number b of `map` for each of `count` bytes b, which are at most `most`, below 8.
 * Byte 0 of the map is 0. */
typedef struct ByteMap {
    uint64_t map;
    uint32_t most;
} ByteMap;
void map_write(const uint8_t *bytes, uint32_t count, ByteMap map, uint8_t *out);
void map_write_plain(const uint8_t *bytes, uint32_t count, ByteMap map, uint8_t *out);

/* The plain version of ty_sample. */
uint32_t sample_plain(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter);

/* Writes `count` bytes that are 0 or 1 as bits, the first one's lowest. */
void mask_pack(const uint8_t *mask, uint32_t count, uint8_t *bits);
void mask_pack_plain(const uint8_t *mask, uint32_t count, uint8_t *bits);

/* ty_sample of a mask that is bits. */
uint32_t sample_bits(const uint8_t *bits, uint32_t count, uint64_t seed, uint64_t counter);
uint32_t sample_bits_plain(const uint8_t *bits, uint32_t count, uint64_t seed, uint64_t counter);
