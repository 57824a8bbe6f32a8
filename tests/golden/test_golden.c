/* Golden playthroughs: episodes of random play, compared line by line with the files beside this
 * one. The first line of a file says what it plays.
 *
 * TRAINYARD_GOLDEN=write rewrites the files, after a change of the rules that is meant. */
#define _POSIX_C_SOURCE 200809L
#include "bench/signature.h"
#include "trainyard.h"

#include <glob.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Golden {
    const TyRuleset *ruleset;
    FILE *out;
} Golden;

static void golden_event(void *user, const TyEvent *event)
{
    Golden *golden = user;
    char json[4096];
    ty_event_json(golden->ruleset, event, json, sizeof json);
    fprintf(golden->out, "    %s\n", json);
}

static void golden_metrics(const Golden *golden, const void *state)
{
    const TyShape *shape = ty_shape(golden->ruleset);
    int32_t metrics[TY_METRICS_MAX];
    ty_metrics(golden->ruleset, state, metrics);
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        fprintf(golden->out, "%s %d\n", shape->metrics[i], metrics[i]);
    }
}

/* One episode: a line per decision with the hash of the position, a line per event. */
static void golden_play(Golden *golden, uint64_t seed)
{
    const TyShape *shape = ty_shape(golden->ruleset);
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    char name[TY_NAME_MAX];
    TyTape tape = {.user = golden, .event = golden_event};
    fprintf(golden->out, "%s rules %u seed %" PRIu64 "\n", shape->spec,
            ty_game_rules_version(ty_ruleset_game(golden->ruleset)), seed);
    ty_reset(golden->ruleset, state, seed, &tape);
    while (!ty_head(state)->over) {
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_legal(golden->ruleset, state, mask);
        uint32_t action = ty_sample(mask, shape->action_count, seed, ty_head(state)->steps);
        ty_action_name(golden->ruleset, action, name);
        fprintf(golden->out, "%u seat %d %s: %s  %016" PRIx64 "\n", ty_head(state)->steps,
                ty_head(state)->seat, ty_phase_name(golden->ruleset, state), name,
                ty_hash(golden->ruleset, state));
        assert_true(ty_step(golden->ruleset, state, action, reward, &tape));
    }
    golden_metrics(golden, state);
}

static void golden_compare(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("%s is missing; TRAINYARD_GOLDEN=write makes it", path);
        return;
    }
    char line[8192];
    for (uint32_t number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        size_t length = strlen(line);
        if (strncmp(line, text, length) != 0) {
            size_t here = strcspn(text, "\n");
            fail_msg("%s:%u\n  file: %s  now:  %.*s", path, number, line, (int)here, text);
        }
        text += length;
    }
    fclose(file);
    assert_int_equal(*text, '\0');
}

/* The ruleset and the seed that the first line of a golden file names: "SPEC rules N seed S". A new
 * file begins as "SPEC seed S". */
static TyRuleset *golden_open(const char *path, uint64_t *seed)
{
    char line[TY_SPEC_MAX + 64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    const char *word = strstr(line, " seed ");
    assert_non_null(word);
    *seed = strtoull(word + strlen(" seed "), NULL, 10);
    line[strcspn(line, " ")] = '\0';
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(line, NULL, &ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", path, status.message);
    }
    return ruleset;
}

/* Plays what the file names and compares, or writes the file again. */
static void golden_check(const char *path)
{
    uint64_t seed = 0;
    char *text = NULL;
    size_t size = 0;
    TyRuleset *ruleset = golden_open(path, &seed);
    Golden golden = {.ruleset = ruleset, .out = open_memstream(&text, &size)};
    golden_play(&golden, seed);
    fclose(golden.out);
    const char *mode = getenv("TRAINYARD_GOLDEN");
    if (mode != NULL && strcmp(mode, "write") == 0) {
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        fputs(text, out);
        fclose(out);
    }
    golden_compare(path, text);
    free(text);
    ty_ruleset_close(ruleset);
}

static glob_t golden_files;

static void test_playthroughs_are_the_golden_ones(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < golden_files.gl_pathc; i++) {
        golden_check(golden_files.gl_pathv[i]);
    }
}

static void test_every_game_has_a_golden_playthrough(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        uint32_t count = 0;
        for (size_t file = 0; file < golden_files.gl_pathc; file++) {
            uint64_t seed = 0;
            TyRuleset *ruleset = golden_open(golden_files.gl_pathv[file], &seed);
            count += ty_ruleset_game(ruleset) == ty_game_at(i);
            ty_ruleset_close(ruleset);
        }
        if (count == 0) {
            fail_msg("tests/golden has no file of %s", ty_game_name(ty_game_at(i)));
        }
    }
}

/* One number over a fixed set of episodes of every game. */
static void test_signature_is_the_pinned_one(void **unused)
{
    (void)unused;
    char pinned[64] = "";
    char now[64];
    FILE *file = fopen(TY_SOURCE_DIR "/tests/golden/signature.txt", "r");
    assert_non_null(file);
    assert_non_null(fgets(pinned, sizeof pinned, file));
    fclose(file);
    pinned[strcspn(pinned, "\n")] = '\0';
    snprintf(now, sizeof now, "%016" PRIx64, signature_compute());
    assert_string_equal(now, pinned);
}

int main(void)
{
    if (glob(TY_SOURCE_DIR "/tests/golden/*-*.txt", 0, NULL, &golden_files) != 0) {
        fprintf(stderr, "there are no golden files\n");
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_playthroughs_are_the_golden_ones),
        cmocka_unit_test(test_every_game_has_a_golden_playthrough),
        cmocka_unit_test(test_signature_is_the_pinned_one),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    globfree(&golden_files);
    return failed;
}
