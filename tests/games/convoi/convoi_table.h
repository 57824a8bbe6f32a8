/* A table for the rule tests of Convoi Express: positions set up and played by the names of things,
 * chance as the test says.
 *
 * A test opens its table, sets up a position with the table_put, table_light, ... family, declares
 * it ready, says with table_chance what dice and cards will show, acts, and looks at the state and
 * at the events of the last action. Boards and decks that are not built in are
 * tests/data/convoi_NAME.json. */
#pragma once

#include "games/convoi/state.h"

#define TABLE_GAME "convoi"
#define TABLE_TABLES ConvoiTables
#define TABLE_STATE ConvoiState
#include "tests/games/table.h"

/* ---- Opening --------------------------------------------------------------------------------- */

/* Opens a table with settings such as "board=yard,players=3", not yet reset. */
static inline Table *table_open(void **slot, const char *settings)
{
    char spec[TY_SPEC_MAX];
    snprintf(spec, sizeof spec, "convoi:%s", settings);
    Table *table = table_make(slot, spec);
    table->tables = convoi_tables(table->ruleset);
    return table;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* The name of an item, until the next one is asked for. */
static inline const char *table_name(const Table *table, const TyNames *names, uint32_t index)
{
    static char name[TY_NAME_MAX];
    TyText text = ty_text_init(name, sizeof name);
    ty_names_write(names, table->ruleset, index, &text);
    return name;
}

static inline uint8_t table_find(const Table *table, const TyNames *names, const char *name)
{
    uint32_t count = ty_names_count(names, table->ruleset);
    for (uint8_t i = 0; i < count; i++) {
        if (strcmp(table_name(table, names, i), name) == 0) {
            return i;
        }
    }
    fail_msg("there is no %s", name);
    return 0;
}

/* The place of `name` in a list of words. */
static inline uint8_t word_find(const TyNames *names, const char *name)
{
    uint8_t index = 0;
    while (names->words[index] != NULL && strcmp(names->words[index], name) != 0) {
        index++;
    }
    assert_non_null(names->words[index]);
    return index;
}

static inline uint8_t table_train(const char *name)
{
    return word_find(&convoi_trains, name);
}

static inline uint8_t table_place(const Table *table, const char *name)
{
    return table_find(table, &convoi_places, name);
}

static inline uint8_t table_city(const Table *table, const char *name)
{
    return city_at(table->tables, table_place(table, name));
}

static inline uint8_t table_light_index(const Table *table, const char *name)
{
    return table_find(table, &convoi_lights, name);
}

static inline uint8_t table_junction(const Table *table, const char *name)
{
    return table_find(table, &convoi_junctions, name);
}

static inline uint8_t table_goods(const char *name)
{
    return word_find(&convoi_goods, name);
}

/* The city, start or junction to which `heading` leads from a track space. */
static inline const char *table_end_name(const Table *table, uint8_t space, uint8_t heading)
{
    const ConvoiTables *tables = table->tables;
    Link link = tables->ahead[2 * space + heading];
    while (link.kind == LINK_SPACE) {
        link = tables->ahead[2 * link.index + link.side];
    }
    return table_name(table,
                      link.kind == LINK_JUNCTION ? &convoi_junctions
                      : link.kind == LINK_CITY   ? &convoi_cities
                                                 : &convoi_starts,
                      link.index);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

/* Gives `seat` these action cards; the deck holds all that are in no hand and not discarded. */
static inline void table_hand(Table *table, uint32_t seat, uint8_t signals, uint8_t switches,
                              uint8_t moves)
{
    const uint8_t cards[CONVOI_KINDS] = {signals, switches, moves};
    ConvoiState *state = &table->state;
    memcpy(state->hand[seat], cards, sizeof cards);
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        uint32_t held = state->discard[kind];
        for (uint32_t i = 0; i < TY_PLAYERS_MAX; i++) {
            held += state->hand[i][kind];
        }
        state->deck[kind] = (uint8_t)(27 - held);
    }
}

/* An open table in a quiet position: seat 0 may play action cards and holds ten of them, the others
 * hold one of each kind, the tracks are empty and the staff have gone home. */
static inline Table *table_quiet(void **slot, const char *options)
{
    Table *table = table_open(slot, options);
    ConvoiState *state = &table->state;
    table_reset(table, 1);
    state->card = CARD_NONE;
    memset(state->place, 0, sizeof state->place);
    memset(state->staff_used, 1, sizeof state->staff_used);
    memset(state->token_spent, 0, sizeof state->token_spent);
    memset(state->first_token, 0, sizeof state->first_token);
    state->symbol = 0;
    state->colour = 0;
    memset(state->named, 0, sizeof state->named);
    state->head.phase = PHASE_ACTIONS;
    table_hand(table, 0, 3, 3, 4);
    for (uint32_t seat = 1; seat < table->tables->player_count; seat++) {
        table_hand(table, seat, 1, 1, 1);
    }
    return table;
}

/* Puts a train into a city or on a start. */
static inline void table_stand(Table *table, const char *train, const char *place)
{
    uint8_t at = table_place(table, place);
    assert_true(at >= table->tables->space_count);
    table->state.place[table_train(train)] = (uint8_t)(at + 1);
    table->state.heading[table_train(train)] = 0;
}

/* Puts a train on a track space; it faces the city, start or junction `towards`. */
static inline void table_put(Table *table, const char *train, const char *space,
                             const char *towards)
{
    uint8_t at = table_place(table, space);
    assert_true(at < table->tables->space_count);
    uint8_t heading = strcmp(table_end_name(table, at, 0), towards) == 0 ? 0 : 1;
    assert_string_equal(table_end_name(table, at, heading), towards);
    table->state.place[table_train(train)] = (uint8_t)(at + 1);
    table->state.heading[table_train(train)] = heading;
}

/* Loads a train with a good from its city. */
static inline void table_carry(Table *table, const char *train, const char *goods)
{
    uint8_t colour = table_goods(goods);
    table->state.cargo[table_train(train)] = (uint8_t)(colour + 1);
    table->state.goods[table->tables->goods_city[colour]]--;
}

/* Brings `count` goods of a colour from their city to a port. */
static inline void table_deliver(Table *table, const char *port, const char *goods, uint8_t count)
{
    uint8_t colour = table_goods(goods);
    uint8_t index = table->tables->city_port[table_city(table, port)];
    ConvoiState *state = &table->state;
    uint8_t city = table->tables->goods_city[colour];
    state->delivered[index][colour] = (uint8_t)(state->delivered[index][colour] + count);
    state->goods_delivered = (uint8_t)(state->goods_delivered + count);
    state->goods[city] = (uint8_t)(state->goods[city] - count);
}

static inline bool table_green(const Table *table, const char *light)
{
    return table->state.green >> table_light_index(table, light) & 1;
}

/* Moves a disc from a green light to a red one. */
static inline void table_light(Table *table, const char *from, const char *to)
{
    assert_true(table_green(table, from));
    assert_false(table_green(table, to));
    table->state.green ^= UINT64_C(1) << table_light_index(table, from);
    table->state.green ^= UINT64_C(1) << table_light_index(table, to);
}

/* The open legs of a junction, such as "north+mill". */
static inline const char *table_setting(const Table *table, const char *junction)
{
    uint8_t index = table_junction(table, junction);
    uint32_t first = table->tables->setting_first[index];
    return table_name(table, &convoi_open_legs, first + table->state.setting[index]);
}

static inline void table_switch(Table *table, const char *junction, const char *legs)
{
    uint8_t index = table_junction(table, junction);
    uint8_t count = junction_setting_count(table->tables->junction_degree[index]);
    for (table->state.setting[index] = 0; strcmp(table_setting(table, junction), legs) != 0;) {
        table->state.setting[index]++;
        assert_true(table->state.setting[index] < count);
    }
}

/* Completes a position that was set up: from here on it is played. */
static inline void table_ready(Table *table)
{
    ConvoiState *state = &table->state;
    settings_note(table->tables, state);
    Kept kept = network_look(table->tables, state);
    memcpy(state->hints, kept.hints, sizeof state->hints);
    state->potential = kept.potential;
    memset(state->answers, 0, sizeof state->answers);
    convoi_answers(table->ruleset, state, state->answers);
    table_settle(table);
}

/* ---- Playing --------------------------------------------------------------------------------- */

/* The next roll of the die of a colour. */
static inline void table_roll(Table *table, const char *colour, uint32_t value)
{
    char name[16];
    snprintf(name, sizeof name, "%u", value);
    table_script(table, STREAM_DIE + (uint32_t)word_find(&convoi_colours, colour), name);
}

static inline bool table_asks(const Table *table, Phase phase)
{
    return table->state.head.phase == phase;
}

/* Plays a move card for a train that rolls `value`. A train in a city with more than one way out
 * then waits for its exit. */
static inline void table_move(Table *table, const char *train, uint32_t value)
{
    char name[TY_NAME_MAX];
    snprintf(name, sizeof name, "move %s", train);
    table_roll(table, convoi_colours.words[table_train(train) / 3], value);
    table_forget(table);
    table_step(table, name);
    if (table_asks(table, PHASE_PAY)) {
        table_step(table, "pay move");
    }
    if (table_asks(table, PHASE_DIE)) {
        table_step(table, "die.keep");
    }
    table_settle(table);
}

/* Ends the turn; the next seat reveals `card`. */
static inline void table_turn(Table *table, const char *card)
{
    table_script(table, STREAM_INSTRUCTIONS, card);
    table_do(table, "turn.end");
}

/* ---- What happened --------------------------------------------------------------------------- */

static inline void assert_place(const Table *table, const char *train, const char *place)
{
    uint8_t at = table->state.place[table_train(train)];
    assert_string_equal(at == 0 ? "depot" : table_name(table, &convoi_places, at - 1u), place);
}

static inline void assert_facing(const Table *table, const char *train, const char *towards)
{
    uint8_t index = table_train(train);
    uint8_t place = table->state.place[index];
    assert_true(place != 0 && place <= table->tables->space_count);
    assert_string_equal(table_end_name(table, (uint8_t)(place - 1), table->state.heading[index]),
                        towards);
}

/* The last action lost so many tokens for this one reason. */
static inline void assert_lost(const Table *table, int count, Loss why)
{
    assert_int_equal(table_told(table, EVENT_TOKENS), 1);
    assert_int_equal(table_telling(table, EVENT_TOKENS, 0)->args[0], count);
    assert_int_equal(table_telling(table, EVENT_TOKENS, 0)->args[1], why);
}

static inline void assert_nothing_lost(const Table *table)
{
    assert_int_equal(table_told(table, EVENT_TOKENS), 0);
}

static inline uint8_t table_goods_left(const Table *table, const char *city)
{
    return table->state.goods[table_city(table, city)];
}

static inline const char *table_card(const Table *table)
{
    return table_name(table, &convoi_cards, table->state.card);
}
