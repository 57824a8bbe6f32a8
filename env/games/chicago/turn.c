/* Ligne de train, Chicago: setting up, boarding, the course of a turn, blocking, the end. */
#include "games/chicago/state.h"
#include "kit/draw.h"

#include <string.h>

enum { BLOCKED_FREE = 2 };

void chicago_ask(Play *play, Phase phase)
{
    play->state->head.phase = (uint8_t)phase;
    play->state->head.seat = (int8_t)chicago_asked_seat(play->state);
}

/* The start space of a seat's waiting pawn as a place. */
static int16_t start_place(const ChicagoState *state, uint8_t seat)
{
    return (int16_t)(CHICAGO_NODES + state->start[seat] - 1);
}

/* ---- Pawns and the end -------------------------------------------------------------------------
 */

/* The most pawns that an opponent of `seat` has seated. */
static int32_t best_opponent(const ChicagoTables *tables, const ChicagoState *state, uint32_t seat)
{
    int32_t best = 0;
    for (uint32_t other = 0; other < tables->player_count; other++) {
        int32_t seated = (int32_t)cells_count(&state->seated[other]);
        best = other != seat && seated > best ? seated : best;
    }
    return best;
}

/* What each player earns by the whole episode. */
static void rewards_give(Play *play)
{
    const ChicagoTables *tables = play->tables;
    const ChicagoState *state = play->state;
    int32_t *reward = play->ty->reward;
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        if (tables->score_reward) {
            int32_t seated = (int32_t)cells_count(&state->seated[seat]);
            reward[seat] += (seated - best_opponent(tables, state, seat)) * TY_REWARD_ONE;
        } else if (state->winner != 0) {
            reward[seat] += state->winner == seat + 1 ? TY_REWARD_ONE : -TY_REWARD_ONE;
        }
    }
}

void chicago_episode_end(Play *play, uint8_t winner, bool truncated)
{
    ChicagoState *state = play->state;
    state->winner = truncated ? 0 : (uint8_t)(winner + 1);
    state->head.over = 1;
    state->head.truncated = truncated;
    state->head.seat = -1;
    state->head.phase = PHASE_OVER;
    rewards_give(play);
    EVENT(play, EVENT_END, state->winner);
}

/* Objectif: whoever has all pawns seated wins at once. */
bool chicago_pawn_seat(Play *play, uint8_t seat, uint8_t cell)
{
    ChicagoState *state = play->state;
    cells_add(&state->seated[seat], cell);
    if (seat == state->active) {
        cells_add(&state->gained, cell);
    }
    if (cells_count(&state->seated[seat]) < play->tables->pawns) {
        return false;
    }
    chicago_episode_end(play, seat, false);
    return true;
}

void chicago_pawn_leave(Play *play, uint8_t seat, uint8_t cell, Leave why)
{
    ChicagoState *state = play->state;
    cells_remove(&state->seated[seat], cell);
    cells_remove(&state->gained, cell);
    state->supply[seat]++;
    state->penalties = (uint16_t)(state->penalties + (why != LEAVE_EXIT));
    EVENT(play, EVENT_LEAVE, seat, cell, (int16_t)why);
}

/* ---- Boarding ----------------------------------------------------------------------------------
 */

void chicago_pawn_board(Play *play)
{
    ChicagoState *state = play->state;
    uint8_t seat = state->active;
    state->wait[seat] = WAIT_OPEN;
    EVENT(play, EVENT_BOARD, seat, start_place(state, seat));
    chicago_ask(play, PHASE_TURN);
}

/* Embarquement: open doors let the pawn board, this turn or later; closed doors end the turn, and
 * the pawn boards by the same start in the next one (ruling C4). */
static void doors_spin(Play *play)
{
    ChicagoState *state = play->state;
    uint8_t seat = state->active;
    uint32_t open = draw_few(play->ty, STREAM_SPINNER, play->tables->spinner, 2);
    EVENT_CHANCE(play, EVENT_SPIN, STREAM_SPINNER, open, seat, (int16_t)open);
    if (open) {
        chicago_pawn_board(play);
        return;
    }
    state->wait[seat] = WAIT_MISSED;
    state->missed++;
    EVENT(play, EVENT_MISSED, seat, start_place(state, seat));
    chicago_turn_end(play);
}

static void pawn_place(Play *play, uint8_t start)
{
    ChicagoState *state = play->state;
    uint8_t seat = state->active;
    state->supply[seat]--;
    state->wait[seat] = WAIT_START;
    state->start[seat] = (uint8_t)(start + 1);
    EVENT(play, EVENT_PLACE, seat, start_place(state, seat));
    if (state->ending) {
        chicago_turn_end(play);
    } else {
        chicago_ask(play, PHASE_TURN);
    }
}

/* A pawn must be placed if none is on the way and there is one. */
static bool place_due(const ChicagoState *state)
{
    uint8_t seat = state->active;
    return (state->wait[seat] == WAIT_NONE) & (state->aisle[seat] == 0) & (state->supply[seat] > 0);
}

