/* Files of users that are wrong in one place: each is refused with a sentence that says where, what
 * is there and what is allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/file_text.h"
#include "trainyard.h"

/* One wrong thing in a file: what is replaced, by what, and the refusal. */
typedef struct Wrong {
    const char *from;
    const char *to;
    const char *message;
} Wrong;

#define TEXT_60 "sixty_letters_are_the_most_that_an_id_or_a_title_may_have_60"
#define TEXT_150 TEXT_60 TEXT_60 "and_thirty_letters_more_of_150"

static void status_says(const TyStatus *status, TyCode code, const char *message)
{
    if (status->code != code || strcmp(status->message, message) != 0) {
        fail_msg("code %d, \"%s\"; expected code %d, \"%s\"", status->code, status->message, code,
                 message);
    }
}

static void text_refused(char *text, const char *message)
{
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    TyStatus status = ty_file_check(text, strlen(text), &kind, name);
    free(text);
    status_says(&status, TY_BAD_FILE, message);
}

static void all_refused(const char *path, const Wrong *wrongs, size_t count)
{
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    char *sound = file_text(path);
    assert_int_equal(ty_file_check(sound, strlen(sound), &kind, name).code, TY_OK);
    free(sound);
    for (size_t i = 0; i < count; i++) {
        text_refused(text_replace(file_text(path), wrongs[i].from, wrongs[i].to),
                     wrongs[i].message);
    }
}

#define ALL_REFUSED(path, wrongs) all_refused(path, wrongs, sizeof(wrongs) / sizeof((wrongs)[0]))

/* ---- What all files have in common ----------------------------------------------------------- */

static void test_format_that_no_game_knows_is_refused_with_those_that_are(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"chicago-train-1", "chicago-train-9",
         "format: 'chicago-train-9' is not known; there are convoi-board-1, convoi-deck-1, "
         "nordic-map-1, express-map-1, chicago-train-1"},
        {"\"format\": \"chicago-train-1\",", "", "\"format\" is missing"},
        {"\"format\": \"chicago-train-1\"", "\"format\": null", "format: must be a text, not null"},
        {"\"format\": \"chicago-train-1\"", "\"format\": {}",
         "format: must be a text, not an object"},
        {"\"format\": \"chicago-train-1\"", "\"format\": 1.5",
         "format: must be a text, not a number with a fraction"},
        {"\"name\": \"tiny\"", "\"name\": true", "name: must be a text, not true or false"},
    };
    ALL_REFUSED("tests/data/chicago_tiny.json", wrongs);
}

/* A refusal quotes what is there as far as a message reaches, and never half a character. */
static void test_long_quotation_is_cut_between_characters(void **unused)
{
    (void)unused;
    for (uint32_t shift = 0; shift < 3; shift++) {
        char line[600] = "\"title\": \"";
        const char *kind = NULL;
        char name[TY_NAME_MAX];
        memset(line + strlen(line), 'x', shift);
        for (uint32_t i = 0; i < 150; i++) {
            strcat(line, "€");
        }
        strcat(line, "\"");
        char *text =
            text_replace(file_text("env/games/nordic/data/tiny.json"), "\"title\": \"Tiny\"", line);
        TyStatus status = ty_file_check(text, strlen(text), &kind, name);
        free(text);
        assert_int_equal(status.code, TY_BAD_FILE);
        assert_ptr_equal(strstr(status.message, "title: must be one line of 1 to 60 bytes, not"),
                         status.message);
        size_t length = strlen(status.message);
        assert_true(length >= TY_MESSAGE_MAX - 4 && length < TY_MESSAGE_MAX);
        assert_memory_equal(status.message + length - 3, "€", 3);
    }
}

static void test_long_quotation_of_ascii_fills_the_message(void **unused)
{
    (void)unused;
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    char *text = text_replace(file_text("env/games/nordic/data/tiny.json"), "\"title\": \"Tiny\"",
                              "\"title\": \"" TEXT_150 TEXT_150 TEXT_150 "\"");
    TyStatus status = ty_file_check(text, strlen(text), &kind, name);
    free(text);
    assert_int_equal(status.code, TY_BAD_FILE);
    assert_int_equal(strlen(status.message), TY_MESSAGE_MAX - 1);
}

