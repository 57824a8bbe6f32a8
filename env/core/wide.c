/* Masks and rows, 64 bytes at a time. */
#include "core/wide.h"

#include "core/draw.h"
#include "core/processor.h"

/* ---- In smaller pieces ---- */

/* Writes `count` bits by `expand`, which writes 64 of them. The last 64 overlap with those before
 * them. */
INLINE void bits_write(const uint64_t *bits, uint32_t count, uint8_t *mask,
                       void (*expand)(uint64_t bits, uint8_t *out))
{
    uint32_t whole = count / 64;
    uint32_t rest = count % 64;
    for (uint32_t i = 0; i < whole; i++) {
        expand(bits[i], mask + (size_t)i * 64);
    }
    if (whole == 0) {
        bits_expand(bits[0], count, mask);
    } else if (rest > 0) {
        expand(bits[whole - 1] >> rest | bits[whole] << (64 - rest), mask + count - 64);
    }
}

void mask_write_plain(const uint64_t *bits, uint32_t count, uint8_t *mask)
{
    bits_write(bits, count, mask, bits_expand_64);
}

void excess_write_plain(const uint8_t bytes[64], uint8_t value, uint64_t bits, uint8_t *out)
{
    BitPlane plane = bits_plane(bits);
    for (uint32_t i = 0; i < 4; i++) {
        BytesOf16 part;
        memcpy(&part, bytes + (size_t)i * 16, sizeof part);
        part = (part - value) & (BytesOf16)(part > value) & plane_bytes(&plane, i, UINT8_MAX);
        memcpy(out + (size_t)i * 16, &part, sizeof part);
    }
}

INLINE void map_sixteen(const uint8_t *bytes, ByteMap map, uint8_t *out)
{
    BytesOf16 from;
    BytesOf16 to = {0};
    memcpy(&from, bytes, sizeof from);
    for (uint32_t i = 1; i <= map.most; i++) {
        to |= (BytesOf16)(from == (uint8_t)i) & (uint8_t)(map.map >> (8 * i));
    }
    memcpy(out, &to, sizeof to);
}

INLINE void map_pieces(const uint8_t *bytes, uint32_t count, ByteMap map, uint8_t *out)
{
    for (uint32_t i = 0; i < count && count < 16; i++) {
        out[i] = (uint8_t)(map.map >> (8 * bytes[i]));
    }
    for (uint32_t i = 0; i + 16 < count; i += 16) {
        map_sixteen(bytes + i, map, out + i);
    }
    if (count >= 16) { /* the last sixteen overlap with those before them */
        map_sixteen(bytes + count - 16, map, out + count - 16);
    }
}

/* Two values are the most frequent case, and have no loop. */
void map_write_plain(const uint8_t *bytes, uint32_t count, ByteMap map, uint8_t *out)
{
    if (map.most == 2) {
        map_pieces(bytes, count, (ByteMap){map.map, 2}, out);
    } else {
        map_pieces(bytes, count, map, out);
    }
}

/* ---- Masks that are bits ---- */

/* Gathers the lowest bits of eight bytes, the first one's lowest: in the product each of them gets
 * to a place of its own in the highest byte, and nothing is carried. */
INLINE uint8_t bytes_gather(uint64_t bytes)
{
    return (uint8_t)(bytes * UINT64_C(0x0102040810204080) >> 56);
}

void mask_pack_plain(const uint8_t *mask, uint32_t count, uint8_t *bits)
{
    uint32_t whole = count / 8;
    uint32_t done = 0;
#ifdef __SSE2__ /* sixteen at a time, which is four times as fast */
    for (; done + 2 <= whole; done += 2) {
        BytesOf16 bytes = bytes_load(mask + (size_t)done * 8);
        store_le16(bits + done, (uint16_t)bytes_high((BytesOf16)(bytes << 7)));
    }
#endif
    for (; done < whole; done++) {
        bits[done] = bytes_gather(load_le64(mask + (size_t)done * 8));
    }
    if (count % 8 != 0) {
        uint8_t last[8] = {0};
        memcpy(last, mask + (size_t)whole * 8, count % 8);
        bits[whole] = bytes_gather(load_le64(last));
    }
}

/* Reads `count` bits into words, and says which word is the last. */
INLINE uint32_t words_load(const uint8_t *bits, uint32_t count, uint64_t *words)
{
    uint32_t last = (count - 1) / 64;
    words[last] = 0;
    memcpy(words, bits, (count + 7) / 8);
    for (uint32_t i = 0; i <= last; i++) {
        words[i] = load_le64((const uint8_t *)&words[i]);
    }
    return last;
}

