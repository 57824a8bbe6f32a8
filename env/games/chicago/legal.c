/* Ligne de train, Chicago: which answers a question has. */
#include "games/chicago/state.h"

enum { EVERYBODY = 0xff };

/* A question and the answers found so far. */
typedef struct Question {
    const TyRuleset *ruleset;
    const ChicagoTables *tables;
    const ChicagoState *state;
    uint64_t *answers;
} Question;

/* Forms up to FORM_SWAP stand in the first word: five single ones, sources and cards. */
_Static_assert(5 + 2 + CARD_COUNT + CHICAGO_NUMBERS + CHICAGO_NUMBERS + CARD_COUNT <= 64,
               "their answers fit a word");

/* Opens the answers of such a form whose items have their bits set. */
static inline void offer(const Question *question, Form form, uint64_t items)
{
    question->answers[0] |= items << question->ruleset->action_first[form];
}

_Static_assert(CHICAGO_ACTIONS_MAX - CHICAGO_CELLS_MAX < 64 * (CHICAGO_ANSWER_WORDS - 1),
               "a word follows the one in which the last cells begin");

static inline void offer_cells(const Question *question, Form form, CellSet cells)
{
    uint32_t first = question->ruleset->action_first[form];
    bits_put(question->answers, first, cells.car[0]);
    bits_put(question->answers, first + question->tables->cells, cells.car[1]);
}

/* The kinds of cards of which there is one. Eight counts at a time, which are below 128: a byte
 * that is not zero gets its highest bit, and the product gathers these bits. */
static inline uint32_t cards_held(const uint8_t *counts, uint32_t count)
{
    uint32_t held = 0;
    uint32_t at = 0;
    for (; at + 8 <= count; at += 8) {
        uint64_t any = (load_le64(counts + at) + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
        held |= (uint32_t)(any * 0x0102040810204080u >> 56) << at;
    }
    for (; at < count; at++) {
        held |= (uint32_t)(counts[at] != 0) << at;
    }
    return held;
}

/* A seat may spend tokens before it answers, whatever it is asked (ruling C17). */
static void swap_answers(const Question *question)
{
    const ChicagoState *state = question->state;
    uint8_t seat = chicago_asked_seat(state);
    uint64_t numbers = cards_held(state->numbers[seat], CHICAGO_NUMBERS);
    uint64_t actions = cards_held(state->actions[seat], CARD_COUNT);
    offer(question, FORM_SWAP,
          bits_if(state->tokens[seat] > 0, numbers | actions << CHICAGO_NUMBERS));
}

/* ---- Number cards ------------------------------------------------------------------------------
 */

/* The totals, as bits, that cards of `cards` add to `points`. */
static uint32_t number_totals(uint32_t cards, uint32_t points)
{
    uint32_t values = (cards | cards >> CHICAGO_VALUES) & ((1u << CHICAGO_VALUES) - 1);
    return values << (points + 1);
}

/* The smallest number in hand, as a bit; a move can always stop short of its end, so this one
 * decides whether there is any. */
static uint32_t number_smallest(const ChicagoState *state, uint8_t seat)
{
    uint32_t totals = number_totals(cards_held(state->numbers[seat], CHICAGO_NUMBERS), 0);
    return totals & ~(totals - 1);
}

bool chicago_numbers_stuck(const ChicagoTables *tables, const ChicagoState *state, uint8_t seat,
                           uint32_t opponents)
{
    Way way = chicago_pawn_way(tables, state, seat, opponents);
    return chicago_way_lengths(&way, number_smallest(state, seat)) == 0;
}

CellSet chicago_numbers_through(const ChicagoTables *tables, const ChicagoState *state,
                                uint8_t seat)
{
    Way way = chicago_pawn_way(tables, state, seat, 0);
    return chicago_way_through(&way, (uint32_t)__builtin_ctz(number_smallest(state, seat)));
}

/* The number cards of `cards` that lead somewhere when they are added to `points`. */
static uint32_t numbers_leading(const Way *way, uint32_t cards, uint32_t points)
{
    uint32_t lengths = chicago_way_lengths(way, number_totals(cards, points)) >> (points + 1);
    return cards & (lengths | lengths << CHICAGO_VALUES);
}

/* Where the pawn can go now: by the Advanced Movement alone, or by laying numbers. Returns whether
 * it can go anywhere. */
static bool walk_answers(const Question *question)
{
    const ChicagoState *state = question->state;
    uint8_t seat = state->active;
    uint32_t held = cards_held(state->numbers[seat], CHICAGO_NUMBERS);
    Way way = chicago_pawn_way(question->tables, state, seat, EVERYBODY);
    uint32_t lays = numbers_leading(&way, held, state->bonus);
    CellSet ends = {{0, 0}};
    if (state->bonus > 0) {
        ends = chicago_way_ends(&way, state->bonus);
        offer_cells(question, FORM_TO, ends);
    }
    offer(question, FORM_LAY, lays);
    return lays != 0 || cells_any(&ends);
}

/* ---- The turn ----------------------------------------------------------------------------------
 */

enum {
    BIT_REBEL = 1u << CARD_REBEL,
    BITS_EXIT = 1u << CARD_EXIT_1X | 1u << CARD_EXIT_2X,
    BITS_ENTER = 1u << CARD_ENTER_1X | 1u << CARD_ENTER_2X,
    BITS_ADVANCED = 1u << CARD_ADVANCED_1 | 1u << CARD_ADVANCED_2 | 1u << CARD_ADVANCED_3,
};

/* Whether another player than the active one has a card. */
static inline bool somebody_has_cards(const ChicagoTables *tables, const ChicagoState *state)
{
    uint64_t held = 0;
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        const uint8_t *numbers = state->numbers[seat];
        const uint8_t *actions = state->actions[seat];
        uint64_t any = load_le64(numbers) | load_le64(numbers + CHICAGO_NUMBERS - 8) |
                       load_le64(actions) | load_le64(actions + 8);
        held |= bits_if(seat != state->active, any);
    }
    return held != 0;
}

