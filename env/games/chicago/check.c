/* Ligne de train, Chicago: the invariants of a state, and dealing hidden hands again. */
#include "games/chicago/state.h"

#include <string.h>

/* ---- Invariants --------------------------------------------------------------------------------
 */

static bool bytes_within(const uint8_t *bytes, size_t count, uint8_t maximum)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] > maximum) {
            return false;
        }
    }
    return true;
}

/* Whether a number that is counted "plus one" names a cell. */
static bool names_cell(const ChicagoTables *tables, uint8_t plus_one)
{
    return plus_one >= 1 && plus_one <= CHICAGO_NODES &&
           (plus_one - 1) % CHICAGO_CAR < tables->cells;
}

/* What the ranges of the fields do not say, as it depends on the ruleset. */
static const char *check_ranges(const ChicagoTables *tables, const ChicagoState *state)
{
    if (state->active >= tables->player_count || state->winner > tables->player_count ||
        state->target > tables->player_count || state->owing >> tables->player_count != 0 ||
        state->turns > tables->turn_cap) {
        return "the turn or a seat does not exist";
    }
    if (state->picked != 0 && !names_cell(tables, state->picked)) {
        return "a part of the question is out of range";
    }
    return bytes_within(state->unused, sizeof state->unused, 0) ? NULL
                                                                : "unused bytes are not zero";
}

static const char *check_tiles(const ChicagoTables *tables, const ChicagoState *state)
{
    if (state->tile[0] >= tables->tile_count || state->tile[1] >= tables->tile_count ||
        state->tile[0] == state->tile[1]) {
        return "the train does not exist";
    }
    if (!tables->tiles_random && memcmp(state->tile, tables->fixed, sizeof state->tile) != 0) {
        return "the tiles are not those of the ruleset";
    }
    return NULL;
}

static const char *check_seat(const ChicagoTables *tables, const ChicagoState *state)
{
    (void)tables;
    uint8_t phase = state->head.phase;
    bool asked = phase == PHASE_REBEL || phase == PHASE_RESEAT;
    if ((asked && state->target == 0) || (phase == PHASE_PENALTY) != (state->owing != 0)) {
        return "nobody is asked";
    }
    if ((phase == PHASE_OVER) != (state->head.over != 0) ||
        (!state->head.over && state->head.seat != (int8_t)chicago_asked_seat(state))) {
        return "the seat to act is not the one that is asked";
    }
    return NULL;
}

static const char *check_cards(const ChicagoTables *tables, const ChicagoState *state)
{
    for (uint32_t card = 0; card < CHICAGO_NUMBERS; card++) {
        uint32_t count = (uint32_t)(state->number_deck[card] + state->number_discard[card]);
        for (uint32_t seat = 0; seat < tables->player_count; seat++) {
            count += state->numbers[seat][card];
        }
        if (count != tables->number_copies) {
            return "number cards were lost or made";
        }
    }
    for (uint32_t card = 0; card < CARD_COUNT; card++) {
        uint32_t count = (uint32_t)(state->action_deck[card] + state->action_discard[card]);
        for (uint32_t seat = 0; seat < tables->player_count; seat++) {
            count += state->actions[seat][card];
        }
        if (count != tables->copies[card]) {
            return "action cards were lost or made";
        }
    }
    return NULL;
}

/* How many cards of kind `known` (plus one) `seat` holds. */
static uint8_t known_count(const ChicagoState *state, uint32_t seat, uint8_t known)
{
    return known <= CHICAGO_NUMBERS ? state->numbers[seat][known - 1]
                                    : state->actions[seat][known - 1 - CHICAGO_NUMBERS];
}

static const char *check_stolen(const ChicagoTables *tables, const ChicagoState *state)
{
    for (uint32_t victim = 0; victim < TY_PLAYERS_MAX; victim++) {
        for (uint32_t thief = 0; thief < TY_PLAYERS_MAX; thief++) {
            uint8_t known = state->stolen[victim][thief];
            bool players = victim < tables->player_count && thief < tables->player_count;
            if (known != 0 &&
                (!players || victim == thief || known_count(state, thief, known) == 0)) {
                return "a stolen card is not where its owner knows it";
            }
        }
    }
    return NULL;
}

