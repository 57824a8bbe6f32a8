/* Ligne de train, Chicago: reading a train file and joining its tiles (FILES.md). */
#include "games/chicago/names.h"
#include "kit/reader.h"

#include <string.h>

/* A file being read. */
typedef struct Reader {
    TyReader file;
    const TyDocNode *root;
    ChicagoTables *tables;
} Reader;

/* The first entry of a list, and the next one; NULL behind the last, or once something failed. */
static const TyDocNode *entry_first(const Reader *reader, const TyDocNode *list)
{
    return ty_reader_ok(&reader->file) ? ty_doc_first(reader->file.doc, list) : NULL;
}

static const TyDocNode *entry_next(const Reader *reader, const TyDocNode *entry)
{
    return ty_reader_ok(&reader->file) ? ty_doc_next(reader->file.doc, entry) : NULL;
}

/* Fails at member `key` of `node`, or at `node` itself. */
#define FAIL(reader, node, key, ...)                                                               \
    ty_read_fail(&(reader)->file, ty_doc_get((reader)->file.doc, (node), (key)), __VA_ARGS__)
#define FAIL_AT(reader, node, ...) ty_read_fail(&(reader)->file, (node), __VA_ARGS__)

/* The cell that two characters such as "c0" name; CHICAGO_NONE if the tile has none. */
static uint8_t cell_parse(const ChicagoTables *tables, const char *text)
{
    if (text[0] < 'a' || text[0] >= 'a' + tables->width || text[1] < '0' ||
        text[1] >= '0' + tables->height) {
        return CHICAGO_NONE;
    }
    return (uint8_t)((text[1] - '0') * tables->width + (text[0] - 'a'));
}

/* ---- Counts and cards --------------------------------------------------------------------------
 */

static void read_counts(Reader *reader)
{
    static const char *const keys[] = {"format", "name",    "status",        "pawns",
                                       "tokens", "spinner", "number_copies", "actions",
                                       "fixed",  "aisle",   "tiles",         NULL};
    TyReader *file = &reader->file;
    ChicagoTables *tables = reader->tables;
    ty_read_keys(file, reader->root, keys);
    const TyDocNode *pawns = ty_read_list(file, reader->root, "pawns", 3, 3);
    ty_read_numbers(file, pawns, tables->pawns_by_players + 2, 1, CHICAGO_PAWNS_MAX);
    tables->tokens = ty_read_byte(file, reader->root, "tokens", 0, 20);
    tables->number_copies =
        ty_read_byte(file, reader->root, "number_copies", 1, CHICAGO_COPIES_MAX);
}

static void read_spinner(Reader *reader)
{
    static const char *const keys[] = {"open", "closed", NULL};
    TyReader *file = &reader->file;
    const TyDocNode *spinner = ty_read_map(file, reader->root, "spinner");
    ty_read_keys(file, spinner, keys);
    reader->tables->spinner[0] = ty_read_byte(file, spinner, "closed", 0, 100);
    reader->tables->spinner[1] = ty_read_byte(file, spinner, "open", 1, 100);
}

/* Cards that prepare a move would be worthless if they ended the turn, and so have green stars. The
 * Rebel Passenger ends the turn when it replaces an Excuse Me: its star is red. */
static void check_star(Reader *reader, const TyDocNode *node, uint32_t card, bool red)
{
    bool prepares = card == CARD_EXCUSE_ME || card == CARD_U_PASS ||
                    (card >= CARD_ADVANCED_1 && card <= CARD_ADVANCED_3);
    if ((prepares && red) || (card == CARD_REBEL && !red)) {
        FAIL(reader, node, "star", "the star of %s must be %s", chicago_actions.words[card],
             red ? "green" : "red");
    }
}

static void read_action(Reader *reader, const TyDocNode *node, bool seen[CARD_COUNT])
{
    static const char *const keys[] = {"card", "copies", "star", NULL};
    static const char *const stars[] = {"green", "red", NULL};
    TyReader *file = &reader->file;
    ty_read_keys(file, node, keys);
    uint8_t card = ty_read_word(file, node, "card", chicago_actions.words);
    uint8_t copies = ty_read_byte(file, node, "copies", 0, CHICAGO_COPIES_MAX);
    bool red = ty_read_word(file, node, "star", stars) == 1;
    if (!ty_reader_ok(file)) {
        return;
    }
    if (seen[card]) {
        FAIL_AT(reader, node, "the card is listed twice");
    }
    check_star(reader, node, card, red);
    seen[card] = true;
    reader->tables->copies[card] = copies;
    reader->tables->enders |= (uint16_t)(red << card);
}

