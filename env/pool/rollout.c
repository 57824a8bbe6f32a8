/* Rollouts from slots by a built-in agent, and random actions for whole groups. */
#include "core/hash.h"
#include "pool/pool_internal.h"

#include <string.h>

typedef struct Rollout {
    TyPool *pool;
    const RolloutPlan *plan;
    atomic_bool stopped;
} Rollout;

/* One imagined episode: the rollout's agent plays every player, chance follows its weights. */
typedef struct Imagined {
    TyLineup lineup;
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    _Alignas(TY_SLAB_ALIGN) uint8_t memory[TY_LINEUP_MEMORY_MAX];
} Imagined;

static void imagined_seat(Imagined *imagined, const Rollout *rollout)
{
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    for (uint32_t seat = 0; seat < rollout->pool->shape->players; seat++) {
        agents[seat] = rollout->plan->agent;
    }
    ty_lineup_init(&imagined->lineup, rollout->pool->ruleset, agents, imagined->memory);
    imagined->lineup.stop = rollout->pool->stop;
}

static void imagined_begin(Imagined *imagined, const Rollout *rollout, uint64_t key)
{
    const TyPool *pool = rollout->pool;
    const TyLineup *lineup = &imagined->lineup;
    memcpy(imagined->state, ty_pool_state(pool, rollout->plan->slot), pool->shape->state_size);
    state_imagine(pool, imagined->state, key, rollout->plan->seat);
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        ty_agent_start(lineup->agent[seat], lineup->memory[seat], pool->ruleset, seat,
                       hash_mix(key + seat + 1));
    }
}

/* Plays a copy to its end; false if it was stopped. */
static bool imagined_play(Imagined *imagined, const Rollout *rollout, int32_t *reward)
{
    uint32_t max_steps = rollout->plan->max_steps;
    if (rollout->plan->first >= 0) {
        ty_step(rollout->pool->ruleset, imagined->state, (uint32_t)rollout->plan->first, reward,
                NULL);
    }
    for (uint32_t i = 0; !ty_head(imagined->state)->over; i++) {
        if (max_steps > 0 && i == max_steps) {
            break;
        }
        ty_lineup_step(&imagined->lineup, imagined->state, reward);
        if (pool_is_stopped(rollout->pool)) {
            return false;
        }
    }
    return true;
}

static bool rollout_one(const Rollout *rollout, uint32_t copy, Imagined *imagined)
{
    const TyShape *shape = rollout->pool->shape;
    const RolloutPlan *plan = rollout->plan;
    int32_t reward[TY_SEATS_MAX] = {0};
    imagined_begin(imagined, rollout, plan->keys[copy]);
    if (!imagined_play(imagined, rollout, reward)) {
        return false;
    }
    for (uint32_t seat = 0; plan->earned != NULL && seat < shape->players; seat++) {
        plan->earned[(size_t)copy * shape->players + seat] = (float)reward[seat] / TY_REWARD_ONE;
    }
    if (plan->metrics != NULL) {
        ty_metrics(rollout->pool->ruleset, imagined->state,
                   plan->metrics + (size_t)copy * shape->metric_count);
    }
    return true;
}

static void rollout_part(void *context, uint32_t part, uint32_t parts, Tally *tally)
{
    (void)tally;
    Rollout *rollout = context;
    uint32_t first = (uint32_t)((uint64_t)rollout->plan->count * part / parts);
    uint32_t end = (uint32_t)((uint64_t)rollout->plan->count * (part + 1) / parts);
    Imagined imagined;
    imagined_seat(&imagined, rollout);
    for (uint32_t i = first; i < end; i++) {
        if (!rollout_one(rollout, i, &imagined)) {
            atomic_store(&rollout->stopped, true);
            return;
        }
    }
}

bool pool_rollout(TyPool *pool, const RolloutPlan *plan)
{
    Rollout rollout = {.pool = pool, .plan = plan};
    crew_run(&pool->crew, rollout_part, &rollout);
    return !atomic_load(&rollout.stopped);
}

void ty_pool_rollout(TyPool *pool, uint32_t slot, const TyAgent *agent, uint32_t count,
                     const uint64_t *keys, int32_t seat, uint32_t max_steps, float *earned,
                     int32_t *metrics)
{
    const RolloutPlan plan = {.slot = slot,
                              .agent = agent,
                              .count = count,
                              .keys = keys,
                              .seat = seat,
                              .first = -1,
                              .max_steps = max_steps,
                              .earned = earned,
                              .metrics = metrics};
    pool_rollout(pool, &plan);
}

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
        ty_sample_rows(&pool->members[member].slab, group, seed);
        ty_pool_step(pool, member, group, NULL);
    }
}
