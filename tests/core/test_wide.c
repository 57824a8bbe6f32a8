/* Tricks with bits and bytes, each against the plain way: in small pieces, and 32 and 64 bytes at a
 * time where the processor can. */
#include "core/draw.h"
#include "core/processor.h"
#include "core/wide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The plain way: count, draw, and walk to the one that was drawn. */
static uint32_t sample_plainly(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += mask[i];
    }
    uint64_t value = draw_value(seed, TY_STREAMS_MAX, counter) >> 32;
    uint32_t skip = (uint32_t)(value * total >> 32);
    for (uint32_t i = 0; i < count; i++) {
        if (mask[i] && skip-- == 0) {
            return i;
        }
    }
    return 0;
}

static void test_sample_is_that_of_the_plain_way(void **unused)
{
    (void)unused;
    uint8_t mask[TY_ACTIONS_MAX];
    for (uint32_t count = 1; count <= TY_ACTIONS_MAX; count += 1 + count / 70) {
        for (uint64_t i = 0; i < 40; i++) {
            uint64_t dense = i % 4 == 0 ? 255 : i % 4 == 1 ? 128 : i % 4 == 2 ? 3 : 0;
            for (uint32_t entry = 0; entry < count; entry++) {
                mask[entry] = (hash_mix(i * 4099 + entry + count) & 255) < dense;
            }
            uint32_t expected = sample_plainly(mask, count, count, i);
            assert_int_equal(ty_sample(mask, count, count, i), expected);
            assert_int_equal(sample_plain(mask, count, count, i), expected);
        }
    }
}

static void test_planes_of_bits_become_values(void **unused)
{
    (void)unused;
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t planes[3] = {hash_mix(i), hash_mix(i + 1000), hash_mix(i + 2000)};
        uint8_t out[64];
        uint8_t plain[64];
        planes_write(planes[0], planes[1], planes[2], out);
        bits_expand_planes(planes[0], planes[1], planes[2], plain);
        assert_memory_equal(out, plain, sizeof out);
        for (uint32_t bit = 0; bit < 64; bit++) {
            uint64_t value =
                (planes[0] >> bit & 1) + (planes[1] >> bit & 1) * 2 + (planes[2] >> bit & 1) * 4;
            assert_int_equal(out[bit], value);
        }
    }
}

static void test_masks_are_written_bit_by_bit(void **unused)
{
    (void)unused;
    uint64_t bits[TY_ACTIONS_MAX / 64 + 1];
    uint8_t wide[TY_ACTIONS_MAX + 1];
    uint8_t plain[TY_ACTIONS_MAX + 1];
    for (uint32_t count = 1; count <= TY_ACTIONS_MAX; count++) {
        for (uint32_t i = 0; i <= TY_ACTIONS_MAX / 64; i++) {
            bits[i] = hash_mix(count * 64 + i);
        }
        wide[count] = 77;
        plain[count] = 77;
        mask_write(bits, count, wide);
        mask_write_plain(bits, count, plain);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(wide[i], bits[i / 64] >> i % 64 & 1);
        }
        assert_memory_equal(wide, plain, count);
        assert_int_equal(wide[count] + plain[count], 2 * 77);
    }
}

static void test_masks_become_bits(void **unused)
{
    (void)unused;
    uint8_t mask[TY_ACTIONS_MAX];
    uint8_t wide[TY_ACTIONS_MAX / 8 + 2];
    uint8_t plain[TY_ACTIONS_MAX / 8 + 2];
    for (uint32_t count = 1; count <= TY_ACTIONS_MAX; count++) {
        uint32_t size = (count + 7) / 8;
        for (uint32_t i = 0; i < count; i++) {
            mask[i] = hash_mix(count * 1000 + i) % 3 == 0;
        }
        wide[size] = 77;
        plain[size] = 77;
        mask_pack(mask, count, wide);
        mask_pack_plain(mask, count, plain);
        for (uint32_t i = 0; i < size * 8; i++) {
            assert_int_equal(wide[i / 8] >> i % 8 & 1, i < count ? mask[i] : 0);
        }
        assert_memory_equal(wide, plain, size);
        assert_int_equal(wide[size] + plain[size], 2 * 77);
        for (uint64_t counter = 0; counter < 20; counter++) {
            uint32_t drawn = ty_sample(mask, count, count, counter);
            assert_int_equal(sample_bits(wide, count, count, counter), drawn);
            assert_int_equal(sample_bits_plain(wide, count, count, counter), drawn);
        }
    }
}

static void test_excess_is_what_is_more_than_a_value(void **unused)
{
    (void)unused;
    for (uint64_t round = 0; round < 300; round++) {
        uint64_t bits = hash_mix(round);
        uint8_t value = (uint8_t)hash_mix(round + 1000);
        uint8_t bytes[64];
        uint8_t wide[64];
        uint8_t plain[64];
        for (uint32_t i = 0; i < 64; i++) {
            bytes[i] = (uint8_t)hash_mix(round * 64 + i);
        }
        excess_write(bytes, value, bits, wide);
        excess_write_plain(bytes, value, bits, plain);
        for (uint32_t i = 0; i < 64; i++) {
            bool more = bytes[i] > value && (bits >> i & 1) != 0;
            assert_int_equal(wide[i], more ? bytes[i] - value : 0);
        }
        assert_memory_equal(wide, plain, sizeof wide);
        assert_int_equal(bytes_equal_64(bytes, bytes[7]) >> 7 & 1, 1);
        for (uint32_t i = 0; i < 64; i++) {
            assert_int_equal(bytes_equal_64(bytes, value) >> i & 1, bytes[i] == value);
            assert_int_equal(bytes_high(bytes_load(bytes)) >> i % 16 & 1, bytes[i % 16] >> 7);
        }
    }
}

