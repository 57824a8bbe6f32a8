/* Tests of the board and deck files of Convoi Express, and of the JSON loader that they go through.
 *
 * Most tests change one thing in a good file and expect the message that names it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/hash.h"
#include "file_text.h"
#include "games/convoi/convoi.h"
#include "load/load.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

static ConvoiTables tables;

typedef TyStatus (*ReadFn)(const Doc *doc, ConvoiTables *tables);

/* The content of a built-in file; the caller frees it. */
static char *data_text(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "env/games/convoi/data/%s.json", name);
    return file_text(path);
}

/* Reads `text`, which is freed, into empty tables. */
static TyStatus text_read(char *text, ReadFn read)
{
    Doc doc;
    memset(&tables, 0, sizeof tables);
    TyStatus status = load_json(text, strlen(text), &doc);
    if (status.code == TY_OK) {
        status = read(&doc, &tables);
        load_free(&doc);
    }
    free(text);
    return status;
}

static void expect_ok(TyStatus status)
{
    assert_string_equal(status.message, "");
    assert_int_equal(status.code, TY_OK);
}

static void expect_failure(TyStatus status, const char *message)
{
    assert_int_equal(status.code, TY_BAD_FILE);
    if (strstr(status.message, message) == NULL) {
        fail_msg("the message is \"%s\", expected \"%s\"", status.message, message);
    }
}

static void read_board(const char *name)
{
    expect_ok(text_read(data_text(name), convoi_board_read));
}

/* Expects that the tiny board with `from` replaced by `to` fails with `message`. */
static void expect_board_failure(const char *from, const char *to, const char *message)
{
    char *text = text_replace(data_text("tiny"), from, to);
    expect_failure(text_read(text, convoi_board_read), message);
}

static void expect_deck_failure(const char *from, const char *to, const char *message)
{
    char *text = text_replace(data_text("standard_deck"), from, to);
    expect_failure(text_read(text, convoi_deck_read), message);
}

/* Expects that the tiny board fails once the list `key` has `count` more entries. */
static void expect_list_too_long(const char *key, int count, const char *message)
{
    char from[64];
    char to[1024];
    snprintf(from, sizeof from, "\"%s\": [", key);
    int length = snprintf(to, sizeof to, "%s", from);
    for (int i = 0; i < count; i++) {
        length += snprintf(to + length, sizeof to - (size_t)length, "0,");
    }
    expect_board_failure(from, to, message);
}

/* The index of the name `id` among `count` names. */
static uint32_t index_of(const uint16_t *names, uint32_t count, const char *id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(tables.names + names[i], id) == 0) {
            return i;
        }
    }
    fail_msg("there is no %s", id);
    return 0;
}

static uint32_t city_of(const char *id)
{
    return index_of(tables.city_name, tables.city_count, id);
}

static uint32_t start_node(const char *id)
{
    return 2u * tables.space_count + tables.city_count +
           index_of(tables.start_name, tables.start_count, id);
}

static uint32_t city_node(const char *id)
{
    return 2u * tables.space_count + city_of(id);
}

static uint32_t junction_of(const char *id)
{
    return index_of(tables.junction_name, tables.junction_count, id);
}

static uint32_t light_of(const char *id)
{
    return index_of(tables.light_name, tables.light_count, id);
}

static int junctions_with(uint8_t degree)
{
    int count = 0;
    for (uint8_t i = 0; i < tables.junction_count; i++) {
        count += tables.junction_degree[i] == degree;
    }
    return count;
}

/* ---- Built-in files -------------------------------------------------------------------------- */

static void test_europe_has_its_counts(void **state)
{
    (void)state;
    read_board("europe");
    assert_int_equal(tables.segment_count, 46);
    assert_int_equal(tables.space_count, 68);
    assert_int_equal(tables.city_count, 5);
    assert_int_equal(tables.start_count, 11);
    assert_int_equal(junctions_with(3), 12);
    assert_int_equal(junctions_with(4), 7);
    assert_int_equal(tables.city_light_count, 17);
    assert_int_equal(tables.light_count, 17 + 12);
    assert_int_equal(tables.green_count, 8);
    assert_int_equal(tables.port_count, 1);
    assert_false(tables.crossing);
}

static void test_north_america_has_its_counts(void **state)
{
    (void)state;
    read_board("north_america");
    assert_int_equal(tables.segment_count, 49);
    assert_int_equal(tables.space_count, 71);
    assert_int_equal(tables.city_count, 6);
    assert_int_equal(tables.start_count, 11);
    assert_int_equal(junctions_with(3), 12);
    assert_int_equal(junctions_with(4), 8);
    assert_int_equal(tables.city_light_count, 19);
    assert_int_equal(tables.light_count, 19 + 12);
    assert_int_equal(tables.green_count, 9);
    assert_int_equal(tables.port_count, 2);
    assert_true(tables.crossing);
}

static void test_tiny_has_its_counts(void **state)
{
    (void)state;
    read_board("tiny");
    assert_int_equal(tables.segment_count, 11);
    assert_int_equal(tables.space_count, 14);
    assert_int_equal(tables.start_count, 4);
    assert_int_equal(junctions_with(3), 1);
    assert_int_equal(junctions_with(4), 2);
    assert_int_equal(tables.city_light_count, 7);
    assert_int_equal(tables.light_count, 7 + 2);
    assert_int_equal(tables.green_count, 4);
}

