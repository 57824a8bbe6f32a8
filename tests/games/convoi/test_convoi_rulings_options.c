/* Convoi Express: one test or more per ruling, named after its number. Here: 36 to 43, hands,
 * seats, set-up, start tokens, decks and boards of the user's own. */
#include "tests/games/convoi/convoi_table.h"

static void staff_wake(Table *table, uint32_t staff)
{
    table->state.staff_used[staff] = 0;
    table_ready(table);
}

/* ---- Hands, seats, set-up -------------------------------------------------------------------- */

static void test_ruling_36_hand_fills_to_ten_and_discards_come_back(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    static const uint8_t discard[CONVOI_KINDS] = {26, 26, 18};
    memcpy(table->state.discard, discard, sizeof discard);
    table_hand(table, 0, 0, 0, 7);
    table_ready(table);
    assert_int_equal(hand_size(table->state.deck), 1);
    table_turn(table, "I14");
    assert_int_equal(hand_size(table->state.hand[0]), 10);
    assert_int_equal(table_told(table, EVENT_DRAW), 3);
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 1);
    assert_int_equal(hand_size(table->state.discard), 0);
}

static void test_ruling_37_active_seat_takes_every_decision(void **slot)
{
    Table *table = table_open(slot, "board=north_america,players=3");
    for (uint64_t seed = 0; seed < 5; seed++) {
        table_reset(table, seed);
        while (!table->state.head.over) {
            uint8_t mask[TY_ACTIONS_MAX];
            int32_t reward[TY_SEATS_MAX] = {0};
            assert_int_equal(table->state.head.seat, (table->state.turns - 1) % 3);
            ty_legal(table->ruleset, &table->state, mask);
            uint32_t action = ty_sample(mask, ty_shape(table->ruleset)->action_count, seed,
                                        table->state.head.steps);
            assert_true(ty_step(table->ruleset, &table->state, action, reward, NULL));
        }
    }
}

static void test_ruling_37_first_seat_takes_the_set_up_decisions(void **slot)
{
    Table *table = table_open(slot, "board=yard,placement=free,players=3,first_player=random,"
                                    "extra_light=true,ask_forced=true");
    static const char *const answers[] = {
        "light.to mill/cross",    "light.to mine/mill", "light.to harbour/cross",
        "light.to cross~harbour", "light.to ford~mill", "switch ford north+south",
        "switch cross mine+east",
    };
    table_script(table, STREAM_FIRST_PLAYER, "2");
    table_reset(table, 1);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(table->state.head.seat, 2);
        table_do(table, answers[i]);
    }
    assert_int_equal(table->state.head.seat, 2);
    assert_string_equal(table_card(table), "FIRST");
}

static void test_ruling_38_free_placement_one_disc_a_city_then_track_lights(void **slot)
{
    Table *table = table_open(slot, "board=europe,placement=free");
    const ConvoiTables *tables = table->tables;
    uint32_t asked[PHASE_COUNT] = {0};
    table_reset(table, 1);
    while (table->state.head.phase <= PHASE_PLACE_SWITCH) {
        uint8_t mask[TY_ACTIONS_MAX];
        int32_t reward[TY_SEATS_MAX] = {0};
        uint32_t city = asked[PHASE_PLACE_CITY];
        uint64_t expected = table_asks(table, PHASE_PLACE_CITY) ? tables->city_lights[city]
                            : table_asks(table, PHASE_PLACE_TRACK)
                                ? tables->track_lights & ~table->state.green
                                : 0;
        for (uint32_t light = 0; light < tables->light_count; light++) {
            uint32_t to = table->ruleset->action_first[FORM_LIGHT_TO] + light;
            assert_int_equal(ty_answers_have(table->state.answers, to), expected >> light & 1);
        }
        if (table_asks(table, PHASE_PLACE_SWITCH)) {
            uint8_t degree = tables->junction_degree[asked[PHASE_PLACE_SWITCH]];
            assert_int_equal(table_choices(table), degree == 3 ? 3 : 6);
        }
        asked[table->state.head.phase]++;
        ty_legal(table->ruleset, &table->state, mask);
        uint32_t action =
            ty_sample(mask, ty_shape(table->ruleset)->action_count, 3, table->state.head.steps);
        assert_true(ty_step(table->ruleset, &table->state, action, reward, NULL));
    }
    assert_int_equal(asked[PHASE_PLACE_CITY], 5);
    assert_int_equal(asked[PHASE_PLACE_TRACK], 3);
    assert_int_equal(asked[PHASE_PLACE_EXTRA], 0);
    assert_int_equal(asked[PHASE_PLACE_SWITCH], 19);
    table_settle(table);
}

