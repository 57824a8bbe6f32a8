/* Generated maps: accepted always, the same everywhere, and refused by name where they cannot be.
 */
#include "tests/games/generated.h"
#include "tests/games/tickets/tickets_table.h"
#include "tests/support/budget.h"
#include "trainyard.h"

static const char *const games[] = {"express", "nordic"};

static TyRuleset *map_open(const char *game, uint64_t seed, uint32_t size)
{
    char spec[96];
    TyRuleset *ruleset = NULL;
    snprintf(spec, sizeof spec, "%s:map=gen:%llu-%u", game, (unsigned long long)seed, size);
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    assert_string_equal(status.message, "");
    return ruleset;
}

static void test_every_seed_and_size_is_a_map(void **unused)
{
    (void)unused;
    uint32_t count = budget(300, 10000);
    for (uint32_t i = 0; i < count; i++) {
        ty_ruleset_close(map_open(games[i % 2], hash_mix(i) >> 1, 12 + i % 25));
    }
}

static bool crosses(const TicketsTables *tables, const Route *one, const Route *other)
{
    return lines_cross(tables->city_xy[one->city[0]], tables->city_xy[one->city[1]],
                       tables->city_xy[other->city[0]], tables->city_xy[other->city[1]]);
}

static bool share_a_city(const Route *one, const Route *other)
{
    return one->city[0] == other->city[0] || one->city[0] == other->city[1] ||
           one->city[1] == other->city[0] || one->city[1] == other->city[1];
}

static void test_routes_do_not_cross(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 60; i++) {
        TyRuleset *ruleset = map_open(games[i % 2], i, 12 + i % 25);
        const TicketsTables *tables = tickets_tables(ruleset);
        assert_int_equal(tables->city_count, 12 + i % 25);
        for (uint32_t one = 0; one < tables->route_count; one++) {
            for (uint32_t other = 0; other < one; other++) {
                const Route *a = &tables->route[one];
                const Route *b = &tables->route[other];
                assert_true(share_a_city(a, b) || !crosses(tables, a, b));
            }
        }
        ty_ruleset_close(ruleset);
    }
}

/* The names carry a hash of the content: builds and machines that differ would show here. */
static void test_maps_are_pinned(void **unused)
{
    (void)unused;
    static const char *const pinned[] = {"express:map=gen:7-20@1d547ff0,players=2",
                                         "nordic:map=gen:7-24@c9772e09,players=2"};
    for (uint32_t i = 0; i < 2; i++) {
        char spec[64];
        TyRuleset *ruleset = NULL;
        snprintf(spec, sizeof spec, "%s:map=gen:7", games[i]);
        assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
        assert_string_equal(ty_shape(ruleset)->spec, pinned[i]);
        ty_ruleset_close(ruleset);
        assert_int_equal(ty_ruleset_open(pinned[i], NULL, &ruleset).code, TY_OK);
        ty_ruleset_close(ruleset);
    }
}

static void test_wrong_values_are_named(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        "express:map=gen:",
        "express:map=gen:x",
        "express:map=gen:1-",
        "express:map=gen:1-11",
        "express:map=gen:1-37",
        "express:map=gen:1-20x",
        "express:map=gen:-1",
        "express:map=gen:1-20-20",
        "express:map=gen:99999999999999999999",
        "express:map=gen:1@xyz",
        "nordic:map=gen:1-4294967308",
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        TyRuleset *ruleset = NULL;
        TyStatus status = ty_ruleset_open(wrong[i], NULL, &ruleset);
        assert_int_equal(status.code, TY_BAD_CONFIG);
        assert_non_null(strstr(status.message, "=gen:"));
        assert_null(ruleset);
    }
}

/* Random play comes to an end by the rules. */
static void test_maps_are_played(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 20; i++) {
        TyRuleset *ruleset = map_open(games[i % 2], 100 + i, 12 + i % 25);
        TyPool *pool;
        TyPoolConfig config = {.slots = 4, .seed = i, .autoreset = TY_AUTORESET_DISABLED};
        assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
        ty_pool_step_random(pool, 0, 0, i, 4000);
        for (uint32_t slot = 0; slot < 4; slot++) {
            assert_true(ty_pool_over(pool, slot));
        }
        ty_pool_close(pool);
        ty_ruleset_close(ruleset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_seed_and_size_is_a_map),
        cmocka_unit_test(test_routes_do_not_cross),
        cmocka_unit_test(test_maps_are_pinned),
        cmocka_unit_test(test_wrong_values_are_named),
        cmocka_unit_test(test_maps_are_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
