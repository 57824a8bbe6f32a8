/* Generated boards: accepted always, planar, alike in rows and actions, the same everywhere, within
 * the expert's reach, and refused by name where they cannot be. */
#include "games/convoi/state.h"
#include "tests/games/generated.h"
#include "tests/support/budget.h"

enum { LEVELS = 3, SIZES = CONVOI_SIZE_MAXIMUM - CONVOI_SIZE_MINIMUM + 1 };

static TyRuleset *board_open(uint64_t seed, uint32_t size, uint32_t level)
{
    return generated_open("convoi:board", seed, size, level);
}

/* Opening is what `trainyard board check` does: the reader accepts the board, or says why not. */
static void test_every_seed_size_and_level_is_a_board(void **unused)
{
    (void)unused;
    uint32_t count = budget(500, 10000);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = CONVOI_SIZE_MINIMUM + i % SIZES;
        TyRuleset *ruleset = board_open(hash_mix(i) >> 1, size, i / SIZES % LEVELS);
        assert_int_equal(convoi_tables(ruleset)->junction_count, size);
        ty_ruleset_close(ruleset);
    }
}

static void test_boards_of_a_size_and_level_have_the_same_rows_and_actions(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < SIZES * LEVELS; i++) {
        uint32_t size = CONVOI_SIZE_MINIMUM + i / LEVELS;
        TyRuleset *one = board_open(1, size, i % LEVELS);
        for (uint64_t seed = 2; seed < 6; seed++) {
            TyRuleset *other = board_open(seed, size, i % LEVELS);
            assert_int_equal(ty_shape(one)->schema_hash, ty_shape(other)->schema_hash);
            assert_string_not_equal(ty_shape(one)->spec, ty_shape(other)->spec);
            ty_ruleset_close(other);
        }
        ty_ruleset_close(one);
    }
}

/* With `show_board` the row says how the board is made: enough to draw it. */
static void test_rows_can_show_the_board(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint8_t row[TY_ROW_MAX];
    assert_int_equal(ty_ruleset_open("convoi:board=gen:7,show_board=true", NULL, &ruleset).code,
                     TY_OK);
    const ConvoiTables *tables = convoi_tables(ruleset);
    uint32_t starts = tables->city_count;
    uint32_t junctions = starts + tables->start_count;
    const uint8_t *line = row_block(ruleset, "line", row);
    const uint8_t *spaces = row_block(ruleset, "line_spaces", row);
    for (uint32_t i = 0; i < tables->start_count; i++) {
        assert_int_equal(line[2 * i], starts + i);
        assert_int_equal(line[2 * i + 1], junctions + tables->departure_run[i].end.index);
        assert_int_equal(spaces[i], tables->departure_run[i].points);
    }
    const uint8_t *light_line = row_block(ruleset, "light_line", row);
    for (uint32_t i = 0; i < tables->city_light_count; i++) {
        assert_int_equal(light_line[i], tables->start_count + i);
        assert_int_equal(line[2 * light_line[i]], tables->light_city[i]);
        assert_int_equal(line[2 * light_line[i] + 1], junctions + tables->exit_run[i].end.index);
        assert_int_equal(spaces[light_line[i]], tables->exit_run[i].points);
    }
    const uint8_t *home = row_block(ruleset, "home", row);
    for (uint32_t i = 0; i < tables->city_count; i++) {
        assert_int_equal(home[i], (uint8_t)(tables->city_goods[i] + 1));
    }
    assert_memory_equal(row_block(ruleset, "number_start", row), tables->number_start,
                        CONVOI_NUMBERS);
    ty_ruleset_close(ruleset);
}

/* ---- On the plane ---- */

typedef struct Line {
    const int32_t *from;
    const int32_t *to;
} Line;

static const int32_t *place_xy(const ConvoiTables *tables, Link place)
{
    switch ((LinkKind)place.kind) {
    case LINK_CITY:
        return tables->city_xy[place.index];
    case LINK_START:
        return tables->start_xy[place.index];
    case LINK_JUNCTION:
        return tables->junction_xy[place.index];
    case LINK_SPACE:
        break;
    }
    fail_msg("a line ends at a place");
    return NULL;
}

/* All lines, each from either end but for those from starts. */
static uint32_t lines_of(const ConvoiTables *tables, Line lines[2 * CONVOI_SEGMENTS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < tables->start_count; i++) {
        lines[count++] =
            (Line){tables->start_xy[i], place_xy(tables, tables->departure_run[i].end)};
    }
    for (uint32_t i = 0; i < tables->city_light_count; i++) {
        lines[count++] = (Line){tables->city_xy[tables->light_city[i]],
                                place_xy(tables, tables->exit_run[i].end)};
    }
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        for (uint32_t leg = 0; leg < tables->junction_degree[i]; leg++) {
            lines[count++] =
                (Line){tables->junction_xy[i], place_xy(tables, tables->leaving_run[i][leg].end)};
        }
    }
    return count;
}

