/* Convoi Express, Deroulement du jeu: instruction cards, new trains, moves by the card and dice;
 * one test per rule. */
#include "tests/games/convoi/convoi_table.h"

/* ---- The first card -------------------------------------------------------------------------- */

static void test_first_card_places_black_brown_gray(void **slot)
{
    Table *table = table_open(slot, "board=europe");
    table_script(table, STREAM_START_DICE, "6");
    table_script(table, STREAM_START_DICE, "7");
    table_script(table, STREAM_START_DICE, "12");
    table_reset(table, 1);
    assert_place(table, "black.1", "calais");
    assert_place(table, "brown.1", "rostock");
    assert_place(table, "gray.1", "le_havre");
    assert_int_equal(table_told(table, EVENT_PLACE), 3);
    assert_int_equal(table_telling(table, EVENT_PLACE, 0)->args[0], table_train("black.1"));
    assert_int_equal(table_telling(table, EVENT_PLACE, 1)->args[0], table_train("brown.1"));
    assert_int_equal(table_telling(table, EVENT_PLACE, 2)->args[0], table_train("gray.1"));
}

static void test_first_card_rolls_again_at_no_cost(void **slot)
{
    static const char *const sums[] = {"6", "6", "6", "7", "6", "7", "12"};
    Table *table = table_open(slot, "board=europe");
    for (uint32_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        table_script(table, STREAM_START_DICE, sums[i]);
    }
    table_reset(table, 1);
    assert_place(table, "black.1", "calais");
    assert_place(table, "brown.1", "rostock");
    assert_place(table, "gray.1", "le_havre");
    assert_int_equal(table_told(table, EVENT_ROLL_START), 7);
    assert_nothing_lost(table);
    assert_int_equal(table->state.clock, 7);
}

static void test_first_card_moves_no_train(void **slot)
{
    Table *table = table_open(slot, "board=europe");
    table_reset(table, 1);
    assert_int_equal(table_told(table, EVENT_ROLL), 0);
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_int_equal(table->state.turns, 1);
}

/* ---- A turn ---------------------------------------------------------------------------------- */

static void test_turn_is_card_then_actions_then_drawing(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_ready(table);
    table_turn(table, "I14");
    assert_true(table_asks(table, PHASE_TRAIN));
    assert_int_equal(hand_size(table->state.hand[1]), 3);
    table_roll(table, "black", 2);
    table_do(table, "move black.1");
    assert_true(table_asks(table, PHASE_ACTIONS));
    assert_int_equal(hand_size(table->state.hand[1]), 3);
    table_turn(table, "I16");
    assert_int_equal(hand_size(table->state.hand[1]), 8);
}

static void test_turn_passes_clockwise(void **slot)
{
    for (uint8_t players = 2; players <= 4; players++) {
        char options[64];
        snprintf(options, sizeof options, "board=yard,players=%u", players);
        Table *table = table_quiet(slot, options);
        table_ready(table);
        static const char *const cards[] = {"I14", "I15", "I16", "I17", "I18"};
        for (uint8_t turn = 1; turn <= 5; turn++) {
            table_turn(table, cards[turn - 1]);
            assert_int_equal(table->state.active, turn % players);
            assert_int_equal(table->state.head.seat, turn % players);
            assert_int_equal(table->state.turns, turn + 1);
        }
    }
}

static void test_top_card_is_revealed_and_leaves_the_pile(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_ready(table);
    assert_int_equal(table->state.pile, 16);
    table_turn(table, "I13");
    assert_string_equal(table_card(table), "I13");
    assert_int_equal(table->state.pile, 15);
    assert_int_equal(table->state.seen[12], 1);
    assert_int_equal(table_told(table, EVENT_CARD), 1);
    assert_int_equal(table_telling(table, EVENT_CARD, 0)->seat, 1);
}

/* Random play with the events of each step; `visit` sees every one of them. */
static void episode_play(Table *table, uint64_t seed, void *user,
                         void (*visit)(void *user, const TyEvent *event))
{
    uint8_t mask[TY_ACTIONS_MAX];
    TyTape tape = {.user = user, .event = visit};
    assert_true(ty_reset(table->ruleset, &table->state, seed, &tape));
    for (uint64_t i = 0; !table->state.head.over; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_legal(table->ruleset, &table->state, mask);
        uint32_t action = ty_sample(mask, ty_shape(table->ruleset)->action_count, seed, i);
        assert_true(ty_step(table->ruleset, &table->state, action, reward, &tape));
    }
}

