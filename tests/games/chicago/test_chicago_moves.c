/* Ligne de train, Chicago: setting up, boarding and moving; a test per rule and ruling. */
#include "tests/games/chicago/chicago_table.h"

/* ---- Setting up --------------------------------------------------------------------------------
 */

static void test_setup_gives_pawns_by_the_number_of_players(void **slot)
{
    static const uint8_t pawns[] = {0, 0, 12, 10, 8};
    for (uint32_t players = 2; players <= 4; players++) {
        char settings[32];
        snprintf(settings, sizeof settings, "players=%u", players);
        Table *table = table_open(slot, settings);
        ty_reset(table->ruleset, &table->state, 5, NULL);
        for (uint32_t seat = 0; seat < players; seat++) {
            assert_int_equal(table->state.supply[seat], pawns[players]);
            assert_int_equal(table->state.tokens[seat], 3);
        }
        table_teardown(slot);
    }
}

static void test_c1_hand_is_two_numbers_and_three_actions(void **slot)
{
    Table *table = table_open(slot, "");
    ty_reset(table->ruleset, &table->state, 5, NULL);
    for (uint32_t seat = 0; seat < 2; seat++) {
        assert_int_equal(cards_count(table->state.numbers[seat], CHICAGO_NUMBERS), 2);
        assert_int_equal(cards_count(table->state.actions[seat], CARD_COUNT), 3);
    }
}

static void test_c1_hand_is_refilled_at_the_end_of_the_turn(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 plus_1");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_chance(table, "numbers", "red_5");
    table_chance(table, "actions", "rebel");
    table_chance(table, "actions", "express");
    table_do(table, "end");
    assert_int_equal(table->state.numbers[0][9], 1);
    assert_int_equal(table->state.actions[0][CARD_REBEL], 1);
    assert_int_equal(table->state.actions[0][CARD_EXPRESS], 1);
    assert_int_equal(table->state.active, 1);
}

static void test_c18_first_player_is_drawn(void **slot)
{
    Table *table = table_open(slot, "");
    TyRuleset *ruleset = table_ruleset("chicago:players=4");
    uint32_t seats = 0;
    for (uint64_t seed = 0; seed < 64; seed++) {
        ty_reset(ruleset, &table->state, seed, NULL);
        seats |= 1u << table->state.active;
    }
    ty_ruleset_close(ruleset);
    assert_int_equal(seats, 15);
}

static void test_c18_tiles_are_fixed_or_drawn(void **slot)
{
    Table *table = table_open(slot, "tiles=random");
    uint32_t pairs = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        ty_reset(table->ruleset, &table->state, seed, NULL);
        assert_true(table->state.tile[0] != table->state.tile[1]);
        pairs |= 1u << (4 * table->state.tile[0] + table->state.tile[1]);
    }
    assert_int_equal(__builtin_popcount(pairs), 12);
    table_teardown(slot);
    table = table_open(slot, "");
    assert_int_equal(table->state.tile[0], 0);
    assert_int_equal(table->state.tile[1], 1);
}

/* ---- Boarding ----------------------------------------------------------------------------------
 */

static void test_turn_begins_by_placing_a_pawn_on_a_start_space(void **slot)
{
    Table *table = table_open(slot, "");
    ty_reset(table->ruleset, &table->state, 5, NULL);
    table_only(table, "place ", "1.north 1.south 2.north 2.south");
    table_do(table, "place 2.south");
    assert_int_equal(table->state.wait[0], WAIT_START);
    assert_int_equal(table->state.supply[0], 11);
    assert_true(table_may(table, "spin"));
}

static void test_c4_open_doors_let_the_pawn_move_or_keep_its_right(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_4 red_5 plus_1 reverse u_pass");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    assert_false(table_may(table, "lay blue_4"));
    table_chance(table, "spinner", "open");
    table_do(table, "spin");
    assert_int_equal(table->state.active, 0);
    assert_true(table_may(table, "lay blue_4"));
    assert_false(table_may(table, "spin"));
    table_do(table, "end");
    table_do(table, "end");
    assert_int_equal(table->state.active, 0);
    assert_true(table_may(table, "lay blue_4"));
}

