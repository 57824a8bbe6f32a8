/* The search agent, and what it asks of the experts and networks that guide it. */
#include "agent.h"
#include "tests/support/allocations.h"
#include "tests/support/sanitizers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net_bytes.h"

/* The smallest ruleset of each game: small enough to be searched many times. */
static char boards[8][TY_SPEC_MAX];
static uint32_t board_count;

static void boards_find(void)
{
    board_count = ty_game_count();
    assert_true(board_count <= sizeof boards / sizeof boards[0]);
    for (uint32_t i = 0; i < board_count; i++) {
        const TyGame *game = ty_game_at(i);
        snprintf(boards[i], sizeof boards[i], "%s:%s", ty_game_name(game), ty_game_small(game));
    }
}

/* ---- A table ---- */

typedef struct Table {
    TyRuleset *ruleset;
    const TyShape *shape;
    const TyAgent *agent[TY_SEATS_MAX];
    TyLineup lineup;
    int32_t reward[TY_SEATS_MAX];
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    uint64_t memory[TY_LINEUP_MEMORY_MAX / sizeof(uint64_t)];
} Table;

static Table *table_open(const char *spec)
{
    Table *table = calloc(1, sizeof *table);
    TyStatus status = ty_ruleset_open(spec, NULL, &table->ruleset);
    assert_string_equal(status.message, "");
    table->shape = ty_shape(table->ruleset);
    return table;
}

static void table_close(Table *table)
{
    ty_ruleset_close(table->ruleset);
    free(table);
}

static const TyAgent *agent_named(const Table *table, const char *name)
{
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(table->ruleset), name);
    assert_non_null(agent);
    return agent;
}

/* Opens search with `settings`, guided by a network of random weights whose values are of
 * `values`, or by the expert if that is 0. */
static const TyAgent *search_opened(const Table *table, const char *settings, uint32_t values)
{
    char spec[TY_SPEC_MAX];
    const TyAgent *agent = NULL;
    NetBytes net = net_bytes(table->ruleset, 1, 32, 4);
    net_sharpen(net, 3);
    net_values_are(net, values != 0 ? values : 1);
    const TyFileBytes file = {
        .value = "n", .name = "n", .bytes = (const char *)net.bytes, .size = net.size};
    snprintf(spec, sizeof spec, "search:%s,net=%s", settings, values != 0 ? "n" : "none");
    TyStatus status = ty_agent_open_bytes(table->ruleset, spec, &file, 1, &agent);
    assert_string_equal(status.message, "");
    free(net.bytes);
    return agent;
}

static void table_begin(Table *table, uint64_t seed)
{
    memset(table->reward, 0, sizeof table->reward);
    ty_reset(table->ruleset, table->state, seed, NULL);
    ty_lineup_init(&table->lineup, table->ruleset, table->agent, table->memory);
    ty_lineup_start(&table->lineup, seed);
}

static void table_play(Table *table, uint64_t seed)
{
    table_begin(table, seed);
    while (!ty_head(table->state)->over) {
        ty_lineup_step(&table->lineup, table->state, table->reward);
    }
}

/* ---- The tests ---- */

/* A fallback takes over in the middle, and search puts experts where they would never have gone. */
static void test_experts_answer_legally_wherever_they_are(void **unused)
{
    (void)unused;
    for (uint32_t board = 0; board < board_count; board++) {
        Table *table = table_open(boards[board]);
        for (uint32_t seat = 0; seat < table->shape->players; seat++) {
            table->agent[seat] = agent_named(table, "expert");
        }
        for (uint64_t seed = 0; seed < 20; seed++) {
            table_begin(table, seed);
            for (uint64_t step = 0; !ty_head(table->state)->over; step++) {
                uint8_t mask[TY_ACTIONS_MAX];
                uint32_t action = ty_lineup_act(&table->lineup, table->state);
                ty_legal(table->ruleset, table->state, mask);
                assert_true(action < table->shape->action_count && mask[action]);
                if ((step + seed) % 3 == 0) {
                    action = ty_sample(mask, table->shape->action_count, seed, step);
                }
                assert_true(ty_step(table->ruleset, table->state, action, table->reward, NULL));
            }
        }
        table_close(table);
    }
}

#ifdef SANITIZED
enum { GAMES_TOGETHER = 1, GAMES_AGAINST = 1 }; /* its strength is that of any other build */
#else
enum { GAMES_TOGETHER = 2, GAMES_AGAINST = 6 };
#endif

