/* The Convoi Express expert's ways: what it costs to get from anywhere to each city. */
#include "convoi_expert.h"
#include "core/bytes.h"
#include "core/processor.h"

#include <assert.h>
#include <string.h>

/* Lanes side by side, for sums that are done for all of them at once, and those of all colours:
 * whatever changes for one colour changes for the others, too. */
typedef int16_t LaneVector __attribute__((vector_size(sizeof(Lanes))));
typedef int64_t WordVector __attribute__((vector_size(sizeof(Lanes))));

typedef struct Fan {
    LaneVector of[CONVOI_COLOURS];
} Fan;

INLINE LaneVector lanes_load(const Lanes *lanes)
{
    LaneVector vector;
    memcpy(&vector, lanes, sizeof vector);
    return vector;
}

INLINE LaneVector lanes_of(int16_t value)
{
    return (LaneVector){0} + value;
}

INLINE LaneVector lanes_lower(LaneVector lanes, LaneVector other)
{
#ifdef __SSE2__ /* one instruction, which compilers do not find in what is below */
    return (LaneVector)_mm_min_epi16((__m128i)lanes, (__m128i)other);
#else
    LaneVector less = other < lanes;
    return (other & less) | (lanes & ~less);
#endif
}

INLINE Fan fan_load(const Lanes noted[CONVOI_COLOURS])
{
    Fan fan;
    memcpy(&fan, noted, sizeof fan);
    return fan;
}

/* The same lanes for every colour. */
INLINE Fan fan_of(LaneVector lanes)
{
    Fan fan;
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        fan.of[colour] = lanes;
    }
    return fan;
}

/* The lower of `fan` and of what `from` costs with `price` besides. */
INLINE Fan fan_lower(Fan fan, const Lanes from[CONVOI_COLOURS], LaneVector price)
{
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        fan.of[colour] = lanes_lower(fan.of[colour], lanes_load(&from[colour]) + price);
    }
    return fan;
}

/* `fan` with what each colour pays besides. */
INLINE Fan fan_plus(Fan fan, const int16_t price[CONVOI_COLOURS])
{
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        fan.of[colour] += lanes_of(price[colour]);
    }
    return fan;
}

/* Notes `fan`; returns whether it is another than before. */
INLINE bool fan_note(Lanes noted[CONVOI_COLOURS], Fan fan)
{
    LaneVector changes = {0};
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        changes |= fan.of[colour] ^ lanes_load(&noted[colour]);
        memcpy(&noted[colour], &fan.of[colour], sizeof noted[colour]);
    }
    WordVector words = (WordVector)changes;
    return (words[0] | words[1]) != 0;
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

/* Adds up what the line costs besides its spaces, from its end on. Returns whether it costs
 * something else than before. */
static bool line_charge(Costs *costs, const Map *map, uint8_t number)
{
    const MapLine *line = &map->line[number];
    int16_t more[CONVOI_COLOURS];
    uint16_t toll = light_toll(costs, line->last_light);
    if (line->end == LINE_CITY) {
        toll = (uint16_t)(toll + costs->charge[map->first_city + line->city]);
    }
    for (uint32_t i = line->node_count; i-- > 0;) {
        uint16_t node = map->line_nodes[line->first_node + i];
        costs->node_toll[node] = toll;
        toll = (uint16_t)(toll + light_toll(costs, map->node_light[node]) + costs->charge[node]);
    }
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        int32_t whole = toll + map->line_price[colour][number];
        whole = whole < MAP_LINE_MOST ? whole : MAP_LINE_MOST;
        more[colour] = (int16_t)(whole - costs->whole[number][colour]);
        costs->whole[number][colour] = (int16_t)whole;
    }
    return fan_note(costs->line[number], fan_plus(fan_load(costs->line[number]), more));
}

/* What the switch at the end of a line costs, as it is set. */
static void line_gate(Costs *costs, const Map *map, uint8_t number)
{
    const MapLine *line = &map->line[number];
    for (uint32_t i = 0; i < line->next_count; i++) {
        costs->gate[number][i] = (int16_t)switch_toll(costs, line->junction, line->next_setting[i]);
    }
}

static void charge_add(Costs *costs, uint16_t node, int32_t price)
{
    costs->charge[node] = (uint16_t)(costs->charge[node] + price);
}

