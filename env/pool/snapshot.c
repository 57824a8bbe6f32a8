/* Snapshots of slots: plain bytes that can be kept, sent and put back. */
#include "core/status.h"
#include "pool/pool_internal.h"

#include <string.h>

enum {
    SNAPSHOT_MAGIC = 0x53595459, /* "TYSY", little-endian */
    SNAPSHOT_EARNED_MAX = 1 << 24,
};

/* Before the slot, its state and the memories of its built-in agents. */
typedef struct SnapshotHead {
    uint32_t magic;
    uint32_t size;
    uint64_t schema_hash;
} SnapshotHead;

/* The part of a slot's stride that is in use. */
static size_t slot_size(const TyPool *pool)
{
    return sizeof(Slot) + pool->shape->state_size;
}

uint32_t ty_pool_snapshot_size(const TyPool *pool)
{
    size_t size = sizeof(SnapshotHead) + slot_size(pool);
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        size += pool->config.agent[seat] != NULL ? pool->config.agent[seat]->memory_size : 0;
    }
    return (uint32_t)((size + 7) / 8 * 8);
}

void ty_pool_save(const TyPool *pool, uint32_t slot, void *snapshot)
{
    uint8_t *out = snapshot;
    const SnapshotHead head = {.magic = SNAPSHOT_MAGIC,
                               .size = ty_pool_snapshot_size(pool),
                               .schema_hash = pool->shape->schema_hash};
    memset(out, 0, head.size);
    memcpy(out, &head, sizeof head);
    out += sizeof head;
    memcpy(out, pool_slot(pool, slot), slot_size(pool));
    ((Slot *)out)->ending &= (uint8_t)~SLOT_HELD;
    out += slot_size(pool);
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        const TyAgent *agent = pool->config.agent[seat];
        if (agent != NULL) {
            memcpy(out, agent_memory(pool, slot, seat), agent->memory_size);
            out += agent->memory_size;
        }
    }
}

/* What a seat has earned stays far from the limits of the integers that add it up. */
static bool account_is_sound(int32_t earned)
{
    return earned >= -SNAPSHOT_EARNED_MAX && earned <= SNAPSHOT_EARNED_MAX;
}

/* A snapshot may come from anywhere: everything in it is checked before it is used. */
static TyStatus snapshot_check(const TyPool *pool, const void *snapshot)
{
    SnapshotHead head;
    Slot slot;
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    memcpy(&head, snapshot, sizeof head);
    if (head.magic != SNAPSHOT_MAGIC || head.size != ty_pool_snapshot_size(pool)) {
        return ty_status_fail(TY_BAD_ARGUMENT, "this is not a snapshot of such a pool");
    }
    if (head.schema_hash != pool->shape->schema_hash) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "the snapshot is of another ruleset or rules version");
    }
    memcpy(&slot, (const uint8_t *)snapshot + sizeof head, sizeof slot);
    memcpy(state, (const uint8_t *)snapshot + sizeof head + sizeof slot, pool->shape->state_size);
    const char *broken = ty_check(pool->ruleset, state);
    if (broken != NULL) {
        return ty_status_fail(TY_BAD_ARGUMENT, "the snapshot is damaged: %s", broken);
    }
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        if (!account_is_sound(slot.pending[seat]) || !account_is_sound(slot.since[seat]) ||
            !account_is_sound(slot.final[seat]) || !account_is_sound(slot.total[seat])) {
            return ty_status_fail(TY_BAD_ARGUMENT, "the snapshot is damaged: too much was earned");
        }
    }
    bool over = ty_head(state)->over != 0;
    if (slot.ending > SLOT_TRUNCATED || (slot.ending == SLOT_RUNNING && over) ||
        slot.last_seat < -1 || slot.last_seat >= (int8_t)pool->shape->seats) {
        return ty_status_fail(TY_BAD_ARGUMENT, "the snapshot is damaged: its ending does not fit");
    }
    return ty_status_ok();
}

/* Copies a checked snapshot into a slot. What outsiders claim that an agent remembered is not used.
 */
static void snapshot_put(TyPool *pool, const void *snapshot, Place place, bool foreign)
{
    const uint8_t *in = (const uint8_t *)snapshot + sizeof(SnapshotHead);
    Slot *out = pool_slot(pool, place.slot);
    uint64_t slot_seed = out->slot_seed;
    uint8_t seeded = out->seeded;
    slot_forget_held(pool, place.slot);
    memcpy(out, in, slot_size(pool));
    out->slot_seed = slot_seed;
    out->seeded = seeded;
    chronicle_forget(pool, place.slot);
    if (pool->observer.replace != NULL) {
        pool->observer.replace(pool->observer.user, place.slot);
    }
    in += slot_size(pool);
    if (foreign) {
        slot_start_agents(pool, place);
        return;
    }
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        const TyAgent *agent = pool->config.agent[seat];
        if (agent != NULL) {
            memcpy(agent_memory(pool, place.slot, seat), in, agent->memory_size);
            in += agent->memory_size;
        }
    }
}

TyStatus ty_pool_restore(TyPool *pool, const void *snapshot, const uint32_t *slots, uint32_t count,
                         const TyRestore *how)
{
    TyStatus status = snapshot_check(pool, snapshot);
    if (status.code == TY_OK && count > 0 && how->seat >= 0 && how->keys == NULL) {
        status = ty_status_fail(TY_BAD_ARGUMENT,
                                "seat=%d: dealing anew what a seat cannot know needs keys",
                                (int)how->seat);
    }
    for (uint32_t i = 0; status.code == TY_OK && i < count; i++) {
        if (slots[i] >= pool->config.slots) {
            status = ty_status_fail(TY_BAD_ARGUMENT, "slot %u: the pool has %u", slots[i],
                                    pool->config.slots);
        }
    }
    for (uint32_t i = 0; status.code == TY_OK && i < count; i++) {
        Place place = place_of(pool, slots[i]);
        snapshot_put(pool, snapshot, place, how->foreign);
        if (how->keys != NULL) {
            state_imagine(pool, slot_state(pool_slot(pool, slots[i])), how->keys[i], how->seat);
        }
        history_keep(pool, slots[i]);
        slot_show(pool, place);
    }
    return status;
}