static bool share_an_end(Line one, Line other)
{
    return one.from == other.from || one.from == other.to || one.to == other.from ||
           one.to == other.to;
}

static void test_lines_do_not_cross(void **unused)
{
    (void)unused;
    static Line lines[2 * CONVOI_SEGMENTS_MAX];
    uint32_t count = budget(200, 10000);
    for (uint32_t i = 0; i < count; i++) {
        TyRuleset *ruleset = board_open(i, CONVOI_SIZE_MINIMUM + i % SIZES, i % LEVELS);
        uint32_t number = lines_of(convoi_tables(ruleset), lines);
        for (uint32_t a = 0; a < number; a++) {
            for (uint32_t b = 0; b < a; b++) {
                assert_true(share_an_end(lines[a], lines[b]) ||
                            !lines_cross(lines[a].from, lines[a].to, lines[b].from, lines[b].to));
            }
        }
        ty_ruleset_close(ruleset);
    }
}

/* ---- Names ---- */

static void test_boards_are_pinned(void **unused)
{
    (void)unused;
    pinned("convoi:board=gen:7", "convoi:board=gen:7-12@b5206f11,players=2");
    pinned("convoi:board=gen:7-normal", "convoi:board=gen:7-12@b5206f11,players=2");
    pinned("convoi:board=gen:7-hard", "convoi:board=gen:7-12-hard@b71d2554,players=2");
    pinned("convoi:board=gen:7-5-easy", "convoi:board=gen:7-5-easy@abb28424,players=2");
}

static void test_wrong_values_are_named(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        "convoi:board=gen:",         "convoi:board=gen:x",         "convoi:board=gen:1-",
        "convoi:board=gen:1-3",      "convoi:board=gen:1-21",      "convoi:board=gen:1-12-",
        "convoi:board=gen:1-12-odd", "convoi:board=gen:1-easy-12", "convoi:board=gen:1-4294967308",
        "convoi:board=gen:1-12x",    "convoi:board=gen:1@xyz",     NULL,
    };
    refused_by_name(wrong);
}

/* Legs have numbers as names, and titles that say where they lead. */
static void test_names_are_for_programs_and_titles_for_people(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = board_open(7, 12, 0);
    char text[TY_NAME_MAX];
    TyText out = ty_text_init(text, sizeof text);
    ty_names_write(&convoi_settings, ruleset, 0, &out);
    assert_string_equal(text, "j1 1+2");
    out = ty_text_init(text, sizeof text);
    ty_names_title(&convoi_settings, ruleset, 0, &out);
    assert_string_equal(text, "Salville: Rosona\u2013Karwald");
    out = ty_text_init(text, sizeof text);
    ty_names_title(&convoi_lights, ruleset, 0, &out);
    assert_string_equal(text, "Belmouth towards Salrup");
    ty_ruleset_close(ruleset);
}

/* ---- Play ---- */

/* What two experts deliver of all goods, in percent, on any of the boards tried: BOARDS.md. */
static void test_experts_reach_what_is_promised(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t size;
        uint32_t level;
        int32_t least;
    } bands[] = {{5, 0, 90}, {12, 1, 90}, {12, 0, 60}, {12, 2, 25}, {20, 0, 60}, {20, 2, 25}};
    const int32_t games = 8;
    uint32_t boards = budget(3, 40);
    for (uint32_t i = 0; i < sizeof bands / sizeof bands[0]; i++) {
        for (uint64_t seed = 0; seed < boards; seed++) {
            TyRuleset *ruleset = board_open(seed, bands[i].size, bands[i].level);
            int32_t all = games * convoi_tables(ruleset)->goods_wanted;
            int32_t delivered = experts_reach(ruleset, "goods", (uint32_t)games);
            if (delivered * 100 < all * bands[i].least) {
                fail_msg("%s: %d of %d goods", ty_shape(ruleset)->spec, delivered, all);
            }
            ty_ruleset_close(ruleset);
        }
    }
}

static void test_random_play_comes_to_an_end(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < SIZES; i++) {
        int32_t metrics[TY_METRICS_MAX];
        TyRuleset *ruleset = board_open(100 + i, CONVOI_SIZE_MINIMUM + i, i % LEVELS);
        agent_play(ruleset, "random", i, metrics);
        ty_ruleset_close(ruleset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_seed_size_and_level_is_a_board),
        cmocka_unit_test(test_boards_of_a_size_and_level_have_the_same_rows_and_actions),
        cmocka_unit_test(test_rows_can_show_the_board),
        cmocka_unit_test(test_lines_do_not_cross),
        cmocka_unit_test(test_boards_are_pinned),
        cmocka_unit_test(test_wrong_values_are_named),
        cmocka_unit_test(test_names_are_for_programs_and_titles_for_people),
        cmocka_unit_test(test_experts_reach_what_is_promised),
        cmocka_unit_test(test_random_play_comes_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
