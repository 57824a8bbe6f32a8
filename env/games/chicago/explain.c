/* Ligne de train, Chicago: what cards do and what a choice leads to. */
#include "games/chicago/names.h"

CardHelp chicago_card_help(const ChicagoTables *tables, ActionCard card)
{
    static const char *const help[CARD_COUNT] = {
        [CARD_EXIT_1X] = "the next player loses a seated pawn that you choose",
        [CARD_EXIT_2X] = "the next player loses two seated pawns that you choose",
        [CARD_EXPRESS] = "the next player misses a turn",
        [CARD_REVERSE] = "the order of play turns round",
        [CARD_ECCENTRIC] = "an opposing seated pawn has to stand in the aisle of its column",
        [CARD_PANHANDLER] = "take a card from an opponent's hand, by lot",
        [CARD_PLUS_1] = "one more token",
        [CARD_ENTER_1X] = "a pawn of yours from outside sits down in any free seat",
        [CARD_ENTER_2X] = "two pawns of yours from outside sit down in any free seats",
        [CARD_EXCUSE_ME] = ("this move may pass one more occupied space, which is not counted, or "
                            "push a seated opponent aside"),
        [CARD_U_PASS] = "your pawn may board without the spinner, and then has to if it can",
        [CARD_ADVANCED_1] = "1 space more in this move; numbers of both colours may be joined",
        [CARD_ADVANCED_2] = "2 spaces more in this move; numbers of both colours may be joined",
        [CARD_ADVANCED_3] = "3 spaces more in this move; numbers of both colours may be joined",
        [CARD_TAKE_A_SEAT] = ("an opposing seated pawn has to stand in the aisle of its column, "
                              "and a pawn from outside takes its seat"),
        [CARD_REBEL] = ("keep it to cancel an attack in another's turn; played now, the move may "
                        "pass one more occupied space, and nothing else is left to do"),
    };
    CardHelp words;
    TyText text = ty_text_init(words.text, sizeof words.text);
    ty_text_add(&text, "%s%s", help[card],
                card != CARD_REBEL && (tables->enders >> card & 1) ? " (red star: it ends the turn)"
                                                                   : "");
    return words;
}

/* Whose pawn stands in this aisle cell; CHICAGO_NONE if nobody's. */
static uint8_t aisle_owner(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell)
{
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        if (state->aisle[seat] == cell + 1) {
            return seat;
        }
    }
    return CHICAGO_NONE;
}

/* What is in a cell, or who. */
static void explain_cell(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell,
                         TyText *out)
{
    uint8_t owner = chicago_seated_owner(tables, state, cell);
    uint8_t beside = aisle_owner(tables, state, cell);
    if (owner != CHICAGO_NONE) {
        ty_text_add(out, "pawn of seat %u", owner);
        return;
    }
    bool aisle = cells_have(&state_train(tables, state)->aisle, cell);
    ty_text_add(out, aisle ? "aisle" : "seat");
    if (beside != CHICAGO_NONE) {
        ty_text_add(out, " beside the pawn of seat %u", beside);
    }
}

/* The seats in which the pawn can end after so many spaces. */
static void explain_ends(const TyRuleset *ruleset, const ChicagoState *state, const Way *way,
                         uint32_t spaces, TyText *out)
{
    CellSet ends = chicago_way_ends(way, spaces);
    CellSet aisle = state_train(chicago_tables(ruleset), state)->aisle;
    const char *separator = "it can sit down in";
    for (; cells_any(&ends); cells_remove(&ends, cells_first(&ends))) {
        uint8_t cell = cells_first(&ends);
        if (!cells_have(&aisle, cell)) {
            ty_text_add(out, "%s ", separator);
            ty_names_write(&chicago_places, ruleset, cell, out);
            separator = ",";
        }
    }
    ty_text_add(out, "%s", separator[0] == ',' ? "" : "it comes to the aisle only");
}

/* What a second number of the hand would add to the first one. */
static void explain_second(const TyRuleset *ruleset, const ChicagoState *state, const Way *way,
                           uint32_t first, uint32_t spaces, TyText *out)
{
    for (uint32_t i = 0; i < CHICAGO_NUMBERS; i++) {
        uint32_t sum = spaces + i % CHICAGO_VALUES + 1;
        bool held = state->numbers[state->active][i] > (i == first);
        bool joins = state->bonus > 0 || i / CHICAGO_VALUES == first / CHICAGO_VALUES;
        CellSet ends = held && joins ? chicago_way_ends(way, sum) : (CellSet){{0, 0}};
        if (cells_any(&ends)) {
            ty_text_add(out, "; with ");
            ty_names_title(&chicago_numbers, ruleset, i, out);
            ty_text_add(out, " as well %u spaces, ", sum);
            explain_ends(ruleset, state, way, sum, out);
        }
    }
}