void chicago_turn_continue(Play *play)
{
    ChicagoState *state = play->state;
    if (place_due(state)) {
        state->fresh = !state->ending;
        chicago_ask(play, PHASE_PLACE);
    } else if (state->ending) {
        chicago_turn_end(play);
    } else {
        chicago_ask(play, PHASE_TURN);
    }
}

/* ---- Blocking ----------------------------------------------------------------------------------
 */

/* The opponents with a pawn in the aisle, as bits. */
static uint32_t aisle_opponents(const ChicagoTables *tables, const ChicagoState *state)
{
    uint32_t opponents = 0;
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        opponents |= (uint32_t)((seat != state->active) & (state->aisle[seat] != 0)) << seat;
    }
    return opponents;
}

/* Those whose pawn alone blocks the way; if only together they do, those who stand on a way that
 * would otherwise be free (ruling C15). */
static uint32_t blockers(const ChicagoTables *tables, const ChicagoState *state, uint32_t opponents)
{
    CellSet through = chicago_numbers_through(tables, state, state->active);
    uint32_t alone = 0;
    uint32_t together = 0;
    for (uint32_t left = opponents; left != 0; left &= left - 1) {
        uint32_t bit = left & ~(left - 1);
        uint32_t cell = state->aisle[__builtin_ctz(left)] - 1u;
        alone |= chicago_numbers_stuck(tables, state, state->active, bit) ? bit : 0;
        together |= cells_have(&through, cell) ? bit : 0;
    }
    return alone != 0 ? alone : together;
}

/* The next blocker who has a seated pawn takes one off the train; then the turn goes on. */
static void penalty_next(Play *play)
{
    ChicagoState *state = play->state;
    while (state->owing != 0 && !cells_any(&state->seated[__builtin_ctz(state->owing)])) {
        state->owing &= (uint8_t)(state->owing - 1);
    }
    chicago_ask(play, state->owing != 0 ? PHASE_PENALTY : PHASE_TURN);
}

static void penalty_pay(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    chicago_pawn_leave(play, chicago_asked_seat(state), cell, LEAVE_BLOCKING);
    state->owing &= (uint8_t)(state->owing - 1);
    penalty_next(play);
}

/* Blocage: counts the turns in a row that begin without a way out because of opposing aisle pawns;
 * from the third on the blockers pay (ruling C15). */
static void blocking_count(Play *play)
{
    const ChicagoTables *tables = play->tables;
    ChicagoState *state = play->state;
    uint8_t seat = state->active;
    uint32_t opponents = aisle_opponents(tables, state);
    opponents = (uint32_t)bits_if(chicago_pawn_movable(state, seat), opponents);
    if (opponents == 0 || !chicago_numbers_stuck(tables, state, seat, opponents) ||
        chicago_numbers_stuck(tables, state, seat, 0)) {
        state->blocked[seat] = 0;
        return;
    }
    state->blocked[seat] =
        (uint8_t)(state->blocked[seat] + (state->blocked[seat] < CHICAGO_BLOCKED_MAX));
    EVENT(play, EVENT_BLOCKED, seat, state->blocked[seat]);
    if (state->blocked[seat] > BLOCKED_FREE) {
        state->owing = (uint8_t)blockers(tables, state, opponents);
    }
}

/* ---- The turn ----------------------------------------------------------------------------------
 */

/* A pawn that missed the train may board now, unless another one of its player came into the aisle
 * meanwhile (ruling C8). */
void chicago_turn_begin(Play *play)
{
    ChicagoState *state = play->state;
    uint8_t seat = state->active;
    state->turns++;
    EVENT(play, EVENT_TURN, (int16_t)state->turns, seat);
    bool boards = (state->wait[seat] == WAIT_MISSED) & (state->aisle[seat] == 0);
    state->wait[seat] = boards ? WAIT_OPEN : state->wait[seat];
    if (ty_listened(play->ty) && boards) {
        EVENT(play, EVENT_BOARD, seat, start_place(state, seat));
    }
    blocking_count(play);
    bool due = place_due(state);
    if (state->owing != 0 && !due) {
        penalty_next(play);
        return;
    }
    state->head.phase = due ? PHASE_PLACE : PHASE_TURN; /* as good as random: no branch */
    state->head.seat = (int8_t)seat;
}

/* Passes the turn on, over the players that an Express skips. */
static void turn_pass(Play *play)
{
    ChicagoState *state = play->state;
    uint32_t step = seat_steps(play->tables, state, 1);
    state->active = seat_after(play->tables, state->active, step);
    while (state->skip[state->active]) {
        state->skip[state->active] = 0;
        EVENT(play, EVENT_SKIP, state->active);
        state->active = seat_after(play->tables, state->active, step);
    }
}

