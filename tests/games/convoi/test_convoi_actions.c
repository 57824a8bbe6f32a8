/* Convoi Express, Deroulement du jeu: action cards and drawing; one test per rule. */
#include "tests/games/convoi/convoi_table.h"

/* ---- Action cards ---------------------------------------------------------------------------- */

static void test_player_may_play_no_card(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    assert_true(table_may(table, "turn.end"));
    table_turn(table, "I14");
    assert_int_equal(table->state.cards_played, 0);
    assert_int_equal(hand_size(table->state.hand[0]), 10);
}

static void test_player_may_play_all_cards(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_hand(table, 0, 2, 2, 1);
    table_ready(table);
    for (uint32_t i = 0; i < 2; i++) {
        table_do(table, i == 0 ? "light.from ford~mill" : "light.from cross~harbour");
        table_do(table, i == 0 ? "light.to cross~harbour" : "light.to ford~mill");
        table_do(table, "pay signal");
        table_do(table, i == 0 ? "switch ford south+mill" : "switch ford north+mill");
        table_do(table, "pay switch");
    }
    table_move(table, "black.1", 2);
    assert_int_equal(hand_size(table->state.hand[0]), 0);
    assert_int_equal(table_choices(table), 1);
    assert_true(table_may(table, "turn.end"));
    assert_int_equal(table->state.discard[ACT_SIGNAL], 2);
    assert_int_equal(table->state.discard[ACT_SWITCH], 2);
    assert_int_equal(table->state.discard[ACT_MOVE], 1);
}

static void test_signal_card_moves_a_disc_to_a_red_light(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    table_do(table, "light.from ford~mill");
    assert_false(table_may(table, "light.to mill/ford"));
    table_do(table, "light.to mill/cross");
    table_do(table, "pay signal");
    assert_false(table_green(table, "ford~mill"));
    assert_true(table_green(table, "mill/cross"));
    assert_int_equal(__builtin_popcountll(table->state.green), 4);
    assert_int_equal(table->state.hand[0][ACT_SIGNAL], 2);
    assert_int_equal(table->state.discard[ACT_SIGNAL], 1);
}

static void test_every_city_keeps_a_green_light(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    assert_false(table_may(table, "light.from harbour/cross"));
    table_do(table, "light.from mill/ford");
    assert_true(table_may(table, "light.to mill/siding"));
    assert_true(table_may(table, "light.to mill/mine"));
    assert_true(table_may(table, "light.to mill/cross"));
    assert_int_equal(table_choices(table), 3);
}

static void test_a_second_light_of_a_city_may_leave_it(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/cross");
    table_ready(table);
    table_do(table, "light.from mill/ford");
    assert_true(table_may(table, "light.to ford~mill"));
    assert_true(table_may(table, "light.to mine/mill"));
    assert_int_equal(table_choices(table), 5);
}

static void test_switch_card_sets_a_three_way_junction(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    assert_false(table_may(table, "switch ford north+mill"));
    assert_true(table_may(table, "switch ford north+south"));
    table_do(table, "switch ford south+mill");
    table_do(table, "pay switch");
    assert_string_equal(table_setting(table, "ford"), "south+mill");
    assert_string_equal(table_setting(table, "cross"), "mill+harbour");
    assert_int_equal(table->state.hand[0][ACT_SWITCH], 2);
    assert_int_equal(table->state.discard[ACT_SWITCH], 1);
}

static void test_switch_card_sets_both_discs_of_a_four_way_junction(void **slot)
{
    static const char *const settings[] = {"mill+mine", "mill+east", "mine+harbour", "mine+east",
                                           "harbour+east"};
    for (uint32_t i = 0; i < 5; i++) {
        char action[TY_NAME_MAX];
        Table *table = table_quiet(slot, "board=yard");
        table_ready(table);
        snprintf(action, sizeof action, "switch cross %s", settings[i]);
        table_do(table, action);
        table_do(table, "pay switch");
        assert_string_equal(table_setting(table, "cross"), settings[i]);
        assert_int_equal(hand_size(table->state.hand[0]), 9);
    }
}