static void test_objects_nested_too_deep_are_refused(void **unused)
{
    (void)unused;
    char text[256] = "";
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    for (uint32_t i = 0; i < 16; i++) {
        strcat(text, "{\"a\":");
    }
    strcat(text, "1}}}}}}}}}}}}}}}}");
    TyStatus status = ty_file_check(text, strlen(text), &kind, name);
    status_says(&status, TY_LIMIT, "nested more than 16 levels deep");
}

/* ---- Trains of Ligne de train, Chicago ------------------------------------------------------- */

#define TRAIN "tests/data/chicago_tiny.json"

static void test_train_words_are_refused_by_name(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"\"name\": \"tiny\"", "\"name\": \"\"",
         "name: must be 1 to 60 characters of a-z 0-9 _./~+-, not \"\""},
        {"\"name\": \"tiny\"", "\"name\": \"" TEXT_60 "x\"",
         "name: must be 1 to 60 characters of a-z 0-9 _./~+-, not \"" TEXT_60 "x\""},
        {"\"name\": \"tiny\"", "\"name\": \"Tiny\"",
         "name: must be 1 to 60 characters of a-z 0-9 _./~+-, not \"Tiny\""},
        {"\"title\": \"One\"", "\"title\": \"\"",
         "tiles[0].title: must be one line of 1 to 60 bytes, not \"\""},
        {"\"title\": \"One\"", "\"title\": \"" TEXT_60 "x\"",
         "tiles[0].title: must be one line of 1 to 60 bytes, not \"" TEXT_60 "x\""},
        {"\"title\": \"One\"", "\"title\": \"O\\ne\"",
         "tiles[0].title: must be one line of 1 to 60 bytes, not \"O\ne\""},
        {"\"title\": \"One\"", "\"title\": \"O\\u007fe\"",
         "tiles[0].title: must be one line of 1 to 60 bytes, not \"O\x7f"
         "e\""},
        {"\"title\": \"One\"", "\"title\": 1",
         "tiles[0].title: must be a text, not a whole number"},
        {"\"status\": \"invention: a train for tests\"", "\"status\": \"\"",
         "status: must be one line of 1 to 150 bytes, not \"\""},
    };
    ALL_REFUSED(TRAIN, wrongs);
}

static void test_train_numbers_are_refused_by_name(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"[2, 2, 2]", "[2, 2, \"2\"]", "pawns[2]: must be a whole number from 1 to 20"},
        {"[2, 2, 2]", "[21, 2, 2]", "pawns[0]: must be a whole number from 1 to 20"},
        {"\"spinner\": {\"open\": 1, \"closed\": 1},", "", "\"spinner\" is missing"},
        {"\"spinner\": {\"open\": 1, \"closed\": 1}", "\"spinner\": 3",
         "spinner: must be an object, not a whole number"},
        {"\"closed\": 1", "\"closed\": 101",
         "spinner.closed: must be a whole number from 0 to 100, not 101"},
        {"\"copies\": 1, \"star\": \"red\"}\n  ]", "\"copies\": 1, \"star\": \"green\"}\n  ]",
         "actions[15].star: the star of rebel must be red"},
    };
    ALL_REFUSED(TRAIN, wrongs);
}

static void test_train_of_too_many_action_cards_is_refused(void **unused)
{
    (void)unused;
    char *text = file_text(TRAIN);
    for (uint32_t i = 0; i < 11; i++) {
        text = text_replace(text, "\"copies\": 1,", "\"copies\": 20,");
    }
    text_refused(text, "actions: there are 222 cards, must be 13 to 200");
}

