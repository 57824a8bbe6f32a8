/* A rule-based player of Ligne de train, Chicago.
 *
 * It plays every card that gains something, seats a pawn whenever its cards allow it, prefers the
 * seats that would be hard to reach later, and attacks when it cannot seat. It draws its picture of
 * the position from its own row alone; in the picture its own seat is seat 0. */
#include "agent.h"
#include "core/bytes.h"
#include "games/chicago/state.h"

#include <string.h>

enum {
    EVERYBODY = 0xff,
    SEARCH_LENGTH = 8, /* moves that count as near */
    LEADER_MARGIN = 2, /* pawns from victory at which an opponent must be stopped */
};

/* No action. */
#define NOTHING UINT32_MAX

/* What the agent works with during one decision. */
typedef struct Mind {
    const ChicagoTables *tables;
    const uint8_t *mask;
    ChicagoState picture;
} Mind;

/* ---- The picture -------------------------------------------------------------------------------
 */

/* Rows count cells without gaps, plus one. */
static uint8_t cell_sparse(const ChicagoTables *tables, uint8_t dense)
{
    return (uint8_t)(dense > tables->cells ? dense - tables->cells + CHICAGO_CAR : dense);
}

static void picture_seats(const ChicagoTables *tables, const uint8_t *row, ChicagoState *picture)
{
    const uint8_t *sitting = row + tables->layout.sitting;
    for (uint32_t i = 0; i < (uint32_t)CHICAGO_CARS * tables->cells; i++) {
        if (sitting[i] != 0) {
            cells_add(&picture->seated[sitting[i] - 1], cell_sparse(tables, (uint8_t)(i + 1)) - 1u);
        }
    }
}

static void picture_draw(const ChicagoTables *tables, const uint8_t *row, ChicagoState *picture)
{
    const ChicagoLayout *at = &tables->layout;
    memset(picture, 0, sizeof *picture);
    memcpy(&picture->phase, row, CHICAGO_PUBLIC_SIZE);
    picture->active = row[at->turn];
    for (uint32_t i = 0; i < TY_PLAYERS_MAX && i < tables->player_count; i++) {
        picture->supply[i] = row[at->supply + i];
        picture->wait[i] = row[at->wait + i];
        picture->start[i] = row[at->start + i];
        picture->aisle[i] = cell_sparse(tables, row[at->aisle + i]);
        picture->tokens[i] = row[at->tokens + i];
        picture->skip[i] = row[at->skip + i];
    }
    memcpy(picture->numbers[0], row + at->numbers, CHICAGO_NUMBERS);
    memcpy(picture->actions[0], row + at->actions, CARD_COUNT);
    picture_seats(tables, row, picture);
}

static uint32_t seated_count(const Mind *mind, uint32_t seat)
{
    return cells_count(&mind->picture.seated[seat]);
}

/* The opponent with the most pawns seated. */
static uint8_t leader(const Mind *mind)
{
    uint8_t best = 1;
    for (uint8_t seat = 2; seat < mind->tables->player_count; seat++) {
        best = seated_count(mind, seat) > seated_count(mind, best) ? seat : best;
    }
    return best;
}

static CellSet cells_and(const CellSet *one, const CellSet *other)
{
    return (CellSet){{one->car[0] & other->car[0], one->car[1] & other->car[1]}};
}

static uint32_t cell_action(const Mind *mind, uint32_t base, uint8_t cell)
{
    return base + (cell >> 6) * mind->tables->cells + (cell & 63u);
}

static bool legal(const Mind *mind, uint32_t action)
{
    return mind->mask[action] != 0;
}

/* ---- The worth of places -----------------------------------------------------------------------
 */

/* A seat away from the aisle is worth most, then one that shuts in no free seat. */
static uint32_t seat_worth(const Mind *mind, uint8_t cell)
{
    const ChicagoTrain *train = state_train(mind->tables, &mind->picture);
    CellSet empty = chicago_seats_free(mind->tables, &mind->picture);
    CellSet aisle = cells_and(&train->links[cell], &train->aisle);
    CellSet behind = cells_and(&train->links[cell], &empty);
    if (!cells_any(&aisle)) {
        return 3;
    }
    return cells_any(&behind) ? 1 : 2;
}

