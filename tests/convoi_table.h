/* A table for the rule tests of Convoi Express: positions set up and played by the names of things,
 * chance as the test says.
 *
 * A test opens its table, sets up a position with the table_put, table_light, ... family, declares
 * it ready, says with table_chance what dice and cards will show, acts, and looks at the state and
 * at the events of the last action. Boards and decks that are not built in are
 * tests/data/convoi_NAME.json. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "games/convoi/names.h"

enum { TABLE_EVENTS_MAX = 512, TABLE_SCRIPT_MAX = 64, TABLE_FILE_MAX = 16384 };

typedef struct Table {
    TyRuleset *ruleset;
    const ConvoiTables *tables;
    ConvoiState state;
    int32_t reward[TY_SEATS_MAX]; /* of the last action */
    uint32_t script_count;
    TyOutcome script[TABLE_SCRIPT_MAX];
    uint32_t event_count; /* of the last action */
    TyEvent events[TABLE_EVENTS_MAX];
} Table;

/* A test with a table, which is closed behind it whether it passed or failed. */
#define TABLE_TEST(test) cmocka_unit_test_teardown(test, table_teardown)

/* ---- Opening --------------------------------------------------------------------------------- */

static inline TyStatus table_file_open(void *user, const char *value, const char **bytes,
                                       size_t *size, char name[TY_NAME_MAX])
{
    static char content[TY_FILES_MAX][TABLE_FILE_MAX];
    uint32_t *opened = user;
    char path[1024];
    snprintf(path, sizeof path, TY_SOURCE_DIR "/tests/data/convoi_%s.json", value);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return (TyStatus){.code = TY_IO, .message = "no such test file"};
    }
    *bytes = content[*opened];
    *size = fread(content[*opened], 1, TABLE_FILE_MAX, file);
    fclose(file);
    assert_true(*size < TABLE_FILE_MAX);
    (*opened)++;
    snprintf(name, TY_NAME_MAX, "%s", value);
    return (TyStatus){.code = TY_OK};
}

static inline TyStatus ruleset_open(const char *options, TyRuleset **ruleset)
{
    char spec[TY_SPEC_MAX];
    uint32_t opened = 0;
    TyFiles files = {.user = &opened, .open = table_file_open};
    snprintf(spec, sizeof spec, "convoi:%s", options);
    return ty_ruleset_open(spec, &files, ruleset);
}

static inline int table_teardown(void **slot)
{
    Table *table = *slot;
    if (table != NULL) {
        ty_ruleset_close(table->ruleset);
        table->ruleset = NULL;
    }
    return 0;
}

static inline void table_event(void *user, const TyEvent *event)
{
    Table *table = user;
    assert_true(table->event_count < TABLE_EVENTS_MAX);
    table->events[table->event_count++] = *event;
}

static inline TyTape table_tape(Table *table)
{
    return (TyTape){.user = table,
                    .event = table_event,
                    .script = table->script,
                    .script_count = table->script_count};
}

/* The last action used all that the test said about chance. */
static inline void table_settle(Table *table)
{
    for (uint32_t i = 0; i < table->script_count; i++) {
        if (!table->script[i].used) {
            fail_msg("outcome %u of stream %u was not drawn", table->script[i].outcome,
                     table->script[i].stream);
        }
    }
    table->script_count = 0;
    const char *broken = ty_check(table->ruleset, &table->state);
    if (broken != NULL) {
        fail_msg("the position is broken: %s", broken);
    }
}

/* Begins an episode, with the chance said before. */
static inline void table_reset(Table *table, uint64_t seed)
{
    TyTape tape = table_tape(table);
    table->event_count = 0;
    if (!ty_reset(table->ruleset, &table->state, seed, &tape)) {
        fail_msg("reset: %s", tape.status.message);
    }
    table_settle(table);
}

/* Opens a table with a ruleset such as "board=yard,players=3", not yet reset. `slot` is the test's
 * own; the table is closed before the slot opens another. */
static inline Table *table_open(void **slot, const char *options)
{
    static Table table;
    table_teardown(slot);
    memset(&table, 0, sizeof table);
    *slot = &table;
    TyStatus status = ruleset_open(options, &table.ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", options, status.message);
    }
    table.tables = convoi_tables(table.ruleset);
    assert_int_equal(ty_shape(table.ruleset)->state_size, sizeof table.state);
    return &table;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static inline uint8_t table_train(const char *name)
{
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        char candidate[TY_NAME_MAX];
        Text text = text_init(candidate, sizeof candidate);
        name_train(train, &text);
        if (strcmp(candidate, name) == 0) {
            return train;
        }
    }
    fail_msg("there is no train %s", name);
    return 0;
}

static inline const char *table_place_name(const Table *table, uint8_t place)
{
    static char name[TY_NAME_MAX];
    Text text = text_init(name, sizeof name);
    name_place(table->tables, place, &text);
    return name;
}

static inline uint8_t table_place(const Table *table, const char *name)
{
    const ConvoiTables *tables = table->tables;
    uint32_t count = (uint32_t)tables->space_count + tables->city_count + tables->start_count;
    for (uint8_t place = 0; place < count; place++) {
        if (strcmp(table_place_name(table, place), name) == 0) {
            return place;
        }
    }
    fail_msg("there is no place %s", name);
    return 0;
}

static inline uint8_t table_city(const Table *table, const char *name)
{
    return city_at(table->tables, table_place(table, name));
}

static inline uint8_t table_light_index(const Table *table, const char *name)
{
    for (uint8_t light = 0; light < table->tables->light_count; light++) {
        if (strcmp(name_light(table->tables, light), name) == 0) {
            return light;
        }
    }
    fail_msg("there is no light %s", name);
    return 0;
}