static void test_ruling_39_extra_disc_goes_to_any_red_light(void **slot)
{
    Table *table = table_open(slot, "board=yard,extra_light=true");
    table_reset(table, 1);
    assert_true(table_asks(table, PHASE_PLACE_EXTRA));
    assert_int_equal(table->state.head.seat, 0);
    assert_int_equal(table_choices(table), 5);
    assert_true(table_may(table, "light.to mill/siding"));
    assert_true(table_may(table, "light.to cross~harbour"));
    assert_false(table_may(table, "light.to ford~mill"));
    table_do(table, "light.to mill/siding");
    assert_true(table_green(table, "mill/siding"));
    assert_true(table_asks(table, PHASE_ACTIONS));
}

static void test_ruling_39_extra_disc_of_a_random_placement_is_seeded(void **slot)
{
    Table *table = table_open(slot, "board=yard,placement=random,extra_light=true");
    uint64_t ever = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        table_reset(table, seed);
        assert_true(table_asks(table, PHASE_ACTIONS));
        assert_int_equal(__builtin_popcountll(table->state.green), 5);
        const TyEvent *last = table_telling(table, EVENT_LIGHT, 4);
        ever |= UINT64_C(1) << last->args[1];
    }
    assert_int_equal(ever, (UINT64_C(1) << table->tables->light_count) - 1 -
                               (UINT64_C(1) << table_light_index(table, "harbour/cross")));
}

/* ---- Start tokens, decks, boards ------------------------------------------------------------- */

static void test_ruling_40_the_two_variants_exclude_each_other(void **slot)
{
    TyRuleset *both = NULL;
    TyStatus status = ruleset_open("convoi:board=europe,starts=shuffled,starts=drawn", &both);
    assert_int_equal(status.code, TY_BAD_CONFIG);
    assert_null(both);
    Table *table = table_open(slot, "board=europe,starts=drawn");
    table_reset(table, 1);
    assert_memory_equal(table->state.number_start, table->tables->number_start, CONVOI_NUMBERS);
    table = table_open(slot, "board=europe,starts=shuffled");
    table_reset(table, 1);
    assert_int_equal(table->state.head.draws[STREAM_TOKENS], CONVOI_NUMBERS);
    assert_true(table->state.head.draws[STREAM_START_DICE] >= 3);
}

static void test_ruling_40_first_three_tokens_return_to_the_stack(void **slot)
{
    Table *table = table_open(slot, "board=europe,starts=drawn");
    table_reset(table, 1);
    assert_int_equal(table->state.head.draws[STREAM_TOKENS], 3);
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        assert_int_equal(table->state.token_spent[i], 0);
    }
}

static void test_ruling_40_first_three_tokens_differ(void **slot)
{
    Table *table = table_open(slot, "board=europe,starts=drawn");
    for (uint64_t seed = 0; seed < 200; seed++) {
        table_reset(table, seed);
        assert_int_equal(table_told(table, EVENT_FIRST_TOKEN), 3);
        assert_int_equal(table_told(table, EVENT_ROLL_START), 0);
        assert_int_equal(table_told(table, EVENT_NOT_PLACED), 0);
    }
}

static void tokens_script(Table *table, const char *black, const char *brown, const char *gray)
{
    table_script(table, STREAM_TOKENS, black);
    table_script(table, STREAM_TOKENS, brown);
    table_script(table, STREAM_TOKENS, gray);
}