/* The best cell of a set that is not empty, by a measure. */
static uint8_t cells_best(const Mind *mind, CellSet set,
                          uint32_t (*worth)(const Mind *mind, uint8_t cell))
{
    uint8_t best = cells_first(&set);
    uint32_t most = 0;
    while (cells_any(&set)) {
        uint8_t cell = cells_first(&set);
        uint32_t value = worth(mind, cell);
        cells_remove(&set, cell);
        if (value > most) {
            most = value;
            best = cell;
        }
    }
    return best;
}

/* How many pairs of a length and a free seat lead on from a place of the own pawn. */
static uint32_t place_prospects(const Mind *mind, uint8_t place)
{
    ChicagoState imagined = mind->picture;
    CellSet empty = chicago_seats_free(mind->tables, &imagined);
    imagined.passes = 0;
    imagined.aisle[0] = place < CHICAGO_NODES ? (uint8_t)(place + 1) : 0;
    imagined.start[0] = place < CHICAGO_NODES ? 0 : (uint8_t)(place - CHICAGO_NODES + 1);
    Way way = chicago_pawn_way(mind->tables, &imagined, 0, EVERYBODY);
    uint32_t prospects = 0;
    for (uint32_t length = 1; length <= SEARCH_LENGTH; length++) {
        CellSet ends = chicago_way_ends(&way, length);
        ends = cells_and(&ends, &empty);
        /* Small numbers are in hand more often than large sums. */
        prospects += cells_any(&ends) ? (length <= CHICAGO_VALUES ? 8u : 3u) : 0;
        prospects += cells_count(&ends);
    }
    return prospects;
}

/* A seat to which no pawn comes by numbers is the best use of an Entrance. */
static CellSet seats_remote(const Mind *mind)
{
    const ChicagoTrain *train = state_train(mind->tables, &mind->picture);
    CellSet seats = chicago_seats_free(mind->tables, &mind->picture);
    ChicagoState imagined = mind->picture;
    imagined.passes = 0;
    imagined.aisle[0] = 0;
    for (uint8_t start = 0; start < CHICAGO_STARTS; start++) {
        if ((train->starts >> start & 1) == 0) {
            continue;
        }
        imagined.start[0] = (uint8_t)(start + 1);
        Way way = chicago_pawn_way(mind->tables, &imagined, 0, 0);
        for (uint32_t length = 1; length <= 2 * CHICAGO_VALUES; length++) {
            CellSet ends = chicago_way_ends(&way, length);
            seats.car[0] &= ~ends.car[0];
            seats.car[1] &= ~ends.car[1];
        }
    }
    return seats;
}

/* ---- Moving ------------------------------------------------------------------------------------
 */

/* The best seat worth that moves of `total` spaces offer, and 0 if they offer no seat. */
static uint32_t total_worth(const Mind *mind, const ChicagoState *position, uint32_t total)
{
    CellSet empty = chicago_seats_free(mind->tables, position);
    Way way = chicago_pawn_way(mind->tables, position, 0, EVERYBODY);
    CellSet ends = chicago_way_ends(&way, total);
    ends = cells_and(&ends, &empty);
    return cells_any(&ends) ? seat_worth(mind, cells_best(mind, ends, seat_worth)) : 0;
}

static uint32_t number_value(uint32_t number)
{
    return number % CHICAGO_VALUES + 1;
}

/* A number to lay first, and what seat it promises. */
typedef struct Plan {
    uint32_t worth;  /* 0: no seat */
    uint32_t number; /* CHICAGO_NUMBERS: none, the Advanced Movement alone */
} Plan;

static void plan_consider(Plan *plan, uint32_t worth, uint32_t number)
{
    if (worth > plan->worth) {
        *plan = (Plan){.worth = worth, .number = number};
    }
}

