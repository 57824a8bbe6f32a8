/* The ticket games: what a choice costs, and how far a ticket is from being completed. */
#include "games/tickets/text.h"

enum {
    WAY_FAR = 0xff,
    PAYMENTS_SHOWN = 3,  /* payments that are told of one choice */
    PAYMENTS_MAX = 1000, /* payments among which those are chosen */
    PAYMENT_MAX = 4 * TICKETS_LENGTH_MAX,
};

/* ---- Ways --------------------------------------------------------------------------------------
 */

/* Wagons that the seat needs for a route: none for its own; WAY_FAR for one that it cannot take. */
static uint32_t route_wagons(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                             uint32_t route)
{
    if (state->owner[route] == seat + 1) {
        return 0;
    }
    return routes_have(&state->closed[seat], route) ? WAY_FAR : tables->route[route].length;
}

/* Distances from a city, and the route by which each city is reached. Improves them as long as
 * there is anything to improve: maps are small. */
typedef struct Distances {
    uint8_t wagons[TICKETS_CITIES_MAX];
    uint8_t by[TICKETS_CITIES_MAX];
} Distances;

static void distances_find(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                           uint8_t from, Distances *distances)
{
    bool changed = true;
    memset(distances->wagons, WAY_FAR, sizeof distances->wagons);
    memset(distances->by, TICKETS_NONE, sizeof distances->by);
    distances->wagons[from] = 0;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < 2u * tables->route_count; i++) {
            const uint8_t *city = tables->route[i / 2].city;
            uint8_t here = city[i % 2];
            uint8_t there = city[1 - i % 2];
            uint32_t wagons = distances->wagons[here] + route_wagons(tables, state, seat, i / 2);
            if (wagons < distances->wagons[there]) {
                distances->wagons[there] = (uint8_t)wagons;
                distances->by[there] = (uint8_t)(i / 2);
                changed = true;
            }
        }
    }
}

TicketsWay tickets_way(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                       const uint8_t city[2])
{
    Distances distances;
    TicketsWay way = {.open = false};
    distances_find(tables, state, seat, city[0], &distances);
    way.open = distances.wagons[city[1]] != WAY_FAR;
    way.wagons = distances.wagons[city[1]];
    for (uint8_t at = city[1]; way.open && at != city[0];) {
        const uint8_t route = distances.by[at];
        const uint8_t *ends = tables->route[route].city;
        if (state->owner[route] != seat + 1) {
            way.route[way.route_count++] = route;
        }
        at = ends[0] == at ? ends[1] : ends[0];
    }
    return way;
}

void tickets_write_way(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                       const uint8_t city[2], TyText *out)
{
    TicketsWay way = tickets_way(tables, state, seat, city);
    if (way.open && way.wagons == 0) {
        ty_text_add(out, "complete");
    } else if (state->head.over) {
        ty_text_add(out, "not completed");
    } else if (!way.open) {
        ty_text_add(out, "cannot be completed any more");
    } else {
        ty_text_add(out, "needs ");
        ty_text_put_count(out, way.wagons, "more wagon");
        ty_text_add(out, "%s, for example",
                    way.wagons > state->wagons[seat] ? ", which are more than are left" : "");
        for (uint32_t i = way.route_count; i-- > 0;) {
            ty_text_add(out, "%s %s (", i + 1 == way.route_count ? "" : " +",
                        tickets_name_route(tables, way.route[i]));
            tickets_write_route(tables, way.route[i], out);
            ty_text_add(out, ")");
        }
    }
}

/* ---- Payments ----------------------------------------------------------------------------------
 */

/* The whole payments that a choice leaves open: those with the fewest cards. */
typedef struct Payments {
    uint32_t count; /* of all, up to PAYMENTS_MAX */
    uint8_t laid[PAYMENTS_SHOWN][TICKETS_SLOTS];
} Payments;

static void card_lay(TicketsState *state, uint8_t type)
{
    state->hand[state->active][type]--;
    state->laid[type]++;
    state->cursor = type;
}

static void card_take_back(TicketsState *state, uint8_t type, uint8_t cursor)
{
    state->hand[state->active][type]++;
    state->laid[type]--;
    state->cursor = cursor;
}

/* Keeps the cards laid, if they are a whole payment, among the cheapest ones. */
static void payment_note(const TicketsTables *tables, const TicketsState *state, Payments *payments)
{
    if (!tickets_payment_complete(tables, &tables->route[state->route - 1], state->laid)) {
        return;
    }
    uint32_t kept = payments->count < PAYMENTS_SHOWN ? payments->count : PAYMENTS_SHOWN;
    uint32_t at = kept;
    while (at > 0 && cards_total(payments->laid[at - 1]) > cards_total(state->laid)) {
        at--;
    }
    if (at < PAYMENTS_SHOWN) {
        uint32_t moved = (kept < PAYMENTS_SHOWN ? kept : PAYMENTS_SHOWN - 1) - at;
        memmove(payments->laid[at + 1], payments->laid[at], moved * sizeof payments->laid[0]);
        memcpy(payments->laid[at], state->laid, sizeof state->laid);
    }
    payments->count++;
}