/* Everybody is dealt a full hand, and one card of each pile is left. */
static void check_decks(Reader *reader)
{
    uint32_t actions = 0;
    for (uint32_t i = 0; i < CARD_COUNT; i++) {
        actions += reader->tables->copies[i];
    }
    if (actions <= TY_PLAYERS_MAX * CHICAGO_HAND_ACTIONS || actions > CHICAGO_CARDS_MAX) {
        FAIL(reader, reader->root, "actions", "there are %u cards, must be %d to %d", actions,
             TY_PLAYERS_MAX * CHICAGO_HAND_ACTIONS + 1, (int)CHICAGO_CARDS_MAX);
    }
}

static void read_actions(Reader *reader)
{
    bool seen[CARD_COUNT] = {false};
    const TyDocNode *list =
        ty_read_list(&reader->file, reader->root, "actions", CARD_COUNT, CARD_COUNT);
    for (const TyDocNode *node = entry_first(reader, list); node != NULL;
         node = entry_next(reader, node)) {
        read_action(reader, node, seen);
    }
    check_decks(reader);
}

/* ---- Tiles ------------------------------------------------------------------------------------
 */

static const TyDocNode *read_tile_list(Reader *reader)
{
    return ty_read_list(&reader->file, reader->root, "tiles", CHICAGO_CARS, CHICAGO_TILES_MAX);
}

/* All tiles have the size of the first. */
static void read_size(Reader *reader)
{
    TyReader *file = &reader->file;
    ChicagoTables *tables = reader->tables;
    const TyDocNode *first = ty_doc_first(file->doc, read_tile_list(reader));
    if (!ty_reader_ok(file)) {
        return;
    }
    const TyDocNode *rows = ty_read_list(file, first, "rows", 1, CHICAGO_HEIGHT_MAX);
    const TyDocNode *row = ty_doc_first(file->doc, rows);
    size_t width = row != NULL && row->kind == TY_DOC_TEXT ? strlen(row->text) : 0;
    if (width < 2 || width > CHICAGO_WIDTH_MAX) {
        FAIL_AT(reader, rows, "a row has 2 to %d characters", (int)CHICAGO_WIDTH_MAX);
        return;
    }
    tables->width = (uint8_t)width;
    tables->height = (uint8_t)rows->child_count;
    tables->cells = (uint8_t)(tables->width * tables->height);
    tables->aisle_row = ty_read_byte(file, reader->root, "aisle", 0, (uint8_t)(tables->height - 1));
}

static void read_cell(Reader *reader, const TyDocNode *node, ChicagoTile *tile, uint32_t cell)
{
    static const char letters[] = "ASP";
    uint64_t *const sets[] = {&tile->aisle, &tile->seats, &tile->passengers};
    char letter = node->text[cell % reader->tables->width];
    const char *at = strchr(letters, letter);
    if (at == NULL) {
        FAIL_AT(reader, node, "'%c' is no cell: A aisle, S seat, P passenger", letter);
        return;
    }
    *sets[at - letters] |= UINT64_C(1) << cell;
    reader->tables->kinds[reader->tables->tile_count][cell] = (uint8_t)(at - letters);
}

