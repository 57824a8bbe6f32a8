/* Ligne de train, Chicago: positions and events as text and as JSON. */
#include "games/chicago/names.h"

/* ---- Text --------------------------------------------------------------------------------------
 */

/* What stands in a cell: a passenger #, a free seat _, the aisle ., or the seat number of a pawn;
 * a pawn in the aisle is shown as a letter, A for seat 0. */
static char cell_glyph(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell)
{
    const ChicagoTrain *train = state_train(tables, state);
    uint8_t owner = chicago_seated_owner(tables, state, cell);
    if (owner != CHICAGO_NONE) {
        return (char)('0' + owner);
    }
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        if (state->aisle[seat] == cell + 1) {
            return (char)('A' + seat);
        }
    }
    if (cells_have(&train->passengers, cell)) {
        return '#';
    }
    return cells_have(&train->aisle, cell) ? '.' : '_';
}

static void text_car_row(const ChicagoTables *tables, const ChicagoState *state, uint32_t car,
                         uint32_t row, Text *out)
{
    const ChicagoTile *tile = &tables->tiles[state->tile[car]];
    for (uint32_t x = 0; x < tables->width; x++) {
        uint32_t cell = row * tables->width + x;
        bool inside = x + 1 < tables->width;
        bool bar = inside && (tile->links[cell] >> (cell + 1) & 1) == 0;
        text_add(out, "%c%c", cell_glyph(tables, state, (uint8_t)(car * CHICAGO_CAR + cell)),
                 bar ? '|' : ' ');
    }
}

static void text_board(const ChicagoTables *tables, const ChicagoState *state, Text *out)
{
    text_add(out, "    ");
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        for (uint32_t x = 0; x < tables->width; x++) {
            text_add(out, "%c ", (char)('a' + x));
        }
        text_add(out, "   ");
    }
    text_add(out, "\n");
    for (uint32_t row = 0; row < tables->height; row++) {
        text_add(out, "  %u ", row);
        text_car_row(tables, state, 0, row, out);
        text_add(out, row == tables->aisle_row ? " = " : "   ");
        text_car_row(tables, state, 1, row, out);
        text_add(out, "\n");
    }
}

/* What `observer` knows of `seat`. */
static void text_seat(const ChicagoTables *tables, const ChicagoState *state, uint32_t observer,
                      uint32_t seat, Text *out)
{
    text_add(out, "seat %u: %u seated, %u to come, %u tokens, cards %u+%u", seat,
             cells_count(&state->seated[seat]), state->supply[seat], state->tokens[seat],
             cards_count(state->numbers[seat], CHICAGO_NUMBERS),
             cards_count(state->actions[seat], CARD_COUNT));
    if (state->wait[seat] != WAIT_NONE) {
        text_add(out, ", %s at %s", chicago_name_wait(state->wait[seat]),
                 chicago_name_place(tables, CHICAGO_NODES + state->start[seat] - 1u).text);
    }
    if (state->aisle[seat] != 0) {
        text_add(out, ", in the aisle at %s",
                 chicago_name_cell(tables, state->aisle[seat] - 1u).text);
    }
    uint8_t stolen = observer < tables->player_count ? state->stolen[observer][seat] : 0;
    if (stolen != 0) {
        text_add(out, ", has your %s", chicago_name_card(stolen - 1u).text);
    }
    text_add(out, "%s", state->skip[seat] ? ", misses a turn" : "");
    if (state->blocked[seat] > 0) {
        text_add(out, ", blocked for %u turns", state->blocked[seat]);
    }
    text_add(out, "\n");
}

/* The cards of both piles' kinds that are counted, number cards first. */
static void text_cards(const char *title, const uint8_t *numbers, const uint8_t *actions, Text *out)
{
    text_add(out, "%s:", title);
    for (uint32_t i = 0; i < CHICAGO_NUMBERS + CARD_COUNT; i++) {
        uint8_t count = i < CHICAGO_NUMBERS ? numbers[i] : actions[i - CHICAGO_NUMBERS];
        if (count > 0) {
            text_add(out, " %s", chicago_name_card(i).text);
        }
        if (count > 1) {
            text_add(out, "x%u", count);
        }
    }
    text_add(out, "\n");
}

