/* Ligne de train, Chicago: one test per rule and per ruling. */
#include "tests/chicago_table.h"

/* Full hands that nobody uses, so that no card is drawn when a turn ends. */
static const char *const IDLE_HAND = "blue_1 red_1 plus_1 reverse u_pass";

/* Both players have idle hands and a pawn that waits. */
static Table *waiting_table(void **slot, const char *settings)
{
    Table *table = table_open(slot, settings);
    for (uint8_t seat = 0; seat < table->tables->player_count; seat++) {
        table_wait(table, seat, WAIT_START, "1.north");
    }
    return table;
}

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
    assert_true(table_legal(table, "spin"));
}

static void test_c4_open_doors_let_the_pawn_move_or_keep_its_right(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_4 red_5 plus_1 reverse u_pass");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    assert_false(table_legal(table, "lay blue_4"));
    table_chance(table, "spinner", "open");
    table_do(table, "spin");
    assert_int_equal(table->state.active, 0);
    assert_true(table_legal(table, "lay blue_4"));
    assert_false(table_legal(table, "spin"));
    table_do(table, "end");
    table_do(table, "end");
    assert_int_equal(table->state.active, 0);
    assert_true(table_legal(table, "lay blue_4"));
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
    assert_string_equal(
        chicago_name_place(table->tables, CHICAGO_NODES + table->state.start[0] - 1u).text,
        "1.north");
    assert_false(table_legal(table, "spin"));
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
    assert_true(table_legal(table, "spin"));
    table_do(table, "play enter_1x");
    table_do(table, "from start");
    table_do(table, "to 1.b0");
    table_do(table, "place 1.south");
    assert_int_equal(table->state.active, 0);
    assert_false(table_legal(table, "spin"));
}

static void test_u_pass_boards_without_the_spinner_once_a_turn(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_4 red_5 u_pass u_pass enter_1x");
    table_ready(table, 0);
    table_do(table, "play u_pass");
    assert_int_equal(table->state.wait[0], WAIT_OPEN);
    assert_true(table_legal(table, "lay blue_4"));
    table_do(table, "play enter_1x");
    table_do(table, "from start");
    table_do(table, "to 1.b0");
    table_do(table, "place 1.south");
    assert_false(table_legal(table, "play u_pass"));
}

static void test_c6_second_own_pawn_costs_both(void **slot)
{
    Table *table = waiting_table(slot, "");
    table->state.wait[0] = WAIT_NONE;
    table->state.start[0] = 0;
    table->state.supply[0]++;
    table_aisle(table, 0, "1.d2");
    table_hand(table, 0, "blue_4 red_5 enter_1x plus_1 reverse");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_do(table, "second_pawn");
    assert_int_equal(table->state.aisle[0], 0);
    assert_int_equal(table->state.supply[0], 12);
    assert_int_equal(table->state.penalties, 2);
    assert_int_equal(table->state.active, 1);
    assert_non_null(table_told(table, EVENT_LEAVE));
}

static void test_c6_open_doors_for_a_frozen_pawn_cost_both(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_aisle(table, 0, "1.d2");
    table_hand(table, 0, IDLE_HAND);
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_chance(table, "spinner", "open");
    table_do(table, "spin");
    assert_int_equal(table->state.aisle[0], 0);
    assert_int_equal(table->state.wait[0], WAIT_NONE);
    assert_int_equal(table->state.supply[0], 12);
    assert_int_equal(table->state.active, 1);
}

static void test_c6_u_pass_boards_also_into_the_penalty(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_aisle(table, 0, "1.d2");
    table_hand(table, 0, IDLE_HAND);
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_chance(table, "actions", "rebel");
    table_do(table, "play u_pass");
    assert_int_equal(table->state.supply[0], 12);
    assert_int_equal(table->state.active, 1);
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
    assert_int_equal(table->state.phase, PHASE_TURN);
}

/* ---- Moving ------------------------------------------------------------------------------------
 */

/* Seat 0 has a pawn in the aisle and the cards of `hand`. */
static Table *walking_table(void **slot, const char *settings, const char *cell, const char *hand)
{
    Table *table = table_open(slot, settings);
    table_aisle(table, 0, cell);
    table_hand(table, 0, hand);
    return table;
}

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
    const TyEvent *event = table_told(table, EVENT_MOVE);
    assert_non_null(event);
    assert_int_equal(event->path_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(event->path[i], table_place(table, spaces[i]));
    }
}

/* The tables of paths and the search agree wherever pawns sit. */
static void test_c2_tables_and_search_find_the_same_ends(void **slot)
{
    Table *table = table_open(slot, "tiles=random,players=4");
    for (uint64_t seed = 0; seed < 40; seed++) {
        uint8_t mask[TY_ACTIONS_MAX];
        ty_reset(table->ruleset, &table->state, seed, NULL);
        for (uint32_t i = 0; i < 150 && !table->state.head.over; i++) {
            int32_t reward[TY_SEATS_MAX] = {0};
            ty_legal(table->ruleset, &table->state, mask);
            ty_step(table->ruleset, &table->state,
                    ty_sample(mask, ty_shape(table->ruleset)->action_count, seed, i), reward, NULL);
        }
        ChicagoTrain searched = *state_train(table->tables, &table->state);
        Way way = chicago_pawn_way(table->tables, &table->state, 0, UINT32_MAX);
        way.passes = 0;
        way.from = (uint8_t)(CHICAGO_NODES + seed % 4);
        searched.tabled = 0;
        for (uint32_t length = 1; length <= CHICAGO_TABLED_MAX; length++) {
            Way slow = way;
            slow.train = &searched;
            CellSet fast_ends = chicago_way_ends(&way, length);
            CellSet slow_ends = chicago_way_ends(&slow, length);
            assert_memory_equal(&fast_ends, &slow_ends, sizeof fast_ends);
            assert_int_equal(chicago_way_lengths(&way, 1u << length),
                             chicago_way_lengths(&slow, 1u << length));
        }
    }
}

