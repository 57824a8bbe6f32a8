/* Convoi Express: the cheapest way of each train to a city that it wants.
 *
 * A way costs its points and a price for every red light and closed switch on it; other trains are
 * not seen. The shaped reward and the hints look at the game in this way; the rules do not. */
#include "games/convoi/state.h"

#include <string.h>

/* Costs to go to the wanted cities, for one cargo. */
typedef struct Ways {
    const ConvoiTables *tables;
    const ConvoiState *state;
    uint32_t wanted;                                          /* cities as bits */
    uint16_t arriving[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX]; /* at a junction by this leg */
    uint16_t city[CONVOI_CITIES_MAX];
} Ways;

enum { WAY_FAR = 0x3fff };

_Static_assert(CONVOI_JUNCTIONS_MAX <= 32, "a way remembers the junctions it met as bits");

Run run_along(const ConvoiTables *tables, Link link)
{
    Run run = {0};
    for (;;) {
        if (link.light != CONVOI_NONE) {
            run.lights |= UINT64_C(1) << link.light;
        }
        run.points = (uint8_t)(run.points + (link.kind != LINK_JUNCTION));
        if (link.kind != LINK_SPACE) {
            run.end = link;
            return run;
        }
        link = tables->ahead[2 * link.index + link.side];
    }
}

/* The cities that a train with this cargo wants, as bits. */
static uint32_t cities_wanted(const ConvoiTables *tables, const ConvoiState *state, uint8_t cargo)
{
    uint32_t wanted = 0;
    for (uint8_t city = 0; city < tables->city_count; city++) {
        uint8_t port = tables->city_port[city];
        bool wants = cargo == 0 ? state->goods[city] > 0
                                : port != CONVOI_NONE &&
                                      port_takes(tables, state, port, (uint8_t)(cargo - 1));
        wanted |= (uint32_t)wants << city;
    }
    return wanted;
}

/* What it costs to follow a run and go on from its end. Nobody passes a start, nor a port on the
 * European side. */
static uint16_t run_cost(const Ways *ways, const Run *run)
{
    uint32_t red = (uint32_t)__builtin_popcountll(run->lights & ~ways->state->green);
    uint32_t cost = run->points + WAY_OBSTACLE * red;
    if (run->end.kind == LINK_JUNCTION) {
        cost += ways->arriving[run->end.index][run->end.side];
    } else if (run->end.kind == LINK_CITY) {
        cost += ways->city[run->end.index];
    } else {
        cost = WAY_FAR;
    }
    return (uint16_t)(cost < WAY_FAR ? cost : WAY_FAR);
}

/* What it costs to go on by each leg of a junction that stands open. */
static void legs_cost(const Ways *ways, uint8_t junction, uint16_t costs[CONVOI_LEGS_MAX])
{
    const ConvoiTables *tables = ways->tables;
    for (uint8_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
        costs[leg] = run_cost(ways, &tables->leaving_run[junction][leg]);
    }
}

/* The leg by which a train that came in by `from` goes on, and what that costs. */
static uint8_t junction_leave(const Ways *ways, uint8_t junction, uint8_t from,
                              const uint16_t costs[CONVOI_LEGS_MAX], uint16_t *cost)
{
    uint8_t degree = ways->tables->junction_degree[junction];
    uint8_t open = junction_other_leg(degree, ways->state->setting[junction], from);
    uint8_t best = CONVOI_NONE;
    *cost = WAY_FAR;
    for (uint8_t to = 0; to < degree; to++) {
        uint16_t way = (uint16_t)(costs[to] + (to == open ? 0 : WAY_OBSTACLE));
        if (to != from && way < *cost) {
            best = to;
            *cost = way;
        }
    }
    return best;
}

/* The exit by which a train leaves a city, and what that costs. */
static uint8_t city_leave(const Ways *ways, uint8_t city, uint16_t *cost)
{
    uint8_t best = CONVOI_NONE;
    *cost = WAY_FAR;
    for (uint64_t left = ways->tables->city_lights[city]; left != 0; left &= left - 1) {
        uint8_t light = (uint8_t)__builtin_ctzll(left);
        uint16_t way = run_cost(ways, &ways->tables->exit_run[light]);
        if (way < *cost) {
            best = light;
            *cost = way;
        }
    }
    return best;
}

/* Takes shorter ways as long as there are any: costs only shrink, so this ends. */
static void ways_improve(Ways *ways)
{
    const ConvoiTables *tables = ways->tables;
    uint16_t costs[CONVOI_LEGS_MAX] = {0};
    uint16_t cost = 0;
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint8_t j = 0; j < tables->junction_count; j++) {
            legs_cost(ways, j, costs);
            for (uint8_t from = 0; from < tables->junction_degree[j]; from++) {
                junction_leave(ways, j, from, costs, &cost);
                changed |= cost < ways->arriving[j][from];
                ways->arriving[j][from] = cost;
            }
        }
        for (uint8_t city = 0; city < tables->city_count; city++) {
            bool passable = tables->crossing || tables->city_port[city] == CONVOI_NONE;
            if ((ways->wanted >> city & 1) == 0 && passable) {
                city_leave(ways, city, &cost);
                changed |= cost < ways->city[city];
                ways->city[city] = cost;
            }
        }
    }
}

