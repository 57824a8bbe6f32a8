/* The seeds of a pool's episodes: computed by anyone without a key, by nobody else with one. */
#include "core/hash.h"
#include "core/siphash.h"
#include "pool/pool_internal.h"

#include <string.h>

_Static_assert((int)TY_KEY_SIZE == (int)SIPHASH_KEY_SIZE, "a pool's key is one of SipHash");

/* The value under the pool's key for this use in the slot's episode. Equal messages are equal uses:
 * every part has its place and width. */
static uint64_t seed_derive(const TyPool *pool, const char use[8], uint32_t slot, uint32_t seat)
{
    const Slot *at = pool_slot(pool, slot);
    uint8_t message[33];
    memcpy(message, use, 8);
    store_le32(message + 8, slot);
    store_le32(message + 12, seat);
    store_le64(message + 16, at->episode);
    store_le64(message + 24, at->slot_seed);
    message[32] = at->seeded;
    return siphash(pool->config.key, message, sizeof message);
}

uint64_t seed_of_chance(const TyPool *pool, uint32_t slot)
{
    const Slot *at = pool_slot(pool, slot);
    bool given = at->seeded && at->episode == 0;
    return pool->config.keyed && !given ? seed_derive(pool, "chance\0", slot, 0)
                                        : ty_episode_seed(at->slot_seed, at->episode);
}

uint64_t seed_of_agent(const TyPool *pool, uint32_t slot, uint32_t seat)
{
    return pool->config.keyed ? seed_derive(pool, "agents\0", slot, seat)
                              : ty_agent_seed(pool_slot(pool, slot)->seed, seat);
}

uint64_t seed_of_replaced(const TyPool *pool, uint32_t slot)
{
    return pool->config.keyed ? seed_derive(pool, "illegal", slot, 0)
                              : hash_mix(pool_slot(pool, slot)->seed ^ 0x7265706c61636564u);
}