static void test_roomy_train_is_searched(void **slot)
{
    Table *table = walking_table(slot, "train=roomy", "1.d2", "blue_5 red_4");
    assert_true(state_train(table->tables, &table->state)->tabled < CHICAGO_TABLED_MAX);
    table_ready(table, 0);
    table_do(table, "lay blue_5");
    assert_true(table_legal(table, "to 1.a0"));
    assert_false(table_legal(table, "to 1.d2"));
    assert_false(table_legal(table, "to 1.d0"));
}

/* ---- Excuse Me, Rebel as a pass, Advanced Movement ---------------------------------------------
 */

static void test_c14_excuse_me_passes_one_blocked_space_uncounted(void **slot)
{
    Table *table = walking_table(slot, "", "1.b2", "blue_1 red_5 excuse_me");
    table_ready(table, 0);
    assert_int_equal(table->state.passes, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_1");
    /* b0 lies behind the passenger of b1, a1 beside it. */
    table_only(table, "to ", "1.a2 1.c2 1.b3 1.b0 1.a1");
    table_do(table, "to 1.b0");
    assert_true(table_sits(table, 0, "1.b0"));
}

static void test_c14_excuse_me_passes_an_aisle_pawn(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 red_5 excuse_me");
    table_aisle(table, 1, "1.b2");
    table_sit(table, 1, "1.a1");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_1");
    table_only(table, "to ", "1.b2 1.c2 1.b3 1.a0 1.a4");
}

static void test_c14_own_seated_pawns_block_too(void **slot)
{
    Table *table = walking_table(slot, "", "1.d2", "blue_2 red_1 excuse_me");
    table_sit(table, 0, "1.d3 1.c3");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay red_1");
    assert_true(table_legal(table, "to 1.d4"));
    assert_false(table_legal(table, "to 1.d3"));
}

static void test_c14_passes_are_chained(void **slot)
{
    Table *table = walking_table(slot, "", "1.b2", "blue_1 red_5 excuse_me excuse_me");
    table_sit(table, 1, "1.b3");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_1");
    /* Through b3 and the pawn-free a3: a passenger; then a4. */
    assert_true(table_legal(table, "to 1.b4"));
    assert_true(table_legal(table, "to 1.c3"));
}

static void test_c14_opposing_pawn_slides_to_a_free_seat_beside_it(void **slot)
{
    Table *table = walking_table(slot, "", "1.e2", "blue_2 red_5 excuse_me");
    table_sit(table, 1, "1.f3");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_2");
    table_do(table, "to 1.f3");
    table_only(table, "to ", "1.g3 1.f4");
    table_do(table, "to 1.g3");
    assert_true(table_sits(table, 0, "1.f3"));
    assert_true(table_sits(table, 1, "1.g3"));
    assert_non_null(table_told(table, EVENT_SLIDE));
}

static void test_c14_no_slide_without_a_pass(void **slot)
{
    Table *table = walking_table(slot, "", "1.e2", "blue_2 red_5 excuse_me");
    table_sit(table, 1, "1.f3");
    table_ready(table, 0);
    table_do(table, "lay blue_2");
    assert_false(table_legal(table, "to 1.f3"));
}

static void test_c14_no_slide_beside_a_passenger(void **slot)
{
    /* f1 is beside the passenger of g1, d4 beside that of c4. */
    Table *table = walking_table(slot, "", "1.f2", "blue_1 red_5 excuse_me");
    table_sit(table, 1, "1.f1");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_1");
    assert_false(table_legal(table, "to 1.f1"));
}

static void test_c14_own_pawn_does_not_slide(void **slot)
{
    Table *table = walking_table(slot, "", "1.e2", "blue_2 red_5 excuse_me");
    table_sit(table, 0, "1.f3");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_2");
    assert_false(table_legal(table, "to 1.f3"));
}

static void test_rebel_as_a_pass_leaves_only_the_move(void **slot)
{
    Table *table = walking_table(slot, "", "1.b2", "blue_1 red_5 rebel plus_1 excuse_me");
    table_ready(table, 0);
    assert_true(table_legal(table, "play plus_1"));
    table_do(table, "play rebel");
    assert_int_equal(table->state.passes, 1);
    assert_false(table_legal(table, "play plus_1"));
    assert_true(table_legal(table, "play excuse_me"));
    table_do(table, "lay blue_1");
    assert_true(table_legal(table, "to 1.b0"));
}

static void test_c16_advanced_movement_alone(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 red_5 advanced_2");
    table_ready(table, 0);
    table_only(table, "to ", "");
    table_do(table, "play advanced_2");
    table_only(table, "to ", "1.c2 1.b3 1.a0");
    table_do(table, "to 1.b3");
    assert_true(table_sits(table, 0, "1.b3"));
}

static void test_c16_advanced_movement_with_one_number(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 red_5 advanced_1");
    table_ready(table, 0);
    table_do(table, "play advanced_1");
    table_do(table, "lay blue_1");
    table_only(table, "to ", "1.c2 1.b3 1.a0");
}

static void test_c16_advanced_movement_with_two_colours(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 red_2 advanced_1");
    table_ready(table, 0);
    table_do(table, "play advanced_1");
    table_do(table, "lay blue_1");
    table_do(table, "lay red_2");
    assert_int_equal(table->state.points, 4);
    table_only(table, "to ", "1.b3 1.c0 1.c2 1.d1 1.d3 1.e2");
}

/* ---- The turn ----------------------------------------------------------------------------------
 */

static void test_c3_move_ends_the_turn(void **slot)
{
    Table *table = walking_table(slot, "", "1.a2", "blue_1 red_2 plus_1 reverse u_pass");
    table_wait(table, 1, WAIT_START, "1.north");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_do(table, "to 1.b2");
    assert_int_equal(table->state.active, 1);
}

static void test_c3_keepers_keep_the_turn(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 plus_1 reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play plus_1");
    assert_int_equal(table->state.active, 0);
    table_do(table, "play reverse");
    assert_int_equal(table->state.active, 0);
    assert_true(table_legal(table, "end"));
}

static void test_c3_red_star_ends_the_turn(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 exit_1x plus_1 plus_1");
    table_hand(table, 1, IDLE_HAND);
    table->state.tokens[1] = 0;
    table_sit(table, 1, "1.a0 1.b0");
    table_ready(table, 0);
    table_do(table, "play exit_1x");
    table_do(table, "pawn 1.a0");
    assert_int_equal(table->state.active, 1);
}

static void test_plus_1_gives_a_token(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 plus_1");
    table_ready(table, 0);
    table_do(table, "play plus_1");
    assert_int_equal(table->state.tokens[0], 4);
}

static void test_all_pawns_seated_wins_at_once(void **slot)
{
    Table *table = walking_table(slot, "", "1.b2", "blue_1 red_2 plus_1");
    table_sit(table, 0, "2.a0 2.b0 2.c0 2.d0 2.f0 2.b1 2.c1 2.f1 2.g1 2.a3 2.b3");
    table_wait(table, 1, WAIT_START, "1.north");
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_do(table, "to 1.b3");
    assert_true(table->state.head.over);
    assert_int_equal(table->state.winner, 1);
    assert_int_equal(table->reward[0], TY_REWARD_ONE);
    assert_int_equal(table->reward[1], -TY_REWARD_ONE);
}

static void test_score_reward_is_the_margin(void **slot)
{
    Table *table = walking_table(slot, "reward=score", "1.b2", "blue_1 red_2 plus_1");
    table_sit(table, 0, "2.a0 2.b0 2.c0 2.d0 2.f0 2.b1 2.c1 2.f1 2.g1 2.a3 2.b3");
    table_sit(table, 1, "1.f3 1.g3");
    table_wait(table, 1, WAIT_START, "1.north");
    table_ready(table, 0);
    table_do(table, "lay blue_1");
    table_do(table, "to 1.b3");
    assert_int_equal(table->reward[0], 10 * TY_REWARD_ONE);
    assert_int_equal(table->reward[1], -10 * TY_REWARD_ONE);
}

static void test_c18_cap_truncates_without_a_winner(void **slot)
{
    Table *table = waiting_table(slot, "turn_cap=100");
    table_hand(table, 0, IDLE_HAND);
    table_hand(table, 1, IDLE_HAND);
    table->state.turns = 100;
    table_ready(table, 0);
    table_do(table, "end");
    assert_true(table->state.head.over);
    assert_true(table->state.head.truncated);
    assert_int_equal(table->state.winner, 0);
    assert_int_equal(table->reward[0], 0);
}

/* ---- Order of play -----------------------------------------------------------------------------
 */

static void test_reverse_turns_the_order_of_play(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    table_hand(table, 0, "blue_1 red_2 reverse plus_1 plus_1");
    table_ready(table, 0);
    table_do(table, "play reverse");
    table_do(table, "end");
    assert_int_equal(table->state.active, 2);
}

static void test_express_skips_the_next_player(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    table_hand(table, 0, "blue_1 red_2 express plus_1 plus_1");
    table_ready(table, 0);
    table_do(table, "play express");
    assert_int_equal(table->state.skip[1], 1);
    table_do(table, "end");
    assert_int_equal(table->state.active, 2);
    assert_int_equal(table->state.skip[1], 0);
    assert_non_null(table_told(table, EVENT_SKIP));
}

static void test_c11_express_is_a_bonus_turn_for_two_players(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 express plus_1 plus_1");
    table_ready(table, 0);
    table_do(table, "play express");
    assert_false(table_legal(table, "play express"));
    table_chance(table, "actions", "rebel");
    table_do(table, "end");
    assert_int_equal(table->state.active, 0);
    assert_int_equal(table->state.actions[0][CARD_REBEL], 1);
}

static void test_c11_express_on_every_opponent_is_a_bonus_turn(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    table_hand(table, 0, "blue_1 red_2 express express plus_1");
    table_ready(table, 0);
    table_do(table, "play express");
    table_do(table, "play express");
    table_do(table, "end");
    assert_int_equal(table->state.active, 0);
}

/* ---- Entrance, Exit ----------------------------------------------------------------------------
 */

static void test_entrance_seats_a_pawn_from_the_supply_anywhere(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 enter_1x");
    table_ready(table, 0);
    table_do(table, "play enter_1x");
    table_do(table, "from supply");
    assert_true(table_legal(table, "to 1.b0"));
    assert_false(table_legal(table, "to 1.b1"));
    assert_false(table_legal(table, "to 1.b2"));
    table_do(table, "to 1.b0");
    assert_true(table_sits(table, 0, "1.b0"));
    assert_int_equal(table->state.supply[0], 10);
    assert_int_equal(table->state.phase, PHASE_TURN);
    assert_true(table_legal(table, "spin"));
}

static void test_c10_entrance_2x_seats_two_pawns(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 enter_2x");
    table_ready(table, 0);
    table_do(table, "play enter_2x");
    table_do(table, "from supply");
    table_do(table, "to 1.b0");
    table_do(table, "from start");
    table_do(table, "to 1.a0");
    assert_int_equal(table_seated(table, 0), 2);
    assert_int_equal(table->state.phase, PHASE_PLACE);
}

static void test_c9_exit_meets_the_next_player_in_the_direction_of_play(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    table_hand(table, 0, "blue_1 red_2 exit_1x reverse plus_1");
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table_sit(table, 1, "1.a0 1.b0");
    table_sit(table, 2, "1.d0 1.f0");
    table_ready(table, 0);
    table_do(table, "play reverse");
    table_do(table, "play exit_1x");
    table_only(table, "pawn ", "1.d0 1.f0");
}

static void test_c9_exit_counts_behind_skipped_players(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    table_hand(table, 0, "blue_1 red_2 exit_1x express plus_1");
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table_sit(table, 1, "1.a0 1.b0");
    table_sit(table, 2, "1.d0 1.f0");
    table_ready(table, 0);
    table_do(table, "play express");
    table_do(table, "play exit_1x");
    table_only(table, "pawn ", "1.d0 1.f0");
}

static void test_c9_exit_is_illegal_against_nobody_seated(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    table_hand(table, 0, "blue_1 red_2 exit_1x exit_2x plus_1");
    table_sit(table, 2, "1.d0 1.f0");
    table_ready(table, 0);
    table_only(table, "play ", "plus_1");
}

static void test_c9_exit_2x_takes_two_pawns_of_the_attackers_choice(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 exit_2x plus_1 plus_1");
    table_hand(table, 1, IDLE_HAND);
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table_sit(table, 1, "1.a0 1.b0 1.d0");
    table_ready(table, 0);
    table_do(table, "play exit_2x");
    table_do(table, "pawn 1.d0");
    table_do(table, "pawn 1.a0");
    assert_true(table_sits(table, 1, "1.b0"));
    assert_int_equal(table->state.supply[1], 10);
    assert_int_equal(table->state.active, 1);
}

/* ---- Eccentric Passenger, Take a Seat ----------------------------------------------------------
 */

/* Seat 1 has no tokens, so nothing is asked of it unless it has a Rebel Passenger. */
static Table *attack_table(void **slot, const char *settings, const char *hand)
{
    Table *table = waiting_table(slot, settings);
    table_hand(table, 0, hand);
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table_sit(table, 1, "1.a0 1.f4 2.g3");
    return table;
}

static void test_c8_displaced_pawn_stands_in_the_aisle_of_its_column(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 eccentric");
    table_ready(table, 0);
    table_do(table, "play eccentric");
    table_only(table, "pawn ", "1.a0 1.f4 2.g3");
    table_do(table, "pawn 1.f4");
    assert_true(table_in_aisle(table, 1, "1.f2"));
    assert_false(table_sits(table, 1, "1.f4"));
    assert_int_equal(table->state.active, 0);
}

static void test_c8_waiting_pawn_of_the_displaced_player_stays(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 eccentric plus_1 plus_1");
    table_hand(table, 1, "blue_3 red_3 plus_1 reverse excuse_me");
    table_ready(table, 0);
    table_do(table, "play eccentric");
    table_do(table, "pawn 2.g3");
    table_do(table, "end");
    assert_int_equal(table->state.wait[1], WAIT_START);
    /* The pawn in the aisle moves, not the one that waits. */
    table_do(table, "lay blue_3");
    assert_true(table_legal(table, "to 2.d2"));
}

static void test_take_a_seat_puts_an_own_pawn_in_its_place(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 take_a_seat");
    table_ready(table, 0);
    table_do(table, "play take_a_seat");
    table_do(table, "pawn 1.a0");
    table_do(table, "from supply");
    assert_true(table_sits(table, 0, "1.a0"));
    assert_true(table_in_aisle(table, 1, "1.a2"));
    assert_int_equal(table->state.phase, PHASE_TURN);
}

static void test_c7_second_aisle_pawn_of_an_opponent_is_forbidden(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 eccentric take_a_seat");
    table_aisle(table, 1, "1.d2");
    table_ready(table, 0);
    table_only(table, "play ", "");
}

static void test_c7_variant_costs_this_turns_seats_and_seats_both_pawns(void **slot)
{
    Table *table = attack_table(slot, "crowding=penalty", "blue_1 red_2 eccentric enter_1x");
    table_aisle(table, 1, "1.d2");
    table_sit(table, 0, "1.g3");
    table_ready(table, 0);
    table_do(table, "play enter_1x");
    table_do(table, "from supply");
    table_do(table, "to 1.b0");
    table_do(table, "play eccentric");
    table_do(table, "pawn 1.f4");
    assert_false(table_sits(table, 0, "1.b0"));
    assert_true(table_sits(table, 0, "1.g3"));
    assert_int_equal(table->state.head.seat, 1);
    table_do(table, "to 1.b0");
    table_do(table, "to 1.f4");
    assert_int_equal(table_seated(table, 1), 4);
    assert_int_equal(table->state.aisle[1], 0);
    assert_int_equal(table->state.active, 0);
    assert_int_equal(table->state.phase, PHASE_TURN);
}

static void test_c7_variant_takes_back_the_seat_just_taken(void **slot)
{
    Table *table = attack_table(slot, "crowding=penalty", "blue_1 red_2 take_a_seat");
    table_aisle(table, 1, "1.d2");
    table_ready(table, 0);
    table_do(table, "play take_a_seat");
    table_do(table, "pawn 1.f4");
    table_do(table, "from supply");
    assert_int_equal(table_seated(table, 0), 0);
    assert_int_equal(table->state.phase, PHASE_RESEAT);
}

/* ---- Panhandler and Rebel Passenger ------------------------------------------------------------
 */

static void test_c12_panhandler_takes_a_random_card_and_the_victim_redraws(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 panhandler");
    table_hand(table, 1, "blue_3 red_3 plus_1 reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play panhandler");
    assert_true(table_legal(table, "beg +1 number"));
    table_chance(table, "stolen_action", "reverse");
    table_chance(table, "actions", "rebel");
    table_do(table, "beg +1 action");
    assert_int_equal(table->state.actions[0][CARD_REVERSE], 1);
    assert_int_equal(table->state.actions[1][CARD_REBEL], 1);
    assert_int_equal(table->state.phase, PHASE_TURN);
}

static void test_c12_victim_remembers_the_card_until_it_is_played(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 panhandler plus_1 plus_1");
    uint8_t row[TY_ROW_MAX];
    uint16_t at = table->tables->layout.stolen;
    table_hand(table, 1, "blue_3 red_3 plus_1 reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play panhandler");
    table_chance(table, "stolen_action", "reverse");
    table_do(table, "beg +1 action");
    ty_observe(table->ruleset, &table->state, 1, row);
    assert_int_equal(row[at + 1], CHICAGO_NUMBERS + CARD_REVERSE + 1);
    ty_observe(table->ruleset, &table->state, 0, row);
    assert_int_equal(row[at + 1], 0);
    table_do(table, "play reverse");
    ty_observe(table->ruleset, &table->state, 1, row);
    assert_int_equal(row[at + 1], 0);
}

static void test_c12_resampling_keeps_the_card_that_the_victim_knows(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 panhandler plus_1 plus_1");
    table_hand(table, 1, "blue_3 red_3 plus_1 reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play panhandler");
    table_chance(table, "stolen_action", "reverse");
    table_do(table, "beg +1 action");
    for (uint64_t key = 0; key < 50; key++) {
        ty_resample(table->ruleset, &table->state, 1, key);
        assert_true(table->state.actions[0][CARD_REVERSE] >= 1);
        table_sound(table);
    }
}

static void test_c13_rebel_is_asked_before_the_effect_and_cancels_the_card(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 exit_2x rebel plus_1");
    table_hand(table, 1, "blue_3 red_3 rebel reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play exit_2x");
    assert_int_equal(table->state.head.seat, 1);
    table_only(table, "", "rebel.no rebel.yes");
    table_do(table, "rebel.yes");
    assert_int_equal(table_seated(table, 1), 3);
    assert_int_equal(table->state.rebels, 1);
    /* Nobody answers the Rebel, and the cancelled card still ended the turn. */
    assert_int_equal(table->state.active, 1);
    assert_int_equal(table->state.actions[1][CARD_REBEL], 0);
}

static void test_c13_rebel_may_be_kept(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 eccentric");
    table_hand(table, 1, "blue_3 red_3 rebel");
    table_ready(table, 0);
    table_do(table, "play eccentric");
    table_do(table, "pawn 1.a0");
    table_do(table, "rebel.no");
    assert_true(table_in_aisle(table, 1, "1.a2"));
    assert_int_equal(table->state.actions[1][CARD_REBEL], 1);
}

static void test_c13_cancelled_keeper_keeps_the_turn(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 take_a_seat");
    table_hand(table, 1, "blue_3 red_3 rebel");
    table_ready(table, 0);
    table_do(table, "play take_a_seat");
    table_do(table, "pawn 1.a0");
    table_do(table, "rebel.yes");
    assert_true(table_sits(table, 1, "1.a0"));
    assert_int_equal(table->state.active, 0);
    assert_int_equal(table->state.phase, PHASE_TURN);
}

static void test_c13_panhandler_can_be_cancelled(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 panhandler");
    table_hand(table, 1, "blue_3 red_3 rebel");
    table_ready(table, 0);
    table_do(table, "play panhandler");
    table_do(table, "beg +1 number");
    table_do(table, "rebel.yes");
    assert_int_equal(cards_count(table->state.numbers[0], CHICAGO_NUMBERS), 2);
}

static void test_c13_express_and_reverse_cannot_be_cancelled(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 express reverse");
    table_hand(table, 1, "blue_3 red_3 rebel");
    table_ready(table, 0);
    table_do(table, "play express");
    assert_int_equal(table->state.head.seat, 0);
    table_do(table, "play reverse");
    assert_int_equal(table->state.head.seat, 0);
}

static void test_c13_nobody_is_asked_without_a_rebel_or_tokens(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 exit_1x");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_do(table, "play exit_1x");
    assert_int_equal(table->state.head.seat, 0);
    assert_int_equal(table->state.phase, PHASE_PAWN);
}

static void test_c13_resampling_leaves_the_asked_seat_its_rebel(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 exit_2x");
    table_hand(table, 1, "blue_3 red_3 rebel reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play exit_2x");
    for (uint64_t key = 0; key < 50; key++) {
        ty_resample(table->ruleset, &table->state, 0, key);
        assert_true(table->state.actions[1][CARD_REBEL] >= 1);
        table_sound(table);
    }
}

/* ---- Tokens ------------------------------------------------------------------------------------
 */

static void test_c17_token_changes_a_card_for_one_of_the_same_pile(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 plus_1");
    table_ready(table, 0);
    table_chance(table, "numbers", "red_5");
    table_do(table, "swap blue_1");
    assert_int_equal(table->state.numbers[0][9], 1);
    assert_int_equal(table->state.number_discard[0], 1);
    table_chance(table, "actions", "rebel");
    table_do(table, "swap plus_1");
    assert_int_equal(table->state.actions[0][CARD_REBEL], 1);
    assert_int_equal(table->state.tokens[0], 1);
    assert_int_equal(table->state.active, 0);
}

static void test_c17_tokens_run_out(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 plus_1");
    table->state.tokens[0] = 0;
    table_ready(table, 0);
    table_only(table, "swap ", "");
}

static void test_c17_attacked_player_may_look_for_a_rebel_with_tokens(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 exit_1x plus_1 plus_1");
    table_hand(table, 1, IDLE_HAND);
    table->state.tokens[1] = 1;
    table_ready(table, 0);
    table_do(table, "play exit_1x");
    assert_int_equal(table->state.head.seat, 1);
    table_chance(table, "actions", "rebel");
    table_do(table, "swap reverse");
    table_only(table, "", "rebel.no rebel.yes");
    table_do(table, "rebel.yes");
    assert_int_equal(table_seated(table, 1), 3);
}

static void test_c17_empty_pile_is_made_of_the_discards(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 plus_1");
    memcpy(table->state.number_discard, table->state.number_deck, CHICAGO_NUMBERS);
    memset(table->state.number_deck, 0, CHICAGO_NUMBERS);
    table_ready(table, 0);
    table_chance(table, "numbers", "red_5");
    table_do(table, "swap blue_1");
    assert_non_null(table_told(table, EVENT_RESHUFFLE));
    assert_int_equal(cards_count(table->state.number_discard, CHICAGO_NUMBERS), 0);
    assert_int_equal(cards_count(table->state.number_deck, CHICAGO_NUMBERS), 48);
}

/* ---- Blocking ----------------------------------------------------------------------------------
 */

/* Seat 1 stands in the door behind which seat 0 wants to board. */
static Table *blocked_table(void **slot)
{
    Table *table = table_open(slot, "");
    table_wait(table, 0, WAIT_OPEN, "1.north");
    table_aisle(table, 1, "1.c0");
    table_sit(table, 1, "1.f3 1.g3");
    table_hand(table, 0, "blue_4 red_5 plus_1 reverse u_pass");
    table_hand(table, 1, "blue_4 red_5 plus_1 reverse u_pass");
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table_ready(table, 1);
    return table;
}

static void test_c15_blocked_turns_are_counted(void **slot)
{
    Table *table = blocked_table(slot);
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 1);
    assert_non_null(table_told(table, EVENT_BLOCKED));
    table_do(table, "end");
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 2);
    assert_int_equal(table->state.phase, PHASE_TURN);
}

