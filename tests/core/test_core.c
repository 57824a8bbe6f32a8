/* The core: configuration, chance, sampling, seeds, text. */
#include "core/draw.h"
#include "core/siphash.h"
#include "core/text.h"
#include "trainyard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Configuration -----------------------------------------------------------------------------
 */

static void spec_fails(const char *spec, TyCode code, const char *expected)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    assert_int_equal(status.code, code);
    assert_null(ruleset);
    if (strstr(status.message, expected) == NULL) {
        fail_msg("%s: '%s' does not contain '%s'", spec, status.message, expected);
    }
}

static void test_unknown_game_names_the_games(void **unused)
{
    (void)unused;
    spec_fails("monopoly", TY_BAD_CONFIG, "unknown game 'monopoly'; there are convoi");
    spec_fails("", TY_BAD_CONFIG, "unknown game");
}

static void test_unknown_key_names_the_keys(void **unused)
{
    (void)unused;
    spec_fails("convoi:player=2", TY_BAD_CONFIG, "convoi has no key 'player'; it has board, deck");
    spec_fails("convoi:player=2", TY_BAD_CONFIG, "; did you mean players?");
    spec_fails("conovi", TY_BAD_CONFIG, "; did you mean convoi?");
}

static void test_out_of_range_names_key_value_and_range(void **unused)
{
    (void)unused;
    spec_fails("convoi:players=5", TY_BAD_CONFIG, "players=5: out of range; allowed is 2..4");
    spec_fails("convoi:clock=6", TY_BAD_CONFIG, "clock=6: out of range; allowed is 7..10");
    spec_fails("convoi:removed=-1", TY_BAD_CONFIG, "removed=-1");
    spec_fails("convoi:players=99999999999999999999", TY_BAD_CONFIG,
               "players=99999999999999999999: out of range; allowed is 2..4");
}

static void test_wrong_type_names_key_and_value(void **unused)
{
    (void)unused;
    spec_fails("convoi:players=two", TY_BAD_CONFIG, "players=two: not a whole number");
    spec_fails("convoi:players=2x", TY_BAD_CONFIG, "players=2x: not a whole number");
    spec_fails("convoi:players=", TY_BAD_CONFIG, "players=: not a whole number");
    spec_fails("convoi:ask_forced=maybe", TY_BAD_CONFIG, "ask_forced=maybe: not a flag");
    spec_fails("convoi:reward=gold", TY_BAD_CONFIG, "allowed are win, delivery, shaped, progress");
}

static void test_malformed_pairs_are_refused(void **unused)
{
    (void)unused;
    spec_fails("convoi:players", TY_BAD_CONFIG, "expected key=value");
    spec_fails("convoi:=2", TY_BAD_CONFIG, "expected key=value");
    spec_fails("convoi:players=2,players=3", TY_BAD_CONFIG, "players is given twice");
    spec_fails("convoi:,", TY_BAD_CONFIG, "expected key=value");
}

static void test_too_long_ruleset_is_refused(void **unused)
{
    (void)unused;
    char spec[4096];
    memset(spec, 'a', sizeof spec);
    spec[sizeof spec - 1] = '\0';
    spec_fails(spec, TY_LIMIT, "longer than");
}

static void test_too_long_file_name_is_refused_by_its_key(void **unused)
{
    (void)unused;
    char spec[800] = "convoi:board=";
    memset(spec + strlen(spec), 'a', 640);
    spec_fails(spec, TY_LIMIT, "board: the value is longer than 639 characters");
}

static void test_unknown_board_without_files_is_refused(void **unused)
{
    (void)unused;
    spec_fails("convoi:board=atlantis", TY_BAD_CONFIG, "board=atlantis: it is not built in");
    spec_fails("convoi:board=tinny", TY_BAD_CONFIG,
               "board=tinny: it is not built in; built in are europe, north_america, tiny; did you "
               "mean tiny?");
}

