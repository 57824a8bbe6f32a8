/* Convoi Express, Les jetons Temps, Fin de la partie, Les Agents ferroviaires: one test per rule.
 */
#include "tests/games/convoi/convoi_table.h"

/* ---- Time tokens ----------------------------------------------------------------------------- */

/* A train of the yard that loses all its points before the red light cross~harbour. */
static Table *table_before_red(void **slot, const char *options, uint8_t clock)
{
    Table *table = table_quiet(slot, options);
    table_put(table, "black.1", "cross-harbour.1", "harbour");
    table_put(table, "gray.1", "cross-mine.1", "cross");
    table->state.clock = clock;
    table_ready(table);
    return table;
}

static void test_tokens_leave_the_clock_one_by_one(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 7);
    table_move(table, "black.1", 3);
    assert_int_equal(table->state.clock, 4);
    table_move(table, "black.1", 3);
    assert_int_equal(table->state.clock, 1);
    assert_int_equal(table->state.pile, 16);
    assert_int_equal(table->state.set_aside, 0);
    assert_int_equal(table_told(table, EVENT_SET_ASIDE), 0);
}

static void test_last_token_sets_a_card_aside(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 3);
    table_move(table, "black.1", 3);
    assert_int_equal(table->state.clock, 7);
    assert_int_equal(table->state.pile, 15);
    assert_int_equal(table->state.set_aside, 1);
    assert_int_equal(table_told(table, EVENT_SET_ASIDE), 1);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_card_set_aside_is_not_seen(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 3);
    table_move(table, "black.1", 3);
    for (uint32_t card = 0; card < table->tables->card_count; card++) {
        assert_int_equal(table->state.seen[card], 0);
    }
    assert_int_equal(table_telling(table, EVENT_SET_ASIDE, 0)->stream, -1);
    table_turn(table, "I14");
}

static void test_clock_is_refilled_less_what_is_owed(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 2);
    table_move(table, "black.1", 3);
    assert_int_equal(table->state.clock, 6);
    assert_int_equal(table->state.pile, 15);
    assert_int_equal(table->state.tokens_lost, 3);
}

static void test_set_up_number_of_tokens_is_put_back(void **slot)
{
    Table *table = table_before_red(slot, "board=yard,clock=10", 2);
    table_move(table, "black.1", 4);
    assert_int_equal(table->state.clock, 8);
}

static void test_game_goes_on_after_a_card_is_set_aside(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 2);
    table_roll(table, "gray", 1);
    table_roll(table, "black", 4);
    table_turn(table, "I16");
    assert_int_equal(table->state.set_aside, 1);
    assert_int_equal(table->state.pile, 14);
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_int_equal(table->state.active, 1);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void test_last_delivery_wins_at_once(void **slot)
{
    Table *table = table_quiet(slot, "board=europe");
    static const char *const colours[] = {"blue", "yellow", "red"};
    for (uint32_t i = 0; i < 3; i++) {
        table_deliver(table, "marseille", colours[i], 2);
    }
    table_deliver(table, "marseille", "white", 1);
    table_put(table, "black.1", "plaisance-marseille.1", "marseille");
    table_carry(table, "black.1", "white");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_true(table->state.head.over);
    assert_true(table->state.won);
    assert_int_equal(table->state.goods_delivered, 8);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[0], 1);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[1], END_ALL_DELIVERED);
    assert_int_equal(table_choices(table), 0);
}

/* One red good is missing, and its train stands before the port. */
static Table *table_nearly_won(void **slot, const char *options)
{
    Table *table = table_quiet(slot, options);
    table_deliver(table, "harbour", "blue", 2);
    table_deliver(table, "harbour", "red", 1);
    table_put(table, "black.1", "cross-harbour.3", "harbour");
    table_carry(table, "black.1", "red");
    table_ready(table);
    return table;
}

static void test_victory_may_come_by_an_instruction_card(void **slot)
{
    Table *table = table_nearly_won(slot, "board=yard");
    table_put(table, "brown.1", "mill-mine.1", "mine");
    table_ready(table);
    table_roll(table, "black", 2);
    table_turn(table, "I14");
    assert_true(table->state.won);
    assert_place(table, "brown.1", "mill-mine.1");
    assert_int_equal(table_told(table, EVENT_ROLL), 1);
}

static void test_victory_may_come_in_the_last_turn(void **slot)
{
    Table *table = table_nearly_won(slot, "board=yard");
    table->state.pile = 0;
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_true(table->state.won);
}

static void test_game_is_lost_after_the_last_turn(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table->state.pile = 1;
    table_ready(table);
    table_turn(table, "I14");
    assert_int_equal(table->state.pile, 0);
    assert_false(table->state.head.over);
    table_do(table, "turn.end");
    assert_true(table->state.head.over);
    assert_false(table->state.won);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[1], END_LAST_TURN);
}

