/* Drawings: what must hold in every game, and golden drawings compared byte by byte.
 *
 * TRAINYARD_GOLDEN=write rewrites tests/golden/NAME.svg, which draws the middle of the episode that
 * tests/golden/NAME.txt names in its first line. */
#define _GNU_SOURCE
#include "core/hash.h"
#include "tests/games/variants.h"
#include "tests/support/allocations.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    EVERY = 31,     /* decisions between two looks */
    IDS_MAX = 8192, /* bytes of all ids of a drawing */
};

typedef struct Table {
    TyRuleset *ruleset;
    const TyShape *shape;
    uint64_t state[TY_STATE_MAX / 8];
    TySketch sketch[TY_SEATS_MAX]; /* of the last look of each seat */
    char ids[IDS_MAX];             /* of the first look */
} Table;

static char drawn[2][TY_SVG_MAX];

static void table_open(Table *table, const char *spec)
{
    memset(table, 0, sizeof *table);
    TyStatus status = ty_ruleset_open(spec, NULL, &table->ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", spec, status.message);
    }
    table->shape = ty_shape(table->ruleset);
}

/* Random play; `look` at every so many positions, and at the last one. */
static void table_play(Table *table, uint64_t seed, void (*look)(Table *))
{
    uint8_t mask[TY_ACTIONS_MAX];
    ty_reset(table->ruleset, table->state, seed, NULL);
    for (uint32_t i = 0; !ty_head(table->state)->over; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        if (i % EVERY == 0) {
            look(table);
        }
        ty_legal(table->ruleset, table->state, mask);
        uint32_t action = ty_sample(mask, table->shape->action_count, seed, i);
        assert_true(ty_step(table->ruleset, table->state, action, reward, NULL));
    }
    look(table);
}

static void each_variant(void (*look)(Table *))
{
    static VariantList list;
    static Table table;
    list.count = 0;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        variants_of_game(&list, ty_game_at(i));
    }
    for (uint32_t i = 0; i < list.count; i++) {
        table_open(&table, list.spec[i]);
        table_play(&table, i, look);
        ty_ruleset_close(table.ruleset);
    }
}

/* ---- Properties --------------------------------------------------------------------------------
 */

/* The ids of a drawing, each with a space behind it. */
static void ids_of(const char *svg, char ids[IDS_MAX])
{
    size_t used = 0;
    ids[0] = '\0';
    while ((svg = strstr(svg, " id=\"")) != NULL) {
        svg += strlen(" id=\"");
        size_t length = strcspn(svg, "\"");
        assert_true(used + length + 2 < IDS_MAX);
        memcpy(ids + used, svg, length);
        used += length;
        ids[used++] = ' ';
        ids[used] = '\0';
    }
}

static void ids_are_unique(const char *ids)
{
    char word[TY_NAME_MAX + 2];
    for (const char *at = ids; *at != '\0'; at += strcspn(at, " ") + 1) {
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, " %.*s ", (int)length, at);
        if (strstr(at + length, word) != NULL) {
            fail_msg("two parts are called%s", word);
        }
    }
}

static void look_parts(Table *table)
{
    char ids[IDS_MAX];
    for (uint32_t seat = 0; seat <= table->shape->players; seat++) {
        uint32_t eyes = seat < table->shape->players ? seat : TY_EVERYTHING;
        size_t length = ty_svg(table->ruleset, table->state, eyes, NULL, drawn[0], TY_SVG_MAX);
        assert_in_range(length, 1, TY_SVG_MAX - 1);
        ids_of(drawn[0], ids);
        if (table->ids[0] == '\0') {
            ids_are_unique(ids);
            strcpy(table->ids, ids);
        }
        assert_string_equal(ids, table->ids);
    }
}

static void test_a_ruleset_always_has_the_same_parts(void **unused)
{
    (void)unused;
    each_variant(look_parts);
}

static void look_changes(Table *table)
{
    static TySketch fresh;
    for (uint32_t seat = 0; seat < table->shape->players; seat++) {
        TySketch *sketch = &table->sketch[seat];
        if (sketch->count == 0) {
            ty_svg(table->ruleset, table->state, seat, sketch, drawn[0], TY_SVG_MAX);
        }
        ty_svg_changes(table->ruleset, table->state, seat, sketch, drawn[0], TY_SVG_MAX);
        memset(&fresh, 0, sizeof fresh);
        ty_svg(table->ruleset, table->state, seat, &fresh, drawn[1], TY_SVG_MAX);
        assert_memory_equal(sketch, &fresh, sizeof fresh);
        ty_svg_changes(table->ruleset, table->state, seat, sketch, drawn[0], TY_SVG_MAX);
        assert_string_equal(drawn[0], "[]");
    }
}

