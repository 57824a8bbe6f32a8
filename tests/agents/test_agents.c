/* Seating agents: what they are shown, what they remember, and the lists in which they stand. */
#include "pool/pool.h"
#include "registry.h"
#include "tests/support/allocations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static TyRuleset *ruleset_of(const char *spec)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    assert_string_equal(status.message, "");
    return ruleset;
}

/* ---- An agent that writes down what it is shown ---- */

typedef struct Witness {
    uint64_t started; /* times */
    uint64_t seed;
    uint64_t seat;
    uint64_t asked; /* times */
} Witness;

static TyView shown;
static uint8_t shown_row[TY_ROW_MAX];
static uint8_t shown_mask[TY_ACTIONS_MAX];
static TyPlanner shown_planner;

static void witness_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                          uint32_t seat, uint64_t seed)
{
    (void)agent;
    Witness *witness = memory;
    (void)ruleset;
    assert_int_equal(witness->started, 0); /* the memory was all zero */
    *witness = (Witness){.started = 1, .seed = seed, .seat = seat};
}

static uint32_t witness_act(void *memory, const TyView *view)
{
    Witness *witness = memory;
    const TyShape *shape = ty_shape(view->ruleset);
    witness->asked++;
    shown = *view;
    memcpy(shown_row, view->row, shape->row_size);
    memcpy(shown_mask, view->mask, shape->action_count);
    shown_planner = view->planner != NULL ? *view->planner : (TyPlanner){NULL, NULL, 0};
    return ty_sample(view->mask, shape->action_count, witness->seed, witness->asked);
}

static const TyAgent witness_agent = {
    .name = "witness",
    .memory_size = sizeof(Witness),
    .start = witness_start,
    .act = witness_act,
};

static const TyAgent planning_agent = {
    .name = "planner",
    .plans = true,
    .memory_size = sizeof(Witness),
    .start = witness_start,
    .act = witness_act,
};

/* ---- Views ---- */

static void check_view(const TyRuleset *ruleset, const void *state, const TyAgent *agent)
{
    const TyShape *shape = ty_shape(ruleset);
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t seat = (uint32_t)ty_head(state)->seat;
    ty_observe(ruleset, state, seat, row);
    ty_legal(ruleset, state, mask);
    assert_ptr_equal(shown.ruleset, ruleset);
    assert_int_equal(shown.seat, seat);
    assert_memory_equal(shown_row, row, shape->row_size);
    assert_memory_equal(shown_mask, mask, shape->action_count);
    assert_int_equal(shown.planner != NULL, agent->plans);
    if (agent->plans) {
        assert_ptr_equal(shown_planner.ruleset, ruleset);
        assert_ptr_equal(shown_planner.state, state);
        assert_int_equal(shown_planner.seat, seat);
    }
}

static void check_views(const char *spec, const TyAgent *agent)
{
    TyRuleset *ruleset = ruleset_of(spec);
    const TyAgent *agents[TY_SEATS_MAX] = {agent, agent, agent, agent, NULL};
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    static uint64_t memory[TY_LINEUP_MEMORY_MAX / 8];
    TyLineup lineup;
    memset(memory, 0xab, sizeof memory);
    ty_lineup_init(&lineup, ruleset, agents, memory);
    ty_reset(ruleset, state, 9, NULL);
    ty_lineup_start(&lineup, 9);
    while (!ty_head(state)->over) {
        int8_t seat = ty_head(state)->seat;
        uint64_t hash = ty_hash(ruleset, state);
        Witness before;
        memcpy(&before, lineup.memory[seat], sizeof before);
        uint32_t action = ty_lineup_act(&lineup, state);
        assert_int_equal(ty_hash(ruleset, state), hash);
        if (lineup.agent[seat] == agent) {
            check_view(ruleset, state, agent);
            assert_int_equal(((Witness *)lineup.memory[seat])->asked, before.asked + 1);
        }
        assert_true(ty_step(ruleset, state, action, reward, NULL));
    }
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->players; seat++) {
        const Witness *witness = lineup.memory[seat];
        assert_int_equal(witness->seed, ty_agent_seed(9, seat));
        assert_int_equal(witness->seat, seat);
    }
    ty_ruleset_close(ruleset);
}