static void visit_cards(void *user, const TyEvent *event)
{
    uint32_t *revealed = user;
    if (event->kind == EVENT_CARD) {
        revealed[event->args[0]]++;
    }
}

static void test_followed_cards_are_discarded_for_good(void **slot)
{
    Table *table = table_open(slot, "board=europe,removed=0");
    for (uint64_t seed = 0; seed < 50; seed++) {
        uint32_t revealed[CARD_BASE + CONVOI_CARDS_MAX] = {0};
        uint32_t count = 0;
        episode_play(table, seed, revealed, visit_cards);
        for (uint32_t card = 0; card < CARD_BASE + CONVOI_CARDS_MAX; card++) {
            assert_true(revealed[card] <= 1);
            count += revealed[card];
        }
        assert_int_equal(revealed[CARD_FIRST], 1);
        assert_int_equal(count, table->state.turns);
    }
}

/* ---- New trains ------------------------------------------------------------------------------ */

static void test_new_train_colour_is_chosen_before_the_dice(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_ready(table);
    table_turn(table, "I05");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_int_equal(table_told(table, EVENT_ROLL_START), 0);
    table_do(table, "colour gray");
    assert_int_equal(table_told(table, EVENT_ROLL_START), 0);
    table_script(table, STREAM_START_DICE, "5");
    table_do(table, "start.roll");
    assert_place(table, "gray.1", "south");
}

static void test_new_train_stands_on_the_start_rolled(void **slot)
{
    static const char *const starts[] = {"saragosse", "vienne",  "hambourg", "graz",
                                         "calais",    "rostock", "wroclaw",  "saint_malo",
                                         "florence",  "venise",  "le_havre"};
    for (uint32_t sum = 2; sum <= 12; sum++) {
        char name[16];
        Table *table = table_quiet(slot, "board=europe");
        table_ready(table);
        snprintf(name, sizeof name, "%u", sum);
        table_turn(table, "I05");
        table_script(table, STREAM_START_DICE, name);
        table_do(table, "colour brown");
        assert_place(table, "brown.1", starts[sum - 2]);
        assert_nothing_lost(table);
    }
}

static void test_new_train_may_have_any_colour_in_the_depot(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "gray.1", "mill-mine.1", "mine");
    table_put(table, "gray.2", "mill-mine.2", "mine");
    table_put(table, "gray.3", "mill-mine.3", "mine");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "black.2", "ford-mill.2", "mill");
    table_ready(table);
    table_turn(table, "I06");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_true(table_may(table, "colour black"));
    assert_true(table_may(table, "colour brown"));
    assert_false(table_may(table, "colour gray"));
    table_script(table, STREAM_START_DICE, "2");
    table_do(table, "colour black");
    assert_place(table, "black.3", "north");
}

