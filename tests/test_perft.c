/* Exact counts of the lines of play from fixed positions: any change of the rules moves them. */
#include "trainyard.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DEPTH_MAX = 8 };

/* One level of the walk: a position and the action to try next. */
typedef struct Level {
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t next;
} Level;

static void level_enter(const TyRuleset *ruleset, Level *level)
{
    ty_legal(ruleset, level->state, level->mask);
    level->next = 0;
}

/* The number of sequences of `depth` decisions from the position of `seed`, after `lead` decisions
 * of random play. Chance seats count like players, so with chance=seat this counts outcomes too. */
static uint64_t perft(const TyRuleset *ruleset, uint64_t seed, uint32_t lead, uint32_t depth)
{
    static Level levels[DEPTH_MAX + 1];
    const TyShape *shape = ty_shape(ruleset);
    uint64_t leaves = 0;
    uint32_t at = 0;
    ty_reset(ruleset, levels[0].state, seed, NULL);
    for (uint32_t i = 0; i < lead; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        level_enter(ruleset, &levels[0]);
        ty_step(ruleset, levels[0].state, ty_sample(levels[0].mask, shape->action_count, seed, i),
                reward, NULL);
    }
    level_enter(ruleset, &levels[0]);
    for (;;) {
        Level *level = &levels[at];
        while (level->next < shape->action_count && !level->mask[level->next]) {
            level->next++;
        }
        if (level->next == shape->action_count) {
            if (at-- == 0) {
                return leaves;
            }
            continue;
        }
        int32_t reward[TY_SEATS_MAX] = {0};
        Level *child = &levels[at + 1];
        memcpy(child->state, level->state, shape->state_size);
        assert_true(ty_step(ruleset, child->state, level->next++, reward, NULL));
        if (at + 1 == depth) {
            leaves++;
        } else {
            level_enter(ruleset, child);
            at++;
        }
    }
}

static void counts_are(const char *spec, uint64_t seed, uint32_t lead, const uint64_t *expected,
                       uint32_t depth)
{
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    for (uint32_t i = 1; i <= depth; i++) {
        uint64_t count = perft(ruleset, seed, lead, i);
        if (count != expected[i - 1]) {
            fail_msg("%s seed %" PRIu64 " after %u: depth %u has %" PRIu64 " lines, not %" PRIu64,
                     spec, seed, lead, i, count, expected[i - 1]);
        }
    }
    ty_ruleset_close(ruleset);
}

static void test_convoi_tiny_from_the_first_turn(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {20, 66, 938, 3730};
    counts_are("convoi:board=tiny", 0, 0, expected, 4);
}

static void test_convoi_tiny_in_mid_game(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {2, 38, 144, 1612};
    counts_are("convoi:board=tiny", 4, 40, expected, 4);
}

static void test_convoi_tiny_with_every_outcome_of_chance(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {3, 9, 27, 81, 243, 729};
    counts_are("convoi:board=tiny,chance=seat", 0, 0, expected, 6);
}

static void test_convoi_tiny_chance_seat_in_mid_game(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {3, 33, 75, 300};
    counts_are("convoi:board=tiny,chance=seat", 2, 60, expected, 4);
}

static void test_nordic_tiny_from_the_first_turn(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {4, 13, 47, 219, 1252};
    counts_are("nordic:map=tiny", 0, 0, expected, 5);
}

static void test_nordic_tiny_in_mid_game(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {4, 23, 98, 586, 2198};
    counts_are("nordic:map=tiny,players=3", 4, 30, expected, 5);
}

static void test_nordic_tiny_with_every_outcome_of_chance(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {1, 9, 20, 50};
    counts_are("nordic:map=tiny,chance=seat", 1, 60, expected, 4);
}

static void test_express_tiny_from_the_first_turn(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {2, 4, 17, 96, 648};
    counts_are("express:map=tiny", 0, 0, expected, 5);
}

static void test_express_tiny_in_mid_game(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {12, 58, 381, 2167, 12995};
    counts_are("express:map=tiny,players=4", 3, 20, expected, 5);
}

static void test_express_tiny_with_every_outcome_of_chance(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {2, 14, 52, 189};
    counts_are("express:map=tiny,chance=seat", 1, 60, expected, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convoi_tiny_from_the_first_turn),
        cmocka_unit_test(test_convoi_tiny_in_mid_game),
        cmocka_unit_test(test_convoi_tiny_with_every_outcome_of_chance),
        cmocka_unit_test(test_convoi_tiny_chance_seat_in_mid_game),
        cmocka_unit_test(test_nordic_tiny_from_the_first_turn),
        cmocka_unit_test(test_nordic_tiny_in_mid_game),
        cmocka_unit_test(test_nordic_tiny_with_every_outcome_of_chance),
        cmocka_unit_test(test_express_tiny_from_the_first_turn),
        cmocka_unit_test(test_express_tiny_in_mid_game),
        cmocka_unit_test(test_express_tiny_with_every_outcome_of_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
