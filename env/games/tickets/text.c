/* The ticket games: positions and events as text and as JSON. */
#include "games/tickets/names.h"

/* ---- JSON --------------------------------------------------------------------------------------
 */

static void json_cards(Json *out, const char *key, const TicketsTables *tables,
                       const uint8_t cards[TICKETS_SLOTS])
{
    json_open(out, key, '{');
    for (uint32_t i = 0; i < tables->type_count; i++) {
        if (cards[i] > 0) {
            json_put_int(out, tickets_name_type(tables, i), cards[i]);
        }
    }
    json_close(out, '}');
}

static void json_tickets(Json *out, const char *key, const TicketsTables *tables, uint64_t set)
{
    json_open(out, key, '[');
    for (; set != 0; set &= set - 1) {
        json_put_string(out, NULL, tickets_name_ticket(tables, (uint32_t)__builtin_ctzll(set)));
    }
    json_close(out, ']');
}

static void json_routes(Json *out, const TicketsTables *tables, const TicketsState *state,
                        uint32_t seat)
{
    json_open(out, "routes", '[');
    for (uint32_t i = 0; i < tables->route_count; i++) {
        if (state->owner[i] == seat + 1) {
            json_put_string(out, NULL, tickets_name_route(tables, i));
        }
    }
    json_close(out, ']');
}

static void json_seat(Json *out, const TicketsTables *tables, const TicketsState *state,
                      uint32_t seat)
{
    json_open(out, NULL, '{');
    json_cards(out, "hand", tables, state->hand[seat]);
    json_cards(out, "known", tables, state->known[seat]);
    json_tickets(out, "tickets", tables, state->tickets[seat]);
    json_tickets(out, "refused", tables, state->returned[seat]);
    json_put_int(out, "wagons", state->wagons[seat]);
    json_put_int(out, "points", state->points[seat]);
    if (tables->rules.link_bonus) {
        uint8_t place = state->bonus[seat];
        json_put_int(out, "bonus", place == 0 ? 0 : tables->bonus_points[place - 1]);
    }
    json_routes(out, tables, state, seat);
    json_close(out, '}');
}

/* The batches under the ticket deck, the one that is drawn first in front. */
static void json_batches(Json *out, const TicketsTables *tables, const TicketsState *state)
{
    json_open(out, "batches", '[');
    for (uint32_t batch = state->batch_first; batch < state->ticket_end; batch++) {
        uint64_t set = 0;
        for (uint32_t i = 0; i < tables->ticket_count; i++) {
            set |= (uint64_t)(state->batch[i] == batch) << i;
        }
        if (set != 0) {
            json_tickets(out, NULL, tables, set);
        }
    }
    json_close(out, ']');
}

void tickets_state_json(const TyRuleset *ruleset, const void *state_, Json *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    json_put_int(out, "turn", state->turns);
    json_put_int(out, "active", state->active);
    json_put_string(out, "phase", tickets_name_phase(state->phase));
    json_cards(out, "row", tables, state->row);
    json_cards(out, "deck", tables, state->deck);
    json_cards(out, "discard", tables, state->discard);
    if (tables->rules.locomotives_apart) {
        json_put_int(out, "stack", state->stack);
    }
    json_tickets(out, "ticket_deck", tables, state->ticket_deck);
    if (tables->rules.tickets_under) {
        json_batches(out, tables, state);
    }
    json_tickets(out, "offered", tables, state->offered);
    json_tickets(out, "chosen", tables, state->chosen);
    if (state->route != 0) {
        json_put_string(out, "route", tickets_name_route(tables, state->route - 1u));
        json_cards(out, "laid", tables, state->laid);
        json_cards(out, "revealed", tables, state->revealed);
        json_put_int(out, "due", state->due);
    }
    json_put_int(out, "last_turns", state->last_turns);
    json_put_int(out, "passes", state->passes);
    json_open(out, "seats", '[');
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        json_seat(out, tables, state, seat);
    }
    json_close(out, ']');
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static const char *const end_names[] = {"last_round", "all_passed", "turn_cap"};

static void event_end_json(const TicketsTables *tables, const TyEvent *event, Json *out)
{
    json_put_string(out, "event", "end");
    json_open(out, "winners", '[');
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        if (event->args[0] >> seat & 1) {
            json_put_int(out, NULL, seat);
        }
    }
    json_close(out, ']');
    json_put_string(out, "reason", end_names[event->args[1]]);
}

/* An event of a seat with one named thing. */
static void event_of_seat(Json *out, const TyEvent *event, const char *name, const char *key,
                          const char *value)
{
    json_put_string(out, "event", name);
    json_put_int(out, "seat", event->seat);
    json_put_string(out, key, value);
}

