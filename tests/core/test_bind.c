/* What bindings use: expansion of rows, files as bytes, steps in flight, same-step rewards. */
#include "core/bytes.h"
#include "trainyard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SLOTS = 12, ROUNDS = 300 };

static TyRuleset *ruleset_of(const char *spec)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    assert_string_equal(status.message, "");
    return ruleset;
}

static TyPool *pool_of(const TyRuleset *ruleset, const TyPoolConfig *config)
{
    TyPool *pool = NULL;
    TyStatus status = ty_pool_open(ruleset, config, &pool);
    assert_string_equal(status.message, "");
    return pool;
}

/* ---- Rows as numbers ---- */

static uint32_t value_at(const TyBlock *block, const uint8_t *row, uint32_t index)
{
    const uint8_t *bytes = row + block->offset;
    return block->width == 2 ? load_le16(bytes + (size_t)index * 2) : bytes[index];
}

/* Compares one expanded row with what its blocks say, and returns how many numbers it has. */
static uint32_t expanded_check(const TyShape *shape, bool full, const uint8_t *row,
                               const float *expanded)
{
    uint32_t at = 0;
    for (uint32_t b = 0; b < (full ? shape->full_block_count : shape->row_block_count); b++) {
        const TyBlock *block = full ? &shape->full_blocks[b] : &shape->row_blocks[b];
        for (uint32_t i = 0; i < (uint32_t)block->rows * block->columns; i++) {
            uint32_t value = value_at(block, row, i);
            if (block->kind != TY_BLOCK_CATEGORY) {
                uint32_t maximum = block->kind == TY_BLOCK_FLAG ? 1 : block->maximum;
                assert_float_equal(expanded[at++], (float)value / (float)maximum, 0);
                continue;
            }
            for (uint32_t other = 0; other <= block->maximum; other++) {
                assert_float_equal(expanded[at++], (other == value ? 1.0f : 0.0f), 0);
            }
        }
    }
    return at;
}

/* One episode at random: each state's row of the seat to act. */
static void expansion_check(const TyRuleset *ruleset, bool full)
{
    const TyShape *shape = ty_shape(ruleset);
    uint32_t size = ty_expand_size(ruleset, full);
    float *expanded = malloc(sizeof(float) * size);
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    assert_true(ty_reset(ruleset, state, 3, NULL));
    for (uint32_t step = 0; step < 100 && !ty_head(state)->over; step++) {
        uint8_t row[TY_ROW_MAX];
        uint8_t mask[TY_ACTIONS_MAX];
        uint32_t seat = (uint32_t)ty_head(state)->seat;
        (full ? ty_observe_full : ty_observe)(ruleset, state, seat, row);
        ty_expand(ruleset, full, row, 1, expanded);
        assert_int_equal(expanded_check(shape, full, row, expanded), size);
        ty_legal(ruleset, state, mask);
        ty_step(ruleset, state, ty_sample(mask, shape->action_count, 3, step), reward, NULL);
    }
    free(expanded);
}

static void test_expansion_follows_the_blocks(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        TyRuleset *ruleset = ruleset_of(ty_game_name(ty_game_at(i)));
        expansion_check(ruleset, false);
        expansion_check(ruleset, true);
        ty_ruleset_close(ruleset);
    }
}

static void test_expansion_of_rows_goes_row_by_row(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = ruleset_of("convoi:players=3");
    const TyShape *shape = ty_shape(ruleset);
    uint32_t size = ty_expand_size(ruleset, false);
    TyPool *pool = pool_of(ruleset, &(TyPoolConfig){.slots = SLOTS});
    float *expanded = malloc(sizeof(float) * SLOTS * size);
    ty_pool_step_random(pool, 0, 0, 1, 50);
    const uint8_t *rows = ty_slab_column(ty_pool_slab(pool, 0), 0, TY_COLUMN_OBS);
    ty_expand(ruleset, false, rows, SLOTS, expanded);
    for (uint32_t i = 0; i < SLOTS; i++) {
        const uint8_t *row = rows + (size_t)i * shape->row_size;
        assert_int_equal(expanded_check(shape, false, row, expanded + (size_t)i * size), size);
    }
    free(expanded);
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
}