static void read_rows(Reader *reader, const TyDocNode *node, ChicagoTile *tile)
{
    const ChicagoTables *tables = reader->tables;
    const TyDocNode *rows =
        ty_read_list(&reader->file, node, "rows", tables->height, tables->height);
    uint32_t cell = 0;
    for (const TyDocNode *row = entry_first(reader, rows); row != NULL;
         row = entry_next(reader, row)) {
        if (row->kind != TY_DOC_TEXT || strlen(row->text) != tables->width) {
            FAIL_AT(reader, row, "must be a text of %u characters", tables->width);
            return;
        }
        for (uint32_t x = 0; x < tables->width && ty_reader_ok(&reader->file); x++) {
            read_cell(reader, row, tile, cell++);
        }
    }
    uint64_t row_bits = (UINT64_C(1) << tables->width) - 1;
    uint64_t aisle = row_bits << (tables->aisle_row * tables->width);
    if ((tile->aisle & aisle) != aisle) {
        FAIL_AT(reader, rows, "row %u must be aisle throughout", tables->aisle_row);
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

static void read_bar(Reader *reader, const TyDocNode *node, ChicagoTile *tile)
{
    bool whole = node->kind == TY_DOC_TEXT && strlen(node->text) == 5 && node->text[2] == '|';
    uint8_t one = whole ? cell_parse(reader->tables, node->text) : CHICAGO_NONE;
    uint8_t other = whole ? cell_parse(reader->tables, node->text + 3) : CHICAGO_NONE;
    if (one == CHICAGO_NONE || other == CHICAGO_NONE) {
        FAIL_AT(reader, node, "a bar is two cells of the tile such as \"a0|b0\"");
        return;
    }
    if ((tile->links[one] >> other & 1) == 0) {
        FAIL_AT(reader, node, "the two cells are no neighbours, or have a bar already");
        return;
    }
    tile->links[one] &= ~(UINT64_C(1) << other);
    tile->links[other] &= ~(UINT64_C(1) << one);
}

static void read_bars(Reader *reader, const TyDocNode *node, ChicagoTile *tile)
{
    const TyDocNode *list = ty_read_list(&reader->file, node, "bars", 0, 2 * CHICAGO_CELLS_MAX);
    for (const TyDocNode *bar = entry_first(reader, list); bar != NULL;
         bar = entry_next(reader, bar)) {
        read_bar(reader, bar, tile);
    }
}

static void read_start(Reader *reader, const TyDocNode *node, ChicagoTile *tile)
{
    static const char *const keys[] = {"id", "door", NULL};
    TyReader *file = &reader->file;
    ty_read_keys(file, node, keys);
    uint16_t name = ty_read_id(file, node, "id");
    const char *door = ty_read_text(file, node, "door");
    uint8_t cell = strlen(door) == 2 ? cell_parse(reader->tables, door) : CHICAGO_NONE;
    if (ty_reader_ok(file) && (cell == CHICAGO_NONE || (tile->aisle >> cell & 1) == 0)) {
        FAIL(reader, node, "door", "must name an aisle cell of the tile, not \"%s\"", door);
    }
    ty_read_unique(file, node, name, tile->start_names, tile->start_count);
    tile->start_names[tile->start_count] = name;
    tile->door[tile->start_count++] = cell;
}

static void read_starts(Reader *reader, const TyDocNode *node, ChicagoTile *tile)
{
    const TyDocNode *list = ty_read_list(&reader->file, node, "starts", 1, CHICAGO_DOORS_MAX);
    for (const TyDocNode *start = entry_first(reader, list); start != NULL;
         start = entry_next(reader, start)) {
        read_start(reader, start, tile);
    }
}

static void read_tile(Reader *reader, const TyDocNode *node)
{
    static const char *const keys[] = {"id", "title", "rows", "bars", "starts", NULL};
    TyReader *file = &reader->file;
    ChicagoTables *tables = reader->tables;
    ChicagoTile *tile = &tables->tiles[tables->tile_count];
    ty_read_keys(file, node, keys);
    uint16_t name = ty_read_id(file, node, "id");
    ty_read_line(file, node, "title", TY_TITLE_MAX);
    ty_read_unique(file, node, name, tables->tile_names, tables->tile_count);
    read_rows(reader, node, tile);
    tile_link(tables, tile);
    read_bars(reader, node, tile);
    read_starts(reader, node, tile);
    tables->tile_names[tables->tile_count++] = name;
}

static void read_tiles(Reader *reader)
{
    const TyDocNode *list = read_tile_list(reader);
    for (const TyDocNode *node = entry_first(reader, list); node != NULL;
         node = entry_next(reader, node)) {
        read_tile(reader, node);
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
            FAIL(reader, reader->root, "tiles",
                 "two tiles can have %u seats, too few for %u players", least[0] + least[1],
                 players);
        }
    }
}

static void read_fixed(Reader *reader)
{
    ChicagoTables *tables = reader->tables;
    const TyDocNode *list =
        ty_read_list(&reader->file, reader->root, "fixed", CHICAGO_CARS, CHICAGO_CARS);
    uint32_t car = 0;
    for (const TyDocNode *node = entry_first(reader, list); node != NULL;
         node = entry_next(reader, node)) {
        const char *name = node->kind == TY_DOC_TEXT ? node->text : "";
        uint32_t tile = ty_name_find(&tables->names, tables->tile_names, tables->tile_count, name);
        if (tile == tables->tile_count || (car > 0 && tile == tables->fixed[0])) {
            FAIL_AT(reader, node, "must be the id of a tile that is not used yet");
        }
        tables->fixed[car++] = (uint8_t)tile;
    }
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

static void join_tiles(Reader *reader)
{
    ChicagoTables *tables = reader->tables;
    for (uint8_t first = 0; first < tables->tile_count; first++) {
        for (uint8_t second = 0; second < tables->tile_count; second++) {
            train_join(tables, first, second);
        }
    }
}

TyStatus chicago_read(void *tables_, uint32_t file, const TyDoc *doc)
{
    (void)file;
    /* Each stage relies on the success of those before it. */
    static void (*const stages[])(Reader *reader) = {
        read_counts, read_spinner, read_actions, read_size,
        read_tiles,  check_seats,  read_fixed,   join_tiles,
    };
    ChicagoTables *tables = tables_;
    Reader reader = {
        .file = {.doc = doc, .pool = &tables->names}, .root = doc->nodes, .tables = tables};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && ty_reader_ok(&reader.file); i++) {
        stages[i](&reader);
    }
    return reader.file.status;
}
