/* Convoi Express: one test or more per ruling, named after its number. Here: 20 to 35, the turn,
 * the clock, action cards and staff. */
#include "tests/games/convoi/convoi_table.h"

static void staff_wake(Table *table, uint32_t staff)
{
    table->state.staff_used[staff] = 0;
    table_ready(table);
}

/* ---- The turn -------------------------------------------------------------------------------- */

/* Plays at random to the end and returns why it ended. */
static EndReason episode_play(Table *table, uint64_t seed)
{
    table_reset(table, seed);
    while (!table->state.head.over) {
        uint8_t mask[TY_ACTIONS_MAX];
        ty_legal(table->ruleset, &table->state, mask);
        uint32_t action =
            ty_sample(mask, ty_shape(table->ruleset)->action_count, seed, table->state.head.steps);
        TyTape tape = table_tape(table);
        table_forget(table);
        assert_true(ty_step(table->ruleset, &table->state, action, table->reward, &tape));
    }
    return (EndReason)table_telling(table, EVENT_END, 0)->args[1];
}

static void test_ruling_20_first_card_is_one_of_seventeen_turns(void **slot)
{
    Table *table = table_open(slot, "board=tiny");
    uint32_t played_out = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        if (episode_play(table, seed) == END_LAST_TURN) {
            assert_int_equal(table->state.turns + table->state.set_aside, 17);
            played_out++;
        }
    }
    assert_true(played_out > 0);
}

static void test_ruling_20_first_card_places_without_moving(void **slot)
{
    Table *table = table_open(slot, "board=tiny");
    table_script(table, STREAM_START_DICE, "4");
    table_script(table, STREAM_START_DICE, "7");
    table_script(table, STREAM_START_DICE, "5");
    table_script(table, STREAM_START_DICE, "8");
    table_reset(table, 1);
    assert_place(table, "black.1", "north_west");
    assert_place(table, "brown.1", "south_west");
    assert_place(table, "gray.1", "north_east");
    assert_int_equal(table->state.clock, 7);
    assert_int_equal(table->state.turns, 1);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_ruling_21_new_trains_first_then_moves_top_down(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "gray.1", "mill-mine.1", "mine");
    table_put(table, "black.2", "mill-cross.1", "cross");
    table_ready(table);
    table_turn(table, "I02");
    table_do(table, "colour black");
    table_script(table, STREAM_START_DICE, "2");
    table_do(table, "start.roll");
    assert_place(table, "black.1", "north");
    assert_true(table_may(table, "move black.1"));
    assert_true(table_may(table, "move black.2"));
    assert_false(table_may(table, "move gray.1"));
    table_roll(table, "black", 2);
    table_do(table, "move black.1");
    assert_int_equal(table_told(table, EVENT_ROLL), 1);
    assert_true(table_may(table, "move black.2"));
    assert_false(table_may(table, "move gray.1"));
    table_roll(table, "black", 2);
    table_do(table, "move black.2");
    assert_true(table_may(table, "move gray.1"));
}

static void test_ruling_22_multicolour_symbols_name_different_colours(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "gray.1", "mill-mine.1", "mine");
    table_ready(table);
    table_turn(table, "I11");
    table_do(table, "colour black");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_false(table_may(table, "colour black"));
    assert_true(table_may(table, "colour brown"));
    table_roll(table, "gray", 1);
    table_do(table, "colour gray");
    assert_place(table, "gray.1", "mill-mine.2");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_ruling_22_new_and_moving_symbols_may_name_the_same_colour(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    table_turn(table, "I08");
    table_script(table, STREAM_START_DICE, "2");
    table_do(table, "colour brown");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_int_equal(table_choices(table), 3);
    table_roll(table, "brown", 2);
    table_do(table, "colour brown");
    assert_place(table, "brown.1", "ford-mill.1");
}

static void test_ruling_22_no_train_moves_twice_by_one_card(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "black.2", "mill-mine.1", "mine");
    table_ready(table);
    table_turn(table, "I10");
    table_do(table, "colour black");
    table_roll(table, "black", 2);
    table_do(table, "move black.1");
    assert_false(table_may(table, "move black.1"));
    table_roll(table, "black", 2);
    table_do(table, "move black.2");
    table_do(table, "colour gray");
    table_do(table, "colour brown");
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_place(table, "black.1", "ford-mill.3");
    assert_place(table, "black.2", "mill-mine.3");
}