static void test_move_card_moves_any_one_train_on_the_network(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_stand(table, "brown.2", "mill");
    table_stand(table, "gray.3", "east");
    table_ready(table);
    assert_true(table_may(table, "move black.1"));
    assert_true(table_may(table, "move brown.2"));
    assert_true(table_may(table, "move gray.3"));
    assert_false(table_may(table, "move black.2"));
    table_move(table, "gray.3", 1);
    assert_place(table, "gray.3", "east-cross.1");
    assert_place(table, "black.1", "ford-mill.1");
    assert_int_equal(table->state.discard[ACT_MOVE], 1);
}

static void test_a_train_may_be_moved_by_several_cards(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "gray.1", "ford-mill.1", "mill");
    table_ready(table);
    table_move(table, "gray.1", 1);
    table_move(table, "gray.1", 1);
    table_move(table, "gray.1", 1);
    assert_place(table, "gray.1", "ford-mill.4");
    assert_int_equal(table->state.hand[0][ACT_MOVE], 1);
}

/* Prepares `action` until it is to be paid for. */
static Table *table_to_pay(void **slot, const char *action, const uint8_t hand[CONVOI_KINDS])
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_stand(table, "black.1", "mill");
    table_hand(table, 0, hand[0], hand[1], hand[2]);
    table_ready(table);
    table_do(table, action);
    if (table_asks(table, PHASE_LIGHT_TO)) {
        table_do(table, "light.to cross~harbour");
    }
    assert_true(table_asks(table, PHASE_PAY));
    return table;
}

static void test_an_action_takes_its_own_card_or_any_two(void **slot)
{
    static const char *const actions[] = {"light.from ford~mill", "switch ford south+mill",
                                          "move black.1"};
    static const uint8_t hand[CONVOI_KINDS] = {2, 2, 2};
    for (uint32_t act = 0; act < 3; act++) {
        for (uint32_t payment = 0; payment < PAYMENTS; payment++) {
            char pay[TY_NAME_MAX + 8];
            Table *table = table_to_pay(slot, actions[act], hand);
            snprintf(pay, sizeof pay, "pay %s", table_name(table, &convoi_payments, payment));
            bool single = payment < CONVOI_KINDS;
            assert_int_equal(table_may(table, pay), !single || payment == act);
            if (table_may(table, pay)) {
                table_do(table, pay);
                assert_int_equal(hand_size(table->state.hand[0]), single ? 5 : 4);
                assert_int_equal(hand_size(table->state.discard), single ? 1 : 2);
            }
        }
    }
}

static void test_an_action_needs_its_card_or_two_others(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_stand(table, "black.1", "north");
    table_hand(table, 0, 0, 1, 0);
    table_ready(table);
    assert_true(table_may(table, "switch ford south+mill"));
    assert_false(table_may(table, "move black.1"));
    assert_false(table_may(table, "light.from ford~mill"));
    table_hand(table, 0, 0, 2, 0);
    table_ready(table);
    assert_true(table_may(table, "move black.1"));
    assert_true(table_may(table, "light.from ford~mill"));
}

static void test_loading_takes_any_one_card(void **slot)
{
    static const uint8_t hand[CONVOI_KINDS] = {1, 1, 1};
    static const char *const pays[] = {"pay signal", "pay switch", "pay move"};
    for (uint32_t i = 0; i < 3; i++) {
        Table *table = table_to_pay(slot, "load black.1", hand);
        assert_int_equal(table_choices(table), 3);
        table_do(table, pays[i]);
        assert_int_equal(table->state.cargo[0], table_goods("blue") + 1);
        assert_int_equal(table_goods_left(table, "mill"), 1);
        assert_int_equal(hand_size(table->state.hand[0]), 2);
        assert_int_equal(table->state.discard[i], 1);
        assert_int_equal(table->state.loads, 1);
    }
}