static void test_tile_errors_are_refused_by_place(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"\"rows\": [\"SSS\", \"AAA\", \"SPS\"]", "\"rows\": []",
         "tiles[0].rows: must have 1 to 6 entries, not 0"},
        {"\"rows\": [\"SSS\", \"AAA\", \"SPS\"]", "\"rows\": [\"S\", \"A\"]",
         "tiles[0].rows: a row has 2 to 8 characters"},
        {"\"rows\": [\"SSS\", \"AAA\", \"SPS\"]", "\"rows\": [\"SSSSSSSSS\"]",
         "tiles[0].rows: a row has 2 to 8 characters"},
        {"\"rows\": [\"SSS\", \"AAA\", \"SPS\"]", "\"rows\": [3]",
         "tiles[0].rows: a row has 2 to 8 characters"},
        {"\"AAA\", \"SPS\"", "\"AAA\", 3", "tiles[0].rows[2]: must be a text of 3 characters"},
        {"\"SSS\"", "\"XYZ\"", "tiles[0].rows[0]: 'X' is no cell: A aisle, S seat, P passenger"},
        {"\"a0|b0\"", "5", "tiles[0].bars[0]: a bar is two cells of the tile such as \"a0|b0\""},
        {"\"a0|b0\"", "\"a0|b\"",
         "tiles[0].bars[0]: a bar is two cells of the tile such as \"a0|b0\""},
        {"\"a0|b0\"", "\"a0-b0\"",
         "tiles[0].bars[0]: a bar is two cells of the tile such as \"a0|b0\""},
        {"\"a0|b0\"", "\"A0|b0\"",
         "tiles[0].bars[0]: a bar is two cells of the tile such as \"a0|b0\""},
        {"\"a0|b0\"", "\"a0|b/\"",
         "tiles[0].bars[0]: a bar is two cells of the tile such as \"a0|b0\""},
        {"\"a0|b0\"", "\"a3|b0\"",
         "tiles[0].bars[0]: a bar is two cells of the tile such as \"a0|b0\""},
        {"\"a0|b0\"", "\"a0|b0\", \"b0|a0\", \"c0|c1\"",
         "tiles[0].bars[1]: the two cells are no neighbours, or have a bar already"},
        {"\"door\": \"a1\"", "\"door\": \"a\"",
         "tiles[0].starts[0].door: must name an aisle cell of the tile, not \"a\""},
        {"\"door\": \"a1\"", "\"door\": \"a9\"",
         "tiles[0].starts[0].door: must name an aisle cell of the tile, not \"a9\""},
        {"\"door\": \"a1\"", "\"door\": false",
         "tiles[0].starts[0].door: must be a text, not true or false"},
        {"{\"id\": \"west\", \"door\": \"a1\"}",
         "{\"id\": \"west\", \"door\": \"a1\"}, {\"id\": \"west\", \"door\": \"c1\"}",
         "tiles[0].starts[1]: \"west\" is there twice"},
        {"{\"id\": \"west\", \"door\": \"a1\"}",
         "{\"id\": \"west\", \"door\": \"z1\"}, {\"id\": \"west\", \"door\": \"c1\"}",
         "tiles[0].starts[0].door: must name an aisle cell of the tile, not \"z1\""},
        {"\"fixed\": [\"one\", \"two\"]", "\"fixed\": [1, \"two\"]",
         "fixed[0]: must be the id of a tile that is not used yet"},
    };
    ALL_REFUSED(TRAIN, wrongs);
}

/* The list of tiles is the last of the file, so that it can be cut out whole. */
static void test_train_without_tiles_is_refused(void **unused)
{
    (void)unused;
    char *text = file_text(TRAIN);
    char *list = strstr(text, "\"tiles\": [");
    assert_non_null(list);
    strcpy(list, "\"tiles\": []}");
    text_refused(text, "tiles: must have 2 to 6 entries, not 0");
}

/* ---- Maps of the ticket games ---------------------------------------------------------------- */

#define NORDIC "env/games/nordic/data/tiny.json"
#define EXPRESS "env/games/express/data/tiny.json"

static void test_map_words_are_refused_by_name(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"\"name\": \"tiny\"", "\"name\": \"\"",
         "name: must be 1 to 60 characters of a-z 0-9 _./~+-, not \"\""},
        {"\"name\": \"tiny\"", "\"name\": \"" TEXT_60 "x\"",
         "name: must be 1 to 60 characters of a-z 0-9 _./~+-, not \"" TEXT_60 "x\""},
        {"\"title\": \"Tiny\"", "\"title\": \"\"",
         "title: must be one line of 1 to 60 bytes, not \"\""},
        {"\"title\": \"Tiny\"", "\"title\": \"" TEXT_60 "x\"",
         "title: must be one line of 1 to 60 bytes, not \"" TEXT_60 "x\""},
        {"\"title\": \"Tiny\"", "\"title\": \"T\\u007fy\"",
         "title: must be one line of 1 to 60 bytes, not \"T\x7fy\""},
        {"\"title\": \"Tiny\"", "\"title\": \"T\\ty\"",
         "title: must be one line of 1 to 60 bytes, not \"T\ty\""},
        {"[\"red\", \"blue\", \"green\"]", "[\"red\", 2, \"green\"]", "colours[1]: must be a text"},
        {"[\"red\", \"blue\", \"green\"]", "[\"red\", \"blue\", \"locomotive\"]",
         "colours[2]: \"locomotive\" is not a colour of cards"},
        {"[\"red\", \"blue\", \"green\"]", "[\"red\", \"red\", \"green\"]",
         "colours[1]: \"red\" is there twice"},
        {"\"xy\": [0, 2]", "\"xy\": [0, \"2\"]", "cities[0].xy[1]: must be a number"},
        {"\"xy\": [0, 2]", "\"xy\": [0, 2000000]",
         "cities[0].xy[1]: must be from -1000000 to 1000000"},
    };
    ALL_REFUSED(NORDIC, wrongs);
}