static void test_ruling_40_first_tokens_lie_open_before_any_decision(void **slot)
{
    Table *table = table_open(slot, "board=north_america,starts=drawn,placement=free");
    uint8_t row[TY_ROW_MAX];
    tokens_script(table, "6", "7", "12");
    table_reset(table, 1);
    assert_true(table_asks(table, PHASE_PLACE_CITY));
    assert_int_equal(table_told(table, EVENT_FIRST_TOKEN), 3);
    assert_int_equal(table_telling(table, EVENT_FIRST_TOKEN, 1)->args[1], 7);
    ty_observe(table->ruleset, &table->state, 1, row);
    const uint8_t *shown = row + table->ruleset->block_at[BLOCK_FIRST_TOKEN];
    assert_memory_equal(shown, ((const uint8_t[]){6 - 1, 7 - 1, 12 - 1, 0}), 4);
}

static void test_ruling_40_open_token_places_its_train_without_a_draw(void **slot)
{
    Table *table = table_open(slot, "board=north_america,starts=drawn");
    tokens_script(table, "6", "7", "12");
    table_reset(table, 1);
    assert_true(table_asks(table, PHASE_START));
    table_do(table, "start.roll");
    uint8_t start = table->state.number_start[6 - 2];
    assert_place(table, "black.1", table_name(table, &convoi_starts, start));
    assert_int_equal(table->state.head.draws[STREAM_TOKENS], 3);
    assert_int_equal(table->state.first_token[0], 0);
    assert_int_equal(table->state.first_token[1], 7 - 1);
}

static void test_ruling_40_token_of_a_train_that_the_agent_places_is_not_used(void **slot)
{
    Table *table = table_open(slot, "board=north_america,starts=drawn");
    char action[TY_NAME_MAX + 32];
    tokens_script(table, "6", "7", "12");
    table_reset(table, 1);
    uint8_t brown = table->state.number_start[7 - 2];
    snprintf(action, sizeof action, "staff.agent_de_manoeuvre %s",
             table_name(table, &convoi_starts, brown));
    table_script(table, STREAM_TOKENS, "2"); /* the start of brown's own token is taken now */
    table_do(table, action);
    assert_place(table, "black.1", table_name(table, &convoi_starts, brown));
    assert_int_equal(table_told(table, EVENT_NOT_PLACED), 1);
    assert_int_equal(table_told(table, EVENT_TOKENS), 0);
    assert_int_equal(table->state.place[table_train("brown.1")],
                     place_start(table->tables, table->state.number_start[0]) + 1);
    assert_int_equal(table->state.place[table_train("gray.1")],
                     place_start(table->tables, table->state.number_start[12 - 2]) + 1);
    assert_int_equal(table->state.head.draws[STREAM_TOKENS], 4);
}

static void test_ruling_40_another_of_the_eight_is_drawn_for_an_occupied_start(void **slot)
{
    Table *table = table_open(slot, "board=north_america,starts=drawn");
    for (uint64_t seed = 0; seed < 100; seed++) {
        table_reset(table, seed);
        uint8_t brown = table->state.number_start[table->state.first_token[1] - 1];
        uint8_t open[CONVOI_SYMBOLS_MAX];
        char action[TY_NAME_MAX + 32];
        memcpy(open, table->state.first_token, sizeof open);
        snprintf(action, sizeof action, "staff.agent_de_manoeuvre %s",
                 table_name(table, &convoi_starts, brown));
        table_do(table, action);
        for (uint32_t i = 0; i < table_told(table, EVENT_ROLL_START); i++) {
            int token = table_telling(table, EVENT_ROLL_START, i)->args[1] - 1;
            assert_true(token != open[0] && token != open[1] && token != open[2]);
        }
        assert_true(table_told(table, EVENT_ROLL_START) >= 1);
    }
}

static void test_ruling_40_token_of_an_occupied_start_is_spent_and_costs_two(void **slot)
{
    Table *table = table_quiet(slot, "board=europe,starts=drawn");
    table_stand(table, "gray.1", "calais");
    table_ready(table);
    table_turn(table, "I05");
    table_script(table, STREAM_TOKENS, "6");
    table_do(table, "colour brown");
    assert_lost(table, 2, LOSS_START_OCCUPIED);
    assert_place(table, "brown.1", "depot");
    assert_int_equal(table->state.token_spent[6 - 2], 1);
}

