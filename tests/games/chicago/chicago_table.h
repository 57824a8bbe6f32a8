/* A table for the rule tests of Ligne de train, Chicago: positions set up and played by the names
 * of things, chance as the test says.
 *
 * A test opens its table, which is empty: no hands, no pawns out. It gives cards and pawns,
 * declares a seat ready to take its turn, says with table_chance what will be drawn, acts, and
 * looks at the state and at the events of the last action. Trains that are not built in are
 * tests/data/chicago_NAME.json. */
#pragma once

#include "games/chicago/names.h"
#include "kit/kit.h"

#define TABLE_GAME "chicago"
#define TABLE_TABLES ChicagoTables
#define TABLE_STATE ChicagoState
#include "tests/games/table.h"

/* ---- Opening --------------------------------------------------------------------------------- */

/* Puts every card into its pile and every pawn into its supply. */
static inline void table_clear(Table *table)
{
    ChicagoState *state = &table->state;
    const ChicagoTables *tables = table->tables;
    memset(state->number_deck, tables->number_copies, sizeof state->number_deck);
    memcpy(state->action_deck, tables->copies, sizeof state->action_deck);
    memset(state->numbers, 0, sizeof state->numbers);
    memset(state->actions, 0, sizeof state->actions);
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        state->supply[seat] = tables->pawns;
        state->wait[seat] = WAIT_NONE;
        state->start[seat] = 0;
    }
}

/* Opens a table with settings such as "players=3", or "" for the standard ruleset. Seat 0 begins.
 */
static inline Table *table_open(void **slot, const char *settings)
{
    char spec[TY_SPEC_MAX];
    snprintf(spec, sizeof spec, "chicago:first_player=seat0%s%s", settings[0] != '\0' ? "," : "",
             settings);
    Table *table = table_make(slot, spec);
    table->tables = chicago_tables(table->ruleset);
    table_reset(table, 0);
    table_clear(table);
    return table;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

/* Calls `use` for each word of a list that blanks separate. */
static inline void table_words(Table *table, uint32_t seat, const char *list,
                               void (*use)(Table *table, uint32_t seat, const char *word))
{
    char word[TY_NAME_MAX];
    while (*list != '\0') {
        size_t length = strcspn(list, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        use(table, seat, word);
        list += length + strspn(list + length, " ");
    }
}

/* The item of this name. */
static inline uint32_t table_item(const Table *table, const TyNames *names, const char *name)
{
    for (uint32_t i = 0; i < ty_names_count(names, table->ruleset); i++) {
        char item[TY_NAME_MAX];
        TyText text = ty_text_init(item, sizeof item);
        ty_names_write(names, table->ruleset, i, &text);
        if (strcmp(item, name) == 0) {
            return i;
        }
    }
    fail_msg("there is no '%s'", name);
    return 0;
}

static inline uint32_t table_place(const Table *table, const char *name)
{
    return table_item(table, &chicago_places, name);
}

static inline void table_take_card(Table *table, uint32_t seat, const char *word)
{
    ChicagoState *state = &table->state;
    uint32_t card = table_item(table, &chicago_cards, word);
    bool number = card < CHICAGO_NUMBERS;
    uint32_t action = number ? 0 : card - CHICAGO_NUMBERS;
    uint8_t *deck = number ? &state->number_deck[card] : &state->action_deck[action];
    uint8_t *hand = number ? &state->numbers[seat][card] : &state->actions[seat][action];
    assert_true(*deck > 0);
    (*deck)--;
    (*hand)++;
}

/* Gives cards such as "blue_3 red_1 express". */
static inline void table_hand(Table *table, uint32_t seat, const char *cards)
{
    table_words(table, seat, cards, table_take_card);
}

static inline void table_sit_one(Table *table, uint32_t seat, const char *cell)
{
    cells_add(&table->state.seated[seat], table_place(table, cell));
    table->state.supply[seat]--;
}

static inline void table_sit(Table *table, uint32_t seat, const char *cells)
{
    table_words(table, seat, cells, table_sit_one);
}

static inline void table_aisle(Table *table, uint32_t seat, const char *cell)
{
    table->state.aisle[seat] = (uint8_t)(table_place(table, cell) + 1);
    table->state.supply[seat]--;
}

static inline void table_wait(Table *table, uint32_t seat, Wait wait, const char *start)
{
    table->state.wait[seat] = (uint8_t)wait;
    table->state.start[seat] = (uint8_t)(table_place(table, start) - CHICAGO_NODES + 1);
    table->state.supply[seat]--;
}

/* The position is complete, and it is the turn of `seat`. */
static inline void table_ready(Table *table, uint8_t seat)
{
    table->state.active = seat;
    table->state.head.phase = PHASE_TURN;
    table->state.head.seat = (int8_t)seat;
    kit_answers(table->ruleset, &table->state);
    table_sound(table);
}

/* ---- Playing --------------------------------------------------------------------------------- */

/* The legal actions that begin with `prefix` are just these, in any order. */
static inline void table_only(const Table *table, const char *prefix, const char *list)
{
    uint8_t mask[TY_ACTIONS_MAX];
    char padded[1024];
    uint32_t count = 0;
    uint32_t listed = list[0] != '\0';
    for (const char *at = list; *at != '\0'; at++) {
        listed += *at == ' ';
    }
    snprintf(padded, sizeof padded, " %s ", list);
    ty_legal(table->ruleset, &table->state, mask);
    for (uint32_t i = 0; i < ty_shape(table->ruleset)->action_count; i++) {
        char name[TY_NAME_MAX];
        char wanted[TY_NAME_MAX + 2];
        ty_action_name(table->ruleset, i, name);
        if (!mask[i] || strncmp(name, prefix, strlen(prefix)) != 0) {
            continue;
        }
        snprintf(wanted, sizeof wanted, " %s ", name + strlen(prefix));
        if (strstr(padded, wanted) == NULL) {
            fail_msg("'%s' is legal", name);
        }
        count++;
    }
    assert_int_equal(count, listed);
}

static inline bool table_sits(const Table *table, uint32_t seat, const char *cell)
{
    return cells_have(&table->state.seated[seat], table_place(table, cell));
}

static inline uint32_t table_seated(const Table *table, uint32_t seat)
{
    return cells_count(&table->state.seated[seat]);
}

static inline bool table_in_aisle(const Table *table, uint32_t seat, const char *cell)
{
    return table->state.aisle[seat] == table_place(table, cell) + 1;
}

/* ---- Positions ------------------------------------------------------------------------------- */

/* Full hands that nobody uses, so that no card is drawn when a turn ends. */
#define IDLE_HAND "blue_1 red_1 plus_1 reverse u_pass"

/* Both players have idle hands and a pawn that waits. */
static inline Table *waiting_table(void **slot, const char *settings)
{
    Table *table = table_open(slot, settings);
    for (uint8_t seat = 0; seat < table->tables->player_count; seat++) {
        table_wait(table, seat, WAIT_START, "1.north");
    }
    return table;
}

/* Seat 0 has a pawn in the aisle and the cards of `hand`. */
static inline Table *walking_table(void **slot, const char *settings, const char *cell,
                                   const char *hand)
{
    Table *table = table_open(slot, settings);
    table_aisle(table, 0, cell);
    table_hand(table, 0, hand);
    return table;
}

/* Seat 1 has no tokens, so nothing is asked of it unless it has a Rebel Passenger. */
static inline Table *attack_table(void **slot, const char *settings, const char *hand)
{
    Table *table = waiting_table(slot, settings);
    table_hand(table, 0, hand);
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table_sit(table, 1, "1.a0 1.f4 2.g3");
    return table;
}
