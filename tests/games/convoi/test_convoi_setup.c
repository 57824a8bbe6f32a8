/* Convoi Express, Mise en place, levels of difficulty, variants, and who sees what. */
#include "tests/games/convoi/convoi_table.h"

/* ---- Mise en place --------------------------------------------------------------------------- */

static void test_two_to_four_players_hold_five_cards_each(void **slot)
{
    for (uint32_t players = 2; players <= 4; players++) {
        char options[64];
        snprintf(options, sizeof options, "board=europe,players=%u", players);
        Table *table = table_open(slot, options);
        table_reset(table, players);
        for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
            assert_int_equal(hand_size(table->state.hand[seat]), seat < players ? 5 : 0);
        }
        assert_int_equal(hand_size(table->state.deck), 81 - 5 * players);
        assert_int_equal(hand_size(table->state.discard), 0);
    }
}

static void options_refused(const char *options)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ruleset_open(options, &ruleset);
    assert_int_equal(status.code, TY_BAD_CONFIG);
    assert_null(ruleset);
}

static void test_one_or_five_players_are_refused(void **slot)
{
    (void)slot;
    options_refused("convoi:board=europe,players=1");
    options_refused("convoi:board=europe,players=5");
}

static void test_action_cards_are_27_of_each_kind(void **slot)
{
    Table *table = table_open(slot, "board=europe,players=4");
    table_reset(table, 5);
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        uint32_t count = table->state.deck[kind];
        for (uint32_t seat = 0; seat < 4; seat++) {
            count += table->state.hand[seat][kind];
        }
        assert_int_equal(count, 27);
    }
}

static void test_clock_begins_with_seven_tokens(void **slot)
{
    Table *table = table_open(slot, "board=europe");
    table_reset(table, 1);
    assert_int_equal(table->state.clock, 7);
}

static void test_two_goods_of_its_colour_wait_in_each_city(void **slot)
{
    Table *table = table_open(slot, "board=europe");
    table_reset(table, 1);
    static const char *const cities[] = {"paris", "amsterdam", "berlin", "nuremberg"};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(table_goods_left(table, cities[i]), 2);
        assert_int_equal(table->tables->city_goods[table_city(table, cities[i])], i);
    }
    assert_int_equal(table_goods_left(table, "marseille"), 0);
    assert_int_equal(table->tables->goods_wanted, 8);
}

static void test_sixteen_cards_lie_under_the_first(void **slot)
{
    Table *table = table_open(slot, "board=europe,ask_forced=true");
    table_reset(table, 1);
    assert_string_equal(table_card(table), "FIRST");
    assert_int_equal(table->state.pile, 16);
    assert_int_equal(table->tables->card_count, 18);
}

/* Plays an episode in which nobody plays an action card. */
static void episode_pass(Table *table, uint64_t seed)
{
    table_reset(table, seed);
    while (!table->state.head.over) {
        uint8_t mask[TY_ACTIONS_MAX];
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_legal(table->ruleset, &table->state, mask);
        uint32_t action =
            ty_sample(mask, ty_shape(table->ruleset)->action_count, seed, table->state.head.steps);
        assert_true(ty_step(table->ruleset, &table->state, mask[FORM_END] ? FORM_END : action,
                            reward, NULL));
    }
}

static void test_removed_cards_are_any_of_the_deck(void **slot)
{
    Table *table = table_open(slot, "board=yard");
    uint32_t absent[CONVOI_CARDS_MAX] = {0};
    for (uint64_t seed = 0; seed < 100; seed++) {
        uint32_t missing = 0;
        episode_pass(table, seed);
        for (uint32_t card = 0; card < 18; card++) {
            absent[card] += !table->state.seen[card];
            missing += !table->state.seen[card];
        }
        assert_int_equal(missing, 2u + table->state.set_aside + table->state.pile);
    }
    for (uint32_t card = 0; card < 18; card++) {
        assert_in_range(absent[card], 1, 99);
    }
}

static void test_nine_trains_begin_in_the_depot(void **slot)
{
    Table *table = table_open(slot, "board=europe,ask_forced=true");
    table_reset(table, 1);
    for (uint32_t train = 0; train < CONVOI_TRAINS; train++) {
        assert_int_equal(table->state.place[train], 0);
    }
}