static void test_an_agent_is_shown_the_view_of_its_seat(void **unused)
{
    (void)unused;
    check_views("convoi:board=tiny", &witness_agent);
    check_views("express:map=tiny", &planning_agent);
    check_views("nordic:map=tiny", &witness_agent);
}

/* ---- Lineups ---- */

static void test_a_chance_seat_without_an_agent_follows_its_weights(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = ruleset_of("express:map=tiny,chance=seat");
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    uint64_t memory[64];
    TyLineup lineup;
    uint32_t players = ty_shape(ruleset)->players;
    ty_lineup_init(&lineup, ruleset, agents, memory);
    assert_ptr_equal(lineup.agent[players], &chance_agent);
    assert_null(lineup.agent[0]);
    assert_in_range(ty_lineup_size(ruleset, agents), chance_agent.memory_size, sizeof memory);
    agents[players] = &witness_agent;
    ty_lineup_init(&lineup, ruleset, agents, memory);
    assert_ptr_equal(lineup.agent[players], &witness_agent);
    ty_ruleset_close(ruleset);
}

/* Every agent has its own piece of the memory, and no byte behind its end is touched. */
static void test_agents_stay_within_their_memory(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = ruleset_of("chicago:players=4");
    const TyGame *game = ty_ruleset_game(ruleset);
    const TyAgent *agents[TY_SEATS_MAX] = {ty_agent_find(game, "expert"),
                                           ty_agent_find(game, "random"), &witness_agent,
                                           ty_agent_find(game, "expert")};
    size_t size = ty_lineup_size(ruleset, agents);
    uint8_t *memory = aligned_alloc(64, size + 64);
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    TyLineup lineup;
    memset(memory, 0x5a, size + 64);
    ty_lineup_init(&lineup, ruleset, agents, memory);
    ty_reset(ruleset, state, 4, NULL);
    ty_lineup_start(&lineup, 4);
    uint64_t before = allocations;
    while (!ty_head(state)->over) {
        ty_lineup_step(&lineup, state, reward);
    }
    assert_int_equal(allocations, before);
    for (uint32_t seat = 0; seat + 1 < 4; seat++) {
        assert_true((uint8_t *)lineup.memory[seat] + agents[seat]->memory_size <=
                    (uint8_t *)lineup.memory[seat + 1]);
    }
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(memory[size + i], 0x5a);
    }
    free(memory);
    ty_ruleset_close(ruleset);
}

static void test_an_episode_starts_with_empty_memories_again(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = ruleset_of("convoi:board=tiny");
    const TyAgent *agents[TY_SEATS_MAX] = {&witness_agent, &witness_agent};
    uint64_t memory[64];
    TyLineup lineup;
    ty_lineup_init(&lineup, ruleset, agents, memory);
    for (uint64_t seed = 0; seed < 3; seed++) {
        ty_lineup_start(&lineup, seed); /* witness_start looks */
        assert_int_equal(((Witness *)lineup.memory[1])->seed, ty_agent_seed(seed, 1));
        assert_int_not_equal(ty_agent_seed(seed, 0), ty_agent_seed(seed, 1));
    }
    ty_ruleset_close(ruleset);
}

/* ---- The list ---- */

static TyAgent agent_like(const char *name, const char *game)
{
    TyAgent agent = witness_agent;
    agent.name = name;
    agent.game = game;
    return agent;
}

static uint32_t agents_of(const TyGame *game)
{
    uint32_t count = 0;
    while (ty_agent_at(game, count) != NULL) {
        count++;
    }
    return count;
}

