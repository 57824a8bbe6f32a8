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

const uint8_t junction_joined[2][6][CONVOI_LEGS_MAX] = {
    {{1, 0, 4, 4}, {2, 4, 0, 4}, {4, 2, 1, 4}},
    {{1, 0, 4, 4}, {2, 4, 0, 4}, {3, 4, 4, 0}, {4, 2, 1, 4}, {4, 3, 4, 1}, {4, 4, 3, 2}},
};

const uint8_t junction_joining[2][CONVOI_LEGS_MAX][CONVOI_LEGS_MAX] = {
    {{0, 0, 1, 0}, {0, 0, 2, 0}, {1, 2, 0, 0}},
    {{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}},
};

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
static uint8_t light_number(Board *board, const TyDocNode *node, uint8_t city)
{
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    if (city == CONVOI_NONE && tables->light_count == CONVOI_LIGHTS_MAX) {
        ty_read_fail(reader, node, "there are more than %d lights", (int)CONVOI_LIGHTS_MAX);
        return 0;
    }
    uint8_t light = city != CONVOI_NONE ? board->city_lights_named++ : tables->light_count++;
    uint64_t *set = city != CONVOI_NONE ? &tables->city_lights[city] : &tables->track_lights;
    *set |= UINT64_C(1) << light;
    tables->light_city[light] = city;
    return light;
}

static void read_light(Board *board, Segment *segment, const TyDocNode *node)
{
    static const char *const KEYS[] = {"gap", "id", "title", NULL};
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    ty_read_keys(reader, node, KEYS);
    uint8_t gap = ty_read_byte(reader, node, "gap", 0, segment->spaces);
    uint16_t name = ty_read_id(reader, node, "id");
    bool titled = ty_doc_get(reader->doc, node, "title") != NULL;
    uint16_t title = titled ? ty_read_title(reader, node, "title") : 0;
    ty_read_unique(reader, ty_doc_get(reader->doc, node, "id"), name, tables->light_name,
                   tables->light_count);
    if (!ty_reader_ok(reader)) {
        return;
    }
    if (gap_neighbour(segment, gap, LINK_START) != CONVOI_NONE) {
        ty_read_fail(reader, ty_doc_get(reader->doc, node, "gap"),
                     "gap %u lies beside a start, which has no light", gap);
    } else if (board->gap_light[segment->first_gap + gap] != CONVOI_NONE) {
        ty_read_fail(reader, ty_doc_get(reader->doc, node, "gap"), "gap %u has a light already",
                     gap);
    } else {
        uint8_t light = light_number(board, node, gap_neighbour(segment, gap, LINK_CITY));
        board->gap_light[segment->first_gap + gap] = light;
        tables->light_name[light] = name;
        tables->light_title[light] = title;
    }
}

/* Every exit of a city has a light. */
static void check_exit_light(Board *board, const Segment *segment, uint8_t side)
{
    TyReader *reader = &board->reader;
    uint8_t gap = side == 0 ? 0 : segment->spaces;
    if (segment->end[side].kind == LINK_CITY &&
        board->gap_light[segment->first_gap + gap] == CONVOI_NONE) {
        ty_read_fail(reader, segment->node, "gap %u, beside city \"%s\", needs a light", gap,
                     board_name(board, board->tables->city_name[segment->end[side].index]));
    }
}

static void read_segment_lights(Board *board, Segment *segment)
{
    TyReader *reader = &board->reader;
    if (ty_doc_get(reader->doc, segment->node, "lights") != NULL) {
        const TyDocNode *list = ty_read_list(reader, segment->node, "lights", 0, CONVOI_LIGHTS_MAX);
        for (const TyDocNode *node = ty_doc_first(reader->doc, list);
             node != NULL && ty_reader_ok(reader); node = ty_doc_next(reader->doc, node)) {
            read_light(board, segment, node);
        }
    }
    check_exit_light(board, segment, 0);
    check_exit_light(board, segment, 1);
}