/* In a game against others search has the seat of the seed's parity; otherwise all of them. */
static uint32_t wins_of(Table *table, const char *name, uint32_t seeds)
{
    uint32_t wins = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        uint32_t own = (uint32_t)seed % table->shape->players;
        for (uint32_t seat = 0; seat < table->shape->players; seat++) {
            bool plays = table->shape->cooperative || seat == own;
            table->agent[seat] = agent_named(table, plays ? name : "random");
        }
        table_play(table, seed);
        wins += table->reward[own] > 0;
    }
    return wins;
}

static void test_search_beats_random(void **unused)
{
    (void)unused;
    for (uint32_t board = 0; board < board_count; board++) {
        Table *table = table_open(boards[board]);
        uint32_t seeds = table->shape->cooperative ? GAMES_TOGETHER : GAMES_AGAINST;
        assert_in_range(wins_of(table, "search", seeds), seeds - 1, seeds);
        if (seeds > 1) {
            assert_in_range(wins_of(table, "random", seeds), 0, seeds - 2);
        }
        table_close(table);
    }
}

/* `values` as in search_opened. */
static void same_twice_without_memory(const char *board, uint32_t values)
{
    Table *table = table_open(board);
    const TyAgent *search = search_opened(table, "playouts=64", values);
    for (uint32_t seat = 0; seat < table->shape->players; seat++) {
        table->agent[seat] = seat == 0 ? search : agent_named(table, "random");
    }
    uint64_t hash[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t before = allocations;
        table_play(table, 11);
        hash[i] = ty_hash(table->ruleset, table->state);
        assert_int_equal(allocations, before);
    }
    assert_int_equal(hash[0], hash[1]);
    ty_agent_close(search);
    table_close(table);
}

static void test_search_is_a_function_of_its_seed_and_allocates_nothing(void **unused)
{
    (void)unused;
    for (uint32_t board = 0; board < board_count; board++) {
        same_twice_without_memory(boards[board], 0);
        same_twice_without_memory(boards[board], 2);
    }
}

/* A stop that counts how often it is asked, which is once before every playout. */
static bool stop_count(void *user)
{
    (*(uint32_t *)user)++;
    return false;
}

static uint32_t playouts_of(Table *table, const char *spec)
{
    const TyAgent *agent = NULL;
    uint32_t asked = 0;
    const TyStop stop = {.asked = stop_count, .user = &asked};
    assert_int_equal(ty_agent_open(table->ruleset, spec, NULL, &agent).code, TY_OK);
    table->agent[0] = table->agent[1] = agent;
    table_begin(table, 4);
    table->lineup.stop = &stop;
    ty_lineup_act(&table->lineup, table->state);
    ty_agent_close(agent);
    return asked;
}

static void test_search_thinks_as_long_as_its_settings_say(void **unused)
{
    (void)unused;
    Table *table = table_open("express");
    uint32_t few = playouts_of(table, "search:playouts=8");
    uint32_t many = playouts_of(table, "search:playouts=512");
    assert_in_range(few, 2, 200);
    assert_in_range(many, 512 / 2, 512 * 2);
    assert_true(playouts_of(table, "search:ms=1") >= 2); /* however slow the machine is */
    table_close(table);
}

/* A board of each game on which something is hidden. */
static Table *table_open_secret(uint32_t board)
{
    bool open = strncmp(boards[board], "convoi:", 7) == 0;
    return table_open(open ? "convoi:board=tiny,hands=hidden" : boards[board]);
}

/* `values` as in search_opened. */
static void the_unknown_changes_nothing(uint32_t board, uint32_t values)
{
    Table *table = table_open_secret(board);
    const TyAgent *search = search_opened(table, "playouts=64", values);
    void *memory = calloc(1, TY_AGENT_MEMORY_MAX);
    for (uint32_t seat = 0; seat < table->shape->players; seat++) {
        table->agent[seat] = agent_named(table, "random");
    }
    table_begin(table, 3);
    for (uint32_t step = 0; !ty_head(table->state)->over; step++) {
        uint32_t seat = (uint32_t)ty_head(table->state)->seat;
        uint32_t chosen[2];
        for (uint32_t i = 0; step % 8 == 0 && i < 2; i++) {
            uint64_t other[TY_STATE_MAX / sizeof(uint64_t)];
            memcpy(other, table->state, table->shape->state_size);
            ty_resample(table->ruleset, other, seat, 1000 + i);
            ty_agent_start(search, memory, table->ruleset, seat, 5);
            chosen[i] = ty_agent_act(search, memory, table->ruleset, other);
        }
        if (step % 8 == 0) {
            assert_int_equal(chosen[0], chosen[1]);
        }
        ty_lineup_step(&table->lineup, table->state, table->reward);
    }
    free(memory);
    ty_agent_close(search);
    table_close(table);
}

