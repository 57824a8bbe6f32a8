/* Ligne de train, Chicago: reading a train file and joining its tiles (FILES.md). */
#include "core/status.h"
#include "games/chicago/chicago.h"

#include <string.h>

enum {
    ID_SIZE_MAX = 16,
    LINE_SIZE_MAX = 150, /* bytes of a title or of the status */
};

const char *const chicago_card_words[CARD_COUNT + 1] = {
    "exit_1x",    "exit_2x",    "express",     "reverse",   "eccentric", "panhandler",
    "plus_1",     "enter_1x",   "enter_2x",    "excuse_me", "u_pass",    "advanced_1",
    "advanced_2", "advanced_3", "take_a_seat", "rebel",     NULL,
};

/* A file being read. Every reader does nothing once `status` has a failure. */
typedef struct Reader {
    const Doc *doc;
    ChicagoTables *tables;
    TyStatus status;
} Reader;

static bool reader_ok(const Reader *reader)
{
    return reader->status.code == TY_OK;
}

/* ---- Words ------------------------------------------------------------------------------------
 */

static uint16_t name_add(Reader *reader, const DocNode *node, const char *text)
{
    ChicagoTables *tables = reader->tables;
    size_t size = strlen(text) + 1;
    if (size > (size_t)(CHICAGO_NAMES_SIZE - tables->names_size)) {
        doc_fail(reader->doc, node, &reader->status, "all names together exceed %d bytes",
                 (int)CHICAGO_NAMES_SIZE);
        return 0;
    }
    uint16_t name = tables->names_size;
    memcpy(tables->names + name, text, size);
    tables->names_size = (uint16_t)(name + size);
    return name;
}

static uint16_t read_id(Reader *reader, const DocNode *node, const char *key)
{
    const char *text = doc_read_text(reader->doc, node, key, &reader->status);
    size_t length = strlen(text);
    if (!reader_ok(reader)) {
        return 0;
    }
    if (length == 0 || length > ID_SIZE_MAX ||
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") != length) {
        doc_fail(reader->doc, doc_get(reader->doc, node, key), &reader->status,
                 "must be 1 to %d characters of a-z 0-9 _, not \"%s\"", (int)ID_SIZE_MAX, text);
        return 0;
    }
    return name_add(reader, node, text);
}

static uint16_t read_line(Reader *reader, const DocNode *node, const char *key)
{
    const char *text = doc_read_text(reader->doc, node, key, &reader->status);
    if (!reader_ok(reader)) {
        return 0;
    }
    bool plain = text[0] != '\0' && strlen(text) <= LINE_SIZE_MAX;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        plain = plain && *at >= 0x20 && *at != 0x7f;
    }
    if (!plain) {
        doc_fail(reader->doc, doc_get(reader->doc, node, key), &reader->status,
                 "must be one line of 1 to %d bytes", (int)LINE_SIZE_MAX);
        return 0;
    }
    return name_add(reader, node, text);
}

static bool name_is(const ChicagoTables *tables, uint16_t name, const char *text)
{
    return strcmp(tables->names + name, text) == 0;
}

/* The cell that two characters such as "c0" name; CHICAGO_NONE if the tile has none. */
static uint8_t cell_parse(const ChicagoTables *tables, const char *text)
{
    if (text[0] < 'a' || text[0] >= 'a' + tables->width || text[1] < '0' ||
        text[1] >= '0' + tables->height) {
        return CHICAGO_NONE;
    }
    return (uint8_t)((text[1] - '0') * tables->width + (text[0] - 'a'));
}

/* ---- Head and cards ---------------------------------------------------------------------------
 */

static void read_head(Reader *reader)
{
    static const char *const keys[] = {"format", "name",    "status",        "pawns",
                                       "tokens", "spinner", "number_copies", "actions",
                                       "fixed",  "aisle",   "tiles",         NULL};
    const DocNode *root = reader->doc->nodes;
    const char *format = doc_read_text(reader->doc, root, "format", &reader->status);
    if (reader_ok(reader) && strcmp(format, "chicago-train-1") != 0) {
        doc_fail(reader->doc, doc_get(reader->doc, root, "format"), &reader->status,
                 "must be \"chicago-train-1\", not \"%s\"", format);
    }
    doc_known_keys(reader->doc, root, keys, &reader->status);
    reader->tables->names_size = 1; /* offset 0 is the empty name */
    read_id(reader, root, "name");
    if (doc_get(reader->doc, root, "status") != NULL) {
        read_line(reader, root, "status");
    }
}

