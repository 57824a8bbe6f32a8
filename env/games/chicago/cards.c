/* Ligne de train, Chicago: the fourteen action cards, and the Rebel Passenger's answer. */
#include "games/chicago/state.h"

#include <assert.h>

/* The card is carried out or cancelled. A red star ends the turn, a green one keeps it. */
static void card_done(Play *play)
{
    ChicagoState *state = play->state;
    if (play->tables->enders >> (state->card - 1) & 1) {
        state->ending = 1;
    }
    state->card = 0;
    state->target = 0;
    state->left = 0;
    state->picked = 0;
    state->source = 0;
    state->pile = 0;
    chicago_turn_continue(play);
}

/* Passager rebelle: the attacked player may answer before anything happens (ruling C13). */
static void attack_begin(Play *play, uint8_t target)
{
    ChicagoState *state = play->state;
    state->target = (uint8_t)(target + 1);
    EVENT(play, EVENT_ATTACK, target, (int16_t)(state->card - 1), state->picked);
    chicago_ask(play, PHASE_REBEL);
}

/* ---- Entrance ----------------------------------------------------------------------------------
 */

/* Entrée: asks which pawn sits down next; done when there is none, or none left to seat. */
static void enter_next(Play *play)
{
    const ChicagoState *state = play->state;
    uint8_t seat = state->active;
    if (state->left == 0 || (state->supply[seat] == 0 && state->wait[seat] == WAIT_NONE)) {
        card_done(play);
    } else {
        chicago_ask(play, PHASE_SOURCE);
    }
}

/* Takes the active player's pawn from the source that was chosen. */
static void source_take(ChicagoState *state)
{
    uint8_t seat = state->active;
    if (state->source == 1) {
        state->supply[seat]--;
    } else {
        state->wait[seat] = WAIT_NONE;
        state->start[seat] = 0;
    }
}

void chicago_card_seat(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    source_take(state);
    EVENT(play, EVENT_SEAT, state->active, state->source, cell);
    state->source = 0;
    state->left--;
    if (!chicago_pawn_seat(play, state->active, cell)) {
        enter_next(play);
    }
}

/* ---- Eccentric Passenger and Take a Seat -------------------------------------------------------
 */

/* Ruling C7, variant: whoever gives an opponent a second aisle pawn loses what it seated this turn,
 * and the opponent seats both of its pawns. */
static void crowd(Play *play, uint8_t target)
{
    ChicagoState *state = play->state;
    while (cells_any(&state->gained)) {
        chicago_pawn_leave(play, state->active, cells_first(&state->gained), LEAVE_CROWDING);
    }
    state->aisle[target] = 0;
    state->left = 2;
    chicago_ask(play, PHASE_RESEAT);
}

/* The attacked pawn stands up into the aisle of its column; one of the same player that waits at a
 * start space stays there (ruling C8). Returns true if it is the player's second in the aisle. */
static bool pawn_displace(Play *play, uint8_t target, uint8_t cell)
{
    ChicagoState *state = play->state;
    uint8_t aisle = chicago_aisle_cell(play->tables, cell);
    cells_remove(&state->seated[target], cell);
    EVENT(play, EVENT_DISPLACE, target, cell, aisle);
    if (state->aisle[target] != 0) {
        return true;
    }
    state->aisle[target] = (uint8_t)(aisle + 1);
    return false;
}

static void eccentric(Play *play)
{
    const ChicagoState *state = play->state;
    uint8_t target = (uint8_t)(state->target - 1);
    if (pawn_displace(play, target, (uint8_t)(state->picked - 1))) {
        crowd(play, target);
    } else {
        card_done(play);
    }
}

/* Prenez un siège: an own pawn from outside takes the place of the displaced one. */
static void take_seat(Play *play)
{
    ChicagoState *state = play->state;
    uint8_t target = (uint8_t)(state->target - 1);
    uint8_t cell = (uint8_t)(state->picked - 1);
    bool second = pawn_displace(play, target, cell);
    source_take(state);
    EVENT(play, EVENT_SEAT, state->active, state->source, cell);
    if (second) {
        cells_add(&state->seated[state->active], cell);
        cells_add(&state->gained, cell);
        crowd(play, target);
    } else if (!chicago_pawn_seat(play, state->active, cell)) {
        card_done(play);
    }
}

void chicago_card_source(Play *play, uint8_t source)
{
    play->state->source = source;
    if (play->state->card == CARD_TAKE_A_SEAT + 1) {
        take_seat(play);
    } else {
        chicago_ask(play, PHASE_SEAT);
    }
}

void chicago_pawn_reseat(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    uint8_t seat = (uint8_t)(state->target - 1);
    state->left--;
    EVENT(play, EVENT_SEAT, seat, 3, cell);
    if (chicago_pawn_seat(play, seat, cell)) {
        return;
    }
    if (state->left > 0) {
        chicago_ask(play, PHASE_RESEAT);
    } else {
        card_done(play);
    }
}

/* ---- Exit and Panhandler -----------------------------------------------------------------------
 */