static void test_only_empty_trains_are_loaded(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "mill");
    table_carry(table, "black.1", "red");
    table_ready(table);
    assert_false(table_may(table, "load black.1"));
}

static void test_trains_are_loaded_only_where_goods_are(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "mill");
    table_stand(table, "black.2", "north");
    table_put(table, "black.3", "ford-mill.4", "mill");
    table_ready(table);
    assert_true(table_may(table, "load black.1"));
    assert_false(table_may(table, "load black.2"));
    assert_false(table_may(table, "load black.3"));
    assert_false(table_may(table, "load brown.1"));
    table_deliver(table, "harbour", "blue", 2);
    table_ready(table);
    assert_false(table_may(table, "load black.1"));
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static void test_five_cards_are_drawn_up_to_ten(void **slot)
{
    static const uint8_t left[] = {0, 1, 4, 5, 6, 8, 9, 10};
    static const uint8_t drawn[] = {5, 5, 5, 5, 4, 2, 1, 0};
    for (uint32_t i = 0; i < sizeof left; i++) {
        Table *table = table_quiet(slot, "board=yard,ask_forced=true");
        table_hand(table, 0, left[i], 0, 0);
        table_ready(table);
        table_turn(table, "I14");
        assert_int_equal(hand_size(table->state.hand[0]), left[i] + drawn[i]);
        assert_int_equal(table_told(table, EVENT_DRAW), drawn[i]);
    }
}

static void test_kept_cards_stay_in_hand(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_hand(table, 0, 1, 2, 3);
    table_ready(table);
    for (uint32_t i = 0; i < 4; i++) {
        table_script(table, STREAM_ACTIONS, i < 3 ? "switch" : "move");
    }
    table_turn(table, "I14");
    assert_int_equal(table->state.hand[0][ACT_SIGNAL], 1);
    assert_int_equal(table->state.hand[0][ACT_SWITCH], 5);
    assert_int_equal(table->state.hand[0][ACT_MOVE], 4);
}

static void test_discards_are_shuffled_into_a_new_deck(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    ConvoiState *state = &table->state;
    static const uint8_t discard[CONVOI_KINDS] = {26, 26, 23};
    memcpy(state->discard, discard, sizeof discard);
    table_hand(table, 0, 0, 0, 1);
    assert_int_equal(hand_size(state->deck), 2);
    table_ready(table);
    for (uint32_t i = 0; i < 5; i++) {
        table_script(table, STREAM_ACTIONS, i < 2 ? "move" : "signal");
    }
    table_turn(table, "I14");
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 1);
    assert_int_equal(state->hand[0][ACT_SIGNAL], 3);
    assert_int_equal(state->hand[0][ACT_MOVE], 3);
    assert_int_equal(hand_size(state->discard), 0);
    assert_int_equal(state->deck[ACT_SIGNAL], 23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_player_may_play_no_card),
        TABLE_TEST(test_player_may_play_all_cards),
        TABLE_TEST(test_signal_card_moves_a_disc_to_a_red_light),
        TABLE_TEST(test_every_city_keeps_a_green_light),
        TABLE_TEST(test_a_second_light_of_a_city_may_leave_it),
        TABLE_TEST(test_switch_card_sets_a_three_way_junction),
        TABLE_TEST(test_switch_card_sets_both_discs_of_a_four_way_junction),
        TABLE_TEST(test_move_card_moves_any_one_train_on_the_network),
        TABLE_TEST(test_a_train_may_be_moved_by_several_cards),
        TABLE_TEST(test_an_action_takes_its_own_card_or_any_two),
        TABLE_TEST(test_an_action_needs_its_card_or_two_others),
        TABLE_TEST(test_loading_takes_any_one_card),
        TABLE_TEST(test_only_empty_trains_are_loaded),
        TABLE_TEST(test_trains_are_loaded_only_where_goods_are),
        TABLE_TEST(test_five_cards_are_drawn_up_to_ten),
        TABLE_TEST(test_kept_cards_stay_in_hand),
        TABLE_TEST(test_discards_are_shuffled_into_a_new_deck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
