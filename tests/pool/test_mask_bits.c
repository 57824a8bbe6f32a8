/* Masks as bits: packed, unpacked and drawn from as their bytes are. */
#include "core/hash.h"
#include "tests/pool/pool_table.h"

#include "agent.h"

enum { WIDTH_MAX = 333 };

/* Random masks, among them empty, full and sparse ones. */
static void mask_make(uint8_t *mask, uint32_t width, uint64_t seed)
{
    static const uint32_t densities[] = {0, 1, 8, 128, 256};
    uint32_t density = densities[seed % 5];
    for (uint32_t i = 0; i < width; i++) {
        mask[i] = (hash_mix(seed * WIDTH_MAX + i) & 0xff) < density;
    }
}

static void check_mask(const uint8_t *mask, uint32_t width, uint64_t seed)
{
    uint8_t bits[WIDTH_MAX / 8 + 2];
    uint8_t back[WIDTH_MAX + 1];
    uint32_t size = ty_mask_bits_size(width);
    memset(bits, 0xaa, sizeof bits);
    ty_mask_pack(mask, width, bits);
    assert_int_equal(bits[size], 0xaa);
    for (uint32_t i = 0; i < 8 * size; i++) {
        assert_int_equal(bits[i / 8] >> i % 8 & 1, i < width && mask[i]);
    }
    memset(back, 0xaa, sizeof back);
    ty_mask_unpack(bits, width, 1, back);
    assert_memory_equal(back, mask, width);
    assert_int_equal(back[width], 0xaa);
    for (uint32_t i = 0; i < 8; i++) {
        const TyRowKey key = {.slot = i, .episode = (uint32_t)seed, .step = 7 * i};
        assert_int_equal(ty_sample_row_bits(bits, width, seed, key),
                         ty_sample_row(mask, width, seed, key));
    }
}

static void test_masks_of_every_width(void **unused)
{
    (void)unused;
    uint8_t mask[WIDTH_MAX];
    for (uint32_t width = 1; width <= WIDTH_MAX; width++) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            mask_make(mask, width, seed + width);
            check_mask(mask, width, seed);
        }
    }
}

static void test_every_action_is_drawn_from_bits(void **unused)
{
    (void)unused;
    uint8_t mask[200];
    uint8_t bits[25];
    bool drawn[200] = {false};
    memset(mask, 1, sizeof mask);
    ty_mask_pack(mask, 200, bits);
    for (uint32_t i = 0; i < 4000; i++) {
        drawn[ty_sample_row_bits(bits, 200, 1, (TyRowKey){.slot = i})] = true;
    }
    assert_null(memchr(drawn, false, sizeof drawn));
}

static void test_rows_lie_one_behind_the_other(void **unused)
{
    (void)unused;
    enum { ROWS = 5, WIDTH = 213, SIZE = 27 };
    uint8_t masks[ROWS][WIDTH];
    uint8_t bits[ROWS][SIZE];
    uint8_t back[ROWS][WIDTH];
    assert_int_equal(ty_mask_bits_size(WIDTH), SIZE);
    for (uint32_t row = 0; row < ROWS; row++) {
        mask_make(masks[row], WIDTH, 13 * row + 3);
        ty_mask_pack(masks[row], WIDTH, bits[row]);
    }
    ty_mask_unpack(bits[0], WIDTH, ROWS, back[0]);
    assert_memory_equal(back, masks, sizeof masks);
}

static void test_masks_of_every_game(void **unused)
{
    (void)unused;
    for (uint32_t game = 0; game < ty_game_count(); game++) {
        TyPoolConfig config = {.slots = 16};
        Table table = table_open(ty_game_name(ty_game_at(game)), &config);
        uint32_t width = ty_shape(table.ruleset)->action_count;
        for (uint32_t step = 0; step < 60; step++) {
            for (uint32_t slot = 0; slot < 16; slot++) {
                check_mask(slab_cell(table.slab, slot, TY_COLUMN_MASK), width, step);
            }
            ty_pool_step_random(table.pool, 0, 0, 1, 1);
        }
        table_close(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_of_every_width),
        cmocka_unit_test(test_every_action_is_drawn_from_bits),
        cmocka_unit_test(test_rows_lie_one_behind_the_other),
        cmocka_unit_test(test_masks_of_every_game),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