static void test_standard_deck_has_18_cards(void **state)
{
    (void)state;
    expect_ok(text_read(data_text("standard_deck"), convoi_deck_read));
    assert_int_equal(tables.card_count, 18);
    assert_int_equal(tables.first_card.new_count, 3);
    assert_int_equal(tables.first_card.move_count, 0);
    assert_string_equal(tables.names + tables.cards[1].name, "I02");
    assert_int_equal(tables.cards[1].new_colour[0], CONVOI_COLOUR_ANY);
    assert_int_equal(tables.cards[1].move_colour[0], 0);
    assert_int_equal(tables.cards[1].move_colour[1], 2);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void test_calais_to_paris_costs_three_points(void **state)
{
    (void)state;
    read_board("europe");
    assert_int_equal(tables.distance[start_node("calais")][city_of("paris")], 3);
}

static void test_calais_has_number_six(void **state)
{
    (void)state;
    read_board("europe");
    assert_string_equal(tables.names + tables.start_name[tables.number_start[6 - 2]], "calais");
}

static void test_distance_from_a_city_to_itself_is_zero(void **state)
{
    (void)state;
    read_board("europe");
    assert_int_equal(tables.distance[city_node("paris")][city_of("paris")], 0);
}

static void test_distance_between_cities_is_the_same_both_ways(void **state)
{
    (void)state;
    const char *const boards[] = {"europe", "north_america", "tiny"};
    for (int b = 0; b < 3; b++) {
        read_board(boards[b]);
        uint32_t first = 2u * tables.space_count;
        for (uint8_t i = 0; i < tables.city_count; i++) {
            for (uint8_t j = 0; j < tables.city_count; j++) {
                assert_int_equal(tables.distance[first + i][j], tables.distance[first + j][i]);
            }
        }
    }
}

static void test_distance_is_far_on_the_way_into_a_start(void **state)
{
    (void)state;
    read_board("tiny");
    uint32_t space = tables.departure[0].index;
    assert_int_equal(tables.distance[2 * space][city_of("mill")], 2);
    assert_int_equal(tables.distance[2 * space + 1][city_of("mill")], CONVOI_FAR);
}

/* Turning round on a space and going back leads through the same light to where one came from. */
static void test_links_between_spaces_lead_back(void **state)
{
    (void)state;
    read_board("europe");
    int checked = 0;
    for (uint32_t node = 0; node < 2u * tables.space_count; node++) {
        Link link = tables.ahead[node];
        if (link.kind == LINK_SPACE) {
            Link back = tables.ahead[2u * link.index + (1u - link.side)];
            assert_int_equal(back.kind, LINK_SPACE);
            assert_int_equal(2u * back.index + (1u - back.side), node);
            assert_int_equal(back.light, link.light);
            checked++;
        }
    }
    assert_int_equal(checked, 2 * (68 - 46));
}

static void test_city_is_entered_through_the_light_of_its_exit(void **state)
{
    (void)state;
    read_board("tiny");
    uint32_t light = light_of("mill/west");
    Link out = tables.exit[light];
    assert_int_equal(out.light, light);
    assert_int_equal(out.kind, LINK_SPACE);
    Link in = tables.ahead[2u * out.index + (1u - out.side)];
    assert_int_equal(in.light, light);
    assert_int_equal(in.kind, LINK_CITY);
    assert_int_equal(in.index, city_of("mill"));
    assert_int_equal(tables.light_city[light], city_of("mill"));
    assert_true((tables.city_lights[city_of("mill")] >> light & 1) != 0);
}

static void test_city_lights_come_before_track_lights(void **state)
{
    (void)state;
    read_board("tiny");
    assert_int_equal(light_of("mill/west"), 0);
    assert_int_equal(light_of("harbour/west"), 1);
    assert_int_equal(light_of("west~harbour"), 7);
    assert_int_equal(light_of("middle~harbour"), 8);
    assert_int_equal(tables.track_lights, 3u << 7);
    assert_int_equal(tables.light_city[7], CONVOI_NONE);
}

static void test_legs_follow_the_order_of_the_segments(void **state)
{
    (void)state;
    read_board("tiny");
    uint32_t west = junction_of("west");
    const char *const expected[] = {"north_west", "south_west", "mill", "harbour"};
    for (int leg = 0; leg < 4; leg++) {
        assert_string_equal(tables.names + tables.leg_name[west][leg], expected[leg]);
    }
    assert_int_equal(tables.first_setting[west], 1); /* legs 0 and 2 */
}

static void test_settings_are_numbered_through_all_junctions(void **state)
{
    (void)state;
    read_board("tiny");
    assert_int_equal(tables.setting_count, 6 + 6 + 3);
    assert_int_equal(tables.junction_action[2], 12);
    assert_int_equal(tables.setting_junction[5], 0);
    assert_int_equal(tables.setting_junction[6], 1);
    assert_int_equal(tables.setting_junction[14], 2);
}

static void test_each_setting_joins_another_pair_of_legs(void **state)
{
    (void)state;
    for (uint8_t degree = 3; degree <= 4; degree++) {
        uint32_t seen = 0;
        for (uint8_t i = 0; i < junction_setting_count(degree); i++) {
            JunctionSetting setting = junction_setting(degree, i);
            assert_true(setting.leg[0] < setting.leg[1] && setting.leg[1] < degree);
            seen |= 1u << (4 * setting.leg[0] + setting.leg[1]);
        }
        assert_int_equal(__builtin_popcount(seen), junction_setting_count(degree));
    }
}

/* The tiny board with a junction "siding" behind "middle", without a space between them but with a
 * light, and with two ways from it to the harbour. */
static char *siding_text(void)
{
    char *text = text_replace(data_text("tiny"), "[\"middle-mill\", \"middle-harbour\"]",
                              "[\"middle-mill\", \"middle-siding\"]");
    text =
        text_replace(text, "\"junctions\": [",
                     "\"junctions\": [{\"id\": \"siding\", \"title\": \"Siding\", \"xy\": [0, 1],"
                     " \"open\": [\"middle-siding\", \"middle-harbour\"]},");
    return text_replace(
        text, "{\"id\": \"middle-harbour\", \"a\": \"middle\"",
        "{\"id\": \"middle-siding\", \"a\": \"middle\", \"b\": \"siding\", \"spaces\": 0,"
        " \"lights\": [{\"gap\": 0, \"id\": \"middle~siding\"}]},"
        "{\"id\": \"siding-harbour\", \"a\": \"siding\", \"b\": \"harbour\", \"spaces\": 1,"
        " \"lights\": [{\"gap\": 1, \"id\": \"harbour/siding\"}]},"
        "{\"id\": \"middle-harbour\", \"a\": \"siding\"");
}

static void test_junctions_may_touch(void **state)
{
    (void)state;
    expect_ok(text_read(siding_text(), convoi_board_read));
    uint32_t middle = junction_of("middle");
    Link link = tables.leaving[middle][2];
    assert_int_equal(link.kind, LINK_JUNCTION);
    assert_int_equal(link.index, junction_of("siding"));
    assert_int_equal(link.side, 0);
    assert_int_equal(link.light, light_of("middle~siding"));
    assert_int_equal(tables.distance[city_node("mine")][city_of("harbour")], 3);
}

static void test_legs_to_the_same_place_are_called_by_their_segments(void **state)
{
    (void)state;
    expect_ok(text_read(siding_text(), convoi_board_read));
    const uint16_t *names = tables.leg_name[junction_of("siding")];
    assert_string_equal(tables.names + names[0], "middle");
    assert_string_equal(tables.names + names[1], "siding-harbour");
    assert_string_equal(tables.names + names[2], "middle-harbour");
}

static void test_board_may_have_no_status(void **state)
{
    (void)state;
    char *text = data_text("tiny");
    char *line = strstr(text, "\"status\"");
    assert_non_null(line);
    memset(line, ' ', strcspn(line, "\n"));
    expect_ok(text_read(text, convoi_board_read));
}

/* ---- Boards that are refused ----------------------------------------------------------------- */

static void test_board_needs_its_format_word(void **state)
{
    (void)state;
    expect_board_failure("convoi-board-1", "convoi-board-9",
                         "format: must be \"convoi-board-1\", not \"convoi-board-9\"");
}

static void test_board_must_be_an_object(void **state)
{
    (void)state;
    char *text = data_text("tiny");
    strcpy(text, "[1, 2]");
    expect_failure(text_read(text, convoi_board_read), "\"format\" is missing");
}

static void test_unknown_key_of_a_board_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"title\": \"Tiny\"", "\"title\": \"Tiny\", \"colour\": 1",
                         "unknown key \"colour\"");
}

