/* Convoi Express: the cheapest way of each train to a city that it wants.
 *
 * A way costs its points and a price for every red light and closed switch on it; other trains are
 * not seen. The shaped reward and the hints look at the game in this way; the rules do not. */
#include "core/bytes.h"
#include "games/convoi/state.h"

#include <string.h>

/* Costs to go to the wanted cities, for one cargo. */
typedef struct Ways {
    const ConvoiTables *tables;
    const ConvoiState *state;
    uint32_t wanted;                          /* cities as bits */
    uint32_t passable;                        /* other cities that ways go through */
    uint64_t goals[CONVOI_WAY_WORDS];         /* nodes that the trains' ways depend on */
    uint16_t line_cost[CONVOI_LINES_MAX + 1]; /* as the lights are now */
    uint64_t straight[CONVOI_LINES_MAX];      /* nodes from which a line is taken as it is */
    uint16_t leave[CONVOI_LINES_MAX];         /* along a line to a wanted city */
} Ways;

enum { WAY_FAR = 0x3f3f /* two bytes 0x3f */ };

_Static_assert(CONVOI_JUNCTIONS_MAX <= 32, "a way remembers the junctions it met as bits");
/* Three settings have three legs, six have four; a junction that does not fit leaves a gap. */
_Static_assert(CONVOI_SETTINGS_MAX + CONVOI_LEGS_MAX + CONVOI_CITIES_MAX <= 64 * CONVOI_WAY_WORDS,
               "all nodes fit the words");
_Static_assert(CONVOI_SPACES_MAX + 1 + WAY_OBSTACLE * (CONVOI_LIGHTS_MAX + 1) < CONVOI_WAY_RING,
               "what is still to be settled fits a round of the ring");

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

/* ---- Tables ------------------------------------------------------------------------------------
 */

/* The line that leaves from where a run ends, in the other direction; CONVOI_NONE from a start. */
static uint8_t line_back(const ConvoiTables *tables, const Run *run)
{
    switch ((LinkKind)run->end.kind) {
    case LINK_JUNCTION:
        return (uint8_t)(4 * run->end.index + run->end.side);
    case LINK_CITY:
        return (uint8_t)(tables->line_exit + run->end.light);
    case LINK_SPACE:
    case LINK_START:
        break;
    }
    return CONVOI_NONE;
}

static void line_prepare(ConvoiTables *tables, uint8_t line, const Run *run)
{
    tables->line_cost[line] = run->points;
    for (uint64_t left = run->lights; left != 0; left &= left - 1) {
        uint8_t *lines = tables->light_line[__builtin_ctzll(left)];
        lines[lines[0] == tables->line_count ? 0 : 1] = line;
        tables->line_cost[line] = (uint16_t)(tables->line_cost[line] + WAY_OBSTACLE);
    }
}

/* The first of `count` bits in one word, from `next` on. */
static uint32_t node_room(uint32_t next, uint32_t count)
{
    return next % 64 + count > 64 ? (next + 63) / 64 * 64 : next;
}

/* Numbers the nodes of a junction from `next` on and fills in its lines. */
static uint32_t junction_prepare(ConvoiTables *tables, uint8_t junction, uint32_t next)
{
    uint8_t degree = tables->junction_degree[junction];
    uint64_t all = 0;
    next = node_room(next, degree);
    for (uint8_t leg = 0; leg < degree; leg++) {
        const Run *run = &tables->leaving_run[junction][leg];
        uint8_t line = (uint8_t)(4 * junction + leg);
        line_prepare(tables, line, run);
        tables->line_word[line] = (uint8_t)(next / 64);
        if (run->end.kind != LINK_START) {
            tables->leg_node[junction][leg] = UINT64_C(1) << next % 64;
            all |= tables->leg_node[junction][leg];
            tables->node_line[next++] = line_back(tables, run);
        }
    }
    for (uint8_t leg = 0; leg < degree; leg++) {
        tables->line_nodes[4 * junction + leg] = all & ~tables->leg_node[junction][leg];
        for (uint8_t i = 0; i < junction_setting_count(degree); i++) {
            uint8_t other = junction_other_leg(degree, i, leg);
            tables->joined_node[junction][i][leg] =
                other != CONVOI_LEG_NONE ? tables->leg_node[junction][other] : 0;
        }
    }
    return next;
}

