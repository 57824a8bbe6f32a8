/* Convoi Express: the search for ways against a plain one, on random boards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/draw.h"
#include "games/convoi/board.h"
#include "games/convoi/state.h"
#include "tests/support/budget.h"

#include <string.h>

/* ---- The plain search: shorter ways are taken as long as there are any -------------------------
 */

enum { PLAIN_FAR = 0x3f3f /* two bytes 0x3f */ };

typedef struct Plain {
    const ConvoiTables *tables;
    const ConvoiState *state;
    uint32_t wanted;
    uint16_t arriving[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX];
    uint16_t city[CONVOI_CITIES_MAX];
} Plain;

static uint16_t plain_run(const Plain *plain, Link link)
{
    uint32_t cost = 0;
    for (;;) {
        bool red = link.light != CONVOI_NONE && (plain->state->green >> link.light & 1) == 0;
        cost += (red ? WAY_OBSTACLE : 0u) + (link.kind != LINK_JUNCTION);
        if (link.kind != LINK_SPACE) {
            break;
        }
        link = plain->tables->ahead[2 * link.index + link.side];
    }
    if (link.kind == LINK_START) {
        return PLAIN_FAR;
    }
    cost +=
        link.kind == LINK_CITY ? plain->city[link.index] : plain->arriving[link.index][link.side];
    return (uint16_t)(cost < PLAIN_FAR ? cost : PLAIN_FAR);
}

static uint8_t plain_junction(const Plain *plain, uint8_t junction, uint8_t from, uint16_t *cost)
{
    uint8_t degree = plain->tables->junction_degree[junction];
    JunctionSetting open = junction_setting(degree, plain->state->setting[junction]);
    uint8_t best = CONVOI_NONE;
    *cost = PLAIN_FAR;
    for (uint8_t to = 0; to < degree; to++) {
        bool joined = (open.leg[0] == from && open.leg[1] == to) ||
                      (open.leg[1] == from && open.leg[0] == to);
        uint16_t way = (uint16_t)(plain_run(plain, plain->tables->leaving[junction][to]) +
                                  (joined ? 0 : WAY_OBSTACLE));
        if (to != from && way < *cost) {
            best = to;
            *cost = way;
        }
    }
    return best;
}

static uint8_t plain_city(const Plain *plain, uint8_t city, uint16_t *cost)
{
    uint8_t best = CONVOI_NONE;
    *cost = PLAIN_FAR;
    for (uint8_t light = 0; light < plain->tables->city_light_count; light++) {
        uint16_t way = plain_run(plain, plain->tables->exit[light]);
        if (plain->tables->light_city[light] == city && way < *cost) {
            best = light;
            *cost = way;
        }
    }
    return best;
}

static void plain_search(Plain *plain)
{
    const ConvoiTables *tables = plain->tables;
    bool changed = true;
    memset(plain->arriving, 0x3f, sizeof plain->arriving);
    for (uint8_t city = 0; city < tables->city_count; city++) {
        plain->city[city] = (plain->wanted >> city & 1) != 0 ? 0 : PLAIN_FAR;
    }
    while (changed) {
        uint16_t cost = 0;
        changed = false;
        for (uint8_t j = 0; j < tables->junction_count; j++) {
            for (uint8_t from = 0; from < tables->junction_degree[j]; from++) {
                plain_junction(plain, j, from, &cost);
                changed |= cost < plain->arriving[j][from];
                plain->arriving[j][from] = cost;
            }
        }
        for (uint8_t city = 0; city < tables->city_count; city++) {
            bool passable = tables->crossing || tables->city_port[city] == CONVOI_NONE;
            if ((plain->wanted >> city & 1) == 0 && passable) {
                plain_city(plain, city, &cost);
                changed |= cost < plain->city[city];
                plain->city[city] = cost;
            }
        }
    }
}

static uint8_t plain_setting(uint8_t degree, uint8_t leg, uint8_t other)
{
    for (uint8_t i = 0;; i++) {
        JunctionSetting pair = junction_setting(degree, i);
        if ((pair.leg[0] == leg && pair.leg[1] == other) ||
            (pair.leg[1] == leg && pair.leg[0] == other)) {
            return i;
        }
    }
}

/* The first red light and the first closed switch along `link`, link by link. */
static void plain_look(const Plain *plain, Link link, Way *way)
{
    const ConvoiTables *tables = plain->tables;
    uint32_t met = 0;
    uint16_t cost = 0;
    for (;;) {
        bool red = link.light != CONVOI_NONE && (plain->state->green >> link.light & 1) == 0;
        way->light = red && way->light == 0 ? (uint8_t)(link.light + 1) : way->light;
        if (link.kind == LINK_SPACE) {
            link = tables->ahead[2 * link.index + link.side];
            continue;
        }
        uint8_t leg = link.kind == LINK_JUNCTION
                          ? plain_junction(plain, link.index, link.side, &cost)
                          : CONVOI_NONE;
        if (leg == CONVOI_NONE || (met >> link.index & 1) != 0) {
            return;
        }
        met |= UINT32_C(1) << link.index;
        uint8_t setting = plain_setting(tables->junction_degree[link.index], link.side, leg);
        if (setting != plain->state->setting[link.index] && way->setting == 0) {
            way->setting = (uint8_t)(tables->setting_first[link.index] + setting + 1);
        }
        link = tables->leaving[link.index][leg];
    }
}