static void test_ruling_23_symbols_without_trains_are_skipped_free(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_ready(table);
    table_turn(table, "I14");
    assert_nothing_lost(table);
    assert_int_equal(table_told(table, EVENT_ROLL), 0);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

/* ---- The clock and the end ------------------------------------------------------------------- */

/* A head-on collision of five points is about to cost ten tokens. */
static Table *table_of_collision(void **slot, uint8_t clock, uint8_t pile)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "brown.1", "ford-mill.2", "ford");
    table->state.clock = clock;
    table->state.pile = pile;
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_lost(table, 10, LOSS_HEAD_ON);
    return table;
}

static void test_ruling_24_debt_is_taken_from_the_refilled_clock(void **slot)
{
    Table *table = table_of_collision(slot, 4, 16);
    assert_int_equal(table->state.clock, 1);
    assert_int_equal(table->state.pile, 15);
    assert_int_equal(table->state.set_aside, 1);
}

static void test_ruling_24_debt_of_a_whole_clock_sets_two_cards_aside(void **slot)
{
    Table *table = table_of_collision(slot, 3, 16);
    assert_int_equal(table->state.clock, 7);
    assert_int_equal(table->state.pile, 14);
    assert_int_equal(table->state.set_aside, 2);
    table = table_of_collision(slot, 1, 16);
    assert_int_equal(table->state.clock, 5);
    assert_int_equal(table->state.pile, 14);
    assert_int_equal(table_told(table, EVENT_SET_ASIDE), 2);
}

static void test_ruling_25_no_card_to_set_aside_is_a_loss(void **slot)
{
    Table *table = table_of_collision(slot, 7, 0);
    assert_true(table->state.head.over);
    assert_false(table->state.won);
    table = table_of_collision(slot, 3, 1);
    assert_true(table->state.head.over);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[1], END_CLOCK);
}

static void test_ruling_25_last_card_set_aside_makes_this_the_last_turn(void **slot)
{
    Table *table = table_of_collision(slot, 7, 1);
    assert_false(table->state.head.over);
    assert_int_equal(table->state.pile, 0);
    assert_true(table_asks(table, PHASE_ACTIONS));
    table_do(table, "turn.end");
    assert_true(table->state.head.over);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[1], END_LAST_TURN);
    assert_int_equal(table_told(table, EVENT_CARD), 0);
}

static void test_ruling_26_victory_comes_at_once_also_by_the_card(void **slot)
{
    Table *table = table_quiet(slot, "board=europe");
    static const char *const colours[] = {"blue", "yellow", "red"};
    for (uint32_t i = 0; i < 3; i++) {
        table_deliver(table, "marseille", colours[i], 2);
    }
    table_deliver(table, "marseille", "white", 1);
    table_put(table, "gray.1", "plaisance-marseille.1", "marseille");
    table_carry(table, "gray.1", "white");
    table_put(table, "gray.2", "berlin-prague.1", "prague");
    table_stand(table, "black.1", "calais");
    table_ready(table);
    table_turn(table, "I16");
    table_roll(table, "gray", 1);
    table_do(table, "move gray.1");
    assert_true(table->state.won);
    assert_true(table->state.head.over);
    assert_place(table, "gray.2", "berlin-prague.1");
    assert_place(table, "black.1", "calais");
}

/* ---- Action cards ---------------------------------------------------------------------------- */

static void test_ruling_27_citys_only_disc_stays_in_the_city(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    table_do(table, "light.from mine/cross");
    assert_true(table_asks(table, PHASE_PAY));
    assert_int_equal(table->state.to - 1, table_light_index(table, "mine/mill"));
    table_do(table, "pay signal");
    assert_true(table_green(table, "mine/mill"));
    assert_false(table_green(table, "mine/cross"));
}

static void test_ruling_27_disc_goes_to_any_red_light_of_city_or_track(void **slot)
{
    static const char *const red[] = {"light.to mill/siding", "light.to mill/mine",
                                      "light.to mill/cross", "light.to mine/mill",
                                      "light.to cross~harbour"};
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    table_do(table, "light.from ford~mill");
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(table_may(table, red[i]));
    }
    assert_int_equal(table_choices(table), 5);
}

static void test_ruling_28_switch_goes_to_any_other_state(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_hand(table, 0, 0, 1, 0);
    table_ready(table);
    assert_false(table_may(table, "switch ford north+mill"));
    assert_false(table_may(table, "switch cross mill+harbour"));
    assert_int_equal(table_choices(table), 1 + 2 + 5);
}