static void read_pawns(Reader *reader)
{
    const DocNode *list =
        doc_read_list(reader->doc, reader->doc->nodes, "pawns", 3, 3, &reader->status);
    uint32_t players = 2;
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL;
         node = doc_next(reader->doc, node)) {
        if (node->kind != DOC_INT || node->number < 1 || node->number > CHICAGO_PAWNS_MAX) {
            doc_fail(reader->doc, node, &reader->status, "must be a whole number from 1 to %d",
                     (int)CHICAGO_PAWNS_MAX);
            return;
        }
        reader->tables->pawns_by_players[players++] = (uint8_t)node->number;
    }
}

static void read_numbers(Reader *reader)
{
    static const char *const keys[] = {"open", "closed", NULL};
    const DocNode *root = reader->doc->nodes;
    ChicagoTables *tables = reader->tables;
    tables->tokens = (uint8_t)doc_read_int(reader->doc, root, "tokens", 0, 20, &reader->status);
    tables->number_copies = (uint8_t)doc_read_int(reader->doc, root, "number_copies", 1,
                                                  CHICAGO_COPIES_MAX, &reader->status);
    const DocNode *spinner = doc_get(reader->doc, root, "spinner");
    if (spinner == NULL) {
        doc_fail(reader->doc, root, &reader->status, "\"spinner\" is missing");
        return;
    }
    doc_known_keys(reader->doc, spinner, keys, &reader->status);
    tables->spinner[0] =
        (uint8_t)doc_read_int(reader->doc, spinner, "closed", 0, 100, &reader->status);
    tables->spinner[1] =
        (uint8_t)doc_read_int(reader->doc, spinner, "open", 1, 100, &reader->status);
}

/* The index of member `key` among `words`; the number of words, with a failure, if it is none. */
static uint32_t read_word(Reader *reader, const DocNode *node, const char *key,
                          const char *const *words)
{
    const char *text = doc_read_text(reader->doc, node, key, &reader->status);
    uint32_t index = 0;
    while (words[index] != NULL && strcmp(words[index], text) != 0) {
        index++;
    }
    if (words[index] == NULL && reader_ok(reader)) {
        doc_fail(reader->doc, doc_get(reader->doc, node, key), &reader->status,
                 "\"%s\" is not known here", text);
    }
    return index;
}

/* Cards that prepare a move would be worthless if they ended the turn, and so have green stars. The
 * Rebel Passenger ends the turn when it replaces an Excuse Me: its star is red. */
static void check_star(Reader *reader, const DocNode *node, uint32_t card, bool red)
{
    bool prepares = card == CARD_EXCUSE_ME || card == CARD_U_PASS ||
                    (card >= CARD_ADVANCED_1 && card <= CARD_ADVANCED_3);
    if ((prepares && red) || (card == CARD_REBEL && !red)) {
        doc_fail(reader->doc, doc_get(reader->doc, node, "star"), &reader->status,
                 "the star of %s must be %s", chicago_card_words[card], red ? "green" : "red");
    }
}

static void read_action(Reader *reader, const DocNode *node, bool seen[CARD_COUNT])
{
    static const char *const keys[] = {"card", "copies", "star", NULL};
    static const char *const stars[] = {"green", "red", NULL};
    doc_known_keys(reader->doc, node, keys, &reader->status);
    uint32_t card = read_word(reader, node, "card", chicago_card_words);
    int32_t copies =
        doc_read_int(reader->doc, node, "copies", 0, CHICAGO_COPIES_MAX, &reader->status);
    uint32_t star = read_word(reader, node, "star", stars);
    if (!reader_ok(reader)) {
        return;
    }
    if (seen[card]) {
        doc_fail(reader->doc, node, &reader->status, "the card is listed twice");
    }
    check_star(reader, node, card, star == 1);
    seen[card] = true;
    reader->tables->copies[card] = (uint8_t)copies;
    reader->tables->ender[card] = star == 1;
}

static void read_actions(Reader *reader)
{
    bool seen[CARD_COUNT] = {false};
    const DocNode *list = doc_read_list(reader->doc, reader->doc->nodes, "actions", CARD_COUNT,
                                        CARD_COUNT, &reader->status);
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL && reader_ok(reader);
         node = doc_next(reader->doc, node)) {
        read_action(reader, node, seen);
    }
}

