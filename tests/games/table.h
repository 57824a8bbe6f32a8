/* What the tables of all games have: a ruleset, a position, chance as the test says, and what the
 * last action caused. A game's own table says TABLE_GAME, TABLE_TABLES and TABLE_STATE and includes
 * this; boards, decks and trains that are not built in are tests/data/GAME_NAME.json. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TABLE_EVENTS_MAX = 512, TABLE_SCRIPT_MAX = 64, TABLE_FILE_MAX = 16384 };

typedef struct Table {
    TyRuleset *ruleset;
    const TABLE_TABLES *tables;
    TABLE_STATE state;
    int32_t reward[TY_SEATS_MAX]; /* of the last action */
    uint32_t script_count;
    TyOutcome script[TABLE_SCRIPT_MAX];
    uint32_t event_count; /* of the last action */
    TyEvent events[TABLE_EVENTS_MAX];
} Table;

/* A test with a table, which is closed behind it whether it passed or failed. */
#define TABLE_TEST(test) cmocka_unit_test_teardown(test, table_teardown)

/* ---- Opening --------------------------------------------------------------------------------- */

/* `user` counts the files of a ruleset. */
static inline TyStatus table_file_open(void *user, const char *value, const char **bytes,
                                       size_t *size, char name[TY_NAME_MAX])
{
    static char content[TY_FILES_MAX][TABLE_FILE_MAX];
    uint32_t *opened = user;
    char path[1024];
    snprintf(path, sizeof path, TY_SOURCE_DIR "/tests/data/" TABLE_GAME "_%s.json", value);
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

static inline TyStatus ruleset_open(const char *spec, TyRuleset **ruleset)
{
    uint32_t opened = 0;
    const TyFiles files = {.user = &opened, .open = table_file_open};
    return ty_ruleset_open(spec, &files, ruleset);
}

static inline TyRuleset *table_ruleset(const char *spec)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ruleset_open(spec, &ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", spec, status.message);
    }
    return ruleset;
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

/* A table with a ruleset, before its first episode. `slot` is the test's own; its table is closed
 * before it gets another. */
static inline Table *table_make(void **slot, const char *spec)
{
    static Table table;
    table_teardown(slot);
    memset(&table, 0, sizeof table);
    *slot = &table;
    table.ruleset = table_ruleset(spec);
    assert_int_equal(ty_shape(table.ruleset)->state_size, sizeof table.state);
    return &table;
}

/* ---- Chance ---------------------------------------------------------------------------------- */

/* The next draw of stream number `stream` has the outcome of this name: "4", "I02", "mill/ford". */
static inline void table_script(Table *table, uint32_t stream, const char *name)
{
    uint32_t outcome = 0;
    if (!ty_outcome_find(table->ruleset, stream, name, &outcome)) {
        fail_msg("stream %u has no outcome '%s'", stream, name);
    }
    assert_true(table->script_count < TABLE_SCRIPT_MAX);
    table->script[table->script_count++] =
        (TyOutcome){.stream = (uint8_t)stream, .outcome = (uint16_t)outcome};
}

/* The same, with the name of the stream. */
static inline void table_chance(Table *table, const char *name, const char *outcome)
{
    const TyShape *shape = ty_shape(table->ruleset);
    uint32_t stream = 0;
    while (shape->streams[stream] != NULL && strcmp(shape->streams[stream], name) != 0) {
        stream++;
    }
    assert_non_null(shape->streams[stream]);
    table_script(table, stream, outcome);
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

static inline void table_sound(const Table *table)
{
    const char *broken = ty_check(table->ruleset, &table->state);
    if (broken != NULL) {
        fail_msg("the position is broken: %s", broken);
    }
}

/* The position is whole, and the last action used all that the test said about chance. */
static inline void table_settle(Table *table)
{
    for (uint32_t i = 0; i < table->script_count; i++) {
        if (!table->script[i].used) {
            fail_msg("outcome %u of stream %u was not drawn", table->script[i].outcome,
                     table->script[i].stream);
        }
    }
    table->script_count = 0;
    table_sound(table);
}

/* ---- Playing --------------------------------------------------------------------------------- */

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

static inline uint32_t table_action(const Table *table, const char *name)
{
    uint32_t action = 0;
    if (!ty_action_find(table->ruleset, name, &action)) {
        fail_msg("there is no action '%s'", name);
    }
    return action;
}

static inline bool table_may(const Table *table, const char *name)
{
    uint8_t mask[TY_ACTIONS_MAX];
    ty_legal(table->ruleset, &table->state, mask);
    return mask[table_action(table, name)] != 0;
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
    TyTape tape = table_tape(table);
    if (!table_may(table, name)) {
        fail_msg("'%s' is not legal in phase %s", name,
                 ty_phase_name(table->ruleset, &table->state));
    }
    if (!ty_step(table->ruleset, &table->state, table_action(table, name), table->reward, &tape)) {
        fail_msg("'%s': %s", name, tape.status.message);
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

/* ---- What happened --------------------------------------------------------------------------- */

/* How many events of this kind the last action had. */
static inline uint32_t table_told(const Table *table, uint32_t kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->event_count; i++) {
        count += table->events[i].kind == kind;
    }
    return count;
}

/* Event `nth` (from 0) of this kind. */
static inline const TyEvent *table_telling(const Table *table, uint32_t kind, uint32_t nth)
{
    for (uint32_t i = 0; i < table->event_count; i++) {
        if (table->events[i].kind == kind && nth-- == 0) {
            return &table->events[i];
        }
    }
    fail_msg("there is no such event of kind %u", kind);
    return NULL;
}

/* ---- Positions that are wrong in one thing --------------------------------------------------- */

/* The position with one thing changed, in `hurt`, is refused with `message`; as it was it is sound.
 */
#define TABLE_REFUSED(table, change, message)                                                      \
    do {                                                                                           \
        TABLE_STATE hurt = (table)->state;                                                         \
        table_sound(table);                                                                        \
        change;                                                                                    \
        table_refused(table, &hurt, #change, message);                                             \
    } while (0)

static inline void table_refused(const Table *table, const TABLE_STATE *hurt, const char *change,
                                 const char *message)
{
    const char *broken = ty_check(table->ruleset, hurt);
    if (broken == NULL || strcmp(broken, message) != 0) {
        fail_msg("%s: '%s', expected '%s'", change, broken != NULL ? broken : "sound", message);
    }
}

/* Plays at random until the question is `phase`, and `part` of it is what `which` says. */
static inline void table_seek(Table *table, uint8_t phase, uint32_t which,
                              bool (*part)(const TABLE_STATE *state, uint32_t which))
{
    const TyShape *shape = ty_shape(table->ruleset);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        assert_true(ty_reset(table->ruleset, &table->state, seed, NULL));
        for (uint64_t step = 0; !table->state.head.over; step++) {
            uint8_t mask[TY_ACTIONS_MAX];
            if (table->state.head.phase == phase && part(&table->state, which)) {
                return;
            }
            ty_legal(table->ruleset, &table->state, mask);
            ty_step(table->ruleset, &table->state, ty_sample(mask, shape->action_count, seed, step),
                    table->reward, NULL);
        }
    }
    fail_msg("question %u is never asked", phase);
}
