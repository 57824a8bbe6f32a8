/* Ligne de train, Chicago: what things are called. */
#include "games/chicago/names.h"

#define LIST(name, ...)                                                                            \
    static const char *const name##_words[] = {__VA_ARGS__, NULL};                                 \
    const TyNames chicago_##name = {.words = name##_words}

#define NUMBERS                                                                                    \
    "blue_1", "blue_2", "blue_3", "blue_4", "blue_5", "red_1", "red_2", "red_3", "red_4", "red_5"
#define ACTIONS                                                                                    \
    "exit_1x", "exit_2x", "express", "reverse", "eccentric", "panhandler", "plus_1", "enter_1x",   \
        "enter_2x", "excuse_me", "u_pass", "advanced_1", "advanced_2", "advanced_3",               \
        "take_a_seat", "rebel"

const char *const chicago_phase_words[] = {
    "place", "turn",  "move",    "slide",  "source", "seat", "pawn",
    "beg",   "rebel", "penalty", "reseat", "over",   NULL,
};
const TyNames chicago_phases = {.words = chicago_phase_words};
LIST(waits, "none", "waiting", "missed", "boarding");
LIST(piles, "number", "action");
LIST(colours, "blue", "red");
LIST(kinds, "aisle", "seat", "passenger");
LIST(sources, "supply", "start");
LIST(origins, "supply", "start", "aisle");
LIST(leaves, "exit", "crowding", "blocking");
LIST(doors, "closed", "open");
LIST(cars, "car 1", "car 2");

#define NUMBER_TITLES                                                                              \
    "blue 1", "blue 2", "blue 3", "blue 4", "blue 5", "red 1", "red 2", "red 3", "red 4", "red 5"
#define ACTION_TITLES                                                                              \
    "Exit 1X", "Exit 2X", "Express", "Reverse", "Eccentric Passenger", "Panhandler", "+1 Discard", \
        "Entrance 1X", "Entrance 2X", "Excuse Me", "U-Pass", "Advanced Movement 1",                \
        "Advanced Movement 2", "Advanced Movement 3", "Take a Seat", "Rebel Passenger"

static const char *const numbers_words[] = {NUMBERS, NULL};
static const char *const numbers_titles[] = {NUMBER_TITLES, NULL};
static const char *const actions_words[] = {ACTIONS, NULL};
static const char *const actions_titles[] = {ACTION_TITLES, NULL};
static const char *const cards_words[] = {NUMBERS, ACTIONS, NULL};
static const char *const cards_titles[] = {NUMBER_TITLES, ACTION_TITLES, NULL};
const TyNames chicago_numbers = {.words = numbers_words, .titles = numbers_titles};
const TyNames chicago_actions = {.words = actions_words, .titles = actions_titles};
const TyNames chicago_cards = {.words = cards_words, .titles = cards_titles};

#define WORDS(name) (sizeof name##_words / sizeof name##_words[0] - 1)

_Static_assert(sizeof chicago_phase_words / sizeof chicago_phase_words[0] == PHASE_COUNT + 1 &&
                   WORDS(waits) == WAIT_COUNT && WORDS(numbers) == CHICAGO_NUMBERS &&
                   WORDS(actions) == CARD_COUNT,
               "a name for each");

const TyNames chicago_tiles = TY_NAMES_KEPT(ChicagoTables, tile_names, tile_count, names);

static uint32_t seats_count(const TyRuleset *ruleset)
{
    return ruleset->shape.players;
}

static void seats_write(const TyRuleset *ruleset, uint32_t seat, TyText *out)
{
    (void)ruleset;
    ty_text_add(out, "%u", seat);
}

const TyNames chicago_seats = {.count = seats_count, .write = seats_write};

/* ---- Places ------------------------------------------------------------------------------------
 */

static uint32_t starts_count(const TyRuleset *ruleset)
{
    (void)ruleset;
    return CHICAGO_STARTS;
}

/* With fixed tiles a start space has its own name, otherwise its number in the car. */
static void starts_write(const TyRuleset *ruleset, uint32_t start, TyText *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    uint32_t car = start / CHICAGO_DOORS_MAX;
    uint32_t door = start % CHICAGO_DOORS_MAX;
    const ChicagoTile *tile = &tables->tiles[tables->fixed[car]];
    if (!tables->tiles_random && door < tile->start_count) {
        ty_text_add(out, "%u.%s", car + 1, tables->names.bytes + tile->start_names[door]);
    } else {
        ty_text_add(out, "%u.door%u", car + 1, door + 1);
    }
}

const TyNames chicago_starts = {.count = starts_count, .write = starts_write};

static uint32_t places_count(const TyRuleset *ruleset)
{
    (void)ruleset;
    return CHICAGO_PLACES;
}

/* A cell is its car, column and row. */
static void places_write(const TyRuleset *ruleset, uint32_t place, TyText *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    uint32_t cell = place % CHICAGO_CAR;
    if (place >= CHICAGO_NODES) {
        starts_write(ruleset, place - CHICAGO_NODES, out);
    } else {
        ty_text_add(out, "%u.%c%u", place / CHICAGO_CAR + 1, (char)('a' + cell % tables->width),
                    cell / tables->width);
    }
}

const TyNames chicago_places = {.count = places_count, .write = places_write};

static void struck_title(const TyRuleset *ruleset, uint32_t place, TyText *out)
{
    ty_text_add(out, ": the pawn at ");
    places_write(ruleset, place, out);
}

const TyNames chicago_struck = {
    .count = places_count, .write = places_write, .title = struck_title, .none = ""};

static uint32_t cells_all(const TyRuleset *ruleset)
{
    return (uint32_t)CHICAGO_CARS * chicago_tables(ruleset)->cells;
}

static void cells_write(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    places_write(ruleset, cell_sparse(chicago_tables(ruleset), index), out);
}

const TyNames chicago_cells = {.count = cells_all, .write = cells_write};
