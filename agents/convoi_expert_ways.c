/* The Convoi Express expert's ways: what it costs to get from anywhere to each city. */
#include "convoi_expert.h"

#include <assert.h>
#include <string.h>

static void lanes_fill(Lanes *lanes, int16_t value)
{
    for (uint32_t i = 0; i < CONVOI_CITIES_MAX; i++) {
        lanes->to[i] = value;
    }
}

/* Lowers `lanes` to `other` and `price` more, where that is less. */
static inline void lanes_lower(Lanes *lanes, const Lanes *other, int32_t price)
{
    for (uint32_t i = 0; i < CONVOI_CITIES_MAX; i++) {
        int16_t value = (int16_t)(other->to[i] + price);
        lanes->to[i] = value < lanes->to[i] ? value : lanes->to[i];
    }
}

static inline void lanes_add(Lanes *lanes, const Lanes *other)
{
    for (uint32_t i = 0; i < CONVOI_CITIES_MAX; i++) {
        lanes->to[i] = (int16_t)(lanes->to[i] + other->to[i]);
    }
}

/* ---- Tolls ---- */

static uint16_t light_toll(const Costs *costs, uint8_t light)
{
    bool charged = light != CONVOI_NONE && (costs->usual || (costs->green >> light & 1) == 0);
    return (uint16_t)(charged ? costs->price_light : 0);
}

static int32_t switch_toll(const Costs *costs, uint8_t junction, uint8_t setting)
{
    return costs->usual || costs->setting[junction] != setting ? costs->price_switch : 0;
}

/* Adds up what the line costs besides its spaces, from its end on. */
static void line_charge(Costs *costs, const Map *map, uint8_t number)
{
    const MapLine *line = &map->line[number];
    uint16_t toll = light_toll(costs, line->last_light);
    if (line->end == LINE_CITY) {
        toll = (uint16_t)(toll + costs->charge[map->first_city + line->city]);
    }
    for (uint32_t i = line->node_count; i-- > 0;) {
        uint16_t node = map->line_nodes[line->first_node + i];
        costs->node_toll[node] = toll;
        toll = (uint16_t)(toll + light_toll(costs, map->node_light[node]) + costs->charge[node]);
    }
    costs->toll[number] = toll;
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        int32_t whole = toll + map->line_price[colour][number];
        costs->whole[number][colour] = (int16_t)(whole < MAP_LINE_MOST ? whole : MAP_LINE_MOST);
    }
}

/* What the switch at the end of a line costs, as it is set. */
static void line_gate(Costs *costs, const Map *map, uint8_t number)
{
    const MapLine *line = &map->line[number];
    for (uint32_t i = 0; i < line->next_count; i++) {
        costs->gate[number][i] = (int16_t)switch_toll(costs, line->junction, line->next_setting[i]);
    }
}

/* Trains are in the way of other trains, above all of those that come from ahead. */
static void trains_charge(Costs *costs, const Map *map, const ConvoiTables *tables,
                          const ConvoiState *state)
{
    memset(costs->charge, 0, map->first_start * sizeof costs->charge[0]);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t place = (uint8_t)(state->place[train] - 1);
        if (state->place[train] == 0 || place >= place_start(tables, 0)) {
            continue;
        }
        uint16_t node = convoi_map_node(tables, place, state->heading[train]);
        if (place < tables->space_count) {
            costs->charge[node] = (uint16_t)(costs->charge[node] + NODE_FOLLOW);
            costs->charge[node ^ 1] = (uint16_t)(costs->charge[node ^ 1] + NODE_FACING);
        } else {
            costs->charge[node] = (uint16_t)(costs->charge[node] + NODE_CITY);
        }
    }
}

/* ---- The search ---- */

enum { QUEUE_MAX = 256 };

/* Lines, and behind them cities, whose continuation may cost something else than is noted, the
 * first that came first. */
typedef struct Queue {
    uint8_t head;
    uint8_t count; /* below 256: each line waits once */
    uint64_t waiting[QUEUE_MAX / 64];
    uint8_t ring[QUEUE_MAX];
} Queue;

_Static_assert(MAP_LINES_MAX + CONVOI_CITIES_MAX < QUEUE_MAX, "all fit into the ring");

static void queue_init(Queue *queue)
{
    queue->head = queue->count = 0;
    memset(queue->waiting, 0, sizeof queue->waiting);
}

static void queue_push(Queue *queue, uint8_t line)
{
    uint64_t bit = UINT64_C(1) << line % 64;
    if ((queue->waiting[line / 64] & bit) == 0) {
        queue->waiting[line / 64] |= bit;
        queue->ring[(uint8_t)(queue->head + queue->count++)] = line;
    }
}