/* The same for the cities. */
static uint32_t cities_prepare(ConvoiTables *tables, uint32_t next)
{
    next = node_room(next, tables->city_count);
    tables->city_node_first = next;
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        uint8_t line = (uint8_t)(tables->line_exit + light);
        line_prepare(tables, line, &tables->exit_run[light]);
        tables->line_word[line] = (uint8_t)(next / 64);
        tables->entry_line[light] = line_back(tables, &tables->exit_run[light]);
    }
    for (uint8_t city = 0; city < tables->city_count; city++) {
        bool passable = tables->crossing || tables->city_port[city] == CONVOI_NONE;
        tables->passable |= (uint32_t)passable << city;
        tables->city_node[city] = UINT64_C(1) << next % 64;
        tables->node_line[next++] = CONVOI_NONE;
    }
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        tables->exit_node[light] = tables->city_node[tables->light_city[light]];
    }
    return next;
}

void ways_prepare(ConvoiTables *tables)
{
    uint32_t most = 0;
    uint32_t next = 0;
    tables->line_exit = (uint8_t)(4 * tables->junction_count);
    tables->line_count = (uint8_t)(tables->line_exit + tables->city_light_count);
    memset(tables->light_line, tables->line_count, sizeof tables->light_line);
    for (uint8_t i = 0; i < tables->junction_count; i++) {
        next = junction_prepare(tables, i, next);
    }
    next = cities_prepare(tables, next);
    tables->way_words = (uint8_t)((next + 63) / 64);
    for (uint8_t line = 0; line < tables->line_count; line++) {
        most = tables->line_cost[line] > most ? tables->line_cost[line] : most;
    }
    tables->way_ring = 1;
    while (tables->way_ring <= most + WAY_OBSTACLE) {
        tables->way_ring = (uint16_t)(2 * tables->way_ring);
    }
}

/* ---- The search --------------------------------------------------------------------------------
 */

/* Nodes that wait for their turn, as bits in a ring of costs. A node may wait at several costs; the
 * first is the one that it gets. No branch depends on which of two ways is shorter. */
typedef struct Search {
    Ways *ways;
    uint32_t words;
    uint32_t last; /* the highest cost at which a node waits */
    uint64_t ring[CONVOI_WAY_RING * CONVOI_WAY_WORDS];
} Search;

static inline uint64_t *search_at(Search *search, uint32_t cost)
{
    return &search->ring[(cost & (search->ways->tables->way_ring - 1u)) * search->words];
}

/* It costs `cost` to go on from the end of `line`: then it costs the line more from where it
 * begins, and whoever arrives there pays for a switch that has to be set. */
static inline void line_settle(Search *search, uint8_t line, uint32_t cost)
{
    Ways *ways = search->ways;
    uint32_t word = search->words == 1 ? 0 : ways->tables->line_word[line];
    uint64_t straight = ways->straight[line];
    cost += ways->line_cost[line];
    ways->leave[line] = (uint16_t)cost;
    search_at(search, cost)[word] |= straight;
    cost += WAY_OBSTACLE;
    search_at(search, cost)[word] |= ways->tables->line_nodes[line] & ~straight;
    search->last = cost > search->last ? cost : search->last;
}

/* It costs `cost` to go on from `city`. */
static inline void city_settle(Search *search, uint32_t city, uint32_t cost)
{
    const ConvoiTables *tables = search->ways->tables;
    for (uint64_t left = tables->city_lights[city]; left != 0; left &= left - 1) {
        uint8_t line = tables->entry_line[__builtin_ctzll(left)];
        if (line != CONVOI_NONE) {
            line_settle(search, line, cost);
        }
    }
}

static inline void nodes_settle(Search *search, uint32_t first, uint64_t nodes, uint32_t cost)
{
    const ConvoiTables *tables = search->ways->tables;
    for (; nodes != 0; nodes &= nodes - 1) {
        uint32_t node = first + (uint32_t)__builtin_ctzll(nodes);
        uint8_t line = tables->node_line[node];
        if (line != CONVOI_NONE) {
            line_settle(search, line, cost);
        } else {
            city_settle(search, node - tables->city_node_first, cost);
        }
    }
}

/* Settles nodes in ascending order of their costs, backwards from the wanted cities, until the
 * goals of all trains are settled: what costs more is on nobody's way. The number of words is a
 * constant where this is inlined: boards like ours have one. */
