/* Collectors: what is written down of a network's play is what was played, and goes on exactly. */
#include "trainyard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/agents/net_bytes.h"
#include "tests/support/file_text.h"

enum { SLOTS = 6, STEPS = 200, ENTRIES = SLOTS * STEPS, WIDTH = 32 };

static const char *const specs[] = {"convoi:board=tiny,reward=shaped", "nordic:map=tiny",
                                    "express:map=tiny,players=3", "chicago:turn_cap=100"};
enum { SPECS = sizeof specs / sizeof specs[0] };

static TyRuleset *ruleset_of(const char *spec)
{
    TyRuleset *ruleset = NULL;
    expect_ok(ty_ruleset_open(spec, NULL, &ruleset));
    return ruleset;
}

static TyCollector *collector_of(const TyRuleset *ruleset, const TyCollectorConfig *config)
{
    TyCollector *collector = NULL;
    expect_ok(ty_collector_open(ruleset, config, &collector));
    return collector;
}

/* Memory for what is written down. */
typedef struct Record {
    TyCollected at;
    size_t sizes[9]; /* of the columns */
    uint8_t *columns[9];
} Record;

static Record record_of(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    Record record = {.sizes = {(size_t)ENTRIES * shape->row_size,
                               (size_t)ENTRIES * shape->action_count, ENTRIES * sizeof(int32_t),
                               ENTRIES * sizeof(int32_t), ENTRIES * sizeof(float),
                               (ENTRIES + SLOTS) * sizeof(float), ENTRIES + SLOTS,
                               ENTRIES * shape->players * sizeof(float), ENTRIES}};
    for (uint32_t i = 0; i < 9; i++) {
        record.columns[i] = calloc(1, record.sizes[i]);
        assert_non_null(record.columns[i]);
    }
    record.at = (TyCollected){.rows = record.columns[0],
                              .masks = record.columns[1],
                              .action = (int32_t *)(void *)record.columns[2],
                              .advice = (int32_t *)(void *)record.columns[3],
                              .logp = (float *)(void *)record.columns[4],
                              .value = (float *)(void *)record.columns[5],
                              .seat = (int8_t *)record.columns[6],
                              .earned = (float *)(void *)record.columns[7],
                              .ended = record.columns[8]};
    return record;
}

static void record_free(Record *record)
{
    for (uint32_t i = 0; i < 9; i++) {
        free(record->columns[i]);
    }
}

static void expect_same(const Record *one, const Record *other)
{
    for (uint32_t i = 0; i < 9; i++) {
        assert_memory_equal(one->columns[i], other->columns[i], one->sizes[i]);
    }
}

/* ---- What is written down ---- */

/* Plays slot `slot` again from what was written down: rows, masks, seats and rewards must fit. */
static void replay(const TyRuleset *ruleset, const Record *record, uint64_t seed, uint32_t slot)
{
    const TyShape *shape = ty_shape(ruleset);
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    uint64_t episode = 0;
    ty_reset(ruleset, state, ty_episode_seed(seed + slot, 0), NULL);
    for (uint32_t step = 0; step < STEPS; step++) {
        size_t at = (size_t)step * SLOTS + slot;
        int32_t reward[TY_SEATS_MAX] = {0};
        uint32_t seat = (uint32_t)ty_head(state)->seat;
        assert_int_equal(record->at.seat[at], seat);
        ty_observe(ruleset, state, seat, row);
        ty_legal(ruleset, state, mask);
        assert_memory_equal(record->at.rows + at * shape->row_size, row, shape->row_size);
        assert_memory_equal(record->at.masks + at * shape->action_count, mask, shape->action_count);
        assert_true(ty_step(ruleset, state, (uint32_t)record->at.action[at], reward, NULL));
        for (uint32_t i = 0; i < shape->players; i++) {
            assert_true(record->at.earned[at * shape->players + i] ==
                        (float)reward[i] / TY_REWARD_ONE);
        }
        assert_int_equal(record->at.ended[at], ty_head(state)->over);
        if (ty_head(state)->over) {
            ty_reset(ruleset, state, ty_episode_seed(seed + slot, ++episode), NULL);
        }
    }
    assert_int_equal(record->at.seat[(size_t)STEPS * SLOTS + slot], ty_head(state)->seat);
}

