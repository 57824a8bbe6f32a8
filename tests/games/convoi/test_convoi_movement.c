/* Convoi Express, Regles de deplacement: one test per rule, on small boards (tests/data), and the
 * rulebook's example of a whole turn. */
#include "tests/games/convoi/convoi_table.h"

/* The yard: north and south meet at ford (3 legs); ford-mill has 4 spaces with a light behind the
 * second; mill has exits to ford, siding (a start), mine and cross (4 legs: mill, mine, harbour,
 * east). Green at first: mill/ford, mine/cross, harbour/cross, ford~mill. Open at first: north+mill
 * at ford, mill+harbour at cross. */

/* ---- Rules 1 to 3: points -------------------------------------------------------------------- */

static void test_train_moves_by_instruction_card(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_ready(table);
    table_turn(table, "I14");
    table_roll(table, "black", 2);
    table_do(table, "move black.1");
    assert_place(table, "black.1", "ford-mill.3");
}

static void test_train_moves_by_action_card(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "ford-mill.3");
    assert_int_equal(table->state.hand[0][ACT_MOVE], 3);
}

static void test_train_uses_all_points_of_its_roll(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "gray.1", "east-cross.1", "cross");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "ford-mill.4");
    assert_nothing_lost(table);
    table_move(table, "gray.1", 1);
    assert_place(table, "gray.1", "east-cross.2");
    assert_nothing_lost(table);
    assert_int_equal(table->state.clock, 7);
}

static void test_lights_and_switches_cost_no_point(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "north");
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_place(table, "black.1", "ford-mill.4");
    const TyEvent *move = table_telling(table, EVENT_MOVE, 0);
    assert_int_equal(move->path_count, 5);
    assert_string_equal(table_name(table, &convoi_places, move->path[0]), "north-ford.1");
    assert_string_equal(table_name(table, &convoi_places, move->path[1]), "ford-mill.1");
    assert_string_equal(table_name(table, &convoi_places, move->path[4]), "ford-mill.4");
}

static void test_a_city_entered_costs_a_point(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_light(table, "gate~bay", "mill/mine");
    table_put(table, "black.1", "fork-mill.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_int_equal(table->state.points, 2);
    table_do(table, "exit mill/mine");
    assert_place(table, "black.1", "mill-mine.2");
}

static void test_each_unused_point_costs_a_token(void **slot)
{
    for (uint32_t roll = 2; roll <= 5; roll++) {
        Table *table = table_quiet(slot, "board=yard");
        table_put(table, "black.1", "cross-harbour.1", "harbour");
        table_ready(table);
        table_move(table, "black.1", roll);
        assert_place(table, "black.1", "cross-harbour.1");
        assert_lost(table, (int)roll, LOSS_RED_LIGHT);
        assert_int_equal(table->state.clock, 7 - roll);
        assert_int_equal(table->state.tokens_lost, roll);
    }
}

/* ---- Rule 4: direction ----------------------------------------------------------------------- */

static void test_train_never_turns_round_on_the_track(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.2", "ford");
    table_put(table, "black.2", "cross-harbour.1", "harbour");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "north-ford.1");
    assert_facing(table, "black.1", "north");
    table_move(table, "black.2", 2);
    assert_place(table, "black.2", "cross-harbour.1");
    assert_facing(table, "black.2", "harbour");
}