static void test_unknown_key_of_a_city_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"title\": \"Mine\"", "\"title\": \"Mine\", \"colour\": 1",
                         "cities[1]: unknown key \"colour\"");
}

static void test_unknown_key_of_a_light_is_refused(void **state)
{
    (void)state;
    expect_board_failure("{\"gap\": 1, \"id\": \"mill/west\"", "{\"at\": 1, \"id\": \"mill/west\"",
                         "segments[2].lights[0]: unknown key \"at\"");
}

static void test_missing_key_is_named(void **state)
{
    (void)state;
    expect_board_failure("\"title\": \"Mine\", ", "", "cities[1]: \"title\" is missing");
}

static void test_wrong_type_is_named(void **state)
{
    (void)state;
    expect_board_failure("\"title\": \"Mine\"", "\"title\": 7",
                         "cities[1].title: must be a text, not a whole number");
}

static void test_title_must_be_one_line(void **state)
{
    (void)state;
    expect_board_failure("\"title\": \"Mine\"", "\"title\": \"Mi\\nne\"",
                         "cities[1].title: must be one line of 1 to 60 bytes");
}

static void test_id_with_strange_characters_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"mine\"", "\"id\": \"Mine!\"",
                         "cities[1].id: must be 1 to 40 characters of a-z 0-9 _./~+-");
}

static void test_id_of_41_characters_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"mine\"",
                         "\"id\": \"abcdefghijklmnopqrstuvwxyzabcdefghijklmno\"",
                         "cities[1].id: must be 1 to 40 characters");
}

static void test_two_places_with_one_id_are_refused(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"north_east\", \"title\"", "\"id\": \"mill\", \"title\"",
                         "starts[2].id: another city, start or junction has the id \"mill\"");
}

static void test_two_segments_with_one_id_are_refused(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"south_west-west\"", "\"id\": \"north_west-west\"",
                         "segments[1].id: another segment has the id \"north_west-west\"");
}

