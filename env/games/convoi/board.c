/* Reading a board of Convoi Express from its file (BOARDS.md): places and segments. */
#include "games/convoi/board.h"

#include <string.h>

static const char *const GOODS_WORDS[] = {"blue", "yellow", "red", "white", NULL};

/* ---- Ids and places ---- */

/* Finds the city, start or junction `id`, as a train meets it; leg and light are left open. */
static bool place_find(const Board *board, const char *id, Link *place)
{
    const ConvoiTables *tables = board->tables;
    const struct {
        LinkKind kind;
        const uint16_t *names;
        uint32_t count;
    } lists[] = {
        {LINK_CITY, tables->city_name, tables->city_count},
        {LINK_START, tables->start_name, tables->start_count},
        {LINK_JUNCTION, tables->junction_name, tables->junction_count},
    };
    for (uint32_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        uint32_t index = ty_name_find(&tables->names, lists[i].names, lists[i].count, id);
        if (index < lists[i].count) {
            *place = (Link){
                .light = CONVOI_NONE, .kind = (uint8_t)lists[i].kind, .index = (uint8_t)index};
            return true;
        }
    }
    *place = (Link){.light = CONVOI_NONE};
    return false;
}

/* Reads an id that no other city, start or junction has. */
static uint16_t read_place_id(Board *board, const TyDocNode *node)
{
    TyReader *reader = &board->reader;
    uint16_t name = ty_read_id(reader, node, "id");
    Link other;
    if (ty_reader_ok(reader) && place_find(board, board_name(board, name), &other)) {
        ty_read_fail(reader, ty_doc_get(reader->doc, node, "id"),
                     "another city, start or junction has the id \"%s\"", board_name(board, name));
    }
    return name;
}

void convoi_read_each(Board *board, const char *key, uint32_t minimum, uint32_t maximum,
                      void (*read)(Board *board, const TyDocNode *node))
{
    TyReader *reader = &board->reader;
    const TyDocNode *list = ty_read_list(reader, reader->doc->nodes, key, minimum, maximum);
    for (const TyDocNode *node = ty_doc_first(reader->doc, list);
         node != NULL && ty_reader_ok(reader); node = ty_doc_next(reader->doc, node)) {
        read(board, node);
    }
}

/* ---- Head, cities, starts, junctions ---- */

static void read_board_head(Board *board)
{
    static const char *const KEYS[] = {
        "format", "name",      "title",    "status", "rules",         "green_discs", "cities",
        "starts", "junctions", "segments", "green",  "numbered_legs", NULL};
    static const char *const RULES_WORDS[] = {"europe", "north_america", NULL};
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    const TyDocNode *root = reader->doc->nodes;
    ty_read_keys(reader, root, KEYS);
    tables->board_title = ty_read_title(reader, root, "title");
    tables->crossing = ty_read_word(reader, root, "rules", RULES_WORDS) == 1;
    board->numbered_legs = ty_doc_get(reader->doc, root, "numbered_legs") != NULL &&
                           ty_read_flag(reader, root, "numbered_legs");
}

static void read_goods(Board *board, const TyDocNode *node, uint8_t city)
{
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    uint8_t goods = ty_read_word_at(reader, node, GOODS_WORDS);
    if (tables->goods_city[goods] != CONVOI_NONE) {
        ty_read_fail(reader, node, "city \"%s\" has %s goods already",
                     board_name(board, tables->city_name[tables->goods_city[goods]]),
                     GOODS_WORDS[goods]);
    }
    tables->goods_city[goods] = city;
    tables->city_goods[city] = goods;
}

