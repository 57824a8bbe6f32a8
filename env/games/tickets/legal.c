/* The ticket games: which answers a question has. */
#include "games/tickets/state.h"

_Static_assert(8 + 2 * TICKETS_TYPES_MAX + TICKETS_MAX + TICKETS_ROUTES_MAX - 64 <
                   64 * (TICKETS_ANSWER_WORDS - 1),
               "a word follows the one in which the last routes begin, for bits_put");

/* Drawing cards, a first or a second time. Once deck and discards are empty, the first card may not
 * be drawn in the game whose rulebook says so (ruling N7); the second takes what there is. */
static uint64_t draw_answers(const TicketsTables *tables, const TicketsState *state, bool first)
{
    bool pile = pile_any(state);
    if (first && !pile && tables->rules.draw_needs_pile) {
        return 0;
    }
    return cards_types(state->row) << FORM_TAKE | (uint64_t)pile << FORM_BLIND;
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

/* Tour de jeu: exactly one of the actions, or a pass where there is none (rulings E11, N11). */
static void turn_answers(const TyRuleset *ruleset, const TicketsState *state, uint64_t *answers)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    RouteSet claims = claim_choices(tables, state);
    uint64_t any = draw_answers(tables, state, true);
    any |= (uint64_t)(state->stack > 0) << FORM_LOCOMOTIVE;
    any |= (uint64_t)(tickets_left(state) > 0) << FORM_TICKETS;
    answers[0] = any;
    for (uint32_t i = 0; i < TICKETS_WORDS; i++) {
        bits_put(answers, ruleset->action_first[FORM_CLAIM] + 64 * i, claims.words[i]);
        any |= claims.words[i];
    }
    if (any == 0) {
        ty_answers_add(answers, FORM_PASS);
    }
}

/* Tickets are kept in ascending order, so that one choice is one sequence; never one that leaves
 * too few to keep as many as the rules want. */
static void keep_answers(const TyRuleset *ruleset, const TicketsState *state, uint64_t *answers)
{
    bool first = state->head.phase == PHASE_KEEP_FIRST;
    uint32_t wanted = first ? tickets_tables(ruleset)->rules.first_keep : TICKETS_LATER_KEEP;
    uint32_t kept = (uint32_t)__builtin_popcountll(state->chosen);
    uint64_t keeps = 0;
    uint64_t open = state->offered;
    if (state->chosen != 0) {
        uint32_t last = 63 - (uint32_t)__builtin_clzll(state->chosen);
        open &= last == 63 ? 0 : UINT64_MAX << (last + 1);
    }
    uint32_t left = (uint32_t)__builtin_popcountll(open);
    while (left > 0 && kept + left >= wanted) {
        uint64_t lowest = open & -open;
        keeps |= lowest;
        open &= ~lowest;
        left--;
    }
    answers[0] = (uint64_t)(kept >= wanted) << FORM_KEEP_DONE;
    bits_put(answers, ruleset->action_first[FORM_KEEP], keeps);
}

static uint64_t pay_answers(const TyRuleset *ruleset, const TicketsState *state)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const Route *route = &tables->route[state->route - 1];
    bool complete = tickets_payment_complete(tables, route, state->laid);
    return (uint64_t)tickets_payment_next(tables, state) << ruleset->action_first[FORM_PAY] |
           (uint64_t)complete << FORM_PAY_DONE;
}

/* Withdrawing is possible until the first additional card is laid. */
static uint64_t tunnel_answers(const TyRuleset *ruleset, const TicketsState *state)
{
    uint64_t next = tickets_tunnel_next(tickets_tables(ruleset), state);
    return next << ruleset->action_first[FORM_PAY] | (uint64_t)(state->due_paid == 0)
                                                         << FORM_WITHDRAW;
}

void tickets_answers(const TyRuleset *ruleset, const void *state_, uint64_t *answers)
{
    const TicketsState *state = state_;
    switch ((Phase)state->head.phase) {
    case PHASE_KEEP_FIRST:
    case PHASE_KEEP:
        keep_answers(ruleset, state, answers);
        break;
    case PHASE_TURN:
        turn_answers(ruleset, state, answers);
        break;
    case PHASE_DRAW:
        answers[0] = draw_answers(tickets_tables(ruleset), state, false);
        break;
    case PHASE_PAY:
        answers[0] = pay_answers(ruleset, state);
        break;
    case PHASE_TUNNEL:
        answers[0] = tunnel_answers(ruleset, state);
        break;
    case PHASE_OVER:
        break;
    }
}