static void turn_clear(ChicagoState *state)
{
    state->gained = (CellSet){{0, 0}};
    state->passes = 0;
    state->bonus = 0;
    state->points = 0;
    state->laid = 0;
    state->colour = 0;
    state->boarded = 0;
    state->fresh = 0;
    state->ending = 0;
    state->rebelled = 0;
}

void chicago_turn_end(Play *play)
{
    ChicagoState *state = play->state;
    turn_clear(state);
    chicago_deal_hand(play, state->active);
    if (state->turns >= play->tables->turn_cap) {
        chicago_episode_end(play, 0, true);
        return;
    }
    turn_pass(play);
    chicago_turn_begin(play);
}

/* ---- Answers -----------------------------------------------------------------------------------
 */

static void apply_cell(Play *play, uint8_t cell)
{
    switch ((Phase)play->state->head.phase) {
    case PHASE_TURN:
    case PHASE_MOVE:
        chicago_pawn_move(play, cell);
        break;
    case PHASE_SLIDE:
        chicago_pawn_slide(play, cell);
        break;
    case PHASE_SEAT:
        chicago_card_seat(play, cell);
        break;
    case PHASE_PAWN:
        chicago_card_pawn(play, cell);
        break;
    case PHASE_PENALTY:
        penalty_pay(play, cell);
        break;
    case PHASE_RESEAT:
        chicago_pawn_reseat(play, cell);
        break;
    case PHASE_PLACE:
    case PHASE_SOURCE:
    case PHASE_BEG:
    case PHASE_REBEL:
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
}

static Play play_of(TyPlay *play)
{
    return (Play){
        .ty = play, .tables = chicago_tables(play->ruleset), .state = (ChicagoState *)play->state};
}

void chicago_apply(TyPlay *ty, uint32_t action)
{
    Play play = play_of(ty);
    TyChoice choice = ty_choice(ty->ruleset, action);
    uint8_t item = (uint8_t)choice.item;
    switch ((Form)choice.form) {
    case FORM_END:
        chicago_turn_end(&play);
        break;
    case FORM_SPIN:
        doors_spin(&play);
        break;
    case FORM_ACCEPT:
    case FORM_REBEL:
        chicago_attack_answer(&play, choice.form == FORM_REBEL);
        break;
    case FORM_FROM:
        chicago_card_source(&play, (uint8_t)(item + 1));
        break;
    case FORM_PLAY:
        chicago_card_play(&play, item);
        break;
    case FORM_LAY:
        chicago_number_lay(&play, item);
        break;
    case FORM_SWAP:
        chicago_card_swap(&play, chicago_asked_seat(play.state), item);
        break;
    case FORM_BEG:
        chicago_card_beg(&play, (uint8_t)(item / 2 + 1), item & 1);
        break;
    case FORM_PLACE:
        pawn_place(&play, item);
        break;
    case FORM_TO:
    case FORM_PAWN:
        apply_cell(&play, cell_sparse(play.tables, item));
        break;
    case FORM_WAIT:
        break;
    }
}

/* ---- Setting up --------------------------------------------------------------------------------
 */

/* Configuration 1: two tiles, the file's usual ones or two that are drawn (ruling C18). */
static void tiles_lay(Play *play)
{
    const ChicagoTables *tables = play->tables;
    ChicagoState *state = play->state;
    memcpy(state->tile, tables->fixed, sizeof state->tile);
    if (!tables->tiles_random) {
        return;
    }
    uint8_t weights[CHICAGO_TILES_MAX];
    memset(weights, 1, sizeof weights);
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        uint32_t tile = ty_draw(play->ty, STREAM_TILES, weights, tables->tile_count);
        weights[tile] = 0;
        state->tile[car] = (uint8_t)tile;
        EVENT_CHANCE(play, EVENT_TILE, STREAM_TILES, tile, (int16_t)car, (int16_t)tile);
    }
}

/* Configuration 5: the rulebook looks at ears, the ruleset draws (ruling C18). */
static void first_player_draw(Play *play)
{
    static const uint8_t weights[TY_PLAYERS_MAX] = {1, 1, 1, 1};
    ChicagoState *state = play->state;
    if (!play->tables->first_random) {
        return;
    }
    uint32_t seat = ty_draw(play->ty, STREAM_FIRST_PLAYER, weights, play->tables->player_count);
    state->active = (uint8_t)seat;
    EVENT_CHANCE(play, EVENT_FIRST_PLAYER, STREAM_FIRST_PLAYER, seat, (int16_t)seat);
}

void chicago_begin(TyPlay *ty)
{
    Play play = play_of(ty);
    const ChicagoTables *tables = play.tables;
    ChicagoState *state = play.state;
    memset(state->number_deck, tables->number_copies, sizeof state->number_deck);
    memcpy(state->action_deck, tables->copies, sizeof state->action_deck);
    tiles_lay(&play);
    first_player_draw(&play);
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        state->supply[seat] = tables->pawns;
        state->tokens[seat] = tables->tokens;
        chicago_deal_hand(&play, seat);
    }
    chicago_turn_begin(&play);
}
