/* The ticket games: the deck of wagon cards, the row that lies face up, and the tickets.
 *
 * Nobody knows the order of a deck, so none is kept: a deck is what is left in it, and each card is
 * drawn when it is turned up. Only the order of the batches that were put under the ticket deck is
 * known. */
#include "games/tickets/state.h"
#include "kit/draw.h"

#include <string.h>

/* ---- Wagon cards ------------------------------------------------------------------------------
 */

uint8_t tickets_card_draw(Play *play, TicketsEvent kind, int16_t second)
{
    TicketsState *state = play->state;
    if (!cards_any(state->deck)) {
        memcpy(state->deck, state->discard, sizeof state->deck);
        memset(state->discard, 0, sizeof state->discard);
        EVENT(play, EVENT_RESHUFFLE, (int16_t)cards_total(state->deck));
    }
    uint32_t type = draw_sixteen(play->ty, STREAM_CARDS, state->deck, play->tables->type_count);
    state->deck[type]--;
    TY_EVENT_CHANCE(play->ty, (uint16_t)kind, STREAM_CARDS, type, (int16_t)type, second);
    return (uint8_t)type;
}

void tickets_row_fill(Play *play)
{
    TicketsState *state = play->state;
    uint32_t count = cards_total(state->row);
    while (count < TICKETS_ROW_SIZE && pile_any(state)) {
        state->row[tickets_card_draw(play, EVENT_TURN_UP, 0)]++;
        count++;
    }
}

/* ---- Tickets ----------------------------------------------------------------------------------
 */

uint64_t tickets_front(const TicketsState *state)
{
    uint64_t under =
        state->returned[0] | state->returned[1] | state->returned[2] | state->returned[3];
    return under & bytes_equal_64(state->batch, state->batch_first);
}

/* Takes `ticket` out of the batch on top. The seat that put the batch there goes on remembering all
 * of it until the batch is used up, unless it drew the ticket itself. */
static void front_take(TicketsState *state, uint64_t front, uint32_t ticket)
{
    uint64_t bit = UINT64_C(1) << ticket;
    if (state->front_shown == 0) {
        state->front_shown = front;
    }
    if ((state->returned[state->active] & bit) != 0) {
        state->front_shown &= ~bit;
    }
    for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
        state->returned[seat] &= ~bit;
    }
    state->batch[ticket] = 0;
    if (front == bit) {
        state->front_shown = 0;
        state->batch_first = (uint8_t)(state->ticket_drawn + 1);
    }
}

static void ticket_offer(Play *play)
{
    TicketsState *state = play->state;
    uint64_t front = state->ticket_deck == 0 ? tickets_front(state) : 0;
    uint32_t ticket =
        draw_bit(play->ty, STREAM_TICKETS, state->ticket_deck | front, play->tables->ticket_count);
    if (front != 0) {
        front_take(state, front, ticket);
    }
    state->ticket_drawn++;
    state->ticket_deck &= ~(UINT64_C(1) << ticket);
    state->offered |= UINT64_C(1) << ticket;
    TY_EVENT_CHANCE(play->ty, EVENT_OFFER, STREAM_TICKETS, ticket, (int16_t)ticket);
}

void tickets_offer(Play *play, uint32_t count)
{
    for (uint32_t i = 0; i < count && tickets_left(play->state) > 0; i++) {
        ticket_offer(play);
    }
}

/* Puts the refused tickets under the deck as one batch, whose order nobody knows (ruling E7), or
 * out of the game (ruling N9). */
static void tickets_refuse(Play *play, uint64_t refused)
{
    TicketsState *state = play->state;
    bool under = play->tables->rules.tickets_under;
    uint8_t batch = under ? state->ticket_end : 0;
    state->returned[state->active] |= refused;
    for (uint64_t left = refused; left != 0; left &= left - 1) {
        state->batch[__builtin_ctzll(left)] = batch;
        state->ticket_end = (uint8_t)(state->ticket_end + under);
    }
}

/* One event for each ticket, kept or not, so that their number tells the others nothing. */
void tickets_settle(Play *play)
{
    TicketsState *state = play->state;
    uint8_t seat = state->active;
    for (uint64_t left = state->offered; left != 0; left &= left - 1) {
        uint32_t ticket = (uint32_t)__builtin_ctzll(left);
        EVENT(play, EVENT_CHOOSE, (int16_t)ticket, (int16_t)(state->chosen >> ticket & 1));
    }
    state->tickets[seat] |= state->chosen;
    state->complete[seat] |= tickets_linked(play->tables, state->network[seat], state->chosen);
    tickets_refuse(play, state->offered & ~state->chosen);
    state->offered = 0;
    state->chosen = 0;
}