static uint8_t queue_pop(Queue *queue)
{
    uint8_t line = queue->ring[queue->head++];
    queue->count--;
    queue->waiting[line / 64] &= ~(UINT64_C(1) << line % 64);
    return line;
}

static void queue_push_city(Queue *queue, const Map *map, uint8_t city)
{
    for (uint32_t i = 0; i < map->city_line_count[city]; i++) {
        queue_push(queue, map->city_lines[city][i]);
    }
}

/* From a city on: by its best exit. */
static Lanes city_solve(const Costs *costs, const ConvoiTables *tables, uint8_t colour,
                        uint8_t city)
{
    Lanes lanes;
    lanes_fill(&lanes, MAP_COST_FAR);
    for (uint64_t left = tables->city_lights[city]; left != 0; left &= left - 1) {
        uint8_t line = (uint8_t)(tables->line_exit + __builtin_ctzll(left));
        lanes_lower(&lanes, &costs->end[line][colour], costs->whole[line][colour]);
    }
    lanes.to[city] = 0;
    return lanes;
}

/* From the end of a line on. */
static inline Lanes line_solve(const Costs *costs, const Map *map, uint8_t colour, uint8_t number)
{
    const MapLine *line = &map->line[number];
    Lanes lanes;
    lanes_fill(&lanes, MAP_COST_FAR);
    if (line->end == LINE_CITY) {
        Lanes on = map->passing[line->city];
        lanes_add(&on, &costs->city[line->city][colour]);
        lanes_lower(&lanes, &on, 0);
        return lanes;
    }
    for (uint32_t i = 0; i < line->next_count; i++) {
        uint8_t next = line->next[i];
        lanes_lower(&lanes, &costs->end[next][colour],
                    costs->whole[next][colour] + costs->gate[number][i]);
    }
    return lanes;
}

/* Notes `lanes`; returns whether they are others than before. */
static bool lanes_note(Lanes *noted, const Lanes *lanes)
{
    bool changed = memcmp(noted, lanes, sizeof *noted) != 0;
    *noted = *lanes;
    return changed;
}

/* The line costs something else: so may whatever goes on with it. */
static void line_spread(const Map *map, const ConvoiTables *tables, uint8_t line, Queue *queue)
{
    if (line >= map->line_start) {
        return;
    }
    if (line >= tables->line_exit) {
        uint8_t city = tables->light_city[line - tables->line_exit];
        queue_push(queue, (uint8_t)(map->line_count + city));
        return;
    }
    for (uint32_t i = 0; i < MAP_LEG_WAYS && map->line[line].feeds[i] != MAP_NO_LINE; i++) {
        queue_push(queue, map->line[line].feeds[i]);
    }
}

/* Computes a city again, and queues what depends on it if that changes. */
static void city_renew(Costs *costs, const Map *map, const ConvoiTables *tables, uint32_t colours,
                       uint8_t city, Queue *queue)
{
    bool changed = false;
    for (uint32_t left = colours; left != 0; left &= left - 1) {
        uint8_t colour = (uint8_t)__builtin_ctz(left);
        Lanes lanes = city_solve(costs, tables, colour, city);
        changed = lanes_note(&costs->city[city][colour], &lanes) || changed;
    }
    if (changed) {
        queue_push_city(queue, map, city);
    }
}

/* The same for a line. */
static void line_renew(Costs *costs, const Map *map, const ConvoiTables *tables, uint32_t colours,
                       uint8_t line, Queue *queue)
{
    bool changed = false;
    for (uint32_t left = colours; left != 0; left &= left - 1) {
        uint8_t colour = (uint8_t)__builtin_ctz(left);
        Lanes lanes = line_solve(costs, map, colour, line);
        changed = lanes_note(&costs->end[line][colour], &lanes) || changed;
    }
    if (changed) {
        line_spread(map, tables, line, queue);
    }
}

/* Computes what is queued again, and what follows from it, until nothing changes. */
static void queue_run(Costs *costs, const Map *map, const ConvoiTables *tables, uint32_t colours,
                      Queue *queue)
{
    while (queue->count > 0) {
        uint8_t item = queue_pop(queue);
        if (item >= map->line_count) {
            city_renew(costs, map, tables, colours, (uint8_t)(item - map->line_count), queue);
        } else {
            line_renew(costs, map, tables, colours, item, queue);
        }
    }
}