static void event_with_int(Json *out, const TyEvent *event, const char *name, const char *key)
{
    json_put_string(out, "event", name);
    json_put_int(out, "seat", event->seat);
    json_put_int(out, key, event->args[0]);
}

/* Events about tickets and routes. */
static void event_map_json(const TicketsTables *tables, const TyEvent *event, Json *out)
{
    uint32_t index = (uint32_t)event->args[0];
    if (event->kind == EVENT_OFFER) {
        event_of_seat(out, event, "offer", "ticket", tickets_name_ticket(tables, index));
    } else if (event->kind == EVENT_CHOOSE) {
        event_of_seat(out, event, "choose", "ticket", tickets_name_ticket(tables, index));
        json_put_bool(out, "kept", event->args[1]);
    } else if (event->kind == EVENT_WITHDRAW) {
        event_of_seat(out, event, "withdraw", "route", tickets_name_route(tables, index));
    } else {
        event_of_seat(out, event, "claim", "route", tickets_name_route(tables, index));
        json_put_int(out, "points", event->args[1]);
        json_put_int(out, "wagons", event->args[2]);
    }
}

/* Events about one wagon card. */
static void event_card_json(const TicketsTables *tables, const TyEvent *event, Json *out)
{
    const char *card = tickets_name_type(tables, (uint32_t)event->args[0]);
    if (event->kind == EVENT_DEAL) {
        json_put_string(out, "event", "deal");
        json_put_int(out, "seat", event->args[1]);
        json_put_string(out, "card", card);
    } else if (event->kind == EVENT_TURN_UP) {
        json_put_string(out, "event", "turn_up");
        json_put_string(out, "card", card);
    } else if (event->kind == EVENT_BLIND) {
        event_of_seat(out, event, "draw", "card", card);
    } else if (event->kind == EVENT_TAKE) {
        event_of_seat(out, event, "take", "card", card);
    } else if (event->kind == EVENT_REVEAL) {
        event_of_seat(out, event, "reveal", "card", card);
    } else {
        event_of_seat(out, event, "lay", "card", card);
        json_put_string(out, "route", tickets_name_route(tables, (uint32_t)event->args[1]));
    }
}

void tickets_event_json(const TyRuleset *ruleset, const TyEvent *event, Json *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    switch ((TicketsEvent)event->kind) {
    case EVENT_END:
        event_end_json(tables, event, out);
        break;
    case EVENT_FIRST_PLAYER:
        json_put_string(out, "event", "first_player");
        json_put_int(out, "seat", event->args[0]);
        break;
    case EVENT_DEAL:
    case EVENT_TURN_UP:
    case EVENT_BLIND:
    case EVENT_TAKE:
    case EVENT_REVEAL:
    case EVENT_LAY:
        event_card_json(tables, event, out);
        break;
    case EVENT_OFFER:
    case EVENT_CHOOSE:
    case EVENT_WITHDRAW:
    case EVENT_CLAIM:
        event_map_json(tables, event, out);
        break;
    case EVENT_RESHUFFLE:
        json_put_string(out, "event", "reshuffle");
        json_put_int(out, "cards", event->args[0]);
        break;
    case EVENT_TURN:
        event_with_int(out, event, "turn", "turn");
        break;
    case EVENT_LOCOMOTIVE:
        event_with_int(out, event, "take_locomotive", "stack");
        break;
    case EVENT_DUE:
        event_with_int(out, event, "tunnel", "due");
        break;
    case EVENT_BONUS:
        event_with_int(out, event, "bonus", "points");
        break;
    case EVENT_LAST_ROUND:
        event_with_int(out, event, "last_round", "turns");
        break;
    case EVENT_PASS:
        json_put_string(out, "event", "pass");
        json_put_int(out, "seat", event->seat);
        break;
    }
}

/* ---- Text --------------------------------------------------------------------------------------
 */

static void text_cards(const TicketsTables *tables, const uint8_t cards[TICKETS_SLOTS], Text *out)
{
    const char *separator = "";
    for (uint32_t i = 0; i < tables->type_count; i++) {
        if (cards[i] > 0) {
            text_add(out, "%s%u %s", separator, cards[i], tickets_name_type(tables, i));
            separator = ", ";
        }
    }
    text_add(out, "%s", separator[0] == '\0' ? "none" : "");
}

static void text_route(const TicketsTables *tables, uint32_t index, Text *out)
{
    static const char *const kinds[] = {"", ", tunnel", ", ferry", ", four for one"};
    const Route *route = &tables->route[index];
    text_add(out, "%s (%u %s%s", tickets_name_route(tables, index), route->length,
             tickets_name_colour(tables, route->colour), kinds[route->kind]);
    if (route->kind == ROUTE_FERRY) {
        text_add(out, " %u", route->length - route->matched);
    }
    text_add(out, ")");
}

