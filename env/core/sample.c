/* Taking a random entry of a mask. */
#include "core/draw.h"
#include "core/wide.h"

#include <string.h>

/* The loops here are as long as a mask has chunks: vector code for so few costs more than it saves.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize")
#endif

#ifndef __SSE2__
typedef uint64_t Words __attribute__((vector_size(16)));
#endif

/* How many of 64 bytes, 0 or 1, are set. */
static inline uint32_t chunk_sum(BytesOf16 a, BytesOf16 b, BytesOf16 c, BytesOf16 d)
{
    BytesOf16 all = a + b + (c + d);
#ifdef __SSE2__
    __m128i sums = _mm_sad_epu8((__m128i)all, _mm_setzero_si128());
    return (uint32_t)(_mm_cvtsi128_si32(sums) + _mm_extract_epi16(sums, 4));
#else
    Words sum = (Words)all;
    return bytes_sum(sum[0] + sum[1]);
#endif
}

/* The same for those from `mask` on. */
static inline uint32_t chunk_count(const uint8_t *mask)
{
    return chunk_sum(bytes_load(mask), bytes_load(mask + 16), bytes_load(mask + 32),
                     bytes_load(mask + 48));
}

/* How many bytes are set in each of the eight words of 64 bytes, as the bytes of a word. */
static inline uint64_t chunk_counts(const uint8_t *mask)
{
#ifdef __SSE2__
    const __m128i *part = (const __m128i *)(const void *)mask;
    const __m128i zero = _mm_setzero_si128();
    __m128i a = _mm_sad_epu8(_mm_loadu_si128(part), zero);
    __m128i b = _mm_sad_epu8(_mm_loadu_si128(part + 1), zero);
    __m128i c = _mm_sad_epu8(_mm_loadu_si128(part + 2), zero);
    __m128i d = _mm_sad_epu8(_mm_loadu_si128(part + 3), zero);
    __m128i words = _mm_packs_epi32(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
    return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(words, zero));
#else
    uint64_t counts = 0;
    for (uint32_t i = 0; i < 8; i++) {
        counts |= (uint64_t)bytes_sum(load_le64(mask + (size_t)i * 8)) << (8 * i);
    }
    return counts;
#endif
}

/* The position of set byte number `skip` among the 64 bytes from `mask` on. */
static inline uint32_t chunk_select(const uint8_t *mask, uint32_t skip)
{
    uint64_t counts = chunk_counts(mask);
    uint32_t word = bytes_select(counts, &skip);
    return word * 8 + bytes_select(load_le64(mask + (size_t)word * 8), &skip);
}

static uint32_t sample_short(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter)
{
    uint8_t chunk[64] = {0};
    memcpy(chunk, mask, count);
    uint32_t total = chunk_count(chunk);
    return total == 0 ? 0 : chunk_select(chunk, sample_below(total, seed, counter));
}

/* Of 64 bytes: how many are set, and how many among the last `rest`. */
typedef struct EdgeSums {
    uint32_t all;
    uint32_t rest;
} EdgeSums;

static inline EdgeSums chunk_edge(const uint8_t *mask, uint32_t rest)
{
    static const uint8_t edge[128] = {
        [64] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1,        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1,        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    };
    const uint8_t *own = edge + rest;
    BytesOf16 a = bytes_load(mask);
    BytesOf16 b = bytes_load(mask + 16);
    BytesOf16 c = bytes_load(mask + 32);
    BytesOf16 d = bytes_load(mask + 48);
    return (EdgeSums){.all = chunk_sum(a, b, c, d),
                      .rest = chunk_sum(a & bytes_load(own), b & bytes_load(own + 16),
                                        c & bytes_load(own + 32), d & bytes_load(own + 48))};
}

/* By chunks of 64 bytes, of which the last ends where the mask does: what it shares with the one
 * before it is passed over. No branch depends on the mask: they would all be mispredicted. */
uint32_t sample_plain(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter)
{
    uint32_t sums[TY_ACTIONS_MAX / 64 + 1]; /* before each chunk */
    uint32_t whole = count / 64;
    uint32_t total = 0;
    uint32_t chunk = 0;
    if (whole == 0) {
        return sample_short(mask, count, seed, counter);
    }
    for (uint32_t i = 0; i < whole; i++) {
        sums[i] = total;
        total += chunk_count(mask + (size_t)i * 64);
    }
    sums[whole] = total;
    EdgeSums last = chunk_edge(mask + count - 64, count % 64);
    total += last.rest;
    if (total == 0) {
        return 0;
    }
    uint32_t skip = sample_below(total, seed, counter);
    for (uint32_t i = 1; i <= whole; i++) {
        chunk += skip >= sums[i];
    }
    uint32_t shared = (last.all - last.rest) & (0u - (chunk == whole));
    uint32_t first = chunk * 64 < count - 64 ? chunk * 64 : count - 64;
    return first + chunk_select(mask + first, skip - sums[chunk] + shared);
}
