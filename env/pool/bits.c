/* Masks as bits: an eighth of the bytes, for messages. */
#include "core/hash.h"
#include "core/wide.h"
#include "pool/pool_internal.h"

#define EACH_BYTE(VALUE) (UINT64_C(0x0101010101010101) * (VALUE))

/* Byte i gets 1 << i or nothing, and then 1 or 0. */
static inline uint64_t bits_scatter(uint8_t bits)
{
    uint64_t bytes = EACH_BYTE(bits) & UINT64_C(0x8040201008040201);
    return (bytes + EACH_BYTE(0x7f)) >> 7 & EACH_BYTE(1);
}

void ty_mask_pack(const uint8_t *mask, uint32_t width, uint8_t *bits)
{
    mask_pack(mask, width, bits);
}

void ty_mask_unpack(const uint8_t *bits, uint32_t width, uint32_t rows, uint8_t *masks)
{
    uint32_t whole = width / 8;
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < whole; i++) {
            store_le64(masks + (size_t)i * 8, bits_scatter(bits[i]));
        }
        if (width % 8 != 0) {
            uint8_t last[8];
            store_le64(last, bits_scatter(bits[whole]));
            memcpy(masks + (size_t)whole * 8, last, width % 8);
        }
        bits += ty_mask_bits_size(width);
        masks += width;
    }
}

int32_t ty_sample_row_bits(const uint8_t *bits, uint32_t width, uint64_t seed, TyRowKey key)
{
    uint64_t counter = (uint64_t)key.episode << 32 | key.step;
    return (int32_t)sample_bits(bits, width, seed + hash_mix(key.slot + 1u), counter);
}
