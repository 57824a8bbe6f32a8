/* The ticket games: the invariants of a state. */
#include "games/tickets/state.h"

#include <string.h>

static const char *check_ranges(const TicketsTables *tables, const TicketsState *state)
{
    uint8_t players = tables->player_count;
    if (state->active >= players) {
        return "the active seat does not exist";
    }
    if ((state->head.phase == PHASE_OVER) != (state->head.over != 0) ||
        (!state->head.over && state->head.seat != (int8_t)state->active)) {
        return "the seat to act is not the active one";
    }
    if (state->choosing > players ||
        (state->choosing > 0) != (state->head.phase == PHASE_KEEP_FIRST)) {
        return "the seats that choose their first tickets do not fit the question";
    }
    if (state->last_turns > players || state->passes > players ||
        (!state->head.over && state->passes == players)) {
        return "the count of passes or of last turns is out of range";
    }
    if (tables->turns_max != 0 && state->turns > tables->turns_max) {
        return "there were more turns than the cap allows";
    }
    bool decided = state->head.over && !state->head.truncated;
    if ((state->winners != 0) != decided || state->winners >> players != 0) {
        return "there is a winner before the end, or none after it";
    }
    return NULL;
}

/* Nothing is set for seats and types of card that do not exist. */
static const char *check_absent(const TicketsTables *tables, const TicketsState *state)
{
    for (uint32_t seat = tables->player_count; seat < TY_PLAYERS_MAX; seat++) {
        uint32_t any = state->bonus[seat] | state->wagons[seat] | state->points[seat];
        for (uint32_t i = 0; i < TICKETS_SLOTS; i++) {
            any |= state->hand[seat][i];
        }
        for (uint32_t i = 0; i < TICKETS_CITIES_MAX; i++) {
            any |= state->network[seat][i];
        }
        uint64_t sets = state->tickets[seat] | state->returned[seat] | state->complete[seat];
        for (uint32_t i = 0; i < TICKETS_WORDS; i++) {
            sets |= state->closed[seat].words[i];
        }
        if (any != 0 || sets != 0) {
            return "a seat that does not play owns something";
        }
    }
    return NULL;
}

/* Every card is in the deck, the discards, the row, a hand, a payment or among the revealed ones.
 */
static const char *check_cards(const TicketsTables *tables, const TicketsState *state)
{
    for (uint32_t type = 0; type < TICKETS_SLOTS; type++) {
        uint32_t count = (uint32_t)(state->deck[type] + state->discard[type] + state->row[type] +
                                    state->laid[type] + state->revealed[type]);
        for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
            count += state->hand[seat][type];
            if (state->known[seat][type] > state->hand[seat][type]) {
                return "a hand lacks a card that everybody knows to be there";
            }
        }
        bool apart = tables->rules.locomotives_apart && type == tables->locomotive;
        if (count + (apart ? state->stack : 0u) != tables->card_count[type]) {
            return "wagon cards were lost or made";
        }
    }
    if (cards_total(state->row) > TICKETS_ROW_SIZE || cards_total(state->revealed) > 3) {
        return "too many cards lie face up";
    }
    return NULL;
}

/* Where locomotives have a stack of their own, none is in the deck, and all in hands are known. */
static const char *check_stack(const TicketsTables *tables, const TicketsState *state)
{
    uint8_t type = tables->locomotive;
    if (!tables->rules.locomotives_apart) {
        return state->stack == 0 ? NULL : "there is a stack of locomotives";
    }
    if (state->deck[type] + state->discard[type] + state->row[type] + state->revealed[type] != 0) {
        return "a locomotive is not in its stack";
    }
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        if (state->known[seat][type] != state->hand[seat][type]) {
            return "a locomotive in a hand is not known";
        }
    }
    return NULL;
}

/* What a seat has follows from its routes: wagons, points and networks. */
static const char *check_network(const TicketsTables *tables, const TicketsState *state,
                                 uint32_t seat)
{
    uint32_t length = 0;
    uint32_t points = 0;
    uint8_t network[TICKETS_CITIES_MAX] = {0};
    for (uint8_t city = 0; city < tables->city_count; city++) {
        network[city] = city;
    }
    for (uint32_t i = 0; i < tables->route_count; i++) {
        const Route *route = &tables->route[i];
        if (state->owner[i] != seat + 1) {
            continue;
        }
        length += route->length;
        points += route->points;
        uint8_t a = network[route->city[0]];
        uint8_t b = network[route->city[1]];
        for (uint32_t city = 0; city < tables->city_count; city++) {
            network[city] = network[city] == (a > b ? a : b) ? (a < b ? a : b) : network[city];
        }
    }
    if (length + state->wagons[seat] != tables->wagons || points != state->points[seat]) {
        return "wagons or points of a seat do not fit its routes";
    }
    return memcmp(network, state->network[seat], sizeof network) == 0
               ? NULL
               : "the networks of a seat do not fit its routes";
}