static void test_two_lights_with_one_id_are_refused(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"mine/middle\"", "\"id\": \"mill/middle\"",
                         "segments[9].lights[0].id: another light has the id \"mill/middle\"");
}

static void test_segment_to_an_unknown_place_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"a\": \"south_west\"", "\"a\": \"atlantis\"",
                         "segments[1].a: there is no city, start or junction \"atlantis\"");
}

static void test_coordinates_are_two_numbers(void **state)
{
    (void)state;
    expect_board_failure("[-2, 3]", "[-2, 3, 4]", "cities[0].xy: must have 2 entries, not 3");
    expect_board_failure("[-2, 3]", "[-2, \"3\"]", "cities[0].xy[1]: must be a number");
}

static void test_board_of_nine_cities_is_refused(void **state)
{
    (void)state;
    expect_list_too_long("cities", 6, "cities: must have 2 to 8 entries, not 9");
}

static void test_board_of_twelve_starts_is_refused(void **state)
{
    (void)state;
    expect_list_too_long("starts", 8, "starts: must have 1 to 11 entries, not 12");
}

static void test_board_of_33_junctions_is_refused(void **state)
{
    (void)state;
    expect_list_too_long("junctions", 30, "junctions: must have 0 to 32 entries, not 33");
}

static void test_board_of_129_segments_is_refused(void **state)
{
    (void)state;
    expect_list_too_long("segments", 118, "segments: must have 1 to 128 entries, not 129");
}

static void test_board_of_more_than_160_spaces_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"b\": \"west\", \"spaces\": 1", "\"b\": \"west\", \"spaces\": 160",
                         "segments[1]: with this segment there are more than 160 track spaces");
}

static void test_board_of_more_than_64_lights_is_refused(void **state)
{
    (void)state;
    char to[4096];
    int length = snprintf(to, sizeof to, "\"b\": \"west\", \"spaces\": 99, \"lights\": [");
    for (int i = 1; i <= 60; i++) {
        length += snprintf(to + length, sizeof to - (size_t)length,
                           "%s{\"gap\": %d, \"id\": \"x%d\"}", i > 1 ? ", " : "", i, i);
    }
    snprintf(to + length, sizeof to - (size_t)length, "]");
    expect_board_failure("\"b\": \"west\", \"spaces\": 1", to,
                         "segments[0].lights[57]: there are more than 64 lights");
}

static void test_junction_needs_three_or_four_legs(void **state)
{
    (void)state;
    expect_board_failure("\"a\": \"middle\", \"b\": \"mine\"", "\"a\": \"east\", \"b\": \"mine\"",
                         "junctions[1]: a junction has 3 or 4 segments, not 5");
    expect_board_failure("\"a\": \"middle\", \"b\": \"mine\"",
                         "\"a\": \"harbour\", \"b\": \"mine\"",
                         "junctions[2]: a junction has 3 or 4 segments, not 2");
}

static void test_start_needs_exactly_one_segment(void **state)
{
    (void)state;
    expect_board_failure("\"a\": \"north_west\"", "\"a\": \"south_west\"",
                         "starts[0]: a start has exactly one segment, not 0");
    expect_board_failure("\"a\": \"east\", \"b\": \"mine\"",
                         "\"a\": \"north_east\", \"b\": \"mine\"",
                         "starts[2]: a start has exactly one segment, not 2");
}

static void test_city_without_segment_is_refused(void **state)
{
    (void)state;
    char *text = text_replace(data_text("tiny"), "\"b\": \"mill\", \"spaces\"",
                              "\"b\": \"mine\", \"spaces\"");
    text = text_replace(text, "\"b\": \"mill\", \"spaces\"", "\"b\": \"mine\", \"spaces\"");
    expect_failure(text_read(text, convoi_board_read),
                   "cities[0]: a city has 1 to 8 segments, not 0");
}

static void test_city_with_nine_segments_is_refused(void **state)
{
    (void)state;
    char segments[1024] = "\"segments\": [";
    for (int i = 0; i < 7; i++) {
        size_t used = strlen(segments);
        snprintf(segments + used, sizeof segments - used,
                 "{\"id\": \"%d\", \"a\": \"middle\", \"b\": \"mill\", \"spaces\": 1},", i);
    }
    expect_board_failure("\"segments\": [", segments,
                         "cities[0]: a city has 1 to 8 segments, not 9");
}

static void test_open_needs_two_segments_of_the_junction(void **state)
{
    (void)state;
    expect_board_failure("[\"north_west-west\", \"west-mill\"]", "[\"north_west-west\"]",
                         "junctions[0].open: must have 2 entries, not 1");
    expect_board_failure("[\"north_west-west\", \"west-mill\"]",
                         "[\"north_west-west\", \"east-mine\"]",
                         "junctions[0].open[1]: no segment of junction \"west\" has the id");
    expect_board_failure("[\"north_west-west\", \"west-mill\"]", "[\"west-mill\", \"west-mill\"]",
                         "junctions[0].open[1]: two different segments must be open");
}

static void test_city_exit_without_light_is_refused(void **state)
{
    (void)state;
    expect_board_failure(", \"lights\": [{\"gap\": 1, \"id\": \"mill/west\"}]", "",
                         "segments[2]: gap 1, beside city \"mill\", needs a light");
}

