/* The ticket games: positions as text, enough to play from. */
#include "games/tickets/text.h"

/* A position to be told of, to `seat`. */
typedef struct View {
    const TicketsTables *tables;
    const TicketsState *state;
    uint32_t seat;
    TyText *out;
} View;

/* ---- Things ------------------------------------------------------------------------------------
 */

void tickets_write_cards(const TicketsTables *tables, const uint8_t cards[TICKETS_SLOTS],
                         const char *between, TyText *out)
{
    const char *separator = "";
    for (uint32_t i = 0; i < tables->type_count; i++) {
        if (cards[i] > 0) {
            ty_text_add(out, "%s%u %s", separator, cards[i], tickets_name_type(tables, i));
            separator = between;
        }
    }
    ty_text_add(out, "%s", separator[0] == '\0' ? "none" : "");
}

void tickets_write_ends(const TicketsTables *tables, const uint8_t city[2], TyText *out)
{
    ty_text_add(out, "%s - %s", tables->names.bytes + tables->city_title[city[0]],
                tables->names.bytes + tables->city_title[city[1]]);
}

static const char *route_colour(const TicketsTables *tables, const Route *route)
{
    bool gray = route->colour == tables->colour_count;
    return gray ? "gray" : tickets_name_type(tables, route->colour);
}

/* What is special about a route. */
static void write_kind(const Route *route, TyText *out)
{
    static const char *const kinds[] = {"", " tunnel", " ferry-", " four-for-one"};
    ty_text_add(out, "%s", kinds[route->kind]);
    if (route->kind == ROUTE_FERRY) {
        ty_text_add(out, "%u", route->length - route->matched);
    }
}

void tickets_write_route(const TicketsTables *tables, uint32_t index, TyText *out)
{
    const Route *route = &tables->route[index];
    ty_text_add(out, "%u %s", route->length, route_colour(tables, route));
    write_kind(route, out);
}

/* A ticket with its name in brackets and its points. */
static void write_ticket(const View *view, uint32_t index)
{
    const Ticket *ticket = &view->tables->ticket[index];
    tickets_write_ends(view->tables, ticket->city, view->out);
    ty_text_add(view->out, " [%s], ", tickets_name_ticket(view->tables, index));
    ty_text_put_count(view->out, ticket->points, "point");
}

/* ---- The table ---------------------------------------------------------------------------------
 */

static void text_goal(const View *view)
{
    const TicketsTables *tables = view->tables;
    ty_text_add(view->out,
                "Goal: the most points. A route gives its points when it is taken; at the end a "
                "ticket gives its points if its owner's routes link its two cities, and costs them "
                "if they do not.");
    if (tables->rules.globetrotter) {
        ty_text_add(view->out, " The most completed tickets: %u points more.",
                    tables->bonus_points[0]);
    }
    if (tables->rules.link_bonus && view->state->bonus_taken < tables->bonus_count) {
        ty_text_add(view->out, " The next to link ");
        tickets_write_ends(tables, tables->bonus_city, view->out);
        ty_text_add(view->out, " gets ");
        ty_text_put_count(view->out, tables->bonus_points[view->state->bonus_taken], "point");
        ty_text_add(view->out, ".");
    }
    ty_text_add(view->out, "\n");
}

static void text_end_near(const View *view)
{
    const TicketsState *state = view->state;
    if (state->last_turns > 0) {
        ty_text_add(view->out, "Last round: turns left in all, this one included: %u.\n",
                    state->last_turns);
    } else {
        ty_text_add(view->out,
                    "The end: once a player has %d wagons or fewer after a turn, everybody has one "
                    "more turn.\n",
                    (int)TICKETS_LAST_WAGONS);
    }
    if (state->passes > 0) {
        ty_text_add(view->out, "Passes in a row: %u; the game also ends when all pass.\n",
                    state->passes);
    }
}

static void text_cards(const View *view)
{
    const TicketsState *state = view->state;
    ty_text_add(view->out, "Cards face up: ");
    tickets_write_cards(view->tables, state->row, ", ", view->out);
    ty_text_add(view->out, ". Deck: %u unseen. Discards: ", cards_total(state->deck));
    tickets_write_cards(view->tables, state->discard, ", ", view->out);
    if (view->tables->rules.locomotives_apart) {
        ty_text_add(view->out, ". Locomotives in their stack: %u", state->stack);
    }
    if (state->head.phase != PHASE_KEEP_FIRST) {
        ty_text_add(view->out, ". Tickets to draw: %u", tickets_left(state));
    }
    ty_text_add(view->out, "\n");
}

