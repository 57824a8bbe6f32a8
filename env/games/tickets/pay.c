/* The ticket games: what pays for a route (Prendre possession d'une route, Ferries, Tunnels).
 *
 * One description fits every kind of route. A payment of a route of `length` spaces consists of
 * cards of its colour (on at most `matched` spaces), of locomotives where they are allowed, and of
 * sets of `set` cards of any types, each of these for one space. A payment with s sets thus has
 * length + (set - 1) * s cards, and its size alone says how many sets it has: it is valid if enough
 * of its cards can stand for a space by themselves (ruling N3). */
#include "games/tickets/state.h"

static inline uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* `value` if the condition holds, otherwise 0: conditions on hands are random, and compilers would
 * make branches of them. */
static inline uint32_t only_if(bool condition, uint32_t value)
{
    return value & (0u - condition);
}

/* The most sets of `set` cards (3 or 4) that `spare` cards (below 256) beyond one for each of
 * `length` spaces allow: spare / (set - 1), as a product. */
static inline uint32_t sets_most(uint32_t length, uint32_t set, uint32_t spare)
{
    return least(length, spare * (171u + 85u * (set == 3)) >> 9);
}

/* Of eight counts, those that are at least `count`, as bits; all if it is not positive. The counts
 * are of the colours, which are at most eight, and below 64. */
static inline uint32_t counts_reach(uint64_t counts, int32_t count)
{
    uint64_t least_count = (uint64_t)(count < 0 ? 0 : count);
    uint64_t reached = (counts + (0x80 - least_count) * 0x0101010101010101u) >> 7;
    return (uint32_t)((reached & 0x0101010101010101u) * 0x0102040810204080u >> 56);
}

/* The same, none if `count` is more than `most` cards of a colour that a route takes. */
static inline uint32_t counts_match(uint64_t counts, int32_t count, uint32_t most)
{
    return only_if(count <= (int32_t)most, counts_reach(counts, count));
}

/* The colours of the map as bits. */
static inline uint32_t colours_all(const TicketsTables *tables)
{
    return (1u << tables->colour_count) - 1;
}

/* The colours that a payment of the route may be read in. */
static inline uint32_t route_colours(const TicketsTables *tables, const Route *route)
{
    uint32_t one = 1u << route->colour;
    return route->colour < tables->colour_count ? one : colours_all(tables);
}

/* Without a branch on the hand, and in two variables: a set in memory would be stored and loaded
 * for each colour. */
RouteSet tickets_payable(const TicketsTables *tables, const uint8_t hand[TICKETS_SLOTS])
{
    uint32_t total = tables->sets ? least(cards_total(hand), TICKETS_PURSE_MAX) : 0;
    uint32_t engines = least(hand[tables->locomotive], TICKETS_LENGTH_MAX);
    const RouteSet(*routes)[TICKETS_LENGTH_MAX + 1] = tables->payable[total][engines];
    uint32_t best = 0;
    uint64_t low = 0;
    uint64_t high = 0;
    for (uint32_t i = 0; i < tables->colour_count; i++) {
        uint32_t cards = least(hand[i], TICKETS_LENGTH_MAX);
        low |= routes[i][cards].words[0];
        high |= routes[i][cards].words[1];
        best = cards > best ? cards : best;
    }
    low |= routes[tables->colour_count][best].words[0];
    high |= routes[tables->colour_count][best].words[1];
    return (RouteSet){{low, high}};
}

_Static_assert(TICKETS_WORDS == 2, "tickets_payable has two words");

bool tickets_payment_complete(const TicketsTables *tables, const Route *route,
                              const uint8_t laid[TICKETS_SLOTS])
{
    uint32_t total = cards_total(laid);
    uint32_t step = route->set != 0 ? route->set - 1u : 2u;
    uint32_t more = only_if(total >= route->length, total - route->length);
    uint32_t sets = sets_most(TICKETS_SLOTS * TICKETS_CARDS_MAX, step + 1u, more);
    uint32_t locomotives = only_if(route->locomotives, laid[tables->locomotive]);
    int32_t missing = (int32_t)route->length - (int32_t)(locomotives + sets);
    uint32_t colours = counts_match(load_le64(laid), missing, route->matched);
    bool whole = (total >= route->length) & (sets * step == more) &
                 (sets <= (route->set != 0 ? route->length : 0u));
    return only_if(whole, colours & route_colours(tables, route)) != 0;
}

/* A payment with sets that goes on: what is laid, and what the hand has. */
typedef struct Purse {
    const Route *route;
    uint64_t laid; /* of the colours, a byte each */
    uint64_t both; /* and with the hand's */
    uint32_t laid_count;
    uint32_t laid_locomotives;
    uint32_t hand_locomotives;
} Purse;

/* The colours in which the payment can be completed after one card of type `type`, when `spare`
 * cards of that type and later ones are left then. The more sets the better: each allows more cards
 * and asks for one fewer that stands for a space by itself. So it is enough to look at the payment
 * with the most sets. Enough cards of a colour must stand for spaces in the end, and those that are
 * laid for as many of them as there is no room for later. */
