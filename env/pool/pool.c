/* Pools: their configuration, opening and closing, and what they say about themselves. */
#include "core/status.h"
#include "pool/pool_internal.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

static TyStatus config_range(const char *key, uint32_t value, uint32_t minimum, uint32_t maximum)
{
    if (value >= minimum && value <= maximum) {
        return ty_status_ok();
    }
    return ty_status_fail(TY_BAD_ARGUMENT, "%s=%u: out of range; allowed is %u..%u", key, value,
                          minimum, maximum);
}

static TyStatus config_check_sizes(const TyPoolConfig *config)
{
    const struct {
        const char *key;
        uint32_t value, minimum, maximum;
    } ranges[] = {
        {"slots", config->slots, 1, TY_SLOTS_MAX},
        {"groups", config->groups, 1,
         config->slots < TY_GROUPS_MAX ? config->slots : TY_GROUPS_MAX},
        {"threads", config->threads, 1, TY_THREADS_MAX},
        {"members", config->members, 1, TY_MEMBERS_MAX},
        {"autoreset", config->autoreset, 0, TY_AUTORESET_DISABLED},
        {"illegal", config->illegal, 0, TY_ILLEGAL_LOSE},
    };
    for (uint32_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        TyStatus status =
            config_range(ranges[i].key, ranges[i].value, ranges[i].minimum, ranges[i].maximum);
        if (status.code != TY_OK) {
            return status;
        }
    }
    return ty_status_ok();
}

static TyStatus config_check_seats(const TyShape *shape, const TyPoolConfig *config)
{
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        if (config->agent[seat] == NULL && config->owner[seat] >= config->members) {
            return ty_status_fail(TY_BAD_ARGUMENT, "seat %u belongs to member %u of %u", seat,
                                  config->owner[seat], config->members);
        }
    }
    if (config->autoreset == TY_AUTORESET_SAME_STEP && config->members > 1) {
        return ty_status_fail(TY_BAD_ARGUMENT, "same_step resets need a pool with a single member");
    }
    return ty_status_ok();
}

static bool config_agents_only(const TyShape *shape, const TyPoolConfig *config)
{
    uint32_t agents = 0;
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        agents += config->agent[seat] != NULL;
    }
    return agents == shape->seats;
}

/* Sets what 0 stands for, and who plays the chance seat. */
static void config_complete(const TyRuleset *ruleset, TyPoolConfig *config)
{
    const TyShape *shape = ty_shape(ruleset);
    config->groups = config->groups == 0 ? 1 : config->groups;
    config->threads = config->threads == 0 ? 1 : config->threads;
    config->members = config->members == 0 ? 1 : config->members;
    if (shape->seats > shape->players && !config->own_chance) {
        config->agent[shape->players] = &chance_agent;
    }
}