/* Expanding rows of unknown origin stays within its memory. */
static void test_value_beyond_its_category_expands_to_zeros(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = ruleset_of("chicago");
    const TyShape *shape = ty_shape(ruleset);
    uint32_t size = ty_expand_size(ruleset, false);
    float *expanded = malloc(sizeof(float) * size);
    uint8_t row[TY_ROW_MAX];
    memset(row, 0xff, sizeof row);
    ty_expand(ruleset, false, row, 1, expanded);
    uint32_t at = 0;
    for (uint32_t b = 0; b < shape->row_block_count; b++) {
        uint32_t width = ty_expand_width(&shape->row_blocks[b]);
        for (uint32_t i = 0; i < width; i++, at++) {
            if (shape->row_blocks[b].kind == TY_BLOCK_CATEGORY) {
                assert_float_equal(expanded[at], 0.0f, 0);
            }
        }
    }
    assert_int_equal(at, size);
    free(expanded);
    ty_ruleset_close(ruleset);
}

static void split_check(const TyRuleset *ruleset)
{
    TySplit size = ty_split_size(ruleset);
    TyPool *pool = pool_of(ruleset, &(TyPoolConfig){.slots = SLOTS});
    int32_t *categories = malloc(sizeof(int32_t) * SLOTS * size.categories);
    float *numbers = malloc(sizeof(float) * SLOTS * size.numbers);
    ty_pool_step_random(pool, 0, 0, 1, 50);
    const uint8_t *rows = ty_slab_column(ty_pool_slab(pool, 0), 0, TY_COLUMN_OBS);
    ty_split(ruleset, rows, SLOTS, categories, numbers);
    assert_int_equal(size.values + size.numbers, ty_expand_size(ruleset, false));
    for (uint32_t i = 1; i < SLOTS * size.categories; i++) {
        assert_in_range(categories[i], 0, size.values - 1);
        if (i % size.categories != 0) {
            assert_true(categories[i] > categories[i - 1]);
        }
    }
    for (uint32_t i = 0; i < SLOTS * size.numbers; i++) {
        assert_true(numbers[i] >= 0 && numbers[i] <= 1);
    }
    free(categories);
    free(numbers);
    ty_pool_close(pool);
}

static void test_split_has_a_place_for_every_category(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        TyRuleset *ruleset = ruleset_of(ty_game_name(ty_game_at(i)));
        split_check(ruleset);
        ty_ruleset_close(ruleset);
    }
}

static void test_sizes_of_structs_are_known_by_name(void **unused)
{
    (void)unused;
    assert_int_equal(ty_size_of("TySlab"), sizeof(TySlab));
    assert_int_equal(ty_size_of("TyPoolConfig"), sizeof(TyPoolConfig));
    assert_int_equal(ty_size_of("TyNothing"), 0);
}

static void test_files_may_be_given_as_bytes(void **unused)
{
    (void)unused;
    static char bytes[1 << 16];
    FILE *stream = fopen(TY_SOURCE_DIR "/tests/data/convoi_yard.json", "rb");
    assert_non_null(stream);
    size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    const TyFileBytes file = {.value = "mine", .name = "yard", .bytes = bytes, .size = size};
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open_bytes("convoi:board=mine", &file, 1, &ruleset);
    assert_int_equal(status.code, TY_OK);
    assert_non_null(strstr(ty_shape(ruleset)->spec, "board=yard@"));
    ty_ruleset_close(ruleset);
    status = ty_ruleset_open_bytes("convoi:board=yours", &file, 1, &ruleset);
    assert_int_equal(status.code, TY_BAD_CONFIG);
    assert_non_null(strstr(status.message, "board=yours: neither built in"));
}