__attribute__((always_inline)) static inline void search_run(Ways *ways, uint32_t words)
{
    const ConvoiTables *tables = ways->tables;
    uint64_t done[CONVOI_WAY_WORDS] = {0};
    Search search; /* only what the board needs is cleared and used */
    search.ways = ways;
    search.words = words;
    search.last = 0;
    memset(search.ring, 0, sizeof *search.ring * tables->way_ring * words);
    for (uint32_t left = ways->wanted; left != 0; left &= left - 1) {
        city_settle(&search, (uint32_t)__builtin_ctz(left), 0);
    }
    for (uint32_t city = 0; city < tables->city_count; city++) {
        done[tables->city_node_first / 64] |=
            (ways->passable >> city & 1) != 0 ? 0 : tables->city_node[city];
    }
    uint64_t open = 1;
    for (uint32_t cost = 0; cost <= search.last && open != 0;) {
        uint64_t *waiting = search_at(&search, cost);
        uint64_t again = 0; /* some line costs nothing */
        open = 0;
        for (uint32_t word = 0; word < words; word++) {
            uint64_t next = waiting[word] & ~done[word];
            done[word] |= next;
            waiting[word] = 0;
            nodes_settle(&search, 64 * word, next, cost);
            open |= ways->goals[word] & ~done[word];
        }
        for (uint32_t word = 0; word < words; word++) {
            again |= waiting[word];
        }
        open |= again;
        cost += again == 0;
    }
}

/* Finds what lines cost to the wanted cities. */
static void ways_to(Ways *ways)
{
    const ConvoiTables *tables = ways->tables;
    memset(ways->leave, 0x3f, sizeof ways->leave);
    if (tables->way_words == 1) {
        search_run(ways, 1);
    } else {
        search_run(ways, tables->way_words);
    }
}

/* Adds the node where a run ends to the goals. */
static inline void goal_add(Ways *ways, const Run *run)
{
    const ConvoiTables *tables = ways->tables;
    if (run->end.kind == LINK_JUNCTION) {
        ways->goals[tables->line_word[4 * run->end.index]] |=
            tables->leg_node[run->end.index][run->end.side];
    } else if (run->end.kind == LINK_CITY) {
        ways->goals[tables->city_node_first / 64] |= tables->city_node[run->end.index];
    }
}

/* Adds the nodes that say what the way of a train costs: where its run ends, or the runs by which
 * it can go on from a city or from a junction that has no node for those who come from a start. */
static void train_goals_add(Ways *ways, uint8_t city, const Run *run)
{
    const ConvoiTables *tables = ways->tables;
    if (city != CONVOI_NONE) {
        for (uint64_t left = tables->city_lights[city]; left != 0; left &= left - 1) {
            goal_add(ways, &tables->exit_run[__builtin_ctzll(left)]);
        }
        return;
    }
    uint8_t i = run->end.index;
    if (run->end.kind == LINK_JUNCTION && tables->leg_node[i][run->end.side] == 0) {
        for (uint8_t leg = 0; leg < tables->junction_degree[i]; leg++) {
            goal_add(ways, &tables->leaving_run[i][leg]);
        }
    }
    goal_add(ways, run);
}

/* What lines cost as the lights are now, and which nodes the switches join to them. */
static void lines_set(Ways *ways)
{
    const ConvoiTables *tables = ways->tables;
    memcpy(ways->line_cost, tables->line_cost, sizeof ways->line_cost);
    for (uint64_t green = ways->state->green; green != 0; green &= green - 1) {
        const uint8_t *lines = tables->light_line[__builtin_ctzll(green)];
        ways->line_cost[lines[0]] = (uint16_t)(ways->line_cost[lines[0]] - WAY_OBSTACLE);
        ways->line_cost[lines[1]] = (uint16_t)(ways->line_cost[lines[1]] - WAY_OBSTACLE);
    }
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        memcpy(&ways->straight[4 * i], tables->joined_node[i][ways->state->setting[i]],
               sizeof tables->joined_node[i][0]);
    }
    memcpy(&ways->straight[tables->line_exit], tables->exit_node,
           sizeof *tables->exit_node * tables->city_light_count);
}

/* ---- The ways of trains ------------------------------------------------------------------------
 */

/* What the legs of a junction cost beyond their lines, for a train that comes by one of them and is
 * joined to another one (or to none): the switch has to be set, and nobody goes back. */