static void test_c15_from_the_third_turn_the_blocker_pays_a_pawn(void **slot)
{
    Table *table = blocked_table(slot);
    table->state.blocked[0] = 2;
    table_do(table, "end");
    assert_int_equal(table->state.head.seat, 1);
    assert_int_equal(table->state.active, 0);
    table_only(table, "pawn ", "1.f3 1.g3");
    table_do(table, "pawn 1.g3");
    assert_int_equal(table_seated(table, 1), 1);
    assert_int_equal(table->state.head.seat, 0);
    assert_int_equal(table->state.phase, PHASE_TURN);
}

static void test_c15_blocker_without_seated_pawns_pays_nothing(void **slot)
{
    Table *table = blocked_table(slot);
    table->state.seated[1] = (CellSet){{0, 0}};
    table->state.supply[1] = 11;
    table->state.blocked[0] = 5;
    table_do(table, "end");
    assert_int_equal(table->state.head.seat, 0);
    assert_int_equal(table->state.blocked[0], 6);
}

static void test_c15_a_way_out_ends_the_count(void **slot)
{
    Table *table = blocked_table(slot);
    table->state.blocked[0] = 2;
    table->state.aisle[1] = (uint8_t)(table_place(table, "1.g2") + 1);
    table_ready(table, 1);
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 0);
}