static void test_ruling_29_any_two_cards_do_any_action_and_one_loads(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "mill");
    table_hand(table, 0, 0, 0, 7);
    table_ready(table);
    table_do(table, "switch ford south+mill");
    assert_string_equal(table_setting(table, "ford"), "south+mill");
    assert_int_equal(table->state.hand[0][ACT_MOVE], 5);
    table_do(table, "light.from ford~mill");
    table_do(table, "light.to mill/mine");
    assert_true(table_green(table, "mill/mine"));
    assert_int_equal(table->state.hand[0][ACT_MOVE], 3);
    table_do(table, "load black.1");
    assert_int_equal(table->state.hand[0][ACT_MOVE], 2);
    table_do(table, "move black.1");
    assert_true(table_may(table, "pay move"));
    assert_true(table_may(table, "pay move+move"));
    assert_int_equal(table_choices(table), 2);
}

static void test_ruling_30_train_takes_one_cube_of_its_city(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_stand(table, "gray.1", "mine");
    table_stand(table, "black.1", "mill");
    table_ready(table);
    table_do(table, "load gray.1");
    table_do(table, "pay signal");
    assert_int_equal(table->state.cargo[table_train("gray.1")], table_goods("red") + 1);
    assert_int_equal(table_goods_left(table, "mine"), 1);
    assert_false(table_may(table, "load gray.1"));
    table_do(table, "load black.1");
    table_do(table, "pay signal");
    assert_int_equal(table->state.cargo[table_train("black.1")], table_goods("blue") + 1);
}

/* ---- Staff ----------------------------------------------------------------------------------- */

static void test_ruling_31_logisticien_after_the_roll_of_a_card_or_an_action(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    staff_wake(table, STAFF_LOGISTICIEN);
    table_roll(table, "black", 2);
    table_step(table, "move black.1");
    table_do(table, "pay move");
    assert_true(table_may(table, "staff.logisticien"));
    assert_place(table, "black.1", "ford-mill.1");
    table_do(table, "die.keep");
    assert_place(table, "black.1", "ford-mill.3");
    table_turn(table, "I14");
    table_roll(table, "black", 5);
    table_do(table, "move black.1");
    assert_place(table, "black.1", "ford-mill.3");
    table_roll(table, "black", 2);
    table_do(table, "staff.logisticien");
    assert_place(table, "black.1", "mill");
    assert_int_equal(table_telling(table, EVENT_ROLL, 0)->args[1], 2);
}

/* A train before mill, whose exits to ford and cross are green. */
static Table *table_of_crossing(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/cross");
    table_put(table, "black.1", "ford-mill.3", "mill");
    staff_wake(table, STAFF_GESTIONNAIRE);
    return table;
}

static void test_ruling_32_gestionnaire_is_asked_with_points_left_in_a_city(void **slot)
{
    Table *table = table_of_crossing(slot);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "mill");
    assert_true(table_asks(table, PHASE_ACTIONS));
    table = table_of_crossing(slot);
    table_move(table, "black.1", 3);
    assert_true(table_asks(table, PHASE_CITY));
    assert_true(table_may(table, "city.stop"));
    assert_true(table_may(table, "staff.gestionnaire"));
    assert_int_equal(table_choices(table), 2);
}

static void test_ruling_32_gestionnaire_in_use_leaves_stop_or_pass(void **slot)
{
    Table *table = table_of_crossing(slot);
    table->state.crossing_on = 1;
    table->state.staff_used[STAFF_GESTIONNAIRE] = 1;
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_true(table_asks(table, PHASE_EXIT));
    assert_true(table_may(table, "city.stop"));
    assert_true(table_may(table, "exit mill/cross"));
    assert_int_equal(table_choices(table), 2);
    table_do(table, "exit mill/cross");
    assert_place(table, "black.1", "mill-cross.2");
}

static void test_ruling_33_chef_de_train_before_the_colour_rolls(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "black.2", "mill-mine.1", "mine");
    table_put(table, "black.3", "mill-cross.1", "cross");
    staff_wake(table, STAFF_CHEF_DE_TRAIN);
    table_turn(table, "I14");
    assert_true(table_may(table, "staff.chef_de_train"));
    table_roll(table, "black", 2);
    table_do(table, "move black.1");
    assert_true(table_may(table, "move black.2"));
    assert_false(table_may(table, "staff.chef_de_train"));
}