/* A train is in the way of other trains, above all of those that come from ahead: charges for it,
 * or with `times` -1 no longer. Adds the lines on which that makes a difference. */
static void train_charge(Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t train,
                         int32_t times, Items *lines)
{
    uint8_t place = (uint8_t)(costs->place[train] - 1);
    if (costs->place[train] == 0 || place >= place_start(tables, 0)) {
        return;
    }
    uint16_t node = convoi_map_node(tables, place, costs->heading[train]);
    if (place < tables->space_count) {
        charge_add(costs, node, times * NODE_FOLLOW);
        charge_add(costs, node ^ 1, times * NODE_FACING);
        items_add(lines, map->node_line[node]);
        items_add(lines, map->node_line[node ^ 1]);
        return;
    }
    charge_add(costs, node, times * NODE_CITY);
    for (uint32_t i = 0; i < MAP_ITEM_WORDS; i++) {
        lines->bits[i] |= map->spread[map->line_count + node - map->first_city].bits[i];
    }
}

/* Charges for trains that moved. */
static void trains_charge(Costs *costs, const Map *map, const ConvoiTables *tables,
                          const ConvoiState *state, Items *lines)
{
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (costs->place[train] != state->place[train] ||
            costs->heading[train] != state->heading[train]) {
            train_charge(costs, map, tables, train, -1, lines);
            costs->place[train] = state->place[train];
            costs->heading[train] = state->heading[train];
            train_charge(costs, map, tables, train, 1, lines);
        }
    }
}

/* Adds the lines that these lights are on. */
static void lights_touch(const Map *map, uint64_t lights, Items *lines)
{
    for (uint64_t left = lights; left != 0; left &= left - 1) {
        const uint8_t *on = map->light_line[__builtin_ctzll(left)];
        for (uint32_t i = 0; i < 3 && on[i] != MAP_NO_LINE; i++) {
            items_add(lines, on[i]);
        }
    }
}

/* ---- The search ---- */

/* Adds what follows from the cost of a line or a city, if `changed`. */
INLINE void items_spread(Items *items, const Map *map, uint32_t item, bool changed)
{
    for (uint32_t i = 0; i < MAP_ITEM_WORDS; i++) {
        items->bits[i] |= bits_if(changed, map->spread[item].bits[i]);
    }
}

/* From a city on: by its best exit. Returns whether that costs something else than before. */
INLINE bool city_renew(Costs *costs, const Map *map, const ConvoiTables *tables, uint32_t city)
{
    Fan fan = fan_of(lanes_load(&map->home[city]));
    for (uint64_t left = tables->city_lights[city]; left != 0; left &= left - 1) {
        uint32_t line = tables->line_exit + (uint32_t)__builtin_ctzll(left);
        fan = fan_lower(fan, costs->line[line], lanes_of(0));
    }
    return fan_note(costs->city[city], fan);
}

/* From the end of a line on: through its city, or by the lines that leave its junction. */
INLINE Fan line_onward(const Costs *costs, const Map *map, uint32_t number)
{
    const MapLine *line = &map->line[number];
    Fan fan = fan_of(lanes_of(MAP_COST_FAR));
    if (line->end == LINE_CITY) {
        return fan_lower(fan, costs->city[line->city], lanes_load(&map->passing[line->city]));
    }
    for (uint32_t i = 0; i < line->next_count; i++) {
        fan = fan_lower(fan, costs->line[line->next[i]], lanes_of(costs->gate[number][i]));
    }
    return fan;
}

/* Computes a line, or a city, again. Returns whether it costs something else than before. */
INLINE bool item_renew(Costs *costs, const Map *map, const ConvoiTables *tables, uint32_t item)
{
    if (item >= map->line_count) {
        return city_renew(costs, map, tables, item - map->line_count);
    }
    return fan_note(costs->line[item], fan_plus(line_onward(costs, map, item), costs->whole[item]));
}

/* Computes what is waiting again, and what follows from it, until nothing changes. */
INLINE void items_solve(Costs *costs, const Map *map, const ConvoiTables *tables, Items *waiting)
{
    for (bool any = true; any;) {
        Items now = *waiting;
        *waiting = (Items){{0}};
        any = false;
        for (uint32_t word = 0; word < map->item_words; word++) {
            for (uint64_t left = now.bits[word]; left != 0; left &= left - 1) {
                uint32_t item = 64 * word + (uint32_t)__builtin_ctzll(left);
                items_spread(waiting, map, item, item_renew(costs, map, tables, item));
                any = true;
            }
        }
    }
}

