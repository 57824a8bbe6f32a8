/* Ligne de train, Chicago: which answers a question has, and the mask that says so. */
#include "core/bytes.h"
#include "games/chicago/state.h"

#include <string.h>

enum { EVERYBODY = 0xff };

/* Opens the answers `base` + i for the bits i of `bits`. */
static void options_add(ChicagoState *state, uint32_t base, uint64_t bits)
{
    if (base >= 64) {
        state->options[1] |= bits << (base - 64);
    } else {
        state->options[0] |= bits << base;
        state->options[1] |= base > 0 ? bits >> (64 - base) : 0;
    }
}

/* The kinds of cards of which there is one. Eight counts at a time: a byte that is not zero gets
 * its highest bit, and the product gathers these bits. */
static inline uint32_t cards_held(const uint8_t *counts, uint32_t count)
{
    uint32_t held = 0;
    uint32_t at = 0;
    for (; at + 8 <= count; at += 8) {
        uint64_t word = load_le64(counts + at);
        word = (((word & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | word) >> 7;
        word = (word & 0x0101010101010101u) * 0x0102040810204080u >> 56;
        held |= (uint32_t)word << at;
    }
    for (; at < count; at++) {
        held |= (uint32_t)(counts[at] != 0) << at;
    }
    return held;
}

static void swap_options(ChicagoState *state, uint8_t seat)
{
    if (state->tokens[seat] > 0) {
        options_add(state, ACTION_SWAP_NUMBER, cards_held(state->numbers[seat], CHICAGO_NUMBERS));
        options_add(state, ACTION_SWAP_ACTION, cards_held(state->actions[seat], CARD_COUNT));
    }
}

/* ---- Number cards ------------------------------------------------------------------------------
 */

/* The totals, as bits, that cards of `cards` add to `points`. */
static uint32_t number_totals(uint32_t cards, uint32_t points)
{
    uint32_t values = (cards | cards >> CHICAGO_VALUES) & ((1u << CHICAGO_VALUES) - 1);
    return values << (points + 1);
}

/* A move can always stop short of its end, so the smallest number decides. */
bool chicago_numbers_stuck(const ChicagoTables *tables, const ChicagoState *state, uint8_t seat,
                           uint32_t opponents)
{
    uint32_t totals = number_totals(cards_held(state->numbers[seat], CHICAGO_NUMBERS), 0);
    Way way = chicago_pawn_way(tables, state, seat, opponents);
    return chicago_way_lengths(&way, totals & ~(totals - 1)) == 0;
}

/* The number cards of `cards` that lead somewhere when they are added to `points`. */
static uint32_t numbers_leading(const Way *way, uint32_t cards, uint32_t points)
{
    uint32_t lengths = chicago_way_lengths(way, number_totals(cards, points)) >> (points + 1);
    return cards & (lengths | lengths << CHICAGO_VALUES);
}

/* Where the pawn can go now: by the Advanced Movement alone, or by laying numbers. */
static void walk_options(const ChicagoTables *tables, ChicagoState *state)
{
    uint8_t seat = state->active;
    uint32_t held = cards_held(state->numbers[seat], CHICAGO_NUMBERS);
    Way way = chicago_pawn_way(tables, state, seat, EVERYBODY);
    options_add(state, ACTION_LAY, numbers_leading(&way, held, state->bonus));
    if (state->bonus > 0) {
        state->choices = chicago_way_ends(&way, state->bonus);
    }
}

/* ---- The turn ----------------------------------------------------------------------------------
 */

static bool somebody_has_cards(const ChicagoTables *tables, const ChicagoState *state)
{
    uint32_t held = 0;
    for (uint8_t seat = 0; seat < tables->player_count; seat++) {
        if (seat != state->active) {
            held |= cards_held(state->numbers[seat], CHICAGO_NUMBERS);
            held |= cards_held(state->actions[seat], CARD_COUNT);
        }
    }
    return held != 0;
}

static bool attack_possible(const ChicagoTables *tables, const ChicagoState *state)
{
    CellSet targets = chicago_attack_targets(tables, state);
    return cells_any(&targets);
}

/* Whether the active player may play an action card that is in its hand; `next` is the opponent
 * whom an Exit or an Express would meet. */
static bool card_playable(const ChicagoTables *tables, const ChicagoState *state, ActionCard card,
                          uint8_t next)
{
    uint8_t seat = state->active;
    bool movable = chicago_pawn_movable(state, seat);
    bool outside = state->supply[seat] > 0 || state->wait[seat] != WAIT_NONE;
    switch (card) {
    case CARD_EXIT_1X:
    case CARD_EXIT_2X:
        return !state->rebelled && next != CHICAGO_NONE && cells_any(&state->seated[next]);
    case CARD_EXPRESS:
        return !state->rebelled && next != CHICAGO_NONE;
    case CARD_REVERSE:
        return !state->rebelled;
    case CARD_ECCENTRIC:
        return !state->rebelled && attack_possible(tables, state);
    case CARD_PANHANDLER:
        return !state->rebelled && somebody_has_cards(tables, state);
    case CARD_PLUS_1:
        return !state->rebelled && state->tokens[seat] < CHICAGO_TOKENS_MAX;
    case CARD_ENTER_1X:
    case CARD_ENTER_2X:
        return !state->rebelled && outside;
    case CARD_U_PASS:
        return !state->rebelled && state->wait[seat] == WAIT_START && !state->boarded;
    case CARD_TAKE_A_SEAT:
        return !state->rebelled && outside && attack_possible(tables, state);
    case CARD_EXCUSE_ME:
    case CARD_REBEL:
        return movable && state->passes < CHICAGO_PASSES_MAX;
    case CARD_ADVANCED_1:
    case CARD_ADVANCED_2:
    case CARD_ADVANCED_3:
        return movable && state->bonus + card - CARD_ADVANCED_1 + 1 <= CHICAGO_BONUS_MAX;
    case CARD_COUNT:
        return false;
    }
    return false;
}

/* Spinning, and bringing a second pawn although one is in the aisle, which is legal and foolish
 * (ruling C6). */
static void board_options(ChicagoState *state)
{
    uint8_t seat = state->active;
    uint8_t wait = state->wait[seat];
    if (state->rebelled) {
        return;
    }
    if (wait == WAIT_START && !state->fresh) {
        options_add(state, ACTION_SPIN, 1);
    }
    bool second = wait == WAIT_OPEN || (wait == WAIT_NONE && state->supply[seat] > 0);
    if (state->aisle[seat] != 0 && second) {
        options_add(state, ACTION_SECOND, 1);
    }
}

static void turn_options(const ChicagoTables *tables, ChicagoState *state)
{
    uint8_t seat = state->active;
    options_add(state, ACTION_END, 1);
    swap_options(state, seat);
    board_options(state);
    uint64_t plays = 0;
    uint8_t next = chicago_next_opponent(tables, state);
    for (uint32_t left = cards_held(state->actions[seat], CARD_COUNT); left != 0;
         left &= left - 1) {
        uint32_t card = (uint32_t)__builtin_ctz(left);
        plays |= (uint64_t)card_playable(tables, state, (ActionCard)card, next) << card;
    }
    options_add(state, ACTION_PLAY, plays);
    if (chicago_pawn_movable(state, seat)) {
        walk_options(tables, state);
    }
}

/* ---- The other questions -----------------------------------------------------------------------
 */

/* Where the laid numbers lead, and a second number: of the same colour, or with an Advanced
 * Movement of any (ruling C16). */
static void move_options(const ChicagoTables *tables, ChicagoState *state)
{
    uint8_t seat = state->active;
    uint32_t blue = (1u << CHICAGO_VALUES) - 1;
    uint32_t colour = state->colour == 1 ? blue : blue << CHICAGO_VALUES;
    uint32_t held = cards_held(state->numbers[seat], CHICAGO_NUMBERS);
    Way way = chicago_pawn_way(tables, state, seat, EVERYBODY);
    state->choices = chicago_way_ends(&way, state->points);
    if (state->laid == 1) {
        uint32_t second = state->bonus > 0 ? held : held & colour;
        options_add(state, ACTION_LAY, numbers_leading(&way, second, state->points));
    }
}

static void beg_options(const ChicagoTables *tables, ChicagoState *state)
{
    for (uint32_t i = 1; i < tables->player_count; i++) {
        uint8_t seat = seat_after(tables, state->active, i);
        uint64_t numbers = cards_held(state->numbers[seat], CHICAGO_NUMBERS) != 0;
        uint64_t actions = cards_held(state->actions[seat], CARD_COUNT) != 0;
        options_add(state, ACTION_BEG + 2 * (i - 1), numbers | actions << 1);
    }
}

static void source_options(ChicagoState *state)
{
    uint8_t seat = state->active;
    options_add(state, ACTION_FROM_SUPPLY, state->supply[seat] > 0);
    options_add(state, ACTION_FROM_START, state->wait[seat] != WAIT_NONE);
}

static void rebel_options(ChicagoState *state)
{
    uint8_t seat = (uint8_t)(state->target - 1);
    options_add(state, ACTION_ACCEPT, 1);
    options_add(state, ACTION_REBEL, state->actions[seat][CARD_REBEL] > 0);
    swap_options(state, seat);
}

static bool card_is_exit(const ChicagoState *state)
{
    return state->card == CARD_EXIT_1X + 1 || state->card == CARD_EXIT_2X + 1;
}

void chicago_options_compute(const ChicagoTables *tables, ChicagoState *state)
{
    state->options[0] = 0;
    state->options[1] = 0;
    state->choices = (CellSet){{0, 0}};
    switch ((Phase)state->phase) {
    case PHASE_PLACE:
        options_add(state, ACTION_PLACE, state_train(tables, state)->starts);
        break;
    case PHASE_TURN:
        turn_options(tables, state);
        break;
    case PHASE_MOVE:
        move_options(tables, state);
        break;
    case PHASE_SLIDE:
        state->choices = chicago_slide_targets(tables, state, (uint8_t)(state->picked - 1));
        break;
    case PHASE_SOURCE:
        source_options(state);
        break;
    case PHASE_SEAT:
    case PHASE_RESEAT:
        state->choices = chicago_seats_free(tables, state);
        break;
    case PHASE_PAWN:
        state->choices = card_is_exit(state) ? state->seated[state->target - 1]
                                             : chicago_attack_targets(tables, state);
        break;
    case PHASE_BEG:
        beg_options(tables, state);
        break;
    case PHASE_REBEL:
        rebel_options(state);
        break;
    case PHASE_PENALTY:
        state->choices = state->seated[chicago_asked_seat(state)];
        break;
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
}

void chicago_ask(Play *play, Phase phase)
{
    play->state->phase = (uint8_t)phase;
    play->state->head.seat = (int8_t)chicago_asked_seat(play->state);
    chicago_options_compute(play->tables, play->state);
}

/* ---- Masks -------------------------------------------------------------------------------------
 */

/* The first action of the block of cells that the phase asks for. */
static uint32_t cells_base(const ChicagoTables *tables, uint8_t phase)
{
    bool pawn = phase == PHASE_PAWN || phase == PHASE_PENALTY;
    return ACTION_CELLS + (pawn ? (uint32_t)CHICAGO_CARS * tables->cells : 0);
}

bool chicago_action_allowed(const ChicagoTables *tables, const ChicagoState *state, uint32_t action)
{
    if (action < ACTION_CELLS) {
        return state->options[action >> 6] >> (action & 63) & 1;
    }
    uint32_t offset = action - cells_base(tables, state->phase);
    if (offset >= (uint32_t)CHICAGO_CARS * tables->cells) {
        return false;
    }
    uint32_t car = offset >= tables->cells;
    return state->choices.car[car] >> (offset - car * tables->cells) & 1;
}

bool chicago_action_forced(const ChicagoTables *tables, const ChicagoState *state, uint32_t *action)
{
    const uint64_t words[] = {state->options[0], state->options[1], state->choices.car[0],
                              state->choices.car[1]};
    uint64_t all = 0;
    bool single = true;
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        single = single && (words[i] == 0 || (all == 0 && bits_single(words[i])));
        all |= words[i];
    }
    if (!single || all == 0) {
        return false;
    }
    if (state->options[0] != 0) {
        *action = (uint32_t)__builtin_ctzll(state->options[0]);
    } else if (state->options[1] != 0) {
        *action = 64 + (uint32_t)__builtin_ctzll(state->options[1]);
    } else {
        uint32_t cell = cells_first(&state->choices);
        *action = cells_base(tables, state->phase) + (cell >> 6) * tables->cells + (cell & 63);
    }
    return true;
}

void chicago_legal(const TyRuleset *ruleset, const void *state_, uint8_t *mask)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    bits_expand_set(state->options[0], mask);
    bits_expand(state->options[1], ACTION_CELLS - 64, mask + 64);
    if (cells_any(&state->choices)) {
        uint8_t *out = mask + cells_base(tables, state->phase);
        bits_expand(state->choices.car[0], tables->cells, out);
        bits_expand(state->choices.car[1], tables->cells, out + tables->cells);
    }
}