static void read_city(Board *board, const TyDocNode *node)
{
    static const char *const KEYS[] = {"id", "title", "goods", "port", "xy", NULL};
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    uint8_t city = tables->city_count;
    ty_read_keys(reader, node, KEYS);
    board->city_node[city] = node;
    tables->city_name[city] = read_place_id(board, node);
    tables->city_title[city] = ty_read_title(reader, node, "title");
    ty_read_position(reader, node, tables->city_xy[city]);
    tables->city_count++;

    const TyDocNode *goods = ty_doc_get(reader->doc, node, "goods");
    bool port = ty_doc_get(reader->doc, node, "port") != NULL && ty_read_flag(reader, node, "port");
    if (port == (goods != NULL)) {
        ty_read_fail(reader, node, "a city has either \"goods\" or \"port\": true");
    } else if (port) {
        tables->city_port[city] = tables->port_count++;
    } else if (ty_reader_ok(reader)) {
        read_goods(board, goods, city);
    }
}

static void read_cities(Board *board)
{
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    const TyDocNode *root = reader->doc->nodes;
    convoi_read_each(board, "cities", 2, CONVOI_CITIES_MAX, read_city);
    if (!ty_reader_ok(reader)) {
        return;
    }
    const TyDocNode *cities = ty_doc_get(reader->doc, root, "cities");
    int ports = tables->crossing ? 2 : 1;
    if (tables->port_count != ports) {
        ty_read_fail(reader, cities, "the rules \"%s\" need %s, not %u",
                     tables->crossing ? "north_america" : "europe",
                     tables->crossing ? "2 ports" : "1 port", tables->port_count);
    }
    if (tables->port_count == tables->city_count) {
        ty_read_fail(reader, cities, "no city has goods");
    }
    tables->green_count =
        ty_read_byte(reader, root, "green_discs", tables->city_count, BOARD_GREEN_MAX);
}

static void read_number(Board *board, const TyDocNode *node, uint8_t start)
{
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    int most = CONVOI_NUMBERS + 1;
    if (node->kind != TY_DOC_INT || node->number < 2 || node->number > most) {
        ty_read_fail(reader, node, "must be a whole number from 2 to %d", most);
        return;
    }
    uint8_t *owner = &tables->number_start[node->number - 2];
    if (*owner != CONVOI_NONE) {
        ty_read_fail(reader, node, "start \"%s\" has number %d already",
                     board_name(board, tables->start_name[*owner]), (int)node->number);
    }
    *owner = start;
}

static void read_start(Board *board, const TyDocNode *node)
{
    static const char *const KEYS[] = {"id", "title", "numbers", "xy", NULL};
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    uint8_t start = tables->start_count;
    ty_read_keys(reader, node, KEYS);
    board->start_node[start] = node;
    tables->start_name[start] = read_place_id(board, node);
    tables->start_title[start] = ty_read_title(reader, node, "title");
    ty_read_position(reader, node, tables->start_xy[start]);
    tables->start_count++;

    const TyDocNode *numbers = ty_read_list(reader, node, "numbers", 1, CONVOI_NUMBERS);
    for (const TyDocNode *number = ty_doc_first(reader->doc, numbers);
         number != NULL && ty_reader_ok(reader); number = ty_doc_next(reader->doc, number)) {
        read_number(board, number, start);
    }
}

static void read_starts(Board *board)
{
    TyReader *reader = &board->reader;
    convoi_read_each(board, "starts", 1, CONVOI_STARTS_MAX, read_start);
    for (int i = 0; i < CONVOI_NUMBERS; i++) {
        if (ty_reader_ok(reader) && board->tables->number_start[i] == CONVOI_NONE) {
            ty_read_fail(reader, ty_doc_get(reader->doc, reader->doc->nodes, "starts"),
                         "no start has number %d", i + 2);
        }
    }
}

/* Reads a junction but for the legs that are open: those wait for the segments. */
static void read_junction(Board *board, const TyDocNode *node)
{
    static const char *const KEYS[] = {"id", "title", "xy", "open", NULL};
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    uint8_t junction = tables->junction_count;
    ty_read_keys(reader, node, KEYS);
    board->junction_node[junction] = node;
    tables->junction_name[junction] = read_place_id(board, node);
    tables->junction_title[junction] = ty_read_title(reader, node, "title");
    ty_read_position(reader, node, tables->junction_xy[junction]);
    tables->junction_count++;
}