/* Neither another future nor other hidden cards change what it does. */
static void test_search_does_not_see_what_its_seat_cannot_know(void **unused)
{
    (void)unused;
    for (uint32_t board = 0; board < board_count; board++) {
        the_unknown_changes_nothing(board, 0);
        the_unknown_changes_nothing(board, 2);
    }
}

/* Whether the guide of search tells what it thinks of this position. */
static bool expert_tells(Table *table)
{
    static TyNotes notes;
    static uint64_t memory[TY_LINEUP_MEMORY_MAX / sizeof(uint64_t)];
    const TyAgent *expert = agent_named(table, "expert");
    const TyAgent *agents[TY_SEATS_MAX] = {expert, expert};
    TyLineup lineup;
    ty_lineup_init(&lineup, table->ruleset, agents, memory);
    ty_lineup_start(&lineup, 3);
    lineup.notes = &notes;
    ty_lineup_act(&lineup, table->state);
    return notes.count > 0;
}

/* What search tells is of every action that it tried, all that are legal unless the expert says
 * which are worth it, and does not change what it plays. */
static void test_search_tells_what_it_thinks_of_every_choice(void **unused)
{
    (void)unused;
    static TyNotes notes;
    for (uint32_t board = 0; board < board_count; board++) {
        Table *table = table_open(boards[board]);
        uint8_t mask[TY_ACTIONS_MAX];
        for (uint32_t seat = 0; seat < table->shape->players; seat++) {
            table->agent[seat] = agent_named(table, "search");
        }
        table_begin(table, 3);
        uint32_t silent = ty_lineup_act(&table->lineup, table->state);
        table_begin(table, 3);
        table->lineup.notes = &notes;
        notes.count = 7; /* of an earlier choice */
        assert_int_equal(ty_lineup_act(&table->lineup, table->state), silent);
        ty_legal(table->ruleset, table->state, mask);
        uint32_t legal = 0;
        for (uint32_t i = 0; i < table->shape->action_count; i++) {
            legal += mask[i];
        }
        assert_in_range(notes.count, expert_tells(table) ? 2 : legal, legal);
        for (uint32_t i = 0; i < notes.count; i++) {
            assert_int_equal(mask[notes.list[i].action]--, 1);
            assert_true(notes.list[i].visits > 0 && isfinite(notes.list[i].value));
            assert_true(isnan(notes.list[i].probability));
        }
        table_close(table);
    }
}

/* Questions of a whole game: what the expert tells is between defeat and victory, what it takes is
 * told as the best, and it takes the same if nobody asks. */
static void expectations_hold(const char *spec)
{
    static TyNotes notes;
    Table *table = table_open(spec);
    uint32_t judged = 0;
    table->agent[0] = table->agent[1] = agent_named(table, "expert");
    table_play(table, 6);
    uint64_t silent = ty_hash(table->ruleset, table->state);
    table_begin(table, 6);
    table->lineup.notes = &notes;
    while (!ty_head(table->state)->over) {
        uint32_t taken = ty_lineup_step(&table->lineup, table->state, table->reward);
        float most = -INFINITY;
        float expected = NAN;
        for (uint32_t i = 0; i < notes.count; i++) {
            const TyNote *note = &notes.list[i];
            assert_true(isnan(note->value) || fabsf(note->value) <= 1);
            most = fmaxf(most, note->value);
            expected = note->action == taken ? note->value : expected;
        }
        assert_true(isnan(expected) || expected >= most);
        judged += isnan(expected) ? 0 : 1;
    }
    assert_in_range(judged, 50, 1000);
    assert_true(ty_hash(table->ruleset, table->state) == silent);
    table_close(table);
}

static void test_experts_tell_what_they_expect(void **unused)
{
    (void)unused;
    expectations_hold("convoi");
    expectations_hold("chicago");
}

