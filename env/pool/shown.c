/* The positions that players were shown last: copies of the state, made when a row is written. What
 * others decide after that changes nothing here. Only pools for which pool_keep_shown was called
 * have it. */
#include "core/status.h"
#include "pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

typedef enum ShownKind { SHOWN_NOTHING, SHOWN_QUESTION, SHOWN_ENDING } ShownKind;

/* What a member other than the director saw last of a slot; the state is behind it. */
typedef struct Shown {
    uint64_t kind;
} Shown;

static size_t shown_stride(const TyShape *shape)
{
    return (sizeof(Shown) + shape->state_size + LINE_SIZE - 1) / LINE_SIZE * LINE_SIZE;
}

static Shown *shown_of(const TyPool *pool, uint32_t slot, uint32_t member)
{
    size_t index = (size_t)slot * (pool->config.members - 1) + member - 1;
    return (Shown *)(void *)(pool->shown + index * shown_stride(pool->shape));
}

uint64_t pool_shown_bytes(const TyRuleset *ruleset, const TyPoolConfig *config)
{
    uint64_t players = config->members > 1 ? config->members - 1 : 0;
    return players * config->slots * shown_stride(ty_shape(ruleset));
}

TyStatus pool_keep_shown(TyPool *pool)
{
    size_t size = pool_shown_bytes(pool->ruleset, &pool->config);
    if (size == 0) {
        return ty_status_ok();
    }
    pool->shown = aligned_alloc(LINE_SIZE, size);
    if (pool->shown == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for %u slots", pool->config.slots);
    }
    memset(pool->shown, 0, size);
    return ty_status_ok();
}

void shown_note(const TyPool *pool, uint32_t slot, uint32_t member, bool over)
{
    if (pool->shown != NULL && member > 0) {
        Shown *shown = shown_of(pool, slot, member);
        shown->kind = over ? SHOWN_ENDING : SHOWN_QUESTION;
        memcpy(shown + 1, slot_state(pool_slot(pool, slot)), pool->shape->state_size);
    }
}

void shown_forget(const TyPool *pool, uint32_t member)
{
    for (uint32_t slot = 0; pool->shown != NULL && member > 0 && slot < pool->config.slots;
         slot++) {
        shown_of(pool, slot, member)->kind = SHOWN_NOTHING;
    }
}

const void *pool_shown(const TyPool *pool, uint32_t slot, uint32_t member, bool *over)
{
    const Shown *shown = shown_of(pool, slot, member);
    *over = shown->kind == SHOWN_ENDING;
    return shown->kind == SHOWN_NOTHING ? NULL : shown + 1;
}