/* ---- Tiles ------------------------------------------------------------------------------------
 */

/* All tiles have the size of the first. */
static void read_size(Reader *reader)
{
    ChicagoTables *tables = reader->tables;
    const DocNode *root = reader->doc->nodes;
    const DocNode *list =
        doc_read_list(reader->doc, root, "tiles", CHICAGO_CARS, CHICAGO_TILES_MAX, &reader->status);
    if (!reader_ok(reader)) {
        return;
    }
    const DocNode *rows = doc_read_list(reader->doc, doc_first(reader->doc, list), "rows", 1,
                                        CHICAGO_HEIGHT_MAX, &reader->status);
    const DocNode *row = doc_first(reader->doc, rows);
    size_t width = row != NULL && row->kind == DOC_TEXT ? strlen(row->text) : 0;
    if (reader_ok(reader) && (width < 2 || width > CHICAGO_WIDTH_MAX)) {
        doc_fail(reader->doc, rows, &reader->status, "a row has 2 to %d characters",
                 (int)CHICAGO_WIDTH_MAX);
    }
    tables->width = (uint8_t)width;
    tables->height = (uint8_t)rows->child_count;
    tables->cells = (uint8_t)(tables->width * tables->height);
    tables->aisle_row =
        (uint8_t)doc_read_int(reader->doc, root, "aisle", 0,
                              rows->child_count == 0 ? 0 : tables->height - 1, &reader->status);
}

static void read_cell(Reader *reader, const DocNode *node, ChicagoTile *tile, uint32_t cell)
{
    static const char letters[] = "ASP";
    uint64_t *const sets[] = {&tile->aisle, &tile->seats, &tile->passengers};
    char letter = node->text[cell % reader->tables->width];
    const char *at = strchr(letters, letter);
    if (at == NULL) {
        doc_fail(reader->doc, node, &reader->status,
                 "'%c' is no cell: A aisle, S seat, P passenger", letter);
        return;
    }
    *sets[at - letters] |= UINT64_C(1) << cell;
    reader->tables->kinds[reader->tables->tile_count][cell] = (uint8_t)(at - letters);
}

static void read_rows(Reader *reader, const DocNode *node, ChicagoTile *tile)
{
    const ChicagoTables *tables = reader->tables;
    const DocNode *rows =
        doc_read_list(reader->doc, node, "rows", tables->height, tables->height, &reader->status);
    uint32_t cell = 0;
    for (const DocNode *row = doc_first(reader->doc, rows); row != NULL && reader_ok(reader);
         row = doc_next(reader->doc, row)) {
        if (row->kind != DOC_TEXT || strlen(row->text) != tables->width) {
            doc_fail(reader->doc, row, &reader->status, "must be a text of %u characters",
                     tables->width);
            return;
        }
        for (uint32_t x = 0; x < tables->width && reader_ok(reader); x++) {
            read_cell(reader, row, tile, cell++);
        }
    }
    uint64_t row_bits = (UINT64_C(1) << tables->width) - 1;
    uint64_t aisle = row_bits << (tables->aisle_row * tables->width);
    if (reader_ok(reader) && (tile->aisle & aisle) != aisle) {
        doc_fail(reader->doc, rows, &reader->status, "row %u must be aisle throughout",
                 tables->aisle_row);
    }
}

/* Joins neighbouring cells; bars are cut out afterwards. */
static void tile_link(const ChicagoTables *tables, ChicagoTile *tile)
{
    for (uint32_t cell = 0; cell < tables->cells; cell++) {
        uint64_t bit = UINT64_C(1) << cell;
        uint64_t links = 0;
        links |= cell % tables->width > 0 ? bit >> 1 : 0;
        links |= cell % tables->width + 1u < tables->width ? bit << 1 : 0;
        links |= cell >= tables->width ? bit >> tables->width : 0;
        links |= cell + tables->width < tables->cells ? bit << tables->width : 0;
        tile->links[cell] = links;
        if ((links & tile->passengers) != 0) {
            tile->beside |= bit;
        }
    }
}