/* Adds up, by seat, what the chicago experts expected during the game of `seed`. */
static void expectations_sum(Table *table, uint64_t seed, float sum[2])
{
    static TyNotes notes;
    table_begin(table, seed);
    table->lineup.notes = &notes;
    while (!ty_head(table->state)->over) {
        uint32_t seat = (uint32_t)ty_head(table->state)->seat;
        ty_lineup_step(&table->lineup, table->state, table->reward);
        for (uint32_t i = 0; i < notes.count; i++) {
            sum[seat] += isnan(notes.list[i].value) ? 0 : notes.list[i].value;
        }
    }
}

/* Who expects more during a game wins it, mostly; of a score nothing is told. */
static void test_chicago_expert_expects_what_comes(void **unused)
{
    (void)unused;
    Table *table = table_open("chicago");
    uint32_t right = 0;
    table->agent[0] = table->agent[1] = agent_named(table, "expert");
    for (uint64_t seed = 0; seed < 40; seed++) {
        float sum[2] = {0, 0};
        expectations_sum(table, seed, sum);
        right += (sum[0] > sum[1]) == (table->reward[0] > 0);
    }
    assert_in_range(right, 28, 40);
    table_close(table);
    table = table_open("chicago:reward=score");
    assert_false(expert_tells(table));
    table_close(table);
}

/* Whether all that search says it gained are whole victories and defeats. `values` as in
 * search_opened. */
static bool gains_are_whole(Table *table, const char *settings, uint32_t values)
{
    static TyNotes notes;
    const TyAgent *agent = search_opened(table, settings, values);
    bool whole = true;
    table->agent[0] = table->agent[1] = agent;
    table_begin(table, 3);
    table->lineup.notes = &notes;
    ty_lineup_act(&table->lineup, table->state);
    assert_in_range(notes.count, 2, TY_ACTIONS_MAX);
    for (uint32_t i = 0; i < notes.count; i++) {
        float sum = notes.list[i].value * notes.list[i].visits;
        whole = whole && fabsf(sum - roundf(sum)) < 1e-3f;
    }
    ty_agent_close(agent);
    return whole;
}

/* Played to its end a future is a victory or a defeat; after some turns the expert says what it
 * expects, or a network whose values are rewards. */
static void test_search_judges_futures_after_as_many_turns_as_its_settings_say(void **unused)
{
    (void)unused;
    static const struct {
        const char *board;
        uint32_t values;
        bool judges;
    } cases[] = {{"convoi:board=tiny", 0, true},  {"chicago", 0, true},
                 {"convoi:board=tiny", 2, true},  {"express:map=tiny", 2, true},
                 {"convoi:board=tiny", 1, false}, {"express:map=tiny", 0, false}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Table *table = table_open(cases[i].board);
        bool whole = !cases[i].judges;
        assert_true(gains_are_whole(table, "playouts=1,turns=0", cases[i].values));
        assert_int_equal(gains_are_whole(table, "playouts=1,turns=1", cases[i].values), whole);
        assert_true(gains_are_whole(table, "playouts=1,turns=1000", cases[i].values));
        table_close(table);
    }
}

/* How likely the network takes each action of the position; 0 where the mask forbids it. */
static uint32_t network_thinks(Table *table, const TyAgent *network, float *probability)
{
    static TyNotes notes;
    static uint64_t memory[TY_LINEUP_MEMORY_MAX / sizeof(uint64_t)];
    TyLineup lineup;
    const TyAgent *agents[TY_SEATS_MAX] = {network, network};
    ty_lineup_init(&lineup, table->ruleset, agents, memory);
    lineup.notes = &notes;
    uint32_t chosen = ty_lineup_act(&lineup, table->state);
    memset(probability, 0, TY_ACTIONS_MAX * sizeof *probability);
    for (uint32_t i = 0; i < notes.count; i++) {
        probability[notes.list[i].action] = notes.list[i].probability;
    }
    return chosen;
}

/* Checks who raced in the position: what the network would take, and the likeliest others of at
 * least 0.02. Returns how many legal actions did not. */