static void test_score_table_errors_are_refused_by_place(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"[[1, 1],", "[1,", "points[0]: must be a pair [length, points]"},
        {"[[1, 1],", "[[1],", "points[0]: must be a pair [length, points]"},
        {"[[1, 1],", "[[10, 1],", "points[0]: the length must be from 1 to 9"},
        {"[[1, 1],", "[[0, 1],", "points[0][0]: must be a whole number from 1 to 100"},
        {"[[1, 1],", "[[1, 101],", "points[0][1]: must be a whole number from 1 to 100"},
        {"[[1, 1],", "[[1, \"one\"],", "points[0][1]: must be a whole number from 1 to 100"},
    };
    ALL_REFUSED(NORDIC, wrongs);
}

static void test_third_route_between_two_cities_is_refused_in_either_direction(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"\"a\": \"bodo\", \"b\": \"ceuta\", \"length\"",
         "\"a\": \"bodo\", \"b\": \"alta\", \"length\"",
         "routes[2]: is the third route between the same two cities"},
        {"\"a\": \"bodo\", \"b\": \"ceuta\", \"length\"",
         "\"a\": \"bodo\", \"b\": \"bodo\", \"length\"",
         "routes[2]: begins and ends in the same city"},
    };
    ALL_REFUSED(NORDIC, wrongs);
}

static void test_link_of_an_express_map_is_required(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"\"link\": {\"from\": \"aube\", \"to\": \"falaise\", \"points\": [4, 3, 2, 1]},", "",
         "\"link\" is missing"},
        {"[4, 3, 2, 1]", "[4, 3, 2, 0]", "link.points[3]: must be a whole number from 1 to 100"},
        {"[4, 3, 2, 1]", "[true]", "link.points[0]: must be a whole number from 1 to 100"},
    };
    ALL_REFUSED(EXPRESS, wrongs);
}

/* A key that says "no" is as good as none. */
static void test_route_may_say_that_it_is_no_tunnel(void **unused)
{
    (void)unused;
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    char *text = text_replace(file_text(NORDIC), "\"colour\": \"green\"}",
                              "\"colour\": \"green\", \"tunnel\": false, \"four_for_one\": false}");
    TyStatus status = ty_file_check(text, strlen(text), &kind, name);
    free(text);
    status_says(&status, TY_OK, "");
    assert_string_equal(name, "tiny");
}

/* Adds `format` with what follows to the text of a file that is being made. */
static void text_append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void text_append(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    int added = vsnprintf(text + length, FILE_TEXT_MAX - length, format, args);
    va_end(args);
    assert_true(added > 0 && (size_t)added < FILE_TEXT_MAX - length);
}

static void test_largest_map_may_have_the_longest_names(void **unused)
{
    (void)unused;
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    const char *id = "fifty_five_letters_in_front_of_a_number_of_five_digits_";
    char *text = file_text(NORDIC);
    char *cities = strstr(text, "\"cities\": [");
    assert_non_null(cities);
    strcpy(cities, "\"cities\": [");
    for (int i = 0; i < 48; i++) {
        text_append(text, "%s{\"id\": \"%s%05d\", \"title\": \"%s\", \"xy\": [0, 0]}",
                    i == 0 ? "" : ", ", id, i, TEXT_60);
    }
    text_append(text, "], \"tickets\": [");
    for (int i = 0; i < 64; i++) {
        text_append(text,
                    "%s{\"id\": \"%s%05d\", \"a\": \"%s%05d\", \"b\": \"%s%05d\", \"points\": 1}",
                    i == 0 ? "" : ", ", id, i, id, i % 48, id, (i + 1) % 48);
    }
    text_append(text, "], \"routes\": [");
    for (int i = 0; i < 128; i++) {
        text_append(text,
                    "%s{\"id\": \"%s%05d\", \"a\": \"%s%05d\", \"b\": \"%s%05d\", \"length\": 1, "
                    "\"colour\": \"gray\"}",
                    i == 0 ? "" : ", ", id, i, id, i % 48, id, (i % 48 + 1 + i / 48) % 48);
    }
    text_append(text, "]}");
    TyStatus status = ty_file_check(text, strlen(text), &kind, name);
    free(text);
    status_says(&status, TY_OK, "");
}