static void text_question(const ChicagoTables *tables, const ChicagoState *state, Text *out)
{
    text_add(out, "question: %s", chicago_name_phase(state->phase));
    if (state->card != 0) {
        text_add(out, ", card %s", chicago_card_words[state->card - 1]);
    }
    if (state->target != 0) {
        text_add(out, ", target seat %u", state->target - 1u);
    }
    if (state->picked != 0) {
        text_add(out, ", pawn %s", chicago_name_cell(tables, state->picked - 1u).text);
    }
    if (state->bonus > 0 || state->passes > 0 || state->points > 0) {
        text_add(out, ", %u added spaces, %u passes, %u spaces to move", state->bonus,
                 state->passes, state->points);
    }
    text_add(out, "\n");
}

void chicago_text(const TyRuleset *ruleset, const void *state_, uint32_t seat, Text *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    text_add(out, "turn %u of %u, seat %u plays, %s; cars %s and %s\n", state->turns,
             tables->turn_cap, state->active, state->backward ? "anticlockwise" : "clockwise",
             tables->names + tables->tiles[state->tile[0]].name,
             tables->names + tables->tiles[state->tile[1]].name);
    text_board(tables, state, out);
    for (uint32_t i = 0; i < tables->player_count; i++) {
        text_seat(tables, state, seat, i, out);
    }
    if (seat < tables->player_count) {
        text_cards("your cards", state->numbers[seat], state->actions[seat], out);
    }
    text_cards("discarded", state->number_discard, state->action_discard, out);
    text_question(tables, state, out);
}

/* ---- JSON of a state ---------------------------------------------------------------------------
 */

static void json_cells(Json *out, const char *key, const ChicagoTables *tables, const CellSet *set)
{
    json_open(out, key, '[');
    for (uint32_t cell = 0; cell < CHICAGO_NODES; cell++) {
        if (cells_have(set, cell)) {
            json_put_string(out, NULL, chicago_name_cell(tables, cell).text);
        }
    }
    json_close(out, ']');
}

/* A place that is counted "plus one"; null for none. */
static void json_place(Json *out, const char *key, const ChicagoTables *tables, uint32_t plus_one)
{
    if (plus_one == 0) {
        json_put_null(out, key);
    } else {
        json_put_string(out, key, chicago_name_place(tables, plus_one - 1).text);
    }
}

/* The counts that are not zero, by name; `first` is 0 for numbers, CHICAGO_NUMBERS for actions. */
static void json_cards(Json *out, const char *key, const uint8_t *counts, uint32_t count,
                       uint32_t first)
{
    json_open(out, key, '{');
    for (uint32_t i = 0; i < count; i++) {
        if (counts[i] > 0) {
            json_put_int(out, chicago_name_card(first + i).text, counts[i]);
        }
    }
    json_close(out, '}');
}

static void json_numbers(Json *out, const char *key, const uint8_t *counts)
{
    json_cards(out, key, counts, CHICAGO_NUMBERS, 0);
}

static void json_actions(Json *out, const char *key, const uint8_t *counts)
{
    json_cards(out, key, counts, CARD_COUNT, CHICAGO_NUMBERS);
}

static void json_player(Json *out, const ChicagoTables *tables, const ChicagoState *state,
                        uint32_t seat)
{
    json_open(out, NULL, '{');
    json_put_int(out, "supply", state->supply[seat]);
    json_cells(out, "seated", tables, &state->seated[seat]);
    json_put_string(out, "wait", chicago_name_wait(state->wait[seat]));
    json_place(out, "start", tables,
               state->start[seat] == 0 ? 0u : (uint32_t)(CHICAGO_NODES + state->start[seat]));
    json_place(out, "aisle", tables, state->aisle[seat]);
    json_put_int(out, "tokens", state->tokens[seat]);
    json_put_bool(out, "skip", state->skip[seat]);
    json_put_int(out, "blocked", state->blocked[seat]);
    json_numbers(out, "numbers", state->numbers[seat]);
    json_actions(out, "actions", state->actions[seat]);
    json_close(out, '}');
}