static uint32_t race_is_the_networks(const Table *table, const TyNotes *notes, uint32_t chosen,
                                     float *probability)
{
    uint32_t left_out = 0;
    uint32_t likely = 0;
    float least = 1;
    for (uint32_t i = 0; i < table->shape->action_count; i++) {
        likely += i != chosen && probability[i] >= 0.02f;
    }
    assert_int_equal(notes->count, likely == 0 ? 0 : 1 + (likely < 8 ? likely : 8));
    for (uint32_t i = 0; i < notes->count; i++) {
        uint32_t action = notes->list[i].action;
        assert_int_equal(action == chosen, i == 0);
        least = fminf(least, probability[action]);
        probability[action] = 0;
    }
    for (uint32_t i = 0; notes->count > 0 && i < table->shape->action_count; i++) {
        assert_true(probability[i] < 0.02f || probability[i] <= least);
        left_out += probability[i] > 0;
    }
    return left_out;
}

/* What a network would hardly do does not race, and its own choice is the one to beat. */
static void test_search_tries_what_its_network_would_do(void **unused)
{
    (void)unused;
    static TyNotes notes;
    Table *table = table_open("express");
    const TyAgent *search = search_opened(table, "playouts=1", 1);
    float probability[TY_ACTIONS_MAX];
    static uint64_t memory[TY_LINEUP_MEMORY_MAX / sizeof(uint64_t)];
    uint32_t raced = 0;
    uint32_t left_out = 0;
    TyLineup lineup;
    const TyAgent *agents[TY_SEATS_MAX] = {search, search};
    table->agent[0] = table->agent[1] = agent_named(table, "random");
    table_begin(table, 3);
    for (uint32_t step = 0; step < 40 && !ty_head(table->state)->over; step++) {
        ty_lineup_init(&lineup, table->ruleset, agents, memory);
        ty_lineup_start(&lineup, 3);
        lineup.notes = &notes;
        ty_lineup_act(&lineup, table->state);
        uint32_t chosen = network_thinks(table, search->data, probability);
        left_out += race_is_the_networks(table, &notes, chosen, probability);
        raced += notes.count;
        ty_lineup_step(&table->lineup, table->state, table->reward);
    }
    assert_true(raced > 0 && left_out > 0);
    ty_agent_close(search);
    table_close(table);
}

/* Weights that are no network's, or another ruleset's, are refused by name. */
static void test_a_network_that_cannot_guide_is_refused(void **unused)
{
    (void)unused;
    Table *table = table_open("express:map=tiny");
    TyRuleset *nordic = NULL;
    const TyAgent *agent = NULL;
    assert_int_equal(ty_ruleset_open("nordic:map=tiny", NULL, &nordic).code, TY_OK);
    NetBytes theirs = net_bytes(nordic, 1, 32, 4);
    const TyFileBytes files[] = {{.value = "bad", .name = "bad", .bytes = "abc", .size = 3},
                                 {.value = "other",
                                  .name = "other",
                                  .bytes = (const char *)theirs.bytes,
                                  .size = theirs.size}};
    TyStatus status = ty_agent_open_bytes(table->ruleset, "search:net=bad", files, 2, &agent);
    assert_int_equal(status.code, TY_BAD_FILE);
    assert_non_null(strstr(status.message, "net: bad@"));
    assert_non_null(strstr(status.message, "not a network"));
    status = ty_agent_open_bytes(table->ruleset, "search:net=other", files, 2, &agent);
    assert_int_equal(status.code, TY_BAD_FILE);
    assert_non_null(strstr(status.message, "made for nordic:map=tiny"));
    assert_null(agent);
    free(theirs.bytes);
    ty_ruleset_close(nordic);
    table_close(table);
}

int main(void)
{
    boards_find();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experts_answer_legally_wherever_they_are),
        cmocka_unit_test(test_search_beats_random),
        cmocka_unit_test(test_search_is_a_function_of_its_seed_and_allocates_nothing),
        cmocka_unit_test(test_search_thinks_as_long_as_its_settings_say),
        cmocka_unit_test(test_search_does_not_see_what_its_seat_cannot_know),
        cmocka_unit_test(test_search_tells_what_it_thinks_of_every_choice),
        cmocka_unit_test(test_experts_tell_what_they_expect),
        cmocka_unit_test(test_chicago_expert_expects_what_comes),
        cmocka_unit_test(test_search_judges_futures_after_as_many_turns_as_its_settings_say),
        cmocka_unit_test(test_search_tries_what_its_network_would_do),
        cmocka_unit_test(test_a_network_that_cannot_guide_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