static void read_bar(Reader *reader, const DocNode *node, ChicagoTile *tile)
{
    bool whole = node->kind == DOC_TEXT && strlen(node->text) == 5 && node->text[2] == '|';
    uint8_t one = whole ? cell_parse(reader->tables, node->text) : CHICAGO_NONE;
    uint8_t other = whole ? cell_parse(reader->tables, node->text + 3) : CHICAGO_NONE;
    if (one == CHICAGO_NONE || other == CHICAGO_NONE) {
        doc_fail(reader->doc, node, &reader->status,
                 "a bar is two cells of the tile such as \"a0|b0\"");
        return;
    }
    if ((tile->links[one] >> other & 1) == 0) {
        doc_fail(reader->doc, node, &reader->status,
                 "the two cells are no neighbours, or have a bar already");
        return;
    }
    tile->links[one] &= ~(UINT64_C(1) << other);
    tile->links[other] &= ~(UINT64_C(1) << one);
}

static void read_bars(Reader *reader, const DocNode *node, ChicagoTile *tile)
{
    const DocNode *list =
        doc_read_list(reader->doc, node, "bars", 0, 2 * CHICAGO_CELLS_MAX, &reader->status);
    for (const DocNode *bar = doc_first(reader->doc, list); bar != NULL && reader_ok(reader);
         bar = doc_next(reader->doc, bar)) {
        read_bar(reader, bar, tile);
    }
}

static void read_start(Reader *reader, const DocNode *node, ChicagoTile *tile)
{
    static const char *const keys[] = {"id", "door", NULL};
    doc_known_keys(reader->doc, node, keys, &reader->status);
    uint8_t index = tile->start_count++;
    tile->start_name[index] = read_id(reader, node, "id");
    const char *door = doc_read_text(reader->doc, node, "door", &reader->status);
    if (!reader_ok(reader)) {
        return;
    }
    uint8_t cell = strlen(door) == 2 ? cell_parse(reader->tables, door) : CHICAGO_NONE;
    if (cell == CHICAGO_NONE || (tile->aisle >> cell & 1) == 0) {
        doc_fail(reader->doc, doc_get(reader->doc, node, "door"), &reader->status,
                 "must name an aisle cell of the tile, not \"%s\"", door);
        return;
    }
    if (index > 0 && name_is(reader->tables, tile->start_name[0],
                             reader->tables->names + tile->start_name[index])) {
        doc_fail(reader->doc, node, &reader->status, "two starts of a tile have the same id");
    }
    tile->door[index] = cell;
}

static void read_tile(Reader *reader, const DocNode *node)
{
    static const char *const keys[] = {"id", "title", "rows", "bars", "starts", NULL};
    ChicagoTables *tables = reader->tables;
    ChicagoTile *tile = &tables->tiles[tables->tile_count];
    doc_known_keys(reader->doc, node, keys, &reader->status);
    tile->name = read_id(reader, node, "id");
    tile->title = read_line(reader, node, "title");
    for (uint8_t i = 0; i < tables->tile_count && reader_ok(reader); i++) {
        if (name_is(tables, tables->tiles[i].name, tables->names + tile->name)) {
            doc_fail(reader->doc, node, &reader->status, "another tile has the same id");
        }
    }
    read_rows(reader, node, tile);
    if (reader_ok(reader)) {
        tile_link(tables, tile);
        read_bars(reader, node, tile);
    }
    const DocNode *starts =
        doc_read_list(reader->doc, node, "starts", 1, CHICAGO_DOORS_MAX, &reader->status);
    for (const DocNode *start = doc_first(reader->doc, starts); start != NULL && reader_ok(reader);
         start = doc_next(reader->doc, start)) {
        read_start(reader, start, tile);
    }
    tables->tile_count++;
}

/* ---- Trains -----------------------------------------------------------------------------------
 */

static void car_join(const ChicagoTables *tables, ChicagoTrain *train, uint32_t car, uint8_t index)
{
    const ChicagoTile *tile = &tables->tiles[index];
    train->seats.car[car] = tile->seats;
    train->aisle.car[car] = tile->aisle;
    train->passengers.car[car] = tile->passengers;
    train->beside.car[car] = tile->beside;
    for (uint32_t cell = 0; cell < tables->cells; cell++) {
        train->links[car * CHICAGO_CAR + cell].car[car] = tile->links[cell];
    }
    for (uint32_t i = 0; i < tile->start_count; i++) {
        uint32_t start = car * CHICAGO_DOORS_MAX + i;
        train->starts |= (uint8_t)(1u << start);
        train->links[CHICAGO_NODES + start].car[car] = UINT64_C(1) << tile->door[i];
    }
}