static void test_what_is_written_down_is_what_was_played(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; i++) {
        TyRuleset *ruleset = ruleset_of(specs[i]);
        const TyShape *shape = ty_shape(ruleset);
        TyNet *net = net_random(ruleset, 2, WIDTH, 5);
        TyCollector *collector = collector_of(
            ruleset, &(TyCollectorConfig){.slots = SLOTS, .seed = 9, .self_weight = 1});
        Record record = record_of(ruleset);
        ty_collector_run(collector, net, STEPS, 0.0f, &record.at);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            replay(ruleset, &record, 9, slot);
        }
        for (size_t at = 0; at < ENTRIES; at++) {
            float value = 0;
            ty_net_think(net, record.at.rows + at * shape->row_size, NULL, 1, NULL, &value);
            assert_true(value == record.at.value[at]);
            assert_true(record.at.logp[at] <= 0.0f);
            assert_int_equal(record.at.advice[at], -1);
        }
        record_free(&record);
        ty_collector_close(collector);
        ty_net_close(net);
        ty_ruleset_close(ruleset);
    }
}

static void test_a_followed_teacher_plays_as_it_would_alone(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; i++) {
        TyRuleset *ruleset = ruleset_of(specs[i]);
        const TyAgent *expert = ty_agent_find(ty_ruleset_game(ruleset), "expert");
        TyCollector *collector = collector_of(
            ruleset,
            &(TyCollectorConfig){.slots = SLOTS, .seed = 9, .self_weight = 1, .teacher = expert});
        Record record = record_of(ruleset);
        ty_collector_run(collector, NULL, STEPS, 1.0f, &record.at);
        assert_memory_equal(record.at.action, record.at.advice, record.sizes[2]);
        replay(ruleset, &record, 9, 0);
        /* The expert in every seat of the first episode. */
        uint64_t memory[TY_LINEUP_MEMORY_MAX / 8];
        uint64_t position[TY_STATE_MAX / 8];
        const TyAgent *agents[TY_SEATS_MAX] = {expert, expert, expert};
        int32_t reward[TY_SEATS_MAX] = {0};
        TyLineup lineup;
        ty_lineup_init(&lineup, ruleset, agents, memory);
        ty_reset(ruleset, position, 9, NULL);
        ty_lineup_start(&lineup, 9);
        for (uint32_t step = 0; step < STEPS && !ty_head(position)->over; step++) {
            assert_int_equal(record.at.action[(size_t)step * SLOTS],
                             ty_lineup_step(&lineup, position, reward));
        }
        record_free(&record);
        ty_collector_close(collector);
        ty_ruleset_close(ruleset);
    }
}

static void test_advice_is_followed_as_often_as_asked(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    const TyAgent *expert = ty_agent_find(ty_ruleset_game(ruleset), "expert");
    TyNet *net = net_random(ruleset, 1, WIDTH, 5);
    TyCollector *collector = collector_of(
        ruleset,
        &(TyCollectorConfig){.slots = SLOTS, .seed = 9, .self_weight = 1, .teacher = expert});
    Record record = record_of(ruleset);
    uint32_t followed = 0;
    ty_collector_run(collector, net, STEPS, 0.5f, &record.at);
    for (size_t at = 0; at < ENTRIES; at++) {
        followed += record.at.logp[at] == 0.0f && record.at.action[at] == record.at.advice[at];
    }
    /* Half of 1,200, and a few decisions that the network took with certainty. */
    assert_in_range(followed, 500, 800);
    record_free(&record);
    ty_net_close(net);
    ty_collector_close(collector);
    ty_ruleset_close(ruleset);
}

/* ---- Rivals ---- */

static void test_with_a_rival_the_network_has_one_seat(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny,players=3");
    const TyAgent *expert = ty_agent_find(ty_ruleset_game(ruleset), "expert");
    TyNet *net = net_random(ruleset, 1, WIDTH, 5);
    TyNet *past = net_random(ruleset, 1, WIDTH, 6);
    TyCollectorConfig config = {.slots = SLOTS, .seed = 9, .rival_count = 2};
    config.rivals[0] = (TyRival){.agent = expert, .weight = 3};
    config.rivals[1] = (TyRival){.net = past, .temperature = 1.0f, .weight = 1};
    TyCollector *collector = collector_of(ruleset, &config);
    Record record = record_of(ruleset);
    TyOutcomes outcomes;
    uint32_t seats[TY_PLAYERS_MAX] = {0};
    ty_collector_run(collector, net, STEPS, 0.0f, &record.at);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        int8_t seat = -1; /* of the running episode */
        for (uint32_t step = 0; step < STEPS; step++) {
            size_t at = (size_t)step * SLOTS + slot;
            assert_true(seat < 0 || record.at.seat[at] == seat);
            seats[record.at.seat[at]]++;
            seat = record.at.ended[at] ? -1 : record.at.seat[at];
        }
    }
    assert_true(seats[0] > 0 && seats[1] > 0 && seats[2] > 0);
    ty_collector_outcomes(collector, &outcomes);
    assert_int_equal(outcomes.episodes[0], 0);
    assert_true(outcomes.episodes[1] > outcomes.episodes[2] && outcomes.episodes[2] > 0);
    /* Against the expert random weights lose. */
    assert_true(outcomes.won[1] < 0.2 * (double)outcomes.episodes[1]);
    ty_collector_outcomes(collector, &outcomes);
    assert_int_equal(outcomes.episodes[1], 0);
    record_free(&record);
    ty_collector_close(collector);
    ty_net_close(past);
    ty_net_close(net);
    ty_ruleset_close(ruleset);
}

