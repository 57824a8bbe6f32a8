/* Ligne de train, Chicago: the names of actions, places, blocks and outcomes. */
#include "games/chicago/names.h"

#include <string.h>

static const char *const phase_names[] = {
    "place", "turn", "move",  "slide",   "source", "seat",
    "pawn",  "beg",  "rebel", "penalty", "reseat", "over",
};
_Static_assert(sizeof phase_names / sizeof phase_names[0] == PHASE_COUNT, "a name per phase");

static const char *const wait_names[] = {"none", "waiting", "missed", "boarding"};
static const char *const pile_names[] = {"number", "action"};
static const char *const leave_names[] = {"exit", "second_pawn", "crowding", "blocking"};
static const char *const source_names[] = {"none", "supply", "start"};
static const char *const kind_names[] = {"aisle", "seat", "passenger"};
static const char *const colour_names[] = {"none", "blue", "red"};

const char *chicago_name_phase(uint32_t phase)
{
    return phase_names[phase];
}

const char *chicago_name_wait(uint32_t wait)
{
    return wait_names[wait];
}

const char *chicago_name_pile(uint32_t pile)
{
    return pile_names[pile];
}

const char *chicago_name_leave(uint32_t why)
{
    return leave_names[why];
}

Name chicago_name_number(uint32_t number)
{
    Name name = {.text = ""};
    Text text = text_init(name.text, sizeof name.text);
    text_add(&text, "%s_%u", colour_names[number / CHICAGO_VALUES + 1],
             number % CHICAGO_VALUES + 1);
    return name;
}

Name chicago_name_card(uint32_t card)
{
    if (card < CHICAGO_NUMBERS) {
        return chicago_name_number(card);
    }
    Name name = {.text = ""};
    Text text = text_init(name.text, sizeof name.text);
    text_add(&text, "%s", chicago_card_words[card - CHICAGO_NUMBERS]);
    return name;
}

Name chicago_name_cell(const ChicagoTables *tables, uint32_t cell)
{
    Name name = {.text = ""};
    Text text = text_init(name.text, sizeof name.text);
    uint32_t index = cell % CHICAGO_CAR;
    text_add(&text, "%u.%c%u", cell / CHICAGO_CAR + 1, (char)('a' + index % tables->width),
             index / tables->width);
    return name;
}

/* With fixed tiles a start space has its own name, otherwise its number in the car. */
static Name name_start(const ChicagoTables *tables, uint32_t start)
{
    Name name = {.text = ""};
    Text text = text_init(name.text, sizeof name.text);
    uint32_t car = start / CHICAGO_DOORS_MAX;
    uint32_t door = start % CHICAGO_DOORS_MAX;
    const ChicagoTile *tile = &tables->tiles[tables->fixed[car]];
    if (!tables->tiles_random && door < tile->start_count) {
        text_add(&text, "%u.%s", car + 1, tables->names + tile->start_name[door]);
    } else {
        text_add(&text, "%u.door%u", car + 1, door + 1);
    }
    return name;
}

Name chicago_name_place(const ChicagoTables *tables, uint32_t place)
{
    return place < CHICAGO_NODES ? chicago_name_cell(tables, place)
                                 : name_start(tables, place - CHICAGO_NODES);
}

/* The cell with this number when cells are counted without gaps. */
static Name name_dense(const ChicagoTables *tables, uint32_t index)
{
    uint32_t car = index >= tables->cells;
    return chicago_name_cell(tables, car * CHICAGO_CAR + index - car * tables->cells);
}

/* ---- Actions -----------------------------------------------------------------------------------
 */

static void action_name_item(const ChicagoTables *tables, uint32_t action, Text *out)
{
    if (action < ACTION_LAY) {
        text_add(out, "play %s", chicago_card_words[action - ACTION_PLAY]);
    } else if (action < ACTION_SWAP_NUMBER) {
        text_add(out, "lay %s", chicago_name_number(action - ACTION_LAY).text);
    } else if (action < ACTION_BEG) {
        text_add(out, "swap %s", chicago_name_card(action - ACTION_SWAP_NUMBER).text);
    } else if (action < ACTION_PLACE) {
        uint32_t item = action - ACTION_BEG;
        text_add(out, "beg +%u %s", item / 2 + 1, pile_names[item & 1]);
    } else if (action < ACTION_UNUSED) {
        text_add(out, "place %s", name_start(tables, action - ACTION_PLACE).text);
    } else {
        text_add(out, "unused %u", action);
    }
}

void chicago_action_name(const TyRuleset *ruleset, uint32_t action, Text *out)
{
    static const char *const singles[ACTION_PLAY] = {
        "wait", "end", "spin", "second_pawn", "rebel.no", "rebel.yes", "from supply", "from start",
    };
    const ChicagoTables *tables = chicago_tables(ruleset);
    uint32_t cells = (uint32_t)CHICAGO_CARS * tables->cells;
    if (action < ACTION_PLAY) {
        text_add(out, "%s", singles[action]);
    } else if (action < ACTION_CELLS) {
        action_name_item(tables, action, out);
    } else if (action < ACTION_CELLS + cells) {
        text_add(out, "to %s", name_dense(tables, action - ACTION_CELLS).text);
    } else {
        text_add(out, "pawn %s", name_dense(tables, action - ACTION_CELLS - cells).text);
    }
}