static void text_ticket(const TicketsTables *tables, uint32_t index, Text *out)
{
    text_add(out, "%s %u", tickets_name_ticket(tables, index), tables->ticket[index].points);
}

static void text_seat(const TicketsTables *tables, const TicketsState *state, uint32_t owner,
                      uint32_t seat, Text *out)
{
    text_add(out, "Seat %u%s: %u wagons, %u points for routes, ", owner,
             owner == seat ? " (you)" : "", state->wagons[owner], state->points[owner]);
    if (state->bonus[owner] != 0) {
        text_add(out, "bonus of %u, ", tables->bonus_points[state->bonus[owner] - 1]);
    }
    if (owner != seat && state->phase == PHASE_KEEP_FIRST) {
        text_add(out, "first tickets; ");
    } else {
        text_add(out, "%d tickets; ", __builtin_popcountll(state->tickets[owner]));
    }
    text_add(out, "%u cards: ", cards_total(state->hand[owner]));
    text_cards(tables, owner == seat ? state->hand[owner] : state->known[owner], out);
    text_add(out, "%s\n  routes:", owner == seat ? "" : " seen");
    for (uint32_t i = 0; i < tables->route_count; i++) {
        if (state->owner[i] == owner + 1) {
            text_add(out, " %s", tickets_name_route(tables, i));
        }
    }
    text_add(out, "\n");
}

static void text_own_tickets(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                             Text *out)
{
    text_add(out, "Your tickets:");
    for (uint64_t left = state->tickets[seat]; left != 0; left &= left - 1) {
        uint32_t ticket = (uint32_t)__builtin_ctzll(left);
        text_add(out, " ");
        text_ticket(tables, ticket, out);
        text_add(out, "%s;", state->complete[seat] >> ticket & 1 ? " (complete)" : "");
    }
    text_add(out, "\n");
}

static void text_question(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                          Text *out)
{
    text_add(out, "Question: %s", tickets_name_phase(state->phase));
    for (uint64_t left = state->active == seat ? state->offered : 0; left != 0; left &= left - 1) {
        text_add(out, "%s", left == state->offered ? ", offered: " : "; ");
        text_ticket(tables, (uint32_t)__builtin_ctzll(left), out);
    }
    if (state->route != 0) {
        text_add(out, ", paying for ");
        text_route(tables, state->route - 1u, out);
        text_add(out, ", laid: ");
        text_cards(tables, state->laid, out);
    }
    if (state->due != 0) {
        text_add(out, ", revealed: ");
        text_cards(tables, state->revealed, out);
        text_add(out, ", %u more wanted", state->due);
    }
    text_add(out, "\n");
}

static void text_result(const TicketsTables *tables, const TicketsState *state, Text *out)
{
    Sheet sheets[TY_PLAYERS_MAX];
    tickets_sheets(tables, state, sheets);
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        const Sheet *sheet = &sheets[seat];
        text_add(out,
                 "Seat %u: routes %d, tickets %d (%d complete, %d not), bonus %d, total %d%s\n",
                 seat, sheet->routes, sheet->tickets, sheet->completed, sheet->failed, sheet->bonus,
                 sheet->total, state->winners >> seat & 1 ? ", wins" : "");
    }
    text_add(out, "%s", state->head.truncated ? "Cut short by the cap of turns.\n" : "");
}

void tickets_text(const TyRuleset *ruleset, const void *state_, uint32_t seat, Text *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    text_add(out, "%s, turn %u, seat %u to act.", tables->names + tables->map_title, state->turns,
             state->active);
    if (state->last_turns > 0) {
        text_add(out, " Turns left: %u.", state->last_turns);
    }
    text_add(out, "\nFace up: ");
    text_cards(tables, state->row, out);
    text_add(out, ". Deck: %u. Discards: ", cards_total(state->deck));
    text_cards(tables, state->discard, out);
    if (tables->rules.locomotives_apart) {
        text_add(out, ". Locomotives: %u", state->stack);
    }
    if (state->phase != PHASE_KEEP_FIRST) {
        text_add(out, ". Tickets to draw: %u", tickets_left(state));
    }
    text_add(out, "\n");
    for (uint32_t owner = 0; owner < tables->player_count; owner++) {
        text_seat(tables, state, owner, seat, out);
    }
    if (seat < tables->player_count) {
        text_own_tickets(tables, state, seat, out);
    }
    if (state->head.over) {
        text_result(tables, state, out);
    } else {
        text_question(tables, state, seat, out);
    }
}