/* Seats beyond the players have nothing. */
static const char *check_absent(const ChicagoTables *tables, const ChicagoState *state)
{
    for (uint32_t seat = tables->player_count; seat < TY_PLAYERS_MAX; seat++) {
        if (state->supply[seat] + state->wait[seat] + state->start[seat] + state->aisle[seat] +
                    state->tokens[seat] + state->skip[seat] + state->blocked[seat] !=
                0 ||
            cells_any(&state->seated[seat]) ||
            !bytes_within(state->numbers[seat], CHICAGO_NUMBERS, 0) ||
            !bytes_within(state->actions[seat], CARD_COUNT, 0)) {
            return "somebody who does not play has something";
        }
    }
    return NULL;
}

static const char *check_pawn_places(const ChicagoTables *tables, const ChicagoState *state,
                                     uint8_t seat)
{
    const ChicagoTrain *train = state_train(tables, state);
    if ((state->wait[seat] == WAIT_NONE) != (state->start[seat] == 0) ||
        (state->start[seat] != 0 && (train->starts >> (state->start[seat] - 1) & 1) == 0)) {
        return "a waiting pawn is nowhere";
    }
    if (state->aisle[seat] != 0 && (!names_cell(tables, state->aisle[seat]) ||
                                    !cells_have(&train->aisle, state->aisle[seat] - 1u))) {
        return "an aisle pawn is not in the aisle";
    }
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        if ((state->seated[seat].car[car] & ~train->seats.car[car]) != 0) {
            return "a seated pawn is not in a seat";
        }
        for (uint8_t other = 0; other < seat; other++) {
            if ((state->seated[seat].car[car] & state->seated[other].car[car]) != 0) {
                return "two pawns sit in one seat";
            }
        }
    }
    return NULL;
}

static const char *check_pawns(const ChicagoTables *tables, const ChicagoState *state)
{
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        const char *broken = check_pawn_places(tables, state, seat);
        if (broken != NULL) {
            return broken;
        }
        uint32_t seated = cells_count(&state->seated[seat]);
        bool standing = state->head.phase == PHASE_RESEAT && state->target == seat + 1;
        uint32_t pawns = seated + state->supply[seat] + (state->wait[seat] != WAIT_NONE) +
                         (state->aisle[seat] != 0) + (standing ? state->left : 0u);
        if (pawns != tables->pawns) {
            return "pawns were lost or made";
        }
        if ((seated == tables->pawns) != (state->winner == seat + 1)) {
            return "the winner is not the one with all pawns seated";
        }
    }
    const CellSet *own = &state->seated[state->active];
    if ((state->gained.car[0] & ~own->car[0]) != 0 || (state->gained.car[1] & ~own->car[1]) != 0) {
        return "a seat taken this turn is not the player's";
    }
    return (state->winner != 0) == (state->head.over && !state->head.truncated)
               ? NULL
               : "the episode's end and its winner do not fit";
}

/* ---- Questions ---------------------------------------------------------------------------------
 */

static bool card_in(const ChicagoState *state, uint32_t cards)
{
    return state->card != 0 && (cards >> (state->card - 1) & 1) != 0;
}

enum {
    CARDS_EXIT = 1 << CARD_EXIT_1X | 1 << CARD_EXIT_2X,
    CARDS_ENTER = 1 << CARD_ENTER_1X | 1 << CARD_ENTER_2X,
    CARDS_SEATED = 1 << CARD_ECCENTRIC | 1 << CARD_TAKE_A_SEAT,
    CARDS_TAKE = 1 << CARD_TAKE_A_SEAT,
    CARDS_BEG = 1 << CARD_PANHANDLER,
};

static bool outside(const ChicagoState *state)
{
    return state->supply[state->active] > 0 || state->wait[state->active] != WAIT_NONE;
}

/* Whether the attack on `target` that is being carried out can go on. */
static bool attack_sound(const ChicagoTables *tables, const ChicagoState *state)
{
    if (state->target == 0 || state->target == state->active + 1) {
        return false;
    }
    uint8_t target = (uint8_t)(state->target - 1);
    if (card_in(state, CARDS_EXIT)) {
        return cells_any(&state->seated[target]);
    }
    if (card_in(state, CARDS_BEG)) {
        return state->pile == PILE_NUMBERS
                   ? !bytes_within(state->numbers[target], CHICAGO_NUMBERS, 0)
                   : !bytes_within(state->actions[target], CARD_COUNT, 0);
    }
    CellSet targets = chicago_attack_targets(tables, state);
    return card_in(state, CARDS_SEATED) && names_cell(tables, state->picked) &&
           cells_have(&targets, state->picked - 1u) &&
           cells_have(&state->seated[target], state->picked - 1u) &&
           (!card_in(state, CARDS_TAKE) || outside(state));
}