static void test_staff_are_ready(void **slot)
{
    Table *table = table_open(slot, "board=europe");
    table_reset(table, 1);
    for (uint32_t staff = 0; staff < CONVOI_STAFF; staff++) {
        assert_int_equal(table->state.staff_used[staff], 0);
    }
}

static void test_first_game_placement_is_the_printed_one(void **slot)
{
    static const char *const green[] = {"paris/bruxelles",  "amsterdam/breme",     "berlin/parchim",
                                        "nuremberg/munich", "marseille/plaisance", "munich~zurich",
                                        "epinal~zurich",    "limoges~geneve"};
    Table *table = table_open(slot, "board=europe");
    table_reset(table, 1);
    for (uint32_t i = 0; i < 8; i++) {
        assert_true(table_green(table, green[i]));
    }
    assert_int_equal(__builtin_popcountll(table->state.green), 8);
    assert_string_equal(table_setting(table, "bruxelles"), "calais+paris");
    assert_string_equal(table_setting(table, "plaisance"), "zurich+marseille");
    assert_string_equal(table_setting(table, "salzbourg"), "munich+graz");
}

static void test_free_placement_is_asked_disc_by_disc(void **slot)
{
    Table *table = table_open(slot, "board=yard,placement=free,ask_forced=true");
    table_reset(table, 1);
    assert_int_equal(table->state.green, 0);
    assert_true(table_asks(table, PHASE_PLACE_CITY));
    assert_int_equal(table_choices(table), 4);
    table_do(table, "light.to mill/cross");
    assert_int_equal(table_choices(table), 2);
    table_do(table, "light.to mine/mill");
    assert_int_equal(table_choices(table), 1);
    table_do(table, "light.to harbour/cross");
    assert_true(table_asks(table, PHASE_PLACE_TRACK));
    assert_int_equal(table_choices(table), 2);
    table_do(table, "light.to cross~harbour");
    assert_true(table_asks(table, PHASE_PLACE_SWITCH));
    assert_int_equal(table_choices(table), 3);
    table_do(table, "switch ford north+south");
    assert_int_equal(table_choices(table), 6);
    table_do(table, "switch cross mine+east");
    assert_true(table_asks(table, PHASE_COLOUR));
    assert_true(table_green(table, "mill/cross"));
    assert_true(table_green(table, "mine/mill"));
    assert_true(table_green(table, "cross~harbour"));
    assert_string_equal(table_setting(table, "ford"), "north+south");
    assert_string_equal(table_setting(table, "cross"), "mine+east");
    assert_int_equal(hand_size(table->state.hand[1]), 5);
}

static void test_random_placement_is_legal_and_varied(void **slot)
{
    Table *table = table_open(slot, "board=europe,placement=random");
    uint64_t ever = 0;
    uint32_t settings[CONVOI_JUNCTIONS_MAX] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        table_reset(table, seed);
        const ConvoiState *state = &table->state;
        assert_int_equal(__builtin_popcountll(state->green), 8);
        assert_int_equal(__builtin_popcountll(state->green & table->tables->track_lights), 3);
        for (uint32_t city = 0; city < 5; city++) {
            assert_int_equal(__builtin_popcountll(state->green & table->tables->city_lights[city]),
                             1);
        }
        ever |= state->green;
        for (uint32_t i = 0; i < table->tables->junction_count; i++) {
            settings[i] |= 1u << state->setting[i];
        }
    }
    assert_int_equal(ever, (UINT64_C(1) << table->tables->light_count) - 1);
    for (uint32_t i = 0; i < table->tables->junction_count; i++) {
        assert_int_equal(settings[i], table->tables->junction_degree[i] == 3 ? 7 : 63);
    }
}

static void test_random_placement_can_be_scripted(void **slot)
{
    Table *table = table_open(slot, "board=yard,placement=random");
    table_script(table, STREAM_SWITCHES, "2");
    table_script(table, STREAM_SWITCHES, "5");
    table_script(table, STREAM_LIGHTS, "mill/mine");
    table_script(table, STREAM_LIGHTS, "mine/mill");
    table_script(table, STREAM_LIGHTS, "harbour/cross");
    table_script(table, STREAM_LIGHTS, "cross~harbour");
    table_reset(table, 1);
    assert_true(table_green(table, "mill/mine"));
    assert_true(table_green(table, "cross~harbour"));
    assert_string_equal(table_setting(table, "ford"), "south+mill");
    assert_string_equal(table_setting(table, "cross"), "harbour+east");
}