static void test_changes_lead_from_one_drawing_to_the_next(void **unused)
{
    (void)unused;
    each_variant(look_changes);
}

static void look_hidden(Table *table)
{
    uint64_t other[TY_STATE_MAX / 8];
    for (uint32_t seat = 0; seat < table->shape->players; seat++) {
        memcpy(other, table->state, sizeof other);
        ty_resample(table->ruleset, other, seat, hash_mix(seat + 77));
        ty_svg(table->ruleset, table->state, seat, NULL, drawn[0], TY_SVG_MAX);
        ty_svg(table->ruleset, other, seat, NULL, drawn[1], TY_SVG_MAX);
        assert_string_equal(drawn[0], drawn[1]);
        ty_svg(table->ruleset, table->state, TY_PUBLIC, NULL, drawn[0], TY_SVG_MAX);
        ty_svg(table->ruleset, other, TY_PUBLIC, NULL, drawn[1], TY_SVG_MAX);
        assert_string_equal(drawn[0], drawn[1]);
        assert_null(strstr(drawn[0], "data-act=")); /* nor does it offer anything */
    }
}

static void test_what_a_seat_cannot_know_does_not_change_its_drawing(void **unused)
{
    (void)unused;
    each_variant(look_hidden);
}

/* Whether a number stands in one of the data-act attributes. */
static bool can_be_chosen(const char *svg, uint32_t action)
{
    char word[16];
    snprintf(word, sizeof word, " %u ", action);
    while ((svg = strstr(svg, "data-act=\"")) != NULL) {
        char acts[TY_NAME_MAX * 8];
        svg += strlen("data-act=\"");
        snprintf(acts, sizeof acts, " %.*s ", (int)strcspn(svg, "\""), svg);
        if (strstr(acts, word) != NULL) {
            return true;
        }
    }
    return false;
}

static void look_choices(Table *table)
{
    uint8_t mask[TY_ACTIONS_MAX];
    char name[TY_NAME_MAX];
    int8_t seat = ty_head(table->state)->seat;
    if (seat < 0 || (uint32_t)seat >= table->shape->players) {
        return;
    }
    ty_legal(table->ruleset, table->state, mask);
    ty_svg(table->ruleset, table->state, (uint32_t)seat, NULL, drawn[0], TY_SVG_MAX);
    ty_svg(table->ruleset, table->state, (uint32_t)!seat, NULL, drawn[1], TY_SVG_MAX);
    assert_null(strstr(drawn[1], "data-act=\""));
    for (uint32_t action = 0; action < table->shape->action_count; action++) {
        if (can_be_chosen(drawn[0], action) != (mask[action] != 0)) {
            ty_action_name(table->ruleset, action, name);
            fail_msg("%s: %s is %s, but %s in the drawing", table->shape->spec, name,
                     mask[action] ? "legal" : "not legal", mask[action] ? "not" : "it is");
        }
    }
}

static void test_the_legal_actions_and_no_others_can_be_chosen_in_the_drawing(void **unused)
{
    (void)unused;
    each_variant(look_choices);
}

static void look_allocations(Table *table)
{
    allocations = 0;
    ty_svg(table->ruleset, table->state, 0, NULL, drawn[0], TY_SVG_MAX);
    assert_int_equal(allocations, 0);
}

static void test_drawing_does_not_allocate(void **unused)
{
    (void)unused;
    each_variant(look_allocations);
}

