/* Generated maps: accepted always, planar, alike in rows and actions, the same everywhere, within
 * the expert's reach, and refused by name where they cannot be. */
#include "tests/games/generated.h"
#include "tests/games/tickets/tickets_table.h"
#include "tests/support/budget.h"
#include "trainyard.h"

enum { SMALLEST = 12, LARGEST = 36, SIZES = LARGEST - SMALLEST + 1, LEVELS = 3 };

/* A map of one of the two games. */
static TyRuleset *map_open(uint32_t game, uint64_t seed, uint32_t size, uint32_t level)
{
    static const char *const settings[] = {"express:map", "nordic:map"};
    return generated_open(settings[game % 2], seed, size, level);
}

static void test_every_seed_size_and_level_is_a_map(void **unused)
{
    (void)unused;
    uint32_t count = budget(300, 20000);
    for (uint32_t i = 0; i < count; i++) {
        ty_ruleset_close(
            map_open(i, hash_mix(i) >> 1, SMALLEST + i / 2 % SIZES, i / 2 / SIZES % LEVELS));
    }
}

static void test_maps_of_a_size_and_level_have_the_same_rows_and_actions(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 2 * SIZES * LEVELS; i++) {
        uint32_t size = SMALLEST + i / 2 / LEVELS;
        uint32_t level = i / 2 % LEVELS;
        TyRuleset *one = map_open(i, 1, size, level);
        TyRuleset *other = map_open(i, 2 + i, size, level);
        assert_int_equal(ty_shape(one)->schema_hash, ty_shape(other)->schema_hash);
        assert_string_not_equal(ty_shape(one)->spec, ty_shape(other)->spec);
        ty_ruleset_close(one);
        ty_ruleset_close(other);
    }
}

/* With `show_board` the row says how the map is made: enough to draw it. */
static void test_rows_can_show_the_map(void **unused)
{
    (void)unused;
    static const char *const specs[] = {"express:map=gen:7,show_board=true",
                                        "nordic:map=gen:7,show_board=true"};
    for (uint32_t game = 0; game < 2; game++) {
        TyRuleset *ruleset = NULL;
        uint8_t row[TY_ROW_MAX];
        assert_int_equal(ty_ruleset_open(specs[game], NULL, &ruleset).code, TY_OK);
        const TicketsTables *tables = tickets_tables(ruleset);
        const uint8_t *ends = row_block(ruleset, "route_ends", row);
        const uint8_t *length = row_block(ruleset, "route_length", row);
        const uint8_t *colour = row_block(ruleset, "route_colour", row);
        for (uint32_t i = 0; i < tables->route_count; i++) {
            assert_memory_equal(ends + 2 * i, tables->route[i].city, 2);
            assert_int_equal(length[i], tables->route[i].length);
            assert_int_equal(colour[i], tables->route[i].colour);
        }
        const uint8_t *cities = row_block(ruleset, "ticket_ends", row);
        const uint8_t *points = row_block(ruleset, "ticket_points", row);
        for (uint32_t i = 0; i < tables->ticket_count; i++) {
            assert_memory_equal(cities + 2 * i, tables->ticket[i].city, 2);
            assert_int_equal(points[i], tables->ticket[i].points);
        }
        if (tables->rules.link_bonus) {
            assert_memory_equal(row_block(ruleset, "link_ends", row), tables->bonus_city, 2);
        }
        ty_ruleset_close(ruleset);
    }
}

static void test_rows_tell_tunnels_and_ferries(void **unused)
{
    (void)unused;
    uint32_t told[4] = {0};
    uint8_t row[TY_ROW_MAX];
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open("nordic:show_board=true", NULL, &ruleset).code, TY_OK);
    const TicketsTables *tables = tickets_tables(ruleset);
    const uint8_t *kind = row_block(ruleset, "route_kind", row);
    for (uint32_t i = 0; i < tables->route_count; i++) {
        const Route *route = &tables->route[i];
        int symbols = route->kind == ROUTE_FERRY ? route->length - route->matched : 0;
        assert_int_equal(kind[i] > 2 ? kind[i] - 2 : 0, symbols);
        assert_int_equal(kind[i] == 1, route->kind == ROUTE_TUNNEL);
        assert_int_equal(kind[i] == 2, route->kind == ROUTE_FOUR_FOR_ONE);
        told[route->kind]++;
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(told[i] > 0);
    }
    ty_ruleset_close(ruleset);
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
    uint32_t count = budget(60, 1000);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = SMALLEST + i % SIZES;
        TyRuleset *ruleset = map_open(i, i, size, i % LEVELS);
        const TicketsTables *tables = tickets_tables(ruleset);
        assert_int_equal(tables->city_count, size);
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

static void test_maps_are_pinned(void **unused)
{
    (void)unused;
    pinned("express:map=gen:7", "express:map=gen:7-20@328d11d0,players=2");
    pinned("nordic:map=gen:7", "nordic:map=gen:7-24@63c8ddbf,players=2");
    pinned("nordic:map=gen:7-easy", "nordic:map=gen:7-24-easy@4870efd9,players=2");
    pinned("express:map=gen:7-12-hard", "express:map=gen:7-12-hard@c92d81c2,players=2");
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
        "express:map=gen:1-hard-20",
        "nordic:map=gen:1-4294967308",
        NULL,
    };
    refused_by_name(wrong);
}

/* What two experts reach, on any of the maps tried: MAPS.md. */
static void test_experts_reach_what_is_promised(void **unused)
{
    (void)unused;
    static const int32_t least[2][LEVELS] = {{20, 20, 12}, {20, 20, 12}};
    const int32_t games = 8;
    uint32_t count = budget(24, 600);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t level = i / 2 % LEVELS;
        TyRuleset *ruleset = map_open(i, i, 20, level);
        int32_t points = experts_reach(ruleset, "total_0", (uint32_t)games);
        if (points < games * least[i % 2][level]) {
            fail_msg("%s: %d points in %d games", ty_shape(ruleset)->spec, points, games);
        }
        ty_ruleset_close(ruleset);
    }
}

/* Random play comes to an end by the rules. */
static void test_random_play_comes_to_an_end(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 2 * SIZES; i++) {
        int32_t metrics[TY_METRICS_MAX];
        TyRuleset *ruleset = map_open(i, 100 + i, SMALLEST + i / 2, i % LEVELS);
        agent_play(ruleset, "random", i, metrics);
        ty_ruleset_close(ruleset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_seed_size_and_level_is_a_map),
        cmocka_unit_test(test_maps_of_a_size_and_level_have_the_same_rows_and_actions),
        cmocka_unit_test(test_rows_can_show_the_map),
        cmocka_unit_test(test_rows_tell_tunnels_and_ferries),
        cmocka_unit_test(test_routes_do_not_cross),
        cmocka_unit_test(test_maps_are_pinned),
        cmocka_unit_test(test_wrong_values_are_named),
        cmocka_unit_test(test_experts_reach_what_is_promised),
        cmocka_unit_test(test_random_play_comes_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
