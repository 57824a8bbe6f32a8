/* Ligne de train, Chicago: the turn, the order of play and blocking; a test per rule and ruling. */
#include "tests/games/chicago/chicago_table.h"

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
    assert_true(table_may(table, "end"));
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
    assert_true(table_told(table, EVENT_SKIP) > 0);
}

static void test_c11_skipped_player_misses_its_turn_also_after_a_reverse(void **slot)
{
    Table *table = waiting_table(slot, "players=3");
    table_hand(table, 0, "blue_1 red_2 express reverse plus_1");
    table_ready(table, 0);
    table_do(table, "play express");
    table_do(table, "play reverse");
    table_do(table, "end");
    assert_int_equal(table->state.active, 2);
    table_do(table, "end");
    assert_int_equal(table->state.active, 0);
}

static void test_c11_express_is_a_bonus_turn_for_two_players(void **slot)
{
    Table *table = waiting_table(slot, "");
    table_hand(table, 0, "blue_1 red_2 express plus_1 plus_1");
    table_ready(table, 0);
    table_do(table, "play express");
    assert_false(table_may(table, "play express"));
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
    assert_true(table_told(table, EVENT_BLOCKED) > 0);
    table_do(table, "end");
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 2);
    assert_int_equal(table->state.head.phase, PHASE_TURN);
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
    assert_int_equal(table->state.head.phase, PHASE_TURN);
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

static void test_c15_without_numbers_nobody_is_blocking(void **slot)
{
    Table *table = blocked_table(slot);
    table->state.numbers[0][3] = 0;
    table->state.numbers[0][9] = 0;
    table->state.number_deck[3]++;
    table->state.number_deck[9]++;
    table->state.blocked[0] = 2;
    table_ready(table, 1);
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 0);
}

static void test_c15_turn_that_begins_by_placing_a_pawn_ends_the_count(void **slot)
{
    Table *table = blocked_table(slot);
    table->state.wait[0] = WAIT_NONE;
    table->state.start[0] = 0;
    table->state.supply[0]++;
    table->state.blocked[0] = 2;
    table_ready(table, 1);
    table_do(table, "end");
    assert_int_equal(table->state.head.phase, PHASE_PLACE);
    assert_int_equal(table->state.blocked[0], 0);
}

static void test_c15_move_past_the_blocker_ends_the_count(void **slot)
{
    Table *table = blocked_table(slot);
    table->state.blocked[0] = 1;
    table->state.actions[0][CARD_PLUS_1]--;
    table->state.action_deck[CARD_PLUS_1]++;
    table_hand(table, 0, "excuse_me");
    table_ready(table, 1);
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 2);
    table_do(table, "play excuse_me");
    table_do(table, "lay blue_4");
    assert_int_equal(table->state.blocked[0], 2);
    table_do(table, "to 1.e2");
    assert_int_equal(table->state.blocked[0], 0);
}

/* Two ways lead on, and an opponent stands in each: neither blocks alone. Another one stands where
 * no number of four leads past. */
static void test_c15_bystander_of_a_blocked_pawn_pays_nothing(void **slot)
{
    Table *table = table_open(slot, "players=4");
    static const char *const aisles[] = {"1.d2", "1.c2", "1.e2", "2.g2"};
    static const char *const seats[] = {"1.d1 1.d3", "1.f3 1.g3", "1.f4 1.g4", "1.f0 1.g0"};
    for (uint32_t seat = 0; seat < 4; seat++) {
        table_aisle(table, seat, aisles[seat]);
        table_sit(table, seat, seats[seat]);
        table_hand(table, seat, "blue_4 red_5 plus_1");
    }
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table->state.blocked[0] = 2;
    table_ready(table, 3);
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 3);
    assert_int_equal(table->state.owing, 1 << 1 | 1 << 2);
    table_do(table, "pawn 1.g3");
    table_do(table, "pawn 1.g4");
    assert_int_equal(table->state.head.seat, 0);
    assert_int_equal(table->state.head.phase, PHASE_TURN);
    assert_int_equal(table_seated(table, 3), 2);
}

/* Two ways lead on, and an opponent stands in each: neither blocks alone. */
static void test_c15_who_block_together_pay_together(void **slot)
{
    Table *table = table_open(slot, "players=3");
    table_aisle(table, 0, "1.d2");
    table_sit(table, 0, "1.d1 1.d3");
    table_aisle(table, 1, "1.c2");
    table_sit(table, 1, "1.f3 1.g3");
    table_aisle(table, 2, "1.e2");
    table_sit(table, 2, "1.f4 1.g4");
    for (uint32_t seat = 0; seat < 3; seat++) {
        table_hand(table, seat, "blue_4 red_5 plus_1");
    }
    memset(table->state.tokens, 0, sizeof table->state.tokens);
    table->state.blocked[0] = 2;
    table_hand(table, 2, "reverse u_pass");
    table_ready(table, 2);
    table_do(table, "end");
    assert_int_equal(table->state.blocked[0], 3);
    assert_int_equal(table->state.head.seat, 1);
    table_do(table, "pawn 1.g3");
    assert_int_equal(table->state.head.seat, 2);
    table_do(table, "pawn 1.g4");
    assert_int_equal(table->state.head.seat, 0);
    assert_int_equal(table_seated(table, 1), 1);
    assert_int_equal(table_seated(table, 2), 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_c3_move_ends_the_turn),
        TABLE_TEST(test_c3_keepers_keep_the_turn),
        TABLE_TEST(test_c3_red_star_ends_the_turn),
        TABLE_TEST(test_plus_1_gives_a_token),
        TABLE_TEST(test_all_pawns_seated_wins_at_once),
        TABLE_TEST(test_score_reward_is_the_margin),
        TABLE_TEST(test_c18_cap_truncates_without_a_winner),
        TABLE_TEST(test_reverse_turns_the_order_of_play),
        TABLE_TEST(test_express_skips_the_next_player),
        TABLE_TEST(test_c11_skipped_player_misses_its_turn_also_after_a_reverse),
        TABLE_TEST(test_c11_express_is_a_bonus_turn_for_two_players),
        TABLE_TEST(test_c11_express_on_every_opponent_is_a_bonus_turn),
        TABLE_TEST(test_c15_blocked_turns_are_counted),
        TABLE_TEST(test_c15_from_the_third_turn_the_blocker_pays_a_pawn),
        TABLE_TEST(test_c15_blocker_without_seated_pawns_pays_nothing),
        TABLE_TEST(test_c15_a_way_out_ends_the_count),
        TABLE_TEST(test_c15_without_numbers_nobody_is_blocking),
        TABLE_TEST(test_c15_turn_that_begins_by_placing_a_pawn_ends_the_count),
        TABLE_TEST(test_c15_move_past_the_blocker_ends_the_count),
        TABLE_TEST(test_c15_bystander_of_a_blocked_pawn_pays_nothing),
        TABLE_TEST(test_c15_who_block_together_pay_together),
        TABLE_TEST(test_single_answers_are_asked_only_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
