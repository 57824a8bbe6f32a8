/* The ticket games: positions as JSON. */
#include "games/tickets/state.h"

static void json_cards(TyJson *out, const char *key, const TicketsTables *tables,
                       const uint8_t cards[TICKETS_SLOTS])
{
    ty_json_open(out, key, '{');
    for (uint32_t i = 0; i < tables->type_count; i++) {
        if (cards[i] > 0) {
            ty_json_put_int(out, tickets_name_type(tables, i), cards[i]);
        }
    }
    ty_json_close(out, '}');
}

static void json_tickets(TyJson *out, const char *key, const TicketsTables *tables, uint64_t set)
{
    ty_json_open(out, key, '[');
    for (; set != 0; set &= set - 1) {
        ty_json_put_string(out, NULL, tickets_name_ticket(tables, (uint32_t)__builtin_ctzll(set)));
    }
    ty_json_close(out, ']');
}

static void json_routes(TyJson *out, const TicketsTables *tables, const TicketsState *state,
                        uint32_t seat)
{
    ty_json_open(out, "routes", '[');
    for (uint32_t i = 0; i < tables->route_count; i++) {
        if (state->owner[i] == seat + 1) {
            ty_json_put_string(out, NULL, tickets_name_route(tables, i));
        }
    }
    ty_json_close(out, ']');
}

static void json_seat(TyJson *out, const TicketsTables *tables, const TicketsState *state,
                      uint32_t seat)
{
    ty_json_open(out, NULL, '{');
    json_cards(out, "hand", tables, state->hand[seat]);
    json_cards(out, "known", tables, state->known[seat]);
    json_tickets(out, "tickets", tables, state->tickets[seat]);
    json_tickets(out, "refused", tables, state->returned[seat]);
    ty_json_put_int(out, "wagons", state->wagons[seat]);
    ty_json_put_int(out, "points", state->points[seat]);
    if (tables->rules.link_bonus) {
        uint8_t place = state->bonus[seat];
        ty_json_put_int(out, "bonus", place == 0 ? 0 : tables->bonus_points[place - 1]);
    }
    json_routes(out, tables, state, seat);
    ty_json_close(out, '}');
}

/* The batches under the ticket deck, the one that is drawn first in front. */
static void json_batches(TyJson *out, const TicketsTables *tables, const TicketsState *state)
{
    ty_json_open(out, "batches", '[');
    for (uint32_t batch = state->batch_first; batch < state->ticket_end; batch++) {
        uint64_t set = 0;
        for (uint32_t i = 0; i < tables->ticket_count; i++) {
            set |= (uint64_t)(state->batch[i] == batch) << i;
        }
        if (set != 0) {
            json_tickets(out, NULL, tables, set);
        }
    }
    ty_json_close(out, ']');
}

void tickets_state_json(const TyRuleset *ruleset, const void *state_, TyJson *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    ty_json_put_int(out, "turn", state->turns);
    ty_json_put_int(out, "active", state->active);
    ty_json_put_string(out, "phase", tickets_phases[state->head.phase]);
    json_cards(out, "row", tables, state->row);
    json_cards(out, "deck", tables, state->deck);
    json_cards(out, "discard", tables, state->discard);
    if (tables->rules.locomotives_apart) {
        ty_json_put_int(out, "stack", state->stack);
    }
    json_tickets(out, "ticket_deck", tables, state->ticket_deck);
    if (tables->rules.tickets_under) {
        json_batches(out, tables, state);
    }
    json_tickets(out, "offered", tables, state->offered);
    json_tickets(out, "chosen", tables, state->chosen);
    if (state->route != 0) {
        ty_json_put_string(out, "route", tickets_name_route(tables, state->route - 1u));
        json_cards(out, "laid", tables, state->laid);
        json_cards(out, "revealed", tables, state->revealed);
        ty_json_put_int(out, "due", state->due);
    }
    ty_json_put_int(out, "last_turns", state->last_turns);
    ty_json_put_int(out, "passes", state->passes);
    ty_json_open(out, "seats", '[');
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        json_seat(out, tables, state, seat);
    }
    ty_json_close(out, ']');
}