static void test_ruling_40_spent_tokens_do_not_come_before_the_stack_is_empty(void **slot)
{
    Table *table = table_quiet(slot, "board=europe,starts=drawn");
    memset(table->state.token_spent, 1, sizeof table->state.token_spent);
    table->state.token_spent[9 - 2] = 0;
    table_ready(table);
    table_turn(table, "I01");
    table_do(table, "colour brown");
    assert_place(table, "brown.1", "saint_malo");
    table_script(table, STREAM_TOKENS, "6");
    table_do(table, "colour gray");
    assert_place(table, "gray.1", "calais");
    for (uint32_t number = 2; number <= 12; number++) {
        assert_int_equal(table->state.token_spent[number - 2], number == 6);
    }
}

static void test_ruling_40_agent_de_manoeuvre_draws_no_token(void **slot)
{
    Table *table = table_quiet(slot, "board=north_america,starts=drawn");
    staff_wake(table, STAFF_AGENT_DE_MANOEUVRE);
    table_turn(table, "I05");
    table_do(table, "colour brown");
    uint32_t draws = table->state.head.draws[STREAM_TOKENS];
    table_do(table, "staff.agent_de_manoeuvre miami");
    assert_place(table, "brown.1", "miami");
    assert_int_equal(table->state.head.draws[STREAM_TOKENS], draws);
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        assert_int_equal(table->state.token_spent[i], 0);
    }
}

static void test_ruling_41_printed_colour_not_in_the_depot_costs_two(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,deck=own_deck,ask_forced=true");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "black.2", "mill-mine.1", "mine");
    table_put(table, "black.3", "mill-cross.1", "cross");
    table_ready(table);
    table_turn(table, "new_black");
    assert_lost(table, 2, LOSS_DEPOT_EMPTY);
    assert_true(table_asks(table, PHASE_TRAIN));
    assert_int_equal(table_choices(table), 3);
}

static void test_ruling_41_printed_colour_is_placed_unasked(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,deck=own_deck");
    table_ready(table);
    table_script(table, STREAM_START_DICE, "2");
    table_roll(table, "black", 2);
    table_turn(table, "new_black");
    assert_place(table, "black.1", "ford-mill.1");
}

static void multicolour_excludes_black(void **slot, const char *card, bool before)
{
    Table *table = table_quiet(slot, "board=yard,deck=own_deck");
    table_put(table, "black.1", "ford-mill.1", "mill");
    table_put(table, "gray.1", "mill-mine.1", "mine");
    table_ready(table);
    if (!before) {
        table_roll(table, "black", 2);
    }
    table_turn(table, card);
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_false(table_may(table, "colour black"));
    assert_true(table_may(table, "colour brown"));
    assert_true(table_may(table, "colour gray"));
}

static void test_ruling_41_multicolour_symbol_names_no_printed_colour(void **slot)
{
    multicolour_excludes_black(slot, "black_multi", false);
    multicolour_excludes_black(slot, "multi_black", true);
}

static void test_ruling_41_free_new_train_names_no_printed_colour(void **slot)
{
    Table *table = table_quiet(slot, "board=yard,deck=own_deck");
    table_ready(table);
    table_turn(table, "new_any_black");
    assert_false(table_may(table, "colour black"));
    assert_int_equal(table_choices(table), 2);
    table_script(table, STREAM_START_DICE, "2");
    table_script(table, STREAM_START_DICE, "5");
    table_do(table, "colour gray");
    assert_place(table, "gray.1", "north");
    assert_place(table, "black.1", "south");
    table = table_quiet(slot, "board=yard,deck=own_deck");
    table_ready(table);
    table_script(table, STREAM_START_DICE, "2");
    table_turn(table, "new_black_any");
    assert_place(table, "black.1", "north");
    assert_false(table_may(table, "colour black"));
    assert_int_equal(table_choices(table), 2);
}