static void test_maps_replace_bytes(void **unused)
{
    (void)unused;
    uint8_t bytes[200];
    uint8_t wide[201];
    uint8_t plain[201];
    for (uint32_t count = 1; count <= sizeof bytes; count++) {
        for (uint32_t most = 1; most < 8; most++) {
            ByteMap map = {.map = hash_mix(count * 8 + most) << 8, .most = most};
            for (uint32_t i = 0; i < count; i++) {
                bytes[i] = (uint8_t)(hash_mix(count + i * 7) % (most + 1));
            }
            wide[count] = 77;
            plain[count] = 77;
            map_write(bytes, count, map, wide);
            map_write_plain(bytes, count, map, plain);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(wide[i], (uint8_t)(map.map >> (8 * bytes[i])));
            }
            assert_memory_equal(wide, plain, count);
            assert_int_equal(wide[count] + plain[count], 2 * 77);
        }
    }
}

static void test_bits_are_put_across_words(void **unused)
{
    (void)unused;
    for (uint32_t first = 0; first < 192; first++) {
        uint64_t words[4] = {0};
        uint64_t bits = hash_mix(first);
        bits_put(words, first, bits);
        for (uint32_t i = 0; i < 256; i++) {
            bool inside = i >= first && i < first + 64;
            assert_int_equal(words[i / 64] >> i % 64 & 1, inside ? bits >> (i - first) & 1 : 0);
        }
        assert_int_equal(bits_if(first % 2 == 0, bits), first % 2 == 0 ? bits : 0);
    }
}

static void test_bits_are_counted_and_found(void **unused)
{
    (void)unused;
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t bits = i == 0 ? UINT64_MAX : hash_mix(i) & hash_mix(i * (i & 3));
        uint32_t found = 0;
        uint8_t bytes[64];
        for (uint32_t bit = 0; bit < 64; bit++) {
            bytes[bit] = bits >> bit & 1;
            if ((bits >> bit & 1) != 0) {
                assert_int_equal(bits_select(bits, found++), bit);
            }
        }
        assert_int_equal(bits_count(bits), found);
        for (uint32_t byte = 0; byte < 8; byte++) {
            assert_int_equal(bits_gather(bytes + 8 * byte), bits >> (8 * byte) & 0xff);
        }
    }
}

static void test_bits_expand_and_copy_small(void **unused)
{
    (void)unused;
    uint8_t out[64];
    uint8_t in[33];
    uint64_t bits = 0x8000000100f0a501u;
    bits_expand(bits, 64, out);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(out[i], bits >> i & 1);
    }
    bits_expand_64(~bits, out);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(out[i], ~bits >> i & 1);
    }
    for (uint32_t i = 0; i < sizeof in; i++) {
        in[i] = (uint8_t)(i + 1);
    }
    for (uint32_t size = 0; size <= 32; size++) {
        memset(out, 0, sizeof out);
        copy_small(out, in, size);
        assert_memory_equal(out, in, size);
        assert_int_equal(out[size], 0);
    }
}

/* What the processor says is what the compiler's runtime finds out. */
static void test_the_processor_is_asked(void **unused)
{
    (void)unused;
#if defined(__x86_64__)
    assert_int_equal(processor_avx2, __builtin_cpu_supports("avx2") != 0);
    assert_int_equal(processor_avx512, __builtin_cpu_supports("avx512vbmi") != 0);
    bool slow =
        __builtin_cpu_is("bdver4") || __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2");
    assert_int_equal(processor_pdep, __builtin_cpu_supports("bmi2") && !slow);
#else
    assert_false(processor_avx2 || processor_pdep || processor_avx512);
#endif
}

/* A processor that can less, for a test. */
static bool processor_has_avx512;

static int wide_forget(void **unused)
{
    (void)unused;
    processor_has_avx512 = processor_avx512;
    processor_avx512 = false;
    return 0;
}

static int wide_remember(void **unused)
{
    (void)unused;
    processor_avx512 = processor_has_avx512;
    return 0;
}

#define IN_HALVES(test) cmocka_unit_test_setup_teardown(test, wide_forget, wide_remember)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_is_that_of_the_plain_way),
        IN_HALVES(test_sample_is_that_of_the_plain_way),
        cmocka_unit_test(test_planes_of_bits_become_values),
        IN_HALVES(test_planes_of_bits_become_values),
        cmocka_unit_test(test_masks_are_written_bit_by_bit),
        IN_HALVES(test_masks_are_written_bit_by_bit),
        cmocka_unit_test(test_masks_become_bits),
        IN_HALVES(test_masks_become_bits),
        cmocka_unit_test(test_excess_is_what_is_more_than_a_value),
        IN_HALVES(test_excess_is_what_is_more_than_a_value),
        cmocka_unit_test(test_maps_replace_bytes),
        IN_HALVES(test_maps_replace_bytes),
        cmocka_unit_test(test_bits_are_put_across_words),
        cmocka_unit_test(test_bits_are_counted_and_found),
        cmocka_unit_test(test_bits_expand_and_copy_small),
        cmocka_unit_test(test_the_processor_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