static void test_two_lights_in_one_gap_are_refused(void **state)
{
    (void)state;
    expect_board_failure("{\"gap\": 1, \"id\": \"west~harbour\"}",
                         "{\"gap\": 2, \"id\": \"west~harbour\"}",
                         "segments[3].lights[1].gap: gap 2 has a light already");
}

static void test_gap_beyond_the_segment_is_refused(void **state)
{
    (void)state;
    expect_board_failure("{\"gap\": 1, \"id\": \"west~harbour\"}",
                         "{\"gap\": 3, \"id\": \"west~harbour\"}",
                         "segments[3].lights[0].gap: must be a whole number from 0 to 2, not 3");
}

static void test_light_beside_a_start_is_refused(void **state)
{
    (void)state;
    expect_board_failure(
        "\"b\": \"west\", \"spaces\": 1",
        "\"b\": \"west\", \"spaces\": 1, \"lights\": [{\"gap\": 0, \"id\": \"x\"}]",
        "segments[0].lights[0].gap: gap 0 lies beside a start");
}

static void test_segment_of_a_city_needs_a_space(void **state)
{
    (void)state;
    expect_board_failure("\"b\": \"mill\", \"spaces\": 1", "\"b\": \"mill\", \"spaces\": 0",
                         "segments[2].spaces: must be a whole number from 1 to 160, not 0");
}

static void test_segment_from_a_place_to_itself_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"a\": \"middle\", \"b\": \"mine\"", "\"a\": \"mine\", \"b\": \"mine\"",
                         "segments[9]: a segment joins two different places");
}

/* The tiny board with a ring of `count` four-way junctions beside it, each joined to the next by
 * two segments of `spaces` spaces. */
static char *ring_text(int count, int spaces)
{
    char junctions[4096] = "\"junctions\": [";
    char segments[8192] = "\"segments\": [";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(junctions);
        snprintf(
            junctions + used, sizeof junctions - used,
            "{\"id\": \"r%d\", \"title\": \"R\", \"xy\": [0, 0], \"open\": [\"%d\", \"%d.2\"]},", i,
            i, i);
        for (int copy = 0; copy < 2; copy++) {
            used = strlen(segments);
            snprintf(segments + used, sizeof segments - used,
                     "{\"id\": \"%d%s\", \"a\": \"r%d\", \"b\": \"r%d\", \"spaces\": %d},", i,
                     copy == 0 ? "" : ".2", i, (i + 1) % count, spaces);
        }
    }
    char *text = text_replace(data_text("tiny"), "\"junctions\": [", junctions);
    return text_replace(text, "\"segments\": [", segments);
}

static void test_ring_of_junctions_without_space_is_refused(void **state)
{
    (void)state;
    expect_failure(text_read(ring_text(3, 0), convoi_board_read),
                   "segments[1]: closes a ring of junctions that has no track space");
}

static void test_board_of_more_than_30_switch_discs_is_refused(void **state)
{
    (void)state;
    expect_failure(text_read(ring_text(13, 1), convoi_board_read),
                   "junctions: need 31 switch discs, there are 30");
}

static void test_start_number_used_twice_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"numbers\": [5, 6]", "\"numbers\": [5, 7]",
                         "starts[1].numbers[1]: start \"north_west\" has number 7 already");
}

static void test_start_number_left_out_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"numbers\": [5, 6]", "\"numbers\": [5]",
                         "starts: no start has number 6");
}

static void test_start_number_13_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"numbers\": [5, 6]", "\"numbers\": [5, 13]",
                         "starts[1].numbers[1]: must be a whole number from 2 to 12");
}

static void test_unknown_rules_are_refused(void **state)
{
    (void)state;
    expect_board_failure("\"rules\": \"europe\"", "\"rules\": \"asia\"",
                         "rules: must be one of \"europe\", \"north_america\", not \"asia\"");
}

static void test_european_rules_need_one_port(void **state)
{
    (void)state;
    expect_board_failure("\"goods\": \"red\"", "\"port\": true",
                         "cities: the rules \"europe\" need 1 port, not 2");
}

static void test_american_rules_need_two_ports(void **state)
{
    (void)state;
    expect_board_failure("\"rules\": \"europe\"", "\"rules\": \"north_america\"",
                         "cities: the rules \"north_america\" need 2 ports, not 1");
}

static void test_city_is_either_goods_city_or_port(void **state)
{
    (void)state;
    expect_board_failure("\"goods\": \"red\"", "\"goods\": \"red\", \"port\": true",
                         "cities[1]: a city has either \"goods\" or \"port\": true");
    expect_board_failure("\"goods\": \"red\", ", "",
                         "cities[1]: a city has either \"goods\" or \"port\": true");
}

static void test_board_without_goods_is_refused(void **state)
{
    (void)state;
    char *text = text_replace(data_text("tiny"), "\"goods\": \"red\"", "\"port\": true");
    text = text_replace(text, "\"rules\": \"europe\"", "\"rules\": \"north_america\"");
    text = text_replace(
        text, "{\"id\": \"mill\", \"title\": \"Mill\", \"goods\": \"blue\", \"xy\": [-2, 3]},", "");
    expect_failure(text_read(text, convoi_board_read), "cities: no city has goods");
}

