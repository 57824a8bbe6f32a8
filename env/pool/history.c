/* The last positions of every slot, for those who look a little later than they were: spectators
 * behind a delay, and pages that show decisions one by one. Only pools that were asked to keep them
 * have any. */
#include "pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

/* A slot's positions, by their numbers from 0 on; the last ones are there, one state each. */
typedef struct History {
    uint64_t count; /* positions so far */
    uint64_t states[];
} History;

uint64_t pool_history_bytes(const TyRuleset *ruleset, uint32_t kept)
{
    uint64_t state = (ty_shape(ruleset)->state_size + 7u) / 8 * 8;
    return kept > 0 ? sizeof(History) + kept * state : 0;
}

static History *history_of(const TyPool *pool, uint32_t slot)
{
    return (History *)(void *)(pool->histories +
                               slot * pool_history_bytes(pool->ruleset, pool->history_kept));
}

static uint64_t *history_state(const TyPool *pool, History *history, uint64_t position)
{
    uint64_t words = (pool->shape->state_size + 7u) / 8;
    return history->states + position % pool->history_kept * words;
}

bool pool_set_history(TyPool *pool, uint32_t kept)
{
    uint64_t bytes = pool_history_bytes(pool->ruleset, kept);
    pool->history_kept = kept;
    pool->histories = kept > 0 ? calloc(pool->config.slots, bytes) : NULL;
    return kept == 0 || pool->histories != NULL;
}

void history_keep(TyPool *pool, uint32_t slot)
{
    if (pool->histories != NULL) {
        History *history = history_of(pool, slot);
        memcpy(history_state(pool, history, history->count++), ty_pool_state(pool, slot),
               pool->shape->state_size);
    }
}

const void *pool_position(const TyPool *pool, uint32_t slot, uint64_t *position)
{
    if (pool->histories == NULL || history_of(pool, slot)->count == 0) {
        *position = 0;
        return ty_pool_state(pool, slot);
    }
    History *history = history_of(pool, slot);
    uint64_t newest = history->count - 1;
    uint64_t oldest = newest >= pool->history_kept ? newest - pool->history_kept + 1 : 0;
    *position = *position < oldest ? oldest : *position > newest ? newest : *position;
    return history_state(pool, history, *position);
}
