/* Convoi Express: one test or more per ruling, named after its number. The rulings are readings of
 * the rulebook where it leaves a question open. Here: 1 to 19 and 44, movement and new
 * trains. */
#include "tests/games/convoi/convoi_table.h"

/* The yard: north and south meet at ford (3 legs); ford-mill has 4 spaces with a light behind the
 * second; mill has exits to ford, siding (a start), mine and cross (4 legs: mill, mine, harbour,
 * east). Green at first: mill/ford, mine/cross, harbour/cross, ford~mill. Open at first: north+mill
 * at ford, mill+harbour at cross. */

static void test_ruling_01_city_light_guards_entry_and_exit(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "mill");
    table_light(table, "mill/ford", "mill/siding");
    table_put(table, "black.2", "ford-mill.4", "mill");
    table_ready(table);
    table_move(table, "black.2", 2);
    assert_place(table, "black.2", "ford-mill.4");
    assert_lost(table, 2, LOSS_RED_LIGHT);
    table_move(table, "black.1", 2);
    assert_false(table_may(table, "exit mill/ford"));
    assert_true(table_may(table, "exit mill/siding"));
}

static void test_ruling_02_stopped_train_may_leave_by_the_way_it_came(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/mine");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "mill");
    table_move(table, "black.1", 2);
    assert_true(table_may(table, "exit mill/ford"));
    assert_true(table_may(table, "exit mill/mine"));
    table_do(table, "exit mill/ford");
    assert_place(table, "black.1", "ford-mill.3");
    assert_facing(table, "black.1", "ford");
}

static void test_ruling_03_train_in_a_city_must_leave(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_stand(table, "black.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_true(table_asks(table, PHASE_EXIT));
    assert_false(table_may(table, "city.stop"));
    assert_int_equal(table_choices(table), 1);
}

static void test_ruling_03_train_outside_the_exit_going_away_costs_one_a_point(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "mill");
    table_put(table, "brown.1", "ford-mill.4", "ford");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "mill");
    assert_lost(table, 3, LOSS_TRAIN_AHEAD);
}

static void test_ruling_03_train_outside_the_exit_facing_the_city_is_head_on(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "mill");
    table_carry(table, "black.1", "blue");
    table_put(table, "brown.1", "ford-mill.4", "mill");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "depot");
    assert_place(table, "brown.1", "ford-mill.4");
    assert_lost(table, 6, LOSS_HEAD_ON);
    assert_int_equal(table_goods_left(table, "mill"), 2);
}

static void test_ruling_04_blocked_exit_may_be_chosen(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/mine");
    table_stand(table, "black.1", "mill");
    table_put(table, "brown.1", "mill-mine.1", "mine");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_true(table_may(table, "exit mill/ford"));
    table_do(table, "exit mill/mine");
    assert_place(table, "black.1", "mill");
    assert_lost(table, 2, LOSS_TRAIN_AHEAD);
}

static void test_ruling_05_start_faces_its_only_line_without_a_light(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "gray.1", "east");
    table_ready(table);
    table_move(table, "gray.1", 1);
    assert_place(table, "gray.1", "east-cross.1");
    assert_facing(table, "gray.1", "cross");
    assert_nothing_lost(table);
    table_stand(table, "gray.2", "east");
    table_ready(table);
    table_move(table, "gray.2", 1);
    assert_place(table, "gray.2", "east");
    assert_lost(table, 1, LOSS_TRAIN_AHEAD);
}

static void test_ruling_06_red_light_closed_switch_and_train_ahead_cost_one_a_point(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,clock=10");
    table_put(table, "brown.1", "cross-harbour.1", "harbour");
    table_put(table, "brown.2", "east-cross.2", "cross");
    table_put(table, "brown.3", "east-cross.1", "cross");
    table_ready(table);
    table_move(table, "brown.1", 3);
    assert_lost(table, 3, LOSS_RED_LIGHT);
    assert_place(table, "brown.1", "cross-harbour.1");
    table_move(table, "brown.2", 2);
    assert_lost(table, 2, LOSS_CLOSED_SWITCH);
    assert_place(table, "brown.2", "east-cross.2");
    table_move(table, "brown.3", 4);
    assert_lost(table, 4, LOSS_TRAIN_AHEAD);
    assert_place(table, "brown.3", "east-cross.1");
    assert_int_equal(table->state.clock, 1);
}

