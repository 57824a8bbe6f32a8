/* Bytes and bits: the same result on every machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void store_le16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
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

static inline uint64_t load_le64(const uint8_t *bytes)
{
    uint64_t value = 0;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static inline void store_le64(uint8_t *out, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(out, &value, sizeof value);
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

/* Bits 0..7 as the bytes, 0 or 1, of a little-endian word. */
static inline uint64_t bits_spread(uint64_t bits)
{
    uint64_t spread = ((bits & 0xff) * 0x0101010101010101u) & 0x8040201008040201u;
    return ((spread + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
}

/* Writes bit i of `bits` as byte i, 0 or 1, for i below `count`. */
static inline void bits_expand(uint64_t bits, uint32_t count, uint8_t *out)
{
    uint32_t whole = count & ~7u;
    for (uint32_t i = 0; i < whole; i += 8) {
        store_le64(out + i, bits_spread(bits >> i));
    }
    for (uint32_t i = whole; i < count; i++) {
        out[i] = bits >> i & 1;
    }
}

/* The same for all 64 bits, into a buffer that is zero already: only the words between the first
 * bit that is set and the last are written. */
static inline void bits_expand_set(uint64_t bits, uint8_t *out)
{
    uint32_t first = bits == 0 ? 64 : (uint32_t)__builtin_ctzll(bits) & ~7u;
    uint32_t end = bits == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bits);
    for (uint32_t i = first; i < end; i += 8) {
        store_le64(out + i, bits_spread(bits >> i));
    }
}
