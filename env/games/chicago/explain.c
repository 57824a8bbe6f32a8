/* Ligne de train, Chicago: what cards do and what a choice leads to. */
#include "games/chicago/names.h"

CardHelp chicago_card_help(const ChicagoTables *tables, ActionCard card)
{
    static const char *const help[CARD_COUNT] = {
        [CARD_EXIT_1X] = "the next player loses a seated pawn that you choose",
        [CARD_EXIT_2X] = "the next player loses two seated pawns that you choose",
        [CARD_EXPRESS] = "the next player misses a turn",
        [CARD_REVERSE] = "the order of play turns round",
        [CARD_ECCENTRIC] = "an opposing seated pawn has to stand in the aisle",
        [CARD_PANHANDLER] = "take a card from an opponent's hand, by lot",
        [CARD_PLUS_1] = "one more token",
        [CARD_ENTER_1X] = "a pawn of yours from outside sits down in any free seat",
        [CARD_ENTER_2X] = "two pawns of yours from outside sit down in any free seats",
        [CARD_EXCUSE_ME] = "this move may pass one more occupied space, or push a seated opponent "
                           "aside",
        [CARD_U_PASS] = "your pawn may board without the spinner, and then has to if it can",
        [CARD_ADVANCED_1] = "1 space more in this move; numbers of both colours may be joined",
        [CARD_ADVANCED_2] = "2 spaces more in this move; numbers of both colours may be joined",
        [CARD_ADVANCED_3] = "3 spaces more in this move; numbers of both colours may be joined",
        [CARD_TAKE_A_SEAT] = "an opposing seated pawn has to stand in the aisle, and a pawn of "
                             "yours from outside takes its seat",
        [CARD_REBEL] = "keep it to cancel an attack in another's turn; played now, this move may "
                       "pass one more occupied space, and only the move is left",
    };
    CardHelp words;
    TyText text = ty_text_init(words.text, sizeof words.text);
    ty_text_add(&text, "%s%s", help[card],
                tables->enders >> card & 1 ? " (red star: it ends the turn)" : "");
    return words;
}

/* What is in a cell, or who. */
static void explain_cell(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell,
                         TyText *out)
{
    uint8_t owner = chicago_seated_owner(tables, state, cell);
    if (owner != CHICAGO_NONE) {
        ty_text_add(out, "pawn of seat %u", owner);
    } else {
        bool aisle = cells_have(&state_train(tables, state)->aisle, cell);
        ty_text_add(out, aisle ? "aisle" : "seat");
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
    CellSet ends = chicago_way_ends(&way, spaces);
    CellSet aisle = state_train(tables, state)->aisle;
    const char *separator = "it can sit down in";
    ty_text_add(out, "%u %s in all for the pawn at ", spaces, spaces == 1 ? "space" : "spaces");
    ty_names_write(&chicago_places, ruleset, way.from, out);
    ty_text_add(out, "; ");
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
    case FORM_WAIT:
    case FORM_END:
    case FORM_SPIN:
    case FORM_ACCEPT:
    case FORM_REBEL:
    case FORM_SWAP:
    case FORM_PLACE:
        break;
    }
}
