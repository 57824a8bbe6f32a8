/* The ticket games: the observation row and its schema. */
#include "core/bytes.h"
#include "games/tickets/state.h"

#include <string.h>

/* The bytes at the start of every row. */
enum {
    AT_PHASE,
    AT_TURN,
    AT_ROUTE,
    AT_DUE,
    AT_LAST_TURNS,
    AT_PASSES,
    AT_TICKET_DECK,
    AT_TURNS = 8, /* 16 bits */
    AT_ARRAYS = 10,
};

/* What a seat knows of a ticket. */
enum {
    TICKET_UNKNOWN,
    TICKET_OFFERED,
    TICKET_CHOSEN,
    TICKET_OPEN,
    TICKET_COMPLETE,
    TICKET_REFUSED,
    TICKET_REFUSED_MAYBE, /* in a batch of which somebody drew a part */
    TICKET_VALUES,
};

/* ---- Schema ------------------------------------------------------------------------------------
 */

/* Adds a block behind the last one of the row or of the privileged row; returns its offset. */
static uint16_t block_add(TyRuleset *ruleset, bool full, TyBlock block)
{
    TyShape *shape = &ruleset->shape;
    uint32_t *size = full ? &shape->full_size : &shape->row_size;
    uint32_t *count = full ? &shape->full_block_count : &shape->row_block_count;
    block.width = block.width == 0 ? 1 : block.width;
    block.offset = (uint16_t)*size;
    (full ? ruleset->full_blocks : ruleset->row_blocks)[(*count)++] = block;
    *size += (uint32_t)block.rows * block.columns * block.width;
    return block.offset;
}

/* Blocks with one value. */
static void blocks_single(TyRuleset *ruleset)
{
    const TicketsTables *tables = ruleset->tables;
    const TyBlock blocks[] = {
        {.name = "phase",
         .kind = TY_BLOCK_CATEGORY,
         .maximum = PHASE_COUNT - 1,
         .help = "the question being asked"},
        {.name = "turn",
         .kind = TY_BLOCK_CATEGORY,
         .maximum = (uint16_t)(tables->player_count - 1),
         .help = "whose turn it is, counted from the own seat"},
        {.name = "route",
         .kind = TY_BLOCK_CATEGORY,
         .maximum = tables->route_count,
         .help = "route being paid for"},
        {.name = "due",
         .kind = TY_BLOCK_COUNT,
         .maximum = 3,
         .help = "additional cards that the tunnel still wants"},
        {.name = "last_turns",
         .kind = TY_BLOCK_COUNT,
         .maximum = tables->player_count,
         .help = "turns left to play, once the end is near"},
        {.name = "passes",
         .kind = TY_BLOCK_COUNT,
         .maximum = tables->player_count,
         .help = "passes in a row"},
        {.name = "ticket_deck",
         .kind = TY_BLOCK_COUNT,
         .maximum = tables->ticket_count,
         .help = "tickets that can be drawn"},
        {.name = "bonus_left",
         .kind = TY_BLOCK_COUNT,
         .maximum = TY_PLAYERS_MAX,
         .help = "bonus cards for linking two cities that are left"},
        {.name = "turns",
         .kind = TY_BLOCK_COUNT,
         .maximum = UINT16_MAX,
         .width = 2,
         .help = "turns begun so far"},
    };
    for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        TyBlock block = blocks[i];
        block.rows = 1;
        block.columns = 1;
        block_add(ruleset, false, block);
    }
}

/* One count per type of card. */
static uint16_t block_cards(TyRuleset *ruleset, const char *name, uint16_t rows, const char *help)
{
    const TicketsTables *tables = ruleset->tables;
    return block_add(ruleset, false,
                     (TyBlock){.name = name,
                               .kind = TY_BLOCK_COUNT,
                               .rows = rows,
                               .columns = tables->type_count,
                               .maximum = TICKETS_CARDS_MAX,
                               .help = help});
}

/* One value per seat, the own one first. */
static uint16_t block_seats(TyRuleset *ruleset, const char *name, uint16_t maximum, uint8_t width,
                            const char *help)
{
    const TicketsTables *tables = ruleset->tables;
    return block_add(ruleset, false,
                     (TyBlock){.name = name,
                               .kind = TY_BLOCK_COUNT,
                               .rows = 1,
                               .columns = tables->player_count,
                               .maximum = maximum,
                               .width = width,
                               .help = help});
}