/* Finds the ways of a colour, from every city backwards. */
static void colour_solve(Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t colour)
{
    Queue queue;
    queue_init(&queue);
    for (uint8_t city = 0; city < tables->city_count; city++) {
        lanes_fill(&costs->city[city][colour], MAP_COST_FAR);
        costs->city[city][colour].to[city] = 0;
        queue_push_city(&queue, map, city);
    }
    for (uint32_t line = 0; line < map->line_count; line++) {
        lanes_fill(&costs->end[line][colour], MAP_COST_FAR);
    }
    queue_run(costs, map, tables, 1u << colour, &queue);
    costs->solved |= (uint8_t)(1u << colour);
}

/* ---- Positions ---- */

/* Lines whose tolls are others than before. */
typedef struct Changes {
    uint32_t count;
    uint8_t lines[MAP_LINES_MAX];
} Changes;

/* Solves again what depends on lines that changed, and on junctions (bits) that were switched. */
static void changes_solve(Costs *costs, const Map *map, const ConvoiTables *tables,
                          const Changes *changes, uint32_t switched)
{
    Queue queue;
    queue_init(&queue);
    for (uint32_t i = 0; i < changes->count; i++) {
        line_spread(map, tables, changes->lines[i], &queue);
    }
    for (uint32_t left = switched; left != 0; left &= left - 1) {
        uint32_t junction = (uint32_t)__builtin_ctz(left);
        for (uint32_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
            uint8_t line = map->arriving[junction][leg];
            if (line != MAP_NO_LINE) {
                line_gate(costs, map, line);
                queue_push(&queue, line);
            }
        }
    }
    queue_run(costs, map, tables, costs->solved, &queue);
}

static uint32_t switches_take(Costs *costs, const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t switched = 0;
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        switched |= (uint32_t)(!costs->begun || costs->setting[i] != state->setting[i]) << i;
    }
    costs->begun = true;
    memcpy(costs->setting, state->setting, tables->junction_count);
    return switched;
}

/* Colours whose trains are all gone are not kept up to date; new trains are black. */
static uint8_t colours_on_board(const ConvoiState *state)
{
    uint8_t colours = 1;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        colours |= (uint8_t)((state->place[train] != 0) << train_colour(train));
    }
    return colours;
}

void convoi_costs_update(Costs *costs, const Map *map, const ConvoiTables *tables,
                         const ConvoiState *state)
{
    Changes changed;
    changed.count = 0;
    costs->price_light = PRICE_LIGHT;
    costs->price_switch = PRICE_SWITCH;
    costs->green = state->green;
    costs->solved &= colours_on_board(state);
    trains_charge(costs, map, tables, state);
    for (uint8_t line = 0; line < map->line_count; line++) {
        uint16_t before = costs->toll[line];
        line_charge(costs, map, line);
        if (costs->toll[line] != before) {
            changed.lines[changed.count++] = line;
        }
    }
    uint32_t switched = switches_take(costs, tables, state);
    changes_solve(costs, map, tables, &changed, switched);
}

/* Copies what belongs to lines and nodes that the map has. */
static void costs_copy(Costs *costs, const Costs *base, const Map *map)
{
    memcpy(costs, base, offsetof(Costs, end));
    memcpy(costs->end, base->end, map->line_count * sizeof base->end[0]);
}

void convoi_costs_vary(Costs *costs, const Costs *base, const Map *map, const ConvoiTables *tables,
                       const ConvoiState *state)
{
    Changes changed;
    changed.count = 0;
    costs_copy(costs, base, map);
    costs->green = state->green;
    for (uint64_t left = base->green ^ state->green; left != 0; left &= left - 1) {
        const uint8_t *lines = map->light_line[__builtin_ctzll(left)];
        for (uint32_t i = 0; i < 3 && lines[i] != MAP_NO_LINE; i++) {
            line_charge(costs, map, lines[i]);
            changed.lines[changed.count++] = lines[i];
        }
    }
    uint32_t switched = switches_take(costs, tables, state);
    changes_solve(costs, map, tables, &changed, switched);
}

/* ---- Asking ---- */

static int32_t line_whole(const Costs *costs, uint8_t colour, uint8_t line, uint8_t city)
{
    return costs->whole[line][colour] + costs->end[line][colour].to[city];
}

static void colour_need(Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t colour)
{
    if ((costs->solved >> colour & 1) == 0) {
        colour_solve(costs, map, tables, colour);
    }
}