static void canonical_is(const char *spec, const char *expected)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    assert_int_equal(status.code, TY_OK);
    assert_string_equal(ty_shape(ruleset)->spec, expected);
    ty_ruleset_close(ruleset);
}

static void test_canonical_string_shows_board_players_and_what_differs(void **unused)
{
    (void)unused;
    canonical_is("convoi", "convoi:board=europe,players=2");
    canonical_is("convoi:clock=7,players=3,board=europe", "convoi:board=europe,players=3");
    canonical_is("convoi:ask_forced=1,clock=9",
                 "convoi:board=europe,players=2,clock=9,ask_forced=true");
}

/* A file of the user's: the tiny board under another name. */
static TyStatus user_board_open(void *user, const char *value, const char **bytes, size_t *size,
                                char name[TY_NAME_MAX])
{
    static const char broken[] = "{\"format\": \"convoi-board-1\",\n \"name\" \"x\"}";
    (void)user;
    *bytes = broken;
    *size = sizeof broken - 1;
    memcpy(name, value, strlen(value) + 1);
    return (TyStatus){.code = TY_OK};
}

static void test_broken_user_board_names_key_line_and_column(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    TyFiles files = {.open = user_board_open};
    TyStatus status = ty_ruleset_open("convoi:board=mine", &files, &ruleset);
    assert_int_equal(status.code, TY_BAD_FILE);
    assert_non_null(strstr(status.message, "board=mine"));
    assert_non_null(strstr(status.message, "line 2"));
}

/* ---- Chance ------------------------------------------------------------------------------------
 */

static void test_draw_follows_the_weights(void **unused)
{
    (void)unused;
    static const uint8_t weights[4] = {1, 0, 3, 4};
    uint32_t counts[4] = {0};
    TyHead head = {.seed = 42};
    for (uint32_t i = 0; i < 80000; i++) {
        counts[draw_take(&head, NULL, 3, weights, 4)]++;
    }
    assert_int_equal(counts[1], 0);
    assert_in_range(counts[0], 9500, 10500);
    assert_in_range(counts[2], 29300, 30700);
    assert_in_range(counts[3], 39300, 40700);
    assert_true(head.draws[3] >= 80000);
}

static void test_streams_are_independent(void **unused)
{
    (void)unused;
    static const uint8_t weights[6] = {1, 1, 1, 1, 1, 1};
    TyHead alone = {.seed = 7};
    TyHead mixed = {.seed = 7};
    for (uint32_t i = 0; i < 1000; i++) {
        draw_take(&mixed, NULL, 1, weights, 6);
        assert_int_equal(draw_take(&alone, NULL, 2, weights, 6),
                         draw_take(&mixed, NULL, 2, weights, 6));
    }
}

static void test_seed_zero_is_a_seed(void **unused)
{
    (void)unused;
    uint64_t different = 0;
    for (uint64_t i = 0; i < 64; i++) {
        different += draw_value(0, 0, i) != draw_value(1, 0, i);
        different += draw_value(0, 0, i) != 0;
    }
    assert_int_equal(different, 128);
}

static void test_bounded_draws_are_unbiased(void **unused)
{
    (void)unused;
    enum { BOUND = 3 };
    uint32_t counts[BOUND] = {0};
    uint32_t counter = 0;
    for (uint32_t i = 0; i < 300000; i++) {
        counts[draw_below(9, 1, &counter, BOUND)]++;
    }
    for (uint32_t i = 0; i < BOUND; i++) {
        assert_in_range(counts[i], 99000, 101000);
    }
    /* A bound just above a power of two rejects about half of the values. */
    counter = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(draw_below(9, 1, &counter, 0x80000001u) < 0x80000001u);
    }
    assert_in_range(counter, 1800, 2200);
}