static void test_train_in_a_city_leaves_by_any_green_exit(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/mine");
    table_stand(table, "black.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_true(table_asks(table, PHASE_EXIT));
    assert_true(table_may(table, "exit mill/ford"));
    assert_true(table_may(table, "exit mill/mine"));
    assert_int_equal(table_choices(table), 2);
    table_do(table, "exit mill/mine");
    assert_place(table, "black.1", "mill-mine.2");
    assert_facing(table, "black.1", "mine");
}

static void test_train_in_a_city_cannot_leave_by_a_red_exit(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_stand(table, "black.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_true(table_asks(table, PHASE_EXIT));
    assert_int_equal(table_choices(table), 1);
    table_do(table, "exit mill/ford");
    assert_place(table, "black.1", "ford-mill.3");
    assert_facing(table, "black.1", "ford");
}

/* ---- Rule 5: one train to a place ------------------------------------------------------------ */

static void test_only_one_train_on_a_space(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "brown.1", "ford-mill.2", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "ford-mill.1");
    assert_place(table, "brown.1", "ford-mill.2");
    assert_lost(table, 2, LOSS_TRAIN_AHEAD);
}

static void test_only_one_train_in_a_city(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.3", "mill");
    table_stand(table, "brown.1", "mill");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "ford-mill.4");
    assert_place(table, "brown.1", "mill");
    assert_lost(table, 2, LOSS_CITY_OCCUPIED);
    assert_int_equal(table->state.collisions, 0);
}

/* ---- Rule 6: switches ------------------------------------------------------------------------ */

static void test_train_follows_the_open_legs_of_a_switch(void **slot)
{
    static const char *const legs[] = {"mill", "mine", "harbour", "east"};
    static const char *const inner[] = {"mill-cross.2", "cross-mine.1", "cross-harbour.1",
                                        "east-cross.2"};
    for (uint32_t from = 0; from < 4; from++) {
        for (uint32_t to = 0; to < 4; to++) {
            if (from == to) {
                continue;
            }
            char name[TY_NAME_MAX];
            Table *table = table_quiet(slot, "board=yard");
            snprintf(name, sizeof name, "%s+%s", legs[from < to ? from : to],
                     legs[from < to ? to : from]);
            table_switch(table, "cross", name);
            table_put(table, "gray.1", inner[from], "cross");
            table_ready(table);
            table_move(table, "gray.1", 1);
            assert_place(table, "gray.1", inner[to]);
            assert_facing(table, "gray.1", legs[to]);
            assert_nothing_lost(table);
        }
    }
}

static void test_train_stops_before_a_closed_leg(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "south");
    table_put(table, "brown.1", "east-cross.1", "cross");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "south-ford.1");
    assert_lost(table, 2, LOSS_CLOSED_SWITCH);
    table_move(table, "brown.1", 4);
    assert_place(table, "brown.1", "east-cross.2");
    assert_lost(table, 3, LOSS_CLOSED_SWITCH);
}

/* ---- Rule 7: lights -------------------------------------------------------------------------- */

static void test_train_passes_a_green_light(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.2", "mill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "ford-mill.4");
    assert_nothing_lost(table);
    table_put(table, "black.1", "ford-mill.3", "ford");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "ford-mill.1");
    assert_nothing_lost(table);
}

static void test_train_stops_before_a_red_light_in_both_directions(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "cross~harbour");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "black.2", "ford-mill.4", "ford");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "ford-mill.2");
    assert_lost(table, 2, LOSS_RED_LIGHT);
    table_move(table, "black.2", 4);
    assert_place(table, "black.2", "ford-mill.3");
    assert_lost(table, 3, LOSS_RED_LIGHT);
}

static void test_train_stops_before_a_red_city_light(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "mill-mine.2", "mine");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_place(table, "black.1", "mill-mine.3");
    assert_lost(table, 2, LOSS_RED_LIGHT);
}

/* ---- Rule 8: trains ahead -------------------------------------------------------------------- */

static void test_train_stops_right_behind_a_train_ahead(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_stand(table, "black.1", "north");
    table_put(table, "gray.1", "ford-mill.3", "mill");
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_place(table, "black.1", "ford-mill.2");
    assert_place(table, "gray.1", "ford-mill.3");
    assert_lost(table, 2, LOSS_TRAIN_AHEAD);
    assert_int_equal(table->state.clock, 5);
    assert_int_equal(table->state.collisions, 0);
}

/* ---- Rule 9: cities -------------------------------------------------------------------------- */

static void test_train_must_stop_in_goods_city(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/mine");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_place(table, "black.1", "mill");
    assert_nothing_lost(table);
    assert_int_equal(table->state.clock, 7);
}

/* ---- Rule 10: ports -------------------------------------------------------------------------- */

