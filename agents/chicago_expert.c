/* A rule-based player of Ligne de train, Chicago.
 *
 * It plays every card that gains something or at least makes room for a new one, seats a pawn
 * whenever its cards allow it, prefers the seats that would be hard to reach later, and attacks
 * when it cannot seat. It draws its picture of the position from its own row alone; in the picture
 * its own seat is seat 0. */
#include "agents/chicago_expert.h"
#include "agent.h"

#include <math.h>
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
    const TyRuleset *ruleset;
    const ChicagoTables *tables;
    const uint8_t *mask;
    ChicagoState picture;
} Mind;

/* ---- The picture -------------------------------------------------------------------------------
 */

/* A cell of a row; "plus one" in both. */
static uint8_t cell_seen(const ChicagoTables *tables, uint8_t cell)
{
    return cell == 0 ? 0 : (uint8_t)(cell_sparse(tables, cell - 1u) + 1);
}

static void picture_seats(const ChicagoTables *tables, const uint8_t *sitting,
                          ChicagoState *picture)
{
    for (uint32_t i = 0; i < (uint32_t)CHICAGO_CARS * tables->cells; i++) {
        if (sitting[i] != 0) {
            cells_add(&picture->seated[sitting[i] - 1], cell_sparse(tables, i));
        }
    }
}

static void picture_draw(const TyRuleset *ruleset, const uint8_t *row, ChicagoState *picture)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const uint16_t *at = ruleset->block_at;
    memset(picture, 0, sizeof *picture);
    picture->head.phase = row[at[BLOCK_PHASE]];
    memcpy(&picture->backward, row + at[BLOCK_BACKWARD], CHICAGO_PUBLIC_SIZE);
    picture->active = row[at[BLOCK_TURN]];
    for (uint32_t i = 0; i < TY_PLAYERS_MAX && i < tables->player_count; i++) {
        picture->supply[i] = row[at[BLOCK_SUPPLY] + i];
        picture->wait[i] = row[at[BLOCK_WAIT] + i];
        picture->start[i] = row[at[BLOCK_START] + i];
        picture->aisle[i] = cell_seen(tables, row[at[BLOCK_AISLE] + i]);
        picture->tokens[i] = row[at[BLOCK_TOKENS] + i];
        picture->skip[i] = row[at[BLOCK_SKIP] + i];
    }
    memcpy(picture->numbers[0], row + at[BLOCK_NUMBERS], CHICAGO_NUMBERS);
    memcpy(picture->actions[0], row + at[BLOCK_ACTIONS], CARD_COUNT);
    picture_seats(tables, row + at[BLOCK_SITTING], picture);
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

static uint32_t action_of(const Mind *mind, Form form, uint32_t item)
{
    return mind->ruleset->action_first[form] + item;
}

static uint32_t cell_action(const Mind *mind, Form form, uint8_t cell)
{
    return action_of(mind, form, cell_dense(mind->tables, cell));
}

static bool legal(const Mind *mind, uint32_t action)
{
    return mind->mask[action] != 0;
}

/* The action of this form and item if it is legal; otherwise NOTHING. */
static uint32_t wish(const Mind *mind, Form form, uint32_t item)
{
    uint32_t action = action_of(mind, form, item);
    return legal(mind, action) ? action : NOTHING;
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
        return action_of(mind, FORM_LAY, plan.number);
    }
    CellSet empty = chicago_seats_free(mind->tables, &mind->picture);
    Way way = chicago_pawn_way(mind->tables, &mind->picture, 0, EVERYBODY);
    CellSet ends = chicago_way_ends(&way, mind->picture.bonus);
    ends = cells_and(&ends, &empty);
    return cell_action(mind, FORM_TO, cells_best(mind, ends, seat_worth));
}

/* Cards for the move, played before it: each Advanced Movement at most once, and passes. */
typedef struct Aids {
    uint32_t advanced; /* bit i: the Advanced Movement of i + 1 */
    uint32_t passes;   /* Excuse Me */
} Aids;