static void test_script_answers_each_stream_in_order(void **unused)
{
    (void)unused;
    static const uint8_t weights[4] = {1, 1, 1, 1};
    TyOutcome script[] = {
        {.stream = 2, .outcome = 3}, {.stream = 1, .outcome = 0}, {.stream = 2, .outcome = 1}};
    TyTape tape = {.script = script, .script_count = 3, .strict = true};
    TyHead head = {.seed = 1};
    assert_int_equal(draw_take(&head, &tape, 1, weights, 4), 0);
    assert_int_equal(draw_take(&head, &tape, 2, weights, 4), 3);
    assert_int_equal(draw_take(&head, &tape, 2, weights, 4), 1);
    assert_int_equal(tape.status.code, TY_OK);
    draw_take(&head, &tape, 2, weights, 4);
    assert_int_equal(tape.status.code, TY_BAD_SCRIPT);
    assert_true(tape.missing && tape.missing_stream == 2 && tape.missing_count == 4);
}

/* The last draw that a tape was told of. */
typedef struct Told {
    uint32_t draws;
    uint32_t stream;
    uint32_t count;
    uint32_t outcome;
    uint8_t weights[TY_OUTCOMES_MAX];
} Told;

static void hear_draw(void *user, uint32_t stream, const uint8_t *weights, uint32_t count,
                      uint32_t outcome)
{
    Told *told = user;
    told->draws++;
    told->stream = stream;
    told->count = count;
    told->outcome = outcome;
    memcpy(told->weights, weights, count);
}

static void test_tape_is_told_of_every_draw_and_its_weights(void **unused)
{
    (void)unused;
    static const uint8_t weights[4] = {1, 0, 3, 4};
    Told told = {.draws = 0};
    TyOutcome script[] = {{.stream = 2, .outcome = 3}};
    TyTape tape = {.user = &told, .drawn = hear_draw, .script = script, .script_count = 1};
    TyHead head = {.seed = 7};
    TyHead untold = {.seed = 7};
    for (uint32_t i = 1; i <= 100; i++) {
        uint32_t outcome = draw_take(&head, &tape, i % 3, weights, 4);
        assert_true(told.draws == i && told.stream == i % 3 && told.count == 4);
        assert_int_equal(told.outcome, outcome);
        assert_memory_equal(told.weights, weights, sizeof weights);
        if (i == 2) {
            assert_int_equal(outcome, 3); /* the script's */
            untold.draws[2]++;
        } else {
            assert_int_equal(draw_take(&untold, NULL, i % 3, weights, 4), outcome);
        }
    }
}

/* The draws of a step are told when the chance seat has answered them all. */
static void test_tape_is_told_of_the_draws_of_a_chance_seat(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    Told told = {.draws = 0};
    TyTape tape = {.user = &told, .drawn = hear_draw};
    assert_int_equal(ty_ruleset_open("convoi:board=tiny,chance=seat", NULL, &ruleset).code, TY_OK);
    const TyShape *shape = ty_shape(ruleset);
    assert_true(ty_reset(ruleset, state, 5, &tape));
    uint32_t answers = 0;
    for (uint32_t step = 0; step < 200 && !ty_head(state)->over; step++) {
        uint8_t mask[TY_ACTIONS_MAX];
        answers += ty_head(state)->seat == (int8_t)shape->players;
        ty_legal(ruleset, state, mask);
        uint32_t action = ty_sample(mask, shape->action_count, 5, step);
        assert_true(ty_step(ruleset, state, action, reward, &tape));
        bool waits = ty_head(state)->seat == (int8_t)shape->players;
        assert_true(waits ? told.draws < answers + 1 : told.draws == answers);
        assert_true(told.draws == 0 || told.weights[told.outcome] > 0);
    }
    assert_true(answers > 20);
    ty_ruleset_close(ruleset);
}