static void test_unknown_goods_are_refused(void **state)
{
    (void)state;
    expect_board_failure(
        "\"goods\": \"red\"", "\"goods\": \"pink\"",
        "cities[1].goods: must be one of \"blue\", \"yellow\", \"red\", \"white\", "
        "not \"pink\"");
}

static void test_two_cities_with_the_same_goods_are_refused(void **state)
{
    (void)state;
    expect_board_failure("\"goods\": \"red\"", "\"goods\": \"blue\"",
                         "cities[1].goods: city \"mill\" has blue goods already");
}

static void test_number_of_green_discs_has_bounds(void **state)
{
    (void)state;
    expect_board_failure("\"green_discs\": 4", "\"green_discs\": 2",
                         "green_discs: must be a whole number from 3 to 10, not 2");
    expect_board_failure("\"green_discs\": 4", "\"green_discs\": 11",
                         "green_discs: must be a whole number from 3 to 10, not 11");
}

static void test_green_lists_as_many_lights_as_discs(void **state)
{
    (void)state;
    expect_board_failure("\"green_discs\": 4", "\"green_discs\": 5",
                         "green: must have 5 entries, not 4");
}

static void test_green_light_must_exist(void **state)
{
    (void)state;
    expect_board_failure("    \"mine/east\",", "    \"mine/west\",",
                         "green[1]: there is no light \"mine/west\"");
}

static void test_light_with_two_discs_is_refused(void **state)
{
    (void)state;
    expect_board_failure("    \"mine/east\",", "    \"mill/west\",",
                         "green[1]: light \"mill/west\" has a disc already");
}

static void test_city_without_green_light_is_refused(void **state)
{
    (void)state;
    expect_board_failure("    \"mine/east\",", "    \"west~harbour\",",
                         "green: city \"mine\" has no green light");
}

static void test_city_with_two_green_lights_is_refused(void **state)
{
    (void)state;
    expect_board_failure("    \"middle~harbour\"", "    \"mine/middle\"",
                         "green: must have one light of each city and 1 on the track, not 0");
}

static void test_city_behind_the_port_is_refused(void **state)
{
    (void)state;
    char *text = text_replace(data_text("tiny"), "\"a\": \"middle\", \"b\": \"mine\"",
                              "\"a\": \"middle\", \"b\": \"harbour\"");
    expect_failure(text_read(text, convoi_board_read),
                   "cities[0]: a train cannot get here from city \"mine\"");
}

static void test_start_without_way_to_a_city_is_refused(void **state)
{
    (void)state;
    char starts[1024] = "\"numbers\": [2, 3], \"xy\": [0, 0]}";
    char segments[1024] = "\"segments\": [";
    for (int i = 10; i <= 12; i++) {
        size_t used = strlen(starts);
        snprintf(starts + used, sizeof starts - used,
                 ", {\"id\": \"s%d\", \"title\": \"S\", \"numbers\": [%d], \"xy\": [0, 0]}", i, i);
        used = strlen(segments);
        snprintf(segments + used, sizeof segments - used,
                 "{\"id\": \"l%d\", \"a\": \"s%d\", \"b\": \"yard\", \"spaces\": 1},", i, i);
    }
    char *text =
        text_replace(data_text("tiny"), "\"numbers\": [2, 3, 10, 11, 12], \"xy\": [4, 0]}", starts);
    text = text_replace(text, "\"segments\": [", segments);
    text = text_replace(text, "\"junctions\": [",
                        "\"junctions\": [{\"id\": \"yard\", \"title\": \"Yard\", \"xy\": [0, 0], "
                        "\"open\": [\"l10\", \"l11\"]},");
    expect_failure(text_read(text, convoi_board_read),
                   "cities[0]: a train cannot get here from start \"s10\"");
}

/* ---- Decks that are refused ------------------------------------------------------------------ */

static void test_deck_needs_its_format_word(void **state)
{
    (void)state;
    expect_deck_failure("convoi-deck-1", "convoi-board-1", "format: must be \"convoi-deck-1\"");
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
                        "cards[2].id: another card has the id \"I02\"");
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
    Doc doc;
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

/* ---- The loader ------------------------------------------------------------------------------ */

static TyStatus load_text(const char *text)
{
    Doc doc;
    TyStatus status = load_json(text, strlen(text), &doc);
    load_free(&doc);
    return status;
}

static void expect_load_failure(const char *text, TyCode code, const char *message)
{
    TyStatus status = load_text(text);
    assert_int_equal(status.code, code);
    if (strstr(status.message, message) == NULL) {
        fail_msg("the message is \"%s\", expected \"%s\"", status.message, message);
    }
}

/* A list of lists, `depth` of them within each other. */
static void nest(char *out, size_t depth)
{
    memset(out, '[', depth);
    memset(out + depth, ']', depth);
    out[2 * depth] = '\0';
}

static void test_syntax_error_names_line_and_column(void **state)
{
    (void)state;
    expect_load_failure("{\n \"a\": 1,\n \"b\" 2\n}", TY_BAD_FILE, "line 3, column 6: ");
}

static void test_key_given_twice_is_refused(void **state)
{
    (void)state;
    expect_load_failure("{\"a\": 1,\n \"a\": 2}", TY_BAD_FILE, "line 2, column 4: ");
}

static void test_empty_file_is_refused(void **state)
{
    (void)state;
    expect_load_failure("", TY_BAD_FILE, "line 1, column 0: ");
}

