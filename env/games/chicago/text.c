/* Ligne de train, Chicago: positions as text, enough to play from. */
#include "games/chicago/names.h"

/* A position to be told of, to `seat`. */
typedef struct View {
    const TyRuleset *ruleset;
    const ChicagoTables *tables;
    const ChicagoState *state;
    uint32_t seat;
    TyText *out;
} View;

/* ---- The train ---------------------------------------------------------------------------------
 */

/* What stands in a cell: a passenger #, a free seat _, the aisle ., or the seat number of a pawn;
 * a pawn in the aisle is shown as a letter, A for seat 0. */
static char cell_glyph(const View *view, uint8_t cell)
{
    const ChicagoTables *tables = view->tables;
    const ChicagoState *state = view->state;
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

/* Whether a bar parts two neighbouring cells of a car. */
static bool bar_between(const View *view, uint32_t car, uint32_t cell, uint32_t other)
{
    const ChicagoTile *tile = &view->tables->tiles[view->state->tile[car]];
    return (tile->links[cell] >> other & 1) == 0;
}

static void text_car_row(const View *view, uint32_t car, uint32_t row)
{
    uint32_t width = view->tables->width;
    for (uint32_t x = 0; x < width; x++) {
        uint32_t cell = row * width + x;
        bool bar = x + 1 < width && bar_between(view, car, cell, cell + 1);
        ty_text_add(view->out, "%c%c", cell_glyph(view, (uint8_t)(car * CHICAGO_CAR + cell)),
                    bar ? '|' : ' ');
    }
}

/* The bars below a row, if there are any. */
static void text_bars_below(const View *view, uint32_t row)
{
    uint32_t width = view->tables->width;
    bool any = false;
    for (uint32_t i = 0; i < CHICAGO_CARS * width; i++) {
        uint32_t cell = row * width + i % width;
        any = any || bar_between(view, i / width, cell, cell + width);
    }
    for (uint32_t i = 0; any && i < CHICAGO_CARS * width; i++) {
        uint32_t cell = row * width + i % width;
        ty_text_add(view->out, "%s%c ",
                    i == 0       ? "    "
                    : i == width ? "   "
                                 : "",
                    bar_between(view, i / width, cell, cell + width) ? '-' : ' ');
    }
    ty_text_add(view->out, "%s", any ? "\n" : "");
}

static void text_board(const View *view)
{
    const ChicagoTables *tables = view->tables;
    ty_text_add(view->out, "    ");
    for (uint32_t i = 0; i < CHICAGO_CARS * (uint32_t)tables->width; i++) {
        ty_text_add(view->out, "%s%c ", i == tables->width ? "   " : "",
                    (char)('a' + i % tables->width));
    }
    ty_text_add(view->out, "\n");
    for (uint32_t row = 0; row < tables->height; row++) {
        ty_text_add(view->out, "  %u ", row);
        text_car_row(view, 0, row);
        ty_text_add(view->out, row == tables->aisle_row ? " = " : "   ");
        text_car_row(view, 1, row);
        ty_text_add(view->out, "\n");
        if (row + 1u < tables->height) {
            text_bars_below(view, row);
        }
    }
}

/* Where pawns come in, and what the signs mean. */
static void text_legend(const View *view)
{
    const ChicagoTrain *train = state_train(view->tables, view->state);
    ty_text_add(view->out, "  _ free seat, . aisle, # passenger, 0-3 seated pawn of that seat, A-D "
                           "aisle pawn of seat 0-3, | and - bars that nobody crosses, = the way "
                           "between the cars. Cell 2.c1 is column c, row 1 of the second car.\n"
                           "  Pawns come in from start spaces:");
    const char *separator = " ";
    for (uint32_t start = 0; start < CHICAGO_STARTS; start++) {
        if ((train->starts >> start & 1) == 0) {
            continue;
        }
        ty_text_add(view->out, "%s", separator);
        separator = "; ";
        ty_names_write(&chicago_starts, view->ruleset, start, view->out);
        ty_text_add(view->out, " by ");
        ty_names_write(&chicago_places, view->ruleset,
                       cells_first(&train->links[CHICAGO_NODES + start]), view->out);
    }
    ty_text_add(view->out, ".\n");
}

/* ---- The players -------------------------------------------------------------------------------
 */

/* The pawn that is on its way. */
static void text_pawn(const View *view, uint32_t seat)
{
    static const char *const waits[] = {
        [WAIT_NONE] = "",
        [WAIT_START] = "before closed doors",
        [WAIT_MISSED] = "missed the train, boards next turn",
        [WAIT_OPEN] = "may board",
    };
    const ChicagoState *state = view->state;
    if (state->wait[seat] != WAIT_NONE) {
        ty_text_add(view->out, ", a pawn at ");
        ty_names_write(&chicago_starts, view->ruleset, state->start[seat] - 1u, view->out);
        ty_text_add(view->out, " (%s)", waits[state->wait[seat]]);
    }
    if (state->aisle[seat] != 0) {
        ty_text_add(view->out, ", a pawn in the aisle at ");
        ty_names_write(&chicago_places, view->ruleset, state->aisle[seat] - 1u, view->out);
    }
}

/* What the observer knows of `seat`. */
static void text_seat(const View *view, uint32_t seat)
{
    const ChicagoState *state = view->state;
    TyText *out = view->out;
    ty_text_add(out, "Seat %u%s: %u of %u pawns seated, %u in the supply", seat,
                seat == view->seat ? " (you)" : "", cells_count(&state->seated[seat]),
                view->tables->pawns, state->supply[seat]);
    text_pawn(view, seat);
    ty_text_add(out, "; ");
    ty_text_put_count(out, state->tokens[seat], "token");
    ty_text_add(out, ", ");
    ty_text_put_count(out, cards_count(state->numbers[seat], CHICAGO_NUMBERS), "number card");
    ty_text_add(out, ", ");
    ty_text_put_count(out, cards_count(state->actions[seat], CARD_COUNT), "action card");
    uint8_t stolen = view->seat < view->tables->player_count ? state->stolen[view->seat][seat] : 0;
    if (stolen != 0) {
        ty_text_add(out, ", has your %s", chicago_cards.words[stolen - 1]);
    }
    ty_text_add(out, "%s", state->skip[seat] ? ", misses its next turn" : "");
    if (state->blocked[seat] > 0) {
        ty_text_add(out, ", blocked for ");
        ty_text_put_count(out, state->blocked[seat], "turn");
        ty_text_add(out, " in a row");
    }
    ty_text_add(out, "\n");
}

/* The cards of both piles' kinds that are counted, number cards first. */
static void text_cards(const char *title, const uint8_t *numbers, const uint8_t *actions,
                       TyText *out)
{
    const char *separator = ": ";
    ty_text_add(out, "%s", title);
    for (uint32_t i = 0; i < CHICAGO_NUMBERS + CARD_COUNT; i++) {
        uint8_t count = i < CHICAGO_NUMBERS ? numbers[i] : actions[i - CHICAGO_NUMBERS];
        if (count > 0) {
            ty_text_add(out, "%s%u %s", separator, count, chicago_cards.words[i]);
            separator = ", ";
        }
    }
    ty_text_add(out, "%s", separator[0] == ':' ? ": none" : "");
    ty_text_add(out, "\n");
}

/* What each of the own action cards does. */
static void text_card_help(const View *view)
{
    for (uint32_t card = 0; card < CARD_COUNT; card++) {
        if (view->state->actions[view->seat][card] > 0) {
            ty_text_add(view->out, "  %s [%s]: %s\n", chicago_actions.titles[card],
                        chicago_actions.words[card],
                        chicago_card_help(view->tables, (ActionCard)card).text);
        }
    }
}

/* ---- The question ------------------------------------------------------------------------------
 */

/* What of the turn is behind the player, as far as it decides what is left. */
static void text_turn_so_far(const View *view)
{
    const ChicagoState *state = view->state;
    TyText *out = view->out;
    bool moves = !state->ending && chicago_pawn_movable(state, state->active);
    if (moves && state->passes > 0) {
        ty_text_add(out, " The move may pass ");
        ty_text_put_count(out, state->passes, "occupied space");
        ty_text_add(out, ", not counted.");
    }
    if (moves && state->bonus > 0) {
        ty_text_add(out, " Advanced Movement adds ");
        ty_text_put_count(out, state->bonus, "space");
        ty_text_add(out, ".");
    }
    bool boards = state->boarded && state->wait[state->active] == WAIT_OPEN;
    ty_text_add(out, "%s",
                boards
                    ? " A U-Pass was played: the pawn has to board if it can, and until then the "
                      "turn cannot be ended, nor a card with a red star be played."
                    : "");
    ty_text_add(out, "%s",
                state->fresh ? " The pawn was placed this turn: it spins next turn." : "");
    ty_text_add(out, "%s", state->rebelled ? " A Rebel was played: only the move is left." : "");
    ty_text_add(out, "%s", state->ending ? " The turn ends after this." : "");
}

static void question_move(const View *view)
{
    const ChicagoState *state = view->state;
    ty_text_add(view->out, "where the pawn goes, exactly ");
    ty_text_put_count(view->out, state->points, "space");
    if (state->laid == 1) {
        ty_text_add(view->out, ", or a second number%s",
                    state->bonus > 0     ? " of any colour"
                    : state->colour == 1 ? ", blue"
                                         : ", red");
    }
    ty_text_add(view->out, ".");
}

/* What a card that is being carried out asks. */
static void question_card(const View *view)
{
    const ChicagoState *state = view->state;
    ty_text_add(view->out, "%s", state->card != 0 ? chicago_actions.titles[state->card - 1] : "");
    if (state->target != 0) {
        ty_text_add(view->out, " against seat %u", state->target - 1u);
    }
    if (state->picked != 0) {
        ty_text_add(view->out, ", pawn at ");
        ty_names_write(&chicago_places, view->ruleset, state->picked - 1u, view->out);
    }
    if (state->left > 0) {
        ty_text_add(view->out, ", %u to go", state->left);
    }
    if (state->source > 0) {
        ty_text_add(view->out, ", a pawn from the %s", state->source == 1 ? "supply" : "start");
    }
    ty_text_add(view->out, ".");
}

/* Who is attacked can answer with a card that it may still have to draw. */
static void question_rebel(const View *view, uint32_t asked)
{
    bool told = asked == view->seat && view->state->actions[asked][CARD_REBEL] == 0;
    ty_text_add(view->out, "%s",
                told
                    ? " You have no Rebel Passenger to cancel it; for a token you may draw another "
                      "card, which may be one."
                    : "");
}

static void text_question(const View *view)
{
    static const char *const words[PHASE_COUNT] = {
        [PHASE_PLACE] = "at which start space the next pawn waits.",
        [PHASE_TURN] = ("what to do next. Action cards in any order, as many as you like; the turn "
                        "ends with a move, with closed doors, or with a card that has a red star. "
                        "Cards for the move (Excuse Me, Advanced Movement, Rebel) can be played "
                        "when your pawn may move."),
        [PHASE_MOVE] = "",
        [PHASE_SLIDE] = "to which seat the pawn that is pushed aside slides. ",
        [PHASE_SOURCE] = "which of your pawns sits down. ",
        [PHASE_SEAT] = "in which free seat it sits down. ",
        [PHASE_PAWN] = "which pawn this card is about: ",
        [PHASE_BEG] = "from whom and from which of their piles a card comes; +1: the next seat. ",
        [PHASE_REBEL] = "whether to cancel what attacks you. ",
        [PHASE_PENALTY] = "which of your seated pawns leaves: you block somebody's way.",
        [PHASE_RESEAT] = "where your aisle pawns sit down. ",
    };
    const ChicagoState *state = view->state;
    uint32_t asked = chicago_asked_seat(state);
    ty_text_add(view->out, "Question to seat %u%s, %s: %s", asked,
                asked == view->seat ? " (you)" : "", chicago_phase_words[state->head.phase],
                words[state->head.phase]);
    if (state->head.phase == PHASE_MOVE) {
        question_move(view);
    } else if (state->head.phase >= PHASE_SLIDE && state->head.phase != PHASE_PENALTY) {
        question_card(view);
    }
    if (state->head.phase == PHASE_REBEL) {
        question_rebel(view, asked);
    }
    text_turn_so_far(view);
    ty_text_add(view->out, "\n");
}

void chicago_text(const TyRuleset *ruleset, const void *state_, uint32_t seat, TyText *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    const View view = {ruleset, tables, state, seat, out};
    ty_text_add(out, "Turn %u of at most %u, of seat %u; play goes %s.\n", state->turns,
                tables->turn_cap, state->active, state->backward ? "anticlockwise" : "clockwise");
    ty_text_add(out,
                "Goal: all %u pawns of a player in seats; whoever has that first wins at once.\n",
                tables->pawns);
    ty_text_add(out, "The train, car 1 (%s) and car 2 (%s):\n",
                tables->names.bytes + tables->tile_names[state->tile[0]],
                tables->names.bytes + tables->tile_names[state->tile[1]]);
    text_board(&view);
    text_legend(&view);
    for (uint32_t i = 0; i < tables->player_count; i++) {
        text_seat(&view, i);
    }
    if (seat < tables->player_count) {
        text_cards("Your cards", state->numbers[seat], state->actions[seat], out);
        text_card_help(&view);
    }
    text_cards("Discarded", state->number_discard, state->action_discard, out);
    if (!state->head.over) {
        text_question(&view);
    } else if (state->winner != 0) {
        ty_text_add(out, "Over: seat %u has won.\n", state->winner - 1u);
    } else {
        ty_text_add(out, "Over: cut short by the cap of turns.\n");
    }
}