static void test_last_turn_is_played_out(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 7);
    table->state.pile = 0;
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_false(table->state.head.over);
    table_move(table, "gray.1", 1);
    assert_false(table->state.head.over);
}

static void test_losing_a_card_in_the_last_turn_loses_at_once(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 3);
    table->state.pile = 0;
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_true(table->state.head.over);
    assert_false(table->state.won);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[1], END_CLOCK);
    assert_int_equal(table_choices(table), 0);
}

static void test_loss_by_the_clock_may_come_by_an_instruction_card(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 2);
    table->state.pile = 1;
    table_ready(table);
    table_roll(table, "gray", 1);
    table_roll(table, "black", 2);
    table_turn(table, "I16");
    assert_true(table->state.head.over);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[1], END_CLOCK);
}

static void test_loss_by_the_clock_may_come_by_a_new_train(void **slot)
{
    Table *table = table_before_red(slot, "board=yard", 2);
    table_stand(table, "brown.1", "south");
    table->state.pile = 1;
    table_ready(table);
    table_turn(table, "I05");
    table_script(table, STREAM_START_DICE, "6");
    table_do(table, "colour black");
    assert_true(table->state.head.over);
    assert_int_equal(table_told(table, EVENT_ROLL), 0);
    assert_int_equal(table_telling(table, EVENT_END, 0)->args[1], END_CLOCK);
}

/* ---- Staff of Europe ------------------------------------------------------------------------- */

static void staff_wake(Table *table, uint32_t staff)
{
    table->state.staff_used[staff] = 0;
    table_ready(table);
}

static void test_logisticien_rolls_again_and_the_second_roll_counts(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    staff_wake(table, STAFF_LOGISTICIEN);
    table_hand(table, 0, 0, 0, 2);
    table_ready(table);
    table_roll(table, "black", 2);
    table_step(table, "move black.1");
    table_do(table, "pay move");
    assert_true(table_asks(table, PHASE_DIE));
    assert_place(table, "black.1", "ford-mill.1");
    table_roll(table, "black", 3);
    table_do(table, "staff.logisticien");
    assert_place(table, "black.1", "ford-mill.4");
    assert_int_equal(table->state.staff_used[STAFF_LOGISTICIEN], 1);
}

static void test_logisticien_may_be_kept(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    staff_wake(table, STAFF_LOGISTICIEN);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "ford-mill.3");
    assert_int_equal(table->state.staff_used[STAFF_LOGISTICIEN], 0);
}

static void test_logisticien_helps_once(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    staff_wake(table, STAFF_LOGISTICIEN);
    table_roll(table, "black", 3);
    table_step(table, "move black.1");
    table_do(table, "pay move");
    table_roll(table, "black", 2);
    table_do(table, "staff.logisticien");
    assert_place(table, "black.1", "ford-mill.3");
    assert_true(table_asks(table, PHASE_ACTIONS));
    table_roll(table, "black", 2);
    table_step(table, "move black.1");
    table_do(table, "pay move");
    assert_place(table, "black.1", "mill");
}

/* A train before mill, whose exits to ford and cross are green. */
static Table *table_of_crossing(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_light(table, "ford~mill", "mill/cross");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table_put(table, "brown.1", "mill-mine.2", "mine");
    staff_wake(table, STAFF_GESTIONNAIRE);
    return table;
}

static void test_gestionnaire_lets_trains_cross_cities(void **slot)
{
    Table *table = table_of_crossing(slot);
    table_move(table, "black.1", 3);
    assert_true(table_asks(table, PHASE_CITY));
    assert_int_equal(table_choices(table), 2);
    table_do(table, "staff.gestionnaire");
    assert_true(table_may(table, "city.stop"));
    table_do(table, "exit mill/cross");
    assert_place(table, "black.1", "mill-cross.2");
    assert_nothing_lost(table);
    assert_int_equal(table->state.staff_used[STAFF_GESTIONNAIRE], 1);
}

static void test_gestionnaire_works_for_the_whole_turn_and_no_longer(void **slot)
{
    Table *table = table_of_crossing(slot);
    table_move(table, "black.1", 3);
    table_do(table, "staff.gestionnaire");
    table_do(table, "exit mill/cross");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table_ready(table);
    table_move(table, "black.1", 3);
    assert_true(table_asks(table, PHASE_EXIT));
    table_do(table, "exit mill/cross");
    assert_place(table, "black.1", "mill-cross.2");
    table_put(table, "black.1", "ford-mill.4", "mill");
    table_ready(table);
    table_roll(table, "black", 3);
    table_roll(table, "brown", 1);
    table_turn(table, "I14");
    assert_place(table, "black.1", "mill");
    assert_int_equal(table->state.crossing_on, 0);
}