/* How far a number card leads, and the seats in which the pawn can end. */
static void explain_lay(const TyRuleset *ruleset, const ChicagoState *state, uint32_t number,
                        TyText *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    uint32_t spaces = number % CHICAGO_VALUES + 1;
    spaces += state->laid > 0 ? state->points : state->bonus;
    Way way = chicago_pawn_way(tables, state, state->active, UINT32_MAX);
    ty_text_put_count(out, spaces, "space");
    ty_text_add(out, " in all for the pawn at ");
    ty_names_write(&chicago_places, ruleset, way.from, out);
    ty_text_add(out, "; ");
    explain_ends(ruleset, state, &way, spaces, out);
    if (state->laid == 0) {
        explain_second(ruleset, state, &way, number, spaces, out);
    }
}

/* The numbers of spaces that lead from a start space into a free seat. */
static void explain_place(const ChicagoTables *tables, const ChicagoState *state, uint32_t start,
                          TyText *out)
{
    ChicagoState placed = *state;
    uint8_t seat = chicago_asked_seat(state);
    CellSet seats = chicago_seats_free(tables, state);
    const char *separator = "a free seat is";
    placed.aisle[seat] = 0;
    placed.start[seat] = (uint8_t)(start + 1);
    placed.passes = 0;
    Way way = chicago_pawn_way(tables, &placed, seat, UINT32_MAX);
    for (uint32_t spaces = 1; spaces <= 2 * CHICAGO_VALUES; spaces++) {
        CellSet ends = chicago_way_ends(&way, spaces);
        if ((ends.car[0] & seats.car[0]) != 0 || (ends.car[1] & seats.car[1]) != 0) {
            ty_text_add(out, "%s %u", separator, spaces);
            separator = ",";
        }
    }
    ty_text_add(out, "%s", separator[0] == ',' ? " spaces away" : "no way to a free seat");
}

/* What happens to the attacked one, in its own eyes. */
static void explain_accept(const TyRuleset *ruleset, const ChicagoState *state, TyText *out)
{
    ActionCard card = (ActionCard)(state->card - 1);
    if (card == CARD_PANHANDLER) {
        ty_text_add(out, "seat %u takes a card from your hand, by lot", state->active);
    } else if (state->picked == 0) {
        ty_text_add(out, "you lose ");
        ty_text_put_count(out, card == CARD_EXIT_2X ? 2 : 1, "seated pawn");
        ty_text_add(out, " that seat %u chooses", state->active);
    } else {
        ty_text_add(out, "your pawn at ");
        ty_names_write(&chicago_places, ruleset, state->picked - 1u, out);
        ty_text_add(out, " has to stand in the aisle of its column");
        if (card == CARD_TAKE_A_SEAT) {
            ty_text_add(out, ", and a pawn of seat %u takes its seat", state->active);
        }
    }
}

static void explain_beg(const ChicagoTables *tables, const ChicagoState *state, uint32_t item,
                        TyText *out)
{
    uint8_t seat = seat_after(tables, state->active, item / 2 + 1);
    ty_text_add(out, "from seat %u", seat);
}

void chicago_explain(const TyRuleset *ruleset, const void *state_, uint32_t action, TyText *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    TyChoice choice = ty_choice(ruleset, action);
    switch ((Form)choice.form) {
    case FORM_PLAY:
        ty_text_add(out, "%s", chicago_card_help(tables, (ActionCard)choice.item).text);
        break;
    case FORM_LAY:
        explain_lay(ruleset, state, choice.item, out);
        break;
    case FORM_TO:
    case FORM_PAWN:
        explain_cell(tables, state, cell_sparse(tables, choice.item), out);
        break;
    case FORM_FROM:
        ty_text_add(out,
                    choice.item == 0 ? "one of those not yet placed" : "the one that waits there");
        break;
    case FORM_BEG:
        explain_beg(tables, state, choice.item, out);
        break;
    case FORM_PLACE:
        explain_place(tables, state, choice.item, out);
        break;
    case FORM_ACCEPT:
        explain_accept(ruleset, state, out);
        break;
    case FORM_WAIT:
    case FORM_END:
    case FORM_SPIN:
    case FORM_REBEL:
    case FORM_SWAP:
        break;
    }
}