/* ---- Difficulty ------------------------------------------------------------------------------ */

static void test_clock_may_have_seven_to_ten_tokens(void **slot)
{
    for (uint8_t clock = 7; clock <= 10; clock++) {
        char options[64];
        snprintf(options, sizeof options, "board=yard,clock=%u", clock);
        Table *table = table_quiet(slot, options);
        table_put(table, "black.1", "cross-harbour.1", "harbour");
        assert_int_equal(table->state.clock, clock);
        table->state.clock = 1;
        table_ready(table);
        table_move(table, "black.1", 2);
        assert_int_equal(table->state.clock, clock - 1);
    }
    options_refused("convoi:board=yard,clock=6");
    options_refused("convoi:board=yard,clock=11");
}

static void test_zero_to_eight_cards_may_be_removed(void **slot)
{
    for (uint32_t removed = 0; removed <= 8; removed++) {
        char options[64];
        snprintf(options, sizeof options, "board=europe,removed=%u", removed);
        Table *table = table_open(slot, options);
        table_reset(table, 1);
        assert_int_equal(table->state.pile, 18 - removed);
    }
    options_refused("convoi:board=europe,removed=9");
}

static void test_extra_light_is_one_more_disc(void **slot)
{
    Table *table = table_open(slot, "board=europe,extra_light=true");
    table_reset(table, 1);
    assert_true(table_asks(table, PHASE_PLACE_EXTRA));
    assert_int_equal(table_choices(table), 29 - 8);
    table_do(table, "light.to marseille/geneve");
    assert_int_equal(__builtin_popcountll(table->state.green), 9);
    assert_true(table_green(table, "marseille/geneve"));
}

static void test_ten_goods_in_europe_are_two_of_each_and_two_more(void **slot)
{
    Table *table = table_quiet(slot, "board=europe,goods=10");
    assert_int_equal(table_goods_left(table, "paris"), 3);
    assert_int_equal(table->tables->goods_wanted, 10);
    static const char *const colours[] = {"blue", "yellow", "red", "white"};
    for (uint32_t i = 0; i < 4; i++) {
        table_deliver(table, "marseille", colours[i], 2);
    }
    table_put(table, "black.1", "geneve-marseille.1", "marseille");
    table_put(table, "black.2", "plaisance-marseille.1", "marseille");
    table_light(table, "limoges~geneve", "marseille/geneve");
    table_carry(table, "black.1", "blue");
    table_carry(table, "black.2", "white");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_int_equal(table->state.goods_delivered, 9);
    assert_false(table->state.head.over);
    table_move(table, "black.2", 2);
    assert_int_equal(table->state.goods_delivered, 10);
    assert_true(table->state.won);
}

static void test_ten_goods_in_america_are_one_more_in_each_port(void **slot)
{
    Table *table = table_quiet(slot, "board=two_ports,goods=10");
    assert_int_equal(table_goods_left(table, "mill"), 3);
    assert_int_equal(table->tables->goods_wanted, 6);
    static const char *const ports[] = {"gate", "bay"};
    for (uint32_t i = 0; i < 2; i++) {
        table_deliver(table, ports[i], "blue", 1);
        table_deliver(table, ports[i], "red", 1);
    }
    table_put(table, "black.1", "gate-mill.1", "gate");
    table_carry(table, "black.1", "red");
    table_put(table, "black.2", "mine-bay.1", "bay");
    table_carry(table, "black.2", "blue");
    table_ready(table);
    table_move(table, "black.1", 2);
    assert_int_equal(table->state.delivered[0][table_goods("red")], 2);
    assert_int_equal(table->state.goods_delivered, 5);
    assert_false(table->state.head.over);
    table_move(table, "black.2", 2);
    assert_int_equal(table->state.delivered[1][table_goods("blue")], 2);
    assert_true(table->state.won);
}

/* ---- Start tokens ---------------------------------------------------------------------------- */

