/* A table for the rule tests of the ticket games: positions set up and played by the names of
 * things, chance as the test says.
 *
 * A test opens its table, clears it, gives cards, routes and tickets, declares it ready, says with
 * table_chance what the decks will show, acts, and looks at the state, the legal actions and the
 * events of the last action. */
#pragma once

#include <stdlib.h>

#include "games/tickets/state.h"

#define TABLE_GAME "tickets"
#define TABLE_TABLES TicketsTables
#define TABLE_STATE TicketsState
#include "agent.h"
#include "tests/games/table.h"

/* ---- Names ----------------------------------------------------------------------------------- */

static inline uint8_t table_type(const Table *table, const char *name)
{
    uint32_t type = 0;
    if (!ty_outcome_find(table->ruleset, STREAM_CARDS, name, &type)) {
        fail_msg("there is no card '%s'", name);
    }
    return (uint8_t)type;
}

static inline uint8_t table_ticket(const Table *table, const char *name)
{
    uint32_t ticket = 0;
    if (!ty_outcome_find(table->ruleset, STREAM_TICKETS, name, &ticket)) {
        fail_msg("there is no ticket '%s'", name);
    }
    return (uint8_t)ticket;
}

static inline uint64_t table_ticket_bit(const Table *table, const char *name)
{
    return UINT64_C(1) << table_ticket(table, name);
}

static inline uint8_t table_route(const Table *table, const char *name)
{
    for (uint8_t i = 0; i < table->tables->route_count; i++) {
        if (strcmp(tickets_name_route(table->tables, i), name) == 0) {
            return i;
        }
    }
    fail_msg("there is no route '%s'", name);
    return 0;
}

/* ---- Playing --------------------------------------------------------------------------------- */

/* Opens a table with a ruleset such as "nordic:players=3" and begins an episode. */
static inline Table *table_open(void **slot, const char *spec)
{
    Table *table = table_make(slot, spec);
    table->tables = tickets_tables(table->ruleset);
    table_reset(table, 0);
    return table;
}

/* The legal actions are exactly those listed, separated by '|'. */
static inline void table_expect(const Table *table, const char *names)
{
    char text[1024];
    uint32_t count = 0;
    snprintf(text, sizeof text, "%s", names);
    for (char *name = strtok(text, "|"); name != NULL; name = strtok(NULL, "|")) {
        if (!table_may(table, name)) {
            fail_msg("'%s' is not legal", name);
        }
        count++;
    }
    assert_int_equal(table_choices(table), count);
}

static inline const TyEvent *table_last_event(const Table *table, TicketsEvent kind)
{
    const TyEvent *found = NULL;
    for (uint32_t i = 0; i < table->event_count; i++) {
        found = table->events[i].kind == kind ? &table->events[i] : found;
    }
    assert_non_null(found);
    return found;
}

static inline int32_t table_metric(const Table *table, const char *name)
{
    int32_t metrics[TY_METRICS_MAX];
    const TyShape *shape = ty_shape(table->ruleset);
    ty_metrics(table->ruleset, &table->state, metrics);
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        if (strcmp(shape->metrics[i], name) == 0) {
            return metrics[i];
        }
    }
    fail_msg("there is no metric '%s'", name);
    return 0;
}

/* Value `column` of `block` in the row of `seat`. */
static inline uint32_t table_row_value(const Table *table, uint32_t seat, const char *block,
                                       uint32_t column)
{
    uint8_t row[TY_ROW_MAX];
    const TyShape *shape = ty_shape(table->ruleset);
    ty_observe(table->ruleset, &table->state, seat, row);
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        const TyBlock *found = &shape->row_blocks[i];
        if (strcmp(found->name, block) == 0) {
            const uint8_t *at = row + found->offset + (size_t)column * found->width;
            return found->width == 2 ? (uint32_t)(at[0] | at[1] << 8) : at[0];
        }
    }
    fail_msg("there is no block '%s'", block);
    return 0;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