static void test_c15_numbers_that_fit_nowhere_are_no_blocking(void **slot)
{
    Table *table = blocked_table(slot);
    /* Also without the pawn in the door nothing can be reached. */
    table->state.numbers[0][3] = 0;
    table->state.numbers[0][9] = 0;
    table->state.number_deck[3]++;
    table->state.number_deck[9]++;
    table->state.blocked[0] = 2;
    table_ready(table, 1);
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 0);
}

/* ---- Questions with a single answer ------------------------------------------------------------
 */

static void test_single_answers_are_asked_only_on_request(void **slot)
{
    Table *table = attack_table(slot, "ask_forced=true", "blue_1 red_2 exit_1x");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_do(table, "play exit_1x");
    assert_int_equal(table->state.head.seat, 1);
    table_only(table, "", "rebel.no");
}

/* ---- Hidden information ------------------------------------------------------------------------
 */

static void test_row_shows_no_opposing_cards(void **slot)
{
    Table *table = waiting_table(slot, "");
    uint8_t row[2][TY_ROW_MAX];
    table_hand(table, 0, IDLE_HAND);
    table_hand(table, 1, "blue_3 red_3 rebel reverse u_pass");
    table_ready(table, 0);
    ty_observe(table->ruleset, &table->state, 0, row[0]);
    table->state.actions[1][CARD_REBEL]--;
    table->state.action_deck[CARD_REBEL]++;
    table->state.actions[1][CARD_EXIT_2X]++;
    table->state.action_deck[CARD_EXIT_2X]--;
    table_sound(table);
    ty_observe(table->ruleset, &table->state, 0, row[1]);
    assert_memory_equal(row[0], row[1], ty_shape(table->ruleset)->row_size);
    assert_true(ty_shape(table->ruleset)->row_size < 768);
}