static uint32_t aids_count(Aids aids)
{
    return (uint32_t)__builtin_popcount(aids.advanced) + aids.passes;
}

static ChicagoState aids_use(const Mind *mind, Aids aids)
{
    static const uint8_t sum[1 << 3] = {0, 1, 2, 3, 3, 4, 5, 6};
    ChicagoState position = mind->picture;
    position.bonus = (uint8_t)(position.bonus + sum[aids.advanced]);
    position.passes = (uint8_t)(position.passes + aids.passes);
    return position;
}

/* What may be played of the hand. */
static Aids aids_all(const Mind *mind)
{
    Aids all = {0};
    for (uint32_t i = 0; i < 3; i++) {
        all.advanced |= (uint32_t)(wish(mind, FORM_PLAY, CARD_ADVANCED_1 + i) != NOTHING) << i;
    }
    if (wish(mind, FORM_PLAY, CARD_EXCUSE_ME) != NOTHING) {
        all.passes = mind->picture.actions[0][CARD_EXCUSE_ME];
    }
    return all;
}

/* The card that comes first. */
static uint32_t aids_play(const Mind *mind, Aids aids)
{
    return aids.advanced != 0
               ? wish(mind, FORM_PLAY, CARD_ADVANCED_1 + (uint32_t)__builtin_ctz(aids.advanced))
               : wish(mind, FORM_PLAY, CARD_EXCUSE_ME);
}

/* The most cards with which the move still leads to a seat, for a card that is played makes room
 * for a new one. False if no choice of them does. */
static bool aids_choose(const Mind *mind, Aids *chosen)
{
    Aids all = aids_all(mind);
    bool found = false;
    for (uint32_t advanced = 0; advanced < 1u << 3; advanced++) {
        for (uint32_t passes = 0; (advanced & ~all.advanced) == 0 && passes <= all.passes;
             passes++) {
            Aids aids = {advanced, passes};
            ChicagoState position = aids_use(mind, aids);
            if ((!found || aids_count(aids) > aids_count(*chosen)) &&
                plan_make(mind, &position).worth > 0) {
                *chosen = aids;
                found = true;
            }
        }
    }
    return found;
}

/* An action that leads to a seat this turn. A Rebel Passenger is used up only if nothing else
 * helps. */
static uint32_t seat_now(const Mind *mind)
{
    Aids aids;
    if (!chicago_pawn_movable(&mind->picture, 0)) {
        return NOTHING;
    }
    if (aids_choose(mind, &aids)) {
        return aids_count(aids) > 0 ? aids_play(mind, aids)
                                    : plan_action(mind, plan_make(mind, &mind->picture));
    }
    uint32_t rebel = wish(mind, FORM_PLAY, CARD_REBEL);
    ChicagoState position = aids_use(mind, (Aids){.passes = 1});
    return rebel != NOTHING && plan_make(mind, &position).worth > 0 ? rebel : NOTHING;
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
        uint32_t lay = wish(mind, FORM_LAY, number);
        if (lay != NOTHING) {
            uint32_t worth = 1 + aisle_worth(mind, mind->picture.bonus + number_value(number));
            best = worth > most ? lay : best;
            most = worth > most ? worth : most;
        }
    }
    return best;
}

/* ---- Answers -----------------------------------------------------------------------------------
 */

/* Cards that gain something, or at least a new card, and keep the turn. */
static uint32_t gain_now(const Mind *mind)
{
    static const uint8_t cards[] = {CARD_ENTER_2X,  CARD_ENTER_1X, CARD_TAKE_A_SEAT,
                                    CARD_ECCENTRIC, CARD_PLUS_1,   CARD_PANHANDLER,
                                    CARD_EXPRESS};
    for (uint32_t i = 0; i < sizeof cards; i++) {
        uint32_t play = wish(mind, FORM_PLAY, cards[i]);
        if (play != NOTHING) {
            return play;
        }
    }
    bool pair = mind->tables->player_count == 2;
    return pair ? wish(mind, FORM_PLAY, CARD_REVERSE) : NOTHING;
}