static void test_ruling_33_chef_de_train_for_a_colour_named_by_a_symbol(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "gray.1", "mill-mine.1", "mine");
    staff_wake(table, STAFF_CHEF_DE_TRAIN);
    table_turn(table, "I13");
    table_do(table, "colour gray");
    assert_true(table_asks(table, PHASE_TRAIN));
    table_do(table, "staff.chef_de_train");
    assert_place(table, "gray.1", "mill-mine.1");
    assert_int_equal(table_told(table, EVENT_ROLL), 0);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_ruling_33_cheffe_de_section_before_the_colour_rolls(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_stand(table, "gray.1", "north");
    table_stand(table, "gray.2", "south");
    table_stand(table, "gray.3", "east");
    staff_wake(table, STAFF_CHEFFE_DE_SECTION);
    table_turn(table, "I13");
    table_do(table, "colour gray");
    assert_true(table_may(table, "staff.cheffe_de_section gray.1"));
    assert_true(table_may(table, "staff.cheffe_de_section gray.3"));
    assert_false(table_may(table, "staff.cheffe_de_section black.1"));
    table_roll(table, "gray", 1);
    table_do(table, "move gray.1");
    assert_true(table_may(table, "move gray.2"));
    assert_false(table_may(table, "staff.cheffe_de_section gray.2"));
}

static void test_ruling_34_garde_voie_not_on_the_first_card(void **slot)
{
    Table *table = table_open(slot, "board=north_america,ask_forced=true");
    table_reset(table, 1);
    assert_string_equal(table_card(table), "FIRST");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_false(table_may(table, "staff.garde_voie"));
}

static void test_ruling_34_garde_voie_not_on_the_last_card(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table->state.pile = 2;
    staff_wake(table, STAFF_GARDE_VOIE);
    table_turn(table, "I14");
    assert_true(table_may(table, "staff.garde_voie"));
    table_do(table, "card.play");
    table_turn(table, "I13");
    assert_int_equal(table->state.pile, 0);
    assert_true(table_asks(table, PHASE_COLOUR));
}

static void test_ruling_35_agent_de_manoeuvre_chooses_a_free_start(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_stand(table, "gray.1", "south");
    staff_wake(table, STAFF_AGENT_DE_MANOEUVRE);
    table_turn(table, "I01");
    table_do(table, "colour brown");
    assert_true(table_may(table, "staff.agent_de_manoeuvre north"));
    assert_false(table_may(table, "staff.agent_de_manoeuvre south"));
    assert_true(table_may(table, "staff.agent_de_manoeuvre east"));
    assert_true(table_may(table, "start.roll"));
    table_do(table, "staff.agent_de_manoeuvre north");
    assert_place(table, "brown.1", "north");
    table_script(table, STREAM_START_DICE, "9");
    table_do(table, "colour black");
    assert_place(table, "black.1", "east");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_ruling_20_first_card_is_one_of_seventeen_turns),
        TABLE_TEST(test_ruling_20_first_card_places_without_moving),
        TABLE_TEST(test_ruling_21_new_trains_first_then_moves_top_down),
        TABLE_TEST(test_ruling_22_multicolour_symbols_name_different_colours),
        TABLE_TEST(test_ruling_22_new_and_moving_symbols_may_name_the_same_colour),
        TABLE_TEST(test_ruling_22_no_train_moves_twice_by_one_card),
        TABLE_TEST(test_ruling_23_symbols_without_trains_are_skipped_free),
        TABLE_TEST(test_ruling_24_debt_is_taken_from_the_refilled_clock),
        TABLE_TEST(test_ruling_24_debt_of_a_whole_clock_sets_two_cards_aside),
        TABLE_TEST(test_ruling_25_no_card_to_set_aside_is_a_loss),
        TABLE_TEST(test_ruling_25_last_card_set_aside_makes_this_the_last_turn),
        TABLE_TEST(test_ruling_26_victory_comes_at_once_also_by_the_card),
        TABLE_TEST(test_ruling_27_citys_only_disc_stays_in_the_city),
        TABLE_TEST(test_ruling_27_disc_goes_to_any_red_light_of_city_or_track),
        TABLE_TEST(test_ruling_28_switch_goes_to_any_other_state),
        TABLE_TEST(test_ruling_29_any_two_cards_do_any_action_and_one_loads),
        TABLE_TEST(test_ruling_30_train_takes_one_cube_of_its_city),
        TABLE_TEST(test_ruling_31_logisticien_after_the_roll_of_a_card_or_an_action),
        TABLE_TEST(test_ruling_32_gestionnaire_is_asked_with_points_left_in_a_city),
        TABLE_TEST(test_ruling_32_gestionnaire_in_use_leaves_stop_or_pass),
        TABLE_TEST(test_ruling_33_chef_de_train_before_the_colour_rolls),
        TABLE_TEST(test_ruling_33_chef_de_train_for_a_colour_named_by_a_symbol),
        TABLE_TEST(test_ruling_33_cheffe_de_section_before_the_colour_rolls),
        TABLE_TEST(test_ruling_34_garde_voie_not_on_the_first_card),
        TABLE_TEST(test_ruling_34_garde_voie_not_on_the_last_card),
        TABLE_TEST(test_ruling_35_agent_de_manoeuvre_chooses_a_free_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
