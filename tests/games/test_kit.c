/* The kit: what it derives from a game's tables, and what it says of tables that are wrong. */
#include "core/hash.h"
#include "game.h"
#include "kit/draw.h"
#include "kit/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

TyStatus trainyard_plugin(void);

/* ---- Mistakes in tables ------------------------------------------------------------------------
 */

/* A copy of tic-tac-toe whose tables a test may spoil. */
typedef struct Draft {
    TyGame game;
    TyField fields[3];
    TyActionForm actions[3];
    TyBlockForm blocks[3];
    TyEventForm events[3];
    TyStream streams[2];
    TyStateField state_fields[3];
} Draft;

static Draft draft_of_tictactoe(void)
{
    const TyGame *game = ty_game_find("tictactoe");
    Draft draft = {.game = *game};
    memcpy(draft.actions, game->actions, sizeof draft.actions);
    memcpy(draft.blocks, game->blocks, 2 * sizeof draft.blocks[0]);
    memcpy(draft.events, game->events, sizeof draft.events);
    memcpy(draft.state_fields, game->state_fields, 2 * sizeof draft.state_fields[0]);
    draft.game.name = "draft";
    return draft;
}

/* The draft is refused, and the sentence says `wanted`. */
static void refused(Draft *draft, const char *wanted)
{
    draft->game.fields = draft->fields;
    draft->game.actions = draft->actions;
    draft->game.blocks = draft->blocks;
    draft->game.events = draft->events;
    draft->game.streams = draft->streams;
    draft->game.state_fields = draft->state_fields;
    TyStatus status = ty_game_add(&draft->game);
    assert_int_equal(status.code, TY_BAD_ARGUMENT);
    if (strstr(status.message, wanted) == NULL) {
        fail_msg("'%s' does not say '%s'", status.message, wanted);
    }
    assert_null(ty_game_find("draft"));
}

#define REFUSED(wanted, ...)                                                                       \
    do {                                                                                           \
        Draft draft = draft_of_tictactoe();                                                        \
        __VA_ARGS__;                                                                               \
        refused(&draft, (wanted));                                                                 \
    } while (0)

static void test_game_of_another_version_is_refused(void **unused)
{
    (void)unused;
    REFUSED("made for version 7", draft.game.api = 7);
}

static void test_names_must_be_words(void **unused)
{
    (void)unused;
    REFUSED("a name of a-z", draft.game.name = "Tic Tac");
    REFUSED("actions `Mark`", draft.actions[1].verb = "Mark");
    REFUSED("blocks `own er`", draft.blocks[0].name = "own er");
    REFUSED("events `mark!`", draft.events[1].name = "mark!");
}

static void test_first_action_is_wait(void **unused)
{
    (void)unused;
    REFUSED("the first is {\"wait\"}", draft.actions[0].verb = "pass");
    REFUSED("it is there twice", draft.actions[1].verb = "wait");
}

static void test_fields_are_checked(void **unused)
{
    (void)unused;
    REFUSED("fields `size`: the standard value is out of range",
            draft.fields[0] = (TyField){"size", TY_FIELD_INT, 9, 3, 5, NULL, false, "cells"});
    REFUSED("every game has this one",
            draft.fields[0] = (TyField){"chance", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "luck"});
    REFUSED("need `choices`",
            draft.fields[0] = (TyField){"size", TY_FIELD_CHOICE, 0, 0, 1, NULL, false, "cells"});
    REFUSED("it has no help",
            draft.fields[0] = (TyField){"size", TY_FIELD_FLAG, 0, 0, 1, NULL, false, NULL});
}