static void test_row_counts_seats_from_the_observer(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    uint8_t row[TY_ROW_MAX];
    table_sit(table, 2, "1.a0");
    table_ready(table, 1);
    ty_observe(table->ruleset, &table->state, 1, row);
    assert_int_equal(row[table->tables->layout.sitting], 2);
    assert_int_equal(row[table->tables->layout.seated + 1], 1);
    assert_int_equal(row[table->tables->layout.turn], 0);
}

/* ---- Counts of lines of play on the tiny train -------------------------------------------------
 */

enum { DEPTH_MAX = 6 };

typedef struct Level {
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t next;
} Level;

/* The number of sequences of `depth` decisions from the position of `seed`. */
static uint64_t perft(const TyRuleset *ruleset, uint64_t seed, uint32_t lead, uint32_t depth)
{
    static Level levels[DEPTH_MAX + 1];
    const TyShape *shape = ty_shape(ruleset);
    uint64_t leaves = 0;
    uint32_t at = 0;
    ty_reset(ruleset, levels[0].state, seed, NULL);
    for (uint32_t i = 0; i < lead; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_legal(ruleset, levels[0].state, levels[0].mask);
        ty_step(ruleset, levels[0].state, ty_sample(levels[0].mask, shape->action_count, seed, i),
                reward, NULL);
    }
    ty_legal(ruleset, levels[0].state, levels[0].mask);
    levels[0].next = 0;
    for (;;) {
        Level *level = &levels[at];
        while (level->next < shape->action_count && !level->mask[level->next]) {
            level->next++;
        }
        if (level->next == shape->action_count) {
            if (at-- == 0) {
                return leaves;
            }
            continue;
        }
        int32_t reward[TY_SEATS_MAX] = {0};
        Level *child = &levels[at + 1];
        memcpy(child->state, level->state, shape->state_size);
        assert_true(ty_step(ruleset, child->state, level->next++, reward, NULL));
        if (at + 1 == depth) {
            leaves++;
        } else {
            ty_legal(ruleset, child->state, child->mask);
            child->next = 0;
            at++;
        }
    }
}