static void test_sample_of_an_empty_mask_is_action_0(void **unused)
{
    (void)unused;
    const uint8_t mask[TY_ACTIONS_MAX] = {0};
    for (uint32_t count = 1; count <= TY_ACTIONS_MAX; count += 31) {
        assert_int_equal(ty_sample(mask, count, 7, count), 0);
    }
}

/* ---- Steps in flight ---- */

static void test_groups_in_flight_play_as_on_the_ground(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = ruleset_of("convoi:board=tiny");
    TyPool *ground = pool_of(ruleset, &(TyPoolConfig){.slots = SLOTS, .seed = 5});
    TyPool *air =
        pool_of(ruleset, &(TyPoolConfig){.slots = SLOTS, .seed = 5, .groups = 3, .threads = 2});
    TyFlight *flight = NULL;
    assert_int_equal(ty_flight_open(air, 0, &flight).code, TY_OK);
    ty_pool_step_random(ground, 0, 0, 9, ROUNDS);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t ready = 0;
        uint32_t illegal = 0;
        for (uint32_t group = 0; group < 3; group++) {
            ty_sample_rows(ty_pool_slab(air, 0), group, 9);
            assert_true(ty_flight_send(flight, group));
        }
        for (uint32_t group = 3; group-- > 0;) {
            while (!ty_flight_recv(flight, group, 1, &ready, &illegal)) {
            }
            assert_int_equal(ready, SLOTS / 3);
            assert_int_equal(illegal, 0);
            assert_true(ty_flight_recv(flight, group, 1, &ready, &illegal));
        }
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        assert_int_equal(ty_hash(ruleset, ty_pool_state(ground, slot)),
                         ty_hash(ruleset, ty_pool_state(air, slot)));
    }
    ty_flight_send(flight, 1);
    ty_flight_close(flight);
    ty_pool_close(air);
    ty_pool_close(ground);
    ty_ruleset_close(ruleset);
}

/* ---- Rewards before the first question ---- */

/* What seat 1 has earned over `episodes` episodes whose first seat is played by an agent. */
static double earned_over(TyAutoreset autoreset, uint32_t episodes)
{
    TyRuleset *ruleset = ruleset_of("convoi:board=tiny,reward=shaped");
    TyPoolConfig config = {.slots = 1, .autoreset = autoreset};
    config.agent[0] = ty_agent_find(ty_ruleset_game(ruleset), "random");
    TyPool *pool = pool_of(ruleset, &config);
    const TySlab *slab = ty_pool_slab(pool, 0);
    const float *earned = ty_slab_column(slab, 0, TY_COLUMN_EARNED);
    const uint8_t *terminated = ty_slab_column(slab, 0, TY_COLUMN_TERMINATED);
    double sum = (double)earned[0];
    for (uint32_t ended = 0; ended < episodes;) {
        ty_pool_step_random(pool, 0, 0, 3, 1);
        sum += (double)earned[0];
        ended += terminated[0];
    }
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
    return sum;
}

static void test_rewards_before_the_first_question_survive_every_autoreset(void **unused)
{
    (void)unused;
    assert_float_equal(earned_over(TY_AUTORESET_SAME_STEP, 200),
                       earned_over(TY_AUTORESET_NEXT_STEP, 200), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expansion_follows_the_blocks),
        cmocka_unit_test(test_expansion_of_rows_goes_row_by_row),
        cmocka_unit_test(test_value_beyond_its_category_expands_to_zeros),
        cmocka_unit_test(test_split_has_a_place_for_every_category),
        cmocka_unit_test(test_sizes_of_structs_are_known_by_name),
        cmocka_unit_test(test_files_may_be_given_as_bytes),
        cmocka_unit_test(test_sample_of_an_empty_mask_is_action_0),
        cmocka_unit_test(test_groups_in_flight_play_as_on_the_ground),
        cmocka_unit_test(test_rewards_before_the_first_question_survive_every_autoreset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
