/* Masks as bits: an eighth of the bytes, for messages. */
#include "core/bytes.h"
#include "core/draw.h"
#include "pool/pool_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define EACH_BYTE(VALUE) (UINT64_C(0x0101010101010101) * (VALUE))

/* ---- Bytes and bits ---- */

/* Gathers the lowest bits of eight bytes, the first one's lowest: in the product each of them gets
 * to a place of its own in the highest byte, and nothing is carried. */
static inline uint8_t bytes_gather(uint64_t bytes)
{
    return (uint8_t)(bytes * UINT64_C(0x0102040810204080) >> 56);
}

/* The opposite: byte i gets 1 << i or nothing, and then 1 or 0. */
static inline uint64_t bits_scatter(uint8_t bits)
{
    uint64_t bytes = EACH_BYTE(bits) & UINT64_C(0x8040201008040201);
    return (bytes + EACH_BYTE(0x7f)) >> 7 & EACH_BYTE(1);
}

/* Packs from byte `done` of the bits on. */
static void mask_pack_from(const uint8_t *mask, uint32_t width, uint8_t *bits, uint32_t done)
{
    uint32_t whole = width / 8;
    for (uint32_t i = done; i < whole; i++) {
        bits[i] = bytes_gather(load_le64(mask + (size_t)i * 8));
    }
    if (width % 8 != 0) {
        uint8_t last[8] = {0};
        memcpy(last, mask + (size_t)whole * 8, width % 8);
        bits[whole] = bytes_gather(load_le64(last));
    }
}

void ty_mask_pack(const uint8_t *mask, uint32_t width, uint8_t *bits)
{
    uint32_t done = 0;
#ifdef __SSE2__
    /* Sixteen at a time, which is four times as fast. */
    for (; done + 2 <= width / 8; done += 2) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(mask + (size_t)done * 8));
        store_le16(bits + done, (uint16_t)_mm_movemask_epi8(_mm_slli_epi16(bytes, 7)));
    }
#endif
    mask_pack_from(mask, width, bits, done);
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

/* ---- Sampling ---- */

/* The draw of ty_sample_row: how many legal actions come before the chosen one. */
static uint32_t sample_skip(uint64_t seed, TyRowKey key, uint32_t total)
{
    uint64_t counter = (uint64_t)key.episode << 32 | key.step;
    uint64_t value = draw_value(seed + hash_mix(key.slot + 1u), TY_STREAMS_MAX, counter);
    return (uint32_t)((value >> 32) * total >> 32);
}

int32_t ty_sample_row_bits(const uint8_t *bits, uint32_t width, uint64_t seed, TyRowKey key)
{
    uint64_t words[TY_ACTIONS_MAX / 64 + 1];
    uint32_t counts[TY_ACTIONS_MAX / 64 + 1];
    uint32_t count = (width + 63) / 64;
    uint32_t total = 0;
    words[count - 1] = 0;
    memcpy(words, bits, ty_mask_bits_size(width));
    for (uint32_t i = 0; i < count; i++) {
        words[i] = load_le64((const uint8_t *)&words[i]);
        counts[i] = bits_count(words[i]);
        total += counts[i];
    }
    uint32_t skip = sample_skip(seed, key, total);
    uint32_t word = 0;
    while (word + 1 < count && skip >= counts[word]) {
        skip -= counts[word++];
    }
    return total > 0 ? (int32_t)(word * 64 + bits_select(words[word], skip)) : 0;
}