static void read_junctions(Board *board)
{
    convoi_read_each(board, "junctions", 0, CONVOI_JUNCTIONS_MAX, read_junction);
}

/* ---- Segments ---- */

/* Ties one end of segment `index` to the place that the file names under `key`. */
static void read_end(Board *board, uint8_t index, uint8_t side, const char *key)
{
    TyReader *reader = &board->reader;
    const TyDocNode *node = board->segments[index].node;
    Link *end = &board->segments[index].end[side];
    const char *id = ty_read_text(reader, node, key);
    if (!ty_reader_ok(reader)) {
        return;
    }
    if (!place_find(board, id, end)) {
        ty_read_fail(reader, ty_doc_get(reader->doc, node, key),
                     "there is no city, start or junction \"%s\"", id);
    } else if (end->kind == LINK_CITY) {
        board->city_exits[end->index]++;
    } else if (end->kind == LINK_START) {
        board->start_lines[end->index]++;
    } else {
        end->side = board->tables->junction_degree[end->index]++;
        if (end->side < CONVOI_LEGS_MAX) {
            board->leg_segment[end->index][end->side] = index;
        }
    }
}

/* Numbers the spaces of segment `index`. Only a segment between two junctions may have none. */
static void read_spaces(Board *board, uint8_t index)
{
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    Segment *segment = &board->segments[index];
    bool inner = segment->end[0].kind == LINK_JUNCTION && segment->end[1].kind == LINK_JUNCTION;
    uint8_t spaces =
        ty_read_byte(reader, segment->node, "spaces", inner ? 0 : 1, CONVOI_SPACES_MAX);
    if (!ty_reader_ok(reader)) {
        return;
    }
    if (spaces > CONVOI_SPACES_MAX - tables->space_count) {
        ty_read_fail(reader, segment->node, "with this segment there are more than %d track spaces",
                     (int)CONVOI_SPACES_MAX);
        return;
    }
    segment->spaces = spaces;
    segment->first_space = tables->space_count;
    segment->first_gap = (uint16_t)(tables->space_count + index);
    for (uint8_t i = 0; i < segment->spaces; i++) {
        tables->space_segment[tables->space_count] = index;
        tables->space_index[tables->space_count] = (uint8_t)(i + 1);
        tables->space_count++;
    }
}

static void read_segment(Board *board, const TyDocNode *node)
{
    static const char *const KEYS[] = {"id", "a", "b", "spaces", "lights", NULL};
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    uint8_t index = tables->segment_count;
    Segment *segment = &board->segments[index];
    ty_read_keys(reader, node, KEYS);
    segment->node = node;
    tables->segment_name[index] = ty_read_id(reader, node, "id");
    ty_read_unique(reader, ty_doc_get(reader->doc, node, "id"), tables->segment_name[index],
                   tables->segment_name, tables->segment_count);
    tables->segment_count++;
    read_end(board, index, 0, "a");
    read_end(board, index, 1, "b");
    if (segment->end[0].kind == segment->end[1].kind &&
        segment->end[0].index == segment->end[1].index) {
        ty_read_fail(reader, node, "a segment joins two different places");
    }
    read_spaces(board, index);
}