static void json_question(Json *out, const ChicagoTables *tables, const ChicagoState *state)
{
    if (state->card == 0) {
        json_put_null(out, "card");
    } else {
        json_put_string(out, "card", chicago_card_words[state->card - 1]);
    }
    json_put_int(out, "target", state->target - 1);
    json_place(out, "picked", tables, state->picked);
    json_put_int(out, "left", state->left);
    json_put_int(out, "source", state->source);
    json_put_string(out, "pile", chicago_name_pile(state->pile));
    json_put_int(out, "owing", state->owing);
    json_put_int(out, "passes", state->passes);
    json_put_int(out, "bonus", state->bonus);
    json_put_int(out, "points", state->points);
    json_put_int(out, "laid", state->laid);
    json_put_int(out, "colour", state->colour);
    json_put_bool(out, "boarded", state->boarded);
    json_put_bool(out, "fresh", state->fresh);
    json_put_bool(out, "ending", state->ending);
    json_put_bool(out, "rebelled", state->rebelled);
    json_cells(out, "gained", tables, &state->gained);
}

void chicago_state_json(const TyRuleset *ruleset, const void *state_, Json *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    json_put_int(out, "turn", state->turns);
    json_put_int(out, "active", state->active);
    json_put_bool(out, "backward", state->backward);
    json_open(out, "tiles", '[');
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        json_put_string(out, NULL, tables->names + tables->tiles[state->tile[car]].name);
    }
    json_close(out, ']');
    json_open(out, "players", '[');
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        json_player(out, tables, state, seat);
    }
    json_close(out, ']');
    json_numbers(out, "number_deck", state->number_deck);
    json_actions(out, "action_deck", state->action_deck);
    json_numbers(out, "number_discard", state->number_discard);
    json_actions(out, "action_discard", state->action_discard);
    json_question(out, tables, state);
}

/* ---- JSON of events ----------------------------------------------------------------------------
 */

/* What an argument of an event is, and how it is called. */
typedef enum ArgumentKind {
    ARGUMENT_NONE,
    ARGUMENT_NUMBER,
    ARGUMENT_FLAG,
    ARGUMENT_SEAT_PLUS_ONE, /* null for none */
    ARGUMENT_PLACE,
    ARGUMENT_PLACE_PLUS_ONE, /* null for none */
    ARGUMENT_TILE,
    ARGUMENT_PILE,
    ARGUMENT_NUMBER_CARD,
    ARGUMENT_ACTION_CARD,
    ARGUMENT_PILE_CARD, /* of the pile in the argument before it */
    ARGUMENT_SOURCE,
    ARGUMENT_LEAVE,
} ArgumentKind;

typedef struct Argument {
    const char *key;
    ArgumentKind kind;
} Argument;

typedef struct EventForm {
    const char *name;
    Argument arguments[4];
} EventForm;

#define SEAT {"player", ARGUMENT_NUMBER}

static const EventForm forms[] = {
    [EVENT_END] = {"end", {{"winner", ARGUMENT_SEAT_PLUS_ONE}}},
    [EVENT_TILE] = {"tile", {{"car", ARGUMENT_NUMBER}, {"tile", ARGUMENT_TILE}}},
    [EVENT_FIRST_PLAYER] = {"first_player", {SEAT}},
    [EVENT_DRAW] = {"draw", {SEAT, {"pile", ARGUMENT_PILE}, {"card", ARGUMENT_PILE_CARD}}},
    [EVENT_RESHUFFLE] = {"reshuffle", {{"pile", ARGUMENT_PILE}}},
    [EVENT_TURN] = {"turn", {{"turn", ARGUMENT_NUMBER}, SEAT}},
    [EVENT_SKIP] = {"skip", {SEAT}},
    [EVENT_PLACE] = {"place", {SEAT, {"start", ARGUMENT_PLACE}}},
    [EVENT_SPIN] = {"spin", {SEAT, {"open", ARGUMENT_FLAG}}},
    [EVENT_BOARD] = {"board", {SEAT, {"start", ARGUMENT_PLACE}}},
    [EVENT_MISSED] = {"missed", {SEAT, {"start", ARGUMENT_PLACE}}},
    [EVENT_PLAY] = {"play", {SEAT, {"card", ARGUMENT_ACTION_CARD}}},
    [EVENT_EXPRESS] = {"express", {SEAT}},
    [EVENT_REVERSE] = {"reverse", {{"backward", ARGUMENT_FLAG}}},
    [EVENT_TOKEN] = {"token", {SEAT, {"tokens", ARGUMENT_NUMBER}}},
    [EVENT_SWAP] = {"swap",
                    {SEAT,
                     {"pile", ARGUMENT_PILE},
                     {"card", ARGUMENT_PILE_CARD},
                     {"tokens", ARGUMENT_NUMBER}}},
    [EVENT_LAY] = {"lay", {SEAT, {"card", ARGUMENT_NUMBER_CARD}}},
    [EVENT_MOVE] =
        {"move",
         {SEAT, {"from", ARGUMENT_PLACE}, {"to", ARGUMENT_PLACE}, {"spaces", ARGUMENT_NUMBER}}},
    [EVENT_SLIDE] = {"slide", {SEAT, {"from", ARGUMENT_PLACE}, {"to", ARGUMENT_PLACE}}},
    [EVENT_SEAT] = {"seat", {SEAT, {"from", ARGUMENT_SOURCE}, {"cell", ARGUMENT_PLACE}}},
    [EVENT_ATTACK] = {"attack",
                      {SEAT, {"card", ARGUMENT_ACTION_CARD}, {"cell", ARGUMENT_PLACE_PLUS_ONE}}},
    [EVENT_REBEL] = {"rebel", {SEAT, {"card", ARGUMENT_ACTION_CARD}}},
    [EVENT_DISPLACE] = {"displace", {SEAT, {"from", ARGUMENT_PLACE}, {"to", ARGUMENT_PLACE}}},
    [EVENT_STEAL] = {"steal",
                     {SEAT,
                      {"victim", ARGUMENT_NUMBER},
                      {"pile", ARGUMENT_PILE},
                      {"card", ARGUMENT_PILE_CARD}}},
    [EVENT_LEAVE] = {"leave", {SEAT, {"from", ARGUMENT_PLACE}, {"reason", ARGUMENT_LEAVE}}},
    [EVENT_BLOCKED] = {"blocked", {SEAT, {"turns", ARGUMENT_NUMBER}}},
};

