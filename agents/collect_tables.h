/* The tables of a collector, on each of which one episode after the other is played. */
#pragma once

#include "collect.h"

enum { COLLECT_ALIGN = 64 };

/* One episode at a time. Behind it lie the state, and the memories of the teacher and of the rival
 * in each seat. */
typedef struct Table {
    uint64_t episode; /* number of the running one */
    uint64_t drawn;   /* random numbers taken */
    int32_t rival;    /* -1: the network has every seat */
    uint32_t seat;    /* otherwise the one that it has */
    float earned[TY_PLAYERS_MAX];
} Table;
_Static_assert(sizeof(Table) <= 2 * COLLECT_ALIGN, "restored tables are checked one by one");

struct TyCollector {
    const TyRuleset *ruleset;
    const TyShape *shape;
    TyCollectorConfig config;
    size_t memory_size; /* of an agent */
    size_t table_size;  /* with what lies behind it */
    uint8_t *tables;
    int32_t won[TY_PLAYERS_MAX]; /* metrics that say who won; -1: there is none */
    TyOutcomes outcomes;
};

static inline size_t collect_rounded(size_t size)
{
    return (size + COLLECT_ALIGN - 1) / COLLECT_ALIGN * COLLECT_ALIGN;
}

static inline Table *table_at(const TyCollector *collector, uint32_t index)
{
    return (Table *)(collector->tables + collector->table_size * index);
}

static inline void *table_state(Table *table)
{
    return (uint8_t *)table + collect_rounded(sizeof *table);
}

/* The memory of the agent in `seat`: of the teacher, who advises all of the network's seats, or of
 * the rival. */
static inline void *table_memory(const TyCollector *collector, Table *table, uint32_t seat)
{
    uint8_t *memories =
        (uint8_t *)table_state(table) + collect_rounded(collector->shape->state_size);
    return memories + collector->memory_size * seat;
}

/* Begins the table's next episode, before any move. */
void table_begin(const TyCollector *collector, uint32_t index, Table *table);
/* Starts the agents of the episode, with memories that know nothing. */
void table_start_agents(const TyCollector *collector, Table *table);
/* Brings a table to the network's next decision, and adds what was earned until then; true if an
 * episode ended on the way. */
bool table_next(TyCollector *collector, uint32_t index, Table *table, float *earned);