static void test_loaded_train_is_unloaded_in_the_port(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "cross-harbour.3", "harbour");
    table_carry(table, "black.1", "red");
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_place(table, "black.1", "depot");
    assert_nothing_lost(table);
    assert_int_equal(table->state.delivered[0][table_goods("red")], 1);
    assert_int_equal(table->state.goods_delivered, 1);
    assert_int_equal(table_goods_left(table, "mine"), 1);
    assert_int_equal(table->state.cargo[table_train("black.1")], 0);
    assert_int_equal(table_told(table, EVENT_DELIVER), 1);
    assert_int_equal(table_telling(table, EVENT_DEPOT, 0)->args[1], 0);
}

static void test_empty_train_in_the_port_goes_to_the_depot(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "cross-harbour.3", "harbour");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "depot");
    assert_nothing_lost(table);
    assert_int_equal(table->state.goods_delivered, 0);
}

/* ---- Rule 11: head-on collisions ------------------------------------------------------------- */

static void test_head_on_collision_costs_two_tokens_a_point(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,clock=10");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "brown.1", "ford-mill.3", "ford");
    table_ready(table);
    table_move(table, "black.1", 4);
    assert_lost(table, 6, LOSS_HEAD_ON);
    assert_int_equal(table->state.clock, 4);
    assert_place(table, "black.1", "depot");
    assert_place(table, "brown.1", "ford-mill.3");
    assert_facing(table, "brown.1", "ford");
    assert_int_equal(table->state.collisions, 1);
}

static void test_head_on_collision_returns_the_cargo_to_its_city(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_carry(table, "black.1", "red");
    table_put(table, "brown.1", "ford-mill.2", "ford");
    table_carry(table, "brown.1", "blue");
    table_ready(table);
    assert_int_equal(table_goods_left(table, "mine"), 1);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "depot");
    assert_int_equal(table->state.cargo[table_train("black.1")], 0);
    assert_int_equal(table_goods_left(table, "mine"), 2);
    assert_int_equal(table_goods_left(table, "mill"), 1);
    assert_int_equal(table->state.cargo[table_train("brown.1")], table_goods("blue") + 1);
}

/* ---- Rule 12: start spaces ------------------------------------------------------------------- */

static void test_train_on_a_start_space_costs_two_tokens(void **slot)
{
    for (uint32_t roll = 2; roll <= 5; roll++) {
        Table *table = table_quiet(slot, "board=yard");
        table_put(table, "black.1", "ford-mill.1", "ford");
        table_ready(table);
        table_move(table, "black.1", roll);
        assert_lost(table, 2, LOSS_START_REACHED);
        assert_place(table, "black.1", "depot");
        assert_int_equal(table->state.derailments, 1);
        assert_int_equal(table->state.clock, 5);
    }
}

static void test_train_on_a_start_space_returns_its_cargo(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "north-ford.1", "north");
    table_carry(table, "black.1", "blue");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_lost(table, 2, LOSS_START_REACHED);
    assert_place(table, "black.1", "depot");
    assert_int_equal(table->state.cargo[table_train("black.1")], 0);
    assert_int_equal(table_goods_left(table, "mill"), 2);
    assert_int_equal(table_telling(table, EVENT_DEPOT, 0)->args[1], table_goods("blue") + 1);
}

/* ---- Exemple d'un tour de jeu (page 8) ------------------------------------------------------- */

/* The example prints its position; we only have its words. What we chose: no gray train is on the
 * network and the other train is a brown one waiting at Le Havre, three spaces from the red light
 * of Paris on the Orleans side. The disc for Paris comes from Munich - Zurich and opens the exit to
 * Epinal, whose switch lies across the line from Paris at first and again at the end. Everything
 * else is the first-game placement. */
static Table *example_begin(void **slot)
{
    Table *table = table_quiet(slot, "board=europe,ask_forced=true");
    memset(table->state.staff_used, 0, sizeof table->state.staff_used);
    table_stand(table, "brown.1", "le_havre");
    table_switch(table, "epinal", "luxembourg+zurich");
    table_hand(table, 1, 1, 2, 3);
    table_ready(table);
    return table;
}

