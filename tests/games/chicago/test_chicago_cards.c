/* Ligne de train, Chicago: action cards and tokens; a test per rule and ruling. */
#include "tests/games/chicago/chicago_table.h"

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
    assert_true(table_may(table, "to 1.d4"));
    assert_false(table_may(table, "to 1.d3"));
}

static void test_c14_passes_are_chained(void **slot)
{
    Table *table = walking_table(slot, "", "1.b2", "blue_1 red_5 excuse_me excuse_me");
    table_sit(table, 1, "1.b3");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_1");
    /* Both lie behind the pawn of b3. */
    assert_true(table_may(table, "to 1.b4"));
    assert_true(table_may(table, "to 1.c3"));
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
    assert_true(table_told(table, EVENT_SLIDE) > 0);
}

static void test_c14_no_slide_without_a_pass(void **slot)
{
    Table *table = walking_table(slot, "", "1.e2", "blue_2 red_5 excuse_me");
    table_sit(table, 1, "1.f3");
    table_ready(table, 0);
    table_do(table, "lay blue_2");
    assert_false(table_may(table, "to 1.f3"));
}

static void test_c14_no_slide_beside_a_passenger(void **slot)
{
    /* f1 is beside the passenger of g1, d4 beside that of c4. */
    Table *table = walking_table(slot, "", "1.f2", "blue_1 red_5 excuse_me");
    table_sit(table, 1, "1.f1");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_1");
    assert_false(table_may(table, "to 1.f1"));
}

static void test_c14_own_pawn_does_not_slide(void **slot)
{
    Table *table = walking_table(slot, "", "1.e2", "blue_2 red_5 excuse_me");
    table_sit(table, 0, "1.f3");
    table_ready(table, 0);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_2");
    assert_false(table_may(table, "to 1.f3"));
}