static inline uint8_t table_junction(const Table *table, const char *name)
{
    for (uint8_t junction = 0; junction < table->tables->junction_count; junction++) {
        if (strcmp(name_junction(table->tables, junction), name) == 0) {
            return junction;
        }
    }
    fail_msg("there is no junction %s", name);
    return 0;
}

static inline uint8_t table_goods(const char *name)
{
    uint8_t goods = 0;
    while (goods < CONVOI_GOODS && strcmp(name_goods(goods), name) != 0) {
        goods++;
    }
    assert_true(goods < CONVOI_GOODS);
    return goods;
}

/* The city, start or junction to which `heading` leads from a track space. */
static inline const char *table_end_name(const Table *table, uint8_t space, uint8_t heading)
{
    const ConvoiTables *tables = table->tables;
    Link link = tables->ahead[2 * space + heading];
    while (link.kind == LINK_SPACE) {
        link = tables->ahead[2 * link.index + link.side];
    }
    if (link.kind == LINK_JUNCTION) {
        return name_junction(tables, link.index);
    }
    return link.kind == LINK_CITY ? name_city(tables, link.index) : name_start(tables, link.index);
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
    state->symbol = 0;
    state->colour = 0;
    memset(state->named, 0, sizeof state->named);
    state->phase = PHASE_ACTIONS;
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
    static char name[TY_NAME_MAX];
    Text text = text_init(name, sizeof name);
    uint8_t index = table_junction(table, junction);
    name_setting(table->tables, index, table->state.setting[index], &text);
    return name;
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
    options_compute(table->tables, state);
    if (table->tables->reward == REWARD_SHAPED) {
        state->potential = convoi_potential(table->tables, state);
    }
    table_settle(table);
}

/* ---- Playing --------------------------------------------------------------------------------- */

/* The next draw of `stream` has the outcome called `name`: "4", "I02", "signal", "mill/ford". */
static inline void table_chance(Table *table, uint32_t stream, const char *name)
{
    uint32_t outcome = 0;
    assert_true(table->script_count < TABLE_SCRIPT_MAX);
    if (!ty_outcome_find(table->ruleset, stream, name, &outcome)) {
        fail_msg("stream %u has no outcome %s", stream, name);
    }
    table->script[table->script_count++] =
        (TyOutcome){.stream = (uint8_t)stream, .outcome = (uint16_t)outcome};
}

/* The next roll of the die of a colour. */
static inline void table_roll(Table *table, const char *colour, uint32_t value)
{
    char name[16];
    uint32_t stream = STREAM_DIE;
    while (strcmp(name_colour(stream - STREAM_DIE), colour) != 0) {
        stream++;
    }
    snprintf(name, sizeof name, "%u", value);
    table_chance(table, stream, name);
}

static inline bool table_may(const Table *table, const char *name)
{
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t action = 0;
    if (!ty_action_find(table->ruleset, name, &action)) {
        fail_msg("there is no action %s", name);
    }
    ty_legal(table->ruleset, &table->state, mask);
    return mask[action];
}

/* How many actions are legal. */
static inline uint32_t table_choices(const Table *table)
{
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t count = 0;
    ty_legal(table->ruleset, &table->state, mask);
    for (uint32_t i = 0; i < ty_shape(table->ruleset)->action_count; i++) {
        count += mask[i];
    }
    return count;
}

/* A step that adds its events and rewards to those before it. */
static inline void table_step(Table *table, const char *name)
{
    uint32_t action = 0;
    TyTape tape = table_tape(table);
    if (!table_may(table, name)) {
        fail_msg("%s is not legal in phase %s", name, ty_phase_name(table->ruleset, &table->state));
    }
    ty_action_find(table->ruleset, name, &action);
    if (!ty_step(table->ruleset, &table->state, action, table->reward, &tape)) {
        fail_msg("%s: %s", name, tape.status.message);
    }
}

static inline void table_forget(Table *table)
{
    table->event_count = 0;
    memset(table->reward, 0, sizeof table->reward);
}

static inline void table_do(Table *table, const char *name)
{
    table_forget(table);
    table_step(table, name);
    table_settle(table);
}

static inline bool table_asks(const Table *table, Phase phase)
{
    return table->state.phase == phase;
}

/* Plays a move card for a train that rolls `value`. A train in a city with more than one way out
 * then waits for its exit. */
static inline void table_move(Table *table, const char *train, uint32_t value)
{
    char name[TY_NAME_MAX];
    snprintf(name, sizeof name, "move %s", train);
    table_roll(table, name_colour(table_train(train) / 3u), value);
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
    table_chance(table, STREAM_INSTRUCTIONS, card);
    table_do(table, "turn.end");
}

/* ---- What happened --------------------------------------------------------------------------- */

/* How many events of this kind the last action had. */
static inline uint32_t table_told(const Table *table, ConvoiEvent kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->event_count; i++) {
        count += table->events[i].kind == kind;
    }
    return count;
}

/* Event `nth` (from 0) of this kind. */
static inline const TyEvent *table_telling(const Table *table, ConvoiEvent kind, uint32_t nth)
{
    for (uint32_t i = 0; i < table->event_count; i++) {
        if (table->events[i].kind == kind && nth-- == 0) {
            return &table->events[i];
        }
    }
    fail_msg("there is no such event of kind %d", (int)kind);
    return NULL;
}

static inline void assert_place(const Table *table, const char *train, const char *place)
{
    uint8_t at = table->state.place[table_train(train)];
    assert_string_equal(at == 0 ? "depot" : table_place_name(table, (uint8_t)(at - 1)), place);
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
    return name_card(table->tables, table->state.card);
}