static const uint16_t leg_price[CONVOI_LEGS_MAX + 1][CONVOI_LEGS_MAX] = {
    {0, WAY_OBSTACLE, WAY_OBSTACLE, WAY_OBSTACLE},
    {WAY_OBSTACLE, 0, WAY_OBSTACLE, WAY_OBSTACLE},
    {WAY_OBSTACLE, WAY_OBSTACLE, 0, WAY_OBSTACLE},
    {WAY_OBSTACLE, WAY_OBSTACLE, WAY_OBSTACLE, 0},
    {WAY_OBSTACLE, WAY_OBSTACLE, WAY_OBSTACLE, WAY_OBSTACLE},
};
static const uint16_t leg_back[CONVOI_LEGS_MAX][CONVOI_LEGS_MAX] = {
    {WAY_FAR, 0, 0, 0},
    {0, WAY_FAR, 0, 0},
    {0, 0, WAY_FAR, 0},
    {0, 0, 0, WAY_FAR},
};

/* The leg by which a train goes on that comes to a junction by the leg `from`, and what that costs:
 * the first of the cheapest. Legs that a junction does not have cost too much. */
static uint8_t junction_leave(const Ways *ways, uint8_t junction, uint8_t from, uint16_t *cost)
{
    uint8_t degree = ways->tables->junction_degree[junction];
    uint8_t open = junction_other_leg(degree, ways->state->setting[junction], from);
    const uint16_t *leave = &ways->leave[4 * junction];
    const uint16_t *price = leg_price[open];
    const uint16_t *back = leg_back[from];
    uint32_t best[CONVOI_LEGS_MAX]; /* what each leg costs, with its number behind */
    for (uint32_t to = 0; to < CONVOI_LEGS_MAX; to++) {
        best[to] = ((uint32_t)leave[to] + price[to] + back[to]) * 4 + to;
    }
    uint32_t low = best[0] < best[1] ? best[0] : best[1];
    uint32_t high = best[2] < best[3] ? best[2] : best[3];
    uint32_t least = low < high ? low : high;
    *cost = (uint16_t)(least / 4 < WAY_FAR ? least / 4 : WAY_FAR);
    return least / 4 < WAY_FAR ? least & 3 : CONVOI_LEG_NONE;
}

/* The exit by which a train leaves a city, and what that costs. */
static uint8_t city_leave(const Ways *ways, uint8_t city, uint16_t *cost)
{
    const uint16_t *leave = &ways->leave[ways->tables->line_exit];
    uint8_t best = CONVOI_NONE;
    *cost = WAY_FAR;
    for (uint64_t left = ways->tables->city_lights[city]; left != 0; left &= left - 1) {
        uint8_t light = (uint8_t)__builtin_ctzll(left);
        if (leave[light] < *cost) {
            best = light;
            *cost = leave[light];
        }
    }
    return best;
}

/* What it costs a train on the track to follow its line and go on from the end. Nobody passes a
 * start, nor a port on the European side. */
static uint16_t run_cost(const Ways *ways, const Run *run)
{
    uint32_t cost = run->points;
    uint16_t rest = WAY_FAR;
    for (uint64_t red = run->lights & ~ways->state->green; red != 0; red &= red - 1) {
        cost += WAY_OBSTACLE;
    }
    if (run->end.kind == LINK_JUNCTION) {
        junction_leave(ways, run->end.index, run->end.side, &rest);
    } else if (run->end.kind == LINK_CITY) {
        if ((ways->wanted >> run->end.index & 1) != 0) {
            rest = 0;
        } else if ((ways->passable >> run->end.index & 1) != 0) {
            city_leave(ways, run->end.index, &rest);
        }
    }
    cost += rest;
    return (uint16_t)(cost < WAY_FAR ? cost : WAY_FAR);
}

/* The first of the red lights that a train meets along `link`. */
static uint8_t light_first(const ConvoiTables *tables, Link link, uint64_t red)
{
    if (bits_single(red)) {
        return (uint8_t)__builtin_ctzll(red);
    }
    while (link.light == CONVOI_NONE || (red >> link.light & 1) == 0) {
        link = tables->ahead[2 * link.index + link.side];
    }
    return link.light;
}

/* Notes the first red light and the first closed switch on the way along `link`, which begins
 * `run`, up to a city or a junction that it meets again: that must not be set for the second time
 * before the first. */