/* The routes that `seat` cannot take. */
static RouteSet routes_closed(const TicketsTables *tables, const TicketsState *state, uint32_t seat)
{
    RouteSet closed = {{0}};
    for (uint32_t owner = 0; owner < tables->player_count; owner++) {
        for (uint32_t i = 0; i < tables->route_count; i++) {
            uint8_t twin = tables->route[i].twin;
            if (state->owner[i] != owner + 1) {
                continue;
            }
            routes_add(&closed, i);
            if (twin != TICKETS_NONE && (owner == seat || tables->player_count == 2)) {
                routes_add(&closed, twin);
            }
        }
    }
    return closed;
}

/* A double route has two owners at most, different ones, and with two players only one. */
static bool double_valid(const TicketsTables *tables, const TicketsState *state, uint32_t route)
{
    uint8_t twin = tables->route[route].twin;
    if (twin == TICKETS_NONE || state->owner[route] == 0 || state->owner[twin] == 0) {
        return true;
    }
    return tables->player_count > 2 && state->owner[route] != state->owner[twin];
}

static const char *check_routes(const TicketsTables *tables, const TicketsState *state)
{
    for (uint32_t i = 0; i < TICKETS_ROUTES_MAX; i++) {
        if (state->owner[i] > (i < tables->route_count ? tables->player_count : 0)) {
            return "a route or its owner does not exist";
        }
        if (i < tables->route_count && !double_valid(tables, state, i)) {
            return "both halves of a pair of routes are taken";
        }
    }
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        RouteSet closed = routes_closed(tables, state, seat);
        if (memcmp(&closed, &state->closed[seat], sizeof closed) != 0) {
            return "the closed routes do not fit the owners";
        }
        const char *broken = check_network(tables, state, seat);
        if (broken != NULL) {
            return broken;
        }
        if (state->complete[seat] !=
            tickets_linked(tables, state->network[seat], state->tickets[seat])) {
            return "the completed tickets do not fit the routes";
        }
    }
    return NULL;
}

/* Every ticket is in the deck, with a seat, offered, or refused by a seat: in one place only. */
static const char *check_tickets(const TicketsTables *tables, const TicketsState *state)
{
    uint64_t sets[2 + 2 * TY_PLAYERS_MAX] = {state->ticket_deck, state->offered};
    memcpy(sets + 2, state->tickets, sizeof state->tickets);
    memcpy(sets + 2 + TY_PLAYERS_MAX, state->returned, sizeof state->returned);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < 2 + 2 * TY_PLAYERS_MAX; i++) {
        if ((seen & sets[i]) != 0) {
            return "a ticket is in two places";
        }
        seen |= sets[i];
    }
    if (seen != tickets_all(tables)) {
        return "tickets were lost or made";
    }
    bool keeping = state->head.phase == PHASE_KEEP || state->head.phase == PHASE_KEEP_FIRST;
    if ((state->offered != 0) != keeping || (state->chosen & ~state->offered) != 0) {
        return "the offered tickets do not fit the question";
    }
    uint32_t most = state->head.phase == PHASE_KEEP ? TICKETS_LATER_DEAL : tables->rules.first_deal;
    uint32_t count = (uint32_t)__builtin_popcountll(state->offered);
    if (count > most || (state->head.phase == PHASE_KEEP_FIRST && count != most)) {
        return "the number of offered tickets is wrong";
    }
    return NULL;
}

/* All tickets that seats have refused. */
static uint64_t tickets_returned(const TicketsState *state)
{
    return state->returned[0] | state->returned[1] | state->returned[2] | state->returned[3];
}

/* Tickets that are not in the deck any more, and those put under it, have numbers that follow each
 * other. */
static const char *check_ticket_order(const TicketsTables *tables, const TicketsState *state)
{
    uint64_t below = tables->rules.tickets_under ? tickets_returned(state) : 0;
    uint32_t under = (uint32_t)__builtin_popcountll(below);
    uint32_t deck = (uint32_t)__builtin_popcountll(state->ticket_deck);
    if (state->ticket_drawn > state->ticket_end || deck + under != tickets_left(state) ||
        (deck > 0 && state->ticket_drawn + deck != tables->ticket_count) ||
        state->batch_first > state->ticket_end) {
        return "the numbers of the tickets to be drawn are wrong";
    }
    if (deck > 0 ? state->batch_first != tables->ticket_count
                 : state->batch_first > state->ticket_drawn) {
        return "the first batch under the ticket deck is out of range";
    }
    for (uint32_t ticket = 0; ticket < TICKETS_MAX; ticket++) {
        if ((below >> ticket & 1) != (state->batch[ticket] != 0)) {
            return "a ticket is in a batch and not under the deck";
        }
    }
    return NULL;
}

