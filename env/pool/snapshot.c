/* Snapshots of slots, rollouts from them, and random actions for whole groups. */
#include "core/draw.h"
#include "core/status.h"
#include "pool/pool_internal.h"
#include "registry.h"

#include <assert.h>
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
        return status_fail(TY_BAD_ARGUMENT, "this is not a snapshot of such a pool");
    }
    if (head.schema_hash != pool->shape->schema_hash) {
        return status_fail(TY_BAD_ARGUMENT, "the snapshot is of another ruleset or rules version");
    }
    memcpy(&slot, (const uint8_t *)snapshot + sizeof head, sizeof slot);
    memcpy(state, (const uint8_t *)snapshot + sizeof head + sizeof slot, pool->shape->state_size);
    const char *broken = ty_check(pool->ruleset, state);
    if (broken != NULL) {
        return status_fail(TY_BAD_ARGUMENT, "the snapshot is damaged: %s", broken);
    }
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        if (!account_is_sound(slot.pending[seat]) || !account_is_sound(slot.since[seat]) ||
            !account_is_sound(slot.final[seat]) || !account_is_sound(slot.total[seat])) {
            return status_fail(TY_BAD_ARGUMENT, "the snapshot is damaged: too much was earned");
        }
    }
    bool over = ty_head(state)->over != 0;
    if (slot.ending > SLOT_TRUNCATED || (slot.ending == SLOT_RUNNING && over) ||
        slot.last_seat < -1 || slot.last_seat >= (int8_t)pool->shape->seats) {
        return status_fail(TY_BAD_ARGUMENT, "the snapshot is damaged: its ending does not fit");
    }
    return status_ok();
}

/* Copies a checked snapshot into a slot. What outsiders claim that an agent remembered is not used.
 */
static void snapshot_put(TyPool *pool, const void *snapshot, Place place, bool foreign)
{
    const uint8_t *in = (const uint8_t *)snapshot + sizeof(SnapshotHead);
    Slot *out = pool_slot(pool, place.slot);
    uint64_t slot_seed = out->slot_seed;
    memcpy(out, in, slot_size(pool));
    out->slot_seed = slot_seed;
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

/* Gives a state another future, and another hidden world if `seat` is one. */
static void state_imagine(const TyPool *pool, void *state, uint64_t key, int32_t seat)
{
    if (seat >= 0) {
        ty_resample(pool->ruleset, state, (uint32_t)seat, key);
    } else {
        ty_rekey(state, key);
    }
}

TyStatus ty_pool_restore(TyPool *pool, const void *snapshot, const uint32_t *slots, uint32_t count,
                         const TyRestore *how)
{
    TyStatus status = snapshot_check(pool, snapshot);
    for (uint32_t i = 0; status.code == TY_OK && i < count; i++) {
        if (slots[i] >= pool->config.slots) {
            status = status_fail(TY_BAD_ARGUMENT, "slot %u: the pool has %u", slots[i],
                                 pool->config.slots);
        }
    }
    for (uint32_t i = 0; status.code == TY_OK && i < count; i++) {
        Place place = place_of(pool, slots[i]);
        snapshot_put(pool, snapshot, place, how->foreign);
        if (how->keys != NULL) {
            state_imagine(pool, slot_state(pool_slot(pool, slots[i])), how->keys[i], how->seat);
        }
        slot_show(pool, place);
    }
    return status;
}

/* ---- Rollouts ---- */

typedef struct Rollout {
    TyPool *pool;
    uint32_t slot;
    const TyAgent *agent;
    uint32_t count;
    const uint64_t *keys;
    int32_t seat;
    uint32_t max_steps;
    float *earned;
    int32_t *metrics;
} Rollout;

/* One imagined episode: the rollout's agent plays every player, chance follows its weights. */
typedef struct RolloutTable {
    const TyAgent *agents[TY_SEATS_MAX];
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    int32_t reward[TY_SEATS_MAX];
} RolloutTable;

/* Room for the memory of one agent, in a block that has TY_SEATS_MAX of them. */
enum { ROLLOUT_MEMORY = TY_AGENT_MEMORY_MAX + TY_SLAB_ALIGN };

static uint32_t rollout_choose(const TyRuleset *ruleset, RolloutTable *table, uint8_t *memory)
{
    uint32_t seat = (uint32_t)ty_head(table->state)->seat;
    const TyAgent *agent = table->agents[seat];
    ty_legal(ruleset, table->state, table->mask);
    ty_observe(ruleset, table->state, seat, table->row);
    const TyPlanner planner = {.ruleset = ruleset, .state = table->state, .seat = seat};
    const TyView view = {.ruleset = ruleset,
                         .seat = seat,
                         .row = table->row,
                         .mask = table->mask,
                         .planner = agent->plans ? &planner : NULL};
    return agent->act(memory + (size_t)seat * ROLLOUT_MEMORY, &view);
}

/* Seats the agents, whose memory is empty at the start as in any episode. */
static void rollout_seat(const Rollout *rollout, RolloutTable *table, uint8_t *memory, uint64_t key)
{
    const TyPool *pool = rollout->pool;
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        const TyAgent *agent = seat < pool->shape->players ? rollout->agent : &chance_agent;
        uint8_t *own = memory + (size_t)seat * ROLLOUT_MEMORY;
        table->agents[seat] = agent;
        memset(own, 0, agent->memory_size);
        agent->start(own, pool->ruleset, seat, hash_mix(key + seat + 1));
    }
}