_Static_assert(CHICAGO_NUMBERS >= 8 && CHICAGO_NUMBERS <= 16 && CARD_COUNT == 16,
               "a hand is looked at in four words");

/* Whether the active player has a pawn before the doors, and no other one in the aisle: a second
 * pawn on the way is not allowed (rulings C6 and C8). */
static inline bool may_board(const ChicagoState *state)
{
    return (state->wait[state->active] == WAIT_START) & (state->aisle[state->active] == 0);
}

/* The cards that are about something other than the own move. */
static inline uint64_t plays_apart(const ChicagoTables *tables, const ChicagoState *state)
{
    uint8_t seat = state->active;
    uint8_t next = chicago_next_opponent(tables, state);
    bool opponent = next != CHICAGO_NONE;
    bool seated = cells_any(&state->seated[opponent ? next : seat]);
    bool outside = (state->supply[seat] > 0) | (state->wait[seat] != WAIT_NONE);
    CellSet targets = chicago_attack_targets(tables, state);
    bool attack = cells_any(&targets);
    return 1u << CARD_REVERSE | bits_if(opponent & seated, BITS_EXIT) | /* ruling C9 */
           bits_if(opponent, 1u << CARD_EXPRESS) | bits_if(attack, 1u << CARD_ECCENTRIC) |
           bits_if(somebody_has_cards(tables, state), 1u << CARD_PANHANDLER) |
           bits_if(state->tokens[seat] < CHICAGO_TOKENS_MAX, 1u << CARD_PLUS_1) |
           bits_if(outside, BITS_ENTER) | bits_if(outside & attack, 1u << CARD_TAKE_A_SEAT) |
           bits_if((state->boarded == 0) & may_board(state), 1u << CARD_U_PASS);
}

/* The cards that help the own move. */
static inline uint64_t plays_moving(const ChicagoState *state)
{
    uint32_t more = CHICAGO_BONUS_MAX - state->bonus; /* spaces that may still be added */
    uint32_t advanced = BITS_ADVANCED & ((1u << (CARD_ADVANCED_1 + more)) - 1);
    uint64_t passing =
        bits_if(state->passes < CHICAGO_PASSES_MAX, 1u << CARD_EXCUSE_ME | BIT_REBEL);
    return bits_if(chicago_pawn_movable(state, state->active), advanced | passing);
}

/* The cards that the active player may play. Once a U-Pass obliges it to board, none that ends the
 * turn (ruling C19); a Rebel Passenger does not by itself. */
static inline uint64_t turn_plays(const Question *question, bool obliged)
{
    const ChicagoTables *tables = question->tables;
    const ChicagoState *state = question->state;
    uint32_t held = cards_held(state->actions[state->active], CARD_COUNT);
    uint64_t plays = plays_moving(state) | bits_if(!state->rebelled, plays_apart(tables, state));
    return held & plays & (BIT_REBEL | ~bits_if(obliged, tables->enders));
}