static void test_c4_closed_doors_end_the_turn_and_the_next_needs_no_spin(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_4 red_5 plus_1 reverse u_pass");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_chance(table, "spinner", "closed");
    table_do(table, "spin");
    assert_int_equal(table->state.wait[0], WAIT_MISSED);
    assert_int_equal(table->state.active, 1);
    table_do(table, "end");
    assert_int_equal(table->state.wait[0], WAIT_OPEN);
    assert_int_equal(CHICAGO_NODES + table->state.start[0] - 1u, table_place(table, "1.north"));
    assert_false(table_may(table, "spin"));
    table_do(table, "lay blue_4");
    table_only(table, "to ", "1.b2 1.d2 1.c3");
}

static void test_c5_next_pawn_is_placed_at_once_and_spins_next_turn(void **slot)
{
    Table *table = waiting_table(slot, "");
    table->state.wait[0] = WAIT_OPEN;
    table_hand(table, 0, "blue_4 red_5 plus_1 reverse u_pass");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_do(table, "lay blue_4");
    table_do(table, "to 1.c3");
    assert_true(table_sits(table, 0, "1.c3"));
    table_only(table, "place ", "1.north 1.south 2.north 2.south");
    table_do(table, "place 2.north");
    assert_int_equal(table->state.active, 1);
    assert_int_equal(table->state.wait[0], WAIT_START);
}

static void test_c5_pawn_placed_behind_an_entrance_waits_to_spin(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_4 red_5 enter_1x");
    table_ready(table, 0);
    assert_true(table_may(table, "spin"));
    table_do(table, "play enter_1x");
    table_do(table, "from start");
    table_do(table, "to 1.b0");
    table_do(table, "place 1.south");
    assert_int_equal(table->state.active, 0);
    assert_false(table_may(table, "spin"));
}

static void test_u_pass_boards_without_the_spinner_once_a_turn(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_4 red_5 u_pass u_pass enter_1x");
    table_ready(table, 0);
    table_do(table, "play u_pass");
    assert_int_equal(table->state.wait[0], WAIT_OPEN);
    assert_true(table_may(table, "lay blue_4"));
    table_do(table, "play enter_1x");
    table_do(table, "from start");
    table_do(table, "to 1.b0");
    table_do(table, "place 1.south");
    assert_false(table_may(table, "play u_pass"));
}

/* The pawn of seat 0 waits before the doors, and seat 1 has seated pawns. */
static Table *u_pass_table(void **slot, const char *hand)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, hand);
    table_hand(table, 1, IDLE_HAND);
    table_sit(table, 1, "1.f3 1.g3");
    return table;
}

static void test_c19_u_pass_obliges_to_board(void **slot)
{
    Table *table = u_pass_table(slot, "blue_4 red_5 u_pass exit_1x plus_1");
    table_ready(table, 0);
    assert_true(table_may(table, "end") && table_may(table, "play exit_1x"));
    table_do(table, "play u_pass");
    assert_false(table_may(table, "end"));
    table_only(table, "play ", "plus_1");
    table_only(table, "lay ", "blue_4 red_5");
    table_do(table, "play plus_1");
    assert_false(table_may(table, "end"));
    table_do(table, "lay blue_4");
    table_do(table, "to 1.b2");
    assert_int_equal(table->state.active, 1);
}

static void test_c19_rebel_does_not_free_from_boarding(void **slot)
{
    Table *table = u_pass_table(slot, "blue_4 red_5 u_pass rebel");
    table_ready(table, 0);
    table_do(table, "play u_pass");
    table_do(table, "play rebel");
    assert_false(table_may(table, "end"));
    table_only(table, "lay ", "blue_4 red_5");
}

static void test_c19_turn_may_end_if_no_number_leads_aboard(void **slot)
{
    Table *table = u_pass_table(slot, "blue_4 red_5 u_pass exit_1x plus_1");
    table->state.supply[1]++;
    table->state.wait[1] = WAIT_NONE;
    table->state.start[1] = 0;
    table_aisle(table, 1, "1.c0");
    table_ready(table, 0);
    table_do(table, "play u_pass");
    table_only(table, "lay ", "");
    assert_true(table_may(table, "end"));
    assert_true(table_may(table, "play exit_1x"));
}

