/* Turning a board of Convoi Express that has been read into links, names of legs and distances. */
#include <string.h>

#include "games/convoi/board.h"

/* ---- Links ---- */

/* What a train meets that passes `gap` of a segment with `heading` (0 towards b, 1 towards a). */
static Link link_through(const Board *board, const Segment *segment, uint8_t gap, uint8_t heading)
{
    uint8_t last = heading == 0 ? segment->spaces : 0;
    Link link = segment->end[heading == 0 ? 1 : 0];
    if (gap != last) {
        link.kind = LINK_SPACE;
        link.index = (uint8_t)(segment->first_space + gap - heading);
        link.side = heading;
    }
    link.light = board->gap_light[segment->first_gap + gap];
    return link;
}

/* Stores how a train leaves the place at one end of a segment. */
static void link_end(Board *board, const Segment *segment, uint8_t side)
{
    ConvoiTables *tables = board->tables;
    Link from = segment->end[side];
    Link link = link_through(board, segment, side == 0 ? 0 : segment->spaces, side);
    switch ((LinkKind)from.kind) {
    case LINK_CITY:
        tables->exit[link.light] = link;
        break;
    case LINK_START:
        tables->departure[from.index] = link;
        break;
    case LINK_JUNCTION:
        tables->leaving[from.index][from.side] = link;
        break;
    case LINK_SPACE:
        break;
    }
}

void convoi_make_links(Board *board)
{
    ConvoiTables *tables = board->tables;
    for (uint8_t s = 0; s < tables->segment_count; s++) {
        const Segment *segment = &board->segments[s];
        link_end(board, segment, 0);
        link_end(board, segment, 1);
        for (uint8_t i = 0; i < segment->spaces; i++) {
            uint32_t node = 2u * (segment->first_space + i);
            tables->ahead[node] = link_through(board, segment, (uint8_t)(i + 1), 0);
            tables->ahead[node + 1] = link_through(board, segment, i, 1);
        }
    }
}

void convoi_make_runs(Board *board)
{
    ConvoiTables *tables = board->tables;
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        tables->exit_run[light] = run_along(tables, tables->exit[light]);
    }
    for (uint8_t j = 0; j < tables->junction_count; j++) {
        for (uint8_t leg = 0; leg < tables->junction_degree[j]; leg++) {
            tables->leaving_run[j][leg] = run_along(tables, tables->leaving[j][leg]);
        }
    }
    for (uint32_t node = 0; node < 2u * tables->space_count; node++) {
        tables->ahead_run[node] = run_along(tables, tables->ahead[node]);
    }
    for (uint8_t start = 0; start < tables->start_count; start++) {
        tables->departure_run[start] = run_along(tables, tables->departure[start]);
    }
    ways_prepare(tables);
}

/* The id of a city, start or junction. */
static uint16_t place_name(const ConvoiTables *tables, Link place)
{
    switch ((LinkKind)place.kind) {
    case LINK_CITY:
        return tables->city_name[place.index];
    case LINK_START:
        return tables->start_name[place.index];
    case LINK_JUNCTION:
        return tables->junction_name[place.index];
    case LINK_SPACE:
        return 0;
    }
    return 0;
}

/* The place at the far end of a leg. */
static Link leg_far_end(const Board *board, uint8_t junction, uint8_t leg)
{
    const Segment *segment = &board->segments[board->leg_segment[junction][leg]];
    bool at_a = segment->end[0].kind == LINK_JUNCTION && segment->end[0].index == junction;
    return segment->end[at_a ? 1 : 0];
}

/* Calls a leg by the place that it leads to, or by its segment if another leg leads there too. */
static uint16_t leg_way(const Board *board, uint8_t junction, uint8_t leg)
{
    const ConvoiTables *tables = board->tables;
    uint16_t name = place_name(tables, leg_far_end(board, junction, leg));
    for (uint8_t i = 0; i < tables->junction_degree[junction]; i++) {
        if (i != leg && place_name(tables, leg_far_end(board, junction, i)) == name) {
            return tables->segment_name[board->leg_segment[junction][leg]];
        }
    }
    return name;
}