static void test_ruling_07_opposite_headings_are_head_on(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.3", "mill");
    table_put(table, "brown.1", "ford-mill.4", "ford");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_lost(table, 4, LOSS_HEAD_ON);
    assert_place(table, "black.1", "depot");
}

static void test_ruling_07_equal_headings_are_following(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.3", "ford");
    table_put(table, "brown.1", "ford-mill.2", "ford");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_lost(table, 2, LOSS_TRAIN_AHEAD);
    assert_place(table, "black.1", "ford-mill.3");
}

static void test_ruling_07_headings_are_compared_across_a_junction(void **slot)
{
    for (uint32_t facing = 0; facing < 2; facing++) {
        Table *table = table_quiet(slot, "board=yard");
        table_switch(table, "cross", "mine+east");
        table_put(table, "black.1", "cross-mine.1", "cross");
        table_put(table, "brown.1", "east-cross.2", facing == 1 ? "cross" : "east");
        table_ready(table);
        table_move(table, "black.1", 2);
        assert_place(table, "black.1", facing == 1 ? "depot" : "cross-mine.1");
        assert_lost(table, facing == 1 ? 4 : 2, facing == 1 ? LOSS_HEAD_ON : LOSS_TRAIN_AHEAD);
    }
}

static void test_ruling_08_occupied_city_blocks_without_collision(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table_carry(table, "black.1", "red");
    table_stand(table, "brown.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_place(table, "black.1", "ford-mill.4");
    assert_lost(table, 4, LOSS_CITY_OCCUPIED);
    assert_int_equal(table->state.cargo[table_train("black.1")], table_goods("red") + 1);
}

static void test_ruling_09_occupied_start_reached_from_track_is_head_on(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,clock=10");
    table_put(table, "black.1", "north-ford.1", "north");
    table_carry(table, "black.1", "blue");
    table_stand(table, "brown.1", "north");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_lost(table, 6, LOSS_HEAD_ON);
    assert_place(table, "black.1", "depot");
    assert_place(table, "brown.1", "north");
    assert_int_equal(table_goods_left(table, "mill"), 2);
    assert_int_equal(table->state.derailments, 0);
}

static void test_ruling_10_head_on_counts_the_point_that_would_enter(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "brown.1", "ford-mill.3", "ford");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_lost(table, 2, LOSS_HEAD_ON);
    assert_place(table, "black.1", "depot");
    assert_place(table, "brown.1", "ford-mill.3");
}

static void test_ruling_11_empty_start_costs_a_flat_two(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "mill");
    table_carry(table, "black.1", "blue");
    table_light(table, "mill/ford", "mill/siding");
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_lost(table, 2, LOSS_START_REACHED);
    assert_place(table, "black.1", "depot");
    assert_int_equal(table_goods_left(table, "mill"), 2);
}