/* Walks through the batches from the first on: each begins where the one before ends and was put
 * there by one seat. Of the one on top a part may be drawn. */
static const char *check_batches(const TicketsTables *tables, const TicketsState *state)
{
    uint32_t sizes[UINT8_MAX + 1] = {0};
    uint32_t owners[UINT8_MAX + 1] = {0};
    for (uint32_t seat = 0; tables->rules.tickets_under && seat < tables->player_count; seat++) {
        for (uint64_t left = state->returned[seat]; left != 0; left &= left - 1) {
            uint8_t batch = state->batch[__builtin_ctzll(left)];
            sizes[batch]++;
            owners[batch] |= 1u << seat;
        }
    }
    uint32_t first = state->batch_first;
    uint32_t drawn = state->ticket_drawn > first ? state->ticket_drawn - first : 0;
    uint32_t at = first;
    while (at < state->ticket_end && sizes[at] != 0 && (owners[at] & (owners[at] - 1)) == 0) {
        at += sizes[at] + (at == first ? drawn : 0);
    }
    return at == state->ticket_end ? NULL : "the batches under the ticket deck do not follow";
}

/* The batch on top, of which a part was drawn, as the seat that put it there remembers it. */
static const char *check_front(const TicketsTables *tables, const TicketsState *state)
{
    uint64_t front = tables->rules.tickets_under ? tickets_front(state) : 0;
    bool partial = front != 0 && state->ticket_drawn > state->batch_first;
    if (partial != (state->front_shown != 0) || (partial && (front & ~state->front_shown) != 0) ||
        (state->front_shown & ~tickets_all(tables)) != 0) {
        return "the batch on top is not what it was";
    }
    return NULL;
}

static const char *check_bonus(const TicketsTables *tables, const TicketsState *state)
{
    uint32_t seen = 0;
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        const uint8_t *network = state->network[seat];
        uint8_t place = state->bonus[seat];
        bool linked = tables->rules.link_bonus &&
                      network[tables->bonus_city[0]] == network[tables->bonus_city[1]];
        if (place > tables->bonus_count || (place != 0 && (seen >> place & 1) != 0) ||
            (place != 0 && !linked)) {
            return "a bonus card is with the wrong seat";
        }
        seen |= place != 0 ? 1u << place : 0;
    }
    if ((uint32_t)__builtin_popcount(seen) != state->bonus_taken ||
        seen >> (state->bonus_taken + 1) != 0) {
        return "the count of bonus cards is wrong";
    }
    return NULL;
}

/* The parts of the question: the route being paid for, the cards laid and revealed. */
static const char *check_payment(const TicketsTables *tables, const TicketsState *state)
{
    bool paying = state->head.phase == PHASE_PAY || state->head.phase == PHASE_TUNNEL;
    if (paying != (state->route != 0) || state->route > tables->route_count) {
        return "the route being paid for does not exist";
    }
    uint32_t laid = cards_total(state->laid);
    if (!paying && (laid != 0 || state->cursor != 0)) {
        return "cards are laid for no route";
    }
    if (state->head.phase != PHASE_TUNNEL) {
        return cards_total(state->revealed) + state->due + state->due_paid == 0
                   ? NULL
                   : "cards are revealed for no tunnel";
    }
    const Route *route = &tables->route[state->route - 1];
    if (route->kind != ROUTE_TUNNEL || state->due == 0 ||
        state->due + state->due_paid > (int)cards_total(state->revealed) ||
        laid != (uint32_t)(route->length + state->due_paid)) {
        return "the additional cards of the tunnel are wrong";
    }
    return NULL;
}

static const char *check_route_open(const TicketsTables *tables, const TicketsState *state)
{
    if (state->route == 0) {
        return NULL;
    }
    uint8_t index = (uint8_t)(state->route - 1);
    bool open = !routes_have(&state->closed[state->active], index) &&
                tables->route[index].length <= state->wagons[state->active];
    return open && state->cursor < tables->type_count ? NULL
                                                      : "the route being paid for is not open";
}

const char *tickets_check(const TyRuleset *ruleset, const void *state)
{
    static const char *(*const checks[])(const TicketsTables *, const TicketsState *) = {
        check_ranges, check_absent,  check_cards,        check_stack,
        check_routes, check_tickets, check_ticket_order, check_batches,
        check_front,  check_bonus,   check_payment,      check_route_open,
    };
    const TicketsTables *tables = tickets_tables(ruleset);
    for (uint32_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const char *broken = checks[i](tables, state);
        if (broken != NULL) {
            return broken;
        }
    }
    return NULL;
}