void convoi_make_leg_names(Board *board)
{
    static const char *const numbers[CONVOI_LEGS_MAX] = {"1", "2", "3", "4"};
    ConvoiTables *tables = board->tables;
    uint16_t number_name[CONVOI_LEGS_MAX] = {0};
    for (uint8_t leg = 0; board->numbered_legs && leg < CONVOI_LEGS_MAX; leg++) {
        number_name[leg] = ty_name_keep(&board->reader, board->reader.doc->nodes, numbers[leg]);
    }
    for (uint8_t j = 0; j < tables->junction_count; j++) {
        for (uint8_t leg = 0; leg < tables->junction_degree[j]; leg++) {
            tables->leg_way[j][leg] = leg_way(board, j, leg);
            tables->leg_name[j][leg] =
                board->numbered_legs ? number_name[leg] : tables->leg_way[j][leg];
        }
    }
}

/* ---- Distances ---- */

/* The table in the making. Beside the nodes of ConvoiTables.distance there is one for each way of
 * arriving at a junction, which costs nothing by itself. */
typedef struct Distances {
    ConvoiTables *tables;
    uint8_t arriving[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX][CONVOI_CITIES_MAX];
    bool changed;
} Distances;

static uint8_t point_added(uint8_t distance)
{
    return distance < CONVOI_FAR - 1 ? (uint8_t)(distance + 1) : CONVOI_FAR;
}

/* The points to `goal` for a train that follows `link`. Nobody passes through a start, nor through
 * a port on the European side. */
static uint8_t link_distance(const Distances *distances, Link link, uint8_t goal)
{
    const ConvoiTables *tables = distances->tables;
    switch ((LinkKind)link.kind) {
    case LINK_SPACE:
        return point_added(tables->distance[2 * link.index + link.side][goal]);
    case LINK_CITY:
        if (link.index != goal && tables->city_port[link.index] != CONVOI_NONE &&
            !tables->crossing) {
            return CONVOI_FAR;
        }
        return point_added(tables->distance[2 * tables->space_count + link.index][goal]);
    case LINK_JUNCTION:
        return distances->arriving[link.index][link.side][goal];
    case LINK_START:
        return CONVOI_FAR;
    }
    return CONVOI_FAR;
}

/* Takes the way along `link` for an entry of the table if it is shorter. */
static void distance_improve(Distances *distances, uint8_t entry[CONVOI_CITIES_MAX], Link link)
{
    for (uint8_t goal = 0; goal < distances->tables->city_count; goal++) {
        uint8_t way = link_distance(distances, link, goal);
        if (way < entry[goal]) {
            entry[goal] = way;
            distances->changed = true;
        }
    }
}

/* A switch can be set, so a train that arrives by one leg may leave by any other. */
static void junction_improve(Distances *distances, uint8_t junction)
{
    const ConvoiTables *tables = distances->tables;
    for (uint8_t from = 0; from < tables->junction_degree[junction]; from++) {
        for (uint8_t to = 0; to < tables->junction_degree[junction]; to++) {
            if (to != from) {
                distance_improve(distances, distances->arriving[junction][from],
                                 tables->leaving[junction][to]);
            }
        }
    }
}

static void distances_improve(Distances *distances)
{
    ConvoiTables *tables = distances->tables;
    uint32_t first_city = 2u * tables->space_count;
    uint32_t first_start = first_city + tables->city_count;
    for (uint32_t node = 0; node < first_city; node++) {
        distance_improve(distances, tables->distance[node], tables->ahead[node]);
    }
    for (uint8_t j = 0; j < tables->junction_count; j++) {
        junction_improve(distances, j);
    }
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        distance_improve(distances, tables->distance[first_city + tables->light_city[light]],
                         tables->exit[light]);
    }
    for (uint8_t start = 0; start < tables->start_count; start++) {
        distance_improve(distances, tables->distance[first_start + start],
                         tables->departure[start]);
    }
}