uint32_t sample_bits_plain(const uint8_t *bits, uint32_t count, uint64_t seed, uint64_t counter)
{
    uint64_t words[TY_ACTIONS_MAX / 64 + 1];
    uint32_t counts[TY_ACTIONS_MAX / 64 + 1];
    uint32_t last = words_load(bits, count, words);
    uint32_t total = 0;
    uint32_t word = 0;
    for (uint32_t i = 0; i <= last; i++) {
        counts[i] = bits_count(words[i]);
        total += counts[i];
    }
    uint32_t skip = sample_below(total, seed, counter);
    while (word < last && skip >= counts[word]) {
        skip -= counts[word++];
    }
    return total > 0 ? word * 64 + bits_select(words[word], skip) : 0;
}

#if defined(__x86_64__)

#include <immintrin.h>

/* ---- Finding by instructions ---- */

#define FINDS __attribute__((target("bmi,bmi2,popcnt")))

/* Loops that are as long as a mask has words: vector code for so few costs more than it saves. */
#if defined(__clang__)
#define SHORT_LOOPS
#else
#define SHORT_LOOPS __attribute__((optimize("no-tree-vectorize")))
#endif

/* A random one of the bits in words 0 to `last`; 0 if there is none. */
FINDS SHORT_LOOPS INLINE uint32_t words_sample(const uint64_t *words, uint32_t last, uint64_t seed,
                                               uint64_t counter)
{
    uint32_t sums[TY_ACTIONS_MAX / 64 + 1]; /* before each word */
    uint32_t total = 0;
    uint32_t word = 0;
    for (uint32_t i = 0; i <= last; i++) {
        sums[i] = total;
        total += (uint32_t)_mm_popcnt_u64(words[i]);
    }
    if (total == 0) {
        return 0;
    }
    uint32_t skip = sample_below(total, seed, counter);
    for (uint32_t i = 1; i <= last; i++) {
        word += skip >= sums[i];
    }
    uint64_t chosen = _pdep_u64(UINT64_C(1) << (skip - sums[word]), words[word]);
    return word * 64 + (uint32_t)_tzcnt_u64(chosen);
}

/* Reads `size` bytes of bits, at least eight, as words 0 to `last`, and chooses. The last word is
 * read with bytes before it, which are shifted out. */
FINDS SHORT_LOOPS INLINE uint32_t bits_sample(const uint8_t *bits, uint32_t size, uint32_t last,
                                              uint64_t seed, uint64_t counter)
{
    uint64_t words[TY_ACTIONS_MAX / 64 + 1];
    for (uint32_t i = 0; i < last; i++) {
        words[i] = load_le64(bits + (size_t)i * 8);
    }
    words[last] = load_le64(bits + size - 8) >> (64 - (size - last * 8) * 8);
    return words_sample(words, last, seed, counter);
}

/* For the usual numbers of words there are no loops over them. */
FINDS static uint32_t sample_bits_finds(const uint8_t *bits, uint32_t count, uint64_t seed,
                                        uint64_t counter)
{
    uint32_t size = (count + 7) / 8;
    switch ((count - 1) / 64) {
    case 0:
        return sample_bits_plain(bits, count, seed, counter);
    case 1:
        return bits_sample(bits, size, 1, seed, counter);
    case 2:
        return bits_sample(bits, size, 2, seed, counter);
    case 3:
        return bits_sample(bits, size, 3, seed, counter);
    default:
        return bits_sample(bits, size, (count - 1) / 64, seed, counter);
    }
}

/* The mask becomes words of bits by `gather`, which makes one of the next `rest` bytes. */
FINDS SHORT_LOOPS INLINE uint32_t mask_sample(const uint8_t *mask, uint32_t count, uint32_t last,
                                              uint64_t seed, uint64_t counter,
                                              uint64_t (*gather)(const uint8_t *mask,
                                                                 uint32_t rest))
{
    uint64_t words[TY_ACTIONS_MAX / 64 + 1];
    for (uint32_t i = 0; i < last; i++) {
        words[i] = gather(mask + (size_t)i * 64, 64);
    }
    words[last] = gather(mask + (size_t)last * 64, count % 64);
    return words_sample(words, last, seed, counter);
}