static bool plain_wants(const ConvoiTables *tables, const ConvoiState *state, uint8_t city,
                        uint8_t cargo)
{
    uint8_t port = tables->city_port[city];
    return cargo == 0
               ? state->goods[city] > 0
               : port != CONVOI_NONE && port_takes(tables, state, port, (uint8_t)(cargo - 1));
}

static Way plain_way(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    Plain plain = {.tables = tables, .state = state};
    Way way = {.cost = 0};
    uint8_t place = (uint8_t)(state->place[train] - 1);
    uint8_t city = city_at(tables, place);
    for (uint8_t i = 0; i < tables->city_count; i++) {
        plain.wanted |= (uint32_t)plain_wants(tables, state, i, state->cargo[train]) << i;
    }
    if (city != CONVOI_NONE && (plain.wanted >> city & 1) != 0) {
        return way;
    }
    way.cost = WAY_COST_MAX;
    if (plain.wanted == 0) {
        return way;
    }
    plain_search(&plain);
    uint16_t cost = PLAIN_FAR;
    Link link = {.light = CONVOI_NONE};
    if (city != CONVOI_NONE) {
        uint8_t light = plain_city(&plain, city, &cost);
        if (light == CONVOI_NONE) {
            return way;
        }
        way.exit = (uint8_t)(light + 1);
        link = tables->exit[light];
    } else {
        link = train_link(tables, state, train);
        cost = plain_run(&plain, link);
    }
    way.cost = (uint8_t)(cost < WAY_COST_MAX ? cost : WAY_COST_MAX);
    if (cost < PLAIN_FAR) {
        plain_look(&plain, link, &way);
    }
    return way;
}

/* ---- Random boards and positions ---------------------------------------------------------------
 */

typedef struct Dice {
    uint64_t seed;
    uint32_t counter;
} Dice;

static uint8_t dice_below(Dice *dice, uint32_t bound)
{
    return (uint8_t)draw_below(dice->seed, 0, &dice->counter, bound);
}

enum { ENDS_MAX = CONVOI_JUNCTIONS_MAX * CONVOI_LEGS_MAX + 32 + CONVOI_STARTS_MAX };

/* Stores how the line leaves the place `from`. */
static void end_link(ConvoiTables *tables, Link from, Link link)
{
    if (from.kind == LINK_CITY) {
        tables->exit[from.light] = link;
    } else if (from.kind == LINK_START) {
        tables->departure[from.index] = link;
    } else {
        tables->leaving[from.index][from.side] = link;
    }
}

/* Lays a line of up to three spaces between two ends, with lights at random. A city's light is at
 * its end. */
static void line_lay(ConvoiTables *tables, Dice *dice, Link a, Link b)
{
    uint8_t spaces = dice_below(dice, 4);
    uint8_t gap[4];
    spaces = tables->space_count + spaces > CONVOI_SPACES_MAX ? 0 : spaces;
    spaces = a.kind == LINK_CITY && b.kind == LINK_CITY && spaces == 0 ? 1 : spaces;
    for (uint8_t i = 0; i <= spaces; i++) {
        bool light = tables->light_count < CONVOI_LIGHTS_MAX && dice_below(dice, 4) == 0;
        gap[i] = light ? tables->light_count++ : CONVOI_NONE;
    }
    gap[0] = a.kind == LINK_CITY ? a.light : gap[0];
    gap[spaces] = b.kind == LINK_CITY ? b.light : gap[spaces];
    for (uint8_t heading = 0; heading < 2; heading++) {
        Link from = heading == 0 ? a : b;
        Link link = heading == 0 ? b : a;
        for (uint8_t i = 0; i <= spaces; i++) { /* from the far end backwards */
            link.light = gap[heading == 0 ? spaces - i : i];
            if (i == spaces) {
                end_link(tables, from, link);
                break;
            }
            uint8_t space = (uint8_t)(tables->space_count + (heading == 0 ? spaces - 1 - i : i));
            tables->ahead[2 * space + heading] = link;
            link = (Link){.kind = LINK_SPACE, .index = space, .side = heading};
        }
    }
    tables->space_count = (uint8_t)(tables->space_count + spaces);
}

