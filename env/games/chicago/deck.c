/* Ligne de train, Chicago: drawing, discarding, swapping and taking cards.
 *
 * The order of a pile is known to nobody and stored nowhere: a pile is the number of cards of each
 * kind that are left in it. */
#include "games/chicago/state.h"
#include "kit/draw.h"

#include <string.h>

_Static_assert(CHICAGO_NUMBERS == 10 && CARD_COUNT == 16 && CHICAGO_CARDS_MAX < 256,
               "draw_ten and draw_sixteen fit");

/* Moves a card between two counts. Counts are read as words, so they are changed as words: a word
 * whose bytes were just written one by one cannot be read before all of them are in the cache. */
static inline void action_move(uint8_t from[CARD_COUNT], uint8_t to[CARD_COUNT], uint32_t card)
{
    uint32_t half = card & 8;
    uint64_t one = UINT64_C(1) << (8 * (card & 7));
    store_le64(from + half, load_le64(from + half) - one);
    store_le64(to + half, load_le64(to + half) + one);
}

/* The same for numbers, which are a word and two more bytes. */
static inline void number_move(uint8_t from[CHICAGO_NUMBERS], uint8_t to[CHICAGO_NUMBERS],
                               uint32_t number)
{
    uint64_t one = UINT64_C(1) << (8 * (number & 7));
    uint64_t low = bits_if(number < 8, one);
    uint16_t high = (uint16_t)bits_if(number >= 8, one);
    store_le64(from, load_le64(from) - low);
    store_le16(from + 8, (uint16_t)(load_le16(from + 8) - high));
    store_le64(to, load_le64(to) + low);
    store_le16(to + 8, (uint16_t)(load_le16(to + 8) + high));
}

/* Turns the discards of an empty pile into the pile (ruling C17). False if there are none. */
static bool pile_ready(Play *play, uint8_t pile, uint8_t *deck, uint8_t *discard, uint32_t count)
{
    if (cards_count(deck, count) > 0) {
        return true;
    }
    if (cards_count(discard, count) == 0) {
        return false;
    }
    memcpy(deck, discard, count);
    memset(discard, 0, count);
    EVENT(play, EVENT_RESHUFFLE, pile);
    return true;
}

static bool number_draw(Play *play, uint8_t seat)
{
    ChicagoState *state = play->state;
    if (!pile_ready(play, PILE_NUMBERS, state->number_deck, state->number_discard,
                    CHICAGO_NUMBERS)) {
        return false;
    }
    uint32_t card = draw_ten(play->ty, STREAM_NUMBERS, state->number_deck);
    number_move(state->number_deck, state->numbers[seat], card);
    EVENT_CHANCE(play, EVENT_DRAW, STREAM_NUMBERS, card, seat, PILE_NUMBERS, (int16_t)card);
    return true;
}

static bool action_draw(Play *play, uint8_t seat)
{
    ChicagoState *state = play->state;
    if (!pile_ready(play, PILE_ACTIONS, state->action_deck, state->action_discard, CARD_COUNT)) {
        return false;
    }
    uint32_t card = draw_sixteen(play->ty, STREAM_ACTIONS, state->action_deck, CARD_COUNT);
    action_move(state->action_deck, state->actions[seat], card);
    EVENT_CHANCE(play, EVENT_DRAW, STREAM_ACTIONS, card, seat, PILE_ACTIONS,
                 (int16_t)(CHICAGO_NUMBERS + card));
    return true;
}

/* Setup 4 and ruling C1: a hand is filled up to two numbers and three action cards. */
void chicago_deal_hand(Play *play, uint8_t seat)
{
    const ChicagoState *state = play->state;
    uint32_t numbers = cards_count(state->numbers[seat], CHICAGO_NUMBERS);
    uint32_t actions = cards_count(state->actions[seat], CARD_COUNT);
    while (numbers < CHICAGO_HAND_NUMBERS && number_draw(play, seat)) {
        numbers++;
    }
    while (actions < CHICAGO_HAND_ACTIONS && action_draw(play, seat)) {
        actions++;
    }
}

/* Victims no longer know that `thief` has a card from `low` to `high` (plus one). */
static void stolen_forget(ChicagoState *state, uint8_t thief, uint32_t low, uint32_t high)
{
    for (uint32_t victim = 0; victim < TY_PLAYERS_MAX; victim++) {
        uint32_t known = state->stolen[victim][thief];
        state->stolen[victim][thief] = (uint8_t)bits_if((known < low) | (known > high), known);
    }
}

void chicago_number_discard(Play *play, uint8_t seat, uint8_t number)
{
    ChicagoState *state = play->state;
    number_move(state->numbers[seat], state->number_discard, number);
    stolen_forget(state, seat, number + 1u, number + 1u);
}

void chicago_action_discard(Play *play, uint8_t seat, uint8_t card)
{
    ChicagoState *state = play->state;
    uint32_t known = CHICAGO_NUMBERS + card + 1u;
    action_move(state->actions[seat], state->action_discard, card);
    stolen_forget(state, seat, known, known);
}

void chicago_card_swap(Play *play, uint8_t seat, uint8_t card)
{
    ChicagoState *state = play->state;
    bool number = card < CHICAGO_NUMBERS;
    state->tokens[seat]--;
    state->tokens_spent++;
    EVENT(play, EVENT_SWAP, seat, number ? PILE_NUMBERS : PILE_ACTIONS, card, state->tokens[seat]);
    if (number) {
        chicago_number_discard(play, seat, card);
        number_draw(play, seat);
    } else {
        chicago_action_discard(play, seat, (uint8_t)(card - CHICAGO_NUMBERS));
        action_draw(play, seat);
    }
}

static void number_steal(Play *play, uint8_t thief, uint8_t victim)
{
    ChicagoState *state = play->state;
    uint32_t card = draw_ten(play->ty, STREAM_STOLEN_NUMBER, state->numbers[victim]);
    number_move(state->numbers[victim], state->numbers[thief], card);
    stolen_forget(state, victim, 1, CHICAGO_NUMBERS);
    state->stolen[victim][thief] = (uint8_t)(card + 1);
    EVENT_CHANCE(play, EVENT_STEAL, STREAM_STOLEN_NUMBER, card, thief, victim, PILE_NUMBERS,
                 (int16_t)card);
    number_draw(play, victim);
}

static void action_steal(Play *play, uint8_t thief, uint8_t victim)
{
    ChicagoState *state = play->state;
    uint32_t card =
        draw_sixteen(play->ty, STREAM_STOLEN_ACTION, state->actions[victim], CARD_COUNT);
    action_move(state->actions[victim], state->actions[thief], card);
    stolen_forget(state, victim, CHICAGO_NUMBERS + 1, CHICAGO_NUMBERS + CARD_COUNT);
    state->stolen[victim][thief] = (uint8_t)(CHICAGO_NUMBERS + card + 1);
    EVENT_CHANCE(play, EVENT_STEAL, STREAM_STOLEN_ACTION, card, thief, victim, PILE_ACTIONS,
                 (int16_t)(CHICAGO_NUMBERS + card));
    action_draw(play, victim);
}

void chicago_card_steal(Play *play)
{
    ChicagoState *state = play->state;
    uint8_t victim = (uint8_t)(state->target - 1);
    if (state->pile == PILE_NUMBERS) {
        number_steal(play, state->active, victim);
    } else {
        action_steal(play, state->active, victim);
    }
}
