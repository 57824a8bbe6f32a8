/* Convoi Express: boards that are refused. Each test changes one thing in a good file and expects
 * the message that names it. */
#include "tests/games/convoi/board_files.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

/* Expects that the tiny board with `from` replaced by `to` fails with `message`. */
static void expect_board_failure(const char *from, const char *to, const char *message)
{
    char *text = text_replace(data_text("tiny"), from, to);
    expect_failure(text_read(text, convoi_board_read), message);
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

/* ---- Boards that are refused ----------------------------------------------------------------- */

static void test_board_needs_its_format_word(void **state)
{
    (void)state;
    expect_ruleset_failure("convoi:board=mine",
                           text_replace(data_text("tiny"), "convoi-board-1", "convoi-board-9"),
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

static void test_title_of_a_light_must_be_one_line(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"mill/west\"", "\"id\": \"mill/west\", \"title\": \"a\\nb\"",
                         "segments[2].lights[0].title: ");
}

static void test_numbered_legs_is_a_flag(void **state)
{
    (void)state;
    expect_board_failure("\"title\": \"Tiny\"", "\"title\": \"Tiny\", \"numbered_legs\": 1",
                         "numbered_legs: ");
}

static void test_id_with_strange_characters_is_refused(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"mine\"", "\"id\": \"Mine!\"",
                         "cities[1].id: must be 1 to 60 characters of a-z 0-9 _./~+-");
}

static void test_id_of_61_characters_is_refused(void **state)
{
    (void)state;
    expect_board_failure(
        "\"id\": \"mine\"",
        "\"id\": \"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz123456789\"",
        "cities[1].id: must be 1 to 60 characters");
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
                         "segments[1].id: \"north_west-west\" is there twice");
}

static void test_two_lights_with_one_id_are_refused(void **state)
{
    (void)state;
    expect_board_failure("\"id\": \"mine/middle\"", "\"id\": \"mill/middle\"",
                         "segments[9].lights[0].id: \"mill/middle\" is there twice");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board_needs_its_format_word),
        cmocka_unit_test(test_board_must_be_an_object),
        cmocka_unit_test(test_unknown_key_of_a_board_is_refused),
        cmocka_unit_test(test_unknown_key_of_a_city_is_refused),
        cmocka_unit_test(test_unknown_key_of_a_light_is_refused),
        cmocka_unit_test(test_missing_key_is_named),
        cmocka_unit_test(test_wrong_type_is_named),
        cmocka_unit_test(test_title_must_be_one_line),
        cmocka_unit_test(test_title_of_a_light_must_be_one_line),
        cmocka_unit_test(test_numbered_legs_is_a_flag),
        cmocka_unit_test(test_id_with_strange_characters_is_refused),
        cmocka_unit_test(test_id_of_61_characters_is_refused),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
