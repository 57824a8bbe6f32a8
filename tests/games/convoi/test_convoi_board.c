/* Convoi Express: the built-in boards, and the tables that are made of a board. */
#include "tests/games/convoi/board_files.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

static void read_board(const char *name)
{
    expect_ok(text_read(data_text(name), convoi_board_read));
}

/* The index of the name `id` among `count` names. */
static uint32_t index_of(const uint16_t *names, uint32_t count, const char *id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(tables.names.bytes + names[i], id) == 0) {
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
    assert_string_equal(tables.names.bytes + tables.start_name[tables.number_start[6 - 2]],
                        "calais");
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
        assert_string_equal(tables.names.bytes + tables.leg_name[west][leg], expected[leg]);
    }
    assert_int_equal(tables.first_setting[west], 1); /* legs 0 and 2 */
}

static void test_settings_are_numbered_through_all_junctions(void **state)
{
    (void)state;
    read_board("tiny");
    assert_int_equal(tables.setting_count, 6 + 6 + 3);
    assert_int_equal(tables.setting_first[2], 12);
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
    assert_string_equal(tables.names.bytes + names[0], "middle");
    assert_string_equal(tables.names.bytes + names[1], "siding-harbour");
    assert_string_equal(tables.names.bytes + names[2], "middle-harbour");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_europe_has_its_counts),
        cmocka_unit_test(test_north_america_has_its_counts),
        cmocka_unit_test(test_tiny_has_its_counts),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
