/* Bytes and bits: the same result on every machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* For parts of a function that is built for several constants, such as a number of players: in each
 * of them the compiler sees the constant, unrolls the loops and drops the cases. */
#define INLINE static inline __attribute__((always_inline))
/* For what is seldom called from something short: inlined there, it would make it save registers.
 */
#define SELDOM __attribute__((noinline))

static inline void store_le16(uint8_t *out, uint16_t value)
{
    const uint8_t bytes[2] = {(uint8_t)value, (uint8_t)(value >> 8)};
    memcpy(out, bytes, sizeof bytes);
}

static inline uint16_t load_le16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline void store_le32(uint8_t *out, uint32_t value)
{
    store_le16(out, (uint16_t)value);
    store_le16(out + 2, (uint16_t)(value >> 16));
}

static inline uint32_t load_le32(const uint8_t *bytes)
{
    return load_le16(bytes) | (uint32_t)load_le16(bytes + 2) << 16;
}

/* From a number to the word that lies in memory with its lowest byte first, and back. */
static inline uint64_t word_le64(uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(value);
#else
    return value;
#endif
}

static inline uint64_t load_le64(const uint8_t *bytes)
{
    uint64_t word = 0;
    memcpy(&word, bytes, sizeof word);
    return word_le64(word);
}

static inline void store_le64(uint8_t *out, uint64_t value)
{
    uint64_t word = word_le64(value);
    memcpy(out, &word, sizeof word);
}

/* Copies `size` bytes, at most 32, without a call: two copies that overlap. */
static inline void copy_small(uint8_t *out, const uint8_t *bytes, size_t size)
{
    if (size >= 16) {
        memcpy(out, bytes, 16);
        memcpy(out + size - 16, bytes + size - 16, 16);
    } else if (size >= 8) {
        memcpy(out, bytes, 8);
        memcpy(out + size - 8, bytes + size - 8, 8);
    } else {
        for (size_t i = 0; i < size; i++) {
            out[i] = bytes[i];
        }
    }
}

/* True if exactly one bit is set. */
static inline bool bits_single(uint64_t bits)
{
    return bits != 0 && (bits & (bits - 1)) == 0;
}

/* `bits` if the condition holds, otherwise none: where a condition is as good as random, a branch
 * would be mispredicted half of the time, and compilers make one of `?:` when they like. */
static inline uint64_t bits_if(bool condition, uint64_t bits)
{
    return bits & (0u - (uint64_t)condition);
}

/* The value, in a register of its own. Compilers like to load and store neighbouring words as one
 * vector; if they were just written one by one, that load has to wait until they have reached the
 * cache. */
static inline uint64_t word_alone(uint64_t word)
{
    __asm__("" : "+r"(word));
    return word;
}

/* Sets bit `first` + i of a set in words for each bit i of `bits`. Without asking whether some fall
 * into the next word, which exists. */
static inline void bits_put(uint64_t *words, uint32_t first, uint64_t bits)
{
    uint64_t *word = words + (first >> 6);
    word[0] = word_alone(word[0]) | bits << (first & 63);
    word[1] = word_alone(word[1]) | bits >> 1 >> (63 - (first & 63));
}

