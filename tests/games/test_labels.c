/* What the numbers of rows and of chance are called: in every ruleset of every game. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/games/variants.h"

enum { LABELS_MAX = 4096 };

static char labels[LABELS_MAX][TY_NAME_MAX];
static uint32_t label_count;

static void labels_clear(void)
{
    label_count = 0;
}

/* The next label to fill. */
static char *labels_add(void)
{
    assert_true(label_count < LABELS_MAX);
    return labels[label_count++];
}

static int labels_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* No label is empty or there twice. */
static void labels_distinct(const char *spec, const char *what)
{
    qsort(labels, label_count, sizeof labels[0], labels_compare);
    for (uint32_t i = 0; i < label_count; i++) {
        if (labels[i][0] == '\0' || (i > 0 && strcmp(labels[i], labels[i - 1]) == 0)) {
            fail_msg("%s: %s: '%s' is empty or there twice", spec, what, labels[i]);
        }
    }
}

static TyRuleset *ruleset_of(const char *spec)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", spec, status.message);
    }
    return ruleset;
}

/* Calls `visit` with every ruleset of every game. */
static void rulesets_walk(void (*visit)(const TyRuleset *ruleset))
{
    for (uint32_t game = 0; game < ty_game_count(); game++) {
        static VariantList list;
        list.count = 0;
        variants_of_game(&list, ty_game_at(game));
        assert_true(list.count > 0 && list.count < VARIANT_MAX);
        for (uint32_t i = 0; i < list.count; i++) {
            TyRuleset *ruleset = ruleset_of(list.spec[i]);
            visit(ruleset);
            ty_ruleset_close(ruleset);
        }
    }
}

/* Calls `visit` with every block of both kinds of rows. */
static void blocks_walk(const TyRuleset *ruleset,
                        void (*visit)(const TyRuleset *ruleset, const TyBlock *block))
{
    const TyShape *shape = ty_shape(ruleset);
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        visit(ruleset, &shape->row_blocks[i]);
    }
    for (uint32_t i = 0; i < shape->full_block_count; i++) {
        visit(ruleset, &shape->full_blocks[i]);
    }
}

/* ---- Places of a row ------------------------------------------------------------------------- */

static void visit_places(const TyRuleset *ruleset, const TyBlock *block)
{
    labels_clear();
    for (uint32_t row = 0; row < block->rows; row++) {
        for (uint32_t column = 0; column < block->columns; column++) {
            ty_block_label(ruleset, block, row, column, labels_add());
        }
    }
    if (label_count > 1) {
        labels_distinct(ty_shape(ruleset)->spec, block->name);
    }
}

static void visit_all_places(const TyRuleset *ruleset)
{
    blocks_walk(ruleset, visit_places);
}

static void test_places_of_a_block_have_names_of_their_own(void **unused)
{
    (void)unused;
    rulesets_walk(visit_all_places);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Either every value has a name of its own or none has one. */
static void visit_values(const TyRuleset *ruleset, const TyBlock *block)
{
    char name[TY_NAME_MAX];
    labels_clear();
    bool category = block->kind == TY_BLOCK_CATEGORY;
    for (uint32_t value = 0; category && value <= block->maximum; value++) {
        ty_value_label(ruleset, block, value, labels_add());
    }
    if (label_count > 0 && labels[label_count - 1][0] != '\0') {
        labels_distinct(ty_shape(ruleset)->spec, block->name);
    }
    ty_value_label(ruleset, block, category ? block->maximum + 1u : 0, name);
    assert_string_equal(name, "");
}

static void visit_all_values(const TyRuleset *ruleset)
{
    blocks_walk(ruleset, visit_values);
}

static void test_values_of_a_category_have_names_of_their_own(void **unused)
{
    (void)unused;
    rulesets_walk(visit_all_values);
}

/* ---- Chance ---------------------------------------------------------------------------------- */

static void visit_outcomes(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    for (uint32_t stream = 0; shape->streams[stream] != NULL; stream++) {
        labels_clear();
        for (uint32_t outcome = 0; outcome < TY_OUTCOMES_MAX; outcome++) {
            char name[TY_NAME_MAX];
            uint32_t found = UINT32_MAX;
            ty_outcome_name(ruleset, stream, outcome, name);
            if (name[0] != '\0') {
                assert_true(ty_outcome_find(ruleset, stream, name, &found));
                assert_int_equal(found, outcome);
                snprintf(labels_add(), TY_NAME_MAX, "%s", name);
            }
        }
        assert_true(label_count > 0);
        labels_distinct(shape->spec, shape->streams[stream]);
    }
}

static void test_outcomes_have_names_of_their_own_and_are_found_by_them(void **unused)
{
    (void)unused;
    rulesets_walk(visit_outcomes);
}

static void blocks_agree(const TyRuleset *ruleset, const TyRuleset *with_seat, const TyBlock *block,
                         const TyBlock *same)
{
    char name[TY_NAME_MAX];
    char other[TY_NAME_MAX];
    assert_string_equal(block->name, same->name);
    for (uint32_t row = 0; row < block->rows; row++) {
        for (uint32_t column = 0; column < block->columns; column++) {
            ty_block_label(ruleset, block, row, column, name);
            ty_block_label(with_seat, same, row, column, other);
            assert_string_equal(name, other);
        }
    }
    for (uint32_t value = 0; value <= block->maximum; value++) {
        ty_value_label(ruleset, block, value, name);
        ty_value_label(with_seat, same, value, other);
        assert_string_equal(name, other);
    }
}

static void test_chance_seat_leaves_the_names_of_the_game(void **unused)
{
    (void)unused;
    for (uint32_t game = 0; game < ty_game_count(); game++) {
        char spec[TY_SPEC_MAX];
        snprintf(spec, sizeof spec, "%s:chance=seat", ty_game_name(ty_game_at(game)));
        TyRuleset *ruleset = ruleset_of(ty_game_name(ty_game_at(game)));
        TyRuleset *with_seat = ruleset_of(spec);
        const TyShape *plain = ty_shape(ruleset);
        const TyShape *shape = ty_shape(with_seat);
        assert_int_equal(shape->row_block_count, plain->row_block_count + 2);
        assert_int_equal(shape->full_block_count, plain->full_block_count);
        for (uint32_t i = 0; i < plain->row_block_count; i++) {
            blocks_agree(ruleset, with_seat, &plain->row_blocks[i], &shape->row_blocks[i]);
        }
        for (uint32_t i = 0; i < plain->full_block_count; i++) {
            blocks_agree(ruleset, with_seat, &plain->full_blocks[i], &shape->full_blocks[i]);
        }
        ty_ruleset_close(ruleset);
        ty_ruleset_close(with_seat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_of_a_block_have_names_of_their_own),
        cmocka_unit_test(test_values_of_a_category_have_names_of_their_own),
        cmocka_unit_test(test_outcomes_have_names_of_their_own_and_are_found_by_them),
        cmocka_unit_test(test_chance_seat_leaves_the_names_of_the_game),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