static bool numbers_fit(const ChicagoState *position, uint32_t one, uint32_t other)
{
    const uint8_t *numbers = position->numbers[0];
    bool colours = position->bonus > 0 || one / CHICAGO_VALUES == other / CHICAGO_VALUES;
    return colours && numbers[one] > 0 && numbers[other] > (one == other ? 1 : 0);
}

/* The best seat that the numbers of `position` reach with its passes and its bonus. */
static Plan plan_make(const Mind *mind, const ChicagoState *position)
{
    Plan plan = {.worth = 0, .number = CHICAGO_NUMBERS};
    uint32_t bonus = position->bonus;
    if (bonus > 0) {
        plan_consider(&plan, total_worth(mind, position, bonus), CHICAGO_NUMBERS);
    }
    for (uint32_t one = 0; one < CHICAGO_NUMBERS; one++) {
        if (position->numbers[0][one] == 0) {
            continue;
        }
        uint32_t total = bonus + number_value(one);
        plan_consider(&plan, total_worth(mind, position, total), one);
        for (uint32_t other = one; other < CHICAGO_NUMBERS; other++) {
            if (numbers_fit(position, one, other)) {
                plan_consider(&plan, total_worth(mind, position, total + number_value(other)), one);
            }
        }
    }
    return plan;
}

static uint32_t plan_action(const Mind *mind, Plan plan)
{
    if (plan.number < CHICAGO_NUMBERS) {
        return ACTION_LAY + plan.number;
    }
    CellSet empty = chicago_seats_free(mind->tables, &mind->picture);
    Way way = chicago_pawn_way(mind->tables, &mind->picture, 0, EVERYBODY);
    CellSet ends = chicago_way_ends(&way, mind->picture.bonus);
    ends = cells_and(&ends, &empty);
    return cell_action(mind, ACTION_CELLS, cells_best(mind, ends, seat_worth));
}

/* The card to play first so that a seat comes within reach, the cheapest one that helps. */
static uint32_t seat_by_card(const Mind *mind)
{
    static const uint8_t cards[] = {CARD_ADVANCED_1, CARD_ADVANCED_2, CARD_ADVANCED_3,
                                    CARD_EXCUSE_ME, CARD_REBEL};
    for (uint32_t i = 0; i < sizeof cards; i++) {
        ChicagoState position = mind->picture;
        if (!legal(mind, ACTION_PLAY + cards[i])) {
            continue;
        }
        if (i < 3) {
            position.bonus = (uint8_t)(position.bonus + i + 1);
        } else {
            position.passes++;
        }
        if (plan_make(mind, &position).worth > 0) {
            return ACTION_PLAY + cards[i];
        }
    }
    return NOTHING;
}

/* An action that leads to a seat this turn. */
static uint32_t seat_now(const Mind *mind)
{
    if (!chicago_pawn_movable(&mind->picture, 0)) {
        return NOTHING;
    }
    Plan plan = plan_make(mind, &mind->picture);
    return plan.worth > 0 ? plan_action(mind, plan) : seat_by_card(mind);
}

/* The best aisle move of `total` spaces. */
static uint32_t aisle_worth(const Mind *mind, uint32_t total)
{
    const ChicagoTrain *train = state_train(mind->tables, &mind->picture);
    Way way = chicago_pawn_way(mind->tables, &mind->picture, 0, EVERYBODY);
    CellSet ends = chicago_way_ends(&way, total);
    ends = cells_and(&ends, &train->aisle);
    return cells_any(&ends) ? 1 + place_prospects(mind, cells_best(mind, ends, place_prospects))
                            : 0;
}

/* Walks to where more seats are near; new numbers come with it. */
static uint32_t aisle_now(const Mind *mind)
{
    uint32_t best = NOTHING;
    uint32_t most = 0;
    for (uint32_t number = 0; number < CHICAGO_NUMBERS; number++) {
        if (legal(mind, ACTION_LAY + number)) {
            uint32_t worth = 1 + aisle_worth(mind, mind->picture.bonus + number_value(number));
            best = worth > most ? ACTION_LAY + number : best;
            most = worth > most ? worth : most;
        }
    }
    return best;
}