/* ---- Boards and decks of Convoi Express ------------------------------------------------------ */

static void test_board_errors_are_refused_by_place(void **unused)
{
    (void)unused;
    static const Wrong wrongs[] = {
        {"\"title\": \"Tiny\"", "\"title\": \"\"",
         "title: must be one line of 1 to 60 bytes, not \"\""},
        {"\"title\": \"Tiny\"", "\"title\": \"" TEXT_60 "x\"",
         "title: must be one line of 1 to 60 bytes, not \"" TEXT_60 "x\""},
        {"\"title\": \"Tiny\"", "\"title\": \"T\\u007f\"",
         "title: must be one line of 1 to 60 bytes, not \"T\x7f\""},
        {"\"id\": \"mill\"", "\"id\": \"\"",
         "cities[0].id: must be 1 to 60 characters of a-z 0-9 _./~+-, not \"\""},
        {"\"port\": true", "\"port\": false",
         "cities[2]: a city has either \"goods\" or \"port\": true"},
        {"\"goods\": \"blue\"", "\"goods\": 3", "cities[0].goods: must be a text"},
        {"[4, 7]", "[1, 7]", "starts[0].numbers[0]: must be a whole number from 2 to 12"},
        {"[4, 7]", "[\"4\", 7]", "starts[0].numbers[0]: must be a whole number from 2 to 12"},
        {"[\"north_west-west\", \"west-mill\"]", "[\"nowhere\", \"west-mill\"]",
         "junctions[0].open[0]: no segment of junction \"west\" has the id \"nowhere\""},
    };
    ALL_REFUSED("env/games/convoi/data/tiny.json", wrongs);
}

/* ---- Rulesets with files of the user's own --------------------------------------------------- */

/* What a ruleset is offered for every file that is not built in. */
typedef struct Offer {
    const char *board;
    const char *other;
} Offer;

static TyStatus offer_open(void *user, const char *value, const char **bytes, size_t *size,
                           char name[TY_NAME_MAX])
{
    const Offer *offer = user;
    *bytes = strcmp(value, "other") == 0 ? offer->other : offer->board;
    *size = strlen(*bytes);
    snprintf(name, TY_NAME_MAX, "%s", value);
    return (TyStatus){.code = TY_OK};
}

static void ruleset_refused(const char *spec, Offer offer, TyCode code, const char *message)
{
    TyRuleset *ruleset = NULL;
    TyFiles files = {.user = &offer, .open = offer_open};
    TyStatus status = ty_ruleset_open(spec, &files, &ruleset);
    assert_null(ruleset);
    status_says(&status, code, message);
}

static void test_file_of_another_game_is_refused(void **unused)
{
    (void)unused;
    char *map = file_text(EXPRESS);
    Offer offer = {.board = map};
    ruleset_refused("nordic:map=mine", offer, TY_BAD_FILE,
                    "format: must be \"nordic-map-1\", not \"express-map-1\"");
    ruleset_refused("chicago:train=mine", offer, TY_BAD_FILE,
                    "format: must be \"chicago-train-1\", not \"express-map-1\"");
    ruleset_refused("convoi:board=mine", offer, TY_BAD_FILE,
                    "format: must be \"convoi-board-1\", not \"express-map-1\"");
    map = text_replace(map, "express-map-1", "express-map-7");
    offer.board = map;
    ruleset_refused("express:map=mine", offer, TY_BAD_FILE,
                    "format: must be \"express-map-1\", not \"express-map-7\"");
    free(map);
}