/* Fills the distance table from the links of the board. */
static void distances_fill(ConvoiTables *tables)
{
    Distances distances = {.tables = tables};
    memset(tables->distance, CONVOI_FAR, sizeof tables->distance);
    memset(distances.arriving, CONVOI_FAR, sizeof distances.arriving);
    for (uint8_t city = 0; city < tables->city_count; city++) {
        tables->distance[2 * tables->space_count + city][city] = 0;
    }
    /* Distances only shrink, so this ends; what no pass improves is shortest. */
    do {
        distances.changed = false;
        distances_improve(&distances);
    } while (distances.changed);
}

static void check_distances(Board *board)
{
    TyReader *reader = &board->reader;
    const ConvoiTables *tables = board->tables;
    uint32_t first_city = 2u * tables->space_count;
    for (uint8_t to = 0; to < tables->city_count; to++) {
        for (uint8_t i = 0; i < tables->city_count + tables->start_count; i++) {
            if (tables->distance[first_city + i][to] == CONVOI_FAR) {
                bool city = i < tables->city_count;
                uint16_t from =
                    city ? tables->city_name[i] : tables->start_name[i - tables->city_count];
                ty_read_fail(reader, board->city_node[to], "a train cannot get here from %s \"%s\"",
                             city ? "city" : "start", board_name(board, from));
            }
        }
    }
}

void convoi_make_distances(Board *board)
{
    distances_fill(board->tables);
    check_distances(board);
}

/* ---- As rows show it ---- */

static void row_put(ConvoiTables *tables, uint32_t value)
{
    tables->board_row[tables->board_row_size++] = (uint8_t)value;
}

static uint32_t told(uint32_t spaces)
{
    return spaces < CONVOI_SPACES_TOLD ? spaces : CONVOI_SPACES_TOLD;
}

/* The place at an end of a segment: cities are numbered first, then starts, then junctions. */
static uint32_t end_number(const ConvoiTables *tables, Link end)
{
    uint32_t before = end.kind == LINK_CITY    ? 0
                      : end.kind == LINK_START ? tables->city_count
                                               : tables->city_count + tables->start_count;
    return before + end.index;
}

/* Where each light is: its segment, and its gap there. */
static void lights_find(const Board *board, uint8_t segment_of[], uint8_t gap_of[])
{
    for (uint8_t s = 0; s < board->tables->segment_count; s++) {
        const Segment *segment = &board->segments[s];
        for (uint8_t gap = 0; gap <= segment->spaces; gap++) {
            uint8_t light = board->gap_light[segment->first_gap + gap];
            if (light != CONVOI_NONE) {
                segment_of[light] = s;
                gap_of[light] = gap;
            }
        }
    }
}

/* The board in the order of its blocks, from BLOCK_LINE on. */
void convoi_make_row(Board *board)
{
    ConvoiTables *tables = board->tables;
    uint8_t segment_of[CONVOI_LIGHTS_MAX] = {0};
    uint8_t gap_of[CONVOI_LIGHTS_MAX] = {0};
    lights_find(board, segment_of, gap_of);
    for (uint32_t i = 0; i < tables->segment_count; i++) {
        row_put(tables, end_number(tables, board->segments[i].end[0]));
        row_put(tables, end_number(tables, board->segments[i].end[1]));
    }
    for (uint32_t i = 0; i < tables->segment_count; i++) {
        row_put(tables, told(board->segments[i].spaces));
    }
    for (uint32_t i = 0; i < tables->light_count; i++) {
        row_put(tables, segment_of[i]);
    }
    for (uint32_t i = 0; i < tables->light_count; i++) {
        row_put(tables, told(gap_of[i]));
    }
    for (uint32_t i = 0; i < tables->city_count; i++) {
        uint8_t goods = tables->city_goods[i];
        row_put(tables, goods == CONVOI_NONE ? 0 : goods + 1u);
    }
}