static void ways_to(Ways *ways, uint32_t wanted)
{
    ways->wanted = wanted;
    memset(ways->arriving, 0x3f, sizeof ways->arriving);
    for (uint8_t city = 0; city < ways->tables->city_count; city++) {
        ways->city[city] = (wanted >> city & 1) != 0 ? 0 : WAY_FAR;
    }
    ways_improve(ways);
}

/* The setting of `junction` that joins two legs. */
static uint8_t setting_joining(const ConvoiTables *tables, uint8_t junction, uint8_t leg,
                               uint8_t other)
{
    uint8_t setting = 0;
    while (junction_other_leg(tables->junction_degree[junction], setting, leg) != other) {
        setting++;
    }
    return setting;
}

/* Notes the first red light and the first closed switch on the way along `link`, up to a city or a
 * junction that it meets again: that must not be set for the second time before the first. */
static void way_look(const Ways *ways, Link link, Way *way)
{
    const ConvoiTables *tables = ways->tables;
    uint16_t costs[CONVOI_LEGS_MAX] = {0};
    uint16_t cost = 0;
    uint32_t met = 0;
    for (;;) {
        bool red = link.light != CONVOI_NONE && (ways->state->green >> link.light & 1) == 0;
        if (red && way->light == 0) {
            way->light = (uint8_t)(link.light + 1);
        }
        if (link.kind == LINK_SPACE) {
            link = tables->ahead[2 * link.index + link.side];
        } else if (link.kind == LINK_JUNCTION) {
            legs_cost(ways, link.index, costs);
            uint8_t leg = junction_leave(ways, link.index, link.side, costs, &cost);
            if (leg == CONVOI_NONE || (met >> link.index & 1) != 0) {
                return;
            }
            met |= UINT32_C(1) << link.index;
            uint8_t setting = setting_joining(tables, link.index, link.side, leg);
            if (setting != ways->state->setting[link.index] && way->setting == 0) {
                way->setting = (uint8_t)(tables->junction_action[link.index] + setting + 1);
            }
            link = tables->leaving[link.index][leg];
        } else {
            return;
        }
    }
}

/* The way of a train that is not in a city which it wants. */
static void way_find(const Ways *ways, uint8_t train, bool look, Way *way)
{
    const ConvoiTables *tables = ways->tables;
    uint8_t place = (uint8_t)(ways->state->place[train] - 1);
    uint8_t city = city_at(tables, place);
    uint16_t cost = WAY_FAR;
    Link link;
    if (city != CONVOI_NONE) {
        uint8_t light = city_leave(ways, city, &cost);
        if (light == CONVOI_NONE) {
            return;
        }
        way->exit = (uint8_t)(light + 1);
        link = tables->exit[light];
    } else {
        link = place < tables->space_count ? tables->ahead[2 * place + ways->state->heading[train]]
                                           : tables->departure[place - place_start(tables, 0)];
        Run run = run_along(tables, link);
        cost = run_cost(ways, &run);
    }
    way->cost = (uint8_t)(cost < WAY_COST_MAX ? cost : WAY_COST_MAX);
    if (look && cost < WAY_FAR) {
        way_look(ways, link, way);
    }
}

void ways_compute(const ConvoiTables *tables, const ConvoiState *state, bool look,
                  Way list[CONVOI_TRAINS])
{
    Ways ways = {.tables = tables, .state = state};
    uint8_t done = 0;
    memset(list, 0, sizeof list[0] * CONVOI_TRAINS);
    /* Trains with the same cargo want the same cities. */
    for (uint8_t first = 0; first < CONVOI_TRAINS; first++) {
        uint8_t cargo = state->cargo[first];
        if (state->place[first] == 0 || (done >> cargo & 1) != 0) {
            continue;
        }
        done |= (uint8_t)(1u << cargo);
        uint32_t wanted = cities_wanted(tables, state, cargo);
        if (ways.wanted != wanted) {
            ways_to(&ways, wanted);
        }
        for (uint8_t train = first; train < CONVOI_TRAINS; train++) {
            uint8_t city = city_at(tables, (uint8_t)(state->place[train] - 1));
            bool there = city != CONVOI_NONE && (wanted >> city & 1) != 0;
            if (state->place[train] != 0 && state->cargo[train] == cargo && !there) {
                list[train].cost = WAY_COST_MAX;
                if (wanted != 0) {
                    way_find(&ways, train, look, &list[train]);
                }
            }
        }
    }
}