uint8_t *agents_allocate(const TyPool *pool, const TyAgent *agent)
{
    size_t size = pool->config.slots * agent_stride(agent);
    uint8_t *memory = aligned_alloc(TY_SLAB_ALIGN, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

/* Bytes from one slot to the next. */
static uint32_t slot_stride(const TyShape *shape)
{
    uint32_t size = (uint32_t)sizeof(Slot) + shape->state_size;
    return (size + TY_SLAB_ALIGN - 1) / TY_SLAB_ALIGN * TY_SLAB_ALIGN;
}

static bool pool_allocate(TyPool *pool)
{
    const TyPoolConfig *config = &pool->config;
    pool->slot_stride = slot_stride(pool->shape);
    size_t bytes = (size_t)config->slots * pool->slot_stride;
    pool->slots = aligned_alloc(TY_SLAB_ALIGN, bytes);
    bool whole = pool->slots != NULL;
    if (whole) {
        memset(pool->slots, 0, bytes);
    }
    if (whole && config->events) {
        pool->chronicles = calloc(config->slots, chronicle_bytes());
        whole = pool->chronicles != NULL;
    }
    for (uint32_t seat = 0; whole && seat < pool->shape->seats; seat++) {
        if (config->agent[seat] != NULL) {
            pool->memory[seat] = agents_allocate(pool, config->agent[seat]);
            whole = pool->memory[seat] != NULL;
        }
    }
    for (uint32_t member = 0; whole && member < config->members; member++) {
        uint8_t *memory = slab_allocate(pool, member);
        whole = memory != NULL;
        if (whole) {
            slab_move(pool, member, memory);
        }
    }
    return whole;
}

TyStatus pool_open_idle(const TyRuleset *ruleset, const TyPoolConfig *config, TyPool **out)
{
    *out = NULL;
    TyPoolConfig complete = *config;
    config_complete(ruleset, &complete);
    TyStatus status = config_check_sizes(&complete);
    if (status.code == TY_OK) {
        status = config_check_seats(ty_shape(ruleset), &complete);
    }
    if (status.code != TY_OK) {
        return status;
    }
    TyPool *pool = aligned_alloc(_Alignof(TyPool), sizeof *pool);
    if (pool == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the pool");
    }
    memset(pool, 0, sizeof *pool);
    pool->ruleset = ruleset;
    pool->shape = ty_shape(ruleset);
    pool->config = complete;
    pool->agents_only = config_agents_only(pool->shape, &complete);
    for (uint32_t i = 0; i < complete.members; i++) {
        pool->members[i].present = true;
    }
    status = crew_open(&pool->crew, complete.threads - 1);
    if (status.code != TY_OK) {
        free(pool);
        return status;
    }
    if (!pool_allocate(pool)) {
        ty_pool_close(pool);
        return ty_status_fail(TY_NO_MEMORY, "no memory for %u slots", complete.slots);
    }
    for (uint32_t i = 0; i < complete.slots; i++) {
        pool_slot(pool, i)->slot_seed = complete.keyed ? 0 : complete.seed + i;
    }
    *out = pool;
    return ty_status_ok();
}

TyStatus ty_pool_open(const TyRuleset *ruleset, const TyPoolConfig *config, TyPool **out)
{
    TyStatus status = pool_open_idle(ruleset, config, out);
    if (status.code == TY_OK) {
        ty_pool_reset(*out, NULL, NULL);
    }
    return status;
}

void ty_pool_close(TyPool *pool)
{
    if (pool == NULL) {
        return;
    }
    crew_close(&pool->crew);
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        free(pool->members[i].memory);
    }
    for (uint32_t i = 0; i < TY_SEATS_MAX; i++) {
        free(pool->memory[i]);
    }
    free(pool->chronicles);
    free(pool->shown);
    free(pool->histories);
    free(pool->slots);
    free(pool);
}

bool ty_pool_crowded(const TyPool *pool)
{
    return pool->crew.crowded;
}

const TyPoolConfig *ty_pool_config(const TyPool *pool)
{
    return &pool->config;
}

const TyRuleset *ty_pool_ruleset(const TyPool *pool)
{
    return pool->ruleset;
}

const TySlab *ty_pool_slab(const TyPool *pool, uint32_t member)
{
    return &pool->members[member].slab;
}

TyPoolCounts ty_pool_counts(const TyPool *pool)
{
    Tally tally = crew_tally(&pool->crew);
    return (TyPoolCounts){.decisions = tally.answered - tally.illegal,
                          .episodes = crew_episodes(&pool->crew)};
}

const void *ty_pool_state(const TyPool *pool, uint32_t slot)
{
    return slot_state(pool_slot(pool, slot));
}

uint64_t ty_pool_bytes(const TyRuleset *ruleset, const TyPoolConfig *config)
{
    TyPool plan = {.ruleset = ruleset, .shape = ty_shape(ruleset), .config = *config};
    config_complete(ruleset, &plan.config);
    if (config_check_sizes(&plan.config).code != TY_OK) {
        return 0;
    }
    uint64_t slot = slot_stride(plan.shape) + (config->events ? chronicle_bytes() : 0);
    for (uint32_t seat = 0; seat < plan.shape->seats; seat++) {
        const TyAgent *agent = plan.config.agent[seat];
        slot += agent != NULL ? agent_stride(agent) : 0;
    }
    uint64_t bytes = slot * plan.config.slots;
    for (uint32_t member = 0; member < plan.config.members; member++) {
        slab_lay_out(&plan, member, &plan.members[member].slab);
        bytes += plan.members[member].slab.rows_size + plan.members[member].slab.commands_size;
    }
    return bytes;
}

uint64_t pool_agent_bytes(const TyAgent *agent, uint32_t slots)
{
    return (uint64_t)slots * agent_stride(agent);
}

uint64_t ty_pool_slot_bytes(const TyPool *pool)
{
    uint64_t bytes = pool->slot_stride + (pool->config.events ? chronicle_bytes() : 0);
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        bytes += pool->config.agent[seat] != NULL ? agent_stride(pool->config.agent[seat]) : 0;
    }
    for (uint32_t member = 0; member < pool->config.members; member++) {
        const TySlab *slab = &pool->members[member].slab;
        bytes +=
            (slab->rows_size + slab->commands_size + pool->config.slots - 1) / pool->config.slots;
    }
    return bytes;
}