static bool move_sound(const ChicagoState *state)
{
    return chicago_pawn_movable(state, state->active) && state->laid >= 1 && state->colour >= 1 &&
           state->points >= state->bonus + state->laid &&
           state->points <= state->bonus + CHICAGO_VALUES * state->laid;
}

static bool slide_sound(const ChicagoTables *tables, const ChicagoState *state)
{
    if (!chicago_pawn_movable(state, state->active) || state->points == 0 || state->picked == 0) {
        return false;
    }
    uint8_t owner = chicago_seated_owner(tables, state, (uint8_t)(state->picked - 1));
    return owner != CHICAGO_NONE && owner != state->active;
}

static bool pawn_sound(const ChicagoTables *tables, const ChicagoState *state)
{
    if (card_in(state, CARDS_EXIT)) {
        return attack_sound(tables, state) && state->left >= 1 &&
               state->left <= cells_count(&state->seated[state->target - 1]);
    }
    return card_in(state, CARDS_SEATED) && (!card_in(state, CARDS_TAKE) || outside(state));
}

static bool seat_sound(const ChicagoState *state)
{
    bool there = state->source == 1 ? state->supply[state->active] > 0
                                    : state->wait[state->active] != WAIT_NONE;
    return card_in(state, CARDS_ENTER) && state->left >= 1 && state->source != 0 && there;
}

static bool source_sound(const ChicagoTables *tables, const ChicagoState *state)
{
    return card_in(state, CARDS_TAKE) ? attack_sound(tables, state)
                                      : card_in(state, CARDS_ENTER) && state->left >= 1;
}

static bool place_sound(const ChicagoState *state)
{
    uint8_t seat = state->active;
    return state->wait[seat] == WAIT_NONE && state->aisle[seat] == 0 && state->supply[seat] > 0;
}

static bool reseat_sound(const ChicagoTables *tables, const ChicagoState *state)
{
    return tables->crowding_penalty && card_in(state, CARDS_SEATED) && state->left >= 1 &&
           state->target != state->active + 1;
}

