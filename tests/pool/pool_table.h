/* Small pools, looked at closely: for the tests of pools. */
#pragma once

#include "tests/pool/pool_reference.h"

static const TyAutoreset all_modes[] = {TY_AUTORESET_NEXT_STEP, TY_AUTORESET_SAME_STEP,
                                        TY_AUTORESET_DISABLED};

static inline void each_game(void (*check)(const char *name))
{
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        check(ty_game_name(ty_game_at(i)));
    }
}

/* The game with the key set, if it has that key. */
static inline bool game_with(const char *name, const char *key, const char *value,
                             char spec[TY_SPEC_MAX])
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(ty_game_find(name), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            snprintf(spec, TY_SPEC_MAX, "%s:%s=%s", name, key, value);
            return true;
        }
    }
    return false;
}

typedef struct Table {
    TyRuleset *ruleset;
    TyPool *pool;
    const TySlab *slab;
} Table;

static inline Table table_open(const char *spec, const TyPoolConfig *config)
{
    Table table = {.ruleset = reference_ruleset(spec)};
    TyStatus status = ty_pool_open(table.ruleset, config, &table.pool);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    table.slab = ty_pool_slab(table.pool, 0);
    return table;
}

static inline void table_close(Table *table)
{
    ty_pool_close(table->pool);
    ty_ruleset_close(table->ruleset);
}

static inline void table_sample(const Table *table, uint32_t member)
{
    for (uint32_t group = 0; group < table->slab->groups; group++) {
        ty_sample_rows(ty_pool_slab(table->pool, member), group, REFERENCE_SAMPLE_SEED);
    }
}

static inline uint64_t slot_hash(const Table *table, uint32_t slot)
{
    return ty_hash(table->ruleset, ty_pool_state(table->pool, slot));
}

static inline bool row_ended(const TySlab *slab, uint32_t slot)
{
    return slab_u8(slab, slot, TY_COLUMN_TERMINATED) || slab_u8(slab, slot, TY_COLUMN_TRUNCATED);
}

static inline TyPoolConfig two_member_config(uint32_t max_steps)
{
    return (TyPoolConfig){
        .slots = 2, .seed = 1, .members = 2, .owner = {0, 1}, .max_steps = max_steps};
}
