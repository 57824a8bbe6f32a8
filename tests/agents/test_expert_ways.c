/* The convoi expert's ways: what is kept from one position to the next is what a new search finds.
 */
#include "agents/convoi_expert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static Map map;
static Costs kept;
static Costs varied;
static Costs fresh;

/* Every way of every colour costs the same in both. */
static void assert_same_ways(const ConvoiTables *tables, Costs *one, Costs *other)
{
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        for (uint8_t city = 0; city < tables->city_count; city++) {
            for (uint16_t node = 0; node < map.first_leg; node++) {
                assert_int_equal(convoi_way_cost(one, &map, tables, colour, city, node),
                                 convoi_way_cost(other, &map, tables, colour, city, node));
            }
        }
    }
}

/* The position with one disc moved and one switch thrown. */
static ConvoiState other_lights(const ConvoiTables *tables, const ConvoiState *state, uint32_t step)
{
    ConvoiState after = *state;
    uint8_t junction = (uint8_t)(step % tables->junction_count);
    uint8_t settings = junction_setting_count(tables->junction_degree[junction]);
    after.green &= after.green - 1;
    after.green |= UINT64_C(1) << step % tables->light_count;
    after.setting[junction] = (uint8_t)((after.setting[junction] + 1) % settings);
    return after;
}

/* Following a way step by step costs what the way costs, and ends in the city. */
static void assert_ways_lead_to_their_city(const ConvoiTables *tables, Costs *costs, uint8_t city)
{
    for (uint16_t from = 0; from < map.first_city; from++) {
        uint16_t node = from;
        uint32_t steps = 0;
        MapEdge edge;
        bool exists = convoi_way_cost(costs, &map, tables, 0, city, from) != MAP_COST_NO_WAY;
        while (node != map.first_city + city &&
               convoi_way_step(costs, &map, tables, 0, city, node, &edge)) {
            node = edge.to;
            assert_true(++steps < MAP_NODES_MAX);
        }
        assert_true(!exists || node == map.first_city + city);
    }
}

static void walk_through(const char *spec, uint64_t seed)
{
    uint64_t words[TY_STATE_MAX / 8];
    const ConvoiState *state = (const ConvoiState *)words;
    int32_t reward[TY_SEATS_MAX] = {0};
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    const ConvoiTables *tables = convoi_tables(ruleset);
    convoi_map_init(&map, tables);
    memset(&kept, 0, sizeof kept);
    ty_reset(ruleset, words, seed, NULL);
    for (uint32_t step = 0; !ty_head(words)->over; step++) {
        uint8_t mask[TY_ACTIONS_MAX];
        if (step % 7 == 0) {
            memset(&fresh, 0, sizeof fresh);
            convoi_costs_update(&kept, &map, tables, state);
            convoi_costs_update(&fresh, &map, tables, state);
            assert_same_ways(tables, &kept, &fresh);
            assert_ways_lead_to_their_city(tables, &kept, (uint8_t)(step % tables->city_count));
            ConvoiState after = other_lights(tables, state, step);
            memset(&fresh, 0, sizeof fresh);
            convoi_costs_vary(&varied, &kept, &map, tables, &after);
            convoi_costs_update(&fresh, &map, tables, &after);
            assert_same_ways(tables, &varied, &fresh);
        }
        ty_legal(ruleset, words, mask);
        ty_step(ruleset, words, ty_sample(mask, ty_shape(ruleset)->action_count, seed, step),
                reward, NULL);
    }
    ty_ruleset_close(ruleset);
}

static void test_kept_ways_are_those_of_a_new_search(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 3; seed++) {
        walk_through("convoi", seed);
        walk_through("convoi:board=north_america,players=3", seed);
        walk_through("convoi:board=tiny", seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_ways_are_those_of_a_new_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
