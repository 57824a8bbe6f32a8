/* Whole episodes of good players, told: every kind of event as JSON, and the end as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "trainyard.h"

enum { EPISODES = 12, KINDS_MAX = 64 };

/* What the episodes of a ruleset told: a name for each kind of event. */
typedef struct Story {
    const TyRuleset *ruleset;
    char names[KINDS_MAX][TY_NAME_MAX];
} Story;

/* An event is an object with the name of its kind; chance has the name of its outcome. */
static void event_check(void *user, const TyEvent *event)
{
    Story *story = user;
    char text[4096];
    char outcome[TY_NAME_MAX];
    size_t length = ty_event_json(story->ruleset, event, text, sizeof text);
    assert_true(length < sizeof text && event->kind < KINDS_MAX);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(object, "event"));
    if (name == NULL) {
        fail_msg("kind %u: %s", event->kind, text);
        return;
    }
    char *known = story->names[event->kind];
    if (known[0] == '\0') {
        snprintf(known, TY_NAME_MAX, "%s", name);
    }
    assert_string_equal(known, name);
    if (event->stream >= 0) {
        ty_outcome_name(story->ruleset, (uint32_t)event->stream, event->outcome, outcome);
        assert_true(outcome[0] != '\0');
    }
    json_decref(object);
}

/* One episode with the game's expert in every seat. Its end is told to everybody. */
static void episode_tell(Story *story, uint64_t seed)
{
    static uint64_t memory[TY_LINEUP_MEMORY_MAX / 8];
    const TyRuleset *ruleset = story->ruleset;
    const TyShape *shape = ty_shape(ruleset);
    const TyAgent *experts[TY_SEATS_MAX] = {NULL};
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    TyTape tape = {.user = story, .event = event_check};
    TyLineup lineup;
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        experts[seat] = ty_agent_find(ty_ruleset_game(ruleset), "expert");
    }
    ty_lineup_init(&lineup, ruleset, experts, memory);
    assert_true(ty_reset(ruleset, state, seed, &tape));
    ty_lineup_start(&lineup, seed);
    while (!ty_head(state)->over) {
        assert_true(ty_step(ruleset, state, ty_lineup_act(&lineup, state), reward, &tape));
    }
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        static char text[1 << 16];
        size_t length = ty_text(ruleset, state, seat, text, sizeof text);
        assert_true(length > 0 && length < sizeof text && text[length - 1] == '\n');
    }
}

/* Tells the episodes; all the events of `expected`, a NULL-terminated list, must have been. */
static void story_check(const char *spec, const char *const *expected)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    assert_string_equal(status.message, "");
    Story story = {.ruleset = ruleset};
    for (uint64_t seed = 0; seed < EPISODES; seed++) {
        episode_tell(&story, seed);
    }
    for (; *expected != NULL; expected++) {
        uint32_t kind = 0;
        while (kind < KINDS_MAX && strcmp(story.names[kind], *expected) != 0) {
            kind++;
        }
        if (kind == KINDS_MAX) {
            fail_msg("%s: no '%s' in %d episodes", spec, *expected, (int)EPISODES);
        }
    }
    ty_ruleset_close(ruleset);
}

static void test_convoi_tells_everything_that_happens(void **unused)
{
    (void)unused;
    static const char *const expected[] = {"first_player", "turn",    "card", "roll", "place",
                                           "load",         "deliver", "move", "end",  NULL};
    story_check("convoi:board=tiny,first_player=random,starts=shuffled,ask_forced=true", expected);
    story_check("convoi:board=tiny,first_player=random", expected);
}

static void test_nordic_tells_everything_that_happens(void **unused)
{
    (void)unused;
    static const char *const expected[] = {"first_player", "deal", "turn_up", "offer",
                                           "choose",       "end",  NULL};
    story_check("nordic:map=tiny", expected);
    story_check("nordic:players=3", expected);
}

static void test_express_tells_everything_that_happens(void **unused)
{
    (void)unused;
    static const char *const expected[] = {"first_player", "deal", "turn_up", "offer",
                                           "choose",       "end",  NULL};
    story_check("express:map=tiny", expected);
    story_check("express:players=4", expected);
}

static void test_chicago_tells_everything_that_happens(void **unused)
{
    (void)unused;
    static const char *const expected[] = {"first_player", "draw", "place", "end", NULL};
    story_check("chicago:players=4", expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convoi_tells_everything_that_happens),
        cmocka_unit_test(test_nordic_tells_everything_that_happens),
        cmocka_unit_test(test_express_tells_everything_that_happens),
        cmocka_unit_test(test_chicago_tells_everything_that_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
