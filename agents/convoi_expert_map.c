/* The Convoi Express expert's map: the board as a graph, and what ways on it cost. */
#include "convoi_expert.h"

#include <assert.h>
#include <string.h>

uint16_t convoi_map_node(const ConvoiTables *tables, uint8_t place, uint8_t heading)
{
    return (uint16_t)(place < tables->space_count ? 2 * place + heading
                                                  : tables->space_count + place);
}

static uint16_t city_node(const ConvoiTables *tables, uint8_t city)
{
    return convoi_map_node(tables, place_city(tables, city), 0);
}

static uint16_t leg_node(const Map *map, uint8_t junction, uint8_t leg)
{
    return (uint16_t)(map->first_leg + CONVOI_LEGS_MAX * junction + leg);
}

/* Adds the edge from `from` along `link`. No way leads into a start space. */
static void edge_add(Map *map, const ConvoiTables *tables, uint16_t from, Link link, MapEdge edge)
{
    edge.from = from;
    edge.light = link.light;
    edge.points = link.kind != LINK_JUNCTION;
    switch ((LinkKind)link.kind) {
    case LINK_SPACE:
        edge.to = convoi_map_node(tables, link.index, link.side);
        break;
    case LINK_CITY:
        edge.to = city_node(tables, link.index);
        break;
    case LINK_JUNCTION:
        edge.to = leg_node(map, link.index, link.side);
        break;
    case LINK_START:
        return;
    }
    assert(map->edge_count < MAP_EDGES_MAX);
    map->edge[map->edge_count++] = edge;
}

static void place_edges_add(Map *map, const ConvoiTables *tables, uint16_t node)
{
    const MapEdge plain = {.junction = CONVOI_NONE};
    uint16_t cities = (uint16_t)(2 * tables->space_count);
    uint16_t starts = (uint16_t)(cities + tables->city_count);
    if (node < cities) {
        edge_add(map, tables, node, tables->ahead[node], plain);
    } else if (node < starts) {
        for (uint64_t left = tables->city_lights[node - cities]; left != 0; left &= left - 1) {
            edge_add(map, tables, node, tables->exit[__builtin_ctzll(left)], plain);
        }
    } else {
        edge_add(map, tables, node, tables->departure[node - starts], plain);
    }
}

static void leg_edges_add(Map *map, const ConvoiTables *tables, uint16_t node)
{
    uint8_t junction = (uint8_t)((node - map->first_leg) / CONVOI_LEGS_MAX);
    uint8_t leg = (uint8_t)((node - map->first_leg) % CONVOI_LEGS_MAX);
    uint8_t degree = tables->junction_degree[junction];
    for (uint8_t setting = 0; setting < junction_setting_count(degree); setting++) {
        uint8_t other = junction_other_leg(degree, setting, leg);
        if (other != CONVOI_NONE) {
            edge_add(map, tables, node, tables->leaving[junction][other],
                     (MapEdge){.junction = junction, .setting = setting});
        }
    }
}

/* Lists the edges by the node they lead to. */
static void edges_turn_round(Map *map)
{
    uint16_t filled[MAP_NODES_MAX] = {0};
    for (uint32_t i = 0; i < map->edge_count; i++) {
        map->first_in[map->edge[i].to + 1]++;
    }
    for (uint32_t i = 0; i < map->node_count; i++) {
        map->first_in[i + 1] = (uint16_t)(map->first_in[i + 1] + map->first_in[i]);
    }
    for (uint16_t i = 0; i < map->edge_count; i++) {
        uint16_t to = map->edge[i].to;
        map->edge_in[map->first_in[to] + filled[to]++] = i;
    }
}

void convoi_map_init(Map *map, const ConvoiTables *tables)
{
    memset(map, 0, sizeof *map);
    map->first_leg = (uint16_t)(2 * tables->space_count + tables->city_count + tables->start_count);
    map->node_count = (uint16_t)(map->first_leg + CONVOI_LEGS_MAX * tables->junction_count);
    for (uint16_t node = 0; node < map->node_count; node++) {
        map->first_out[node] = map->edge_count;
        if (node < map->first_leg) {
            place_edges_add(map, tables, node);
        } else {
            leg_edges_add(map, tables, node);
        }
    }
    map->first_out[map->node_count] = map->edge_count;
    for (uint8_t city = 0; city < tables->city_count; city++) {
        map->is_city[city_node(tables, city)] = true;
    }
    edges_turn_round(map);
}

