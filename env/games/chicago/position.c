/* Ligne de train, Chicago: what a position says about pawns, targets and ways. */
#include "games/chicago/state.h"

uint8_t chicago_next_opponent(const ChicagoTables *tables, const ChicagoState *state)
{
    for (uint32_t i = 1; i < tables->player_count; i++) {
        uint8_t seat = seat_after(tables, state->active, seat_steps(tables, state, i));
        if (!state->skip[seat]) {
            return seat;
        }
    }
    return CHICAGO_NONE;
}

uint8_t chicago_asked_seat(const ChicagoState *state)
{
    uint8_t phase = state->head.phase;
    if (phase == PHASE_REBEL || phase == PHASE_RESEAT) {
        return (uint8_t)(state->target - 1);
    }
    return phase == PHASE_PENALTY ? (uint8_t)__builtin_ctz(state->owing) : state->active;
}

/* Cells of all seated pawns. */
static CellSet seats_taken(const ChicagoState *state)
{
    CellSet taken = {{0, 0}};
    for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
        taken.car[0] |= state->seated[seat].car[0];
        taken.car[1] |= state->seated[seat].car[1];
    }
    return taken;
}

CellSet chicago_seats_free(const ChicagoTables *tables, const ChicagoState *state)
{
    const ChicagoTrain *train = state_train(tables, state);
    CellSet taken = seats_taken(state);
    return (CellSet){{train->seats.car[0] & ~taken.car[0], train->seats.car[1] & ~taken.car[1]}};
}

uint8_t chicago_aisle_cell(const ChicagoTables *tables, uint8_t cell)
{
    uint32_t column = (cell & (CHICAGO_CAR - 1u)) % tables->width;
    uint32_t row = tables->aisle_row;
    return (uint8_t)((cell & CHICAGO_CAR) + row * tables->width + column);
}

uint8_t chicago_seated_owner(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell)
{
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        if (cells_have(&state->seated[seat], cell)) {
            return seat;
        }
    }
    return CHICAGO_NONE;
}

CellSet chicago_attack_targets(const ChicagoTables *tables, const ChicagoState *state)
{
    CellSet targets = {{0, 0}};
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        bool meant =
            (seat != state->active) & ((state->aisle[seat] == 0) | (tables->crowding_penalty != 0));
        targets.car[0] |= bits_if(meant, state->seated[seat].car[0]);
        targets.car[1] |= bits_if(meant, state->seated[seat].car[1]);
    }
    return targets;
}

/* ---- Ways --------------------------------------------------------------------------------------
 */

bool chicago_pawn_movable(const ChicagoState *state, uint8_t seat)
{
    return (state->aisle[seat] != 0) | (state->wait[seat] == WAIT_OPEN);
}

CellSet chicago_slide_targets(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell)
{
    const ChicagoTrain *train = state_train(tables, state);
    CellSet targets = chicago_seats_free(tables, state);
    bool beside = cells_have(&train->beside, cell);
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        uint64_t near = train->links[cell].car[car] & ~train->beside.car[car];
        targets.car[car] &= bits_if(!beside, near);
    }
    return targets;
}

/* Opposing seated pawns that could slide aside for a pawn of `seat`. */
static CellSet slides_of(const ChicagoTables *tables, const ChicagoState *state, uint8_t seat)
{
    CellSet slides = {{0, 0}};
    CellSet taken = seats_taken(state);
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        for (uint64_t left = taken.car[car] & ~state->seated[seat].car[car]; left != 0;
             left &= left - 1) {
            uint8_t cell = (uint8_t)(car * CHICAGO_CAR + (uint32_t)__builtin_ctzll(left));
            CellSet targets = chicago_slide_targets(tables, state, cell);
            if (cells_any(&targets)) {
                cells_add(&slides, cell);
            }
        }
    }
    return slides;
}

/* The parts are put together last: a way that is filled bit by bit and then copied would have to
 * wait for its last words. */
Way chicago_pawn_way(const ChicagoTables *tables, const ChicagoState *state, uint8_t seat,
                     uint32_t opponents)
{
    const ChicagoTrain *train = state_train(tables, state);
    CellSet taken = seats_taken(state);
    CellSet shared = {{0, 0}};
    CellSet slides = {{0, 0}};
    uint64_t outside =
        bits_if(state->aisle[seat] == 0, (uint64_t)CHICAGO_NODES + state->start[seat]);
    for (uint8_t other = 0; other < tables->player_count; other++) {
        uint32_t cell = state->aisle[other] - 1u;
        bool counts = (other != seat) & (state->aisle[other] != 0) & (opponents >> other & 1);
        uint64_t bit = (uint64_t)counts << (cell & 63);
        shared.car[0] |= bits_if(cell < CHICAGO_CAR, bit);
        shared.car[1] |= bits_if(cell >= CHICAGO_CAR, bit);
    }
    if (state->passes > 0) {
        slides = slides_of(tables, state, seat);
    }
    return (Way){.train = train,
                 .paths = tables->paths,
                 .shut = {{taken.car[0] | train->passengers.car[0],
                           taken.car[1] | train->passengers.car[1]}},
                 .shared = {{shared.car[0], shared.car[1]}},
                 .slides = {{slides.car[0], slides.car[1]}},
                 .from = (uint8_t)(state->aisle[seat] - 1u + outside),
                 .passes = state->passes};
}
