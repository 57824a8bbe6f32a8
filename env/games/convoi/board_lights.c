/* Reading a board of Convoi Express from its file (BOARDS.md): lights and first-game placement. */
#include <string.h>

#include "games/convoi/board.h"

JunctionSetting junction_setting(uint8_t degree, uint8_t setting)
{
    static const JunctionSetting THREE_WAY[] = {{{0, 1}}, {{0, 2}}, {{1, 2}}};
    static const JunctionSetting FOUR_WAY[] = {{{0, 1}}, {{0, 2}}, {{0, 3}},
                                               {{1, 2}}, {{1, 3}}, {{2, 3}}};
    return degree == 3 ? THREE_WAY[setting] : FOUR_WAY[setting];
}

/* ---- Lights ---- */

/* The city, or start, at an end of the segment that `gap` touches; CONVOI_NONE if there is none. */
static uint8_t gap_neighbour(const Segment *segment, uint8_t gap, LinkKind kind)
{
    if (gap == 0 && segment->end[0].kind == kind) {
        return segment->end[0].index;
    }
    if (gap == segment->spaces && segment->end[1].kind == kind) {
        return segment->end[1].index;
    }
    return CONVOI_NONE;
}

/* Gives a light its number: those of the cities come first, both kinds in the order of the file. */
static uint8_t light_number(Board *board, const DocNode *node, uint8_t city)
{
    Reader *reader = &board->reader;
    ConvoiTables *tables = reader->tables;
    if (city == CONVOI_NONE && tables->light_count == CONVOI_LIGHTS_MAX) {
        doc_fail(reader->doc, node, &reader->status, "there are more than %d lights",
                 (int)CONVOI_LIGHTS_MAX);
        return 0;
    }
    uint8_t light = city != CONVOI_NONE ? board->city_lights_named++ : tables->light_count++;
    uint64_t *set = city != CONVOI_NONE ? &tables->city_lights[city] : &tables->track_lights;
    *set |= UINT64_C(1) << light;
    tables->light_city[light] = city;
    return light;
}

static void read_light(Board *board, Segment *segment, const DocNode *node)
{
    static const char *const KEYS[] = {"gap", "id", NULL};
    Reader *reader = &board->reader;
    ConvoiTables *tables = reader->tables;
    doc_known_keys(reader->doc, node, KEYS, &reader->status);
    uint8_t gap =
        (uint8_t)doc_read_int(reader->doc, node, "gap", 0, segment->spaces, &reader->status);
    uint16_t name = convoi_read_id(reader, node, "id");
    uint8_t other;
    if (!reader_ok(reader)) {
        return;
    }
    if (convoi_name_find(tables, tables->light_name, tables->light_count, board_name(board, name),
                         &other)) {
        doc_fail(reader->doc, doc_get(reader->doc, node, "id"), &reader->status,
                 "another light has the id \"%s\"", board_name(board, name));
    } else if (gap_neighbour(segment, gap, LINK_START) != CONVOI_NONE) {
        doc_fail(reader->doc, doc_get(reader->doc, node, "gap"), &reader->status,
                 "gap %u lies beside a start, which has no light", gap);
    } else if (board->gap_light[segment->first_gap + gap] != CONVOI_NONE) {
        doc_fail(reader->doc, doc_get(reader->doc, node, "gap"), &reader->status,
                 "gap %u has a light already", gap);
    } else {
        uint8_t light = light_number(board, node, gap_neighbour(segment, gap, LINK_CITY));
        board->gap_light[segment->first_gap + gap] = light;
        tables->light_name[light] = name;
    }
}

/* Every exit of a city has a light. */
static void check_exit_light(Board *board, const Segment *segment, uint8_t side)
{
    Reader *reader = &board->reader;
    uint8_t gap = side == 0 ? 0 : segment->spaces;
    if (segment->end[side].kind == LINK_CITY &&
        board->gap_light[segment->first_gap + gap] == CONVOI_NONE) {
        doc_fail(reader->doc, segment->node, &reader->status,
                 "gap %u, beside city \"%s\", needs a light", gap,
                 board_name(board, reader->tables->city_name[segment->end[side].index]));
    }
}

static void read_segment_lights(Board *board, Segment *segment)
{
    Reader *reader = &board->reader;
    if (doc_get(reader->doc, segment->node, "lights") != NULL) {
        const DocNode *list = doc_read_list(reader->doc, segment->node, "lights", 0,
                                            CONVOI_LIGHTS_MAX, &reader->status);
        for (const DocNode *node = doc_first(reader->doc, list); node != NULL && reader_ok(reader);
             node = doc_next(reader->doc, node)) {
            read_light(board, segment, node);
        }
    }
    check_exit_light(board, segment, 0);
    check_exit_light(board, segment, 1);
}

