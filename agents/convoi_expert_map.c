/* The Convoi Express expert's map: the board as lines between junctions and cities. */
#include "convoi_expert.h"

#include <assert.h>
#include <string.h>

uint16_t convoi_map_node(const ConvoiTables *tables, uint8_t place, uint8_t heading)
{
    return (uint16_t)(place < tables->space_count ? 2 * place + heading
                                                  : tables->space_count + place);
}

/* The step along `link`. */
static MapEdge link_edge(const Map *map, const ConvoiTables *tables, Link link)
{
    MapEdge edge = {.light = link.light, .junction = CONVOI_NONE, .points = 1};
    switch ((LinkKind)link.kind) {
    case LINK_SPACE:
        edge.to = convoi_map_node(tables, link.index, link.side);
        break;
    case LINK_CITY:
        edge.to = (uint16_t)(map->first_city + link.index);
        break;
    case LINK_START:
        edge.to = (uint16_t)(map->first_start + link.index);
        break;
    case LINK_JUNCTION:
        edge.to = (uint16_t)(map->first_leg + CONVOI_LEGS_MAX * link.index + link.side);
        edge.points = 0;
        break;
    }
    return edge;
}

static void light_note(Map *map, uint8_t light, uint8_t line)
{
    for (uint32_t i = 0; light != CONVOI_NONE && i < 3; i++) {
        uint8_t *slot = &map->light_line[light][i];
        if (*slot == MAP_NO_LINE || *slot == line) {
            *slot = line;
            return;
        }
    }
    assert(light == CONVOI_NONE);
}

/* Notes where the line ends, with the link that leads there. No way leads into a start. */
static void line_end(Map *map, uint8_t number, Link link)
{
    MapLine *line = &map->line[number];
    line->last_light = link.light;
    if (link.kind == LINK_CITY) {
        line->end = LINE_CITY;
        line->city = link.index;
    } else if (link.kind == LINK_JUNCTION) {
        line->end = LINE_LEG;
        line->junction = link.index;
        line->leg = link.side;
        map->arriving[link.index][link.side] = number;
    }
    line->spaces = (uint8_t)(line->node_count + (link.kind == LINK_CITY));
}

/* Follows `link` to the end of its line. `used` counts the nodes of all lines. */
static void line_add(Map *map, const ConvoiTables *tables, uint8_t number, Link link,
                     uint16_t *used)
{
    MapLine *line = &map->line[number];
    line->first = link_edge(map, tables, link);
    line->first_node = *used;
    for (; link.kind == LINK_SPACE; line->node_count++) {
        uint16_t node = convoi_map_node(tables, link.index, link.side);
        light_note(map, link.light, number);
        assert(*used < CONVOI_NODES_MAX);
        map->line_nodes[(*used)++] = node;
        map->node_light[node] = link.light;
        map->node_line[node] = number;
        link = tables->ahead[node];
        map->ahead[node] = link_edge(map, tables, link);
    }
    light_note(map, link.light, number);
    line_end(map, number, link);
    for (uint8_t i = 0; i < line->node_count; i++) {
        map->node_left[map->line_nodes[line->first_node + i]] = (uint8_t)(line->spaces - i - 1);
    }
}

static void lines_add(Map *map, const ConvoiTables *tables)
{
    uint16_t used = 0;
    for (uint8_t junction = 0; junction < tables->junction_count; junction++) {
        for (uint8_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
            line_add(map, tables, (uint8_t)(CONVOI_LEGS_MAX * junction + leg),
                     tables->leaving[junction][leg], &used);
        }
    }
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        line_add(map, tables, (uint8_t)(tables->line_exit + light), tables->exit[light], &used);
    }
    for (uint8_t start = 0; start < tables->start_count; start++) {
        line_add(map, tables, (uint8_t)(map->line_start + start), tables->departure[start], &used);
    }
}

/* A line that leaves a junction is what those go on with that arrive at its other legs, an exit
 * what its city goes on with, and a city what those go on with that end there. */
static void spread_find(Map *map, const ConvoiTables *tables)
{
    map->item_words = (uint8_t)((map->line_count + tables->city_count + 63) / 64);
    for (uint8_t number = 0; number < map->line_count; number++) {
        const MapLine *line = &map->line[number];
        if (line->end == LINE_CITY) {
            items_add(&map->spread[map->line_count + line->city], number);
        }
        uint8_t legs = line->end == LINE_LEG ? tables->junction_degree[line->junction] : 0;
        for (uint8_t leg = 0; leg < legs; leg++) {
            if (leg != line->leg) {
                items_add(&map->spread[CONVOI_LEGS_MAX * line->junction + leg], number);
            }
        }
    }
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        items_add(&map->spread[tables->line_exit + light],
                  (uint32_t)map->line_count + tables->light_city[light]);
    }
}

/* A line that ends at a leg goes on by the others. */
static void next_find(Map *map, const ConvoiTables *tables)
{
    for (uint8_t number = 0; number < map->line_count; number++) {
        MapLine *line = &map->line[number];
        uint8_t degree = line->end == LINE_LEG ? tables->junction_degree[line->junction] : 0;
        for (uint8_t other = 0; other < degree; other++) {
            if (other != line->leg) {
                line->next[line->next_count] = (uint8_t)(CONVOI_LEGS_MAX * line->junction + other);
                line->next_setting[line->next_count++] =
                    junction_joining[degree - 3][line->leg][other];
            }
        }
    }
}

/* Whether a train on its way to another city gets past this one (rules 9, 10; ruling 16). */
static bool city_passable(const ConvoiTables *tables, uint8_t city, bool loaded)
{
    return tables->city_port[city] == CONVOI_NONE || (tables->crossing && !loaded);
}

static void prices_find(Map *map, const ConvoiTables *tables)
{
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        for (uint8_t line = 0; line < map->line_count; line++) {
            map->line_price[colour][line] =
                (int16_t)(map->line[line].spaces * convoi_space_price(colour));
        }
    }
    for (uint8_t city = 0; city < tables->city_count; city++) {
        for (uint8_t goal = 0; goal < CONVOI_CITIES_MAX; goal++) {
            bool loaded = goal < tables->city_count && tables->city_port[goal] != CONVOI_NONE;
            map->home[city].to[goal] = goal == city ? 0 : MAP_COST_FAR;
            int16_t stop = tables->crossing ? 0 : PRICE_STOP;
            map->passing[city].to[goal] = goal == city                          ? 0
                                          : city_passable(tables, city, loaded) ? stop
                                                                                : MAP_COST_FAR;
        }
    }
}

void convoi_map_init(Map *map, const ConvoiTables *tables)
{
    memset(map, 0, sizeof *map);
    memset(map->arriving, MAP_NO_LINE, sizeof map->arriving);
    memset(map->light_line, MAP_NO_LINE, sizeof map->light_line);
    map->first_city = (uint16_t)(2 * tables->space_count);
    map->first_start = (uint16_t)(map->first_city + tables->city_count);
    map->first_leg = (uint16_t)(map->first_start + tables->start_count);
    map->line_start = (uint8_t)(tables->line_exit + tables->city_light_count);
    map->line_count = (uint8_t)(map->line_start + tables->start_count);
    lines_add(map, tables);
    spread_find(map, tables);
    next_find(map, tables);
    prices_find(map, tables);
}