/* Empties the table: all cards and tickets are in their decks, no route is taken, and the turn is
 * seat 0's. */
static inline void table_clear(Table *table)
{
    const TicketsTables *tables = table->tables;
    TicketsState *state = &table->state;
    TyHead head = state->head;
    memset(state, 0, sizeof *state);
    head.seat = 0;
    state->head = head;
    memcpy(state->deck, tables->card_count, sizeof state->deck);
    if (tables->rules.locomotives_apart) {
        state->stack = tables->card_count[tables->locomotive];
        state->deck[tables->locomotive] = 0;
    }
    state->ticket_deck = tickets_all(tables);
    state->ticket_end = tables->ticket_count;
    state->batch_first = tables->ticket_count;
    state->head.phase = PHASE_TURN;
    state->turns = 1;
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        state->wagons[seat] = tables->wagons;
        for (uint8_t city = 0; city < tables->city_count; city++) {
            state->network[seat][city] = city;
        }
    }
}

/* Where a card comes from and how it gets known, for the game with a stack of locomotives. */
static inline uint8_t *table_source(Table *table, uint8_t type)
{
    bool apart = table->tables->rules.locomotives_apart && type == table->tables->locomotive;
    return apart ? &table->state.stack : &table->state.deck[type];
}

static inline void table_hand(Table *table, uint8_t seat, const char *card, uint8_t count)
{
    uint8_t type = table_type(table, card);
    uint8_t *source = table_source(table, type);
    assert_true(*source >= count);
    *source = (uint8_t)(*source - count);
    table->state.hand[seat][type] = (uint8_t)(table->state.hand[seat][type] + count);
    if (source == &table->state.stack) {
        table->state.known[seat][type] = table->state.hand[seat][type];
    }
}

static inline void table_face_up(Table *table, const char *card, uint8_t count)
{
    uint8_t type = table_type(table, card);
    assert_true(table->state.deck[type] >= count);
    table->state.deck[type] = (uint8_t)(table->state.deck[type] - count);
    table->state.row[type] = (uint8_t)(table->state.row[type] + count);
}

static inline void table_discard(Table *table, const char *card, uint8_t count)
{
    uint8_t type = table_type(table, card);
    assert_true(table->state.deck[type] >= count);
    table->state.deck[type] = (uint8_t)(table->state.deck[type] - count);
    table->state.discard[type] = (uint8_t)(table->state.discard[type] + count);
}

/* Gives what is left in the deck to a seat. */
static inline void table_deck_to(Table *table, uint8_t seat)
{
    for (uint32_t i = 0; i < TICKETS_SLOTS; i++) {
        table->state.hand[seat][i] = (uint8_t)(table->state.hand[seat][i] + table->state.deck[i]);
        table->state.deck[i] = 0;
    }
}

/* Gives a route to a seat, whatever it costs. */
static inline void table_own(Table *table, uint8_t seat, const char *name)
{
    const TicketsTables *tables = table->tables;
    TicketsState *state = &table->state;
    uint8_t index = table_route(table, name);
    const Route *route = &tables->route[index];
    uint8_t a = state->network[seat][route->city[0]];
    uint8_t b = state->network[seat][route->city[1]];
    assert_true(state->wagons[seat] >= route->length);
    state->owner[index] = (uint8_t)(seat + 1);
    state->wagons[seat] = (uint8_t)(state->wagons[seat] - route->length);
    state->points[seat] = (uint16_t)(state->points[seat] + route->points);
    for (uint32_t city = 0; city < tables->city_count; city++) {
        if (state->network[seat][city] == (a > b ? a : b)) {
            state->network[seat][city] = a < b ? a : b;
        }
    }
    for (uint32_t other = 0; other < tables->player_count; other++) {
        routes_add(&state->closed[other], index);
        if (route->twin != TICKETS_NONE && (other == seat || tables->player_count == 2)) {
            routes_add(&state->closed[other], route->twin);
        }
    }
}

