/* Convoi Express: what is asked and what is rewarded, by the options of a ruleset that are ours. */
#include "tests/games/convoi/convoi_table.h"

/* ---- Questions ------------------------------------------------------------------------------- */

static void test_forced_answers_are_asked_only_if_wanted(void **slot)
{
    Table *table = table_open(slot, "board=europe");
    table_reset(table, 1);
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_int_equal(table->state.head.steps, 0);
    table = table_open(slot, "board=europe,ask_forced=true");
    table_reset(table, 1);
    static const char *const colours[] = {"colour black", "colour brown", "colour gray"};
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(table_asks(table, PHASE_COLOUR));
        assert_int_equal(table_choices(table), 1);
        table_do(table, colours[i]);
        assert_true(table_asks(table, PHASE_START));
        assert_int_equal(table_choices(table), 1);
        table_do(table, "start.roll");
    }
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_int_equal(table->state.head.steps, 6);
}

static void test_a_question_always_has_two_answers_unless_forced_ones_are_asked(void **slot)
{
    static const char *const boards[] = {"board=europe", "board=north_america", "board=tiny"};
    for (uint32_t i = 0; i < 3; i++) {
        Table *table = table_open(slot, boards[i]);
        for (uint64_t seed = 0; seed < 10; seed++) {
            table_reset(table, seed);
            while (!table->state.head.over) {
                uint8_t mask[TY_ACTIONS_MAX];
                int32_t reward[TY_SEATS_MAX] = {0};
                assert_true(table_choices(table) >= 2);
                ty_legal(table->ruleset, &table->state, mask);
                uint32_t action = ty_sample(mask, ty_shape(table->ruleset)->action_count, seed,
                                            table->state.head.steps);
                assert_true(ty_step(table->ruleset, &table->state, action, reward, NULL));
            }
        }
    }
}

/* ---- Rewards --------------------------------------------------------------------------------- */

/* A train that delivers the good before the last, and one that delivers the last. */
static Table *table_nearly_won(void **slot, const char *options)
{
    Table *table = table_quiet(slot, options);
    table_deliver(table, "harbour", "blue", 2);
    table_put(table, "black.1", "cross-harbour.2", "harbour");
    table_carry(table, "black.1", "red");
    table_put(table, "black.2", "cross-harbour.3", "harbour");
    table_carry(table, "black.2", "red");
    table_ready(table);
    return table;
}

static void rewards_are(const Table *table, int32_t reward)
{
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        assert_int_equal(table->reward[seat], seat < table->tables->player_count ? reward : 0);
    }
}

/* A position in which the next lost token ends the game. */
static void loss_play(void **slot, const char *options)
{
    Table *table = table_quiet(slot, options);
    table_put(table, "black.1", "cross-harbour.1", "harbour");
    table->state.clock = 1;
    table->state.pile = 0;
    table_ready(table);
    int32_t potential = table->state.potential;
    table_move(table, "black.1", 2);
    assert_true(table->state.head.over);
    rewards_are(table, -TY_REWARD_ONE - potential);
}

static void test_reward_win_is_paid_at_the_end_only(void **slot)
{
    Table *table = table_nearly_won(slot, "board=yard,players=3,reward=win");
    table_move(table, "black.2", 2);
    rewards_are(table, 0);
    table_move(table, "black.1", 2);
    rewards_are(table, TY_REWARD_ONE);
    loss_play(slot, "board=yard,reward=win");
}

static void test_reward_delivery_adds_an_eighth_per_good(void **slot)
{
    Table *table = table_nearly_won(slot, "board=yard,reward=delivery");
    table_move(table, "black.2", 2);
    rewards_are(table, TY_REWARD_ONE / 8);
    table_move(table, "black.1", 2);
    rewards_are(table, TY_REWARD_ONE / 8 + TY_REWARD_ONE);
    loss_play(slot, "board=yard,reward=delivery");
}

static void test_reward_shaped_adds_the_change_of_potential(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,reward=shaped");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_ready(table);
    int32_t before = table->state.potential;
    table_move(table, "black.1", 2);
    rewards_are(table, table->state.potential - before);
    assert_int_equal(table->state.potential - before, 2);
    table_move(table, "black.1", 2);
    table_do(table, "load black.1");
    before = table->state.potential;
    table_do(table, "pay switch");
    rewards_are(table, table->state.potential - before);
    assert_true(table->state.potential > before);
    table = table_nearly_won(slot, "board=yard,reward=shaped");
    before = table->state.potential;
    table_move(table, "black.2", 2);
    rewards_are(table, 2 * TY_REWARD_ONE + TY_REWARD_ONE / 8 + table->state.potential - before);
    before = table->state.potential;
    table_move(table, "black.1", 2);
    rewards_are(table, 3 * TY_REWARD_ONE + TY_REWARD_ONE / 8 - before);
    loss_play(slot, "board=yard,reward=shaped");
}