static void test_shuffled_tokens_lie_on_the_starts_for_the_game(void **slot)
{
    Table *table = table_open(slot, "board=europe,starts=shuffled");
    for (uint32_t number = 2; number <= 12; number++) {
        char name[16];
        snprintf(name, sizeof name, "%u", 14 - number);
        table_script(table, STREAM_TOKENS, name);
    }
    table_script(table, STREAM_START_DICE, "8");
    table_script(table, STREAM_START_DICE, "2");
    table_script(table, STREAM_START_DICE, "12");
    table_reset(table, 1);
    assert_place(table, "black.1", "calais");
    assert_place(table, "brown.1", "le_havre");
    assert_place(table, "gray.1", "saragosse");
}

static void test_shuffled_tokens_differ_from_game_to_game(void **slot)
{
    Table *table = table_open(slot, "board=europe,starts=shuffled");
    uint32_t starts[CONVOI_NUMBERS] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        uint32_t used = 0;
        table_reset(table, seed);
        for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
            used |= 1u << table->state.number_start[i];
            starts[i] |= 1u << table->state.number_start[i];
        }
        assert_int_equal(used, 0x7ff);
    }
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        assert_int_equal(starts[i], 0x7ff);
    }
}

static void test_drawn_tokens_replace_the_start_dice(void **slot)
{
    Table *table = table_open(slot, "board=europe,starts=drawn");
    table_script(table, STREAM_TOKENS, "6");
    table_script(table, STREAM_TOKENS, "7");
    table_script(table, STREAM_TOKENS, "12");
    table_reset(table, 1);
    assert_place(table, "black.1", "calais");
    assert_place(table, "brown.1", "rostock");
    assert_place(table, "gray.1", "le_havre");
    assert_int_equal(table->state.head.draws[STREAM_START_DICE], 0);
}

static void test_drawn_token_comes_after_the_colour(void **slot)
{
    Table *table = table_quiet(slot, "board=europe,starts=drawn,ask_forced=true");
    table_ready(table);
    table_turn(table, "I05");
    table_do(table, "colour gray");
    assert_int_equal(table_told(table, EVENT_ROLL_START), 0);
    table_script(table, STREAM_TOKENS, "6");
    table_do(table, "start.roll");
    assert_place(table, "gray.1", "calais");
    assert_int_equal(table->state.token_spent[6 - 2], 1);
}

/* ---- Who begins, who sees what --------------------------------------------------------------- */

static void test_first_player_is_seat_0_or_drawn(void **slot)
{
    Table *table = table_open(slot, "board=europe,players=3");
    for (uint64_t seed = 0; seed < 20; seed++) {
        table_reset(table, seed);
        assert_int_equal(table->state.active, 0);
    }
    uint32_t begun[3] = {0};
    table = table_open(slot, "board=europe,players=3,first_player=random");
    for (uint64_t seed = 0; seed < 300; seed++) {
        table_reset(table, seed);
        begun[table->state.active]++;
    }
    for (uint32_t seat = 0; seat < 3; seat++) {
        assert_in_range(begun[seat], 70, 130);
    }
}

/* Value `index` of a block of the row of `seat`. */
static uint32_t row_value(const Table *table, uint32_t seat, bool full, const char *block,
                          uint32_t index)
{
    uint8_t row[TY_ROW_MAX];
    const TyShape *shape = ty_shape(table->ruleset);
    const TyBlock *blocks = full ? shape->full_blocks : shape->row_blocks;
    if (full) {
        ty_observe_full(table->ruleset, &table->state, seat, row);
    } else {
        ty_observe(table->ruleset, &table->state, seat, row);
    }
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        if (strcmp(blocks[i].name, block) == 0) {
            return row[blocks[i].offset + index];
        }
    }
    fail_msg("there is no block %s", block);
    return 0;
}

static Table *table_of_hands(void **slot, const char *options)
{
    Table *table = table_quiet(slot, options);
    table_hand(table, 0, 3, 3, 4);
    table_hand(table, 1, 1, 2, 0);
    table_hand(table, 2, 0, 4, 5);
    table_ready(table);
    return table;
}

static void test_open_hands_are_seen_by_all(void **slot)
{
    Table *table = table_of_hands(slot, "board=yard,players=3");
    for (uint32_t seat = 0; seat < 3; seat++) {
        for (uint32_t i = 0; i < 3; i++) {
            const uint8_t *hand = table->state.hand[(seat + i) % 3];
            assert_int_equal(row_value(table, seat, false, "hand_size", i), hand_size(hand));
            for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
                assert_int_equal(row_value(table, seat, false, "hand", CONVOI_KINDS * i + kind),
                                 hand[kind]);
                assert_int_equal(row_value(table, seat, false, "deck", kind),
                                 table->state.deck[kind]);
            }
        }
    }
}