static void way_look(const Ways *ways, Link link, const Run *run, Way *way)
{
    const ConvoiTables *tables = ways->tables;
    uint16_t cost = 0;
    uint32_t met = 0;
    while (way->light == 0 || way->setting == 0) {
        uint64_t red = run->lights & ~ways->state->green;
        if (red != 0 && way->light == 0) {
            way->light = (uint8_t)(light_first(tables, link, red) + 1);
        }
        uint8_t junction = run->end.index;
        uint8_t from = run->end.side;
        if (run->end.kind != LINK_JUNCTION || (met >> junction & 1) != 0) {
            return;
        }
        uint8_t leg = junction_leave(ways, junction, from, &cost);
        if (leg == CONVOI_LEG_NONE) {
            return;
        }
        met |= UINT32_C(1) << junction;
        uint8_t setting = junction_joining[tables->junction_degree[junction] - 3][from][leg];
        if (setting != ways->state->setting[junction] && way->setting == 0) {
            way->setting = (uint8_t)(tables->setting_first[junction] + setting + 1);
        }
        link = tables->leaving[junction][leg];
        run = &tables->leaving_run[junction][leg];
    }
}

/* The run on which a train is that is not in a city. */
static const Run *train_run_now(const Ways *ways, uint8_t train)
{
    const ConvoiTables *tables = ways->tables;
    uint8_t place = (uint8_t)(ways->state->place[train] - 1);
    return place < tables->space_count ? &tables->ahead_run[2 * place + ways->state->heading[train]]
                                       : &tables->departure_run[place - place_start(tables, 0)];
}

/* The way of a train that is not in a city which it wants. */
static void way_find(const Ways *ways, uint8_t train, bool look, Way *way)
{
    const ConvoiTables *tables = ways->tables;
    uint8_t city = city_at(tables, (uint8_t)(ways->state->place[train] - 1));
    uint16_t cost = WAY_FAR;
    const Run *run;
    Link link;
    if (city != CONVOI_NONE) {
        uint8_t light = city_leave(ways, city, &cost);
        if (light == CONVOI_NONE) {
            return;
        }
        way->exit = (uint8_t)(light + 1);
        link = tables->exit[light];
        run = &tables->exit_run[light];
    } else {
        link = train_link(tables, ways->state, train);
        run = train_run_now(ways, train);
        cost = run_cost(ways, run);
    }
    way->cost = (uint8_t)(cost < WAY_COST_MAX ? cost : WAY_COST_MAX);
    if (look && cost < WAY_FAR) {
        way_look(ways, link, run, way);
    }
}

/* Those of the trains that carry `cargo` which are not in a city that they want. */
static uint32_t trains_under_way(const Ways *ways, uint8_t cargo)
{
    const ConvoiState *state = ways->state;
    uint32_t trains = 0;
    for (uint32_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t city = city_at(ways->tables, (uint8_t)(state->place[train] - 1));
        bool there = city != CONVOI_NONE && (ways->wanted >> city & 1) != 0;
        bool out = state->place[train] != 0 && state->cargo[train] == cargo && !there;
        trains |= (uint32_t)out << train;
    }
    return trains;
}

/* The ways of the trains that carry `cargo`: they want the same cities. */
static void ways_find(Ways *ways, uint8_t cargo, bool look, Way list[CONVOI_TRAINS])
{
    const ConvoiTables *tables = ways->tables;
    ways->wanted = cities_wanted(tables, ways->state, cargo);
    ways->passable = tables->passable & ~ways->wanted;
    memset(ways->goals, 0, sizeof ways->goals);
    uint32_t trains = trains_under_way(ways, cargo);
    for (uint32_t left = trains; left != 0; left &= left - 1) {
        uint8_t train = (uint8_t)__builtin_ctz(left);
        uint8_t city = city_at(tables, (uint8_t)(ways->state->place[train] - 1));
        list[train].cost = WAY_COST_MAX;
        train_goals_add(ways, city, city == CONVOI_NONE ? train_run_now(ways, train) : NULL);
    }
    if (trains == 0 || ways->wanted == 0) {
        return;
    }
    ways_to(ways);
    for (uint32_t left = trains; left != 0; left &= left - 1) {
        uint8_t train = (uint8_t)__builtin_ctz(left);
        way_find(ways, train, look, &list[train]);
    }
}

void ways_compute(const ConvoiTables *tables, const ConvoiState *state, bool look,
                  Way list[CONVOI_TRAINS])
{
    Ways ways; /* filled where the board has something */
    uint32_t cargoes = 0;
    ways.tables = tables;
    ways.state = state;
    memset(list, 0, sizeof list[0] * CONVOI_TRAINS);
    for (uint32_t train = 0; train < CONVOI_TRAINS; train++) {
        cargoes |= (uint32_t)(state->place[train] != 0) << state->cargo[train];
    }
    lines_set(&ways);
    for (; cargoes != 0; cargoes &= cargoes - 1) {
        ways_find(&ways, (uint8_t)__builtin_ctz(cargoes), look, list);
    }
}