static void test_blocks_without_labels_are_refused(void **unused)
{
    (void)unused;
    static const TyNames nameless = {.none = "nothing"};
    REFUSED("categories have `values`", draft.blocks[0].values = NULL);
    REFUSED("neither counted nor named", draft.blocks[0].columns = &nameless);
    REFUSED("counts and fractions need a maximum", draft.blocks[0].kind = TY_BLOCK_COUNT;
            draft.blocks[0].values = NULL);
    REFUSED("it has no help", draft.blocks[0].help = NULL);
    REFUSED("nobody fills it", draft.blocks[0].show = TY_SHOW_BY_GAME);
    REFUSED("come last", draft.blocks[1] = draft.blocks[0]; draft.blocks[0].full = true);
}

static void test_events_need_sentences(void **unused)
{
    (void)unused;
    REFUSED("events `mark`: its sentence", draft.events[1].sentence = NULL);
    REFUSED("{key} that is no argument", draft.events[1].sentence = "{seat} marks {place}");
    REFUSED("{key} that is no argument", draft.events[1].sentence = "{seat} marks {cell:cell}");
    REFUSED("{key} that is no argument", draft.events[1].sentence = "{seat} marks {cell");
    REFUSED("`hidden` sentence", draft.events[1].secret = ty_always);
    REFUSED("the first is `end`", draft.events[0].name = "over");
    REFUSED("needs `names`", draft.events[1].args[1].names = NULL);
}

static void test_state_fields_cover_the_state_once(void **unused)
{
    (void)unused;
    REFUSED("in no field", draft.state_fields[0].count = 15);
    REFUSED("overlap", draft.state_fields[1] = draft.state_fields[0]);
    REFUSED("or too large", draft.game.state_size = 97);
}

static void test_functions_and_chance_are_checked(void **unused)
{
    (void)unused;
    static const char *const metrics[] = {"won", NULL};
    REFUSED("`apply` and `answers` are needed", draft.game.apply = NULL);
    REFUSED("no `measure`", draft.game.metrics = metrics);
    REFUSED("its outcomes have no names", draft.streams[0].name = "dice");
}

static void test_game_is_added_once(void **unused)
{
    (void)unused;
    TyStatus status = trainyard_plugin();
    assert_int_equal(status.code, TY_BAD_ARGUMENT);
    assert_non_null(strstr(status.message, "there is a game tictactoe already"));
}

static void test_tables_of_every_game_are_sound(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const TyGame *game = ty_game_at(i);
        TyStatus status = game->api == 0 ? (TyStatus){.code = TY_OK} : ty_game_check(game);
        if (status.code != TY_OK) {
            fail_msg("%s", status.message);
        }
    }
}

/* More actions than the state has room for show only when a ruleset is opened. */
static void test_too_many_actions_are_a_limit(void **unused)
{
    (void)unused;
    static Draft draft;
    static const char *words[70];
    static const TyNames many = {.words = words};
    for (uint32_t i = 0; i < 69; i++) {
        words[i] = "x";
    }
    draft = draft_of_tictactoe();
    draft.actions[1].items = &many;
    draft.game.name = "crowded";
    draft.game.actions = draft.actions;
    assert_int_equal(ty_game_add(&draft.game).code, TY_OK);
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open("crowded", NULL, &ruleset);
    assert_int_equal(status.code, TY_LIMIT);
    assert_non_null(strstr(status.message, "with `mark` there are 70 actions; at most 64 fit"));
}

/* A game that is called `name` and shows the cells of the board, a row of them, in another way. */
static TyStatus draft_show(Draft *draft, const char *name, TyShow show, const TyNames *columns,
                           TyRuleset **ruleset)
{
    *draft = draft_of_tictactoe();
    draft->blocks[0].show = show;
    draft->blocks[0].columns = columns;
    draft->game.name = name;
    draft->game.blocks = draft->blocks;
    assert_int_equal(ty_game_add(&draft->game).code, TY_OK);
    return ty_ruleset_open(name, NULL, ruleset);
}

