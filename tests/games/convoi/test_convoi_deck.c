/* Convoi Express: the standard deck, and decks that are refused. */
#include "tests/games/convoi/board_files.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

static void expect_deck_failure(const char *from, const char *to, const char *message)
{
    char *text = text_replace(data_text("standard_deck"), from, to);
    expect_failure(text_read(text, convoi_deck_read), message);
}

/* ---- Built-in files -------------------------------------------------------------------------- */

static void test_standard_deck_has_18_cards(void **state)
{
    (void)state;
    expect_ok(text_read(data_text("standard_deck"), convoi_deck_read));
    assert_int_equal(tables.card_count, 18);
    assert_int_equal(tables.first_card.new_count, 3);
    assert_int_equal(tables.first_card.move_count, 0);
    assert_string_equal(tables.names.bytes + tables.card_name[1], "I02");
    assert_int_equal(tables.cards[1].new_colour[0], CONVOI_COLOUR_ANY);
    assert_int_equal(tables.cards[1].move_colour[0], 0);
    assert_int_equal(tables.cards[1].move_colour[1], 2);
}

/* ---- Decks that are refused ------------------------------------------------------------------ */

static void test_deck_needs_its_format_word(void **state)
{
    (void)state;
    char *text = text_replace(data_text("standard_deck"), "convoi-deck-1", "convoi-board-1");
    expect_ruleset_failure("convoi:deck=mine", text, "format: must be \"convoi-deck-1\"");
}

static void test_unknown_key_of_a_card_is_refused(void **state)
{
    (void)state;
    expect_deck_failure("\"id\": \"I03\"", "\"id\": \"I03\", \"go\": []",
                        "cards[2]: unknown key \"go\"");
}

static void test_deck_needs_a_first_card(void **state)
{
    (void)state;
    expect_deck_failure("\"first\": {\"new\": [\"black\", \"brown\", \"gray\"], \"move\": []},", "",
                        "\"first\" is missing");
}

static void test_deck_without_cards_is_refused(void **state)
{
    (void)state;
    char *text = data_text("standard_deck");
    char *cards = strstr(text, "\"cards\": [");
    assert_non_null(cards);
    strcpy(cards, "\"cards\": []}");
    expect_failure(text_read(text, convoi_deck_read), "cards: must have 1 to 32 entries, not 0");
}

static void test_two_cards_with_one_id_are_refused(void **state)
{
    (void)state;
    expect_deck_failure("\"id\": \"I03\"", "\"id\": \"I02\"",
                        "cards[2].id: \"I02\" is there twice");
}

static void test_unknown_colour_of_a_card_is_refused(void **state)
{
    (void)state;
    expect_deck_failure(
        "\"move\": [\"black\", \"gray\"]", "\"move\": [\"black\", \"green\"]",
        "cards[1].move[1]: must be one of \"black\", \"brown\", \"gray\", \"multi\"");
}

static void test_any_is_no_move_and_multi_no_new_train(void **state)
{
    (void)state;
    expect_deck_failure("\"move\": [\"multi\"]", "\"move\": [\"any\"]",
                        "cards[0].move[0]: must be one of");
    expect_deck_failure("\"new\": [\"any\", \"any\"]", "\"new\": [\"any\", \"multi\"]",
                        "cards[0].new[1]: must be one of");
}

static void test_card_of_five_new_trains_is_refused(void **state)
{
    (void)state;
    expect_deck_failure("\"new\": [\"any\", \"any\"]",
                        "\"new\": [\"any\", \"any\", \"any\", \"any\", \"any\"]",
                        "cards[0].new: must have 0 to 4 entries, not 5");
}

static void test_card_of_four_multi_is_refused(void **state)
{
    (void)state;
    expect_deck_failure("[\"multi\", \"multi\", \"multi\"]",
                        "[\"multi\", \"multi\", \"multi\", \"multi\"]",
                        "cards[9]: \"multi\" symbols and printed colours of \"move\" need 4");
}

static void test_multi_needs_a_colour_that_is_not_printed(void **state)
{
    (void)state;
    expect_deck_failure("[\"multi\", \"multi\", \"multi\"]",
                        "[\"multi\", \"multi\", \"multi\", \"gray\"]", "need 4 different colours");
    char *text = text_replace(data_text("standard_deck"), "[\"multi\", \"multi\", \"multi\"]",
                              "[\"gray\", \"gray\", \"multi\", \"multi\"]");
    expect_ok(text_read(text, convoi_deck_read));
}

static void test_card_without_symbol_is_refused(void **state)
{
    (void)state;
    expect_deck_failure("\"new\": [], \"move\": [\"multi\"]", "\"new\": [], \"move\": []",
                        "cards[12]: a card needs at least one symbol");
}

static void test_first_card_has_fixed_colours(void **state)
{
    (void)state;
    expect_deck_failure("[\"black\", \"brown\", \"gray\"]", "[\"black\", \"any\", \"gray\"]",
                        "first.new: the new trains of the first card have fixed colours");
}

static void test_board_needs_a_start_for_each_train_of_the_first_card(void **state)
{
    (void)state;
    char *text = text_replace(data_text("standard_deck"), "[\"black\", \"brown\", \"gray\"]",
                              "[\"black\", \"brown\", \"gray\", \"gray\"]");
    TyDoc doc;
    expect_ok(load_json(text, strlen(text), &doc));
    memset(&tables, 0, sizeof tables);
    tables.start_count = 3;
    expect_failure(convoi_deck_read(&doc, &tables),
                   "first.new: the board has 3 starts, too few for 4 new trains");
    memset(&tables, 0, sizeof tables);
    tables.start_count = 4;
    expect_ok(convoi_deck_read(&doc, &tables));
    load_free(&doc);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_deck_has_18_cards),
        cmocka_unit_test(test_deck_needs_its_format_word),
        cmocka_unit_test(test_unknown_key_of_a_card_is_refused),
        cmocka_unit_test(test_deck_needs_a_first_card),
        cmocka_unit_test(test_deck_without_cards_is_refused),
        cmocka_unit_test(test_two_cards_with_one_id_are_refused),
        cmocka_unit_test(test_unknown_colour_of_a_card_is_refused),
        cmocka_unit_test(test_any_is_no_move_and_multi_no_new_train),
        cmocka_unit_test(test_card_of_five_new_trains_is_refused),
        cmocka_unit_test(test_card_of_four_multi_is_refused),
        cmocka_unit_test(test_multi_needs_a_colour_that_is_not_printed),
        cmocka_unit_test(test_card_without_symbol_is_refused),
        cmocka_unit_test(test_first_card_has_fixed_colours),
        cmocka_unit_test(test_board_needs_a_start_for_each_train_of_the_first_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