static void test_gestionnaire_leaves_the_choice_to_stop(void **slot)
{
    Table *table = table_of_crossing(slot);
    table_move(table, "black.1", 5);
    table_do(table, "city.stop");
    assert_place(table, "black.1", "mill");
    assert_nothing_lost(table);
    assert_int_equal(table->state.staff_used[STAFF_GESTIONNAIRE], 0);
}

static void test_gestionnaire_opens_no_red_light(void **slot)
{
    Table *table = table_of_crossing(slot);
    table_light(table, "mill/cross", "ford~mill");
    table_ready(table);
    table_move(table, "black.1", 5);
    assert_place(table, "black.1", "mill");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_crossing_train_is_not_loaded_on_the_way(void **slot)
{
    Table *table = table_of_crossing(slot);
    table_move(table, "black.1", 3);
    assert_false(table_may(table, "load black.1"));
    table_do(table, "staff.gestionnaire");
    assert_false(table_may(table, "load black.1"));
    table_do(table, "exit mill/cross");
    assert_false(table_may(table, "load black.1"));
    assert_int_equal(table_goods_left(table, "mill"), 2);
}

static void test_chef_de_train_holds_a_whole_colour(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "black.2", "mill-mine.1", "mine");
    table_stand(table, "black.3", "north");
    table_put(table, "brown.1", "cross-mine.1", "mine");
    staff_wake(table, STAFF_CHEF_DE_TRAIN);
    table_turn(table, "I14");
    assert_true(table_asks(table, PHASE_TRAIN));
    assert_int_equal(table_choices(table), 4);
    table_roll(table, "brown", 1);
    table_do(table, "staff.chef_de_train");
    assert_int_equal(table_told(table, EVENT_SKIP), 1);
    assert_place(table, "black.1", "ford-mill.1");
    assert_place(table, "black.2", "mill-mine.1");
    assert_place(table, "black.3", "north");
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_place(table, "brown.1", "cross-mine.2");
}

/* ---- Staff of North America ------------------------------------------------------------------ */

static void test_garde_voie_puts_the_card_under_the_pile(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_stand(table, "brown.1", "mill");
    staff_wake(table, STAFF_GARDE_VOIE);
    table_turn(table, "I10");
    assert_true(table_asks(table, PHASE_CARD));
    table_script(table, STREAM_INSTRUCTIONS, "I13");
    table_do(table, "staff.garde_voie");
    assert_string_equal(table_card(table), "I13");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_int_equal(table->state.pile, 15);
    assert_string_equal(table_name(table, &convoi_cards, table->state.bottom), "I10");
    assert_int_equal(table->state.staff_used[STAFF_GARDE_VOIE], 1);
}

static void test_card_under_the_pile_comes_last(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table->state.pile = 3;
    staff_wake(table, STAFF_GARDE_VOIE);
    table_turn(table, "I10");
    table_script(table, STREAM_INSTRUCTIONS, "I14");
    table_do(table, "staff.garde_voie");
    assert_int_equal(table->state.pile, 2);
    table_turn(table, "I15");
    assert_int_equal(table->state.pile, 1);
    table_do(table, "turn.end");
    assert_string_equal(table_card(table), "I10");
    assert_int_equal(table->state.pile, 0);
    assert_int_equal(table_telling(table, EVENT_CARD, 0)->stream, -1);
}

static void test_card_under_the_pile_can_be_set_aside(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_put(table, "gray.1", "mill-mine.2", "mine");
    table_put(table, "gray.2", "mine-bay.1", "mine");
    table_stand(table, "gray.3", "mine");
    table->state.pile = 2;
    staff_wake(table, STAFF_GARDE_VOIE);
    table_turn(table, "I10");
    table_script(table, STREAM_INSTRUCTIONS, "I14");
    table_do(table, "staff.garde_voie");
    assert_int_equal(table->state.pile, 1);
    assert_string_equal(table_name(table, &convoi_cards, table->state.bottom), "I10");
    table->state.clock = 3;
    table_ready(table);
    table_move(table, "gray.1", 3);
    assert_int_equal(table->state.set_aside, 1);
    assert_int_equal(table->state.pile, 0);
    assert_int_equal(table->state.bottom, 0);
    table_do(table, "turn.end");
    assert_true(table->state.head.over);
}

static void test_card_may_be_followed_without_the_garde_voie(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    staff_wake(table, STAFF_GARDE_VOIE);
    table_turn(table, "I13");
    table_do(table, "card.play");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_string_equal(table_card(table), "I13");
    assert_int_equal(table->state.staff_used[STAFF_GARDE_VOIE], 0);
}