static void test_rivals_can_be_replaced_in_running_episodes(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("nordic:map=tiny");
    const TyAgent *expert = ty_agent_find(ty_ruleset_game(ruleset), "expert");
    TyNet *net = net_random(ruleset, 1, WIDTH, 5);
    TyNet *past = net_random(ruleset, 1, WIDTH, 6);
    TyCollectorConfig config = {.slots = SLOTS, .seed = 9, .rival_count = 1};
    config.rivals[0] = (TyRival){.net = past, .weight = 1};
    TyCollector *collector = collector_of(ruleset, &config);
    Record record = record_of(ruleset);
    TyOutcomes outcomes;
    ty_collector_run(collector, net, 3, 0.0f, &record.at);
    expect_ok(ty_collector_set_rivals(collector, &(TyRival){.agent = expert, .weight = 1}, 1, 0));
    ty_net_close(past); /* nobody plays with it any more */
    ty_collector_run(collector, net, STEPS, 0.0f, &record.at);
    expect_ok(ty_collector_set_rivals(collector, NULL, 0, 1));
    ty_collector_outcomes(collector, &outcomes);
    ty_collector_run(collector, net, STEPS, 0.0f, &record.at);
    ty_collector_outcomes(collector, &outcomes);
    assert_true(outcomes.episodes[0] > 0);
    assert_int_equal(outcomes.episodes[1], 0);
    record_free(&record);
    ty_collector_close(collector);
    ty_net_close(net);
    ty_ruleset_close(ruleset);
}

/* ---- Saved and restored ---- */

static void check_restored(const TyRuleset *ruleset, const TyCollectorConfig *config)
{
    TyNet *net = net_random(ruleset, 1, WIDTH, 5);
    TyCollector *one = collector_of(ruleset, config);
    TyCollector *other = collector_of(ruleset, config);
    Record first = record_of(ruleset);
    Record second = record_of(ruleset);
    size_t size = ty_collector_save_size(one);
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    ty_collector_run(one, net, 77, 0.3f, &first.at);
    ty_collector_save(one, bytes);
    expect_ok(ty_collector_restore(other, bytes, size));
    memset(first.columns[3], 0, first.sizes[3]);
    ty_collector_run(one, net, STEPS, 0.3f, &first.at);
    ty_collector_run(other, net, STEPS, 0.3f, &second.at);
    expect_same(&first, &second);
    bytes[size / 2] ^= 1;
    assert_int_equal(ty_collector_restore(other, bytes, size).code, TY_BAD_ARGUMENT);
    bytes[size / 2] ^= 1;
    assert_int_equal(ty_collector_restore(other, bytes, size - 1).code, TY_BAD_ARGUMENT);
    assert_int_equal(ty_collector_restore(other, bytes, 0).code, TY_BAD_ARGUMENT);
    free(bytes);
    record_free(&first);
    record_free(&second);
    ty_collector_close(one);
    ty_collector_close(other);
    ty_net_close(net);
}

static void test_a_restored_collector_goes_on_exactly(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; i++) {
        TyRuleset *ruleset = ruleset_of(specs[i]);
        TyNet *past = net_random(ruleset, 1, WIDTH, 6);
        TyCollectorConfig config = {.slots = SLOTS, .seed = 9, .self_weight = 1, .rival_count = 1};
        config.rivals[0] = (TyRival){.net = past, .temperature = 1.0f, .weight = 1};
        check_restored(ruleset, &config);
        ty_net_close(past);
        ty_ruleset_close(ruleset);
    }
}