/* For the usual numbers of words there are no loops over them. */
FINDS INLINE uint32_t sample_by(const uint8_t *mask, uint32_t count, uint64_t seed,
                                uint64_t counter,
                                uint64_t (*gather)(const uint8_t *mask, uint32_t rest))
{
    switch (count / 64) {
    case 1:
        return mask_sample(mask, count, 1, seed, counter, gather);
    case 2:
        return mask_sample(mask, count, 2, seed, counter, gather);
    case 3:
        return mask_sample(mask, count, 3, seed, counter, gather);
    default:
        return mask_sample(mask, count, count / 64, seed, counter, gather);
    }
}

/* ---- In halves ---- */

#define HALVES __attribute__((target("avx2,bmi,bmi2,popcnt")))

static inline bool halves(void)
{
    return processor_avx2 && processor_pdep;
}

HALVES static inline __m256i half_load(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

HALVES static inline void half_store(uint8_t *out, __m256i bytes)
{
    _mm256_storeu_si256((__m256i *)(void *)out, bytes);
}

/* `value` in the bytes whose bits are set, 0 in the others. */
HALVES static inline __m256i half_set(uint32_t bits, uint8_t value)
{
    const __m256i byte =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
    __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), byte);
    __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
    return _mm256_and_si256(set, _mm256_set1_epi8((char)value));
}

HALVES static inline void expand_halves(uint64_t bits, uint8_t *out)
{
    half_store(out, half_set((uint32_t)bits, 1));
    half_store(out + 32, half_set((uint32_t)(bits >> 32), 1));
}

HALVES static void mask_write_halves(const uint64_t *bits, uint32_t count, uint8_t *mask)
{
    bits_write(bits, count, mask, expand_halves);
}

HALVES static void planes_write_halves(uint64_t ones, uint64_t twos, uint64_t fours, uint8_t *out)
{
    for (uint32_t i = 0; i < 64; i += 32) {
        __m256i bytes = half_set((uint32_t)(ones >> i), 1);
        bytes = _mm256_or_si256(bytes, half_set((uint32_t)(twos >> i), 2));
        half_store(out + i, _mm256_or_si256(bytes, half_set((uint32_t)(fours >> i), 4)));
    }
}

HALVES static void excess_write_halves(const uint8_t bytes[64], uint8_t value, uint64_t bits,
                                       uint8_t *out)
{
    __m256i less = _mm256_set1_epi8((char)value);
    for (uint32_t i = 0; i < 64; i += 32) {
        __m256i more = _mm256_subs_epu8(half_load(bytes + i), less);
        half_store(out + i, _mm256_and_si256(more, half_set((uint32_t)(bits >> i), UINT8_MAX)));
    }
}

/* In pieces of which the last overlaps with the one before it. */
HALVES static void map_write_halves(const uint8_t *bytes, uint32_t count, ByteMap map, uint8_t *out)
{
    __m256i table = _mm256_set1_epi64x((long long)map.map);
    if (count < 32) {
        map_write_plain(bytes, count, map, out);
        return;
    }
    for (uint32_t i = 0; i + 32 < count; i += 32) {
        half_store(out + i, _mm256_shuffle_epi8(table, half_load(bytes + i)));
    }
    half_store(out + count - 32, _mm256_shuffle_epi8(table, half_load(bytes + count - 32)));
}

HALVES static inline uint64_t half_gather(const uint8_t *mask)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(half_load(mask), 7));
}

/* The last word is read with bytes before it, which exist. */
HALVES static inline uint64_t gather_halves(const uint8_t *mask, uint32_t rest)
{
    const uint8_t *first = mask + rest - 64;
    uint64_t word = half_gather(first) | half_gather(first + 32) << 32;
    return rest == 0 ? 0 : word >> (64 - rest);
}

HALVES static uint32_t sample_halves(const uint8_t *mask, uint32_t count, uint64_t seed,
                                     uint64_t counter)
{
    return count < 64 ? sample_plain(mask, count, seed, counter)
                      : sample_by(mask, count, seed, counter, gather_halves);
}

/* ---- All at once ---- */

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt")))

static inline bool wide(void)
{
    return processor_avx512;
}

WIDE static inline void expand_wide(uint64_t bits, uint8_t *out)
{
    _mm512_storeu_si512(out, _mm512_maskz_set1_epi8(bits, 1));
}

WIDE static void mask_write_wide(const uint64_t *bits, uint32_t count, uint8_t *mask)
{
    bits_write(bits, count, mask, expand_wide);
}

