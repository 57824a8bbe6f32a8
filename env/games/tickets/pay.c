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

/* The most sets of `set` cards that `spare` cards beyond one for each of `length` spaces allow. */
static inline uint32_t sets_most(uint32_t length, uint32_t set, uint32_t spare)
{
    return least(length, set == 3 ? spare / 2 : spare / 3);
}

static inline void routes_join(RouteSet *set, const RouteSet *other)
{
    for (uint32_t i = 0; i < TICKETS_WORDS; i++) {
        set->words[i] |= other->words[i];
    }
}

/* The routes that single cards pay, without sets. */
static RouteSet payable_single(const TicketsTables *tables, const uint8_t *hand)
{
    RouteSet payable = {{0}};
    uint32_t engines = least(hand[tables->locomotive], TICKETS_LENGTH_MAX);
    uint32_t best = 0;
    for (uint32_t i = 0; i < tables->colour_count; i++) {
        uint32_t cards = least(hand[i], TICKETS_LENGTH_MAX);
        routes_join(&payable, &tables->single[i][cards][engines]);
        best = cards > best ? cards : best;
    }
    routes_join(&payable, &tables->single[tables->colour_count][best][engines]);
    return payable;
}

/* What a hand has, prepared for comparing it with many routes. */
typedef struct HandSummary {
    uint32_t total;
    uint32_t locomotives;
    uint32_t with[TICKETS_LENGTH_MAX + 1]; /* colours of which it has so many cards, as bits; gray
                                              behind the last colour if there is any */
} HandSummary;

static HandSummary hand_summary(const TicketsTables *tables, const uint8_t *hand)
{
    HandSummary summary = {.total = cards_total(hand), .locomotives = hand[tables->locomotive]};
    uint32_t gray = 1u << tables->colour_count;
    for (uint32_t i = 0; i < tables->colour_count; i++) {
        summary.with[least(hand[i], TICKETS_LENGTH_MAX)] |= 1u << i | gray;
    }
    for (uint32_t cards = TICKETS_LENGTH_MAX; cards > 0; cards--) {
        summary.with[cards - 1] |= summary.with[cards];
    }
    return summary;
}

/* Adds the routes of a class that the hand pays: those of colours of which it has as many cards as
 * sets and locomotives leave open. */
static void payable_class(const SetClass *class, const HandSummary *hand, RouteSet *payable)
{
    if (hand->total < class->length) {
        return;
    }
    uint32_t single = class->locomotives ? hand->locomotives : 0;
    single += sets_most(class->length, class->set, hand->total - class->length);
    if (single >= class->length) {
        routes_join(payable, &class->all);
        return;
    }
    uint32_t missing = class->length - single;
    uint32_t colours = missing <= class->matched ? hand->with[missing] & class->colours : 0;
    for (; colours != 0; colours &= colours - 1) {
        routes_join(payable, &class->colour[__builtin_ctz(colours)]);
    }
}

RouteSet tickets_payable(const TicketsTables *tables, const uint8_t hand[TICKETS_SLOTS])
{
    RouteSet payable = payable_single(tables, hand);
    if (tables->class_count > 0) {
        HandSummary summary = hand_summary(tables, hand);
        for (uint32_t i = 0; i < tables->class_count; i++) {
            payable_class(&tables->classes[i], &summary, &payable);
        }
    }
    return payable;
}

/* The colours that the payment may be read in: first and behind the last. */
typedef struct Colours {
    uint32_t first;
    uint32_t end;
} Colours;

static Colours route_colours(const TicketsTables *tables, const Route *route)
{
    if (route->colour < tables->colour_count) {
        return (Colours){route->colour, route->colour + 1u};
    }
    return (Colours){0, tables->colour_count};
}

bool tickets_payment_complete(const TicketsTables *tables, const Route *route,
                              const uint8_t laid[TICKETS_SLOTS])
{
    uint32_t total = cards_total(laid);
    uint32_t step = route->set != 0 ? route->set - 1u : 1u;
    if (total < route->length || (total - route->length) % step != 0) {
        return false;
    }
    uint32_t sets = (total - route->length) / step;
    if (sets > (route->set != 0 ? route->length : 0u)) {
        return false;
    }
    uint32_t locomotives = route->locomotives ? laid[tables->locomotive] : 0u;
    Colours colours = route_colours(tables, route);
    for (uint32_t i = colours.first; i < colours.end; i++) {
        if (least(laid[i], route->matched) + locomotives + sets >= route->length) {
            return true;
        }
    }
    return false;
}

/* Cards that are laid, and those of the hand that may still be added: all of types from `from` on.
 * `spare` is their number. */
typedef struct Purse {
    const uint8_t *laid;
    const uint8_t *hand;
    uint32_t laid_count;
    uint32_t spare;
    uint32_t from;
} Purse;

/* Whether a payment that may have sets can be completed after one card of type `from`. The more
 * sets the better: each allows more cards and asks for one fewer that stands for a space by itself.
 * So it is enough to look at the payment with the most sets. */
static bool payment_completable(const TicketsTables *tables, const Route *route, const Purse *purse)
{
    uint32_t laid_count = purse->laid_count + 1;
    uint32_t spare = purse->spare - 1;
    if (laid_count + spare < route->length) {
        return false;
    }
    uint32_t sets = sets_most(route->length, route->set, laid_count + spare - route->length);
    uint32_t size = route->length + (route->set - 1u) * sets;
    if (laid_count > size) {
        return false;
    }
    uint32_t missing = size - laid_count;
    uint32_t locomotive = tables->locomotive;
    uint32_t laid_locomotives = 0;
    uint32_t more_locomotives = 0;
    if (route->locomotives) {
        uint32_t now = purse->from == locomotive;
        laid_locomotives = purse->laid[locomotive] + now;
        more_locomotives = purse->hand[locomotive] - now;
    }
    Colours colours = route_colours(tables, route);
    for (uint32_t i = colours.first; i < colours.end; i++) {
        uint32_t now = purse->from == i;
        uint32_t laid = least(purse->laid[i] + now, route->matched);
        uint32_t more = i >= purse->from ? least(purse->hand[i] - now, route->matched - laid) : 0;
        uint32_t single = laid + laid_locomotives + least(missing, more + more_locomotives);
        if (single + sets >= route->length) {
            return true;
        }
    }
    return false;
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
    uint32_t next = locomotives >= missing ? 1u << tables->locomotive : 0;
    uint32_t laid = tickets_payment_colour(tables, state->laid);
    Colours colours = route_colours(tables, route);
    for (uint32_t i = colours.first; i < colours.end; i++) {
        bool fits = laid == tables->locomotive ? state->laid[laid] == 0 : laid == i;
        if (fits && state->cursor <= i && hand[i] > 0 && hand[i] + locomotives >= missing) {
            next |= 1u << i;
        }
    }
    return next;
}

uint32_t tickets_payment_next(const TicketsTables *tables, const TicketsState *state)
{
    const Route *route = &tables->route[state->route - 1];
    const uint8_t *hand = state->hand[state->active];
    if (route->set == 0) {
        return payment_next_single(tables, state, route);
    }
    Purse purse = {.laid = state->laid, .hand = hand, .laid_count = cards_total(state->laid)};
    uint32_t next = 0;
    for (uint32_t type = tables->type_count; type-- > state->cursor;) {
        purse.from = type;
        purse.spare += hand[type];
        if (hand[type] > 0 && payment_completable(tables, route, &purse)) {
            next |= 1u << type;
        }
    }
    return next;
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