static void test_ruling_41_first_card_of_an_own_deck_may_move_trains(void **slot)
{
    Table *table = table_open(slot, "board=yard,deck=own_deck,ask_forced=true");
    table_reset(table, 1);
    table_do(table, "colour gray");
    table_script(table, STREAM_START_DICE, "2");
    table_do(table, "start.roll");
    table_do(table, "colour brown");
    table_script(table, STREAM_START_DICE, "3");
    table_script(table, STREAM_START_DICE, "5");
    table_do(table, "start.roll");
    assert_nothing_lost(table);
    assert_place(table, "brown.1", "south");
    table_roll(table, "gray", 2);
    table_do(table, "move gray.1");
    table_do(table, "die.keep");
    assert_place(table, "gray.1", "ford-mill.1");
    assert_true(table_asks(table, PHASE_ACTIONS));
}

/* Touching: ford (north, south, hill) and hill (ford, mill, harbour, east) with no space between
 * them; lights north~ford and hill~mill beside junctions, ford~hill between the two. All are green
 * but north~ford. */

static Table *table_touching(void **slot, const char *red)
{
    Table *table = table_quiet(slot, "board=touching");
    table_switch(table, "ford", "south+hill");
    table_stand(table, "black.1", "south");
    if (strcmp(red, "north~ford") != 0) {
        table_light(table, red, "north~ford");
    }
    table_ready(table);
    return table;
}

static void test_ruling_42_touching_junctions_cost_no_point(void **slot)
{
    Table *table = table_touching(slot, "north~ford");
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "hill-mill.1");
    assert_nothing_lost(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "mill");
}

static void test_ruling_42_light_before_a_junction_stops_the_train(void **slot)
{
    Table *table = table_touching(slot, "north~ford");
    table_switch(table, "ford", "north+hill");
    table_stand(table, "black.2", "north");
    table_ready(table);
    table_move(table, "black.2", 3);
    assert_place(table, "black.2", "north-ford.1");
    assert_lost(table, 2, LOSS_RED_LIGHT);
}

static void test_ruling_42_light_between_or_behind_junctions_stops_the_train(void **slot)
{
    static const char *const red[] = {"ford~hill", "hill~mill"};
    for (uint32_t i = 0; i < 2; i++) {
        Table *table = table_touching(slot, red[i]);
        table_move(table, "black.1", 4);
        assert_place(table, "black.1", "south-ford.1");
        assert_lost(table, 3, LOSS_RED_LIGHT);
        table_put(table, "black.2", "hill-mill.1", "hill");
        table_ready(table);
        table_move(table, "black.2", 2);
        assert_place(table, "black.2", "hill-mill.1");
        assert_lost(table, 2, LOSS_RED_LIGHT);
    }
}

static void test_ruling_42_trains_meet_across_touching_junctions(void **slot)
{
    Table *table = table_touching(slot, "north~ford");
    table_put(table, "gray.1", "hill-mill.1", "hill");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_lost(table, 2, LOSS_HEAD_ON);
    assert_place(table, "black.1", "depot");
    table = table_touching(slot, "north~ford");
    table_switch(table, "hill", "mill+harbour");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "south-ford.1");
    assert_lost(table, 1, LOSS_CLOSED_SWITCH);
}

static void test_ruling_43_empty_train_at_an_american_port_stays(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports");
    table_put(table, "black.1", "mine-bay.1", "bay");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_place(table, "black.1", "bay");
    assert_nothing_lost(table);
    assert_int_equal(table_told(table, EVENT_DEPOT), 0);
}

static void test_ruling_43_agent_de_manoeuvre_on_the_first_card(void **slot)
{
    Table *table = table_open(slot, "board=two_ports");
    table_reset(table, 1);
    assert_string_equal(table_card(table), "FIRST");
    assert_true(table_asks(table, PHASE_START));
    table_script(table, STREAM_START_DICE, "12");
    table_script(table, STREAM_START_DICE, "2");
    table_script(table, STREAM_START_DICE, "7");
    table_do(table, "staff.agent_de_manoeuvre east");
    assert_place(table, "black.1", "east");
    assert_place(table, "brown.1", "north");
    assert_place(table, "gray.1", "south");
    assert_nothing_lost(table);
}