/* Sortie: the attacker picks the pawns that leave, one or two, as far as there are (ruling C9). */
static void exit_begin(Play *play)
{
    ChicagoState *state = play->state;
    uint32_t seated = cells_count(&state->seated[state->target - 1]);
    uint32_t wanted = state->card == CARD_EXIT_2X + 1 ? 2 : 1;
    state->left = (uint8_t)(seated < wanted ? seated : wanted);
    chicago_ask(play, PHASE_PAWN);
}

static void exit_pawn(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    chicago_pawn_leave(play, (uint8_t)(state->target - 1), cell, LEAVE_EXIT);
    state->left--;
    if (state->left > 0) {
        chicago_ask(play, PHASE_PAWN);
    } else {
        card_done(play);
    }
}

void chicago_card_pawn(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    if (state->card == CARD_EXIT_1X + 1 || state->card == CARD_EXIT_2X + 1) {
        exit_pawn(play, cell);
        return;
    }
    state->picked = (uint8_t)(cell + 1);
    attack_begin(play, chicago_seated_owner(play->tables, state, cell));
}

void chicago_card_beg(Play *play, uint8_t opponent, uint8_t pile)
{
    play->state->pile = pile;
    attack_begin(play, seat_after(play->tables, play->state->active, opponent));
}

/* What the attack does once it is not cancelled. Only five cards attack. */
static void attack_carry_out(Play *play)
{
    uint8_t card = (uint8_t)(play->state->card - 1);
    if (card == CARD_ECCENTRIC) {
        eccentric(play);
    } else if (card == CARD_TAKE_A_SEAT) {
        chicago_ask(play, PHASE_SOURCE);
    } else if (card == CARD_PANHANDLER) {
        chicago_card_steal(play);
        card_done(play);
    } else {
        assert(card == CARD_EXIT_1X || card == CARD_EXIT_2X);
        exit_begin(play);
    }
}

void chicago_attack_answer(Play *play, bool cancelled)
{
    ChicagoState *state = play->state;
    if (!cancelled) {
        attack_carry_out(play);
        return;
    }
    uint8_t seat = (uint8_t)(state->target - 1);
    EVENT(play, EVENT_REBEL, seat, (int16_t)(state->card - 1));
    chicago_action_discard(play, seat, CARD_REBEL);
    state->rebels++;
    card_done(play);
}

/* ---- Playing a card ----------------------------------------------------------------------------
 */

/* Express: the next player who is not skipped yet misses its turn; with every opponent skipped the
 * turn comes back at once (ruling C11). */
static void express(Play *play)
{
    ChicagoState *state = play->state;
    uint8_t seat = chicago_next_opponent(play->tables, state);
    state->skip[seat] = 1;
    EVENT(play, EVENT_EXPRESS, seat);
    card_done(play);
}

static void reverse(Play *play)
{
    play->state->backward ^= 1;
    EVENT(play, EVENT_REVERSE, play->state->backward);
    card_done(play);
}

static void plus_token(Play *play)
{
    ChicagoState *state = play->state;
    uint8_t seat = state->active;
    state->tokens[seat]++;
    EVENT(play, EVENT_TOKEN, seat, state->tokens[seat]);
    card_done(play);
}

static void enter_begin(Play *play, uint8_t pawns)
{
    play->state->left = pawns;
    enter_next(play);
}

void chicago_card_play(Play *play, uint8_t card)
{
    ChicagoState *state = play->state;
    EVENT(play, EVENT_PLAY, state->active, card);
    chicago_action_discard(play, state->active, card);
    state->cards_played++;
    state->card = (uint8_t)(card + 1);
    switch ((ActionCard)card) {
    case CARD_EXIT_1X:
    case CARD_EXIT_2X:
        attack_begin(play, chicago_next_opponent(play->tables, state));
        break;
    case CARD_EXPRESS:
        express(play);
        break;
    case CARD_REVERSE:
        reverse(play);
        break;
    case CARD_ECCENTRIC:
    case CARD_TAKE_A_SEAT:
        chicago_ask(play, PHASE_PAWN);
        break;
    case CARD_PANHANDLER:
        chicago_ask(play, PHASE_BEG);
        break;
    case CARD_PLUS_1:
        plus_token(play);
        break;
    case CARD_ENTER_1X:
        enter_begin(play, 1);
        break;
    case CARD_ENTER_2X:
        enter_begin(play, 2);
        break;
    case CARD_U_PASS:
        state->card = 0;
        state->boarded = 1;
        chicago_pawn_board(play);
        break;
    case CARD_REBEL:
        state->rebelled = 1;
        state->passes++;
        state->card = 0;
        chicago_ask(play, PHASE_TURN);
        break;
    case CARD_EXCUSE_ME:
        state->passes++;
        card_done(play);
        break;
    case CARD_ADVANCED_1:
    case CARD_ADVANCED_2:
    case CARD_ADVANCED_3:
        state->bonus = (uint8_t)(state->bonus + card - CARD_ADVANCED_1 + 1);
        card_done(play);
        break;
    case CARD_COUNT:
        break;
    }
}