/* Gives a ticket of the deck to a seat. */
static inline void table_ticket_to(Table *table, uint8_t seat, const char *name)
{
    uint64_t bit = table_ticket_bit(table, name);
    assert_true((table->state.ticket_deck & bit) != 0);
    table->state.ticket_deck &= ~bit;
    table->state.ticket_drawn++;
    table->state.tickets[seat] |= bit;
}

/* Leaves only `count` tickets in the deck, the last ones; the others go to a seat. */
static inline void table_tickets_leave(Table *table, uint8_t seat, uint32_t count)
{
    TicketsState *state = &table->state;
    while ((uint32_t)__builtin_popcountll(state->ticket_deck) > count) {
        uint64_t bit = state->ticket_deck & -state->ticket_deck;
        state->ticket_deck &= ~bit;
        state->ticket_drawn++;
        state->tickets[seat] |= bit;
    }
}

/* Declares the position ready: the turn is `seat`'s. */
static inline void table_ready(Table *table, uint8_t seat)
{
    TicketsState *state = &table->state;
    state->active = seat;
    state->head.seat = (int8_t)seat;
    for (uint32_t i = 0; i < table->tables->player_count; i++) {
        state->complete[i] = tickets_linked(table->tables, state->network[i], state->tickets[i]);
    }
    memset(state->answers, 0, sizeof state->answers);
    tickets_answers(table->ruleset, state, state->answers);
    table_settle(table);
}

/* ---- Map files ------------------------------------------------------------------------------- */

/* The content of a built-in map; the caller frees it. */
static inline char *map_text(const char *game, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/env/games/%s/data/%s.json", TY_SOURCE_DIR, game, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, file) > 0);
    fclose(file);
    return text;
}

/* Expects that the tiny map of a game with `from` replaced by `to` is refused with `message`. */
static inline void map_refused(const char *game, const char *from, const char *to,
                               const char *message)
{
    char *text = map_text(game, "tiny");
    char *at = strstr(text, from);
    assert_non_null(at);
    char *changed = calloc(1, 65536 + strlen(to));
    assert_non_null(changed);
    snprintf(changed, 65536, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    TyStatus status = ty_file_check(changed, strlen(changed), &kind, name);
    free(text);
    free(changed);
    assert_int_equal(status.code, TY_BAD_FILE);
    if (strstr(status.message, message) == NULL) {
        fail_msg("the message is \"%s\", expected \"%s\"", status.message, message);
    }
}

/* ---- The expert ------------------------------------------------------------------------------ */

/* One episode of the expert in `seat` against random play; true if the expert wins alone. */
static inline bool expert_wins(const TyRuleset *ruleset, uint32_t seat, uint64_t seed)
{
    static uint64_t state[TY_STATE_MAX / 8];
    static uint64_t memory[TY_LINEUP_MEMORY_MAX / 8];
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    int32_t reward[TY_SEATS_MAX] = {0};
    TyLineup lineup;
    for (uint32_t i = 0; i < ty_shape(ruleset)->players; i++) {
        agents[i] = ty_agent_find(ty_ruleset_game(ruleset), i == seat ? "expert" : "random");
    }
    ty_lineup_init(&lineup, ruleset, agents, memory);
    ty_lineup_start(&lineup, seed);
    ty_reset(ruleset, state, seed, NULL);
    while (!ty_head(state)->over) {
        ty_lineup_step(&lineup, state, reward);
    }
    return reward[seat] == TY_REWARD_ONE;
}

/* The expert acts legally in every episode and wins at least `percent` of them, from every seat. */
static inline void expert_is_strong(const char *spec, uint32_t episodes, uint32_t percent)
{
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    uint32_t players = ty_shape(ruleset)->players;
    uint32_t wins = 0;
    for (uint32_t i = 0; i < episodes; i++) {
        wins += expert_wins(ruleset, i % players, i);
    }
    ty_ruleset_close(ruleset);
    if (100 * wins < percent * episodes) {
        fail_msg("%s: the expert won %u of %u", spec, wins, episodes);
    }
}