static void test_new_train_on_an_occupied_start_costs_two_tokens(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_stand(table, "gray.1", "south");
    table_ready(table);
    table_turn(table, "I05");
    table_do(table, "colour black");
    table_script(table, STREAM_START_DICE, "6");
    table_do(table, "start.roll");
    assert_lost(table, 2, LOSS_START_OCCUPIED);
    assert_int_equal(table_told(table, EVENT_ROLL_START), 1);
    assert_int_equal(table->state.clock, 5);
    assert_place(table, "black.1", "depot");
    assert_place(table, "gray.1", "south");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

/* All nine trains on the network, out of the way of the starts. */
static void trains_put_all(Table *table)
{
    static const char *const spaces[CONVOI_TRAINS][2] = {
        {"ford-mill.1", "mill"},        {"ford-mill.2", "mill"},
        {"ford-mill.3", "mill"},        {"mill-mine.1", "mine"},
        {"mill-mine.2", "mine"},        {"mill-mine.3", "mine"},
        {"cross-harbour.1", "harbour"}, {"cross-harbour.2", "harbour"},
        {"cross-harbour.3", "harbour"},
    };
    for (uint32_t train = 0; train < CONVOI_TRAINS; train++) {
        table_put(table, convoi_trains.words[train], spaces[train][0], spaces[train][1]);
    }
}

static void test_new_train_with_an_empty_depot_costs_two_tokens(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    trains_put_all(table);
    table_ready(table);
    table_turn(table, "I05");
    assert_lost(table, 2, LOSS_DEPOT_EMPTY);
    assert_int_equal(table->state.clock, 5);
    assert_int_equal(table_told(table, EVENT_ROLL_START), 0);
    assert_true(table_asks(table, PHASE_TRAIN));
}

static void test_two_train_card_needs_different_colours(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    table_turn(table, "I01");
    assert_int_equal(table_choices(table), 3);
    table_script(table, STREAM_START_DICE, "2");
    table_do(table, "colour brown");
    assert_place(table, "brown.1", "north");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_true(table_may(table, "colour black"));
    assert_true(table_may(table, "colour gray"));
    assert_int_equal(table_choices(table), 2);
    table_script(table, STREAM_START_DICE, "8");
    table_do(table, "colour gray");
    assert_place(table, "gray.1", "east");
}

static void test_second_train_that_cannot_be_had_costs_two_tokens(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    trains_put_all(table);
    table->state.place[table_train("gray.3")] = 0;
    table->state.place[table_train("gray.2")] = 0;
    table->state.heading[table_train("gray.3")] = 0;
    table->state.heading[table_train("gray.2")] = 0;
    table_ready(table);
    table_script(table, STREAM_START_DICE, "2");
    table_turn(table, "I01");
    assert_place(table, "gray.2", "north");
    assert_place(table, "gray.3", "depot");
    assert_lost(table, 2, LOSS_DEPOT_EMPTY);
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_int_equal(table_choices(table), 3);
}

static void test_new_train_moves_if_its_colour_is_on_the_card(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_ready(table);
    table_turn(table, "I05");
    table_script(table, STREAM_START_DICE, "2");
    table_roll(table, "black", 3);
    table_do(table, "colour black");
    assert_place(table, "black.1", "ford-mill.2");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

/* ---- Moves by the card ----------------------------------------------------------------------- */

/* A black, a brown and a gray train with room to move. */
static Table *table_of_three(void **slot, const char *options)
{
    Table *table = table_quiet(slot, options);
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "brown.1", "mill-mine.1", "mine");
    table_put(table, "gray.1", "east-cross.1", "cross");
    table_ready(table);
    return table;
}

static void order_of_moves(void **slot, const char *card, const char *first, const char *second)
{
    Table *table = table_of_three(slot, "board=yard");
    table_roll(table, first, 2);
    table_roll(table, second, 2);
    table_turn(table, card);
    assert_int_equal(table_told(table, EVENT_ROLL), 2);
    assert_string_equal(convoi_colours.words[table_telling(table, EVENT_ROLL, 0)->args[0]], first);
    assert_string_equal(convoi_colours.words[table_telling(table, EVENT_ROLL, 1)->args[0]], second);
}

static void test_colours_move_in_the_order_of_the_card(void **slot)
{
    order_of_moves(slot, "I14", "black", "brown");
    order_of_moves(slot, "I17", "brown", "black");
    order_of_moves(slot, "I16", "gray", "black");
    order_of_moves(slot, "I18", "gray", "brown");
}

static void test_colours_not_on_the_card_stay(void **slot)
{
    Table *table = table_of_three(slot, "board=yard");
    table_roll(table, "black", 2);
    table_roll(table, "brown", 1);
    table_turn(table, "I14");
    assert_place(table, "black.1", "ford-mill.3");
    assert_place(table, "brown.1", "mill-mine.2");
    assert_place(table, "gray.1", "east-cross.1");
}

static void test_trains_of_a_colour_move_as_named_with_a_roll_each(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "brown.1", "ford-mill.1", "mill");
    table_put(table, "brown.2", "mill-mine.1", "mine");
    table_put(table, "brown.3", "east-cross.1", "cross");
    table_ready(table);
    table_turn(table, "I15");
    assert_true(table_asks(table, PHASE_TRAIN));
    assert_int_equal(table_told(table, EVENT_ROLL), 0);
    assert_int_equal(table_choices(table), 3);
    table_roll(table, "brown", 1);
    table_do(table, "move brown.3");
    assert_place(table, "brown.3", "east-cross.2");
    assert_false(table_may(table, "move brown.3"));
    table_roll(table, "brown", 3);
    table_do(table, "move brown.1");
    assert_place(table, "brown.1", "ford-mill.4");
    assert_int_equal(table_choices(table), 1);
    table_roll(table, "brown", 2);
    table_do(table, "move brown.2");
    assert_place(table, "brown.2", "mill-mine.3");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_trains_in_cities_and_on_starts_move_too(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_stand(table, "gray.1", "north");
    table_stand(table, "gray.2", "mill");
    table_put(table, "gray.3", "east-cross.1", "cross");
    table_ready(table);
    table_turn(table, "I16");
    assert_true(table_may(table, "move gray.1"));
    assert_true(table_may(table, "move gray.2"));
    assert_true(table_may(table, "move gray.3"));
}

static void test_trains_in_the_depot_do_not_move(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "black.2", "ford-mill.1", "mill");
    table_ready(table);
    table_turn(table, "I14");
    assert_int_equal(table_choices(table), 1);
    assert_true(table_may(table, "move black.2"));
}