#if defined(__x86_64__) /* the same in fewer instructions */
__attribute__((target("avx2,bmi"))) static void
items_solve_wide(Costs *costs, const Map *map, const ConvoiTables *tables, Items *waiting)
{
    items_solve(costs, map, tables, waiting);
}
#else
#define items_solve_wide items_solve
#endif

static void items_renew(Costs *costs, const Map *map, const ConvoiTables *tables, Items *waiting)
{
    if (processor_avx2) {
        items_solve_wide(costs, map, tables, waiting);
    } else {
        items_solve(costs, map, tables, waiting);
    }
}

/* ---- Positions ---- */

/* Charges for lines anew. Those that cost something else than before change what goes on with
 * them. */
static void lines_charge(Costs *costs, const Map *map, const Items *lines, Items *waiting)
{
    for (uint32_t word = 0; word < map->item_words; word++) {
        for (uint64_t left = lines->bits[word]; left != 0; left &= left - 1) {
            uint8_t line = (uint8_t)(64 * word + (uint32_t)__builtin_ctzll(left));
            items_spread(waiting, map, line, line_charge(costs, map, line));
        }
    }
}

/* Charges for junctions (bits) that were switched. */
static void gates_charge(Costs *costs, const Map *map, const ConvoiTables *tables,
                         uint32_t switched, Items *waiting)
{
    for (uint32_t left = switched; left != 0; left &= left - 1) {
        uint32_t junction = (uint32_t)__builtin_ctz(left);
        for (uint32_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
            uint8_t line = map->arriving[junction][leg];
            if (line != MAP_NO_LINE) {
                line_gate(costs, map, line);
                items_add(waiting, line);
            }
        }
    }
}

static uint32_t switches_take(Costs *costs, const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t switched = 0;
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        switched |= (uint32_t)(costs->setting[i] != state->setting[i]) << i;
    }
    memcpy(costs->setting, state->setting, tables->junction_count);
    return switched;
}

/* Finds all ways anew, with the trains, lights and switches that `costs` has. */
static void costs_solve(Costs *costs, const Map *map, const ConvoiTables *tables)
{
    Items waiting = {{0}};
    for (uint32_t city = 0; city < tables->city_count; city++) {
        fan_note(costs->city[city], fan_of(lanes_load(&map->home[city])));
        items_spread(&waiting, map, map->line_count + city, true);
    }
    for (uint32_t line = 0; line < map->line_count; line++) {
        fan_note(costs->line[line], fan_of(lanes_of(MAP_COST_FAR)));
        line_charge(costs, map, (uint8_t)line);
        line_gate(costs, map, (uint8_t)line);
    }
    items_renew(costs, map, tables, &waiting);
}

/* Makes `costs` those of the lights and switches of `state`, and solves again what depends on them
 * and on `lines`. */
static void costs_take(Costs *costs, const Map *map, const ConvoiTables *tables,
                       const ConvoiState *state, Items *lines)
{
    Items waiting = {{0}};
    lights_touch(map, costs->green ^ state->green, lines);
    costs->green = state->green;
    lines_charge(costs, map, lines, &waiting);
    gates_charge(costs, map, tables, switches_take(costs, tables, state), &waiting);
    items_renew(costs, map, tables, &waiting);
}

void convoi_costs_update(Costs *costs, const Map *map, const ConvoiTables *tables,
                         const ConvoiState *state)
{
    Items lines = {{0}};
    trains_charge(costs, map, tables, state, &lines);
    if (costs->begun) {
        costs_take(costs, map, tables, state, &lines);
        return;
    }
    costs->begun = true;
    costs->price_light = PRICE_LIGHT;
    costs->price_switch = PRICE_SWITCH;
    costs->green = state->green;
    switches_take(costs, tables, state);
    costs_solve(costs, map, tables);
}

/* Copies what belongs to lines and nodes that the map has. */
static void costs_copy(Costs *costs, const Costs *base, const Map *map)
{
    memcpy(costs, base, offsetof(Costs, line));
    memcpy(costs->line, base->line, map->line_count * sizeof base->line[0]);
}