/* Lays every sequence of cards that the rules allow from here on, until no payment is left.
 * `state` is a copy to work on. */
static Payments payments_find(const TicketsTables *tables, TicketsState *state)
{
    Payments payments = {.count = 0};
    uint32_t open[PAYMENT_MAX + 1] = {tickets_payment_next(tables, state)};
    uint8_t type[PAYMENT_MAX + 1] = {0};
    uint8_t cursor[PAYMENT_MAX + 1] = {0};
    uint32_t depth = 0;
    payment_note(tables, state, &payments);
    while (payments.count < PAYMENTS_MAX) {
        if (open[depth] != 0) {
            type[depth] = (uint8_t)__builtin_ctz(open[depth]);
            cursor[depth] = state->cursor;
            open[depth] &= open[depth] - 1;
            card_lay(state, type[depth]);
            payment_note(tables, state, &payments);
            depth++;
            open[depth] = tickets_payment_next(tables, state);
        } else if (depth > 0) {
            depth--;
            card_take_back(state, type[depth], cursor[depth]);
        } else {
            break;
        }
    }
    return payments;
}

static void payments_write(const TicketsTables *tables, const Payments *payments, TyText *out)
{
    uint32_t shown = payments->count < PAYMENTS_SHOWN ? payments->count : PAYMENTS_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        ty_text_add(out, "%s", i == 0 ? "" : ", or ");
        tickets_write_cards(tables, payments->laid[i], " + ", out);
    }
    ty_text_add(out, "%s", payments->count > PAYMENTS_SHOWN ? ", or others" : "");
}

/* What taking a route costs and gives. A payment without a choice is not asked for. */
static void explain_claim(const TicketsTables *tables, const TicketsState *state, uint32_t route,
                          TyText *out)
{
    TicketsState copy = *state;
    copy.route = (uint8_t)(route + 1);
    copy.cursor = 0;
    Payments payments = payments_find(tables, &copy);
    tickets_write_route(tables, route, out);
    ty_text_add(out, ", ");
    ty_text_put_count(out, tables->route[route].points, "point");
    ty_text_add(out, "; %s ", payments.count == 1 ? "costs" : "then choose what to pay:");
    payments_write(tables, &payments, out);
    if (tables->route[route].kind == ROUTE_TUNNEL) {
        ty_text_add(out, "; then perhaps more, or withdraw");
    }
}

static void explain_pay(const TicketsTables *tables, const TicketsState *state, uint8_t type,
                        TyText *out)
{
    TicketsState copy = *state;
    card_lay(&copy, type);
    Payments payments = payments_find(tables, &copy);
    ty_text_add(out, "the whole payment %s ",
                payments.count == 1 ? "is then, without further question," : "can then be");
    payments_write(tables, &payments, out);
}

static void explain_keep(const TicketsTables *tables, const TicketsState *state, uint32_t ticket,
                         TyText *out)
{
    ty_text_put_count(out, tables->ticket[ticket].points, "point");
    ty_text_add(out, "; ");
    tickets_write_way(tables, state, state->active, tables->ticket[ticket].city, out);
}

void tickets_explain(const TyRuleset *ruleset, const void *state_, uint32_t action, TyText *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    TyChoice choice = ty_choice(ruleset, action);
    switch ((ActionForm)choice.form) {
    case FORM_TICKETS:
        ty_text_add(out, "%u are left", tickets_left(state));
        break;
    case FORM_CLAIM:
        explain_claim(tables, state, choice.item, out);
        break;
    case FORM_PAY:
        if (state->head.phase == PHASE_PAY) {
            explain_pay(tables, state, (uint8_t)choice.item, out);
        }
        break;
    case FORM_PAY_DONE:
        tickets_write_cards(tables, state->laid, " + ", out);
        break;
    case FORM_KEEP:
        explain_keep(tables, state, choice.item, out);
        break;
    case FORM_TAKE:
        ty_text_add(out, "you have %u", state->hand[state->active][choice.item]);
        break;
    case FORM_WAIT:
    case FORM_PASS:
    case FORM_BLIND:
    case FORM_LOCOMOTIVE:
    case FORM_KEEP_DONE:
    case FORM_WITHDRAW:
        break;
    }
}