static void test_agent_de_manoeuvre_places_a_train_without_dice(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    staff_wake(table, STAFF_AGENT_DE_MANOEUVRE);
    table_turn(table, "I05");
    table_do(table, "colour brown");
    assert_true(table_asks(table, PHASE_START));
    assert_int_equal(table_choices(table), 4);
    table_do(table, "staff.agent_de_manoeuvre east");
    assert_place(table, "brown.1", "east");
    assert_int_equal(table_told(table, EVENT_ROLL_START), 0);
    assert_int_equal(table->state.staff_used[STAFF_AGENT_DE_MANOEUVRE], 1);
}

static void test_cheffe_de_section_holds_one_train(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_put(table, "black.1", "mill-mine.1", "mine");
    table_stand(table, "black.2", "north");
    staff_wake(table, STAFF_CHEFFE_DE_SECTION);
    table_turn(table, "I14");
    assert_true(table_asks(table, PHASE_TRAIN));
    assert_int_equal(table_choices(table), 4);
    table_roll(table, "black", 2);
    table_do(table, "staff.cheffe_de_section black.1");
    assert_int_equal(table_told(table, EVENT_HOLD), 1);
    assert_place(table, "black.1", "mill-mine.1");
    assert_place(table, "black.2", "fork-mill.1");
    assert_int_equal(table->state.staff_used[STAFF_CHEFFE_DE_SECTION], 1);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_staff_belong_to_their_side_of_the_board(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports,ask_forced=true");
    memset(table->state.staff_used, 0, sizeof table->state.staff_used);
    table_put(table, "black.1", "mill-mine.1", "mine");
    table_ready(table);
    table_turn(table, "I14");
    table_do(table, "card.play");
    assert_false(table_may(table, "staff.chef_de_train"));
    assert_true(table_may(table, "staff.cheffe_de_section black.1"));
    table_roll(table, "black", 2);
    table_do(table, "move black.1");
    assert_place(table, "black.1", "mine");
    table = table_quiet(slot, "board=yard,ask_forced=true");
    memset(table->state.staff_used, 0, sizeof table->state.staff_used);
    table_put(table, "black.1", "mill-mine.1", "mine");
    table_ready(table);
    table_turn(table, "I05");
    assert_true(table_asks(table, PHASE_COLOUR));
    table_do(table, "colour gray");
    assert_int_equal(table_choices(table), 1);
    table_script(table, STREAM_START_DICE, "2");
    table_do(table, "start.roll");
    assert_true(table_may(table, "staff.chef_de_train"));
    assert_false(table_may(table, "staff.cheffe_de_section black.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_tokens_leave_the_clock_one_by_one),
        TABLE_TEST(test_last_token_sets_a_card_aside),
        TABLE_TEST(test_card_set_aside_is_not_seen),
        TABLE_TEST(test_clock_is_refilled_less_what_is_owed),
        TABLE_TEST(test_set_up_number_of_tokens_is_put_back),
        TABLE_TEST(test_game_goes_on_after_a_card_is_set_aside),
        TABLE_TEST(test_last_delivery_wins_at_once),
        TABLE_TEST(test_victory_may_come_by_an_instruction_card),
        TABLE_TEST(test_victory_may_come_in_the_last_turn),
        TABLE_TEST(test_game_is_lost_after_the_last_turn),
        TABLE_TEST(test_last_turn_is_played_out),
        TABLE_TEST(test_losing_a_card_in_the_last_turn_loses_at_once),
        TABLE_TEST(test_loss_by_the_clock_may_come_by_an_instruction_card),
        TABLE_TEST(test_loss_by_the_clock_may_come_by_a_new_train),
        TABLE_TEST(test_logisticien_rolls_again_and_the_second_roll_counts),
        TABLE_TEST(test_logisticien_may_be_kept),
        TABLE_TEST(test_logisticien_helps_once),
        TABLE_TEST(test_gestionnaire_lets_trains_cross_cities),
        TABLE_TEST(test_gestionnaire_works_for_the_whole_turn_and_no_longer),
        TABLE_TEST(test_gestionnaire_leaves_the_choice_to_stop),
        TABLE_TEST(test_gestionnaire_opens_no_red_light),
        TABLE_TEST(test_crossing_train_is_not_loaded_on_the_way),
        TABLE_TEST(test_chef_de_train_holds_a_whole_colour),
        TABLE_TEST(test_garde_voie_puts_the_card_under_the_pile),
        TABLE_TEST(test_card_under_the_pile_comes_last),
        TABLE_TEST(test_card_under_the_pile_can_be_set_aside),
        TABLE_TEST(test_card_may_be_followed_without_the_garde_voie),
        TABLE_TEST(test_agent_de_manoeuvre_places_a_train_without_dice),
        TABLE_TEST(test_cheffe_de_section_holds_one_train),
        TABLE_TEST(test_staff_belong_to_their_side_of_the_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