static void test_ruling_12_no_stop_on_the_track(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_ready(table);
    table_roll(table, "black", 3);
    table_step(table, "move black.1");
    table_do(table, "pay move");
    assert_place(table, "black.1", "ford-mill.4");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_ruling_13_arriving_in_a_european_city_ends_the_move_free(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/cross");
    table_put(table, "black.1", "mill-cross.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_place(table, "black.1", "mill");
    assert_nothing_lost(table);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_ruling_14_european_port_takes_every_train(void **slot)
{
    Table *table = table_quiet(slot, "board=europe");
    table_light(table, "limoges~geneve", "marseille/geneve");
    table_put(table, "black.1", "geneve-marseille.1", "marseille");
    table->state.staff_used[STAFF_GESTIONNAIRE] = 0;
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_place(table, "black.1", "depot");
    assert_nothing_lost(table);
    assert_int_equal(table->state.staff_used[STAFF_GESTIONNAIRE], 0);
}

static void test_ruling_14_gestionnaire_does_not_open_the_port(void **slot)
{
    Table *table = table_quiet(slot, "board=europe");
    table_light(table, "limoges~geneve", "marseille/geneve");
    table_put(table, "black.1", "geneve-marseille.1", "marseille");
    table->state.crossing_on = 1;
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_place(table, "black.1", "depot");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

/* Two ports: a ring gate - mill - mine - bay - gate; fork (north, south) leads to mill, east to
 * mine. Green at first: gate/mill, bay/mine, mill/fork, mine/mill, mill~mine, gate~bay, bay~gate.
 */

static void test_ruling_15_crossing_train_does_not_turn_back(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "gate~bay", "mill/mine");
    table_light(table, "bay~gate", "mill/gate");
    table_put(table, "black.1", "fork-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_true(table_may(table, "exit mill/mine"));
    assert_true(table_may(table, "exit mill/gate"));
    assert_false(table_may(table, "exit mill/fork"));
    assert_true(table_may(table, "city.stop"));
    assert_int_equal(table_choices(table), 3);
    table_do(table, "city.stop");
    assert_nothing_lost(table);
    table_move(table, "black.1", 2);
    assert_true(table_may(table, "exit mill/fork"));
    assert_false(table_may(table, "city.stop"));
}

static void test_ruling_15_gestionnaire_does_not_turn_trains_back(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/cross");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table->state.crossing_on = 1;
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_true(table_may(table, "exit mill/cross"));
    assert_false(table_may(table, "exit mill/ford"));
    assert_true(table_may(table, "city.stop"));
}

static void test_ruling_15_train_outside_the_exit_is_met_when_crossing(void **slot)
{
    for (uint32_t facing = 0; facing < 2; facing++) {
        Table *table = table_quiet(slot, "board=two_ports");
        table_light(table, "gate~bay", "mill/mine");
        table_put(table, "black.1", "fork-mill.1", "mill");
        table_put(table, "brown.1", "mill-mine.1", facing == 1 ? "mill" : "mine");
        table_ready(table);
        table_move(table, "black.1", 3);
        table_do(table, "exit mill/mine");
        assert_place(table, "black.1", facing == 1 ? "depot" : "mill");
        assert_lost(table, facing == 1 ? 4 : 2, facing == 1 ? LOSS_HEAD_ON : LOSS_TRAIN_AHEAD);
    }
}

static void test_ruling_16_loaded_train_does_not_pass_a_port(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "mill~mine", "gate/bay");
    table_put(table, "black.1", "gate-mill.1", "gate");
    table_carry(table, "black.1", "red");
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_place(table, "black.1", "depot");
    assert_nothing_lost(table);
    assert_int_equal(table->state.delivered[0][table_goods("red")], 1);
    assert_int_equal(table->state.goods_delivered, 1);
}

static void test_ruling_17_port_with_the_colour_sends_the_cube_back(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_deliver(table, "gate", "red", 1);
    table_put(table, "black.1", "gate-mill.1", "gate");
    table_carry(table, "black.1", "red");
    table_ready(table);
    assert_int_equal(table_goods_left(table, "mine"), 0);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "depot");
    assert_nothing_lost(table);
    assert_int_equal(table_goods_left(table, "mine"), 1);
    assert_int_equal(table->state.delivered[0][table_goods("red")], 1);
    assert_int_equal(table->state.goods_delivered, 1);
    assert_int_equal(table_told(table, EVENT_DELIVER), 0);
}

static void test_ruling_17_second_of_a_colour_is_the_extra_good_of_ten(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports,goods=10");
    table_deliver(table, "gate", "red", 1);
    table_put(table, "black.1", "gate-mill.1", "gate");
    table_carry(table, "black.1", "red");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_int_equal(table->state.delivered[0][table_goods("red")], 2);
    table_put(table, "black.1", "gate-mill.1", "gate");
    table_carry(table, "black.1", "red");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_int_equal(table->state.delivered[0][table_goods("red")], 2);
    assert_int_equal(table_goods_left(table, "mine"), 1);
    assert_place(table, "black.1", "depot");
}

static void test_ruling_17_surplus_of_ten_goods_goes_back_in_europe_too(void **slot)
{
    Table *table = table_quiet(slot, "board=europe,goods=10");
    table_deliver(table, "marseille", "blue", 3);
    table_deliver(table, "marseille", "yellow", 3);
    table_deliver(table, "marseille", "red", 2);
    table_put(table, "black.1", "plaisance-marseille.1", "marseille");
    table_carry(table, "black.1", "red");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "depot");
    assert_int_equal(table->state.goods_delivered, 8);
    assert_int_equal(table_goods_left(table, "berlin"), 1);
    assert_false(table->state.head.over);
}

static void test_ruling_18_two_tokens_only_if_depot_empty_or_start_occupied(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "black.2", "ford-mill.2", "mill");
    table_put(table, "black.3", "ford-mill.3", "mill");
    table_put(table, "gray.1", "mill-mine.1", "mine");
    table_ready(table);
    table_turn(table, "I06");
    assert_false(table_may(table, "colour black"));
    assert_true(table_may(table, "colour brown"));
    assert_true(table_may(table, "colour gray"));
    table_script(table, STREAM_START_DICE, "12");
    table_do(table, "colour gray");
    assert_place(table, "gray.2", "siding");
    assert_nothing_lost(table);
}