static void text_seat(const View *view, uint32_t owner)
{
    const TicketsState *state = view->state;
    TyText *out = view->out;
    bool own = owner == view->seat;
    ty_text_add(out, "Seat %u%s: ", owner, own ? " (you)" : "");
    ty_text_put_count(out, state->wagons[owner], "wagon");
    ty_text_add(out, ", ");
    ty_text_put_count(out, state->points[owner], "point");
    ty_text_add(out, " for routes, ");
    if (state->bonus[owner] != 0) {
        ty_text_add(out, "bonus of %u, ", view->tables->bonus_points[state->bonus[owner] - 1]);
    }
    if (!own && state->head.phase == PHASE_KEEP_FIRST) {
        ty_text_add(out, "chooses its first tickets; ");
    } else {
        ty_text_put_count(out, (uint32_t)__builtin_popcountll(state->tickets[owner]), "ticket");
        ty_text_add(out, "; ");
    }
    uint32_t cards = cards_total(state->hand[owner]);
    ty_text_put_count(out, cards, "card");
    if (cards > 0) {
        ty_text_add(out, "%s ", own ? ":" : ", of which everybody saw:");
        tickets_write_cards(view->tables, own ? state->hand[owner] : state->known[owner], ", ",
                            out);
    }
    ty_text_add(out, "\n  routes:");
    uint32_t routes = 0;
    for (uint32_t i = 0; i < view->tables->route_count; i++) {
        if (state->owner[i] == owner + 1) {
            ty_text_add(out, " %s", tickets_name_route(view->tables, i));
            routes++;
        }
    }
    ty_text_add(out, "%s\n", routes == 0 ? " none yet" : "");
}

static void text_own_tickets(const View *view)
{
    ty_text_add(view->out, "Your tickets:%s\n",
                view->state->tickets[view->seat] == 0 ? " none yet" : "");
    for (uint64_t left = view->state->tickets[view->seat]; left != 0; left &= left - 1) {
        uint32_t ticket = (uint32_t)__builtin_ctzll(left);
        ty_text_add(view->out, "  ");
        write_ticket(view, ticket);
        ty_text_add(view->out, ": ");
        tickets_write_way(view->tables, view->state, view->seat, view->tables->ticket[ticket].city,
                          view->out);
        ty_text_add(view->out, "\n");
    }
}

/* How far the seat is from the bonus, as long as it can get it. */
static void text_bonus(const View *view)
{
    const TicketsTables *tables = view->tables;
    const TicketsState *state = view->state;
    if (tables->rules.link_bonus && state->bonus_taken < tables->bonus_count &&
        state->bonus[view->seat] == 0) {
        ty_text_add(view->out, "The bonus, ");
        tickets_write_ends(tables, tables->bonus_city, view->out);
        ty_text_add(view->out, ": ");
        tickets_write_way(tables, state, view->seat, tables->bonus_city, view->out);
        ty_text_add(view->out, "\n");
    }
}

/* The routes of one length that `seat` may still take; for whoever only watches, all free ones. */
static void text_routes_of(const View *view, uint32_t length)
{
    const TicketsTables *tables = view->tables;
    const char *separator = NULL;
    for (uint32_t i = 0; i < tables->route_count; i++) {
        const Route *route = &tables->route[i];
        bool closed = view->seat < tables->player_count
                          ? routes_have(&view->state->closed[view->seat], i)
                          : view->state->owner[i] != 0;
        if (route->length != length || closed) {
            continue;
        }
        if (separator == NULL) {
            ty_text_add(view->out, "  ");
            ty_text_put_count(view->out, length, "space");
            ty_text_add(view->out, ", ");
            ty_text_put_count(view->out, route->points, "point");
            ty_text_add(view->out, ": ");
        }
        ty_text_add(view->out, "%s", separator != NULL ? separator : "");
        tickets_write_ends(tables, route->city, view->out);
        ty_text_add(view->out, " [%s] %s", tickets_name_route(tables, i),
                    route_colour(tables, route));
        write_kind(route, view->out);
        separator = "; ";
    }
    ty_text_add(view->out, "%s", separator != NULL ? "\n" : "");
}

static void text_routes(const View *view)
{
    const TicketsRules *rules = &view->tables->rules;
    ty_text_add(view->out,
                "Routes that are open%s (a route costs as many cards of its colour, and "
                "wagons, as it has spaces; gray: any one colour",
                view->seat < view->tables->player_count ? " to you" : "");
    if (rules->locomotives_plain) {
        ty_text_add(view->out, "; locomotives stand for any colour");
    }
    if (rules->special_routes) {
        ty_text_add(
            view->out,
            "; locomotives count in tunnels and ferries only, for any card; tunnel: once it is "
            "paid, three cards are revealed, and each of the colour paid and each "
            "locomotive asks for one card more; ferry-N: at least N of its cards are "
            "locomotives, and any three cards stand for one; four-for-one: any four cards "
            "stand for one of the colour");
    }
    ty_text_add(view->out, "):\n");
    for (uint32_t length = 1; length <= TICKETS_LENGTH_MAX; length++) {
        text_routes_of(view, length);
    }
}

/* ---- The question ------------------------------------------------------------------------------
 */

/* Tickets are named in the order in which they are listed here. */
static void question_keep(const View *view, uint32_t wanted)
{
    const TicketsState *state = view->state;
    ty_text_add(view->out, "which of the offered tickets to keep, at least %u. ", wanted);
    if (state->active != view->seat) {
        return;
    }
    ty_text_add(view->out, "Go down this list and name those that you keep, one by one, then say "
                           "keep.done. One above the last that you named can no longer be kept, "
                           "and one with too few below it cannot be named first. Offered:");
    for (uint64_t left = state->offered; left != 0; left &= left - 1) {
        uint32_t ticket = (uint32_t)__builtin_ctzll(left);
        ty_text_add(view->out, "\n  ");
        write_ticket(view, ticket);
        ty_text_add(view->out, "%s", state->chosen >> ticket & 1 ? " (kept)" : "");
    }
}