static void test_hidden_hands_show_their_size_only(void **slot)
{
    Table *table = table_of_hands(slot, "board=yard,players=3,hands=hidden");
    for (uint32_t seat = 0; seat < 3; seat++) {
        for (uint32_t i = 0; i < 3; i++) {
            const uint8_t *hand = table->state.hand[(seat + i) % 3];
            assert_int_equal(row_value(table, seat, false, "hand_size", i), hand_size(hand));
            for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
                uint32_t at = CONVOI_KINDS * i + kind;
                assert_int_equal(row_value(table, seat, false, "hand", at),
                                 i == 0 ? hand[kind] : 0);
                assert_int_equal(row_value(table, seat, true, "hand", at), hand[kind]);
            }
        }
    }
}

static void test_hidden_hands_count_as_unseen_cards(void **slot)
{
    Table *table = table_of_hands(slot, "board=yard,players=3,hands=hidden");
    for (uint32_t seat = 0; seat < 3; seat++) {
        for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
            uint32_t unseen = 27u - table->state.hand[seat][kind];
            assert_int_equal(row_value(table, seat, false, "deck", kind), unseen);
            assert_int_equal(row_value(table, seat, true, "deck", kind), table->state.deck[kind]);
        }
    }
}

static void test_hidden_hands_are_dealt_anew_in_their_sizes(void **slot)
{
    Table *table = table_of_hands(slot, "board=yard,players=3,hands=hidden");
    ConvoiState before = table->state;
    uint32_t changed = 0;
    for (uint64_t key = 0; key < 20; key++) {
        table->state = before;
        ty_resample(table->ruleset, &table->state, 1, key);
        table_settle(table);
        assert_memory_equal(table->state.hand[1], before.hand[1], CONVOI_KINDS);
        assert_int_equal(hand_size(table->state.hand[0]), 10);
        assert_int_equal(hand_size(table->state.hand[2]), 9);
        changed += memcmp(table->state.hand, before.hand, sizeof before.hand) != 0;
    }
    assert_true(changed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_two_to_four_players_hold_five_cards_each),
        TABLE_TEST(test_one_or_five_players_are_refused),
        TABLE_TEST(test_action_cards_are_27_of_each_kind),
        TABLE_TEST(test_clock_begins_with_seven_tokens),
        TABLE_TEST(test_two_goods_of_its_colour_wait_in_each_city),
        TABLE_TEST(test_sixteen_cards_lie_under_the_first),
        TABLE_TEST(test_removed_cards_are_any_of_the_deck),
        TABLE_TEST(test_nine_trains_begin_in_the_depot),
        TABLE_TEST(test_staff_are_ready),
        TABLE_TEST(test_first_game_placement_is_the_printed_one),
        TABLE_TEST(test_free_placement_is_asked_disc_by_disc),
        TABLE_TEST(test_random_placement_is_legal_and_varied),
        TABLE_TEST(test_random_placement_can_be_scripted),
        TABLE_TEST(test_clock_may_have_seven_to_ten_tokens),
        TABLE_TEST(test_zero_to_eight_cards_may_be_removed),
        TABLE_TEST(test_extra_light_is_one_more_disc),
        TABLE_TEST(test_ten_goods_in_europe_are_two_of_each_and_two_more),
        TABLE_TEST(test_ten_goods_in_america_are_one_more_in_each_port),
        TABLE_TEST(test_shuffled_tokens_lie_on_the_starts_for_the_game),
        TABLE_TEST(test_shuffled_tokens_differ_from_game_to_game),
        TABLE_TEST(test_drawn_tokens_replace_the_start_dice),
        TABLE_TEST(test_drawn_token_comes_after_the_colour),
        TABLE_TEST(test_first_player_is_seat_0_or_drawn),
        TABLE_TEST(test_open_hands_are_seen_by_all),
        TABLE_TEST(test_hidden_hands_show_their_size_only),
        TABLE_TEST(test_hidden_hands_count_as_unseen_cards),
        TABLE_TEST(test_hidden_hands_are_dealt_anew_in_their_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