static void turn_answers(const Question *question)
{
    const ChicagoState *state = question->state;
    uint8_t seat = state->active;
    bool moves = chicago_pawn_movable(state, seat) && walk_answers(question);
    bool obliged = moves & (state->boarded != 0) & (state->wait[seat] == WAIT_OPEN);
    offer(question, FORM_END, !obliged);
    offer(question, FORM_SPIN, may_board(state) & !state->fresh & !state->rebelled);
    offer(question, FORM_PLAY, turn_plays(question, obliged));
}

/* ---- The other questions -----------------------------------------------------------------------
 */

/* Where the laid numbers lead, and a second number: of the same colour, or with an Advanced
 * Movement of any (ruling C16). */
static void move_answers(const Question *question)
{
    const ChicagoState *state = question->state;
    uint8_t seat = state->active;
    uint32_t blue = (1u << CHICAGO_VALUES) - 1;
    uint32_t colour = state->colour == 1 ? blue : blue << CHICAGO_VALUES;
    uint32_t held = cards_held(state->numbers[seat], CHICAGO_NUMBERS);
    Way way = chicago_pawn_way(question->tables, state, seat, EVERYBODY);
    offer_cells(question, FORM_TO, chicago_way_ends(&way, state->points));
    if (state->laid == 1) {
        uint32_t second = state->bonus > 0 ? held : held & colour;
        offer(question, FORM_LAY, numbers_leading(&way, second, state->points));
    }
}

static void beg_answers(const Question *question)
{
    const ChicagoState *state = question->state;
    uint64_t piles = 0;
    for (uint32_t i = 1; i < question->tables->player_count; i++) {
        uint8_t seat = seat_after(question->tables, state->active, i);
        uint64_t numbers = cards_held(state->numbers[seat], CHICAGO_NUMBERS) != 0;
        uint64_t actions = cards_held(state->actions[seat], CARD_COUNT) != 0;
        piles |= (numbers | actions << 1) << (2 * (i - 1));
    }
    bits_put(question->answers, question->ruleset->action_first[FORM_BEG], piles);
}

static void source_answers(const Question *question)
{
    const ChicagoState *state = question->state;
    uint64_t supply = state->supply[state->active] > 0;
    uint64_t start = state->wait[state->active] != WAIT_NONE;
    offer(question, FORM_FROM, supply | start << 1);
}

static void rebel_answers(const Question *question)
{
    uint8_t seat = (uint8_t)(question->state->target - 1);
    offer(question, FORM_ACCEPT, true);
    offer(question, FORM_REBEL, question->state->actions[seat][CARD_REBEL] > 0);
}

/* The pawns that an Exit, an Eccentric Passenger or a Take a Seat may be about. */
static CellSet pawns_aimed_at(const Question *question)
{
    const ChicagoState *state = question->state;
    bool leaves = state->card == CARD_EXIT_1X + 1 || state->card == CARD_EXIT_2X + 1;
    return leaves ? state->seated[state->target - 1]
                  : chicago_attack_targets(question->tables, state);
}

void chicago_answers(const TyRuleset *ruleset, const void *state_, uint64_t *answers)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    const Question question = {ruleset, tables, state, answers};
    switch ((Phase)state->head.phase) {
    case PHASE_PLACE:
        bits_put(answers, ruleset->action_first[FORM_PLACE], state_train(tables, state)->starts);
        break;
    case PHASE_TURN:
        turn_answers(&question);
        break;
    case PHASE_MOVE:
        move_answers(&question);
        break;
    case PHASE_SLIDE:
        offer_cells(&question, FORM_TO,
                    chicago_slide_targets(tables, state, (uint8_t)(state->picked - 1)));
        break;
    case PHASE_SOURCE:
        source_answers(&question);
        break;
    case PHASE_SEAT:
    case PHASE_RESEAT:
        offer_cells(&question, FORM_TO, chicago_seats_free(tables, state));
        break;
    case PHASE_PAWN:
        offer_cells(&question, FORM_PAWN, pawns_aimed_at(&question));
        break;
    case PHASE_BEG:
        beg_answers(&question);
        break;
    case PHASE_REBEL:
        rebel_answers(&question);
        break;
    case PHASE_PENALTY:
        offer_cells(&question, FORM_PAWN, state->seated[chicago_asked_seat(state)]);
        break;
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
    swap_answers(&question);
}