/* Adds `price` to every edge that leads to `node`. */
static void node_charge(Costs *costs, const Map *map, uint16_t node, int32_t price)
{
    for (uint32_t i = map->first_in[node]; i < map->first_in[node + 1]; i++) {
        uint16_t *obstacle = &costs->obstacle[map->edge_in[i]];
        *obstacle = (uint16_t)(*obstacle + price);
    }
}

/* Trains are in the way of other trains, above all of those that come from ahead. */
static void trains_charge(Costs *costs, const Map *map, const ConvoiTables *tables,
                          const ConvoiState *state)
{
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t place = (uint8_t)(state->place[train] - 1);
        if (state->place[train] == 0 || place >= place_start(tables, 0)) {
            continue;
        }
        uint16_t node = convoi_map_node(tables, place, state->heading[train]);
        if (place < tables->space_count) {
            node_charge(costs, map, node, NODE_FOLLOW);
            node_charge(costs, map, node ^ 1, NODE_FACING);
        } else {
            node_charge(costs, map, node, NODE_CITY);
        }
    }
}

void convoi_costs_init(Costs *costs, const Map *map, const ConvoiTables *tables,
                       const ConvoiState *state)
{
    memset(costs->ready, 0, sizeof costs->ready);
    for (uint32_t i = 0; i < map->edge_count; i++) {
        const MapEdge *edge = &map->edge[i];
        bool red = edge->light != CONVOI_NONE && (state->green >> edge->light & 1) == 0;
        bool closed =
            edge->junction != CONVOI_NONE && state->setting[edge->junction] != edge->setting;
        costs->obstacle[i] = (uint16_t)((red ? PRICE_LIGHT : 0) + (closed ? PRICE_SWITCH : 0));
    }
    trains_charge(costs, map, tables, state);
}

/* What one space costs a train of `colour`: a move by die, shared among the die's mean. */
static uint16_t space_cost(uint8_t colour)
{
    static const uint8_t mean_sixths[CONVOI_COLOURS] = {21, 15, 10};
    return (uint16_t)(6 * PRICE_MOVE / mean_sixths[colour]);
}

/* Whether a train on its way to another city gets past this one (rules 9, 10; ruling 16). */
static bool city_passable(const ConvoiTables *tables, uint8_t city, bool loaded)
{
    return tables->city_port[city] == CONVOI_NONE || (tables->crossing && !loaded);
}

/* A search from the target backwards: nodes whose cost fell wait in a ring. */
typedef struct Search {
    const Map *map;
    const Costs *costs;
    uint16_t space; /* what one space costs */
    uint16_t *cost;
    uint16_t head;
    uint16_t count;
    uint16_t ring[MAP_NODES_MAX];
    bool waiting[MAP_NODES_MAX];
} Search;

static void search_push(Search *search, uint16_t node)
{
    if (!search->waiting[node]) {
        search->waiting[node] = true;
        uint32_t slot = (uint32_t)search->head + search->count++;
        search->ring[slot < MAP_NODES_MAX ? slot : slot - MAP_NODES_MAX] = node;
    }
}

static uint16_t search_pop(Search *search)
{
    uint16_t node = search->ring[search->head];
    search->head = (uint16_t)(search->head + 1 == MAP_NODES_MAX ? 0 : search->head + 1);
    search->count--;
    search->waiting[node] = false;
    return node;
}

/* Whether only one edge leads to `node`, so that a search can run on along it. */
static bool node_in_line(const Map *map, uint16_t node)
{
    return !map->is_city[node] && map->first_in[node + 1] - map->first_in[node] == 1;
}

/* Runs backwards along edge `index`, whose far end costs `here`, as far as the line has no fork. */
static void search_run(Search *search, uint16_t index, uint32_t here)
{
    const Map *map = search->map;
    for (;;) {
        const MapEdge *edge = &map->edge[index];
        uint16_t node = edge->from;
        here += search->costs->obstacle[index] + (edge->points ? search->space : 0u);
        if (here >= search->cost[node]) {
            return;
        }
        search->cost[node] = (uint16_t)here;
        if (!node_in_line(map, node)) {
            search_push(search, node);
            return;
        }
        index = map->edge_in[map->first_in[node]];
    }
}