static void test_an_added_agent_is_found_and_plays(void **unused)
{
    (void)unused;
    static TyAgent here;
    static TyAgent everywhere;
    const TyGame *express = ty_game_find("express");
    const TyGame *convoi = ty_game_find("convoi");
    uint32_t before = agents_of(express);
    here = agent_like("only_here", "express");
    everywhere = agent_like("everywhere", NULL);
    assert_string_equal(ty_agent_add(&here).message, "");
    assert_string_equal(ty_agent_add(&everywhere).message, "");
    assert_int_equal(agents_of(express), before + 2);
    assert_ptr_equal(ty_agent_at(express, before), &here);
    assert_ptr_equal(ty_agent_find(express, "only_here"), &here);
    assert_null(ty_agent_find(convoi, "only_here"));
    assert_ptr_equal(ty_agent_find(convoi, "everywhere"), &everywhere);

    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    TyPoolConfig config = {.slots = 2, .agent = {&here, &everywhere}};
    TyPool *pool = NULL;
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    for (uint32_t i = 0; i < 10; i++) {
        ty_pool_step(pool, 0, 0, NULL);
    }
    assert_int_equal(ty_pool_counts(pool).decisions, 20);
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
}

static void check_refused(TyAgent agent, TyCode code)
{
    uint32_t before = agents_of(ty_game_find("convoi"));
    TyStatus status = ty_agent_add(&agent);
    assert_int_equal(status.code, code);
    assert_true(status.message[0] != '\0');
    assert_int_equal(agents_of(ty_game_find("convoi")), before);
}

static void test_agents_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    static const char *const names[] = {NULL,  "",      "Big",  "two words", "a,b",
                                        "x@1", "human", "open", "truncate",  "random"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_refused(agent_like(names[i], NULL), TY_BAD_ARGUMENT);
    }
    check_refused(agent_like("expert", NULL), TY_BAD_ARGUMENT);
    check_refused(agent_like("random", "convoi"), TY_BAD_ARGUMENT);
    TyAgent agent = agent_like("lame", NULL);
    agent.act = NULL;
    check_refused(agent, TY_BAD_ARGUMENT);
    agent = agent_like("deaf", NULL);
    agent.start = NULL;
    check_refused(agent, TY_BAD_ARGUMENT);
    agent = agent_like("stuffed", NULL);
    agent.memory_size = TY_AGENT_MEMORY_MAX + 1;
    check_refused(agent, TY_LIMIT);
}

/* Runs last: the list stays full. */
static void test_a_full_list_refuses_more(void **unused)
{
    (void)unused;
    static TyAgent agents[REGISTRY_AGENTS_MAX + 1];
    static char names[REGISTRY_AGENTS_MAX + 1][16];
    TyStatus status = {.code = TY_OK};
    uint32_t added = 0;
    while (status.code == TY_OK) {
        assert_true(added <= REGISTRY_AGENTS_MAX);
        snprintf(names[added], sizeof names[added], "number_%u", added);
        agents[added] = agent_like(names[added], "chicago");
        status = ty_agent_add(&agents[added]);
        added += status.code == TY_OK;
    }
    assert_int_equal(status.code, TY_LIMIT);
    assert_null(ty_agent_find(ty_game_find("chicago"), names[added]));
    assert_ptr_equal(ty_agent_find(ty_game_find("chicago"), names[added - 1]), &agents[added - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_agent_is_shown_the_view_of_its_seat),
        cmocka_unit_test(test_a_chance_seat_without_an_agent_follows_its_weights),
        cmocka_unit_test(test_agents_stay_within_their_memory),
        cmocka_unit_test(test_an_episode_starts_with_empty_memories_again),
        cmocka_unit_test(test_an_added_agent_is_found_and_plays),
        cmocka_unit_test(test_agents_that_cannot_be_are_refused),
        cmocka_unit_test(test_a_full_list_refuses_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
