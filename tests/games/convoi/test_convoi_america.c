/* Convoi Express, North America: the rules of movement that differ, one test each. */
#include "tests/games/convoi/convoi_table.h"

/* Two ports: a ring gate - mill - mine - bay - gate; fork (north, south) leads to mill, east to
 * mine. Green at first: gate/mill, bay/mine, mill/fork, mine/mill, mill~mine, gate~bay, bay~gate.
 */

/* The yard: north and south meet at ford (3 legs); ford-mill has 4 spaces with a light behind the
 * second; mill has exits to ford, siding (a start), mine and cross (4 legs: mill, mine, harbour,
 * east). Green at first: mill/ford, mine/cross, harbour/cross, ford~mill. Open at first: north+mill
 * at ford, mill+harbour at cross. */

static void test_american_train_may_cross_a_city(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "gate~bay", "mill/mine");
    table_put(table, "black.1", "fork-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_true(table_asks(table, PHASE_EXIT));
    assert_true(table_may(table, "exit mill/mine"));
    assert_true(table_may(table, "city.stop"));
    table_do(table, "exit mill/mine");
    assert_place(table, "black.1", "mill-mine.2");
    assert_nothing_lost(table);
}

static void test_american_train_may_stop_in_a_city(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "gate~bay", "mill/mine");
    table_put(table, "black.1", "fork-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 5);
    table_do(table, "city.stop");
    assert_place(table, "black.1", "mill");
    assert_nothing_lost(table);
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_true(table_may(table, "load black.1"));
}

static void test_american_train_crosses_no_red_light(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_put(table, "black.1", "fork-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_place(table, "black.1", "mill");
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_nothing_lost(table);
}

static void test_american_crossing_and_loading_take_two_moves(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "gate~bay", "mill/mine");
    table_put(table, "black.1", "fork-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_false(table_may(table, "load black.1"));
    table_do(table, "city.stop");
    table_do(table, "load black.1");
    table_do(table, "pay switch");
    assert_int_equal(table->state.cargo[table_train("black.1")], table_goods("blue") + 1);
    table_move(table, "black.1", 3);
    table_do(table, "exit mill/mine");
    assert_place(table, "black.1", "mine");
    assert_int_equal(table->state.hand[0][ACT_MOVE], 2);
    assert_int_equal(table->state.hand[0][ACT_SWITCH], 2);
}

static void test_american_train_crosses_several_cities_in_one_move(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "gate~bay", "mill/mine");
    table_light(table, "bay~gate", "mine/bay");
    table_put(table, "black.1", "fork-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 5);
    table_do(table, "exit mill/mine");
    assert_place(table, "black.1", "mine");
    assert_true(table_may(table, "exit mine/bay"));
    assert_false(table_may(table, "exit mine/mill"));
    table_do(table, "exit mine/bay");
    assert_place(table, "black.1", "mine-bay.1");
    assert_nothing_lost(table);
}

static void test_american_empty_train_stops_in_a_port(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_put(table, "black.1", "gate-mill.1", "gate");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "gate");
    assert_nothing_lost(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "gate-mill.1");
    assert_facing(table, "black.1", "mill");
    assert_lost(table, 1, LOSS_RED_LIGHT);
}

static void test_american_empty_train_crosses_a_port(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "mill~mine", "gate/bay");
    table_put(table, "black.1", "gate-mill.1", "gate");
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_true(table_may(table, "city.stop"));
    table_do(table, "exit gate/bay");
    assert_place(table, "black.1", "gate-bay.3");
    assert_nothing_lost(table);
}

static void test_american_ports_want_one_good_of_each_colour(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_deliver(table, "gate", "blue", 1);
    table_deliver(table, "gate", "red", 1);
    table_put(table, "black.1", "mine-bay.1", "bay");
    table_carry(table, "black.1", "blue");
    table_put(table, "black.2", "gate-bay.3", "bay");
    table_carry(table, "black.2", "red");
    table_light(table, "gate~bay", "bay/gate");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_int_equal(table->state.delivered[1][table_goods("blue")], 1);
    assert_false(table->state.head.over);
    table_move(table, "black.2", 2);
    assert_int_equal(table->state.delivered[1][table_goods("red")], 1);
    assert_true(table->state.won);
}

static void test_american_setup_has_nine_green_discs(void **slot)
{
    Table *table = table_open(slot, "board=north_america");
    table_reset(table, 3);
    const ConvoiTables *tables = table->tables;
    assert_int_equal(__builtin_popcountll(table->state.green), 9);
    assert_int_equal(__builtin_popcountll(table->state.green & tables->track_lights), 3);
    for (uint32_t city = 0; city < 6; city++) {
        assert_int_equal(__builtin_popcountll(table->state.green & tables->city_lights[city]), 1);
    }
    assert_int_equal(tables->port_count, 2);
    assert_int_equal(tables->goods_wanted, 8);
    assert_int_equal(tables->port_wants, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_american_train_may_cross_a_city),
        TABLE_TEST(test_american_train_may_stop_in_a_city),
        TABLE_TEST(test_american_train_crosses_no_red_light),
        TABLE_TEST(test_american_crossing_and_loading_take_two_moves),
        TABLE_TEST(test_american_train_crosses_several_cities_in_one_move),
        TABLE_TEST(test_american_empty_train_stops_in_a_port),
        TABLE_TEST(test_american_empty_train_crosses_a_port),
        TABLE_TEST(test_american_ports_want_one_good_of_each_colour),
        TABLE_TEST(test_american_setup_has_nine_green_discs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