static void test_ruling_19_second_new_train_without_a_second_colour_costs_two(void **slot)
{
    Table *table = table_quiet(slot, "board=europe");
    static const char *const trains[][3] = {{"black.1", "hanovre-berlin.1", "berlin"},
                                            {"black.2", "hanovre-berlin.2", "berlin"},
                                            {"black.3", "berlin-nuremberg.1", "berlin"},
                                            {"brown.1", "breme-amsterdam.1", "amsterdam"},
                                            {"brown.2", "breme-amsterdam.2", "amsterdam"},
                                            {"brown.3", "berlin-prague.1", "berlin"}};
    for (uint32_t i = 0; i < 6; i++) {
        table_put(table, trains[i][0], trains[i][1], trains[i][2]);
    }
    table_ready(table);
    table_script(table, STREAM_START_DICE, "6");
    table_turn(table, "I01");
    assert_place(table, "gray.1", "calais");
    assert_place(table, "gray.2", "depot");
    assert_lost(table, 2, LOSS_DEPOT_EMPTY);
}

static void test_ruling_19_colours_differ_also_if_the_first_was_not_placed(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "gray.1", "south");
    table_ready(table);
    table_turn(table, "I01");
    table_script(table, STREAM_START_DICE, "6");
    table_do(table, "colour black");
    assert_lost(table, 2, LOSS_START_OCCUPIED);
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_false(table_may(table, "colour black"));
    assert_int_equal(table_choices(table), 2);
}

/* ---- Obstacles in order ---------------------------------------------------------------------- */

static void test_ruling_44_red_light_between_facing_trains_prevents_collision(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "cross~harbour");
    table_put(table, "black.1", "ford-mill.2", "mill");
    table_put(table, "brown.1", "ford-mill.3", "ford");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "ford-mill.2");
    assert_lost(table, 2, LOSS_RED_LIGHT);
}

static void test_ruling_44_closed_switch_between_facing_trains_prevents_collision(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "south-ford.1", "ford");
    table_put(table, "brown.1", "ford-mill.1", "ford");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "south-ford.1");
    assert_lost(table, 2, LOSS_CLOSED_SWITCH);
}

static void test_ruling_44_red_light_is_met_before_the_occupied_city(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "mill-mine.3", "mine");
    table_stand(table, "brown.1", "mine");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_lost(table, 2, LOSS_RED_LIGHT);
}