static void test_rebel_as_a_pass_leaves_only_the_move(void **slot)
{
    Table *table = walking_table(slot, "", "1.b2", "blue_1 red_5 rebel plus_1 excuse_me");
    table_ready(table, 0);
    assert_true(table_may(table, "play plus_1"));
    table_do(table, "play rebel");
    assert_int_equal(table->state.passes, 1);
    assert_false(table_may(table, "play plus_1"));
    assert_true(table_may(table, "play excuse_me"));
    table_do(table, "lay blue_1");
    assert_true(table_may(table, "to 1.b0"));
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

/* ---- Entrance, Exit ----------------------------------------------------------------------------
 */

static void test_entrance_seats_a_pawn_from_the_supply_anywhere(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 enter_1x");
    table_ready(table, 0);
    table_do(table, "play enter_1x");
    table_do(table, "from supply");
    assert_true(table_may(table, "to 1.b0"));
    assert_false(table_may(table, "to 1.b1"));
    assert_false(table_may(table, "to 1.b2"));
    table_do(table, "to 1.b0");
    assert_true(table_sits(table, 0, "1.b0"));
    assert_int_equal(table->state.supply[0], 10);
    assert_int_equal(table->state.head.phase, PHASE_TURN);
    assert_true(table_may(table, "spin"));
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
    assert_int_equal(table->state.head.phase, PHASE_PLACE);
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
    assert_true(table_may(table, "to 2.d2"));
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
    assert_int_equal(table->state.head.phase, PHASE_TURN);
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
    assert_int_equal(table->state.head.phase, PHASE_TURN);
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
    assert_int_equal(table->state.head.phase, PHASE_RESEAT);
}

/* ---- Panhandler and Rebel Passenger ------------------------------------------------------------
 */

static void test_c12_panhandler_takes_a_random_card_and_the_victim_redraws(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 panhandler");
    table_hand(table, 1, "blue_3 red_3 plus_1 reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play panhandler");
    assert_true(table_may(table, "beg +1 number"));
    table_chance(table, "stolen_action", "reverse");
    table_chance(table, "actions", "rebel");
    table_do(table, "beg +1 action");
    assert_int_equal(table->state.actions[0][CARD_REVERSE], 1);
    assert_int_equal(table->state.actions[1][CARD_REBEL], 1);
    assert_int_equal(table->state.head.phase, PHASE_TURN);
}

static void test_c12_only_the_two_players_see_the_card(void **slot)
{
    Table *table = attack_table(slot, "players=3", "blue_1 red_2 panhandler");
    char text[TY_NAME_MAX];
    table_hand(table, 1, "blue_3 red_3 plus_1 reverse u_pass");
    table_ready(table, 0);
    table_do(table, "play panhandler");
    table_chance(table, "stolen_action", "reverse");
    table_do(table, "beg +1 action");
    const TyEvent *event = table_telling(table, EVENT_STEAL, 0);
    for (uint32_t seat = 0; seat < 3; seat++) {
        ty_event_text(table->ruleset, event, seat, text, sizeof text);
        assert_string_equal(text, seat < 2 ? "seat 0 takes Reverse from seat 1"
                                           : "seat 0 takes a card of the action pile from seat 1");
    }
}

static void test_c12_victim_remembers_the_card_until_it_is_played(void **slot)
{
    Table *table = attack_table(slot, "", "blue_1 red_2 panhandler plus_1 plus_1");
    uint8_t row[TY_ROW_MAX];
    uint16_t at = table->ruleset->block_at[BLOCK_STOLEN];
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
    assert_int_equal(table->state.head.phase, PHASE_TURN);
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
    assert_int_equal(table->state.head.phase, PHASE_PAWN);
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

static bool has_tokens(const ChicagoState *state, uint32_t unused)
{
    (void)unused;
    return state->tokens[state->head.seat] > 0;
}

static void test_c17_tokens_may_be_spent_at_every_question(void **slot)
{
    Table *table = table_open(slot, "players=3,crowding=penalty");
    for (uint8_t phase = 0; phase < PHASE_OVER; phase++) {
        table_seek(table, phase, 0, has_tokens);
        uint8_t seat = (uint8_t)table->state.head.seat;
        char swap[TY_NAME_MAX] = "";
        for (uint32_t card = 0; card < CARD_COUNT; card++) {
            char name[TY_NAME_MAX];
            snprintf(name, sizeof name, "swap %s", chicago_actions.words[card]);
            assert_int_equal(table_may(table, name), table->state.actions[seat][card] > 0);
            if (table->state.actions[seat][card] > 0) {
                memcpy(swap, name, sizeof swap);
            }
        }
        uint8_t tokens = table->state.tokens[seat];
        table_do(table, swap);
        assert_int_equal(table->state.tokens[seat], tokens - 1);
    }
}

static void test_c17_question_stands_again_behind_a_token(void **slot)
{
    Table *table = waiting_table(slot, "");
    table->state.wait[0] = WAIT_OPEN;
    table_hand(table, 0, "blue_4 red_5 plus_1 reverse u_pass");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_do(table, "lay blue_4");
    table_do(table, "to 1.c3");
    table_do(table, "swap reverse");
    assert_int_equal(table->state.head.phase, PHASE_PLACE);
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
    assert_true(table_told(table, EVENT_RESHUFFLE) > 0);
    assert_int_equal(cards_count(table->state.number_discard, CHICAGO_NUMBERS), 0);
    assert_int_equal(cards_count(table->state.number_deck, CHICAGO_NUMBERS), 48);
}

static void test_c17_hand_stays_short_when_pile_and_discards_are_empty(void **slot)
{
    Table *table = waiting_table(slot, "");
    ChicagoState *state = &table->state;
    table_hand(table, 0, "blue_1 plus_1");
    memcpy(state->numbers[1], state->number_deck, CHICAGO_NUMBERS);
    memset(state->number_deck, 0, CHICAGO_NUMBERS);
    memcpy(state->actions[1], state->action_deck, CARD_COUNT);
    memset(state->action_deck, 0, CARD_COUNT);
    table_ready(table, 0);
    table_do(table, "end");
    assert_int_equal(cards_count(state->numbers[0], CHICAGO_NUMBERS), 1);
    assert_int_equal(cards_count(state->actions[0], CARD_COUNT), 1);
    assert_int_equal(table_told(table, EVENT_DRAW), 0);
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 0);
    assert_int_equal(state->active, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        TABLE_TEST(test_c12_only_the_two_players_see_the_card),
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
        TABLE_TEST(test_c17_tokens_may_be_spent_at_every_question),
        TABLE_TEST(test_c17_question_stands_again_behind_a_token),
        TABLE_TEST(test_c17_tokens_run_out),
        TABLE_TEST(test_c17_attacked_player_may_look_for_a_rebel_with_tokens),
        TABLE_TEST(test_c17_empty_pile_is_made_of_the_discards),
        TABLE_TEST(test_c17_hand_stays_short_when_pile_and_discards_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