static void test_file_without_a_format_is_refused_by_every_game(void **unused)
{
    (void)unused;
    Offer offer = {.board = "{\"name\": \"mine\"}"};
    ruleset_refused("nordic:map=mine", offer, TY_BAD_FILE, "\"format\" is missing");
    ruleset_refused("chicago:train=mine", offer, TY_BAD_FILE, "\"format\" is missing");
    ruleset_refused("convoi:board=mine", offer, TY_BAD_FILE, "\"format\" is missing");
    ruleset_refused("convoi:deck=mine", offer, TY_BAD_FILE, "\"format\" is missing");
}

/* Nothing to say of a train that is as printed; its tiles need not have equally many seats. */
static void test_train_may_have_no_status_and_unequal_tiles(void **unused)
{
    (void)unused;
    char *text =
        text_replace(file_text(TRAIN), "  \"status\": \"invention: a train for tests\",\n", "");
    text = text_replace(text, "[\"SPS\", \"AAA\", \"SSS\"]", "[\"SSS\", \"AAA\", \"SSS\"]");
    Offer offer = {.board = text};
    TyRuleset *ruleset = NULL;
    TyFiles files = {.user = &offer, .open = offer_open};
    TyStatus status = ty_ruleset_open("chicago:train=mine", &files, &ruleset);
    status_says(&status, TY_OK, "");
    assert_string_equal(ty_shape(ruleset)->note, "");
    ty_ruleset_close(ruleset);
    free(text);
}

static void test_file_whose_content_has_another_hash_is_refused(void **unused)
{
    (void)unused;
    char *map = file_text(EXPRESS);
    TyRuleset *ruleset = NULL;
    Offer offer = {.board = map};
    TyFiles files = {.user = &offer, .open = offer_open};
    char spec[TY_SPEC_MAX];
    char message[TY_MESSAGE_MAX];
    assert_int_equal(ty_ruleset_open("express:map=mine", &files, &ruleset).code, TY_OK);
    snprintf(spec, sizeof spec, "%s", ty_shape(ruleset)->spec);
    ty_ruleset_close(ruleset);
    const char *hash = strstr(spec, "mine@");
    assert_non_null(hash);
    snprintf(message, sizeof message, "map=mine@01234567: the content has hash %.8s", hash + 5);
    ruleset_refused("express:map=mine@01234567", offer, TY_BAD_CONFIG, message);
    assert_int_equal(ty_ruleset_open(spec, &files, &ruleset).code, TY_OK);
    ty_ruleset_close(ruleset);
    free(map);
}

static void test_deck_needs_more_cards_than_are_removed(void **unused)
{
    (void)unused;
    Offer offer = {.board = "{\"format\": \"convoi-deck-1\", \"name\": \"short\", \"first\": "
                            "{\"new\": [\"black\"], \"move\": []}, \"cards\": "
                            "[{\"id\": \"a\", \"new\": [\"any\"], \"move\": []}]}"};
    ruleset_refused("convoi:deck=mine,removed=1", offer, TY_BAD_CONFIG,
                    "removed=1: the deck has 1 cards; allowed is 0..0");
    ruleset_refused("convoi:deck=mine,removed=4", offer, TY_BAD_CONFIG,
                    "removed=4: the deck has 1 cards; allowed is 0..0");
}