static void test_ruling_44_headings_are_those_on_the_occupied_space(void **slot)
{
    for (uint32_t facing = 0; facing < 2; facing++) {
        Table *table = table_quiet(slot, "board=yard");
        table_switch(table, "cross", "mill+east");
        table_put(table, "black.1", "mill-cross.2", "cross");
        table_put(table, "brown.1", "east-cross.2", facing == 1 ? "cross" : "east");
        table_ready(table);
        table_move(table, "black.1", 3);
        assert_place(table, "black.1", facing == 1 ? "depot" : "mill-cross.2");
        assert_lost(table, facing == 1 ? 6 : 3, facing == 1 ? LOSS_HEAD_ON : LOSS_TRAIN_AHEAD);
    }
}

static void test_ruling_44_head_on_sends_back_a_train_that_has_not_moved(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.2", "mill");
    table_put(table, "brown.1", "ford-mill.3", "ford");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "depot");
    assert_lost(table, 6, LOSS_HEAD_ON);
    assert_int_equal(table_told(table, EVENT_MOVE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_ruling_01_city_light_guards_entry_and_exit),
        TABLE_TEST(test_ruling_02_stopped_train_may_leave_by_the_way_it_came),
        TABLE_TEST(test_ruling_03_train_in_a_city_must_leave),
        TABLE_TEST(test_ruling_03_train_outside_the_exit_going_away_costs_one_a_point),
        TABLE_TEST(test_ruling_03_train_outside_the_exit_facing_the_city_is_head_on),
        TABLE_TEST(test_ruling_04_blocked_exit_may_be_chosen),
        TABLE_TEST(test_ruling_05_start_faces_its_only_line_without_a_light),
        TABLE_TEST(test_ruling_06_red_light_closed_switch_and_train_ahead_cost_one_a_point),
        TABLE_TEST(test_ruling_07_opposite_headings_are_head_on),
        TABLE_TEST(test_ruling_07_equal_headings_are_following),
        TABLE_TEST(test_ruling_07_headings_are_compared_across_a_junction),
        TABLE_TEST(test_ruling_08_occupied_city_blocks_without_collision),
        TABLE_TEST(test_ruling_09_occupied_start_reached_from_track_is_head_on),
        TABLE_TEST(test_ruling_10_head_on_counts_the_point_that_would_enter),
        TABLE_TEST(test_ruling_11_empty_start_costs_a_flat_two),
        TABLE_TEST(test_ruling_12_no_stop_on_the_track),
        TABLE_TEST(test_ruling_13_arriving_in_a_european_city_ends_the_move_free),
        TABLE_TEST(test_ruling_14_european_port_takes_every_train),
        TABLE_TEST(test_ruling_14_gestionnaire_does_not_open_the_port),
        TABLE_TEST(test_ruling_15_crossing_train_does_not_turn_back),
        TABLE_TEST(test_ruling_15_gestionnaire_does_not_turn_trains_back),
        TABLE_TEST(test_ruling_15_train_outside_the_exit_is_met_when_crossing),
        TABLE_TEST(test_ruling_16_loaded_train_does_not_pass_a_port),
        TABLE_TEST(test_ruling_17_port_with_the_colour_sends_the_cube_back),
        TABLE_TEST(test_ruling_17_second_of_a_colour_is_the_extra_good_of_ten),
        TABLE_TEST(test_ruling_17_surplus_of_ten_goods_goes_back_in_europe_too),
        TABLE_TEST(test_ruling_18_two_tokens_only_if_depot_empty_or_start_occupied),
        TABLE_TEST(test_ruling_19_second_new_train_without_a_second_colour_costs_two),
        TABLE_TEST(test_ruling_19_colours_differ_also_if_the_first_was_not_placed),
        TABLE_TEST(test_ruling_44_red_light_between_facing_trains_prevents_collision),
        TABLE_TEST(test_ruling_44_closed_switch_between_facing_trains_prevents_collision),
        TABLE_TEST(test_ruling_44_red_light_is_met_before_the_occupied_city),
        TABLE_TEST(test_ruling_44_headings_are_those_on_the_occupied_space),
        TABLE_TEST(test_ruling_44_head_on_sends_back_a_train_that_has_not_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