static void blocks_cards(TyRuleset *ruleset, RowLayout *at)
{
    const TicketsTables *tables = ruleset->tables;
    at->row = block_cards(ruleset, "row", 1, "cards that lie face up");
    at->discard = block_cards(ruleset, "discard", 1, "cards in the discard pile");
    at->laid = block_cards(ruleset, "laid", 1, "cards laid for the route being paid for");
    at->revealed = block_cards(ruleset, "revealed", 1, "cards revealed for a tunnel");
    at->unseen = block_cards(ruleset, "unseen", 1,
                             "cards in the deck or in another hand, one cannot know which; in the "
                             "privileged row those in the deck");
    at->hand = block_cards(ruleset, "hand", tables->player_count,
                           "own hand first; of the others the cards that everybody saw them take, "
                           "in the privileged row all");
}

static void blocks_seats(TyRuleset *ruleset, RowLayout *at)
{
    const TicketsTables *tables = ruleset->tables;
    at->hand_size = block_seats(ruleset, "hand_size", UINT8_MAX, 1, "cards in hand");
    at->wagons = block_seats(ruleset, "wagons", TICKETS_WAGONS_MAX, 1, "wagons left");
    at->ticket_count = block_seats(ruleset, "ticket_count", TICKETS_MAX, 1,
                                   "tickets kept; 0 while the others choose their first ones");
    at->points = block_seats(ruleset, "points", UINT16_MAX, 2, "points for routes");
    if (tables->rules.link_bonus) {
        at->stack = block_add(ruleset, false,
                              (TyBlock){.name = "stack",
                                        .kind = TY_BLOCK_COUNT,
                                        .rows = 1,
                                        .columns = 1,
                                        .maximum = TICKETS_CARDS_MAX,
                                        .help = "locomotives in the stack"});
        at->bonus = block_seats(ruleset, "bonus", 100, 1,
                                "points of the bonus card for linking two cities");
    }
}

static void blocks_map(TyRuleset *ruleset, RowLayout *at)
{
    const TicketsTables *tables = ruleset->tables;
    at->ticket = block_add(ruleset, false,
                           (TyBlock){.name = "ticket",
                                     .kind = TY_BLOCK_CATEGORY,
                                     .rows = 1,
                                     .columns = tables->ticket_count,
                                     .maximum = TICKET_VALUES - 1,
                                     .help = "what the own seat knows of each ticket"});
    if (tables->rules.tickets_under) {
        at->depth = block_add(ruleset, false,
                              (TyBlock){.name = "depth",
                                        .kind = TY_BLOCK_COUNT,
                                        .rows = 1,
                                        .columns = tables->ticket_count,
                                        .maximum = UINT8_MAX,
                                        .help = "tickets above the batch in which a ticket lies "
                                                "that the own seat refused"});
    }
    at->owner = block_add(ruleset, false,
                          (TyBlock){.name = "owner",
                                    .kind = TY_BLOCK_CATEGORY,
                                    .rows = 1,
                                    .columns = tables->route_count,
                                    .maximum = tables->player_count,
                                    .help = "who has each route, counted from the own seat"});
}

