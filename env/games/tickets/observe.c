/* The ticket games: the observation row. */
#include "core/wide.h"
#include "games/tickets/state.h"

#include <string.h>

/* What is written: the row of `seat` at a table of `players`, who are known to the compiler where
 * they are two. */
typedef struct View {
    const TyRuleset *ruleset;
    const TicketsTables *tables;
    const TicketsState *state;
    const uint16_t *at;
    uint32_t seat;
    uint32_t players;
    bool full;
} View;

/* The seat that is `offset` behind the observer. */
INLINE uint32_t seat_behind(const View *view, uint32_t offset)
{
    uint32_t other = view->seat + offset;
    return other < view->players ? other : other - view->players;
}

/* The parts of a row are written in their order and in whole words: what a part writes behind its
 * end is overwritten by the next ones. The last part, that of the seats, writes no byte too much,
 * and together with the tickets is longer than any such excess. */
static inline void cards_copy(uint8_t *out, const uint8_t cards[TICKETS_SLOTS])
{
    memcpy(out, cards, TICKETS_SLOTS);
}

/* What is in the deck, or in other hands and not known to all. */
INLINE void observe_unseen(const View *view, uint8_t *out)
{
    const TicketsState *state = view->state;
    CardWords unseen = cards_words(state->deck);
    for (uint32_t i = 1; i < view->players && !view->full; i++) {
        uint32_t owner = seat_behind(view, i);
        CardWords hand = cards_words(state->hand[owner]);
        CardWords known = cards_words(state->known[owner]);
        unseen.low += hand.low - known.low;
        unseen.high += hand.high - known.high;
    }
    memcpy(out, &unseen, sizeof unseen);
}

INLINE void observe_cards(const View *view, uint8_t *row)
{
    const TicketsState *state = view->state;
    const uint16_t *at = view->at;
    cards_copy(row + at[BLOCK_ROW], state->row);
    cards_copy(row + at[BLOCK_DISCARD], state->discard);
    cards_copy(row + at[BLOCK_LAID], state->laid);
    cards_copy(row + at[BLOCK_REVEALED], state->revealed);
    observe_unseen(view, row + at[BLOCK_UNSEEN]);
    cards_copy(row + at[BLOCK_HAND], state->hand[view->seat]);
    for (uint32_t i = 1; i < view->players; i++) {
        uint32_t owner = seat_behind(view, i);
        cards_copy(row + at[BLOCK_HAND] + view->tables->type_count * i,
                   view->full ? state->hand[owner] : state->known[owner]);
    }
}

/* What the others kept of their first tickets is shown when all have chosen (ruling E8). */
INLINE void observe_seats(const View *view, uint8_t *row)
{
    const TicketsTables *tables = view->tables;
    const TicketsState *state = view->state;
    const uint16_t *at = view->at;
    bool choosing = state->head.phase == PHASE_KEEP_FIRST && !view->full;
    for (uint32_t i = 0; i < view->players; i++) {
        uint32_t owner = seat_behind(view, i);
        uint32_t count = bits_count(state->tickets[owner]);
        row[at[BLOCK_HAND_SIZE] + i] = (uint8_t)cards_total(state->hand[owner]);
        row[at[BLOCK_WAGONS] + i] = state->wagons[owner];
        row[at[BLOCK_TICKET_COUNT] + i] = choosing && i > 0 ? 0 : (uint8_t)count;
        store_le16(row + at[BLOCK_POINTS] + 2 * i, state->points[owner]);
        if (tables->rules.link_bonus) {
            uint8_t place = state->bonus[owner];
            row[at[BLOCK_BONUS] + i] = place == 0 ? 0 : tables->bonus_points[place - 1];
        }
    }
    if (tables->rules.link_bonus) {
        row[at[BLOCK_STACK]] = state->stack;
    }
}

/* Who has each route, counted from the observer. */
INLINE void observe_owners(const View *view, uint8_t *out)
{
    ByteMap map = {.map = 0, .most = view->players};
    for (uint32_t i = 0; i < view->players; i++) {
        map.map |= (uint64_t)(i + 1) << (8 * (seat_behind(view, i) + 1) % 64);
    }
    map_write(view->state->owner, view->tables->route_count, map, out);
}

/* Tickets that can be drawn, as the seat may know it: while the first ones are being chosen, those
 * that nobody was dealt. */
static uint8_t observe_deck(const TicketsTables *tables, const TicketsState *state)
{
    if (state->head.phase == PHASE_KEEP_FIRST) {
        return (uint8_t)(tables->ticket_count - tables->rules.first_deal * tables->player_count);
    }
    return (uint8_t)tickets_left(state);
}

/* Of the batch on top the seat that put it there knows what it was, but not what others have drawn
 * of it. */