static void example_place_and_move(Table *table)
{
    table_turn(table, "I02");
    assert_true(table_asks(table, PHASE_COLOUR));
    table_do(table, "colour black");
    table_script(table, STREAM_START_DICE, "6");
    table_do(table, "start.roll");
    assert_place(table, "black.1", "calais");
    table_roll(table, "black", 4);
    table_do(table, "move black.1");
    table_do(table, "die.keep");
    assert_place(table, "black.1", "paris");
    assert_int_equal(table_telling(table, EVENT_MOVE, 0)->path_count, 3);
    assert_nothing_lost(table);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void example_play_cards(Table *table)
{
    table_do(table, "load black.1");
    table_do(table, "pay move");
    assert_int_equal(table_goods_left(table, "paris"), 1);
    table_do(table, "light.from munich~zurich");
    table_do(table, "light.to paris/epinal");
    table_do(table, "pay signal");
    assert_true(table_green(table, "paris/bruxelles"));
    assert_true(table_green(table, "paris/epinal"));
    table_do(table, "switch epinal paris+zurich");
    table_do(table, "pay switch");
    table_move(table, "black.1", 3);
    assert_true(table_asks(table, PHASE_EXIT));
    table_do(table, "exit paris/epinal");
    assert_place(table, "black.1", "epinal-zurich.1");
    assert_nothing_lost(table);
    table_do(table, "switch epinal luxembourg+zurich");
    table_do(table, "pay switch");
    table_move(table, "brown.1", 4);
    assert_place(table, "brown.1", "orleans-paris.2");
    assert_lost(table, 1, LOSS_RED_LIGHT);
}

static void test_example_of_a_turn(void **slot)
{
    Table *table = example_begin(slot);
    example_place_and_move(table);
    example_play_cards(table);
    assert_int_equal(table->state.clock, 6);
    assert_int_equal(hand_size(table->state.hand[1]), 0);
    assert_int_equal(hand_size(table->state.discard), 6);
    table_turn(table, "I13");
    assert_int_equal(hand_size(table->state.hand[1]), 5);
    assert_int_equal(table->state.active, 0);
    assert_string_equal(table_card(table), "I13");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_train_moves_by_instruction_card),
        TABLE_TEST(test_train_moves_by_action_card),
        TABLE_TEST(test_train_uses_all_points_of_its_roll),
        TABLE_TEST(test_lights_and_switches_cost_no_point),
        TABLE_TEST(test_a_city_entered_costs_a_point),
        TABLE_TEST(test_each_unused_point_costs_a_token),
        TABLE_TEST(test_train_never_turns_round_on_the_track),
        TABLE_TEST(test_train_in_a_city_leaves_by_any_green_exit),
        TABLE_TEST(test_train_in_a_city_cannot_leave_by_a_red_exit),
        TABLE_TEST(test_only_one_train_on_a_space),
        TABLE_TEST(test_only_one_train_in_a_city),
        TABLE_TEST(test_train_follows_the_open_legs_of_a_switch),
        TABLE_TEST(test_train_stops_before_a_closed_leg),
        TABLE_TEST(test_train_passes_a_green_light),
        TABLE_TEST(test_train_stops_before_a_red_light_in_both_directions),
        TABLE_TEST(test_train_stops_before_a_red_city_light),
        TABLE_TEST(test_train_stops_right_behind_a_train_ahead),
        TABLE_TEST(test_train_must_stop_in_goods_city),
        TABLE_TEST(test_loaded_train_is_unloaded_in_the_port),
        TABLE_TEST(test_empty_train_in_the_port_goes_to_the_depot),
        TABLE_TEST(test_head_on_collision_costs_two_tokens_a_point),
        TABLE_TEST(test_head_on_collision_returns_the_cargo_to_its_city),
        TABLE_TEST(test_train_on_a_start_space_costs_two_tokens),
        TABLE_TEST(test_train_on_a_start_space_returns_its_cargo),
        TABLE_TEST(test_example_of_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