static void test_zero_bytes_are_refused(void **state)
{
    (void)state;
    Doc doc;
    assert_int_equal(load_json("[\"a\0b\"]", 7, &doc).code, TY_BAD_FILE);
    assert_int_equal(load_json("[]\0", 3, &doc).code, TY_BAD_FILE);
    expect_load_failure("[\"\\u0000\"]", TY_BAD_FILE, "line 1, column 9: ");
}

static void test_text_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    expect_load_failure("[\"\xff\"]", TY_BAD_FILE, "line 1, column ");
}

static void test_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    char *text = malloc(LOAD_BYTES_MAX + 2);
    assert_non_null(text);
    memset(text, ' ', LOAD_BYTES_MAX + 1);
    text[LOAD_BYTES_MAX + 1] = '\0';
    memcpy(text, "[]", 2);
    expect_load_failure(text, TY_LIMIT, "1048577 bytes are more than the 1048576");
    text[LOAD_BYTES_MAX] = '\0';
    expect_ok(load_text(text));
    free(text);
}

static void test_file_that_is_too_deep_is_refused(void **state)
{
    (void)state;
    static char text[10001];
    nest(text, LOAD_DEPTH_MAX);
    expect_ok(load_text(text));
    nest(text, LOAD_DEPTH_MAX + 1);
    expect_load_failure(text, TY_LIMIT, "nested more than 16 levels deep");
    nest(text, 5000);
    expect_load_failure(text, TY_LIMIT, "");
}

static void test_file_of_too_many_values_is_refused(void **state)
{
    (void)state;
    size_t count = LOAD_NODES_MAX - 1; /* and the list itself */
    char *text = malloc(2 * count + 4);
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 1 + 2 * i, "0,", 2);
    }
    strcpy(text + 2 * count, "]");
    expect_ok(load_text(text));
    strcpy(text + 2 * count, ",0]");
    expect_load_failure(text, TY_LIMIT, "more than 65536 values");
    free(text);
}

static void test_reals_become_thousandths(void **state)
{
    (void)state;
    const char *text = "[2.35, 0.0625, -0.0625, 1.0]";
    const int64_t expected[] = {2350, 63, -63, 1000};
    Doc doc;
    expect_ok(load_json(text, strlen(text), &doc));
    const DocNode *node = doc_first(&doc, doc.nodes);
    for (int i = 0; i < 4; i++, node = doc_next(&doc, node)) {
        assert_int_equal(node->kind, DOC_REAL);
        assert_int_equal(node->number, expected[i]);
    }
    assert_null(node);
    load_free(&doc);
}

static void test_numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    expect_load_failure("[1e10]", TY_LIMIT, "the number 1e+10 is beyond 1000000000");
    expect_load_failure("[1e999]", TY_BAD_FILE, "line 1, column ");
    expect_load_failure("[99999999999999999999]", TY_BAD_FILE, "line 1, column ");
}

static void test_every_kind_of_value_is_read(void **state)
{
    (void)state;
    const char *text = "{\"a\": null, \"b\": true, \"c\": -7, \"d\": \"x\", \"e\": [], \"f\": {}}";
    const DocKind kinds[] = {DOC_NULL, DOC_FLAG, DOC_INT, DOC_TEXT, DOC_LIST, DOC_MAP};
    Doc doc;
    expect_ok(load_json(text, strlen(text), &doc));
    assert_int_equal(doc.count, 7);
    assert_int_equal(doc.nodes[0].child_count, 6);
    assert_true(doc.hash == hash_bytes(0, (const uint8_t *)text, strlen(text)));
    const DocNode *node = doc_first(&doc, doc.nodes);
    for (uint32_t i = 0; i < 6; i++, node = doc_next(&doc, node)) {
        assert_int_equal(node->kind, kinds[i]);
        assert_int_equal(node->index, i);
        assert_int_equal(node->key[0], 'a' + (int)i);
    }
    assert_int_equal(doc_get(&doc, doc.nodes, "c")->number, -7);
    assert_string_equal(doc_get(&doc, doc.nodes, "d")->text, "x");
    load_free(&doc);
}