static inline uint64_t tickets_uncertain(const TicketsState *state, uint64_t own)
{
    bool shown = state->front_shown != 0 && (tickets_front(state) & own) != 0;
    return shown ? state->front_shown : 0;
}

/* What the seat knows of each ticket, from the sets of those whose value has the bit 1, 2 or 4. */
static inline void values_write(const TicketsState *state, uint32_t seat, uint8_t *out)
{
    uint64_t offered = state->active == seat ? state->offered : 0;
    uint64_t chosen = state->active == seat ? state->chosen : 0;
    uint64_t own = state->returned[seat];
    uint64_t open = state->tickets[seat] & ~state->complete[seat];
    uint64_t uncertain = tickets_uncertain(state, own);
    uint64_t ones = ((offered & ~chosen) | open | own) & ~uncertain;
    uint64_t twos = chosen | open | uncertain;
    uint64_t fours = state->complete[seat] | own | uncertain;
    planes_write(ones, twos, fours, out);
}

/* How deep the tickets lie that the seat put under the deck; not told while the others may still
 * put first tickets there. */
static inline void depth_write(const TicketsState *state, uint32_t seat, uint8_t *out)
{
    uint64_t told = state->head.phase != PHASE_KEEP_FIRST ? state->returned[seat] : 0;
    excess_write(state->batch, state->ticket_drawn, told, out);
}

/* On a small map the row ends too soon behind the tickets to write 64 of them. */
INLINE void observe_tickets(const View *view, uint8_t *row)
{
    const TicketsState *state = view->state;
    uint8_t spare[TICKETS_MAX];
    bool under = view->tables->rules.tickets_under;
    uint32_t last = view->at[under ? BLOCK_DEPTH : BLOCK_TICKET];
    bool roomy = view->ruleset->game_row_size - last >= TICKETS_MAX;
    values_write(state, view->seat, roomy ? row + view->at[BLOCK_TICKET] : spare);
    if (!roomy) {
        memcpy(row + view->at[BLOCK_TICKET], spare, view->tables->ticket_count);
    }
    if (!under) {
        return;
    }
    depth_write(state, view->seat, roomy ? row + last : spare);
    if (!roomy) {
        memcpy(row + last, spare, view->tables->ticket_count);
    }
}

static void ticket_mark(uint64_t tickets, uint8_t value, uint8_t *out)
{
    for (; tickets != 0; tickets &= tickets - 1) {
        out[__builtin_ctzll(tickets)] = value;
    }
}

static void observe_places(const View *view, uint8_t *out)
{
    const TicketsState *state = view->state;
    memset(out, 0, view->tables->ticket_count);
    ticket_mark(state->offered, 1, out);
    for (uint32_t i = 0; i < view->players; i++) {
        uint32_t owner = seat_behind(view, i);
        ticket_mark(state->tickets[owner], (uint8_t)(2 + i), out);
        ticket_mark(state->returned[owner], (uint8_t)(2 + view->players + i), out);
    }
}

INLINE void observe_singles(const View *view, uint8_t *row)
{
    const TicketsTables *tables = view->tables;
    const TicketsState *state = view->state;
    uint32_t active = state->active;
    row[BLOCK_PHASE] = state->head.phase;
    row[BLOCK_TURN] =
        (uint8_t)(active >= view->seat ? active - view->seat : active + view->players - view->seat);
    row[BLOCK_ROUTE] = state->route;
    row[BLOCK_DUE] = state->due;
    row[BLOCK_LAST_TURNS] = state->last_turns;
    row[BLOCK_PASSES] = state->passes;
    row[BLOCK_TICKET_DECK] = observe_deck(tables, state);
    row[BLOCK_BONUS_LEFT] = (uint8_t)(tables->bonus_count - state->bonus_taken);
    store_le16(row + view->at[BLOCK_TURNS], state->turns);
}

INLINE void view_write(View view, uint8_t *restrict row)
{
    observe_singles(&view, row);
    observe_cards(&view, row);
    observe_tickets(&view, row);
    observe_owners(&view, row + view.at[BLOCK_OWNER]);
    observe_seats(&view, row);
    if (view.tables->show_board) {
        memcpy(row + view.at[BLOCK_ROUTE_ENDS], view.tables->map_row, view.tables->map_row_size);
    }
}

void tickets_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                     uint8_t *restrict row)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    View view = {.ruleset = ruleset,
                 .tables = tables,
                 .state = state,
                 .at = ruleset->block_at,
                 .seat = seat,
                 .players = 2};
    if (tables->player_count == 2 && !full) {
        view_write(view, row);
        return;
    }
    view.players = tables->player_count;
    view.full = full;
    view_write(view, row);
    if (full) {
        observe_places(&view, row + view.at[BLOCK_TICKET_PLACE]);
    }
}
