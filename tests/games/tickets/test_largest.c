/* Maps of the ticket games with as many cities, routes, tickets, colours and cards as a file may
 * have: they play, and every position is sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/hash.h"
#include "trainyard.h"

enum { TEXT_SIZE = 1 << 16, CITIES = 48, ROUTES = 128, TICKETS = 64 };

static char text[TEXT_SIZE];

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    int added = vsnprintf(text + length, TEXT_SIZE - length, format, args);
    va_end(args);
    assert_true(added > 0 && (size_t)added < TEXT_SIZE - length);
}

static void add_head(const char *format, const char *bonus)
{
    text[0] = '\0';
    add("{\"format\": \"%s\", \"name\": \"largest\", \"title\": \"Largest\", \"colours\": [\"a\", "
        "\"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\"], \"cards_per_colour\": 24, "
        "\"locomotives\": 24, \"wagons\": 60, %s, \"points\": [[1, 1]",
        format, bonus);
    for (int length = 2; length <= 9; length++) {
        add(", [%d, %d]", length, 2 * length);
    }
    add("], \"cities\": [");
    for (int i = 0; i < CITIES; i++) {
        add("%s{\"id\": \"c%d\", \"title\": \"C\", \"xy\": [%d, 0.5]}", i == 0 ? "" : ", ", i, i);
    }
}

/* Three routes from every city, to the next ones on a ring. `ferries` allows special routes. */
static void add_routes(bool ferries)
{
    add("], \"routes\": [");
    for (int i = 0; i < ROUTES; i++) {
        int from = i % CITIES;
        int to = (from + 1 + i / CITIES) % CITIES;
        const char *kinds[] = {"", ", \"tunnel\": true", ", \"ferry\": 1",
                               ", \"four_for_one\": true"};
        add("%s{\"id\": \"r%d\", \"a\": \"c%d\", \"b\": \"c%d\", \"length\": %d, \"colour\": "
            "\"%s\"%s}",
            i == 0 ? "" : ", ", i, from, to, i % 9 + 1, i % 3 == 0 ? "gray" : "a",
            ferries ? kinds[i % 4] : "");
    }
}

static void add_tickets(void)
{
    add("], \"tickets\": [");
    for (int i = 0; i < TICKETS; i++) {
        add("%s{\"id\": \"t%d\", \"a\": \"c%d\", \"b\": \"c%d\", \"points\": 100}",
            i == 0 ? "" : ", ", i, i % CITIES, (i + 7) % CITIES);
    }
    add("]}");
}

static TyStatus text_open(void *user, const char *value, const char **bytes, size_t *size,
                          char name[TY_NAME_MAX])
{
    (void)user;
    *bytes = text;
    *size = strlen(text);
    snprintf(name, TY_NAME_MAX, "%s", value);
    return (TyStatus){.code = TY_OK};
}

static void position_check(const TyRuleset *ruleset, const void *state)
{
    const char *broken = ty_check(ruleset, state);
    if (broken != NULL) {
        fail_msg("%s: step %u: %s", ty_shape(ruleset)->spec, ty_head(state)->steps, broken);
    }
}

/* One episode at random; now and then with what the seat to act cannot know redealt. The last
 * legal actions are taken more often, so that the highest numbers of all things come up. */
static void episode_check(const TyRuleset *ruleset, uint64_t seed)
{
    const TyShape *shape = ty_shape(ruleset);
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t other[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    assert_true(ty_reset(ruleset, state, seed, NULL));
    for (uint32_t step = 0; !ty_head(state)->over; step++) {
        uint8_t mask[TY_ACTIONS_MAX];
        uint8_t row[TY_ROW_MAX];
        uint32_t seat = (uint32_t)ty_head(state)->seat;
        position_check(ruleset, state);
        ty_observe(ruleset, state, seat, row);
        ty_legal(ruleset, state, mask);
        uint32_t action = ty_sample(mask, shape->action_count, seed, step);
        if (hash_mix(step) % 3 == 0) {
            for (action = shape->action_count - 1; !mask[action]; action--) {
            }
        }
        if (step % 16 == 0) {
            memcpy(other, state, shape->state_size);
            ty_resample(ruleset, other, seat, step);
            position_check(ruleset, other);
        }
        assert_true(ty_step(ruleset, state, action, reward, NULL));
    }
    position_check(ruleset, state);
}

static void map_check(const char *spec)
{
    TyRuleset *ruleset = NULL;
    const TyFiles files = {.open = text_open};
    TyStatus status = ty_ruleset_open(spec, &files, &ruleset);
    assert_string_equal(status.message, "");
    for (uint64_t seed = 0; seed < 12; seed++) {
        episode_check(ruleset, seed);
    }
    ty_ruleset_close(ruleset);
}

static void test_largest_nordic_map_plays(void **unused)
{
    (void)unused;
    add_head("nordic-map-1", "\"globetrotter\": 100");
    add_routes(true);
    add_tickets();
    map_check("nordic:map=mine,players=3,reward=score");
    map_check("nordic:map=mine,players=2,chance=seat,turns_max=40");
}

static void test_largest_express_map_plays(void **unused)
{
    (void)unused;
    add_head("express-map-1", "\"link\": {\"from\": \"c0\", \"to\": \"c3\", \"points\": [100]}");
    add_routes(false);
    add_tickets();
    map_check("express:map=mine,players=4,reward=score");
    map_check("express:map=mine,players=2,chance=seat");
}

/* The margin of the score reward is bounded on both sides. */
static void test_score_reward_is_bounded(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    const TyFiles files = {.open = text_open};
    bool won = false;
    bool lost = false;
    add_head("nordic-map-1", "\"globetrotter\": 0");
    add_routes(false);
    add_tickets();
    assert_int_equal(ty_ruleset_open("nordic:map=mine,reward=score", &files, &ruleset).code, TY_OK);
    const TyShape *shape = ty_shape(ruleset);
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint64_t state[TY_STATE_MAX / 8];
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_reset(ruleset, state, seed, NULL);
        for (uint32_t step = 0; !ty_head(state)->over; step++) {
            uint8_t mask[TY_ACTIONS_MAX];
            ty_legal(ruleset, state, mask);
            ty_step(ruleset, state, ty_sample(mask, shape->action_count, seed, step), reward, NULL);
        }
        for (uint32_t seat = 0; seat < 2; seat++) {
            assert_in_range(reward[seat] + 128, 0, 256);
            won |= reward[seat] == 128;
            lost |= reward[seat] == -128;
        }
    }
    assert_true(won && lost);
    ty_ruleset_close(ruleset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_largest_nordic_map_plays),
        cmocka_unit_test(test_largest_express_map_plays),
        cmocka_unit_test(test_score_reward_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