/* A board with three starts and two cities whose lights are all green. */
#define GREEN_BOARD                                                                                \
    "{\"format\": \"convoi-board-1\", \"name\": \"green\", \"title\": \"Green\", \"rules\": "      \
    "\"europe\", \"green_discs\": 2, \"cities\": [{\"id\": \"mill\", \"title\": \"Mill\", "        \
    "\"goods\": \"blue\", \"xy\": [0, 0]}, {\"id\": \"port\", \"title\": \"Port\", \"port\": "     \
    "true, \"xy\": [1, 0]}], \"starts\": [{\"id\": \"a\", \"title\": \"A\", \"numbers\": "         \
    "[2, 3, 4, 5], \"xy\": [2, 0]}, {\"id\": \"b\", \"title\": \"B\", \"numbers\": [6, 7, 8], "    \
    "\"xy\": [3, 0]}, {\"id\": \"c\", \"title\": \"C\", \"numbers\": [9, 10, 11, 12], \"xy\": "    \
    "[4, 0]}], \"junctions\": [{\"id\": \"j\", \"title\": \"J\", \"xy\": [5, 0], \"open\": "       \
    "[\"ja\", \"jk\"]}, {\"id\": \"k\", \"title\": \"K\", \"xy\": [6, 0], \"open\": [\"kc\", "     \
    "\"kl\"]}, {\"id\": \"l\", \"title\": \"L\", \"xy\": [7, 0], \"open\": [\"kl\", \"lm\"]}], "   \
    "\"segments\": [{\"id\": \"ja\", \"a\": \"a\", \"b\": \"j\", \"spaces\": 1}, {\"id\": "        \
    "\"jb\", \"a\": \"b\", \"b\": \"j\", \"spaces\": 1}, {\"id\": \"jk\", \"a\": \"j\", \"b\": "   \
    "\"k\", \"spaces\": 1}, {\"id\": \"kc\", \"a\": \"c\", \"b\": \"k\", \"spaces\": 1}, "         \
    "{\"id\": \"kl\", \"a\": \"k\", \"b\": \"l\", \"spaces\": 1}, {\"id\": \"lm\", \"a\": "        \
    "\"l\", \"b\": \"mill\", \"spaces\": 1, \"lights\": [{\"gap\": 1, \"id\": \"mill/l\"}]}, "     \
    "{\"id\": \"lp\", \"a\": \"l\", \"b\": \"port\", \"spaces\": 1, \"lights\": [{\"gap\": 1, "    \
    "\"id\": \"port/l\"}]}], \"green\": [\"mill/l\", \"port/l\"]}"

static void test_extra_light_needs_a_light_that_is_not_green(void **unused)
{
    (void)unused;
    Offer offer = {.board = GREEN_BOARD};
    TyRuleset *ruleset = NULL;
    TyFiles files = {.user = &offer, .open = offer_open};
    TyStatus status = ty_ruleset_open("convoi:board=mine", &files, &ruleset);
    status_says(&status, TY_OK, "");
    ty_ruleset_close(ruleset);
    ruleset_refused("convoi:board=mine,extra_light=true", offer, TY_BAD_CONFIG,
                    "extra_light=true: every light of the board is green");
}

static void test_first_card_needs_a_start_for_each_of_its_trains(void **unused)
{
    (void)unused;
    Offer offer = {.board = GREEN_BOARD,
                   .other = "{\"format\": \"convoi-deck-1\", \"name\": \"four\", \"first\": "
                            "{\"new\": [\"black\", \"gray\", \"brown\", \"black\"], \"move\": []}, "
                            "\"cards\": [{\"id\": \"a\", \"new\": [\"any\"], \"move\": []}]}"};
    ruleset_refused("convoi:board=mine,deck=other", offer, TY_BAD_FILE,
                    "first.new: the board has 3 starts, too few for 4 new trains");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_that_no_game_knows_is_refused_with_those_that_are),
        cmocka_unit_test(test_long_quotation_is_cut_between_characters),
        cmocka_unit_test(test_long_quotation_of_ascii_fills_the_message),
        cmocka_unit_test(test_objects_nested_too_deep_are_refused),
        cmocka_unit_test(test_train_words_are_refused_by_name),
        cmocka_unit_test(test_train_numbers_are_refused_by_name),
        cmocka_unit_test(test_train_of_too_many_action_cards_is_refused),
        cmocka_unit_test(test_tile_errors_are_refused_by_place),
        cmocka_unit_test(test_train_without_tiles_is_refused),
        cmocka_unit_test(test_map_words_are_refused_by_name),
        cmocka_unit_test(test_score_table_errors_are_refused_by_place),
        cmocka_unit_test(test_third_route_between_two_cities_is_refused_in_either_direction),
        cmocka_unit_test(test_link_of_an_express_map_is_required),
        cmocka_unit_test(test_route_may_say_that_it_is_no_tunnel),
        cmocka_unit_test(test_largest_map_may_have_the_longest_names),
        cmocka_unit_test(test_board_errors_are_refused_by_place),
        cmocka_unit_test(test_file_of_another_game_is_refused),
        cmocka_unit_test(test_file_without_a_format_is_refused_by_every_game),
        cmocka_unit_test(test_train_may_have_no_status_and_unequal_tiles),
        cmocka_unit_test(test_file_whose_content_has_another_hash_is_refused),
        cmocka_unit_test(test_deck_needs_more_cards_than_are_removed),
        cmocka_unit_test(test_extra_light_needs_a_light_that_is_not_green),
        cmocka_unit_test(test_first_card_needs_a_start_for_each_of_its_trains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