/* Agents may remember addresses: what is restored elsewhere must not have them. */
static void test_agents_begin_anew_in_a_restored_collector(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; i++) {
        TyRuleset *ruleset = ruleset_of(specs[i]);
        const TyAgent *expert = ty_agent_find(ty_ruleset_game(ruleset), "expert");
        TyCollectorConfig config = {
            .slots = SLOTS, .seed = 9, .self_weight = 1, .teacher = expert, .rival_count = 1};
        config.rivals[0] = (TyRival){.agent = expert, .weight = 1};
        TyCollector *collector = collector_of(ruleset, &config);
        Record record = record_of(ruleset);
        size_t size = ty_collector_save_size(collector);
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        ty_collector_run(collector, NULL, 50, 1.0f, &record.at);
        ty_collector_save(collector, bytes);
        ty_collector_close(collector);
        ty_ruleset_close(ruleset);
        ruleset = ruleset_of(specs[i]);
        collector = collector_of(ruleset, &config);
        expect_ok(ty_collector_restore(collector, bytes, size));
        ty_collector_run(collector, NULL, STEPS, 1.0f, &record.at);
        assert_memory_equal(record.at.action, record.at.advice, record.sizes[2]);
        free(bytes);
        record_free(&record);
        ty_collector_close(collector);
        ty_ruleset_close(ruleset);
    }
}

/* ---- What is refused ---- */

static void expect_refused(const TyRuleset *ruleset, TyCollectorConfig config, const char *said)
{
    TyCollector *collector = NULL;
    TyStatus status = ty_collector_open(ruleset, &config, &collector);
    assert_int_equal(status.code, TY_BAD_ARGUMENT);
    assert_null(collector);
    if (strstr(status.message, said) == NULL) {
        fail_msg("'%s' does not say '%s'", status.message, said);
    }
}

static void test_what_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    TyRuleset *chance = ruleset_of("express:map=tiny,chance=seat");
    const TyAgent *expert = ty_agent_find(ty_ruleset_game(ruleset), "expert");
    TyCollectorConfig config = {.slots = 4, .self_weight = 1, .rival_count = 1};
    expect_refused(ruleset, config, "rival 0: either an agent or a network");
    config.rivals[0] = (TyRival){.agent = expert, .weight = 1, .temperature = -1.0f};
    expect_refused(ruleset, config, "rival 0: temperature=-1");
    config.rivals[0] = (TyRival){.agent = expert, .weight = TY_RIVAL_WEIGHT_MAX + 1};
    expect_refused(ruleset, config, "rival 0: weight=65537; allowed is 0..65536");
    config.rivals[0].weight = 0;
    config.self_weight = 0;
    expect_refused(ruleset, config, "nobody would play");
    config.rival_count = TY_RIVALS_MAX + 1;
    expect_refused(ruleset, config, "rival_count=33; allowed is 0..32");
    expect_refused(ruleset, (TyCollectorConfig){.self_weight = 1}, "slots=0; allowed is 1..65536");
    expect_refused(chance, (TyCollectorConfig){.slots = 1, .self_weight = 1},
                   "chance must not be a seat");
    ty_ruleset_close(chance);
    ty_ruleset_close(ruleset);
}

static void test_long_episodes_are_cut_off(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("convoi:board=tiny");
    TyNet *net = net_random(ruleset, 1, WIDTH, 5);
    TyCollector *collector = collector_of(
        ruleset,
        &(TyCollectorConfig){.slots = SLOTS, .seed = 9, .self_weight = 1, .max_steps = 10});
    Record record = record_of(ruleset);
    ty_collector_run(collector, net, 40, 0.0f, &record.at);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint32_t length = 0;
        for (uint32_t step = 0; step < 40; step++) {
            length = record.at.ended[(size_t)step * SLOTS + slot] ? 0 : length + 1;
            assert_true(length < 10);
        }
    }
    record_free(&record);
    ty_collector_close(collector);
    ty_net_close(net);
    ty_ruleset_close(ruleset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_down_is_what_was_played),
        cmocka_unit_test(test_a_followed_teacher_plays_as_it_would_alone),
        cmocka_unit_test(test_advice_is_followed_as_often_as_asked),
        cmocka_unit_test(test_with_a_rival_the_network_has_one_seat),
        cmocka_unit_test(test_rivals_can_be_replaced_in_running_episodes),
        cmocka_unit_test(test_a_restored_collector_goes_on_exactly),
        cmocka_unit_test(test_agents_begin_anew_in_a_restored_collector),
        cmocka_unit_test(test_what_cannot_be_is_refused_by_name),
        cmocka_unit_test(test_long_episodes_are_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