/* Two pawns thrown out are worth more than one seated. */
static uint32_t exit_twice_now(const Mind *mind)
{
    uint8_t next = chicago_next_opponent(mind->tables, &mind->picture);
    bool worth_it = next != CHICAGO_NONE && next == leader(mind) && seated_count(mind, next) >= 2;
    return worth_it ? wish(mind, FORM_PLAY, CARD_EXIT_2X) : NOTHING;
}

static uint32_t exit_now(const Mind *mind)
{
    uint32_t twice = wish(mind, FORM_PLAY, CARD_EXIT_2X);
    return twice != NOTHING ? twice : wish(mind, FORM_PLAY, CARD_EXIT_1X);
}

/* A token for another number while the pawn could move but finds no seat; otherwise for another
 * action card, instead of one that waits for a move or an attack. */
static uint32_t swap_now(const Mind *mind)
{
    static const uint8_t idle[] = {CARD_EXCUSE_ME, CARD_ADVANCED_1, CARD_ADVANCED_2,
                                   CARD_ADVANCED_3, CARD_REBEL};
    for (uint32_t i = 0; chicago_pawn_movable(&mind->picture, 0) && i < CHICAGO_NUMBERS; i++) {
        uint32_t swap = wish(mind, FORM_SWAP, i);
        if (swap != NOTHING) {
            return swap;
        }
    }
    for (uint32_t i = 0; i < sizeof idle; i++) {
        uint32_t swap = wish(mind, FORM_SWAP, CHICAGO_NUMBERS + idle[i]);
        if (swap != NOTHING) {
            return swap;
        }
    }
    return NOTHING;
}

static uint32_t board_now(const Mind *mind)
{
    uint32_t pass = wish(mind, FORM_PLAY, CARD_U_PASS);
    return pass != NOTHING ? pass : wish(mind, FORM_SPIN, 0);
}

static uint32_t answer_turn(const Mind *mind)
{
    uint32_t pawns = mind->tables->pawns;
    bool danger = seated_count(mind, leader(mind)) + LEADER_MARGIN >= pawns;
    uint32_t seat = seat_now(mind);
    uint32_t attack = exit_now(mind);
    if (seat != NOTHING && seated_count(mind, 0) + 1 == pawns) {
        return seat;
    }
    const uint32_t wishes[] = {
        gain_now(mind),
        exit_twice_now(mind),
        danger ? attack : NOTHING,
        seat,
        wish(mind, FORM_PLAY, CARD_U_PASS),
        wish(mind, FORM_PLAY, CARD_EXCUSE_ME), /* makes room for another card */
        attack,
        swap_now(mind),
        board_now(mind),
        aisle_now(mind),
    };
    for (uint32_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        if (wishes[i] != NOTHING) {
            return wishes[i];
        }
    }
    return action_of(mind, FORM_END, 0);
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
                        ? cell_action(mind, FORM_TO, cells_best(mind, seats, seat_worth))
                        : NOTHING;
    uint32_t most = total_worth(mind, &position, position.points);
    for (uint32_t number = 0; number < CHICAGO_NUMBERS; number++) {
        uint32_t lay = wish(mind, FORM_LAY, number);
        if (lay != NOTHING) {
            uint32_t worth = total_worth(mind, &position, position.points + number_value(number));
            best = worth > most ? lay : best;
            most = worth > most ? worth : most;
        }
    }
    if (best != NOTHING) {
        return best;
    }
    if (!cells_any(&ends)) {
        return NOTHING;
    }
    return cell_action(mind, FORM_TO, cells_best(mind, ends, place_prospects));
}

static uint32_t answer_place(const Mind *mind)
{
    uint32_t best = NOTHING;
    uint32_t most = 0;
    for (uint32_t start = 0; start < CHICAGO_STARTS; start++) {
        uint32_t place = wish(mind, FORM_PLACE, start);
        if (place != NOTHING) {
            uint32_t prospects = place_prospects(mind, (uint8_t)(CHICAGO_NODES + start));
            best = prospects > most ? place : best;
            most = prospects > most ? prospects : most;
        }
    }
    return best;
}