/* Bits 0..7 as the bytes, 0 or 1, of a little-endian word. */
static inline uint64_t bits_spread(uint64_t bits)
{
    uint64_t spread = ((bits & 0xff) * 0x0101010101010101u) & 0x8040201008040201u;
    return ((spread + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
}

/* Writes bit i of `bits` as byte i, 0 or 1, for i below `count`. */
static inline void bits_expand(uint64_t bits, uint32_t count, uint8_t *out)
{
    for (uint32_t i = 0; i < (count & ~7u); i += 8) {
        store_le64(out + i, bits_spread(bits >> i));
    }
    if (count >= 8) { /* the last eight overlap with those before them */
        store_le64(out + count - 8, bits_spread(bits >> (count - 8)));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i] = bits >> i & 1;
    }
}

/* Sixteen bytes at once. */
typedef uint8_t BytesOf16 __attribute__((vector_size(16)));

/* Which bytes have their highest bit, as bits. */
static inline uint32_t bytes_high(BytesOf16 bytes)
{
#ifdef __SSE2__
    return (uint32_t)_mm_movemask_epi8((__m128i)bytes);
#else
    uint32_t high = 0;
    for (uint32_t i = 0; i < 16; i++) {
        high |= (uint32_t)(bytes[i] >> 7) << i;
    }
    return high;
#endif
}

static inline BytesOf16 bytes_load(const uint8_t *from)
{
    BytesOf16 bytes;
    memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

/* For each of 64 bits eight equal bytes that have it among the bits 1, 2, 4, ... of a byte. */
typedef struct BitPlane {
    BytesOf16 part[4];
} BitPlane;

static inline BitPlane bits_plane(uint64_t bits)
{
    typedef uint16_t Pairs __attribute__((vector_size(16)));
    typedef uint32_t Quads __attribute__((vector_size(16)));
    typedef uint64_t Words __attribute__((vector_size(16)));
    /* Not through memory: a vector loaded from a word just stored would have to wait. */
    BytesOf16 word = (BytesOf16)(Words){word_le64(bits), 0};
    Pairs pairs =
        (Pairs)__builtin_shufflevector(word, word, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    Quads low = (Quads)__builtin_shufflevector(pairs, pairs, 0, 0, 1, 1, 2, 2, 3, 3);
    Quads high = (Quads)__builtin_shufflevector(pairs, pairs, 4, 4, 5, 5, 6, 6, 7, 7);
    return (BitPlane){{
        (BytesOf16)__builtin_shufflevector(low, low, 0, 0, 1, 1),
        (BytesOf16)__builtin_shufflevector(low, low, 2, 2, 3, 3),
        (BytesOf16)__builtin_shufflevector(high, high, 0, 0, 1, 1),
        (BytesOf16)__builtin_shufflevector(high, high, 2, 2, 3, 3),
    }};
}

/* Bytes 16 * `part` and on of a plane: `value` where the bit is set, 0 elsewhere. */
static inline BytesOf16 plane_bytes(const BitPlane *plane, uint32_t part, uint8_t value)
{
    const BytesOf16 bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return (BytesOf16)((plane->part[part] & bit) == bit) & value;
}

/* Writes all 64 bits as bytes, 0 or 1. */
static inline void bits_expand_64(uint64_t bits, uint8_t *out)
{
    BitPlane plane = bits_plane(bits);
    for (uint32_t i = 0; i < 4; i++) {
        BytesOf16 bytes = plane_bytes(&plane, i, 1);
        memcpy(out + (size_t)i * 16, &bytes, sizeof bytes);
    }
}

/* Writes 64 bytes of which each has the value 1, 2 and 4 for its bit in the words. */
static inline void bits_expand_planes(uint64_t ones, uint64_t twos, uint64_t fours, uint8_t *out)
{
    BitPlane one = bits_plane(ones);
    BitPlane two = bits_plane(twos);
    BitPlane four = bits_plane(fours);
    for (uint32_t i = 0; i < 4; i++) {
        BytesOf16 bytes =
            plane_bytes(&one, i, 1) | plane_bytes(&two, i, 2) | plane_bytes(&four, i, 4);
        memcpy(out + (size_t)i * 16, &bytes, sizeof bytes);
    }
}

/* Eight bytes, 0 or 1, as bits 0..7. */
static inline uint64_t bits_gather(const uint8_t bytes[8])
{
    return load_le64(bytes) * 0x0102040810204080u >> 56;
}

/* Which of 64 bytes are `value`, as bits. */
static inline uint64_t bytes_equal_64(const uint8_t bytes[64], uint8_t value)
{
    uint64_t equal = 0;
#ifdef __SSE2__
    for (uint32_t i = 0; i < 4; i++) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + (size_t)i * 16));
        __m128i same = _mm_cmpeq_epi8(part, _mm_set1_epi8((char)value));
        equal |= (uint64_t)(uint32_t)_mm_movemask_epi8(same) << (16 * i);
    }
#else
    for (uint32_t i = 0; i < 64; i++) {
        equal |= (uint64_t)(bytes[i] == value) << i;
    }
#endif
    return equal;
}

/* ---- Finding the nth -------------------------------------------------------------------------
 * Without branches: which one is wanted is random, so each of them would be mispredicted. */

/* The sum of the eight bytes of `word`, which is below 256. */
static inline uint32_t bytes_sum(uint64_t word)
{
    return (uint32_t)((word * 0x0101010101010101u) >> 56);
}

/* Which of the eight counts in the bytes of `counts` item number `skip` falls into, when counting
 * from the first; takes the counts before it off `skip`. Their sum is at most 127. */
static inline uint32_t bytes_select(uint64_t counts, uint32_t *skip)
{
    uint64_t sums = counts * 0x0101010101010101u;
    uint64_t passed = ((*skip | 0x80) * 0x0101010101010101u - sums) >> 7 & 0x0101010101010101u;
    uint32_t index = bytes_sum(passed);
    *skip -= (uint32_t)((sums << 8) >> (8 * index)) & 0xff;
    return index;
}

/* How many bits are set in each byte. */
static inline uint64_t bits_count_bytes(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

/* How many bits are set: a few steps where processors without an instruction for it make a call. */
static inline uint32_t bits_count(uint64_t bits)
{
    return bytes_sum(bits_count_bytes(bits));
}

/* The position of set bit number `skip`, which is below their number. */
static inline uint32_t bits_select(uint64_t bits, uint32_t skip)
{
    uint32_t byte = bytes_select(bits_count_bytes(bits), &skip);
    return byte * 8 + bytes_select(bits_spread(bits >> (8 * byte)), &skip);
}
