/* Measuring what a decision of each built-in agent costs. */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench_agents.h"

#include "agent.h"
#include "bench/reference.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SLOTS = 256,          /* episodes of each agent */
    POSITIONS = 32,       /* different ones that they begin in */
    CHUNK_NS = 100 * 1000 /* of a slice, if an agent is quick enough */
};

/* The episodes that one agent plays, each with a lineup of its own. */
typedef struct Table {
    const TyRuleset *ruleset;
    size_t stride;
    uint8_t *states;
    uint8_t *memory; /* of all lineups */
    TyLineup lineups[SLOTS];
    uint32_t actions[SLOTS];
    uint32_t first; /* slot of the next chunk */
    uint32_t chunk; /* slots that are timed together */
    uint64_t seed;  /* of the next episode */
    uint64_t spent_ns;
    uint64_t decisions;
    BenchSlices slices;
} Table;

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *table_state(const Table *table, uint32_t slot)
{
    return table->states + slot * table->stride;
}

static void table_close(Table *table)
{
    slices_clear(&table->slices);
    free(table->states);
    free(table->memory);
    free(table);
}

static Table *table_open(const TyRuleset *ruleset, const TyAgent *agent, uint32_t slots)
{
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->players; seat++) {
        agents[seat] = agent;
    }
    Table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    size_t size = ty_lineup_size(ruleset, agents) + 64; /* never nothing */
    table->ruleset = ruleset;
    table->chunk = 1;
    table->seed = 1;
    table->stride = (ty_shape(ruleset)->state_size + 63) / 64 * 64;
    table->states = aligned_alloc(64, slots * table->stride);
    table->memory = aligned_alloc(64, slots * size);
    if (table->states == NULL || table->memory == NULL) {
        table_close(table);
        return NULL;
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        ty_lineup_init(&table->lineups[slot], ruleset, agents, table->memory + slot * size);
    }
    return table;
}

static void slot_reset(Table *table, uint32_t slot)
{
    uint64_t seed = table->seed++;
    ty_reset(table->ruleset, table_state(table, slot), seed, NULL);
    ty_lineup_start(&table->lineups[slot], seed);
}

/* Plays on until a player has to decide: a new episode follows one that is over. */
static void slot_go_on(Table *table, uint32_t slot)
{
    const TyHead *head = ty_head(table_state(table, slot));
    int32_t reward[TY_SEATS_MAX] = {0};
    while (head->over || head->seat >= (int8_t)ty_shape(table->ruleset)->players) {
        if (head->over) {
            slot_reset(table, slot);
        } else {
            ty_lineup_step(&table->lineups[slot], table_state(table, slot), reward);
        }
    }
}

/* ---- Positions ---- */

/* Position i lies i/POSITIONS of an episode's length behind the start of its own episode. */
static Table *positions_make(const TyRuleset *ruleset)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    const TyAgent *expert = ty_agent_find(game, "expert");
    Table *table = table_open(ruleset, expert != NULL ? expert : ty_agent_at(game, 0), POSITIONS);
    int32_t reward[TY_SEATS_MAX] = {0};
    uint32_t length = 0;
    if (table == NULL) {
        return NULL;
    }
    slot_reset(table, 0);
    for (void *state = table_state(table, 0); !ty_head(state)->over; length++) {
        ty_lineup_step(&table->lineups[0], state, reward);
    }
    for (uint32_t slot = 0; slot < POSITIONS; slot++) {
        slot_reset(table, slot);
        slot_go_on(table, slot);
        for (uint32_t i = 0; i < length * slot / POSITIONS; i++) {
            ty_lineup_step(&table->lineups[slot], table_state(table, slot), reward);
            slot_go_on(table, slot);
        }
    }
    return table;
}

/* The same positions for every agent, with a future of its own in each slot. */
static void table_fill(Table *table, const Table *positions)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        memcpy(table_state(table, slot), table_state(positions, slot % POSITIONS),
               ty_shape(table->ruleset)->state_size);
        ty_rekey(table_state(table, slot), hash_mix(slot));
        ty_lineup_start(&table->lineups[slot], slot);
    }
}

/* ---- Turns ---- */

/* One slice: the agent decides in some slots. What follows from it is not timed. */
static void table_turn(Table *table)
{
    int32_t reward[TY_SEATS_MAX] = {0};
    uint64_t start = processor_ns();
    for (uint32_t i = 0; i < table->chunk; i++) {
        uint32_t slot = (table->first + i) % SLOTS;
        table->actions[i] = ty_lineup_act(&table->lineups[slot], table_state(table, slot));
    }
    uint64_t ns = processor_ns() - start;
    for (uint32_t i = 0; i < table->chunk; i++) {
        uint32_t slot = (table->first + i) % SLOTS;
        ty_step(table->ruleset, table_state(table, slot), table->actions[i], reward, NULL);
        slot_go_on(table, slot);
    }
    slices_add(&table->slices, (double)ns / table->chunk);
    table->spent_ns += ns;
    table->decisions += table->chunk;
    table->first = (table->first + table->chunk) % SLOTS;
    if (ns < CHUNK_NS && table->chunk < SLOTS) {
        table->chunk *= 2;
    }
}

static void tables_play(Table *const *tables, uint32_t count, double seconds,
                        BenchReference *reference, BenchSlices *copies)
{
    bool busy = true;
    while (busy) {
        busy = false;
        slices_add(copies, reference_copy_ns(reference));
        for (uint32_t i = 0; i < count; i++) {
            /* Some slices for one look at the reference, which takes longer than a slice. */
            for (uint32_t k = 0; k < 16 && (double)tables[i]->spent_ns < seconds * 1e9; k++) {
                table_turn(tables[i]);
                busy = true;
            }
        }
    }
}

static BenchAgent table_result(const Table *table, const TyAgent *agent)
{
    BenchAgent result = {
        .agent = agent, .decision = slices_figure(&table->slices), .decisions = table->decisions};
    result.decision.mean = (double)table->spent_ns / (double)table->decisions;
    return result;
}

TyStatus bench_agents_measure(const TyRuleset *ruleset, double seconds, BenchAgents *result)
{
    Table *tables[BENCH_AGENTS_MAX] = {NULL};
    BenchSlices copies = {.count = 0};
    BenchReference *reference = reference_open();
    Table *positions = positions_make(ruleset);
    bool good = reference != NULL && positions != NULL;
    uint32_t count = 0;
    while (good && count < result->count) {
        tables[count] = table_open(ruleset, result->agents[count].agent, SLOTS);
        good = tables[count] != NULL;
        if (good) {
            table_fill(tables[count++], positions);
        }
    }
    if (good) {
        tables_play(tables, count, seconds, reference, &copies);
    }
    result->copy = slices_figure(&copies);
    for (uint32_t i = 0; i < count; i++) {
        result->agents[i] = table_result(tables[i], result->agents[i].agent);
        table_close(tables[i]);
    }
    if (positions != NULL) {
        table_close(positions);
    }
    slices_clear(&copies);
    reference_close(reference);
    return good ? ty_status_ok() : ty_status_fail(TY_NO_MEMORY, "no memory for the bench");
}