static void test_bytes_by_seat_are_as_many_for_each(void **unused)
{
    (void)unused;
    static Draft draft;
    TyRuleset *ruleset = NULL;
    const TyNames *nine = ty_game_find("tictactoe")->blocks[0].columns;
    TyStatus status = draft_show(&draft, "uneven", TY_SHOW_BY_SEAT, nine, &ruleset);
    assert_int_equal(status.code, TY_BAD_CONFIG);
    assert_non_null(strstr(status.message, "block `owner` has 9 bytes for 2 players"));
}

static void test_own_bytes_are_shown_to_their_seat_alone(void **unused)
{
    (void)unused;
    static Draft draft;
    static const char *const words[] = {"a", "b", "c", "d", NULL};
    static const TyNames four = {.words = words};
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t row[TY_ROW_MAX];
    TyRuleset *ruleset = NULL;
    uint32_t action = 0;
    int32_t reward[TY_SEATS_MAX] = {0};
    assert_int_equal(draft_show(&draft, "own", TY_SHOW_OWN, &four, &ruleset).code, TY_OK);
    ty_reset(ruleset, state, 0, NULL);
    assert_true(ty_action_find(ruleset, "mark b1", &action));
    assert_true(ty_step(ruleset, state, action, reward, NULL));
    ty_observe(ruleset, state, 0, row);
    assert_memory_equal(row, "\0\1\0\0", 4);
    ty_observe(ruleset, state, 1, row);
    assert_memory_equal(row, "\0\0\0\0", 4);
    ty_ruleset_close(ruleset);
}

/* ---- What follows from the tables --------------------------------------------------------------
 */

/* A position of tic-tac-toe after some marks, and what was told on the way. */
typedef struct Position {
    TyRuleset *ruleset;
    uint64_t state[TY_STATE_MAX / 8];
    TyEvent told[16];
    uint32_t told_count;
    int32_t reward[TY_SEATS_MAX];
} Position;

static void hear(void *user, const TyEvent *event)
{
    Position *position = user;
    position->told[position->told_count++] = *event;
}

static void position_play(Position *position, const char *const *actions)
{
    TyTape tape = {.user = position, .event = hear};
    assert_int_equal(ty_ruleset_open("tictactoe", NULL, &position->ruleset).code, TY_OK);
    assert_true(ty_reset(position->ruleset, position->state, 0, &tape));
    for (; *actions != NULL; actions++) {
        uint32_t action = 0;
        assert_true(ty_action_find(position->ruleset, *actions, &action));
        assert_true(ty_step(position->ruleset, position->state, action, position->reward, &tape));
    }
}

static void test_rows_are_relative_to_the_observer(void **unused)
{
    (void)unused;
    static const char *const marks[] = {"mark a1", "mark b2", NULL};
    Position position = {.told_count = 0};
    uint8_t row[TY_ROW_MAX];
    position_play(&position, marks);
    ty_observe(position.ruleset, position.state, 0, row);
    assert_int_equal(row[0], 1);
    assert_int_equal(row[4], 2);
    ty_observe(position.ruleset, position.state, 1, row);
    assert_int_equal(row[0], 2);
    assert_int_equal(row[4], 1);
    ty_ruleset_close(position.ruleset);
}

static void test_text_and_json_come_from_the_blocks(void **unused)
{
    (void)unused;
    static const char *const marks[] = {"mark a1", NULL};
    Position position = {.told_count = 0};
    char text[1024];
    position_play(&position, marks);
    ty_text(position.ruleset, position.state, 1, text, sizeof text);
    assert_non_null(strstr(text, "owner: a1 seat +1, b1 none"));
    ty_state_json(position.ruleset, position.state, text, sizeof text);
    assert_non_null(strstr(text, "{\"owner\":{\"a1\":\"seat +0\",\"b1\":\"none\""));
    ty_ruleset_close(position.ruleset);
}