void convoi_costs_vary(Costs *costs, const Costs *base, const Map *map, const ConvoiTables *tables,
                       const ConvoiState *state)
{
    Items lines = {{0}};
    costs_copy(costs, base, map);
    costs_take(costs, map, tables, state, &lines);
}

/* ---- Asking ---- */

static int32_t line_cost(const Costs *costs, uint8_t colour, uint32_t line, uint8_t city)
{
    return costs->line[line][colour].to[city];
}

/* From the end of a line on to a city. */
static int32_t end_cost(const Costs *costs, uint8_t colour, uint32_t line, uint8_t city)
{
    return line_cost(costs, colour, line, city) - costs->whole[line][colour];
}

int32_t convoi_way_cost(const Costs *costs, const Map *map, uint8_t colour, uint8_t city,
                        uint16_t node)
{
    int32_t cost = 0;
    if (node < map->first_city) {
        cost = costs->node_toll[node] + map->node_left[node] * convoi_space_price(colour) +
               end_cost(costs, colour, map->node_line[node], city);
    } else if (node < map->first_start) {
        cost = costs->city[node - map->first_city][colour].to[city];
    } else {
        cost =
            line_cost(costs, colour, map->line_start + (uint32_t)(node - map->first_start), city);
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
        int32_t cost = line_cost(costs, colour, line, city);
        if (cost < best) {
            best = cost;
            *edge = map->line[line].first;
        }
    }
    return best < MAP_COST_FAR;
}

/* The cheapest setting of a junction that a line leads up to. */
static bool leg_step(const Costs *costs, const Map *map, uint8_t colour, uint8_t city,
                     uint8_t number, MapEdge *edge)
{
    const MapLine *line = &map->line[number];
    int32_t best = MAP_COST_FAR;
    uint32_t choice = 0;
    for (uint32_t i = 0; i < line->next_count; i++) {
        int32_t cost = line_cost(costs, colour, line->next[i], city) + costs->gate[number][i];
        choice = cost < best ? i : choice;
        best = cost < best ? cost : best;
    }
    *edge = map->line[line->next[choice]].first;
    edge->junction = line->junction;
    edge->setting = line->next_setting[choice];
    return best < MAP_COST_FAR;
}

bool convoi_way_step(const Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t colour,
                     uint8_t city, uint16_t node, MapEdge *edge)
{
    if (node >= map->first_leg) {
        uint32_t leg = (uint32_t)(node - map->first_leg);
        return leg_step(costs, map, colour, city,
                        map->arriving[leg / CONVOI_LEGS_MAX][leg % CONVOI_LEGS_MAX], edge);
    }
    if (node >= map->first_start) {
        uint8_t line = (uint8_t)(map->line_start + (node - map->first_start));
        *edge = map->line[line].first;
        return end_cost(costs, colour, line, city) < MAP_COST_FAR;
    }
    if (node >= map->first_city) {
        return exit_step(costs, map, tables, colour, city, (uint8_t)(node - map->first_city), edge);
    }
    *edge = map->ahead[node];
    return end_cost(costs, colour, map->node_line[node], city) < MAP_COST_FAR;
}

/* ---- Ways as they usually are ---- */

static void usual_goods_init(UsualWays *usual, Costs *scratch, const Map *map,
                             const ConvoiTables *tables, uint8_t goods)
{
    uint8_t city = tables->goods_city[goods];
    for (uint8_t start = 0; start < tables->start_count; start++) {
        uint16_t node = convoi_map_node(tables, place_start(tables, start), 0);
        usual->approach[start][goods] = (uint16_t)convoi_way_cost(scratch, map, 0, city, node);
    }
    for (uint8_t port = 0; port < tables->city_count; port++) {
        for (uint8_t colour = 0; colour < CONVOI_COLOURS && tables->city_port[port] != CONVOI_NONE;
             colour++) {
            usual->leg[colour][goods][tables->city_port[port]] = (uint16_t)convoi_way_cost(
                scratch, map, colour, port, (uint16_t)(map->first_city + city));
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
    costs_solve(scratch, map, tables);
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        if (tables->goods_city[goods] != CONVOI_NONE) {
            usual_goods_init(usual, scratch, map, tables, goods);
            usual->anew[goods] = usual_anew(usual, tables, goods);
        }
    }
}