static void test_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    char text[1024] = "[\"";
    for (int i = 0; i < 300; i++) {
        strcat(text, "é");
    }
    strcat(text, "\"]");
    for (int shift = 0; shift < 2; shift++) {
        Doc doc;
        TyStatus status = {.code = TY_OK};
        expect_ok(load_json(text, strlen(text), &doc));
        doc_fail(&doc, doc.nodes, &status, "%s%s", shift == 0 ? "" : "x",
                 doc_first(&doc, doc.nodes)->text);
        size_t length = strlen(status.message);
        assert_true(length >= TY_MESSAGE_MAX - 4 && length < TY_MESSAGE_MAX);
        assert_int_equal(length % 2, shift);
        load_free(&doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_europe_has_its_counts),
        cmocka_unit_test(test_north_america_has_its_counts),
        cmocka_unit_test(test_tiny_has_its_counts),
        cmocka_unit_test(test_standard_deck_has_18_cards),
        cmocka_unit_test(test_calais_to_paris_costs_three_points),
        cmocka_unit_test(test_calais_has_number_six),
        cmocka_unit_test(test_distance_from_a_city_to_itself_is_zero),
        cmocka_unit_test(test_distance_between_cities_is_the_same_both_ways),
        cmocka_unit_test(test_distance_is_far_on_the_way_into_a_start),
        cmocka_unit_test(test_links_between_spaces_lead_back),
        cmocka_unit_test(test_city_is_entered_through_the_light_of_its_exit),
        cmocka_unit_test(test_city_lights_come_before_track_lights),
        cmocka_unit_test(test_legs_follow_the_order_of_the_segments),
        cmocka_unit_test(test_settings_are_numbered_through_all_junctions),
        cmocka_unit_test(test_each_setting_joins_another_pair_of_legs),
        cmocka_unit_test(test_junctions_may_touch),
        cmocka_unit_test(test_legs_to_the_same_place_are_called_by_their_segments),
        cmocka_unit_test(test_board_may_have_no_status),
        cmocka_unit_test(test_board_needs_its_format_word),
        cmocka_unit_test(test_board_must_be_an_object),
        cmocka_unit_test(test_unknown_key_of_a_board_is_refused),
        cmocka_unit_test(test_unknown_key_of_a_city_is_refused),
        cmocka_unit_test(test_unknown_key_of_a_light_is_refused),
        cmocka_unit_test(test_missing_key_is_named),
        cmocka_unit_test(test_wrong_type_is_named),
        cmocka_unit_test(test_title_must_be_one_line),
        cmocka_unit_test(test_id_with_strange_characters_is_refused),
        cmocka_unit_test(test_id_of_41_characters_is_refused),
        cmocka_unit_test(test_two_places_with_one_id_are_refused),
        cmocka_unit_test(test_two_segments_with_one_id_are_refused),
        cmocka_unit_test(test_two_lights_with_one_id_are_refused),
        cmocka_unit_test(test_segment_to_an_unknown_place_is_refused),
        cmocka_unit_test(test_coordinates_are_two_numbers),
        cmocka_unit_test(test_board_of_nine_cities_is_refused),
        cmocka_unit_test(test_board_of_twelve_starts_is_refused),
        cmocka_unit_test(test_board_of_33_junctions_is_refused),
        cmocka_unit_test(test_board_of_129_segments_is_refused),
        cmocka_unit_test(test_board_of_more_than_160_spaces_is_refused),
        cmocka_unit_test(test_board_of_more_than_64_lights_is_refused),
        cmocka_unit_test(test_junction_needs_three_or_four_legs),
        cmocka_unit_test(test_start_needs_exactly_one_segment),
        cmocka_unit_test(test_city_without_segment_is_refused),
        cmocka_unit_test(test_city_with_nine_segments_is_refused),
        cmocka_unit_test(test_open_needs_two_segments_of_the_junction),
        cmocka_unit_test(test_city_exit_without_light_is_refused),
        cmocka_unit_test(test_two_lights_in_one_gap_are_refused),
        cmocka_unit_test(test_gap_beyond_the_segment_is_refused),
        cmocka_unit_test(test_light_beside_a_start_is_refused),
        cmocka_unit_test(test_segment_of_a_city_needs_a_space),
        cmocka_unit_test(test_segment_from_a_place_to_itself_is_refused),
        cmocka_unit_test(test_ring_of_junctions_without_space_is_refused),
        cmocka_unit_test(test_board_of_more_than_30_switch_discs_is_refused),
        cmocka_unit_test(test_start_number_used_twice_is_refused),
        cmocka_unit_test(test_start_number_left_out_is_refused),
        cmocka_unit_test(test_start_number_13_is_refused),
        cmocka_unit_test(test_unknown_rules_are_refused),
        cmocka_unit_test(test_european_rules_need_one_port),
        cmocka_unit_test(test_american_rules_need_two_ports),
        cmocka_unit_test(test_city_is_either_goods_city_or_port),
        cmocka_unit_test(test_board_without_goods_is_refused),
        cmocka_unit_test(test_unknown_goods_are_refused),
        cmocka_unit_test(test_two_cities_with_the_same_goods_are_refused),
        cmocka_unit_test(test_number_of_green_discs_has_bounds),
        cmocka_unit_test(test_green_lists_as_many_lights_as_discs),
        cmocka_unit_test(test_green_light_must_exist),
        cmocka_unit_test(test_light_with_two_discs_is_refused),
        cmocka_unit_test(test_city_without_green_light_is_refused),
        cmocka_unit_test(test_city_with_two_green_lights_is_refused),
        cmocka_unit_test(test_city_behind_the_port_is_refused),
        cmocka_unit_test(test_start_without_way_to_a_city_is_refused),
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
        cmocka_unit_test(test_syntax_error_names_line_and_column),
        cmocka_unit_test(test_key_given_twice_is_refused),
        cmocka_unit_test(test_empty_file_is_refused),
        cmocka_unit_test(test_zero_bytes_are_refused),
        cmocka_unit_test(test_text_that_is_not_utf8_is_refused),
        cmocka_unit_test(test_file_that_is_too_large_is_refused),
        cmocka_unit_test(test_file_that_is_too_deep_is_refused),
        cmocka_unit_test(test_file_of_too_many_values_is_refused),
        cmocka_unit_test(test_reals_become_thousandths),
        cmocka_unit_test(test_numbers_out_of_range_are_refused),
        cmocka_unit_test(test_every_kind_of_value_is_read),
        cmocka_unit_test(test_long_message_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
