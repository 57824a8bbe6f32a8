/* Slabs: which column lies where, and their memory. */
#include "pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct ColumnKind {
    const char *name;
    TyType type;
} ColumnKind;

static const ColumnKind column_kinds[TY_COLUMN_COUNT] = {
    [TY_COLUMN_OBS] = {"obs", TY_U8},
    [TY_COLUMN_MASK] = {"mask", TY_U8},
    [TY_COLUMN_REWARD] = {"reward", TY_F32},
    [TY_COLUMN_EARNED] = {"earned", TY_F32},
    [TY_COLUMN_SEAT] = {"seat", TY_I8},
    [TY_COLUMN_READY] = {"ready", TY_U8},
    [TY_COLUMN_TERMINATED] = {"terminated", TY_U8},
    [TY_COLUMN_TRUNCATED] = {"truncated", TY_U8},
    [TY_COLUMN_ILLEGAL] = {"illegal", TY_U8},
    [TY_COLUMN_EPISODE] = {"episode", TY_U32},
    [TY_COLUMN_STEP] = {"step", TY_U32},
    [TY_COLUMN_SEED] = {"seed", TY_U64},
    [TY_COLUMN_METRICS] = {"metrics", TY_I32},
    [TY_COLUMN_FINAL_OBS] = {"final_obs", TY_U8},
    [TY_COLUMN_FINAL_REWARD] = {"final_reward", TY_F32},
    [TY_COLUMN_FULL] = {"full", TY_U8},
    [TY_COLUMN_HASH] = {"hash", TY_U64},
    [TY_COLUMN_MASK_BITS] = {"mask_bits", TY_U8},
    [TY_COLUMN_ACTION] = {"action", TY_I32},
};

uint32_t ty_type_size(TyType type)
{
    switch (type) {
    case TY_U8:
    case TY_I8:
        return 1;
    case TY_U32:
    case TY_I32:
    case TY_F32:
        return 4;
    case TY_U64:
        return 8;
    }
    return 0;
}

const char *ty_column_name(TyColumn column)
{
    return column_kinds[column].name;
}

TyType ty_column_type(TyColumn column)
{
    return column_kinds[column].type;
}

/* Values of a column in one row of the member's slab. */
static uint32_t column_width(const TyPool *pool, uint32_t member, uint32_t seats, TyColumn column)
{
    const TyShape *shape = pool->shape;
    switch (column) {
    case TY_COLUMN_OBS:
        return shape->row_size;
    case TY_COLUMN_MASK:
        return shape->action_count;
    case TY_COLUMN_EARNED:
        return member == 0 && seats == 0 ? shape->players : seats;
    case TY_COLUMN_FINAL_REWARD:
        return seats;
    case TY_COLUMN_METRICS:
        return shape->metric_count;
    case TY_COLUMN_FINAL_OBS:
        return seats * shape->row_size;
    case TY_COLUMN_FULL:
        return member == 0 && pool->config.full ? shape->full_size : 0;
    case TY_COLUMN_HASH:
        return member == 0 && pool->config.hash ? 1 : 0;
    case TY_COLUMN_REWARD:
    case TY_COLUMN_SEAT:
    case TY_COLUMN_READY:
    case TY_COLUMN_TERMINATED:
    case TY_COLUMN_TRUNCATED:
    case TY_COLUMN_ILLEGAL:
    case TY_COLUMN_EPISODE:
    case TY_COLUMN_STEP:
    case TY_COLUMN_SEED:
    case TY_COLUMN_ACTION:
        return 1;
    case TY_COLUMN_MASK_BITS: /* made from the mask where it is sent */
    case TY_COLUMN_COUNT:
        break;
    }
    return 0;
}

static void seats_collect(const TyPool *pool, uint32_t member, TySlab *slab)
{
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        if (pool->config.agent[seat] == NULL && pool->config.owner[seat] == member) {
            slab->seats[slab->seat_count++] = (uint8_t)seat;
        }
    }
}

static void column_lay_out(const TyPool *pool, uint32_t member, TySlab *slab, uint32_t group,
                           TyColumn column)
{
    TyGroupLayout *layout = &slab->group[group];
    TyColumnLayout *out = &layout->columns[column];
    uint64_t *end = column == TY_COLUMN_ACTION ? &slab->commands_size : &slab->rows_size;
    out->name = column_kinds[column].name;
    out->type = column_kinds[column].type;
    out->width = column_width(pool, member, slab->seat_count, column);
    out->offset = *end;
    uint64_t size = (uint64_t)layout->rows * out->width * ty_type_size(out->type);
    *end += (size + TY_SLAB_ALIGN - 1) / TY_SLAB_ALIGN * TY_SLAB_ALIGN;
}

void slab_lay_out(const TyPool *pool, uint32_t member, TySlab *slab)
{
    uint32_t groups = pool->config.groups;
    uint64_t slots = pool->config.slots;
    *slab = (TySlab){.groups = groups};
    seats_collect(pool, member, slab);
    for (uint32_t group = 0; group < groups; group++) {
        slab->group[group].first = (uint32_t)(slots * group / groups);
        slab->group[group].rows =
            (uint32_t)(slots * (group + 1) / groups) - slab->group[group].first;
        for (uint32_t column = 0; column < TY_COLUMN_COUNT; column++) {
            column_lay_out(pool, member, slab, group, (TyColumn)column);
        }
    }
}

void *ty_slab_column(const TySlab *slab, uint32_t group, TyColumn column)
{
    const TyColumnLayout *layout = &slab->group[group].columns[column];
    if (layout->width == 0) {
        return NULL;
    }
    return (column == TY_COLUMN_ACTION ? slab->commands : slab->rows) + layout->offset;
}

uint8_t *slab_allocate(const TyPool *pool, uint32_t member)
{
    TySlab slab;
    slab_lay_out(pool, member, &slab);
    size_t all = slab.rows_size + slab.commands_size;
    uint8_t *memory = aligned_alloc(TY_SLAB_ALIGN, all);
    if (memory != NULL) {
        memset(memory, 0, all);
    }
    return memory;
}

void slab_move(TyPool *pool, uint32_t member, uint8_t *memory)
{
    TySlab *slab = &pool->members[member].slab;
    slab_lay_out(pool, member, slab);
    free(pool->members[member].memory);
    pool->members[member].memory = memory;
    slab->rows = memory;
    slab->commands = memory + slab->rows_size;
}