const char *chicago_phase_name(const TyRuleset *ruleset, const void *state)
{
    (void)ruleset;
    return phase_names[((const ChicagoState *)state)->phase];
}

void chicago_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, Text *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    bool number = stream == STREAM_NUMBERS || stream == STREAM_STOLEN_NUMBER;
    bool action = stream == STREAM_ACTIONS || stream == STREAM_STOLEN_ACTION;
    if (number && outcome < CHICAGO_NUMBERS) {
        text_add(out, "%s", chicago_name_number(outcome).text);
    } else if (action && outcome < CARD_COUNT) {
        text_add(out, "%s", chicago_card_words[outcome]);
    } else if (stream == STREAM_SPINNER && outcome < 2) {
        text_add(out, "%s", outcome == 1 ? "open" : "closed");
    } else if (stream == STREAM_TILES && outcome < tables->tile_count) {
        text_add(out, "%s", tables->names + tables->tiles[outcome].name);
    } else if (stream == STREAM_FIRST_PLAYER && outcome < tables->player_count) {
        text_add(out, "%u", outcome);
    }
}

/* ---- Blocks of the row -------------------------------------------------------------------------
 */

static bool block_is(const TyBlock *block, const char *name)
{
    return strcmp(block->name, name) == 0;
}

static bool block_in(const TyBlock *block, const char *const *names)
{
    while (*names != NULL && !block_is(block, *names)) {
        names++;
    }
    return *names != NULL;
}

void chicago_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                         uint32_t column, Text *out)
{
    static const char *const seats[] = {
        "owing", "supply",  "seated",       "wait",   "start",        "aisle", "tokens",
        "skip",  "blocked", "number_count", "stolen", "action_count", NULL};
    static const char *const numbers[] = {"number_discard", "numbers", "unseen_numbers", NULL};
    static const char *const actions[] = {"action_discard", "actions", "unseen_actions", NULL};
    static const char *const cells[] = {"sitting", "kind", NULL};
    const ChicagoTables *tables = chicago_tables(ruleset);
    if (block_in(block, seats)) {
        text_add(out, "seat +%u", column);
    } else if (block_in(block, numbers)) {
        text_add(out, "%s", chicago_name_number(column).text);
    } else if (block_in(block, actions)) {
        text_add(out, "%s", chicago_card_words[column]);
    } else if (block_in(block, cells)) {
        text_add(out, "%s", chicago_name_cell(tables, row * CHICAGO_CAR + column).text);
    } else if (block_is(block, "all_numbers")) {
        text_add(out, "seat +%u %s", row, chicago_name_number(column).text);
    } else if (block_is(block, "all_actions")) {
        text_add(out, "seat +%u %s", row, chicago_card_words[column]);
    } else if (block_is(block, "tile")) {
        text_add(out, "car %u", column + 1);
    } else if (block_is(block, "pile_sizes")) {
        text_add(out, "%s", pile_names[column]);
    }
}

/* Names of values that are "plus one", with 0 for none. */
static void optional_label(const ChicagoTables *tables, const TyBlock *block, uint32_t value,
                           Text *out)
{
    if (value == 0) {
        text_add(out, "none");
    } else if (block_is(block, "card")) {
        text_add(out, "%s", chicago_card_words[value - 1]);
    } else if (block_is(block, "stolen")) {
        text_add(out, "%s", chicago_name_card(value - 1).text);
    } else if (block_is(block, "picked") || block_is(block, "aisle")) {
        text_add(out, "%s", name_dense(tables, value - 1).text);
    } else if (block_is(block, "start")) {
        text_add(out, "%s", name_start(tables, value - 1).text);
    } else {
        text_add(out, "seat +%u", value - 1);
    }
}

void chicago_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, Text *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    if (block->kind != TY_BLOCK_CATEGORY || value > block->maximum) {
        return;
    }
    if (block_is(block, "phase")) {
        text_add(out, "%s", phase_names[value]);
    } else if (block_is(block, "tile")) {
        text_add(out, "%s", tables->names + tables->tiles[value].name);
    } else if (block_is(block, "wait")) {
        text_add(out, "%s", wait_names[value]);
    } else if (block_is(block, "colour")) {
        text_add(out, "%s", colour_names[value]);
    } else if (block_is(block, "source")) {
        text_add(out, "%s", source_names[value]);
    } else if (block_is(block, "pile")) {
        text_add(out, "%s", pile_names[value]);
    } else if (block_is(block, "kind")) {
        text_add(out, "%s", kind_names[value]);
    } else if (block_is(block, "turn")) {
        text_add(out, "seat +%u", value);
    } else {
        optional_label(tables, block, value, out);
    }
}