static void test_events_become_json_and_sentences(void **unused)
{
    (void)unused;
    static const char *const marks[] = {"mark a1", "mark a2", "mark b1",
                                        "mark b2", "mark c1", NULL};
    Position position = {.told_count = 0};
    char text[1024];
    position_play(&position, marks);
    assert_int_equal(position.told_count, 6);
    ty_event_json(position.ruleset, &position.told[1], text, sizeof text);
    assert_string_equal(text, "{\"event\":\"mark\",\"seat\":1,\"cell\":\"a2\"}");
    ty_event_text(position.ruleset, &position.told[1], 0, text, sizeof text);
    assert_string_equal(text, "seat 1 marks a2");
    ty_event_json(position.ruleset, &position.told[5], text, sizeof text);
    assert_string_equal(text, "{\"event\":\"end\",\"winner\":0}");
    ty_event_text(position.ruleset, &position.told[5], 0, text, sizeof text);
    assert_string_equal(text, "seat 0 wins");
    assert_int_equal(position.reward[0], TY_REWARD_ONE);
    assert_int_equal(position.reward[1], -TY_REWARD_ONE);
    ty_ruleset_close(position.ruleset);
}

/* Eight marks, and the ninth is forced. */
static void test_single_answers_are_given_by_the_library(void **unused)
{
    (void)unused;
    static const char *const marks[] = {"mark a1", "mark b1", "mark c1", "mark a2", "mark b2",
                                        "mark c2", "mark b3", "mark a3", NULL};
    Position position = {.told_count = 0};
    position_play(&position, marks);
    assert_int_equal(ty_head(position.state)->over, 1);
    assert_int_equal(ty_head(position.state)->steps, 8);
    assert_int_equal(position.told_count, 10);
    ty_ruleset_close(position.ruleset);
}

static void test_damaged_answers_and_fields_are_found(void **unused)
{
    (void)unused;
    static const char *const marks[] = {"mark a1", NULL};
    Position position = {.told_count = 0};
    position_play(&position, marks);
    uint8_t *owner = (uint8_t *)(ty_answers(position.state) + 1);
    assert_null(ty_check(position.ruleset, position.state));
    owner[3] = 1;
    assert_string_equal(ty_check(position.ruleset, position.state),
                        "the open answers do not fit the question");
    owner[3] = 3;
    assert_string_equal(ty_check(position.ruleset, position.state), "a field is out of range");
    ty_ruleset_close(position.ruleset);
}

/* ---- Files -------------------------------------------------------------------------------------
 */

static void test_names_of_a_file_have_a_limit(void **unused)
{
    (void)unused;
    static TyNamePool pool;
    const TyDocNode root = {.kind = TY_DOC_MAP};
    const TyDoc doc = {.nodes = &root, .count = 1};
    TyReader reader = {.doc = &doc, .pool = &pool};
    uint32_t kept = 0;
    while (kept < TY_POOL_SIZE && ty_name_keep(&reader, &root, "fifteen_letters") != 0) {
        kept++;
    }
    assert_int_equal(kept, (TY_POOL_SIZE - 1) / 16);
    assert_int_equal(pool.size, 1 + 16 * kept);
    assert_int_equal(reader.status.code, TY_BAD_FILE);
    assert_string_equal(reader.status.message, "all names together exceed 32768 bytes");
}

/* ---- Draws without branches --------------------------------------------------------------------
 */