static void json_argument(Json *out, const ChicagoTables *tables, const TyEvent *event,
                          uint32_t index)
{
    static const char *const sources[] = {"", "supply", "start", "aisle"};
    const Argument *argument = &forms[event->kind].arguments[index];
    uint32_t value = (uint32_t)(uint16_t)event->args[index];
    switch (argument->kind) {
    case ARGUMENT_NONE:
        break;
    case ARGUMENT_NUMBER:
        json_put_int(out, argument->key, value);
        break;
    case ARGUMENT_FLAG:
        json_put_bool(out, argument->key, value != 0);
        break;
    case ARGUMENT_SEAT_PLUS_ONE:
        if (value == 0) {
            json_put_null(out, argument->key);
        } else {
            json_put_int(out, argument->key, value - 1);
        }
        break;
    case ARGUMENT_PLACE:
        json_put_string(out, argument->key, chicago_name_place(tables, value).text);
        break;
    case ARGUMENT_PLACE_PLUS_ONE:
        json_place(out, argument->key, tables, value);
        break;
    case ARGUMENT_TILE:
        json_put_string(out, argument->key, tables->names + tables->tiles[value].name);
        break;
    case ARGUMENT_PILE:
        json_put_string(out, argument->key, chicago_name_pile(value));
        break;
    case ARGUMENT_NUMBER_CARD:
        json_put_string(out, argument->key, chicago_name_number(value).text);
        break;
    case ARGUMENT_ACTION_CARD:
        json_put_string(out, argument->key, chicago_card_words[value]);
        break;
    case ARGUMENT_PILE_CARD:
        value += event->args[index - 1] == PILE_ACTIONS ? CHICAGO_NUMBERS : 0;
        json_put_string(out, argument->key, chicago_name_card(value).text);
        break;
    case ARGUMENT_SOURCE:
        json_put_string(out, argument->key, sources[value]);
        break;
    case ARGUMENT_LEAVE:
        json_put_string(out, argument->key, chicago_name_leave(value));
        break;
    }
}

void chicago_event_json(const TyRuleset *ruleset, const TyEvent *event, Json *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    json_put_string(out, "event", forms[event->kind].name);
    for (uint32_t i = 0; i < 4; i++) {
        json_argument(out, tables, event, i);
    }
    if (event->kind == EVENT_MOVE) {
        json_open(out, "path", '[');
        for (uint32_t i = 0; i < event->path_count; i++) {
            json_put_string(out, NULL, chicago_name_place(tables, event->path[i]).text);
        }
        json_close(out, ']');
    }
}