int32_t convoi_way_cost(Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t colour,
                        uint8_t city, uint16_t node)
{
    int32_t cost = 0;
    colour_need(costs, map, tables, colour);
    if (node < map->first_city) {
        cost = costs->node_toll[node] + map->node_left[node] * convoi_space_price(colour) +
               costs->end[map->node_line[node]][colour].to[city];
    } else if (node < map->first_start) {
        cost = costs->city[node - map->first_city][colour].to[city];
    } else {
        cost =
            line_whole(costs, colour, (uint8_t)(map->line_start + (node - map->first_start)), city);
    }
    return cost < MAP_COST_FAR ? cost : MAP_COST_NO_WAY;
}

/* The cheapest exit of a city. */
static bool exit_step(const Costs *costs, const Map *map, const ConvoiTables *tables,
                      uint8_t colour, uint8_t city, uint8_t from, MapEdge *edge)
{
    int32_t best = MAP_COST_FAR;
    for (uint64_t left = tables->city_lights[from]; left != 0; left &= left - 1) {
        uint8_t line = (uint8_t)(tables->line_exit + __builtin_ctzll(left));
        int32_t cost = line_whole(costs, colour, line, city);
        if (cost < best) {
            best = cost;
            *edge = map->line[line].first;
        }
    }
    return best < MAP_COST_FAR;
}

/* The cheapest setting of a junction. */
static bool leg_step(const Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t colour,
                     uint8_t city, uint16_t node, MapEdge *edge)
{
    uint8_t junction = (uint8_t)((node - map->first_leg) / CONVOI_LEGS_MAX);
    uint8_t leg = (uint8_t)((node - map->first_leg) % CONVOI_LEGS_MAX);
    uint8_t degree = tables->junction_degree[junction];
    int32_t best = MAP_COST_FAR;
    for (uint8_t setting = 0; setting < junction_setting_count(degree); setting++) {
        uint8_t other = junction_other_leg(degree, setting, leg);
        if (other == CONVOI_LEG_NONE) {
            continue;
        }
        uint8_t line = (uint8_t)(CONVOI_LEGS_MAX * junction + other);
        int32_t cost =
            line_whole(costs, colour, line, city) + switch_toll(costs, junction, setting);
        if (cost < best) {
            best = cost;
            *edge = map->line[line].first;
            edge->junction = junction;
            edge->setting = setting;
        }
    }
    return best < MAP_COST_FAR;
}

bool convoi_way_step(Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t colour,
                     uint8_t city, uint16_t node, MapEdge *edge)
{
    colour_need(costs, map, tables, colour);
    if (node >= map->first_leg) {
        return leg_step(costs, map, tables, colour, city, node, edge);
    }
    if (node >= map->first_start) {
        uint8_t line = (uint8_t)(map->line_start + (node - map->first_start));
        *edge = map->line[line].first;
        return costs->end[line][colour].to[city] < MAP_COST_FAR;
    }
    if (node >= map->first_city) {
        return exit_step(costs, map, tables, colour, city, (uint8_t)(node - map->first_city), edge);
    }
    *edge = map->ahead[node];
    return costs->end[map->node_line[node]][colour].to[city] < MAP_COST_FAR;
}

/* ---- Ways as they usually are ---- */

static void usual_goods_init(UsualWays *usual, Costs *scratch, const Map *map,
                             const ConvoiTables *tables, uint8_t goods)
{
    uint8_t city = tables->goods_city[goods];
    for (uint8_t start = 0; start < tables->start_count; start++) {
        uint16_t node = convoi_map_node(tables, place_start(tables, start), 0);
        usual->approach[start][goods] =
            (uint16_t)convoi_way_cost(scratch, map, tables, 0, city, node);
    }
    for (uint8_t port = 0; port < tables->city_count; port++) {
        for (uint8_t colour = 0; colour < CONVOI_COLOURS && tables->city_port[port] != CONVOI_NONE;
             colour++) {
            usual->leg[colour][goods][tables->city_port[port]] = (uint16_t)convoi_way_cost(
                scratch, map, tables, colour, port, (uint16_t)(map->first_city + city));
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
    memset(scratch, 0, sizeof *scratch);
    scratch->usual = true;
    scratch->price_light = USUAL_LIGHT;
    scratch->price_switch = USUAL_SWITCH;
    for (uint8_t line = 0; line < map->line_count; line++) {
        line_charge(scratch, map, line);
        line_gate(scratch, map, line);
    }
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        if (tables->goods_city[goods] != CONVOI_NONE) {
            usual_goods_init(usual, scratch, map, tables, goods);
            usual->anew[goods] = usual_anew(usual, tables, goods);
        }
    }
}