WIDE static void planes_write_wide(uint64_t ones, uint64_t twos, uint64_t fours, uint8_t *out)
{
    __m512i bytes = _mm512_maskz_set1_epi8(ones, 1);
    bytes = _mm512_or_si512(bytes, _mm512_maskz_set1_epi8(twos, 2));
    bytes = _mm512_or_si512(bytes, _mm512_maskz_set1_epi8(fours, 4));
    _mm512_storeu_si512(out, bytes);
}

WIDE static void excess_write_wide(const uint8_t bytes[64], uint8_t value, uint64_t bits,
                                   uint8_t *out)
{
    __m512i less = _mm512_set1_epi8((char)value);
    _mm512_storeu_si512(out, _mm512_maskz_subs_epu8(bits, _mm512_loadu_si512(bytes), less));
}

WIDE static inline void map_64(const uint8_t *bytes, __m512i map, uint8_t *out)
{
    _mm512_storeu_si512(out, _mm512_shuffle_epi8(map, _mm512_loadu_si512(bytes)));
}

WIDE static void map_write_wide(const uint8_t *bytes, uint32_t count, ByteMap map, uint8_t *out)
{
    __m512i table = _mm512_set1_epi64((long long)map.map);
    if (count < 64) {
        map_write_halves(bytes, count, map, out);
        return;
    }
    for (uint32_t i = 0; i + 64 < count; i += 64) {
        map_64(bytes + i, table, out + i);
    }
    map_64(bytes + count - 64, table, out + count - 64);
}

WIDE static inline uint64_t gather_wide(const uint8_t *mask, uint32_t rest)
{
    __m512i bytes = _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, rest), mask);
    return _mm512_test_epi8_mask(bytes, bytes);
}

WIDE static uint32_t sample_wide(const uint8_t *mask, uint32_t count, uint64_t seed,
                                 uint64_t counter)
{
    return sample_by(mask, count, seed, counter, gather_wide);
}

WIDE static void mask_pack_wide(const uint8_t *mask, uint32_t count, uint8_t *bits)
{
    uint32_t whole = count / 64;
    for (uint32_t i = 0; i <= whole; i++) {
        uint32_t here = i < whole ? 64 : count % 64;
        __mmask64 inside = i < whole ? UINT64_MAX : (UINT64_C(1) << here) - 1;
        __m512i bytes = _mm512_maskz_loadu_epi8(inside, mask + (size_t)i * 64);
        __m128i word = _mm_cvtsi64_si128((long long)_mm512_test_epi8_mask(bytes, bytes));
        _mm_mask_storeu_epi8(bits + (size_t)i * 8, (__mmask16)((1u << (here + 7) / 8) - 1), word);
    }
}

/* What needs nothing but to find, or no more than what every processor has. */
#define planes_write_plain bits_expand_planes
#define sample_bits_halves sample_bits_finds
#define sample_bits_wide sample_bits_finds
#define mask_pack_halves mask_pack_plain

#define CHOOSE(name) (wide() ? name##_wide : halves() ? name##_halves : name##_plain)

#else

#define planes_write_plain bits_expand_planes
#define CHOOSE(name) name##_plain

#endif

/* ---- Any of them ---- */

void mask_write(const uint64_t *bits, uint32_t count, uint8_t *mask)
{
    CHOOSE(mask_write)(bits, count, mask);
}

void planes_write(uint64_t ones, uint64_t twos, uint64_t fours, uint8_t *out)
{
    CHOOSE(planes_write)(ones, twos, fours, out);
}

void excess_write(const uint8_t bytes[64], uint8_t value, uint64_t bits, uint8_t *out)
{
    CHOOSE(excess_write)(bytes, value, bits, out);
}

void map_write(const uint8_t *bytes, uint32_t count, ByteMap map, uint8_t *out)
{
    CHOOSE(map_write)(bytes, count, map, out);
}

uint32_t ty_sample(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter)
{
    return CHOOSE(sample)(mask, count, seed, counter);
}

uint32_t sample_bits(const uint8_t *bits, uint32_t count, uint64_t seed, uint64_t counter)
{
    return CHOOSE(sample_bits)(bits, count, seed, counter);
}

void mask_pack(const uint8_t *mask, uint32_t count, uint8_t *bits)
{
    /* NOLINTNEXTLINE(bugprone-branch-clone): halves are packed by the plain one */
    CHOOSE(mask_pack)(mask, count, bits);
}