static void counts_are(const char *spec, uint64_t seed, uint32_t lead, const uint64_t *expected,
                       uint32_t depth)
{
    TyRuleset *ruleset = table_ruleset(spec);
    for (uint32_t i = 1; i <= depth; i++) {
        uint64_t count = perft(ruleset, seed, lead, i);
        if (count != expected[i - 1]) {
            fail_msg("%s seed %llu after %u: depth %u has %llu lines, not %llu", spec,
                     (unsigned long long)seed, lead, i, (unsigned long long)count,
                     (unsigned long long)expected[i - 1]);
        }
    }
    ty_ruleset_close(ruleset);
}

static void test_perft_tiny_from_the_start(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {2, 16, 46, 156, 1034};
    counts_are("chicago:train=tiny", 1, 0, expected, 5);
}

static void test_perft_tiny_in_mid_game(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {5, 20, 102, 480};
    counts_are("chicago:train=tiny,players=3", 2, 12, expected, 4);
}

static void test_perft_tiny_with_every_outcome_of_chance(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {2, 20, 180, 2160};
    counts_are("chicago:train=tiny,chance=seat", 0, 0, expected, 4);
}

/* ---- Train files -------------------------------------------------------------------------------
 */

/* The tiny train with `from` replaced by `to` is refused with a message that has `words`. */
static void file_refused(const char *from, const char *to, const char *words)
{
    static char text[TABLE_FILE_MAX];
    static char changed[TABLE_FILE_MAX];
    const char *bytes = NULL;
    const char *kind = NULL;
    size_t size = 0;
    char name[TY_NAME_MAX];
    assert_int_equal(table_file_open(NULL, "tiny", &bytes, &size, name).code, TY_OK);
    memcpy(text, bytes, size);
    text[size] = '\0';
    const char *at = strstr(text, from);
    assert_non_null(at);
    int length = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
                          at + strlen(from));
    TyStatus status = ty_file_check(changed, (size_t)length, &kind, name);
    assert_int_equal(status.code, TY_BAD_FILE);
    if (strstr(status.message, words) == NULL) {
        fail_msg("'%s' does not say '%s'", status.message, words);
    }
}