/* Each special case against ty_draw on a copy of the head: same outcome, same counters. */
static void draws_agree(uint64_t seed, const uint8_t weights[16], uint32_t count, uint64_t bits)
{
    TyHead heads[5] = {
        {.seed = seed}, {.seed = seed}, {.seed = seed}, {.seed = seed}, {.seed = seed}};
    TyPlay plays[5] = {{.state = &heads[0]},
                       {.state = &heads[1]},
                       {.state = &heads[2]},
                       {.state = &heads[3]},
                       {.state = &heads[4]}};
    uint8_t flags[64];
    bits_expand(bits, 64, flags);
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t expected = ty_draw(&plays[0], 2, weights, count);
        assert_int_equal(draw_few(&plays[1], 2, weights, count), expected);
        assert_int_equal(draw_sixteen(&plays[2], 2, weights, count), expected);
        assert_int_equal(draw_bit(&plays[3], 3, bits, 64), ty_draw(&plays[0], 3, flags, 64));
        if (count == 10) {
            assert_int_equal(draw_ten(&plays[4], 2, weights), expected);
        }
    }
    assert_int_equal(heads[1].draws[2], heads[0].draws[2]);
    assert_int_equal(heads[2].draws[2], heads[0].draws[2]);
    assert_int_equal(heads[3].draws[3], heads[0].draws[3]);
    assert_int_equal(heads[4].draws[2], count == 10 ? heads[0].draws[2] : 0);
}

static void test_draws_without_branches_are_those_of_the_plain_draw(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed < 400; seed++) {
        uint8_t weights[16] = {0};
        uint32_t count = 1 + (uint32_t)(seed % 16);
        for (uint32_t i = 0; i < count; i++) {
            weights[i] = (uint8_t)((hash_mix(seed * 31 + i) & 15) * (hash_mix(seed + i) & 1));
        }
        weights[seed % count]++;
        draws_agree(seed, weights, count,
                    (hash_mix(seed) & hash_mix(~seed)) | UINT64_C(1) << seed % 64);
    }
}

/* With a tape they are ty_draw, which asks the script. */
static void test_draws_without_branches_follow_a_script(void **unused)
{
    (void)unused;
    const uint8_t weights[16] = {1, 2, 3};
    TyHead head = {.seed = 1};
    TyOutcome script[] = {{.stream = 0, .outcome = 2},
                          {.stream = 1, .outcome = 1},
                          {.stream = 2, .outcome = 63},
                          {.stream = 3, .outcome = 2}};
    TyTape tape = {.script = script, .script_count = 4};
    TyPlay play = {.state = &head, .tape = &tape};
    assert_int_equal(draw_few(&play, 0, weights, 3), 2);
    assert_int_equal(draw_sixteen(&play, 1, weights, 3), 1);
    assert_int_equal(draw_bit(&play, 2, UINT64_MAX, 64), 63);
    assert_int_equal(draw_ten(&play, 3, weights), 2);
}

int main(void)
{
    TyStatus added = trainyard_plugin();
    if (added.code != TY_OK) {
        fprintf(stderr, "%s\n", added.message);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_game_of_another_version_is_refused),
        cmocka_unit_test(test_names_must_be_words),
        cmocka_unit_test(test_first_action_is_wait),
        cmocka_unit_test(test_fields_are_checked),
        cmocka_unit_test(test_blocks_without_labels_are_refused),
        cmocka_unit_test(test_events_need_sentences),
        cmocka_unit_test(test_state_fields_cover_the_state_once),
        cmocka_unit_test(test_functions_and_chance_are_checked),
        cmocka_unit_test(test_game_is_added_once),
        cmocka_unit_test(test_tables_of_every_game_are_sound),
        cmocka_unit_test(test_names_of_a_file_have_a_limit),
        cmocka_unit_test(test_bytes_by_seat_are_as_many_for_each),
        cmocka_unit_test(test_own_bytes_are_shown_to_their_seat_alone),
        cmocka_unit_test(test_too_many_actions_are_a_limit),
        cmocka_unit_test(test_rows_are_relative_to_the_observer),
        cmocka_unit_test(test_text_and_json_come_from_the_blocks),
        cmocka_unit_test(test_events_become_json_and_sentences),
        cmocka_unit_test(test_single_answers_are_given_by_the_library),
        cmocka_unit_test(test_damaged_answers_and_fields_are_found),
        cmocka_unit_test(test_draws_without_branches_are_those_of_the_plain_draw),
        cmocka_unit_test(test_draws_without_branches_follow_a_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
