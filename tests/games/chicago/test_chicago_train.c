/* Ligne de train, Chicago: paths, rows, counts of lines of play, and train files. */
#include "tests/games/chicago/chicago_table.h"
#include "tests/games/perft.h"

/* ---- Paths -------------------------------------------------------------------------------------
 */

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
            CellSet fast_through = chicago_way_through(&way, length);
            CellSet slow_through = chicago_way_through(&slow, length);
            assert_memory_equal(&fast_ends, &slow_ends, sizeof fast_ends);
            assert_memory_equal(&fast_through, &slow_through, sizeof fast_through);
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
    assert_true(table_may(table, "to 1.a0"));
    assert_false(table_may(table, "to 1.d2"));
    assert_false(table_may(table, "to 1.d0"));
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
    assert_int_equal(row[table->ruleset->block_at[BLOCK_SITTING]], 2);
    assert_int_equal(row[table->ruleset->block_at[BLOCK_SEATED] + 1], 1);
    assert_int_equal(row[table->ruleset->block_at[BLOCK_TURN]], 0);
}

/* ---- Counts of lines of play on the tiny train -------------------------------------------------
 */

static void test_perft_tiny_from_the_start(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {7, 26, 108, 480, 2202};
    perft_is(table_ruleset("chicago:train=tiny"), 1, 0, expected, 5);
}

static void test_perft_tiny_in_mid_game(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {3, 12, 60, 202};
    perft_is(table_ruleset("chicago:train=tiny,players=3"), 2, 12, expected, 4);
}

static void test_perft_tiny_with_every_outcome_of_chance(void **unused)
{
    (void)unused;
    const uint64_t expected[] = {2, 20, 180, 2160};
    perft_is(table_ruleset("chicago:train=tiny,chance=seat"), 0, 0, expected, 4);
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
    uint32_t opened = 0;
    assert_int_equal(table_file_open(&opened, "tiny", &bytes, &size, name).code, TY_OK);
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
        TABLE_TEST(test_c2_tables_and_search_find_the_same_ends),
        TABLE_TEST(test_roomy_train_is_searched),
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