static const char *check_question(const ChicagoTables *tables, const ChicagoState *state)
{
    bool sound = true;
    switch ((Phase)state->head.phase) {
    case PHASE_PLACE:
        sound = place_sound(state);
        break;
    case PHASE_TURN:
        sound = state->card == 0 && state->laid == 0;
        break;
    case PHASE_MOVE:
        sound = move_sound(state);
        break;
    case PHASE_SLIDE:
        sound = slide_sound(tables, state);
        break;
    case PHASE_SOURCE:
        sound = source_sound(tables, state);
        break;
    case PHASE_SEAT:
        sound = seat_sound(state);
        break;
    case PHASE_PAWN:
        sound = pawn_sound(tables, state);
        break;
    case PHASE_BEG:
        sound = card_in(state, CARDS_BEG);
        break;
    case PHASE_REBEL:
        sound = attack_sound(tables, state);
        break;
    case PHASE_PENALTY:
        sound = cells_any(&state->seated[chicago_asked_seat(state)]);
        break;
    case PHASE_RESEAT:
        sound = reseat_sound(tables, state);
        break;
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
    return sound ? NULL : "the question does not fit the position";
}

const char *chicago_check(const TyRuleset *ruleset, const void *state)
{
    static const char *(*const checks[])(const ChicagoTables *, const ChicagoState *) = {
        check_ranges, check_seat,   check_tiles, check_cards,
        check_stolen, check_absent, check_pawns, check_question,
    };
    const char *broken = NULL;
    for (uint32_t i = 0; broken == NULL && i < sizeof checks / sizeof checks[0]; i++) {
        broken = checks[i](chicago_tables(ruleset), state);
    }
    return broken;
}

/* ---- Hidden information ------------------------------------------------------------------------
 */

/* The hands that are dealt again: how many cards of each pile are still missing. */
typedef struct Missing {
    uint8_t numbers[TY_PLAYERS_MAX];
    uint8_t actions[TY_PLAYERS_MAX];
} Missing;

/* Puts the hand of `seat` back into the piles. */
static void hand_return(ChicagoState *state, uint32_t seat, Missing *missing)
{
    for (uint32_t card = 0; card < CHICAGO_NUMBERS; card++) {
        uint8_t count = state->numbers[seat][card];
        missing->numbers[seat] = (uint8_t)(missing->numbers[seat] + count);
        state->number_deck[card] = (uint8_t)(state->number_deck[card] + count);
        state->numbers[seat][card] = 0;
    }
    for (uint32_t card = 0; card < CARD_COUNT; card++) {
        uint8_t count = state->actions[seat][card];
        missing->actions[seat] = (uint8_t)(missing->actions[seat] + count);
        state->action_deck[card] = (uint8_t)(state->action_deck[card] + count);
        state->actions[seat][card] = 0;
    }
}

static void number_give(ChicagoState *state, uint32_t seat, uint32_t card, Missing *missing)
{
    state->number_deck[card]--;
    state->numbers[seat][card]++;
    missing->numbers[seat]--;
}

static void action_give(ChicagoState *state, uint32_t seat, uint32_t card, Missing *missing)
{
    state->action_deck[card]--;
    state->actions[seat][card]++;
    missing->actions[seat]--;
}

/* The card that the observer lost to `seat` is still there. */
static void known_give(ChicagoState *state, uint32_t observer, uint32_t seat, Missing *missing)
{
    uint8_t known = state->stolen[observer][seat];
    if (known > CHICAGO_NUMBERS) {
        action_give(state, seat, known - 1u - CHICAGO_NUMBERS, missing);
    } else if (known > 0) {
        number_give(state, seat, known - 1u, missing);
    }
}

/* Somebody without tokens who is asked for a Rebel Passenger has one. */
static void rebel_give(const TyRuleset *ruleset, ChicagoState *state, uint32_t observer,
                       Missing *missing)
{
    uint32_t seat = state->target - 1u;
    if (state->head.phase == PHASE_REBEL && seat != observer && state->tokens[seat] == 0 &&
        !ruleset->ask_forced && state->actions[seat][CARD_REBEL] == 0) {
        action_give(state, seat, CARD_REBEL, missing);
    }
}

static void hand_deal(TyPlay *play, uint32_t seat, Missing *missing)
{
    ChicagoState *state = play->state;
    while (missing->numbers[seat] > 0) {
        uint32_t card = ty_draw(play, STREAM_NUMBERS, state->number_deck, CHICAGO_NUMBERS);
        number_give(state, seat, card, missing);
    }
    while (missing->actions[seat] > 0) {
        uint32_t card = ty_draw(play, STREAM_ACTIONS, state->action_deck, CARD_COUNT);
        action_give(state, seat, card, missing);
    }
}

/* What `victim` knows of a hand that was dealt again: one of its cards, of the same pile. */
static void stolen_redraw(TyPlay *play, uint32_t victim, uint32_t thief)
{
    ChicagoState *state = play->state;
    uint8_t *known = &state->stolen[victim][thief];
    if (*known > CHICAGO_NUMBERS) {
        uint32_t card = ty_draw(play, STREAM_STOLEN_ACTION, state->actions[thief], CARD_COUNT);
        *known = (uint8_t)(CHICAGO_NUMBERS + 1 + card);
    } else if (*known > 0) {
        uint32_t card = ty_draw(play, STREAM_STOLEN_NUMBER, state->numbers[thief], CHICAGO_NUMBERS);
        *known = (uint8_t)(1 + card);
    }
}

void chicago_resample(TyPlay *play, uint32_t observer)
{
    const ChicagoTables *tables = chicago_tables(play->ruleset);
    ChicagoState *state = play->state;
    Missing missing = {{0}, {0}};
    for (uint32_t i = 1; i < tables->player_count; i++) {
        hand_return(state, seat_after(tables, observer, i), &missing);
    }
    for (uint32_t i = 1; i < tables->player_count; i++) {
        known_give(state, observer, seat_after(tables, observer, i), &missing);
    }
    rebel_give(play->ruleset, state, observer, &missing);
    for (uint32_t i = 1; i < tables->player_count; i++) {
        uint8_t seat = seat_after(tables, observer, i);
        hand_deal(play, seat, &missing);
        for (uint32_t victim = 0; victim < tables->player_count; victim++) {
            if (victim != observer) {
                stolen_redraw(play, victim, seat);
            }
        }
    }
}