static void test_file_errors_name_their_field(void **unused)
{
    (void)unused;
    file_refused("\"tokens\": 1", "\"tokens\": -1", "tokens: ");
    file_refused("\"pawns\": [2, 2, 2]", "\"pawns\": [2, 2]", "pawns: ");
    file_refused("\"pawns\": [2, 2, 2]", "\"pawns\": [2, 0, 2]", "pawns[1]: ");
    file_refused("\"number_copies\": 1", "\"number_copies\": 0", "number_copies: ");
    file_refused("\"open\": 1", "\"open\": 0", "spinner.open: ");
    file_refused("\"card\": \"exit_1x\"", "\"card\": \"exit_9x\"", "actions[0].card: ");
    file_refused("\"card\": \"exit_2x\"", "\"card\": \"exit_1x\"", "actions[1]: ");
    file_refused("\"copies\": 2, \"star\": \"green\"", "\"copies\": 2, \"star\": \"red\"",
                 "actions[9].star: ");
    file_refused("\"copies\": 1, \"star\": \"red\"", "\"copies\": 1, \"star\": \"blue\"",
                 "actions[0].star: ");
    file_refused("\"AAA\"", "\"AAS\"", "tiles[0].rows: ");
    file_refused("\"SSS\"", "\"SSX\"", "tiles[0].rows[0]: ");
    file_refused("\"SPS\"", "\"SP\"", "tiles[0].rows[2]: ");
    file_refused("a0|b0", "a0|c0", "tiles[0].bars[0]: ");
    file_refused("a0|b0", "a0|z9", "tiles[0].bars[0]: ");
    file_refused("\"door\": \"a1\"", "\"door\": \"a0\"", "tiles[0].starts[0].door: ");
    file_refused("\"fixed\": [\"one\", \"two\"]", "\"fixed\": [\"one\", \"one\"]", "fixed[1]: ");
    file_refused("\"fixed\": [\"one\", \"two\"]", "\"fixed\": [\"one\", \"six\"]", "fixed[1]: ");
    file_refused("\"id\": \"two\"", "\"id\": \"one\"", "tiles[1]: ");
    file_refused("\"aisle\": 1", "\"aisle\": 3", "aisle: ");
    file_refused("\"aisle\": 1", "\"aisle\": 1, \"extra\": 2", "extra");
    file_refused("\"pawns\": [2, 2, 2]", "\"pawns\": [2, 2, 3]", "tiles: ");
    file_refused("\"copies\": 2", "\"copies\": 1", "actions: ");
}

