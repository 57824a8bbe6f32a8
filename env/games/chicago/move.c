/* Ligne de train, Chicago: laying number cards and moving a pawn through the train. */
#include "games/chicago/state.h"

/* Cartes nombres: one card, or two of one colour added up to a single move (ruling C2); with an
 * Advanced Movement its number is added, and the colours do not matter (ruling C16). */
void chicago_number_lay(Play *play, uint8_t number)
{
    ChicagoState *state = play->state;
    uint8_t value = (uint8_t)(number % CHICAGO_VALUES + 1);
    EVENT(play, EVENT_LAY, state->active, number);
    chicago_number_discard(play, state->active, number);
    if (state->laid == 0) {
        state->points = state->bonus;
        state->colour = (uint8_t)(number / CHICAGO_VALUES + 1);
    }
    state->points = (uint8_t)(state->points + value);
    state->laid++;
    chicago_ask(play, PHASE_MOVE);
}

/* Tells the move with a path that proves it. */
static void move_tell(Play *play, uint8_t cell)
{
    const ChicagoState *state = play->state;
    TyPlay *ty = play->ty;
    if (!ty_listened(ty)) {
        return;
    }
    Way way = chicago_pawn_way(play->tables, state, state->active, UINT32_MAX);
    ty->path_count = (uint8_t)chicago_way_path(&way, state->points, cell, ty->path);
    EVENT(play, EVENT_MOVE, state->active, way.from, cell, state->points);
}

/* The pawn arrives, in a seat or in the aisle, and the turn is over. */
static void move_finish(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    uint8_t seat = state->active;
    bool walked = state->aisle[seat] != 0; /* it did not board: another pawn may wait outside */
    state->wait[seat] = (uint8_t)bits_if(walked, state->wait[seat]);
    state->start[seat] = (uint8_t)bits_if(walked, state->start[seat]);
    state->aisle[seat] = 0;
    state->blocked[seat] = 0;
    state->moves++;
    state->ending = 1;
    if (cells_have(&state_train(play->tables, state)->aisle, cell)) {
        state->aisle[seat] = (uint8_t)(cell + 1);
    } else if (chicago_pawn_seat(play, seat, cell)) {
        return;
    }
    chicago_turn_continue(play);
}

void chicago_pawn_move(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    if (state->laid == 0) {
        state->points = state->bonus;
    }
    if (chicago_seated_owner(play->tables, state, cell) != CHICAGO_NONE) {
        state->picked = (uint8_t)(cell + 1);
        chicago_ask(play, PHASE_SLIDE);
        return;
    }
    move_tell(play, cell);
    move_finish(play, cell);
}

/* Excusez-moi: the pawn in the way slides to a seat beside it, and the mover takes its place
 * (ruling C14). */
void chicago_pawn_slide(Play *play, uint8_t cell)
{
    ChicagoState *state = play->state;
    uint8_t from = (uint8_t)(state->picked - 1);
    uint8_t owner = chicago_seated_owner(play->tables, state, from);
    move_tell(play, from);
    cells_remove(&state->seated[owner], from);
    cells_add(&state->seated[owner], cell);
    state->picked = 0;
    EVENT(play, EVENT_SLIDE, owner, from, cell);
    move_finish(play, from);
}
