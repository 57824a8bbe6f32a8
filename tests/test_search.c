/* The search agent, and what it asks of the experts that guide it. */
#include "agent.h"
#include "allocations.h"
#include "sanitizers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Games small enough to be searched many times. */
static const char *const boards[] = {"convoi:board=tiny", "nordic:map=tiny", "express:map=tiny",
                                     "chicago"};

enum { BOARD_COUNT = sizeof boards / sizeof boards[0] };

/* ---- A table ---- */

typedef struct Table {
    TyRuleset *ruleset;
    const TyShape *shape;
    const TyAgent *agent[TY_SEATS_MAX];
    int32_t reward[TY_SEATS_MAX];
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    uint64_t memory[TY_SEATS_MAX][TY_AGENT_MEMORY_MAX / sizeof(uint64_t)];
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
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

static void table_begin(Table *table, uint64_t seed)
{
    memset(table->reward, 0, sizeof table->reward);
    ty_reset(table->ruleset, table->state, seed, NULL);
    for (uint32_t seat = 0; seat < table->shape->players; seat++) {
        memset(table->memory[seat], 0, sizeof table->memory[seat]);
        table->agent[seat]->start(table->memory[seat], table->ruleset, seat,
                                  ty_agent_seed(seed, seat));
    }
}

/* What `agent` with this memory does in this position. */
static uint32_t choose_in(Table *table, const void *state, const TyAgent *agent, void *memory)
{
    uint32_t seat = (uint32_t)ty_head(state)->seat;
    ty_legal(table->ruleset, state, table->mask);
    ty_observe(table->ruleset, state, seat, table->row);
    const TyPlanner planner = {.ruleset = table->ruleset, .state = state, .seat = seat};
    const TyView view = {.ruleset = table->ruleset,
                         .seat = seat,
                         .row = table->row,
                         .mask = table->mask,
                         .planner = agent->plans ? &planner : NULL};
    return agent->act(memory, &view);
}

static uint32_t table_choose(Table *table)
{
    uint32_t seat = (uint32_t)ty_head(table->state)->seat;
    return choose_in(table, table->state, table->agent[seat], table->memory[seat]);
}

static void table_step(Table *table, uint32_t action)
{
    assert_true(ty_step(table->ruleset, table->state, action, table->reward, NULL));
}

static void table_play(Table *table, uint64_t seed)
{
    table_begin(table, seed);
    while (!ty_head(table->state)->over) {
        table_step(table, table_choose(table));
    }
}

/* ---- The tests ---- */

/* A fallback takes over in the middle, and search puts experts where they would never have gone. */
static void test_experts_answer_legally_wherever_they_are(void **unused)
{
    (void)unused;
    for (uint32_t board = 0; board < BOARD_COUNT; board++) {
        Table *table = table_open(boards[board]);
        for (uint32_t seat = 0; seat < table->shape->players; seat++) {
            table->agent[seat] = agent_named(table, "expert");
        }
        for (uint64_t seed = 0; seed < 20; seed++) {
            table_begin(table, seed);
            for (uint64_t step = 0; !ty_head(table->state)->over; step++) {
                uint32_t action = table_choose(table);
                assert_true(action < table->shape->action_count && table->mask[action]);
                bool strange = (step + seed) % 3 == 0;
                table_step(table,
                           strange ? ty_sample(table->mask, table->shape->action_count, seed, step)
                                   : action);
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
    for (uint32_t board = 0; board < BOARD_COUNT; board++) {
        Table *table = table_open(boards[board]);
        uint32_t seeds = table->shape->cooperative ? GAMES_TOGETHER : GAMES_AGAINST;
        assert_in_range(wins_of(table, "search", seeds), seeds - 1, seeds);
        if (seeds > 1) {
            assert_in_range(wins_of(table, "random", seeds), 0, seeds - 2);
        }
        table_close(table);
    }
}

static void test_search_is_a_function_of_its_seed_and_allocates_nothing(void **unused)
{
    (void)unused;
    for (uint32_t board = 1; board < BOARD_COUNT; board++) {
        Table *table = table_open(boards[board]);
        for (uint32_t seat = 0; seat < table->shape->players; seat++) {
            table->agent[seat] = agent_named(table, seat == 0 ? "search" : "random");
        }
        uint64_t hash[2];
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t before = allocations;
            table_play(table, 11);
            hash[i] = ty_hash(table->ruleset, table->state);
            assert_int_equal(allocations, before);
        }
        assert_int_equal(hash[0], hash[1]);
        table_close(table);
    }
}

/* Neither another future nor other hidden cards change what it does. */
static void test_search_does_not_see_what_its_seat_cannot_know(void **unused)
{
    (void)unused;
    for (uint32_t board = 1; board < BOARD_COUNT; board++) {
        Table *table = table_open(boards[board]);
        const TyAgent *search = agent_named(table, "search");
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
                memset(memory, 0, TY_AGENT_MEMORY_MAX);
                search->start(memory, table->ruleset, seat, 5);
                chosen[i] = choose_in(table, other, search, memory);
            }
            if (step % 8 == 0) {
                assert_int_equal(chosen[0], chosen[1]);
            }
            table_step(table, table_choose(table));
        }
        free(memory);
        table_close(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experts_answer_legally_wherever_they_are),
        cmocka_unit_test(test_search_beats_random),
        cmocka_unit_test(test_search_is_a_function_of_its_seed_and_allocates_nothing),
        cmocka_unit_test(test_search_does_not_see_what_its_seat_cannot_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