void tickets_shape(TyRuleset *ruleset)
{
    TicketsTables *tables = ruleset->tables;
    TyShape *shape = &ruleset->shape;
    shape->players = tables->player_count;
    shape->action_count = action_claim(tables) + tables->route_count;
    shape->state_size = sizeof(TicketsState);
    blocks_single(ruleset);
    blocks_cards(ruleset, &tables->at);
    blocks_map(ruleset, &tables->at);
    blocks_seats(ruleset, &tables->at);
    tables->at.size = (uint16_t)shape->row_size;
    shape->full_size = shape->row_size;
    shape->full_block_count = shape->row_block_count;
    memcpy(ruleset->full_blocks, ruleset->row_blocks, sizeof ruleset->full_blocks);
    tables->at.place = block_add(
        ruleset, true,
        (TyBlock){.name = "ticket_place",
                  .kind = TY_BLOCK_CATEGORY,
                  .rows = 1,
                  .columns = tables->ticket_count,
                  .maximum = (uint16_t)(1 + 2 * tables->player_count),
                  .help =
                      "where each ticket is: in the deck, offered, with a seat, refused by one"});
    tables->at.full_size = (uint16_t)shape->full_size;
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* The seat that is `offset` behind `seat`. */
static inline uint32_t seat_behind(const TicketsTables *tables, uint32_t seat, uint32_t offset)
{
    uint32_t other = seat + offset;
    return other < tables->player_count ? other : other - tables->player_count;
}

/* The parts of a row are written in their order and in whole words: what a part writes behind its
 * end is overwritten by the next ones. The last part, that of the seats, writes no byte too much,
 * and together with the tickets is longer than any such excess. */
static inline void cards_copy(uint8_t *out, const uint8_t cards[TICKETS_SLOTS])
{
    memcpy(out, cards, TICKETS_SLOTS);
}

/* What is in the deck, or in other hands and not known to all. */
static void observe_unseen(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                           uint8_t *out)
{
    CardWords unseen = cards_words(state->deck);
    for (uint32_t i = 1; i < tables->player_count; i++) {
        uint32_t owner = seat_behind(tables, seat, i);
        CardWords hand = cards_words(state->hand[owner]);
        CardWords known = cards_words(state->known[owner]);
        unseen.low += hand.low - known.low;
        unseen.high += hand.high - known.high;
    }
    memcpy(out, &unseen, sizeof unseen);
}

static void observe_cards(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                          bool full, uint8_t *row)
{
    const RowLayout *at = &tables->at;
    cards_copy(row + at->row, state->row);
    cards_copy(row + at->discard, state->discard);
    cards_copy(row + at->laid, state->laid);
    cards_copy(row + at->revealed, state->revealed);
    if (full) {
        cards_copy(row + at->unseen, state->deck);
    } else {
        observe_unseen(tables, state, seat, row + at->unseen);
    }
    cards_copy(row + at->hand, state->hand[seat]);
    for (uint32_t i = 1; i < tables->player_count; i++) {
        uint32_t owner = seat_behind(tables, seat, i);
        cards_copy(row + at->hand + tables->type_count * i,
                   full ? state->hand[owner] : state->known[owner]);
    }
}

/* What the others kept of their first tickets is shown when all have chosen (ruling E8). */
static void observe_seats(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                          bool full, uint8_t *row)
{
    const RowLayout *at = &tables->at;
    bool choosing = state->phase == PHASE_KEEP_FIRST && !full;
    for (uint32_t i = 0; i < tables->player_count; i++) {
        uint32_t owner = seat_behind(tables, seat, i);
        uint32_t count = (uint32_t)__builtin_popcountll(state->tickets[owner]);
        row[at->hand_size + i] = (uint8_t)cards_total(state->hand[owner]);
        row[at->wagons + i] = state->wagons[owner];
        row[at->ticket_count + i] = choosing && i > 0 ? 0 : (uint8_t)count;
        store_le16(row + at->points + 2 * i, state->points[owner]);
        if (tables->rules.link_bonus) {
            uint8_t place = state->bonus[owner];
            row[at->bonus + i] = place == 0 ? 0 : tables->bonus_points[place - 1];
        }
    }
    if (tables->rules.link_bonus) {
        row[at->stack] = state->stack;
    }
}

/* Who has `count` routes, counted from `seat`; written so that compilers do all at once. */
static inline void owners_turn(const uint8_t *owners, uint32_t count, uint8_t seat, uint8_t players,
                               uint8_t *out)
{
    uint8_t relative[16];
    for (uint32_t i = 0; i < count; i++) {
        uint8_t behind = (uint8_t)(owners[i] + (owners[i] > seat ? 0 : players) - seat);
        relative[i] = owners[i] == 0 ? 0 : behind;
    }
    /* cppcheck-suppress uninitvar ; as many as were written */
    memcpy(out, relative, count);
}

static void observe_owners(const TicketsTables *tables, const TicketsState *state, uint8_t seat,
                           uint8_t *out)
{
    uint32_t first = 0;
    for (; first + 16 <= tables->route_count; first += 16) {
        owners_turn(state->owner + first, 16, seat, tables->player_count, out + first);
    }
    for (; first < tables->route_count; first += 8) {
        owners_turn(state->owner + first, 8, seat, tables->player_count, out + first);
    }
}

static void ticket_mark(uint64_t tickets, uint8_t value, uint8_t *out)
{
    for (; tickets != 0; tickets &= tickets - 1) {
        out[__builtin_ctzll(tickets)] = value;
    }
}

/* Tickets that can be drawn, as the seat may know it: while the first ones are being chosen, those
 * that nobody was dealt. */
static uint8_t observe_deck(const TicketsTables *tables, const TicketsState *state)
{
    if (state->phase == PHASE_KEEP_FIRST) {
        return (uint8_t)(tables->ticket_count - tables->rules.first_deal * tables->player_count);
    }
    return (uint8_t)tickets_left(state);
}

/* How deep the tickets lie that the seat put under the deck; not told while the others may still
 * put first tickets there. Of the batch on top the seat knows what it was, but not what others have
 * drawn of it. */
static void observe_under(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                          uint8_t *row)
{
    uint8_t *depth = row + tables->at.depth;
    uint64_t own = state->returned[seat];
    memset(depth, 0, tables->ticket_count);
    for (uint64_t left = own; left != 0 && state->phase != PHASE_KEEP_FIRST; left &= left - 1) {
        uint32_t ticket = (uint32_t)__builtin_ctzll(left);
        int32_t above = state->batch[ticket] - state->ticket_drawn;
        depth[ticket] = above > 0 ? (uint8_t)above : 0;
    }
    if (state->front_shown != 0 && (tickets_front(state) & own) != 0) {
        ticket_mark(state->front_shown, TICKET_REFUSED_MAYBE, row + tables->at.ticket);
    }
}

/* What the seat knows of each ticket, eight at a time: the sets are disjoint, or one is part of
 * another and adds to it. */
static void observe_tickets(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                            uint8_t *row)
{
    uint8_t *out = row + tables->at.ticket;
    uint64_t offered = state->active == seat ? state->offered : 0;
    uint64_t chosen = state->active == seat ? state->chosen : 0;
    for (uint32_t i = 0; i < tables->ticket_count; i += 8) {
        uint64_t word = bits_spread(state->tickets[seat] >> i) * TICKET_OPEN;
        word += bits_spread(state->complete[seat] >> i) * (TICKET_COMPLETE - TICKET_OPEN);
        word += bits_spread(state->returned[seat] >> i) * TICKET_REFUSED;
        word += bits_spread(offered >> i) * TICKET_OFFERED;
        word += bits_spread(chosen >> i) * (TICKET_CHOSEN - TICKET_OFFERED);
        store_le64(out + i, word);
    }
    if (tables->rules.tickets_under) {
        observe_under(tables, state, seat, row);
    }
}

static void observe_places(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                           uint8_t *out)
{
    memset(out, 0, tables->ticket_count);
    ticket_mark(state->offered, 1, out);
    for (uint32_t i = 0; i < tables->player_count; i++) {
        uint32_t owner = seat_behind(tables, seat, i);
        ticket_mark(state->tickets[owner], (uint8_t)(2 + i), out);
        ticket_mark(state->returned[owner], (uint8_t)(2 + tables->player_count + i), out);
    }
}

void tickets_observe(const TyRuleset *ruleset, const void *state_, uint32_t seat, bool full,
                     uint8_t *row)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    row[AT_PHASE] = state->phase;
    row[AT_TURN] = (uint8_t)(state->active >= seat ? state->active - seat
                                                   : state->active + tables->player_count - seat);
    row[AT_ROUTE] = state->route;
    row[AT_DUE] = state->due;
    row[AT_LAST_TURNS] = state->last_turns;
    row[AT_PASSES] = state->passes;
    row[AT_TICKET_DECK] = observe_deck(tables, state);
    row[AT_TICKET_DECK + 1] = (uint8_t)(tables->bonus_count - state->bonus_taken);
    store_le16(row + AT_TURNS, state->turns);
    observe_cards(tables, state, seat, full, row);
    observe_tickets(tables, state, seat, row);
    observe_owners(tables, state, (uint8_t)seat, row + tables->at.owner);
    observe_seats(tables, state, seat, full, row);
    if (full) {
        observe_places(tables, state, seat, row + tables->at.place);
    }
}