/* The ends of lines: legs, exits, starts. Each city has one to three exits. */
static uint32_t ends_make(ConvoiTables *tables, Dice *dice, Link ends[ENDS_MAX])
{
    uint32_t count = 0;
    for (uint8_t i = 0; i < tables->junction_count; i++) {
        bool may_have_four = tables->junction_count <= BOARD_SWITCH_DISCS_MAX / 2;
        tables->junction_degree[i] = (uint8_t)(may_have_four ? 3 + dice_below(dice, 2) : 3);
        for (uint8_t leg = 0; leg < tables->junction_degree[i]; leg++) {
            ends[count++] = (Link){.kind = LINK_JUNCTION, .index = i, .side = leg};
        }
    }
    for (uint8_t i = 0; i < tables->city_count; i++) {
        tables->city_port[i] = i < 2 ? i : CONVOI_NONE;
        for (uint32_t exits = 1u + dice_below(dice, 3); exits > 0; exits--) {
            uint8_t light = tables->light_count++;
            tables->city_lights[i] |= UINT64_C(1) << light;
            tables->light_city[light] = i;
            ends[count++] = (Link){.light = light, .kind = LINK_CITY, .index = i};
        }
    }
    tables->city_light_count = tables->light_count;
    for (uint8_t i = 0; i < tables->start_count; i++) {
        ends[count++] = (Link){.kind = LINK_START, .index = i};
    }
    return count;
}

/* Joins all ends by lines at random; one that is left over leads nowhere but to a start. */
static void board_make(ConvoiTables *tables, Dice *dice)
{
    Link ends[ENDS_MAX];
    *tables =
        (ConvoiTables){.junction_count = (uint8_t)(1 + dice_below(dice, BOARD_SWITCH_DISCS_MAX)),
                       .city_count = (uint8_t)(3 + dice_below(dice, 6)),
                       .start_count = (uint8_t)(2 + dice_below(dice, 9)),
                       .port_count = 2,
                       .port_wants = 1,
                       .crossing = dice_below(dice, 2) == 0};
    uint32_t count = ends_make(tables, dice, ends);
    while (count > 1) {
        Link a = ends[--count];
        uint32_t other = dice_below(dice, count);
        line_lay(tables, dice, a, ends[other]);
        ends[other] = ends[--count];
    }
    if (count == 1) {
        Link start = {.kind = LINK_START, .index = tables->start_count++};
        line_lay(tables, dice, ends[0], start);
    }
    Board board = {.tables = tables};
    convoi_make_runs(&board);
}

static void position_make(const ConvoiTables *tables, Dice *dice, ConvoiState *state)
{
    uint32_t places = (uint32_t)tables->space_count + tables->city_count + tables->start_count;
    *state = (ConvoiState){.green = 0};
    for (uint8_t i = 0; i < tables->light_count; i++) {
        state->green |= (uint64_t)(dice_below(dice, 2) == 0) << i;
    }
    for (uint8_t i = 0; i < tables->junction_count; i++) {
        state->setting[i] = dice_below(dice, tables->junction_degree[i] == 3 ? 3 : 6);
    }
    for (uint8_t i = 2; i < tables->city_count; i++) {
        state->goods[i] = dice_below(dice, 4) == 0;
    }
    for (uint8_t i = 0; i < CONVOI_TRAINS; i++) {
        state->place[i] = dice_below(dice, 3) == 0 ? 0 : (uint8_t)(1 + dice_below(dice, places));
        bool on_track = state->place[i] != 0 && state->place[i] <= tables->space_count;
        state->heading[i] = on_track ? dice_below(dice, 2) : 0;
        state->cargo[i] = state->place[i] != 0 ? dice_below(dice, CONVOI_GOODS + 1) : 0;
    }
    for (uint8_t i = 0; i < CONVOI_GOODS; i++) {
        state->delivered[0][i] = dice_below(dice, 2);
        state->delivered[1][i] = dice_below(dice, 2);
    }
}

/* Counts the trains that have a way, and those of them that have a red light on it. */
static void position_check(const ConvoiTables *tables, const ConvoiState *state, uint32_t *found,
                           uint32_t *barred)
{
    Way ways[CONVOI_TRAINS];
    Way costs[CONVOI_TRAINS];
    ways_compute(tables, state, true, ways);
    ways_compute(tables, state, false, costs);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        Way plain = {.cost = 0};
        if (state->place[train] != 0) {
            plain = plain_way(tables, state, train);
        }
        assert_memory_equal(&ways[train], &plain, sizeof plain);
        assert_int_equal(costs[train].cost, plain.cost);
        *found += plain.cost > 0 && plain.cost < WAY_COST_MAX;
        *barred += plain.light != 0;
    }
}

static void test_ways_are_those_of_a_plain_search(void **unused)
{
    (void)unused;
    static ConvoiTables tables;
    uint32_t found = 0;
    uint32_t barred = 0;
    uint32_t words[CONVOI_WAY_WORDS + 1] = {0};
    for (uint64_t seed = 0; seed < budget(150, 5000); seed++) {
        Dice dice = {.seed = seed};
        ConvoiState state;
        board_make(&tables, &dice);
        words[tables.way_words]++;
        for (uint32_t i = 0; i < 20; i++) {
            position_make(&tables, &dice, &state);
            position_check(&tables, &state, &found, &barred);
        }
    }
    assert_true(found > 1000 && barred > 500);
    assert_true(words[1] > 10 && words[2] > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways_are_those_of_a_plain_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
