/* The ticket games: which answers a question has, and the mask that says so. */
#include "core/bytes.h"
#include "games/tickets/state.h"

#include <string.h>

/* Face-up cards of each type that is there, as options. */
static uint64_t take_options(const TicketsTables *tables, const TicketsState *state)
{
    uint64_t options = 0;
    for (uint32_t i = 0; i < tables->type_count && i < TICKETS_SLOTS; i++) {
        options |= (uint64_t)(state->row[i] > 0) << (ACTION_TAKE + i);
    }
    return options;
}

/* Drawing cards, a first or a second time. Once deck and discards are empty, the first card may not
 * be drawn in the game whose rulebook says so (ruling N7); the second takes what there is. */
static uint64_t draw_options(const TicketsTables *tables, const TicketsState *state, bool first)
{
    bool pile = pile_any(state);
    if (first && !pile && tables->rules.draw_needs_pile) {
        return 0;
    }
    return take_options(tables, state) | (uint64_t)pile << ACTION_BLIND;
}

/* Routes that the active seat may take: open to it, with wagons enough, payable from its hand. */
static RouteSet claim_choices(const TicketsTables *tables, const TicketsState *state)
{
    uint8_t seat = state->active;
    const RouteSet *within = &tables->within[state->wagons[seat]];
    RouteSet claims = tickets_payable(tables, state->hand[seat]);
    for (uint32_t i = 0; i < TICKETS_WORDS; i++) {
        claims.words[i] &= within->words[i] & ~state->closed[seat].words[i];
    }
    return claims;
}

static bool routes_any(const RouteSet *set)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < TICKETS_WORDS; i++) {
        any |= set->words[i];
    }
    return any != 0;
}

/* Tour de jeu: exactly one of the actions, or a pass where there is none (rulings E11, N11). */
static void turn_options(const TicketsTables *tables, TicketsState *state)
{
    uint64_t options = draw_options(tables, state, true);
    options |= (uint64_t)(state->stack > 0) << ACTION_LOCOMOTIVE;
    options |= (uint64_t)(tickets_left(state) > 0) << ACTION_TICKETS;
    state->claims = claim_choices(tables, state);
    if (options == 0 && !routes_any(&state->claims)) {
        options = UINT64_C(1) << ACTION_PASS;
    }
    state->options = options;
}

/* Tickets are kept in ascending order, so that one choice is one sequence; never one that leaves
 * too few to keep as many as the rules want. */
static void keep_options(const TicketsTables *tables, TicketsState *state)
{
    uint32_t wanted =
        state->phase == PHASE_KEEP_FIRST ? tables->rules.first_keep : TICKETS_LATER_KEEP;
    uint32_t kept = (uint32_t)__builtin_popcountll(state->chosen);
    uint64_t open = state->offered;
    if (state->chosen != 0) {
        uint32_t last = 63 - (uint32_t)__builtin_clzll(state->chosen);
        open &= last == 63 ? 0 : UINT64_MAX << (last + 1);
    }
    uint32_t left = (uint32_t)__builtin_popcountll(open);
    while (left > 0 && kept + left >= wanted) {
        uint64_t lowest = open & -open;
        state->keeps |= lowest;
        open &= ~lowest;
        left--;
    }
    state->options = (uint64_t)(kept >= wanted) << ACTION_KEEP_DONE;
}

static void pay_options(const TicketsTables *tables, TicketsState *state)
{
    const Route *route = &tables->route[state->route - 1];
    state->options = (uint64_t)tickets_payment_next(tables, state) << action_pay(tables);
    state->options |= (uint64_t)tickets_payment_complete(tables, route, state->laid)
                      << ACTION_PAY_DONE;
}

/* Withdrawing is possible until the first additional card is laid. */
static void tunnel_options(const TicketsTables *tables, TicketsState *state)
{
    state->options = (uint64_t)tickets_tunnel_next(tables, state) << action_pay(tables);
    state->options |= (uint64_t)(state->due_paid == 0) << ACTION_WITHDRAW;
}

void tickets_options(const TicketsTables *tables, TicketsState *state)
{
    state->options = 0;
    state->keeps = 0;
    memset(&state->claims, 0, sizeof state->claims);
    switch ((Phase)state->phase) {
    case PHASE_KEEP_FIRST:
    case PHASE_KEEP:
        keep_options(tables, state);
        break;
    case PHASE_TURN:
        turn_options(tables, state);
        break;
    case PHASE_DRAW:
        state->options = draw_options(tables, state, false);
        break;
    case PHASE_PAY:
        pay_options(tables, state);
        break;
    case PHASE_TUNNEL:
        tunnel_options(tables, state);
        break;
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
}

void tickets_ask(Play *play, Phase phase)
{
    play->state->phase = (uint8_t)phase;
    tickets_options(play->tables, play->state);
}

bool tickets_allowed(const TicketsTables *tables, const TicketsState *state, uint32_t action)
{
    uint32_t keep = action_keep(tables);
    uint32_t claim = action_claim(tables);
    if (action < keep) {
        return state->options >> action & 1;
    }
    if (action < claim) {
        return state->keeps >> (action - keep) & 1;
    }
    return action - claim < tables->route_count && routes_have(&state->claims, action - claim);
}

/* True if there is just one answer; it is in `action`. */
static bool action_forced(const TicketsTables *tables, const TicketsState *state, uint32_t *action)
{
    uint64_t sets[] = {state->options, state->keeps, state->claims.words[0],
                       state->claims.words[1]};
    uint32_t base[] = {0, action_keep(tables), action_claim(tables), action_claim(tables) + 64};
    bool found = false;
    for (uint32_t i = 0; i < 4; i++) {
        if (sets[i] == 0) {
            continue;
        }
        if (found || (sets[i] & (sets[i] - 1)) != 0) {
            return false;
        }
        *action = base[i] + (uint32_t)__builtin_ctzll(sets[i]);
        found = true;
    }
    return found;
}

void tickets_play_on(Play *play)
{
    uint32_t action = 0;
    while (!play->tables->ask_forced && !play->state->head.over &&
           action_forced(play->tables, play->state, &action)) {
        tickets_apply(play, action);
    }
}

void tickets_legal(const TyRuleset *ruleset, const void *state_, uint8_t *mask)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    bits_expand(state->options, action_keep(tables), mask);
    if (state->keeps != 0) {
        bits_expand(state->keeps, tables->ticket_count, mask + action_keep(tables));
    }
    uint8_t *claims = mask + action_claim(tables);
    for (uint32_t first = 0; first < tables->route_count; first += 64) {
        uint32_t count = tables->route_count - first < 64 ? tables->route_count - first : 64;
        if (state->claims.words[first / 64] != 0) {
            bits_expand(state->claims.words[first / 64], count, claims + first);
        }
    }
}