static void test_c6_second_own_pawn_is_never_offered(void **slot)
{
    uint32_t action = 0;
    Table *table = waiting_table(slot, "");
    table->state.wait[0] = WAIT_NONE;
    table->state.start[0] = 0;
    table->state.supply[0]++;
    table_aisle(table, 0, "1.d2");
    table_hand(table, 0, IDLE_HAND);
    table_ready(table, 0);
    table_only(table, "place ", "");
    assert_false(ty_action_find(table->ruleset, "second_pawn", &action));
}

static void test_c8_waiting_pawn_neither_spins_nor_boards_beside_one_in_the_aisle(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, IDLE_HAND);
    table_ready(table, 0);
    assert_true(table_may(table, "spin") && table_may(table, "play u_pass"));
    table_aisle(table, 0, "1.d2");
    table_ready(table, 0);
    assert_false(table_may(table, "spin"));
    assert_false(table_may(table, "play u_pass"));
}

static void test_c8_pawn_that_missed_the_train_boards_when_the_aisle_is_free(void **slot)
{
    Table *table = waiting_table(slot, "");
    table->state.wait[0] = WAIT_MISSED;
    table_aisle(table, 0, "1.d2");
    table_hand(table, 0, IDLE_HAND);
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 1);
    table_do(table, "end");
    assert_int_equal(table->state.wait[0], WAIT_MISSED);
    assert_int_equal(table_told(table, EVENT_BOARD), 0);
    table_do(table, "lay blue_1");
    table_do(table, "to 1.d3");
    table_do(table, "end");
    assert_int_equal(table->state.active, 0);
    assert_int_equal(table->state.wait[0], WAIT_OPEN);
    assert_int_equal(table_told(table, EVENT_BOARD), 1);
}

static void test_c6_placing_is_not_forced_with_a_pawn_in_the_aisle(void **slot)
{
    Table *table = waiting_table(slot, "");
    table->state.wait[0] = WAIT_NONE;
    table->state.start[0] = 0;
    table->state.supply[0]++;
    table_aisle(table, 0, "1.d2");
    table_hand(table, 0, IDLE_HAND);
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 1);
    table_do(table, "end");
    assert_int_equal(table->state.active, 0);
    assert_int_equal(table->state.head.phase, PHASE_TURN);
}

/* ---- Moving ------------------------------------------------------------------------------------
 */

static void test_c2_move_is_exact(void **slot)
{
    Table *table = walking_table(slot, "", "1.b2", "blue_1 red_2");
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_only(table, "to ", "1.a2 1.c2 1.b3");
    table_do(table, "to 1.c2");
    assert_true(table_in_aisle(table, 0, "1.c2"));
}

static void test_c2_path_does_not_return_to_a_cell(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_2 red_5");
    table_ready(table, 0);
    table_do(table, "lay blue_2");
    table_only(table, "to ", "1.c2 1.b3 1.a0");
}

static void test_c2_bars_are_not_crossed(void **slot)
{
    Table *table = walking_table(slot, "", "1.c1", "blue_1 red_5");
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_only(table, "to ", "1.c0 1.c2");
}

static void test_c2_bars_are_not_crossed_with_a_pass_either(void **slot)
{
    Table *table = walking_table(slot, "", "1.c1", "blue_1 red_5 excuse_me");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_1");
    table_only(table, "to ", "1.c0 1.c2");
}

static void test_c2_two_cards_of_one_colour_are_one_move(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 blue_3");
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_do(table, "lay blue_3");
    table_only(table, "to ", "1.b3 1.c0 1.c2 1.d1 1.d3 1.e2");
    assert_int_equal(table->state.points, 4);
}

static void test_numbers_of_two_colours_are_not_added(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 red_3");
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_only(table, "lay ", "");
}

static void test_number_without_a_way_cannot_be_laid(void **slot)
{
    Table *table = walking_table(slot, "", "1.c0", "blue_1 blue_2 red_5");
    table_aisle(table, 1, "1.c1");
    table_sit(table, 1, "1.c3");
    table_ready(table, 0);
    table_only(table, "lay ", "blue_1");
}

static void test_aisle_space_may_be_shared_but_not_passed(void **slot)
{
    Table *table = walking_table(slot, "", "1.e3", "blue_1 red_2");
    table_aisle(table, 1, "1.e2");
    table_ready(table, 0);
    table_only(table, "lay ", "blue_1");
    table_do(table, "lay blue_1");
    table_only(table, "to ", "1.e2 1.e4");
    table_do(table, "to 1.e2");
    assert_true(table_in_aisle(table, 0, "1.e2"));
    assert_true(table_in_aisle(table, 1, "1.e2"));
}