/* ---- Answers -----------------------------------------------------------------------------------
 */

static uint32_t first_legal(const Mind *mind, uint32_t count)
{
    uint32_t action = 0;
    while (action < count && !legal(mind, action)) {
        action++;
    }
    return action;
}

/* Cards that gain something and keep the turn. */
static uint32_t gain_now(const Mind *mind)
{
    static const uint8_t cards[] = {CARD_ENTER_2X,  CARD_ENTER_1X, CARD_TAKE_A_SEAT,
                                    CARD_ECCENTRIC, CARD_PLUS_1,   CARD_PANHANDLER,
                                    CARD_EXPRESS};
    for (uint32_t i = 0; i < sizeof cards; i++) {
        if (legal(mind, ACTION_PLAY + cards[i])) {
            return ACTION_PLAY + cards[i];
        }
    }
    bool pair = mind->tables->player_count == 2;
    return pair && legal(mind, ACTION_PLAY + CARD_REVERSE) ? ACTION_PLAY + CARD_REVERSE : NOTHING;
}

static uint32_t exit_now(const Mind *mind)
{
    if (legal(mind, ACTION_PLAY + CARD_EXIT_2X)) {
        return ACTION_PLAY + CARD_EXIT_2X;
    }
    return legal(mind, ACTION_PLAY + CARD_EXIT_1X) ? ACTION_PLAY + CARD_EXIT_1X : NOTHING;
}

/* A token for another number while the pawn could move but finds no seat. */
static uint32_t swap_now(const Mind *mind)
{
    for (uint32_t i = 0; chicago_pawn_movable(&mind->picture, 0) && i < CHICAGO_NUMBERS; i++) {
        if (legal(mind, ACTION_SWAP_NUMBER + i)) {
            return ACTION_SWAP_NUMBER + i;
        }
    }
    return NOTHING;
}

static uint32_t board_now(const Mind *mind)
{
    if (legal(mind, ACTION_PLAY + CARD_U_PASS) && mind->picture.aisle[0] == 0) {
        return ACTION_PLAY + CARD_U_PASS;
    }
    bool spin = legal(mind, ACTION_SPIN) && mind->picture.aisle[0] == 0;
    return spin ? (uint32_t)ACTION_SPIN : NOTHING;
}

static uint32_t answer_turn(const Mind *mind)
{
    uint32_t pawns = mind->tables->pawns;
    bool danger = seated_count(mind, leader(mind)) + LEADER_MARGIN >= pawns;
    uint32_t seat = seat_now(mind);
    uint32_t gain = gain_now(mind);
    uint32_t attack = exit_now(mind);
    if (seat != NOTHING && seated_count(mind, 0) + 1 == pawns) {
        return seat;
    }
    const uint32_t wishes[] = {
        gain,           danger ? attack : NOTHING, seat, board_now(mind), swap_now(mind), attack,
        aisle_now(mind)};
    for (uint32_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        if (wishes[i] != NOTHING) {
            return wishes[i];
        }
    }
    return ACTION_END;
}

/* Numbers are laid: a seat if there is one, also by a second number; otherwise the best place. */
static uint32_t answer_move(const Mind *mind)
{
    ChicagoState position = mind->picture;
    CellSet empty = chicago_seats_free(mind->tables, &position);
    Way way = chicago_pawn_way(mind->tables, &position, 0, EVERYBODY);
    CellSet ends = chicago_way_ends(&way, position.points);
    CellSet seats = cells_and(&ends, &empty);
    uint32_t best = cells_any(&seats)
                        ? cell_action(mind, ACTION_CELLS, cells_best(mind, seats, seat_worth))
                        : NOTHING;
    uint32_t most = total_worth(mind, &position, position.points);
    for (uint32_t number = 0; number < CHICAGO_NUMBERS; number++) {
        if (legal(mind, ACTION_LAY + number)) {
            uint32_t worth = total_worth(mind, &position, position.points + number_value(number));
            best = worth > most ? ACTION_LAY + number : best;
            most = worth > most ? worth : most;
        }
    }
    if (best != NOTHING) {
        return best;
    }
    if (!cells_any(&ends)) {
        return first_legal(mind, ACTION_CELLS);
    }
    return cell_action(mind, ACTION_CELLS, cells_best(mind, ends, place_prospects));
}