static uint32_t payment_colours(const TicketsTables *tables, const Purse *purse, uint32_t type,
                                uint32_t spare)
{
    const Route *route = purse->route;
    uint32_t laid_count = purse->laid_count + 1;
    uint32_t most = laid_count + spare;
    uint32_t sets =
        sets_most(route->length, route->set, only_if(most >= route->length, most - route->length));
    uint32_t size = route->length + (route->set - 1u) * sets;
    uint32_t engine = route->locomotives & (type == tables->locomotive);
    int32_t wanted = (int32_t)route->length - (int32_t)(sets + purse->laid_locomotives + engine);
    int32_t at_last = wanted - (int32_t)(purse->hand_locomotives - engine);
    int32_t by_now = wanted - (int32_t)(size - laid_count);
    uint32_t here = 1u << type;
    uint32_t later = 0u - here; /* this type and those after it */
    uint32_t now = (counts_match(purse->laid, by_now, route->matched) & ~here) |
                   (counts_match(purse->laid, by_now - 1, route->matched - 1u) & here);
    uint32_t end = (counts_match(purse->laid, at_last, route->matched) & ~later) |
                   (counts_match(purse->both, at_last, route->matched) & later);
    return only_if((most >= route->length) & (laid_count <= size), now & end);
}

/* The cards that may be laid next for a route that may be paid with sets. */
static uint32_t payment_next_sets(const TicketsTables *tables, const TicketsState *state,
                                  const Route *route)
{
    const uint8_t *hand = state->hand[state->active];
    uint32_t locomotive = tables->locomotive;
    uint32_t colours = route_colours(tables, route);
    uint64_t sums = load_le64(hand) * 0x0101010101010101u; /* of the types up to each */
    uint32_t total = cards_total(hand);
    uint32_t next = 0;
    const Purse purse = {
        .route = route,
        .laid = load_le64(state->laid),
        .both = load_le64(state->laid) + load_le64(hand),
        .laid_count = cards_total(state->laid),
        .laid_locomotives = only_if(route->locomotives, state->laid[locomotive]),
        .hand_locomotives = only_if(route->locomotives, hand[locomotive]),
    };
    for (uint32_t left = (uint32_t)cards_types(hand) >> state->cursor << state->cursor; left != 0;
         left &= left - 1) {
        uint32_t type = (uint32_t)__builtin_ctz(left);
        uint32_t before = type == 0 ? 0 : (uint32_t)(sums >> (8 * (type - 1))) & 0xff;
        uint32_t fits = payment_colours(tables, &purse, type, total - before - 1) & colours;
        next |= (uint32_t)(fits != 0) << type;
    }
    return next;
}

/* The cards that may be laid next for a route without sets: cards of one colour, then locomotives,
 * as many as it has spaces. */
static uint32_t payment_next_single(const TicketsTables *tables, const TicketsState *state,
                                    const Route *route)
{
    const uint8_t *hand = state->hand[state->active];
    uint32_t missing = route->length - cards_total(state->laid);
    uint32_t locomotives = route->locomotives ? hand[tables->locomotive] : 0;
    if (missing == 0) {
        return 0;
    }
    uint32_t engine = 1u << tables->locomotive;
    uint32_t laid = (uint32_t)cards_types(state->laid);
    uint32_t laid_colours = laid & (engine - 1);
    uint32_t colours = route_colours(tables, route);
    colours &= laid == 0 ? UINT32_MAX : laid_colours & (0u - laid_colours);
    int32_t wanted = (int32_t)missing - (int32_t)locomotives;
    colours &= counts_reach(load_le64(hand), wanted > 1 ? wanted : 1);
    colours &= UINT32_MAX << state->cursor;
    return colours | (locomotives >= missing ? engine : 0);
}

uint32_t tickets_payment_next(const TicketsTables *tables, const TicketsState *state)
{
    const Route *route = &tables->route[state->route - 1];
    return route->set == 0 ? payment_next_single(tables, state, route)
                           : payment_next_sets(tables, state, route);
}

uint8_t tickets_payment_colour(const TicketsTables *tables, const uint8_t laid[TICKETS_SLOTS])
{
    uint8_t type = 0;
    while (type < tables->locomotive && laid[type] == 0) {
        type++;
    }
    return type;
}

/* Tunnels: each additional card is of the colour played or a locomotive; a payment of locomotives
 * alone is added to with locomotives alone (ruling N5). */
uint32_t tickets_tunnel_next(const TicketsTables *tables, const TicketsState *state)
{
    const uint8_t *hand = state->hand[state->active];
    uint8_t colour = tickets_payment_colour(tables, state->laid);
    uint32_t locomotives = hand[tables->locomotive];
    uint32_t next = locomotives >= state->due ? 1u << tables->locomotive : 0;
    if (colour != tables->locomotive && state->cursor <= colour && hand[colour] > 0 &&
        hand[colour] + locomotives >= state->due) {
        next |= 1u << colour;
    }
    return next;
}