const uint16_t *convoi_costs_to(Costs *costs, const Map *map, const ConvoiTables *tables,
                                uint8_t colour, uint8_t city)
{
    uint16_t *cost = costs->to[colour][city];
    if (costs->ready[colour][city]) {
        return cost;
    }
    bool loaded = tables->city_port[city] != CONVOI_NONE;
    uint16_t goal = city_node(tables, city);
    Search search = {.map = map, .costs = costs, .space = space_cost(colour), .cost = cost};
    memset(cost, 0xff, map->node_count * sizeof *cost);
    cost[goal] = 0;
    search_push(&search, goal);
    while (search.count > 0) {
        uint16_t node = search_pop(&search);
        uint32_t here = cost[node];
        if (map->is_city[node] && node != goal) {
            if (!city_passable(tables, (uint8_t)(node - 2 * tables->space_count), loaded)) {
                continue;
            }
            here += tables->crossing ? 0 : (uint32_t)PRICE_STOP;
        }
        for (uint32_t i = map->first_in[node]; i < map->first_in[node + 1]; i++) {
            search_run(&search, map->edge_in[i], here);
        }
    }
    costs->ready[colour][city] = true;
    return cost;
}

const MapEdge *convoi_costs_step(const Costs *costs, const Map *map, uint8_t colour, uint8_t city,
                                 uint16_t node)
{
    const uint16_t *cost = costs->to[colour][city];
    const MapEdge *best = NULL;
    uint32_t best_way = MAP_COST_FAR;
    for (uint32_t i = map->first_out[node]; i < map->first_out[node + 1]; i++) {
        const MapEdge *edge = &map->edge[i];
        uint32_t way = (uint32_t)cost[edge->to] + costs->obstacle[i] +
                       (edge->points ? space_cost(colour) : 0u);
        if (cost[edge->to] != MAP_COST_FAR && way < best_way) {
            best_way = way;
            best = edge;
        }
    }
    return best;
}

/* Costs with every light and switch at its usual price. */
static void costs_init_usual(Costs *costs, const Map *map)
{
    memset(costs->ready, 0, sizeof costs->ready);
    for (uint32_t i = 0; i < map->edge_count; i++) {
        const MapEdge *edge = &map->edge[i];
        costs->obstacle[i] = (uint16_t)((edge->light != CONVOI_NONE ? USUAL_LIGHT : 0) +
                                        (edge->junction != CONVOI_NONE ? USUAL_SWITCH : 0));
    }
}

/* Boards of users may have no way for a loaded train. */
static uint16_t usual_cost(uint16_t cost)
{
    return cost == MAP_COST_FAR ? MAP_COST_NO_WAY : cost;
}

static void usual_goods_init(UsualWays *usual, Costs *scratch, const Map *map,
                             const ConvoiTables *tables, uint8_t goods)
{
    uint8_t city = tables->goods_city[goods];
    const uint16_t *to = convoi_costs_to(scratch, map, tables, 0, city);
    for (uint8_t start = 0; start < tables->start_count; start++) {
        usual->approach[start][goods] =
            usual_cost(to[convoi_map_node(tables, place_start(tables, start), 0)]);
    }
    for (uint8_t port = 0; port < tables->city_count; port++) {
        for (uint8_t colour = 0; colour < CONVOI_COLOURS && tables->city_port[port] != CONVOI_NONE;
             colour++) {
            to = convoi_costs_to(scratch, map, tables, colour, port);
            usual->leg[colour][goods][tables->city_port[port]] =
                usual_cost(to[city_node(tables, city)]);
        }
    }
}

/* A new train, its way from a random start, loading, its way to a port. */
static uint16_t usual_anew(const UsualWays *usual, const ConvoiTables *tables, uint8_t goods)
{
    int32_t approach = 0;
    int32_t leg = 0;
    assert(tables->start_count > 0 && tables->port_count > 0);
    for (uint8_t start = 0; start < tables->start_count; start++) {
        approach += usual->approach[start][goods];
    }
    for (uint8_t port = 0; port < tables->port_count; port++) {
        leg += usual->leg[0][goods][port];
    }
    return (uint16_t)(PRICE_NEW + approach / tables->start_count + PRICE_LOAD +
                      leg / tables->port_count);
}

void convoi_usual_init(UsualWays *usual, Costs *scratch, const Map *map, const ConvoiTables *tables)
{
    memset(usual, 0, sizeof *usual);
    costs_init_usual(scratch, map);
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        if (tables->goods_city[goods] != CONVOI_NONE) {
            usual_goods_init(usual, scratch, map, tables, goods);
            usual->anew[goods] = usual_anew(usual, tables, goods);
        }
    }
}