/* The largest boards are laid out, too: as many spaces as a board may have, on one line. */
static void test_a_board_of_160_spaces_is_drawn(void **unused)
{
    static const char board[] =
        "{\"format\": \"convoi-board-1\", \"name\": \"long\", \"title\": \"Long\", "
        "\"rules\": \"europe\", \"green_discs\": 3, \"cities\": ["
        "{\"id\": \"mill\", \"title\": \"Mill\", \"goods\": \"blue\", \"xy\": [0, 2]},"
        "{\"id\": \"harbour\", \"title\": \"Harbour\", \"port\": true, \"xy\": [4, 2]}],"
        "\"starts\": [{\"id\": \"north\", \"title\": \"North\", \"numbers\": [2, 3, 4, 5], "
        "\"xy\": [1, 4]}, {\"id\": \"south\", \"title\": \"South\", \"numbers\": [6, 7, 8], "
        "\"xy\": [1, 0]}, {\"id\": \"east\", \"title\": \"East\", \"numbers\": [9, 10, 11, 12], "
        "\"xy\": [3, 4]}], \"junctions\": ["
        "{\"id\": \"ford\", \"title\": \"Ford\", \"xy\": [1, 2], \"open\": [\"nf\", \"fm\"]},"
        "{\"id\": \"hill\", \"title\": \"Hill\", \"xy\": [3, 2], \"open\": [\"fh\", \"hh\"]}],"
        "\"segments\": [{\"id\": \"nf\", \"a\": \"north\", \"b\": \"ford\", \"spaces\": 1},"
        "{\"id\": \"sf\", \"a\": \"south\", \"b\": \"ford\", \"spaces\": 1},"
        "{\"id\": \"fm\", \"a\": \"ford\", \"b\": \"mill\", \"spaces\": 1, "
        "\"lights\": [{\"gap\": 1, \"id\": \"mill/ford\"}]},"
        "{\"id\": \"fh\", \"a\": \"ford\", \"b\": \"hill\", \"spaces\": 155, "
        "\"lights\": [{\"gap\": 1, \"id\": \"ford~hill\"}]},"
        "{\"id\": \"eh\", \"a\": \"east\", \"b\": \"hill\", \"spaces\": 1},"
        "{\"id\": \"hh\", \"a\": \"hill\", \"b\": \"harbour\", \"spaces\": 1, "
        "\"lights\": [{\"gap\": 1, \"id\": \"harbour/hill\"}]}],"
        "\"green\": [\"mill/ford\", \"harbour/hill\", \"ford~hill\"]}";
    static Table table;
    TyFileBytes file = {.value = "long", .name = "long", .bytes = board, .size = sizeof board - 1};
    (void)unused;
    TyStatus status = ty_ruleset_open_bytes("convoi:board=long", &file, 1, &table.ruleset);
    assert_string_equal(status.message, "");
    table.shape = ty_shape(table.ruleset);
    ty_reset(table.ruleset, table.state, 1, NULL);
    look_parts(&table);
    ty_ruleset_close(table.ruleset);
}

/* ---- Golden drawings ---------------------------------------------------------------------------
 */

/* Draws the middle of the episode that the first line of a golden text names. */
static void golden_draw(const char *text_path, char *svg)
{
    static Table table;
    char line[TY_SPEC_MAX + 64] = "";
    uint8_t mask[TY_ACTIONS_MAX];
    FILE *file = fopen(text_path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    const char *word = strstr(line, " seed ");
    assert_non_null(word);
    uint64_t seed = strtoull(word + strlen(" seed "), NULL, 10);
    line[strcspn(line, " ")] = '\0';
    table_open(&table, line);
    ty_reset(table.ruleset, table.state, seed, NULL);
    for (uint32_t i = 0; i < 60 && !ty_head(table.state)->over; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_legal(table.ruleset, table.state, mask);
        ty_step(table.ruleset, table.state, ty_sample(mask, table.shape->action_count, seed, i),
                reward, NULL);
    }
    ty_svg(table.ruleset, table.state, TY_EVERYTHING, NULL, svg, TY_SVG_MAX);
    ty_ruleset_close(table.ruleset);
}

static void golden_check(const char *path)
{
    char text_path[1024];
    snprintf(text_path, sizeof text_path, "%.*s.txt", (int)(strlen(path) - 4), path);
    golden_draw(text_path, drawn[0]);
    const char *mode = getenv("TRAINYARD_GOLDEN");
    FILE *file = fopen(path, mode != NULL ? "w" : "r");
    assert_non_null(file);
    if (mode != NULL) {
        fputs(drawn[0], file);
    } else {
        drawn[1][fread(drawn[1], 1, TY_SVG_MAX - 1, file)] = '\0';
        if (strcmp(drawn[0], drawn[1]) != 0) {
            fail_msg("%s: the drawing is different; TRAINYARD_GOLDEN=write writes it again", path);
        }
    }
    fclose(file);
}

static void test_golden_drawings(void **unused)
{
    glob_t found;
    (void)unused;
    assert_int_equal(glob(TY_SOURCE_DIR "/tests/golden/*.svg", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        golden_check(found.gl_pathv[i]);
    }
    assert_true(found.gl_pathc >= 5);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ruleset_always_has_the_same_parts),
        cmocka_unit_test(test_changes_lead_from_one_drawing_to_the_next),
        cmocka_unit_test(test_what_a_seat_cannot_know_does_not_change_its_drawing),
        cmocka_unit_test(test_the_legal_actions_and_no_others_can_be_chosen_in_the_drawing),
        cmocka_unit_test(test_drawing_does_not_allocate),
        cmocka_unit_test(test_a_board_of_160_spaces_is_drawn),
        cmocka_unit_test(test_golden_drawings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