static uint32_t answer_place(const Mind *mind)
{
    uint32_t best = first_legal(mind, ACTION_CELLS);
    uint32_t most = 0;
    for (uint32_t start = 0; start < CHICAGO_STARTS; start++) {
        if (legal(mind, ACTION_PLACE + start)) {
            uint32_t prospects = place_prospects(mind, (uint8_t)(CHICAGO_NODES + start));
            best = prospects > most ? ACTION_PLACE + start : best;
            most = prospects > most ? prospects : most;
        }
    }
    return best;
}

static uint32_t answer_seat(const Mind *mind)
{
    CellSet remote = seats_remote(mind);
    CellSet seats = cells_any(&remote) ? remote : chicago_seats_free(mind->tables, &mind->picture);
    return cell_action(mind, ACTION_CELLS, cells_best(mind, seats, seat_worth));
}

/* An opposing pawn: the leader's if it may be picked. */
static uint32_t answer_pawn(const Mind *mind, uint32_t count)
{
    uint32_t base = ACTION_CELLS + (uint32_t)CHICAGO_CARS * mind->tables->cells;
    CellSet pawns = mind->picture.seated[leader(mind)];
    while (cells_any(&pawns)) {
        uint32_t action = cell_action(mind, base, cells_best(mind, pawns, seat_worth));
        if (legal(mind, action)) {
            return action;
        }
        cells_remove(&pawns, cells_best(mind, pawns, seat_worth));
    }
    return first_legal(mind, count);
}

static uint32_t answer_beg(const Mind *mind, uint32_t count)
{
    uint32_t action = ACTION_BEG + 2u * (leader(mind) - 1u) + PILE_ACTIONS;
    return legal(mind, action) ? action : first_legal(mind, count);
}

/* A Rebel Passenger is worth more than a stolen card and less than a seat. */
static uint32_t answer_rebel(const Mind *mind)
{
    bool worth_it = mind->picture.card != CARD_PANHANDLER + 1;
    return worth_it && legal(mind, ACTION_REBEL) ? ACTION_REBEL : ACTION_ACCEPT;
}

static uint32_t answer(const Mind *mind, uint32_t count)
{
    switch ((Phase)mind->picture.phase) {
    case PHASE_PLACE:
        return answer_place(mind);
    case PHASE_TURN:
        return answer_turn(mind);
    case PHASE_MOVE:
        return answer_move(mind);
    case PHASE_SEAT:
    case PHASE_RESEAT:
        return answer_seat(mind);
    case PHASE_PAWN:
        return answer_pawn(mind, count);
    case PHASE_BEG:
        return answer_beg(mind, count);
    case PHASE_REBEL:
        return answer_rebel(mind);
    case PHASE_SLIDE:
    case PHASE_SOURCE:
    case PHASE_PENALTY:
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
    return first_legal(mind, count);
}

static void expert_start(void *memory, const TyRuleset *ruleset, uint32_t seat, uint64_t seed)
{
    (void)memory;
    (void)ruleset;
    (void)seat;
    (void)seed;
}

static uint32_t expert_act(void *memory, const TyView *view)
{
    (void)memory;
    Mind mind = {.tables = view->ruleset->tables, .mask = view->mask};
    uint32_t count = ty_shape(view->ruleset)->action_count;
    picture_draw(mind.tables, view->row, &mind.picture);
    uint32_t action = answer(&mind, count);
    return legal(&mind, action) ? action : first_legal(&mind, count);
}

const TyAgent chicago_expert = {
    .name = "expert",
    .game = "chicago",
    .help = "seats a pawn whenever its cards allow it, and plays every card that gains something",
    .memory_size = sizeof(uint64_t),
    .start = expert_start,
    .act = expert_act,
};