static void check_degrees(Board *board)
{
    TyReader *reader = &board->reader;
    ConvoiTables *tables = board->tables;
    for (uint8_t i = 0; i < tables->city_count; i++) {
        if (board->city_exits[i] < 1 || board->city_exits[i] > BOARD_EXITS_MAX) {
            ty_read_fail(reader, board->city_node[i], "a city has 1 to %d segments, not %u",
                         (int)BOARD_EXITS_MAX, board->city_exits[i]);
        }
        tables->city_light_count = (uint8_t)(tables->city_light_count + board->city_exits[i]);
    }
    for (uint8_t i = 0; i < tables->start_count; i++) {
        if (board->start_lines[i] != 1) {
            ty_read_fail(reader, board->start_node[i], "a start has exactly one segment, not %u",
                         board->start_lines[i]);
        }
    }
    for (uint8_t i = 0; i < tables->junction_count; i++) {
        if (tables->junction_degree[i] != 3 && tables->junction_degree[i] != 4) {
            ty_read_fail(reader, board->junction_node[i], "a junction has 3 or 4 segments, not %u",
                         tables->junction_degree[i]);
        }
    }
}

static void check_switch_discs(Board *board)
{
    TyReader *reader = &board->reader;
    int discs = 0;
    for (uint8_t i = 0; i < board->tables->junction_count; i++) {
        discs += board->tables->junction_degree[i] - 2;
    }
    if (discs > BOARD_SWITCH_DISCS_MAX) {
        ty_read_fail(reader, ty_doc_get(reader->doc, reader->doc->nodes, "junctions"),
                     "need %d switch discs, there are %d", discs, (int)BOARD_SWITCH_DISCS_MAX);
    }
}

/* A ring of junctions without a space between them would let a train run for ever (ruling 42).
 * Junctions joined without a space form groups; a segment within one group closes a ring. */
static void check_rings(Board *board)
{
    const ConvoiTables *tables = board->tables;
    uint8_t group[CONVOI_JUNCTIONS_MAX];
    for (uint8_t i = 0; i < CONVOI_JUNCTIONS_MAX; i++) {
        group[i] = i;
    }
    for (uint8_t s = 0; s < tables->segment_count; s++) {
        const Segment *segment = &board->segments[s];
        if (segment->spaces > 0) {
            continue;
        }
        uint8_t from = group[segment->end[0].index];
        uint8_t to = group[segment->end[1].index];
        if (from == to) {
            ty_read_fail(&board->reader, segment->node,
                         "closes a ring of junctions that has no track space");
        }
        for (uint8_t i = 0; i < tables->junction_count; i++) {
            group[i] = group[i] == from ? to : group[i];
        }
    }
}

static void read_segments(Board *board)
{
    convoi_read_each(board, "segments", 1, CONVOI_SEGMENTS_MAX, read_segment);
    if (ty_reader_ok(&board->reader)) {
        check_degrees(board);
        check_switch_discs(board);
        check_rings(board);
    }
}

/* ---- The whole ---- */

/* Nothing belongs to anything yet. */
static void board_clear(Board *board)
{
    ConvoiTables *tables = board->tables;
    memset(board->gap_light, CONVOI_NONE, sizeof board->gap_light);
    memset(tables->city_goods, CONVOI_NONE, sizeof tables->city_goods);
    memset(tables->city_port, CONVOI_NONE, sizeof tables->city_port);
    memset(tables->goods_city, CONVOI_NONE, sizeof tables->goods_city);
    memset(tables->light_city, CONVOI_NONE, sizeof tables->light_city);
    memset(tables->number_start, CONVOI_NONE, sizeof tables->number_start);
}

TyStatus convoi_board_read(const TyDoc *doc, ConvoiTables *tables)
{
    /* Each stage relies on the success of those before it. */
    static void (*const STAGES[])(Board *board) = {
        board_clear,           read_board_head,   read_cities,        read_starts,
        read_junctions,        read_segments,     convoi_read_lights, convoi_read_switches,
        convoi_read_green,     convoi_make_links, convoi_make_runs,   convoi_make_leg_names,
        convoi_make_distances, convoi_make_row,
    };
    Board board = {.reader = {.doc = doc, .pool = &tables->names}, .tables = tables};
    for (size_t i = 0; i < sizeof STAGES / sizeof STAGES[0] && ty_reader_ok(&board.reader); i++) {
        STAGES[i](&board);
    }
    return board.reader.status;
}