static void test_colour_without_a_train_is_skipped(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,ask_forced=true");
    table_put(table, "brown.1", "mill-mine.1", "mine");
    table_ready(table);
    table_turn(table, "I14");
    assert_nothing_lost(table);
    assert_true(table_asks(table, PHASE_TRAIN));
    assert_true(table_may(table, "move brown.1"));
    assert_int_equal(table_choices(table), 1);
}

static void test_one_multicolour_symbol_moves_a_colour_of_choice(void **slot)
{
    Table *table = table_of_three(slot, "board=yard");
    table_turn(table, "I13");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_int_equal(table_choices(table), 3);
    table_roll(table, "brown", 2);
    table_do(table, "colour brown");
    assert_place(table, "brown.1", "mill-mine.3");
    assert_place(table, "black.1", "ford-mill.1");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_two_multicolour_symbols_move_two_colours_of_choice(void **slot)
{
    Table *table = table_of_three(slot, "board=yard");
    table_turn(table, "I11");
    table_roll(table, "gray", 1);
    table_do(table, "colour gray");
    assert_place(table, "gray.1", "east-cross.2");
    assert_false(table_may(table, "colour gray"));
    assert_int_equal(table_choices(table), 2);
    table_roll(table, "black", 2);
    table_do(table, "colour black");
    assert_place(table, "black.1", "ford-mill.3");
    assert_place(table, "brown.1", "mill-mine.1");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_three_multicolour_symbols_move_all_trains(void **slot)
{
    Table *table = table_of_three(slot, "board=yard,ask_forced=true");
    table_stand(table, "black.2", "north");
    table_ready(table);
    table_turn(table, "I10");
    table_do(table, "colour brown");
    table_roll(table, "brown", 1);
    table_do(table, "move brown.1");
    assert_int_equal(table_choices(table), 2);
    table_do(table, "colour black");
    assert_int_equal(table_choices(table), 2);
    table_roll(table, "black", 2);
    table_do(table, "move black.1");
    table_roll(table, "black", 2);
    table_do(table, "move black.2");
    assert_int_equal(table_choices(table), 1);
    table_do(table, "colour gray");
    table_roll(table, "gray", 1);
    table_do(table, "move gray.1");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_multicolour_symbol_may_name_a_colour_in_the_depot(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, "brown.1", "mill-mine.1", "mine");
    table_ready(table);
    table_turn(table, "I13");
    assert_int_equal(table_choices(table), 3);
    table_do(table, "colour gray");
    assert_nothing_lost(table);
    assert_int_equal(table_told(table, EVENT_ROLL), 0);
    assert_true(table_asks(table, PHASE_ACTIONS));
}

/* ---- Dice ------------------------------------------------------------------------------------ */

enum { ROLLS = 7200 };

/* Takes `action` under ROLLS seeds and compares how often each value of the event's argument comes
 * with its share of the weights. */
static void values_drawn(Table *table, const char *action, ConvoiEvent kind, uint32_t argument,
                         const uint32_t *weights, uint32_t count)
{
    uint32_t seen[16] = {0};
    uint32_t total = 0;
    uint32_t index = 0;
    ConvoiState before = table->state;
    assert_true(table_may(table, action));
    assert_true(ty_action_find(table->ruleset, action, &index));
    for (uint64_t seed = 0; seed < ROLLS; seed++) {
        table->state = before;
        ty_rekey(&table->state, seed);
        table_forget(table);
        TyTape tape = {.user = table, .event = table_event};
        assert_true(ty_step(table->ruleset, &table->state, index, table->reward, &tape));
        int16_t value = table_telling(table, kind, 0)->args[argument];
        assert_true(value >= 0 && (uint32_t)value < count);
        seen[value]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        total += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t expected = ROLLS * weights[i] / total;
        assert_true(weights[i] != 0 || seen[i] == 0);
        assert_in_range(seen[i] + ROLLS / 50, expected, expected + ROLLS / 25);
    }
}

static void die_has_faces(void **slot, const char *train, const uint32_t weights[6])
{
    char action[TY_NAME_MAX];
    Table *table = table_quiet(slot, "board=yard");
    table_put(table, train, "ford-mill.1", "mill");
    table_hand(table, 0, 0, 0, 1);
    table_ready(table);
    snprintf(action, sizeof action, "move %s", train);
    values_drawn(table, action, EVENT_ROLL, 1, weights, 6);
}

static void test_black_die_has_2_3_3_4_4_5(void **slot)
{
    die_has_faces(slot, "black.1", (const uint32_t[6]){0, 0, 1, 2, 2, 1});
}

static void test_brown_die_has_1_2_2_3_3_4(void **slot)
{
    die_has_faces(slot, "brown.2", (const uint32_t[6]){0, 1, 2, 2, 1, 0});
}

static void test_gray_die_has_1_1_1_2_2_3(void **slot)
{
    die_has_faces(slot, "gray.3", (const uint32_t[6]){0, 3, 2, 1, 0, 0});
}

static void test_start_is_the_sum_of_two_dice(void **slot)
{
    static const uint32_t weights[13] = {0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1};
    Table *table = table_quiet(slot, "board=europe,ask_forced=true");
    table_ready(table);
    table_turn(table, "I05");
    table_do(table, "colour black");
    values_drawn(table, "start.roll", EVENT_ROLL_START, 1, weights, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_first_card_places_black_brown_gray),
        TABLE_TEST(test_first_card_rolls_again_at_no_cost),
        TABLE_TEST(test_first_card_moves_no_train),
        TABLE_TEST(test_turn_is_card_then_actions_then_drawing),
        TABLE_TEST(test_turn_passes_clockwise),
        TABLE_TEST(test_top_card_is_revealed_and_leaves_the_pile),
        TABLE_TEST(test_followed_cards_are_discarded_for_good),
        TABLE_TEST(test_new_train_colour_is_chosen_before_the_dice),
        TABLE_TEST(test_new_train_stands_on_the_start_rolled),
        TABLE_TEST(test_new_train_may_have_any_colour_in_the_depot),
        TABLE_TEST(test_new_train_on_an_occupied_start_costs_two_tokens),
        TABLE_TEST(test_new_train_with_an_empty_depot_costs_two_tokens),
        TABLE_TEST(test_two_train_card_needs_different_colours),
        TABLE_TEST(test_second_train_that_cannot_be_had_costs_two_tokens),
        TABLE_TEST(test_new_train_moves_if_its_colour_is_on_the_card),
        TABLE_TEST(test_colours_move_in_the_order_of_the_card),
        TABLE_TEST(test_colours_not_on_the_card_stay),
        TABLE_TEST(test_trains_of_a_colour_move_as_named_with_a_roll_each),
        TABLE_TEST(test_trains_in_cities_and_on_starts_move_too),
        TABLE_TEST(test_trains_in_the_depot_do_not_move),
        TABLE_TEST(test_colour_without_a_train_is_skipped),
        TABLE_TEST(test_one_multicolour_symbol_moves_a_colour_of_choice),
        TABLE_TEST(test_two_multicolour_symbols_move_two_colours_of_choice),
        TABLE_TEST(test_three_multicolour_symbols_move_all_trains),
        TABLE_TEST(test_multicolour_symbol_may_name_a_colour_in_the_depot),
        TABLE_TEST(test_black_die_has_2_3_3_4_4_5),
        TABLE_TEST(test_brown_die_has_1_2_2_3_3_4),
        TABLE_TEST(test_gray_die_has_1_1_1_2_2_3),
        TABLE_TEST(test_start_is_the_sum_of_two_dice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