static void rollout_one(const Rollout *rollout, uint32_t copy, uint8_t *memory)
{
    TyPool *pool = rollout->pool;
    RolloutTable table = {.reward = {0}};
    uint64_t key = rollout->keys[copy];
    memcpy(table.state, ty_pool_state(pool, rollout->slot), pool->shape->state_size);
    state_imagine(pool, table.state, key, rollout->seat);
    rollout_seat(rollout, &table, memory, key);
    for (uint32_t i = 0; !ty_head(table.state)->over; i++) {
        if (rollout->max_steps > 0 && i == rollout->max_steps) {
            break;
        }
        uint32_t action = rollout_choose(pool->ruleset, &table, memory);
        bool accepted = ty_step(pool->ruleset, table.state, action, table.reward, NULL);
        assert(accepted);
        (void)accepted;
    }
    for (uint32_t seat = 0; rollout->earned != NULL && seat < pool->shape->players; seat++) {
        rollout->earned[(size_t)copy * pool->shape->players + seat] =
            (float)table.reward[seat] / TY_REWARD_ONE;
    }
    if (rollout->metrics != NULL) {
        ty_metrics(pool->ruleset, table.state,
                   rollout->metrics + (size_t)copy * pool->shape->metric_count);
    }
}

static void rollout_part(void *context, uint32_t part, uint32_t parts)
{
    const Rollout *rollout = context;
    uint32_t first = (uint32_t)((uint64_t)rollout->count * part / parts);
    uint32_t end = (uint32_t)((uint64_t)rollout->count * (part + 1) / parts);
    _Alignas(64) uint8_t memory[TY_SEATS_MAX * ROLLOUT_MEMORY];
    for (uint32_t i = first; i < end; i++) {
        rollout_one(rollout, i, memory);
    }
}

void ty_pool_rollout(TyPool *pool, uint32_t slot, const TyAgent *agent, uint32_t count,
                     const uint64_t *keys, int32_t seat, uint32_t max_steps, float *earned,
                     int32_t *metrics)
{
    Rollout rollout = {.pool = pool,
                       .slot = slot,
                       .agent = agent,
                       .count = count,
                       .keys = keys,
                       .seat = seat,
                       .max_steps = max_steps,
                       .earned = earned,
                       .metrics = metrics};
    crew_run(&pool->crew, rollout_part, &rollout);
}

/* ---- Random actions
 * -------------------------------------------------------------------------------------- */

int32_t ty_sample_row(const uint8_t *mask, uint32_t width, uint64_t seed, TyRowKey key)
{
    uint64_t counter = (uint64_t)key.episode << 32 | key.step;
    return (int32_t)ty_sample(mask, width, seed + hash_mix(key.slot + 1u), counter);
}

void ty_sample_rows(const TySlab *slab, uint32_t group, uint64_t seed)
{
    const TyGroupLayout *layout = &slab->group[group];
    uint32_t width = layout->columns[TY_COLUMN_MASK].width;
    const uint8_t *mask = ty_slab_column(slab, group, TY_COLUMN_MASK);
    const uint8_t *ready = ty_slab_column(slab, group, TY_COLUMN_READY);
    const uint32_t *episode = ty_slab_column(slab, group, TY_COLUMN_EPISODE);
    const uint32_t *step = ty_slab_column(slab, group, TY_COLUMN_STEP);
    int32_t *action = ty_slab_column(slab, group, TY_COLUMN_ACTION);
    for (uint32_t row = 0; row < layout->rows; row++) {
        /* A row that is not ready may be in the middle of being written. */
        if (!__atomic_load_n(ready + row, __ATOMIC_ACQUIRE)) {
            action[row] = 0;
            continue;
        }
        const TyRowKey key = {layout->first + row, episode[row], step[row]};
        action[row] = ty_sample_row(mask + (size_t)row * width, width, seed, key);
    }
}

void ty_pool_step_random(TyPool *pool, uint32_t member, uint32_t group, uint64_t seed,
                         uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        ty_sample_rows(&pool->slabs[member], group, seed);
        ty_pool_step(pool, member, group, NULL);
    }
}