/* Which route is being paid for, and what lies for it. */
static void question_laid(const View *view)
{
    uint32_t route = view->state->route - 1u;
    tickets_write_ends(view->tables, view->tables->route[route].city, view->out);
    ty_text_add(view->out, " [%s], ", tickets_name_route(view->tables, route));
    tickets_write_route(view->tables, route, view->out);
    ty_text_add(view->out, ", ");
    ty_text_put_count(view->out, view->tables->route[route].points, "point");
    ty_text_add(view->out, ". Laid so far: ");
    tickets_write_cards(view->tables, view->state->laid, ", ", view->out);
}

static void question_pay(const View *view)
{
    ty_text_add(view->out, "the next card of the payment for ");
    question_laid(view);
    ty_text_add(view->out, ". Cards are laid one by one, in this order of types:");
    for (uint32_t i = 0; i < view->tables->type_count; i++) {
        ty_text_add(view->out, "%s %s", i == 0 ? "" : ",", tickets_name_type(view->tables, i));
    }
    ty_text_add(view->out, "; none of a type before that of the last one laid.");
}

static void question_tunnel(const View *view)
{
    const TicketsState *state = view->state;
    ty_text_add(view->out, "the tunnel asks for ");
    ty_text_put_count(view->out, state->due, "more card");
    ty_text_add(view->out, ", of the colour laid or locomotives: ");
    question_laid(view);
    ty_text_add(view->out, ". Revealed: ");
    tickets_write_cards(view->tables, state->revealed, ", ", view->out);
    if (state->due_paid > 0) {
        ty_text_add(view->out,
                    ". Additional cards laid: %u, the last a %s; none of an earlier type "
                    "can follow",
                    state->due_paid, tickets_name_type(view->tables, state->cursor));
    } else {
        ty_text_add(view->out, ". Or withdraw: the cards come back, and the turn is over");
    }
    ty_text_add(view->out, ".");
}

static void text_question(const View *view)
{
    const TicketsState *state = view->state;
    ty_text_add(view->out, "Question to seat %u%s, %s: ", state->active,
                state->active == view->seat ? " (you)" : "", tickets_phases[state->head.phase]);
    switch ((Phase)state->head.phase) {
    case PHASE_KEEP_FIRST:
        question_keep(view, view->tables->rules.first_keep);
        break;
    case PHASE_TURN:
        ty_text_add(view->out,
                    "what to do this turn, exactly one thing: two cards (one by one), %s"
                    "tickets, or a route.",
                    view->tables->rules.locomotives_apart ? "a locomotive, " : "");
        break;
    case PHASE_DRAW:
        ty_text_add(view->out, "the second card of this turn%s.",
                    view->tables->rules.locomotives_apart
                        ? "; the stack of locomotives is for a turn of its own"
                        : "");
        break;
    case PHASE_KEEP:
        question_keep(view, TICKETS_LATER_KEEP);
        break;
    case PHASE_PAY:
        question_pay(view);
        break;
    case PHASE_TUNNEL:
        question_tunnel(view);
        break;
    case PHASE_OVER:
        break;
    }
    ty_text_add(view->out, "\n");
}

static void text_result(const View *view)
{
    Sheet sheets[TY_PLAYERS_MAX];
    tickets_sheets(view->tables, view->state, sheets);
    for (uint32_t seat = 0; seat < view->tables->player_count; seat++) {
        const Sheet *sheet = &sheets[seat];
        ty_text_add(view->out,
                    "Seat %u: routes %d, tickets %d (%d complete, %d not), bonus %d, total %d%s\n",
                    seat, sheet->routes, sheet->tickets, sheet->completed, sheet->failed,
                    sheet->bonus, sheet->total, view->state->winners >> seat & 1 ? ", wins" : "");
    }
    ty_text_add(view->out, "%s",
                view->state->head.truncated ? "Cut short by the cap of turns.\n" : "");
}

void tickets_text(const TyRuleset *ruleset, const void *state_, uint32_t seat, TyText *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    const View view = {.tables = tables, .state = state, .seat = seat, .out = out};
    bool player = seat < tables->player_count;
    ty_text_add(out, "%s, turn %u", tables->names.bytes + tables->map_title, state->turns);
    ty_text_add(out, state->head.over ? ", over.\n" : ", seat %u to act.\n", state->active);
    if (!state->head.over) {
        text_goal(&view);
        text_end_near(&view);
    }
    text_cards(&view);
    for (uint32_t owner = 0; owner < tables->player_count; owner++) {
        text_seat(&view, owner);
    }
    if (player) {
        text_own_tickets(&view);
    }
    if (player && !state->head.over) {
        text_bonus(&view);
    }
    if (state->head.over) {
        text_result(&view);
        return;
    }
    text_routes(&view);
    text_question(&view);
}