static uint32_t answer_seat(const Mind *mind)
{
    CellSet remote = seats_remote(mind);
    CellSet seats = cells_any(&remote) ? remote : chicago_seats_free(mind->tables, &mind->picture);
    return cell_action(mind, FORM_TO, cells_best(mind, seats, seat_worth));
}

/* An opposing pawn: the leader's if it may be picked. */
static uint32_t answer_pawn(const Mind *mind)
{
    CellSet pawns = mind->picture.seated[leader(mind)];
    while (cells_any(&pawns)) {
        uint32_t action = cell_action(mind, FORM_PAWN, cells_best(mind, pawns, seat_worth));
        if (legal(mind, action)) {
            return action;
        }
        cells_remove(&pawns, cells_best(mind, pawns, seat_worth));
    }
    return NOTHING;
}

static uint32_t answer_beg(const Mind *mind)
{
    return wish(mind, FORM_BEG, 2u * (leader(mind) - 1u) + PILE_ACTIONS);
}

/* Whatever the attack, a card is drawn for the Rebel Passenger. */
static uint32_t answer_rebel(const Mind *mind)
{
    uint32_t rebel = wish(mind, FORM_REBEL, 0);
    return rebel != NOTHING ? rebel : action_of(mind, FORM_ACCEPT, 0);
}

/* NOTHING where anything will do. */
static uint32_t answer(const Mind *mind)
{
    switch ((Phase)mind->picture.head.phase) {
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
        return answer_pawn(mind);
    case PHASE_BEG:
        return answer_beg(mind);
    case PHASE_REBEL:
        return answer_rebel(mind);
    case PHASE_SLIDE:
    case PHASE_SOURCE:
    case PHASE_PENALTY:
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
    return NOTHING;
}

static void expert_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    (void)agent;
    (void)memory;
    (void)ruleset;
    (void)seat;
    (void)seed;
}

/* The first answer that spends no token: every question has one. */
static uint32_t first_legal(const Mind *mind)
{
    uint32_t action = 0;
    while (!legal(mind, action) || ty_choice(mind->ruleset, action).form == FORM_SWAP) {
        action++;
    }
    return action;
}

/* Tells what it expects of its choice, at the beginning or in the middle of its turn; of other
 * answers it has no opinion. What is expected is a victory: of a score it tells nothing. */
static void choice_tell(const Mind *mind, const TyView *view, uint32_t choice)
{
    uint8_t phase = mind->picture.head.phase;
    bool seats = phase == PHASE_TURN && seat_now(mind) != NOTHING;
    float value = phase == PHASE_TURN || phase == PHASE_PLACE
                      ? chicago_expectation(mind->tables, &mind->picture, seats)
                      : NAN;
    for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
        if (view->mask[action]) {
            ty_note(view, (TyNote){.action = action,
                                   .probability = NAN,
                                   .value = action == choice ? value : NAN,
                                   .visits = NAN});
        }
    }
}

static uint32_t expert_act(void *memory, const TyView *view)
{
    (void)memory;
    Mind mind = {
        .ruleset = view->ruleset, .tables = chicago_tables(view->ruleset), .mask = view->mask};
    picture_draw(view->ruleset, view->row, &mind.picture);
    uint32_t action = answer(&mind);
    action = action != NOTHING && legal(&mind, action) ? action : first_legal(&mind);
    if (view->notes != NULL && !mind.tables->score_reward) {
        choice_tell(&mind, view, action);
    }
    return action;
}

const TyAgent chicago_expert = {
    .name = "expert",
    .game = "chicago",
    .help = "seats a pawn whenever its cards allow it, and plays every card that gains something",
    .memory_size = sizeof(uint64_t),
    .start = expert_start,
    .act = expert_act,
};
