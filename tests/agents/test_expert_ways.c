/* The convoi expert's ways and judgement: what is kept from one position to the next is what is
 * found anew. */
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
static UsualWays usual;

/* Every way of every colour costs the same in both. */
static void assert_same_ways(const ConvoiTables *tables, Costs *one, Costs *other)
{
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        for (uint8_t city = 0; city < tables->city_count; city++) {
            for (uint16_t node = 0; node < map.first_leg; node++) {
                assert_int_equal(convoi_way_cost(one, &map, colour, city, node),
                                 convoi_way_cost(other, &map, colour, city, node));
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
        bool exists = convoi_way_cost(costs, &map, 0, city, from) != MAP_COST_NO_WAY;
        while (node != map.first_city + city &&
               convoi_way_step(costs, &map, tables, 0, city, node, &edge)) {
            node = edge.to;
            assert_true(++steps < MAP_NODES_MAX);
        }
        assert_true(!exists || node == map.first_city + city);
    }
}

/* A judge that knows how `judge->real` was judged says of `state` what one says that does not. */
static void assert_judged_alike(const Judge *judge, const ConvoiState *state)
{
    Judge stranger = *judge;
    Judgement one;
    Judgement other;
    stranger.known = NULL;
    convoi_judge(judge, state, &one);
    convoi_judge(&stranger, state, &other);
    assert_int_equal(one.total, other.total);
    assert_memory_equal(one.task, other.task, sizeof one.task);
    assert_memory_equal(one.cost, other.cost, sizeof one.cost);
    assert_memory_equal(one.gain, other.gain, sizeof one.gain);
    assert_int_equal(one.unserved, other.unserved);
}

/* Positions that differ in one train: it stands elsewhere, came or is gone, or has delivered. */
static void assert_neighbours_judged_alike(const TyRuleset *ruleset, const Judge *judge,
                                           uint32_t step)
{
    const ConvoiTables *tables = judge->tables;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        ConvoiState after = *judge->real;
        uint8_t place = (uint8_t)((13 * step + 5 * train) % tables->space_count);
        if (train_at(&after, place, CONVOI_NONE) == CONVOI_NONE) {
            convoi_outcome_apply(ruleset, &after, train,
                                 (Outcome){place, (uint8_t)(step % 2), 0, FATE_RESTS});
            assert_judged_alike(judge, &after);
        }
        after = *judge->real;
        if (after.place[train] != 0) {
            bool loaded = after.cargo[train] != 0;
            uint8_t port = place_city(tables, judge->outlook->port_city[0]);
            convoi_outcome_apply(ruleset, &after, train,
                                 (Outcome){port, 0, 1, loaded ? FATE_DELIVERS : FATE_DEPOT});
            assert_judged_alike(judge, &after);
        }
    }
}

static void judge_through(const TyRuleset *ruleset, const ConvoiState *state, uint32_t step)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    Outlook outlook;
    Judgement known;
    Judge judge = {
        .tables = tables, .map = &map, .usual = &usual, .outlook = &outlook, .costs = &kept};
    convoi_outlook_init(&outlook, tables, &usual, state);
    convoi_judge(&judge, state, &known);
    judge.real = state;
    judge.known = &known;
    assert_judged_alike(&judge, state);
    assert_neighbours_judged_alike(ruleset, &judge, step);
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
    convoi_usual_init(&usual, &fresh, &map, tables);
    memset(&kept, 0, sizeof kept);
    ty_reset(ruleset, words, seed, NULL);
    for (uint32_t step = 0; !ty_head(words)->over; step++) {
        uint8_t mask[TY_ACTIONS_MAX];
        if (step % 7 == 0) {
            memset(&fresh, 0, sizeof fresh);
            convoi_costs_update(&kept, &map, tables, state);
            convoi_costs_update(&fresh, &map, tables, state);
            assert_same_ways(tables, &kept, &fresh);
            judge_through(ruleset, state, step);
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

static void test_what_is_kept_is_what_is_found_anew(void **unused)
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
        cmocka_unit_test(test_what_is_kept_is_what_is_found_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