static void test_script_that_cannot_happen_leaves_the_state(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t before[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    assert_int_equal(ty_ruleset_open("convoi:ask_forced=true", NULL, &ruleset).code, TY_OK);
    ty_reset(ruleset, state, 5, NULL);
    uint32_t roll = 0;
    uint32_t black = 0;
    int32_t reward[TY_SEATS_MAX] = {0};
    assert_true(ty_action_find(ruleset, "colour black", &black));
    assert_true(ty_action_find(ruleset, "Start.ROLL", &roll));
    assert_false(ty_action_find(ruleset, "start.rol", &roll));
    assert_true(ty_step(ruleset, state, black, reward, NULL));
    memcpy(before, state, sizeof before);
    TyOutcome script[] = {{.stream = 2, .outcome = 1}};
    TyTape tape = {.script = script, .script_count = 1};
    assert_false(ty_step(ruleset, state, roll, reward, &tape));
    assert_int_equal(tape.status.code, TY_BAD_SCRIPT);
    assert_memory_equal(state, before, ty_shape(ruleset)->state_size);
    ty_legal(ruleset, state, mask);
    assert_int_equal(mask[roll], 1);
    ty_ruleset_close(ruleset);
}

static void test_scripted_step_that_is_illegal_leaves_the_state(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t before[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    TyOutcome script[] = {{.stream = 0, .outcome = 0}};
    TyTape tape = {.script = script, .script_count = 1};
    assert_int_equal(ty_ruleset_open("convoi:ask_forced=true", NULL, &ruleset).code, TY_OK);
    ty_reset(ruleset, state, 5, NULL);
    memcpy(before, state, sizeof before);
    assert_false(ty_step(ruleset, state, 0, reward, &tape));
    assert_memory_equal(state, before, ty_shape(ruleset)->state_size);
    assert_false(script[0].used);
    ty_ruleset_close(ruleset);
}

static void test_chance_seat_knows_everything(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t again[TY_STATE_MAX / 8];
    assert_int_equal(ty_ruleset_open("nordic:chance=seat", NULL, &ruleset).code, TY_OK);
    const TyShape *shape = ty_shape(ruleset);
    ty_reset(ruleset, state, 5, NULL);
    assert_int_equal(ty_head(state)->seat, shape->players);
    memcpy(again, state, sizeof again);
    ty_resample(ruleset, again, shape->players, 77);
    assert_true(ty_head(again)->seed == 77);
    ty_rekey(again, ty_head(state)->seed);
    assert_memory_equal(state, again, shape->state_size);
    ty_ruleset_close(ruleset);
}

/* It sees the table, and nobody's hand as its own. */
static void test_chance_seat_is_shown_the_table(void **unused)
{
    (void)unused;
    static const char *const specs[] = {
        "convoi:players=4,chance=seat",
        "nordic:players=3,chance=seat",
        "express:players=4,chance=seat",
        "chicago:players=4,chance=seat",
    };
    for (uint32_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        static char text[1 << 16];
        TyRuleset *ruleset = NULL;
        uint64_t state[TY_STATE_MAX / 8];
        assert_int_equal(ty_ruleset_open(specs[i], NULL, &ruleset).code, TY_OK);
        assert_true(ty_reset(ruleset, state, 5, NULL));
        size_t size = ty_text(ruleset, state, ty_shape(ruleset)->players, text, sizeof text);
        assert_true(size > 0 && size < sizeof text);
        assert_null(strstr(text, "your"));
        assert_null(strstr(text, "Your"));
        ty_ruleset_close(ruleset);
    }
}

/* A tape may listen to nothing: then the chance seat's steps play the same. */
static void test_chance_seat_plays_alike_with_a_silent_tape(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t other[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    assert_int_equal(ty_ruleset_open("convoi:board=tiny,chance=seat", NULL, &ruleset).code, TY_OK);
    const TyShape *shape = ty_shape(ruleset);
    TyTape silent = {0};
    assert_true(ty_reset(ruleset, state, 5, NULL));
    assert_true(ty_reset(ruleset, other, 5, &silent));
    for (uint32_t step = 0; step < 200 && !ty_head(state)->over; step++) {
        uint8_t mask[TY_ACTIONS_MAX];
        ty_legal(ruleset, state, mask);
        uint32_t action = ty_sample(mask, shape->action_count, 5, step);
        assert_true(ty_step(ruleset, state, action, reward, NULL));
        assert_true(ty_step(ruleset, other, action, reward, &silent));
        assert_true(ty_hash(ruleset, state) == ty_hash(ruleset, other));
    }
    ty_ruleset_close(ruleset);
}

static void test_there_is_no_game_behind_the_last(void **unused)
{
    (void)unused;
    assert_non_null(ty_game_at(ty_game_count() - 1));
    assert_null(ty_game_at(ty_game_count()));
}

/* ---- Sampling and seeds -------------------------------------------------------------------------
 */

static void test_sample_takes_every_set_entry_equally_often(void **unused)
{
    (void)unused;
    for (uint32_t count = 1; count <= 300; count += 13) {
        uint8_t mask[300] = {0};
        uint32_t hits[300] = {0};
        uint32_t set = 0;
        for (uint32_t i = 0; i < count; i++) {
            mask[i] = i % 5 == 0 || i == count - 1;
            set += mask[i];
        }
        for (uint64_t i = 0; i < 2000ull * set; i++) {
            uint32_t index = ty_sample(mask, count, count, i);
            assert_true(index < count && mask[index]);
            hits[index]++;
        }
        for (uint32_t i = 0; i < count; i++) {
            assert_true(!mask[i] || (hits[i] > 1750 && hits[i] < 2250));
        }
    }
}

static void test_episode_zero_has_the_seed_of_its_slot(void **unused)
{
    (void)unused;
    assert_true(ty_episode_seed(77, 0) == 77);
    assert_true(ty_episode_seed(77, 1) != ty_episode_seed(77, 2));
    assert_true(ty_episode_seed(77, 1) != ty_episode_seed(78, 1));
}

/* The vectors of SipHash's authors: key 00 01 .. 0f, message 00 01 .. of each size. */
static void test_siphash_gives_the_values_of_its_authors(void **unused)
{
    (void)unused;
    static const struct {
        size_t size;
        uint64_t value;
    } vectors[] = {
        {0, 0x726fdb47dd0e0e31u}, {1, 0x74f839c593dc67fdu},  {2, 0x0d6c8009d9a94f5au},
        {3, 0x85676696d7fb7e2du}, {4, 0xcf2794e0277187b7u},  {5, 0x18765564cd99a68du},
        {6, 0xcbc9466e58fee3ceu}, {7, 0xab0200f58b01d137u},  {8, 0x93f5f5799a932462u},
        {9, 0x9e0082df0ba9e4b0u}, {15, 0xa129ca6149be45e5u}, {63, 0x958a324ceb064572u},
    };
    uint8_t bytes[64];
    for (uint32_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        assert_int_equal(siphash(bytes, bytes, vectors[i].size), vectors[i].value);
    }
}

/* ---- Text ---------------------------------------------------------------------------------------
 */

static void test_json_is_escaped_and_separated(void **unused)
{
    (void)unused;
    char out[256];
    TyJson json = ty_json_init(out, sizeof out);
    ty_json_open(&json, NULL, '{');
    ty_json_put_string(&json, "a\"b", "x\\y\n");
    ty_json_open(&json, "list", '[');
    ty_json_put_int(&json, NULL, -3);
    ty_json_put_bool(&json, NULL, true);
    ty_json_put_null(&json, NULL);
    ty_json_close(&json, ']');
    ty_json_put_hex(&json, "h", 0xabc);
    ty_json_close(&json, '}');
    assert_string_equal(out, "{\"a\\\"b\":\"x\\\\y\\u000a\",\"list\":[-3,true,null],"
                             "\"h\":\"0000000000000abc\"}");
}

static void test_text_counts_what_does_not_fit(void **unused)
{
    (void)unused;
    char out[8];
    TyText text = ty_text_init(out, sizeof out);
    ty_text_add(&text, "%s", "abcdef");
    ty_text_add(&text, "%s", "ghijkl");
    ty_text_add(&text, "%s", "m");
    assert_int_equal(text.length, 13);
    assert_string_equal(out, "abcdefg");
}

/* The same arguments as text and by snprintf, in a buffer that has room and in one that has not. */
#define ASSERT_WRITTEN_ALIKE(...)                                                                  \
    for (size_t size = 1; size <= 64; size += 3) {                                                 \
        char ours[64], theirs[64];                                                                 \
        TyText text = ty_text_init(ours, size);                                                    \
        ty_text_add(&text, __VA_ARGS__);                                                           \
        assert_int_equal(text.length, snprintf(theirs, size, __VA_ARGS__));                        \
        assert_string_equal(ours, theirs);                                                         \
    }

static void test_text_is_written_as_printf_does(void **unused)
{
    (void)unused;
    ASSERT_WRITTEN_ALIKE("plain");
    ASSERT_WRITTEN_ALIKE("%s, %s%s.", "one", "", "three");
    ASSERT_WRITTEN_ALIKE("%d %d %d %u %u", 0, INT32_MIN, INT32_MAX, 0u, UINT32_MAX);
    ASSERT_WRITTEN_ALIKE("%c%c at 100 %%", 'a', '~');
    ASSERT_WRITTEN_ALIKE("%s %.*s|%d", "cut", 3, "abcdef", 7);
    ASSERT_WRITTEN_ALIKE("%u of %08x, %s: %.4f, %llu, %-6s|%3d", 1u, 0xbeefu, "mixed", 0.25,
                         1ull << 63, "left", 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_written_as_printf_does),
        cmocka_unit_test(test_unknown_game_names_the_games),
        cmocka_unit_test(test_unknown_key_names_the_keys),
        cmocka_unit_test(test_out_of_range_names_key_value_and_range),
        cmocka_unit_test(test_wrong_type_names_key_and_value),
        cmocka_unit_test(test_malformed_pairs_are_refused),
        cmocka_unit_test(test_too_long_ruleset_is_refused),
        cmocka_unit_test(test_too_long_file_name_is_refused_by_its_key),
        cmocka_unit_test(test_unknown_board_without_files_is_refused),
        cmocka_unit_test(test_canonical_string_shows_board_players_and_what_differs),
        cmocka_unit_test(test_broken_user_board_names_key_line_and_column),
        cmocka_unit_test(test_draw_follows_the_weights),
        cmocka_unit_test(test_streams_are_independent),
        cmocka_unit_test(test_seed_zero_is_a_seed),
        cmocka_unit_test(test_bounded_draws_are_unbiased),
        cmocka_unit_test(test_script_answers_each_stream_in_order),
        cmocka_unit_test(test_tape_is_told_of_every_draw_and_its_weights),
        cmocka_unit_test(test_tape_is_told_of_the_draws_of_a_chance_seat),
        cmocka_unit_test(test_script_that_cannot_happen_leaves_the_state),
        cmocka_unit_test(test_scripted_step_that_is_illegal_leaves_the_state),
        cmocka_unit_test(test_chance_seat_knows_everything),
        cmocka_unit_test(test_chance_seat_is_shown_the_table),
        cmocka_unit_test(test_chance_seat_plays_alike_with_a_silent_tape),
        cmocka_unit_test(test_there_is_no_game_behind_the_last),
        cmocka_unit_test(test_sample_takes_every_set_entry_equally_often),
        cmocka_unit_test(test_episode_zero_has_the_seed_of_its_slot),
        cmocka_unit_test(test_siphash_gives_the_values_of_its_authors),
        cmocka_unit_test(test_json_is_escaped_and_separated),
        cmocka_unit_test(test_text_counts_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