static void test_ruling_43_no_draw_after_the_last_turn(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    table_hand(table, 0, 1, 1, 0);
    table->state.pile = 0;
    table_ready(table);
    table_do(table, "turn.end");
    assert_true(table->state.head.over);
    assert_int_equal(table_told(table, EVENT_DRAW), 0);
    assert_int_equal(hand_size(table->state.hand[0]), 2);
}

static void test_ruling_43_discards_wait_until_a_card_is_to_be_drawn(void **slot)
{
    Table *table = table_quiet(slot, "board=yard");
    static const uint8_t discard[CONVOI_KINDS] = {26, 26, 20};
    memcpy(table->state.discard, discard, sizeof discard);
    table_hand(table, 0, 0, 0, 1);
    table_ready(table);
    assert_int_equal(hand_size(table->state.deck), 5);
    table_turn(table, "I14");
    assert_int_equal(hand_size(table->state.deck), 0);
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 0);
    assert_int_equal(hand_size(table->state.discard), 72);
    table_turn(table, "I15");
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 1);
    assert_int_equal(hand_size(table->state.deck), 67);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_ruling_36_hand_fills_to_ten_and_discards_come_back),
        TABLE_TEST(test_ruling_37_active_seat_takes_every_decision),
        TABLE_TEST(test_ruling_37_first_seat_takes_the_set_up_decisions),
        TABLE_TEST(test_ruling_38_free_placement_one_disc_a_city_then_track_lights),
        TABLE_TEST(test_ruling_39_extra_disc_goes_to_any_red_light),
        TABLE_TEST(test_ruling_39_extra_disc_of_a_random_placement_is_seeded),
        TABLE_TEST(test_ruling_40_the_two_variants_exclude_each_other),
        TABLE_TEST(test_ruling_40_first_three_tokens_return_to_the_stack),
        TABLE_TEST(test_ruling_40_first_three_tokens_differ),
        TABLE_TEST(test_ruling_40_first_tokens_lie_open_before_any_decision),
        TABLE_TEST(test_ruling_40_open_token_places_its_train_without_a_draw),
        TABLE_TEST(test_ruling_40_token_of_a_train_that_the_agent_places_is_not_used),
        TABLE_TEST(test_ruling_40_another_of_the_eight_is_drawn_for_an_occupied_start),
        TABLE_TEST(test_ruling_40_token_of_an_occupied_start_is_spent_and_costs_two),
        TABLE_TEST(test_ruling_40_spent_tokens_do_not_come_before_the_stack_is_empty),
        TABLE_TEST(test_ruling_40_agent_de_manoeuvre_draws_no_token),
        TABLE_TEST(test_ruling_41_printed_colour_not_in_the_depot_costs_two),
        TABLE_TEST(test_ruling_41_printed_colour_is_placed_unasked),
        TABLE_TEST(test_ruling_41_multicolour_symbol_names_no_printed_colour),
        TABLE_TEST(test_ruling_41_free_new_train_names_no_printed_colour),
        TABLE_TEST(test_ruling_41_first_card_of_an_own_deck_may_move_trains),
        TABLE_TEST(test_ruling_42_touching_junctions_cost_no_point),
        TABLE_TEST(test_ruling_42_light_before_a_junction_stops_the_train),
        TABLE_TEST(test_ruling_42_light_between_or_behind_junctions_stops_the_train),
        TABLE_TEST(test_ruling_42_trains_meet_across_touching_junctions),
        TABLE_TEST(test_ruling_43_empty_train_at_an_american_port_stays),
        TABLE_TEST(test_ruling_43_agent_de_manoeuvre_on_the_first_card),
        TABLE_TEST(test_ruling_43_no_draw_after_the_last_turn),
        TABLE_TEST(test_ruling_43_discards_wait_until_a_card_is_to_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