/* Joins two tiles by their short sides: the aisle runs through. */
static void train_join(ChicagoTables *tables, uint8_t first, uint8_t second)
{
    ChicagoTrain *train = &tables->trains[first * CHICAGO_TILES_MAX + second];
    car_join(tables, train, 0, first);
    car_join(tables, train, 1, second);
    uint32_t back = (uint32_t)(tables->aisle_row * tables->width + tables->width - 1);
    uint32_t front = CHICAGO_CAR + (uint32_t)(tables->aisle_row * tables->width);
    cells_add(&train->links[back], front);
    cells_add(&train->links[front], back);
}

static void read_fixed(Reader *reader)
{
    ChicagoTables *tables = reader->tables;
    const DocNode *list = doc_read_list(reader->doc, reader->doc->nodes, "fixed", CHICAGO_CARS,
                                        CHICAGO_CARS, &reader->status);
    uint32_t car = 0;
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL;
         node = doc_next(reader->doc, node)) {
        uint8_t tile = 0;
        while (tile < tables->tile_count &&
               (node->kind != DOC_TEXT || !name_is(tables, tables->tiles[tile].name, node->text))) {
            tile++;
        }
        if (tile == tables->tile_count || (car > 0 && tile == tables->fixed[0])) {
            doc_fail(reader->doc, node, &reader->status,
                     "must be the id of a tile that is not used yet");
            return;
        }
        tables->fixed[car++] = tile;
    }
}

/* Whatever tiles are taken, every pawn of every player finds a seat. */
static void check_seats(Reader *reader)
{
    const ChicagoTables *tables = reader->tables;
    uint32_t least[2] = {UINT32_MAX, UINT32_MAX};
    for (uint8_t i = 0; i < tables->tile_count; i++) {
        uint32_t seats = (uint32_t)__builtin_popcountll(tables->tiles[i].seats);
        uint32_t more = seats > least[0] ? seats : least[0];
        least[0] = seats < least[0] ? seats : least[0];
        least[1] = more < least[1] ? more : least[1];
    }
    for (uint32_t players = 2; players <= TY_PLAYERS_MAX; players++) {
        if (players * tables->pawns_by_players[players] > least[0] + least[1]) {
            doc_fail(reader->doc, doc_get(reader->doc, reader->doc->nodes, "tiles"),
                     &reader->status, "two tiles can have %u seats, too few for %u players",
                     least[0] + least[1], players);
        }
    }
}

static void read_tiles(Reader *reader)
{
    read_size(reader);
    const DocNode *list = doc_read_list(reader->doc, reader->doc->nodes, "tiles", CHICAGO_CARS,
                                        CHICAGO_TILES_MAX, &reader->status);
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL && reader_ok(reader);
         node = doc_next(reader->doc, node)) {
        read_tile(reader, node);
    }
}

static void join_tiles(Reader *reader)
{
    ChicagoTables *tables = reader->tables;
    for (uint8_t first = 0; first < tables->tile_count; first++) {
        for (uint8_t second = 0; second < tables->tile_count; second++) {
            train_join(tables, first, second);
        }
    }
}

/* Everybody is dealt a full hand, and one card of each pile is left. */
static void check_decks(Reader *reader)
{
    const ChicagoTables *tables = reader->tables;
    uint32_t actions = 0;
    for (uint32_t i = 0; i < CARD_COUNT; i++) {
        actions += tables->copies[i];
    }
    if (actions <= TY_PLAYERS_MAX * CHICAGO_HAND_ACTIONS || actions > CHICAGO_CARDS_MAX) {
        doc_fail(reader->doc, doc_get(reader->doc, reader->doc->nodes, "actions"), &reader->status,
                 "there are %u cards, must be %d to %d", actions,
                 TY_PLAYERS_MAX * CHICAGO_HAND_ACTIONS + 1, (int)CHICAGO_CARDS_MAX);
    }
}

TyStatus chicago_file_read(const Doc *doc, ChicagoTables *tables)
{
    /* Each stage relies on the success of those before it. */
    static void (*const stages[])(Reader *reader) = {
        read_head,  read_pawns,  read_numbers, read_actions, check_decks,
        read_tiles, check_seats, read_fixed,   join_tiles,
    };
    Reader reader = {.doc = doc, .tables = tables, .status = status_ok()};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && reader_ok(&reader); i++) {
        stages[i](&reader);
    }
    return reader.status;
}