static void test_aisle_pawn_is_not_passed_without_a_card(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 red_3");
    table_aisle(table, 1, "1.b2");
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_only(table, "to ", "1.b2 1.a1");
}

static void test_seats_behind_passengers_are_out_of_reach(void **slot)
{
    Table *table = table_open(slot, "");
    Way way = {.train = state_train(table->tables, &table->state),
               .paths = table->tables->paths,
               .shut = state_train(table->tables, &table->state)->passengers};
    CellSet reached = {{0, 0}};
    for (uint8_t start = 0; start < CHICAGO_STARTS; start++) {
        way.from = (uint8_t)(CHICAGO_NODES + start);
        for (uint32_t length = 1; length <= CHICAGO_LENGTH_MAX; length++) {
            CellSet ends = chicago_way_ends(&way, length);
            reached.car[0] |= ends.car[0] & way.train->seats.car[0];
            reached.car[1] |= ends.car[1] & way.train->seats.car[1];
        }
    }
    assert_int_equal(cells_count(&way.train->seats), 38);
    assert_int_equal(cells_count(&reached), 32);
}

static void test_move_event_has_a_path_that_proves_it(void **slot)
{
    static const char *const spaces[] = {"1.b2", "1.c2", "1.d2", "1.d1"};
    Table *table = walking_table(slot, "", "1.a2", "blue_4 red_5");
    table_sit(table, 1, "1.d3 1.c3");
    table_ready(table, 0);
    table_do(table, "lay blue_4");
    table_do(table, "to 1.d1");
    const TyEvent *event = table_telling(table, EVENT_MOVE, 0);
    assert_int_equal(event->path_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(event->path[i], table_place(table, spaces[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_setup_gives_pawns_by_the_number_of_players),
        TABLE_TEST(test_c1_hand_is_two_numbers_and_three_actions),
        TABLE_TEST(test_c1_hand_is_refilled_at_the_end_of_the_turn),
        TABLE_TEST(test_c18_first_player_is_drawn),
        TABLE_TEST(test_c18_tiles_are_fixed_or_drawn),
        TABLE_TEST(test_turn_begins_by_placing_a_pawn_on_a_start_space),
        TABLE_TEST(test_c4_open_doors_let_the_pawn_move_or_keep_its_right),
        TABLE_TEST(test_c4_closed_doors_end_the_turn_and_the_next_needs_no_spin),
        TABLE_TEST(test_c5_next_pawn_is_placed_at_once_and_spins_next_turn),
        TABLE_TEST(test_c5_pawn_placed_behind_an_entrance_waits_to_spin),
        TABLE_TEST(test_u_pass_boards_without_the_spinner_once_a_turn),
        TABLE_TEST(test_c19_u_pass_obliges_to_board),
        TABLE_TEST(test_c19_rebel_does_not_free_from_boarding),
        TABLE_TEST(test_c19_turn_may_end_if_no_number_leads_aboard),
        TABLE_TEST(test_c6_second_own_pawn_is_never_offered),
        TABLE_TEST(test_c8_waiting_pawn_neither_spins_nor_boards_beside_one_in_the_aisle),
        TABLE_TEST(test_c8_pawn_that_missed_the_train_boards_when_the_aisle_is_free),
        TABLE_TEST(test_c6_placing_is_not_forced_with_a_pawn_in_the_aisle),
        TABLE_TEST(test_c2_move_is_exact),
        TABLE_TEST(test_c2_path_does_not_return_to_a_cell),
        TABLE_TEST(test_c2_bars_are_not_crossed),
        TABLE_TEST(test_c2_bars_are_not_crossed_with_a_pass_either),
        TABLE_TEST(test_c2_two_cards_of_one_colour_are_one_move),
        TABLE_TEST(test_numbers_of_two_colours_are_not_added),
        TABLE_TEST(test_number_without_a_way_cannot_be_laid),
        TABLE_TEST(test_aisle_space_may_be_shared_but_not_passed),
        TABLE_TEST(test_aisle_pawn_is_not_passed_without_a_card),
        TABLE_TEST(test_seats_behind_passengers_are_out_of_reach),
        TABLE_TEST(test_move_event_has_a_path_that_proves_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