static void test_reward_progress_counts_long_ways_and_is_kept_at_the_end(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,reward=progress");
    table_put(table, "black.1", "cross-harbour.1", "harbour");
    table_put(table, "black.2", "ford-mill.1", "mill"); /* where goods wait for it */
    table->state.clock = 1;
    table->state.pile = 0;
    table_ready(table);
    int32_t before = table->state.potential;
    table_move(table, "black.1", 2);
    assert_true(table->state.head.over);
    assert_true(table->state.potential > 0);
    rewards_are(table, -TY_REWARD_ONE + table->state.potential - before);
    table = table_nearly_won(slot, "board=yard,reward=progress");
    before = table->state.potential;
    assert_true(before > 2 * (24 + 40)); /* loaded, and near the port */
    table_move(table, "black.2", 2);
    rewards_are(table, TY_REWARD_ONE / 8 + 168 + table->state.potential - before);
}

/* The return of an episode of random play that loads trains and moves loaded ones when it can;
 * `potential` is that of the beginning. */
static int32_t episode_return(const Table *table, ConvoiState *state, uint64_t seed,
                              int32_t *potential)
{
    int32_t total[TY_SEATS_MAX] = {0};
    uint8_t mask[TY_ACTIONS_MAX];
    assert_true(ty_reset(table->ruleset, state, seed, NULL));
    *potential = state->potential;
    for (uint64_t i = 0; !state->head.over; i++) {
        ty_legal(table->ruleset, state, mask);
        uint32_t action = ty_sample(mask, ty_shape(table->ruleset)->action_count, seed, i);
        const uint16_t *first = table->ruleset->action_first;
        for (uint32_t better = first[FORM_MOVE]; better < first[FORM_HOLD]; better++) {
            bool loaded =
                better >= first[FORM_LOAD] || state->cargo[better - first[FORM_MOVE]] != 0;
            action = mask[better] && loaded ? better : action;
        }
        assert_true(ty_step(table->ruleset, state, action, total, NULL));
    }
    assert_int_equal(total[0], total[1]);
    return total[0];
}

/* What the goods and the trains of the last position are worth is all that the return has besides,
 * but for what the first one was worth: the way there does not matter. */
static void test_reward_progress_sums_to_goods_and_the_gain_of_potential(void **slot)
{
    static const char *const boards[] = {"tiny", "europe", "north_america"};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < 3; i++) {
        for (uint64_t seed = 0; seed < 300; seed++) {
            char options[64];
            ConvoiState state;
            int32_t first = 0;
            snprintf(options, sizeof options, "board=%s,reward=progress", boards[i]);
            Table *table = table_open(slot, options);
            int32_t found = episode_return(table, &state, seed, &first);
            int32_t goods = (TY_REWARD_ONE / 8 + 168) * state.goods_delivered;
            assert_int_equal(found, (state.won ? 1 : -1) * TY_REWARD_ONE + goods + state.potential -
                                        first);
            kept += state.potential > 0;
        }
    }
    assert_true(kept > 0);
}

/* The potential leaves every return as it is, but for what the beginning is worth. */
static void test_reward_shaped_sums_to_goods_less_the_first_potential(void **slot)
{
    static const char *const boards[] = {"tiny", "europe", "north_america"};
    uint32_t delivered = 0;
    for (uint32_t i = 0; i < 3; i++) {
        for (uint64_t seed = 0; seed < 300; seed++) {
            char options[64];
            ConvoiState states[2];
            int32_t potential[2] = {0};
            snprintf(options, sizeof options, "board=%s,removed=0,clock=10,reward=shaped",
                     boards[i]);
            Table *table = table_open(slot, options);
            int32_t shaped = episode_return(table, &states[0], seed, &potential[0]);
            snprintf(options, sizeof options, "board=%s,removed=0,clock=10,reward=delivery",
                     boards[i]);
            table = table_open(slot, options);
            int32_t plain = episode_return(table, &states[1], seed, &potential[1]);
            int32_t goods = 2 * TY_REWARD_ONE * states[0].goods_delivered;
            assert_int_equal(shaped, plain + goods - potential[0]);
            assert_int_equal(potential[1], 0);
            assert_int_equal(plain, (states[1].won ? 1 : -1) * TY_REWARD_ONE +
                                        states[1].goods_delivered * TY_REWARD_ONE / 8);
            delivered += states[1].goods_delivered;
        }
    }
    assert_true(delivered > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_forced_answers_are_asked_only_if_wanted),
        TABLE_TEST(test_a_question_always_has_two_answers_unless_forced_ones_are_asked),
        TABLE_TEST(test_reward_win_is_paid_at_the_end_only),
        TABLE_TEST(test_reward_delivery_adds_an_eighth_per_good),
        TABLE_TEST(test_reward_shaped_adds_the_change_of_potential),
        TABLE_TEST(test_reward_shaped_sums_to_goods_less_the_first_potential),
        TABLE_TEST(test_reward_progress_counts_long_ways_and_is_kept_at_the_end),
        TABLE_TEST(test_reward_progress_sums_to_goods_and_the_gain_of_potential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