static void test_standard_file_has_the_counts_of_the_reconstruction(void **slot)
{
    Table *table = table_open(slot, "");
    assert_int_equal(cards_count(table->tables->copies, CARD_COUNT), 60);
    assert_int_equal(table->tables->number_copies * CHICAGO_NUMBERS, 50);
    assert_int_equal(table->tables->tile_count, 4);
    assert_non_null(strstr(ty_shape(table->ruleset)->note, "reconstruction"));
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
        TABLE_TEST(test_c6_second_own_pawn_costs_both),
        TABLE_TEST(test_c6_open_doors_for_a_frozen_pawn_cost_both),
        TABLE_TEST(test_c6_u_pass_boards_also_into_the_penalty),
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
        TABLE_TEST(test_c2_tables_and_search_find_the_same_ends),
        TABLE_TEST(test_roomy_train_is_searched),
        TABLE_TEST(test_c14_excuse_me_passes_one_blocked_space_uncounted),
        TABLE_TEST(test_c14_excuse_me_passes_an_aisle_pawn),
        TABLE_TEST(test_c14_own_seated_pawns_block_too),
        TABLE_TEST(test_c14_passes_are_chained),
        TABLE_TEST(test_c14_opposing_pawn_slides_to_a_free_seat_beside_it),
        TABLE_TEST(test_c14_no_slide_without_a_pass),
        TABLE_TEST(test_c14_no_slide_beside_a_passenger),
        TABLE_TEST(test_c14_own_pawn_does_not_slide),
        TABLE_TEST(test_rebel_as_a_pass_leaves_only_the_move),
        TABLE_TEST(test_c16_advanced_movement_alone),
        TABLE_TEST(test_c16_advanced_movement_with_one_number),
        TABLE_TEST(test_c16_advanced_movement_with_two_colours),
        TABLE_TEST(test_c3_move_ends_the_turn),
        TABLE_TEST(test_c3_keepers_keep_the_turn),
        TABLE_TEST(test_c3_red_star_ends_the_turn),
        TABLE_TEST(test_plus_1_gives_a_token),
        TABLE_TEST(test_all_pawns_seated_wins_at_once),
        TABLE_TEST(test_score_reward_is_the_margin),
        TABLE_TEST(test_c18_cap_truncates_without_a_winner),
        TABLE_TEST(test_reverse_turns_the_order_of_play),
        TABLE_TEST(test_express_skips_the_next_player),
        TABLE_TEST(test_c11_express_is_a_bonus_turn_for_two_players),
        TABLE_TEST(test_c11_express_on_every_opponent_is_a_bonus_turn),
        TABLE_TEST(test_entrance_seats_a_pawn_from_the_supply_anywhere),
        TABLE_TEST(test_c10_entrance_2x_seats_two_pawns),
        TABLE_TEST(test_c9_exit_meets_the_next_player_in_the_direction_of_play),
        TABLE_TEST(test_c9_exit_counts_behind_skipped_players),
        TABLE_TEST(test_c9_exit_is_illegal_against_nobody_seated),
        TABLE_TEST(test_c9_exit_2x_takes_two_pawns_of_the_attackers_choice),
        TABLE_TEST(test_c8_displaced_pawn_stands_in_the_aisle_of_its_column),
        TABLE_TEST(test_c8_waiting_pawn_of_the_displaced_player_stays),
        TABLE_TEST(test_take_a_seat_puts_an_own_pawn_in_its_place),
        TABLE_TEST(test_c7_second_aisle_pawn_of_an_opponent_is_forbidden),
        TABLE_TEST(test_c7_variant_costs_this_turns_seats_and_seats_both_pawns),
        TABLE_TEST(test_c7_variant_takes_back_the_seat_just_taken),
        TABLE_TEST(test_c12_panhandler_takes_a_random_card_and_the_victim_redraws),
        TABLE_TEST(test_c12_victim_remembers_the_card_until_it_is_played),
        TABLE_TEST(test_c12_resampling_keeps_the_card_that_the_victim_knows),
        TABLE_TEST(test_c13_rebel_is_asked_before_the_effect_and_cancels_the_card),
        TABLE_TEST(test_c13_rebel_may_be_kept),
        TABLE_TEST(test_c13_cancelled_keeper_keeps_the_turn),
        TABLE_TEST(test_c13_panhandler_can_be_cancelled),
        TABLE_TEST(test_c13_express_and_reverse_cannot_be_cancelled),
        TABLE_TEST(test_c13_nobody_is_asked_without_a_rebel_or_tokens),
        TABLE_TEST(test_c13_resampling_leaves_the_asked_seat_its_rebel),
        TABLE_TEST(test_c17_token_changes_a_card_for_one_of_the_same_pile),
        TABLE_TEST(test_c17_tokens_run_out),
        TABLE_TEST(test_c17_attacked_player_may_look_for_a_rebel_with_tokens),
        TABLE_TEST(test_c17_empty_pile_is_made_of_the_discards),
        TABLE_TEST(test_c15_blocked_turns_are_counted),
        TABLE_TEST(test_c15_from_the_third_turn_the_blocker_pays_a_pawn),
        TABLE_TEST(test_c15_blocker_without_seated_pawns_pays_nothing),
        TABLE_TEST(test_c15_a_way_out_ends_the_count),
        TABLE_TEST(test_c15_numbers_that_fit_nowhere_are_no_blocking),
        TABLE_TEST(test_single_answers_are_asked_only_on_request),
        TABLE_TEST(test_row_shows_no_opposing_cards),
        TABLE_TEST(test_row_counts_seats_from_the_observer),
        cmocka_unit_test(test_perft_tiny_from_the_start),
        cmocka_unit_test(test_perft_tiny_in_mid_game),
        cmocka_unit_test(test_perft_tiny_with_every_outcome_of_chance),
        cmocka_unit_test(test_file_errors_name_their_field),
        TABLE_TEST(test_standard_file_has_the_counts_of_the_reconstruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