void convoi_read_lights(Board *board)
{
    ConvoiTables *tables = board->tables;
    tables->light_count = tables->city_light_count;
    for (uint8_t s = 0; s < tables->segment_count && ty_reader_ok(&board->reader); s++) {
        read_segment_lights(board, &board->segments[s]);
    }
}

/* ---- First-game placement ---- */

/* The leg of `junction` that the segment named by list entry `node` is. */
static uint8_t read_open_leg(Board *board, const TyDocNode *node, uint8_t junction)
{
    TyReader *reader = &board->reader;
    const ConvoiTables *tables = board->tables;
    const char *id = ty_read_entry(reader, node);
    for (uint8_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
        uint8_t segment = board->leg_segment[junction][leg];
        if (strcmp(board_name(board, tables->segment_name[segment]), id) == 0) {
            return leg;
        }
    }
    ty_read_fail(reader, node, "no segment of junction \"%s\" has the id \"%s\"",
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
    TyReader *reader = &board->reader;
    bool open[CONVOI_LEGS_MAX] = {false};
    const TyDocNode *list = ty_read_list(reader, board->junction_node[junction], "open", 2, 2);
    for (const TyDocNode *node = ty_doc_first(reader->doc, list);
         node != NULL && ty_reader_ok(reader); node = ty_doc_next(reader->doc, node)) {
        uint8_t leg = read_open_leg(board, node, junction);
        if (open[leg]) {
            ty_read_fail(reader, node, "two different segments must be open");
        }
        open[leg] = true;
    }
    junction_set_first(board->tables, junction, open);
}

static uint64_t bits_below(uint8_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* Numbers the settings of all junctions and keeps them as bits, too. */
void convoi_read_switches(Board *board)
{
    ConvoiTables *tables = board->tables;
    for (uint8_t j = 0; j < tables->junction_count; j++) {
        uint8_t count = junction_setting_count(tables->junction_degree[j]);
        read_open(board, j);
        tables->setting_first[j] = tables->setting_count;
        memset(tables->setting_junction + tables->setting_count, j, count);
        tables->setting_count = (uint8_t)(tables->setting_count + count);
    }
    uint8_t low = tables->setting_count < 64 ? tables->setting_count : 64;
    tables->settings_all[0] = bits_below(low);
    tables->settings_all[1] = bits_below((uint8_t)(tables->setting_count - low));
}

static void read_green_light(Board *board, const TyDocNode *node)
{
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    const char *id = ty_read_entry(reader, node);
    uint32_t light = ty_name_find(&tables->names, tables->light_name, tables->light_count, id);
    if (light == tables->light_count) {
        ty_read_fail(reader, node, "there is no light \"%s\"", id);
        return;
    }
    if ((tables->first_green >> light & 1) != 0) {
        ty_read_fail(reader, node, "light \"%s\" has a disc already", id);
    }
    tables->first_green |= UINT64_C(1) << light;
}

/* One disc lies at each city and the others on the track (ruling 38). */
void convoi_read_green(Board *board)
{
    TyReader *reader = &board->reader;
    const ConvoiTables *tables = board->tables;
    convoi_read_each(board, "green", tables->green_count, tables->green_count, read_green_light);
    if (!ty_reader_ok(reader)) {
        return;
    }
    const TyDocNode *list = ty_doc_get(reader->doc, reader->doc->nodes, "green");
    for (uint8_t i = 0; i < tables->city_count; i++) {
        if ((tables->first_green & tables->city_lights[i]) == 0) {
            ty_read_fail(reader, list, "city \"%s\" has no green light",
                         board_name(board, tables->city_name[i]));
        }
    }
    int wanted = tables->green_count - tables->city_count;
    int found = __builtin_popcountll(tables->first_green & tables->track_lights);
    if (found != wanted) {
        ty_read_fail(reader, list, "must have one light of each city and %d on the track, not %d",
                     wanted, found);
    }
}
