/* Exact counts of the lines of play from fixed positions: any change of the rules moves them. */
#include "trainyard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/games/perft.h"

static void counts_are(const char *spec, uint64_t seed, uint32_t lead, const uint64_t *expected,
                       uint32_t depth)
{
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    perft_is(ruleset, seed, lead, expected, depth);
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