void convoi_read_lights(Board *board)
{
    ConvoiTables *tables = board->reader.tables;
    tables->light_count = tables->city_light_count;
    for (uint8_t s = 0; s < tables->segment_count && reader_ok(&board->reader); s++) {
        read_segment_lights(board, &board->segments[s]);
    }
}

/* ---- First-game placement ---- */

/* The leg of `junction` that the segment named by list entry `node` is. */
static uint8_t read_open_leg(Board *board, const DocNode *node, uint8_t junction)
{
    Reader *reader = &board->reader;
    const ConvoiTables *tables = reader->tables;
    const char *id = convoi_read_entry(reader, node);
    for (uint8_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
        uint8_t segment = board->leg_segment[junction][leg];
        if (strcmp(board_name(board, tables->segment_name[segment]), id) == 0) {
            return leg;
        }
    }
    doc_fail(reader->doc, node, &reader->status, "no segment of junction \"%s\" has the id \"%s\"",
             board_name(board, tables->junction_name[junction]), id);
    return 0;
}

/* Sets the junction to the one setting that joins both legs. */
static void junction_set_first(ConvoiTables *tables, uint8_t junction, const bool open[])
{
    uint8_t degree = tables->junction_degree[junction];
    for (uint8_t i = 0; i < junction_setting_count(degree); i++) {
        JunctionSetting setting = junction_setting(degree, i);
        if (open[setting.leg[0]] && open[setting.leg[1]]) {
            tables->first_setting[junction] = i;
        }
    }
}

static void read_open(Board *board, uint8_t junction)
{
    Reader *reader = &board->reader;
    bool open[CONVOI_LEGS_MAX] = {false};
    const DocNode *list =
        doc_read_list(reader->doc, board->junction_node[junction], "open", 2, 2, &reader->status);
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL && reader_ok(reader);
         node = doc_next(reader->doc, node)) {
        uint8_t leg = read_open_leg(board, node, junction);
        if (open[leg]) {
            doc_fail(reader->doc, node, &reader->status, "two different segments must be open");
        }
        open[leg] = true;
    }
    junction_set_first(reader->tables, junction, open);
}

void convoi_read_switches(Board *board)
{
    ConvoiTables *tables = board->reader.tables;
    for (uint8_t j = 0; j < tables->junction_count; j++) {
        read_open(board, j);
        tables->junction_action[j] = tables->setting_count;
        for (uint8_t i = 0; i < junction_setting_count(tables->junction_degree[j]); i++) {
            tables->setting_junction[tables->setting_count++] = j;
        }
    }
}

static void read_green_light(Board *board, const DocNode *node)
{
    Reader *reader = &board->reader;
    ConvoiTables *tables = reader->tables;
    const char *id = convoi_read_entry(reader, node);
    uint8_t light = 0;
    if (!convoi_name_find(tables, tables->light_name, tables->light_count, id, &light)) {
        doc_fail(reader->doc, node, &reader->status, "there is no light \"%s\"", id);
    } else if ((tables->first_green >> light & 1) != 0) {
        doc_fail(reader->doc, node, &reader->status, "light \"%s\" has a disc already", id);
    }
    tables->first_green |= UINT64_C(1) << light;
}

/* One disc lies at each city and the others on the track (ruling 38). */
void convoi_read_green(Board *board)
{
    Reader *reader = &board->reader;
    const ConvoiTables *tables = reader->tables;
    convoi_read_each(board, "green", tables->green_count, tables->green_count, read_green_light);
    if (!reader_ok(reader)) {
        return;
    }
    const DocNode *list = doc_get(reader->doc, reader->doc->nodes, "green");
    for (uint8_t i = 0; i < tables->city_count; i++) {
        if ((tables->first_green & tables->city_lights[i]) == 0) {
            doc_fail(reader->doc, list, &reader->status, "city \"%s\" has no green light",
                     board_name(board, tables->city_name[i]));
        }
    }
    int wanted = tables->green_count - tables->city_count;
    int found = __builtin_popcountll(tables->first_green & tables->track_lights);
    if (found != wanted) {
        doc_fail(reader->doc, list, &reader->status,
                 "must have one light of each city and %d on the track, not %d", wanted, found);
    }
}
