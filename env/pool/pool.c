/* Pools: opening, stepping groups, resetting, and the owners of seats. */
#define _POSIX_C_SOURCE 200809L
#include "core/hash.h"
#include "core/status.h"
#include "pool/pool_internal.h"
#include "registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Opening and closing
 * ---------------------------------------------------------------------------- */

static TyStatus config_range(const char *key, uint32_t value, uint32_t minimum, uint32_t maximum)
{
    if (value >= minimum && value <= maximum) {
        return status_ok();
    }
    return status_fail(TY_BAD_ARGUMENT, "%s=%u: out of range; allowed is %u..%u", key, value,
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
    return status_ok();
}

/* Every episode needs somebody outside who acts, or nothing would ever stop it. */
static TyStatus config_check_seats(const TyShape *shape, const TyPoolConfig *config)
{
    uint32_t driven = 0;
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        if (config->agent[seat] != NULL) {
            continue;
        }
        driven++;
        if (config->owner[seat] >= config->members) {
            return status_fail(TY_BAD_ARGUMENT, "seat %u belongs to member %u of %u", seat,
                               config->owner[seat], config->members);
        }
    }
    if (driven == 0) {
        return status_fail(
            TY_BAD_ARGUMENT,
            "every seat is played by a built-in agent; at least one must be a member's");
    }
    if (config->autoreset == TY_AUTORESET_SAME_STEP && config->members > 1) {
        return status_fail(TY_BAD_ARGUMENT, "same_step resets need a pool with a single member");
    }
    return status_ok();
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

/* Memory for an agent in every slot; NULL if there is none. */
static uint8_t *agents_allocate(const TyPool *pool, const TyAgent *agent)
{
    size_t size = pool->config.slots * agent_stride(agent);
    uint8_t *memory = aligned_alloc(TY_SLAB_ALIGN, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

/* Memory for the slab of a member as the seats are owned now; NULL if there is none. */
static uint8_t *slab_allocate(const TyPool *pool, uint32_t member)
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

/* Lays a member's slab out anew in `memory`, which becomes the pool's own and replaces what the
 * slab had. */
static void slab_move(TyPool *pool, uint32_t member, uint8_t *memory)
{
    TySlab *slab = &pool->slabs[member];
    slab_lay_out(pool, member, slab);
    free(pool->own_memory[member]);
    pool->own_memory[member] = memory;
    slab->rows = memory;
    slab->commands = memory + slab->rows_size;
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

TyStatus ty_pool_open(const TyRuleset *ruleset, const TyPoolConfig *config, TyPool **out)
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
    TyPool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for the pool");
    }
    pool->ruleset = ruleset;
    pool->shape = ty_shape(ruleset);
    pool->config = complete;
    pool->present = (uint8_t)((1u << complete.members) - 1);
    status = crew_open(&pool->crew, complete.threads - 1);
    if (status.code != TY_OK) {
        free(pool);
        return status;
    }
    if (!pool_allocate(pool)) {
        ty_pool_close(pool);
        return status_fail(TY_NO_MEMORY, "no memory for %u slots", complete.slots);
    }
    for (uint32_t i = 0; i < complete.slots; i++) {
        pool_slot(pool, i)->slot_seed = complete.seed + i;
    }
    ty_pool_reset(pool, NULL, NULL);
    *out = pool;
    return status_ok();
}

void ty_pool_close(TyPool *pool)
{
    if (pool == NULL) {
        return;
    }
    crew_close(&pool->crew);
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        free(pool->own_memory[i]);
    }
    for (uint32_t i = 0; i < TY_SEATS_MAX; i++) {
        free(pool->memory[i]);
    }
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
    return &pool->slabs[member];
}

TyPoolCounts ty_pool_counts(const TyPool *pool)
{
    return (TyPoolCounts){.decisions = pool->decisions,
                          .episodes = atomic_load(&((TyPool *)pool)->episodes)};
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
    uint64_t slot = slot_stride(plan.shape);
    for (uint32_t seat = 0; seat < plan.shape->seats; seat++) {
        const TyAgent *agent = plan.config.agent[seat];
        slot += agent != NULL ? agent_stride(agent) : 0;
    }
    uint64_t bytes = slot * plan.config.slots;
    for (uint32_t member = 0; member < plan.config.members; member++) {
        slab_lay_out(&plan, member, &plan.slabs[member]);
        bytes += plan.slabs[member].rows_size + plan.slabs[member].commands_size;
    }
    return bytes;
}

uint64_t ty_pool_slot_bytes(const TyPool *pool)
{
    uint64_t bytes = pool->slot_stride;
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        bytes += pool->config.agent[seat] != NULL ? agent_stride(pool->config.agent[seat]) : 0;
    }
    for (uint32_t member = 0; member < pool->config.members; member++) {
        const TySlab *slab = &pool->slabs[member];
        bytes +=
            (slab->rows_size + slab->commands_size + pool->config.slots - 1) / pool->config.slots;
    }
    return bytes;
}

void ty_pool_attach(TyPool *pool, uint32_t member, uint8_t *rows, uint8_t *commands)
{
    TySlab *slab = &pool->slabs[member];
    memcpy(rows, slab->rows, slab->rows_size);
    memcpy(commands, slab->commands, slab->commands_size);
    slab->rows = rows;
    slab->commands = commands;
    free(pool->own_memory[member]);
    pool->own_memory[member] = NULL;
}

TyStatus ty_pool_detach(TyPool *pool, uint32_t member)
{
    const TySlab *slab = &pool->slabs[member];
    uint8_t *memory = pool->own_memory[member];
    if (memory == NULL) {
        memory = aligned_alloc(TY_SLAB_ALIGN, slab->rows_size + slab->commands_size);
    }
    if (memory == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for the slab of member %u", member);
    }
    if (memory != slab->rows) {
        ty_pool_attach(pool, member, memory, memory + slab->rows_size);
        pool->own_memory[member] = memory;
    }
    return status_ok();
}

/* ---- Stepping
 * ---------------------------------------------------------------------------------------- */

enum { GROUP_ROWS_MIN = 32 /* for each thread, or asking the others costs more than it saves */ };

/* A step of a group as the threads share it. */
typedef struct GroupStep {
    TyPool *pool;
    uint32_t member;
    uint32_t group;
    const uint8_t *which;
    atomic_uint ready;
    atomic_uint illegal;
    atomic_uint answered;
} GroupStep;

/* The processor follows the many columns of a slab less well than it could: the slot that comes
 * after the next is fetched while this one plays. */
static inline void slot_fetch(const TyPool *pool, uint32_t slot)
{
    const uint8_t *bytes = pool->slots + (size_t)slot * pool->slot_stride;
    for (uint32_t i = 0; i < pool->slot_stride; i += TY_SLAB_ALIGN) {
        __builtin_prefetch(bytes + i, 1);
    }
}

static void group_step_part(void *context, uint32_t part, uint32_t parts)
{
    GroupStep *step = context;
    TyPool *pool = step->pool;
    const TyGroupLayout *layout = &pool->slabs[step->member].group[step->group];
    uint32_t first = (uint32_t)((uint64_t)layout->rows * part / parts);
    uint32_t end = (uint32_t)((uint64_t)layout->rows * (part + 1) / parts);
    uint32_t ready = 0;
    uint32_t illegal = 0;
    uint32_t answered = 0;
    for (uint32_t row = first; row < end; row++) {
        Place place = {.slot = layout->first + row, .group = step->group, .row = row};
        const Slot *slot = pool_slot(pool, place.slot);
        if (row + 2 < end) {
            slot_fetch(pool, place.slot + 2);
        }
        bool answers = step->which == NULL || step->which[row];
        if (answers && (slot->waiting >> step->member & 1) != 0) {
            illegal += slot_answer(pool, place, step->member);
            answered++;
        }
        ready += slot->waiting >> step->member & 1;
    }
    atomic_fetch_add_explicit(&step->ready, ready, memory_order_relaxed);
    atomic_fetch_add_explicit(&step->illegal, illegal, memory_order_relaxed);
    atomic_fetch_add_explicit(&step->answered, answered, memory_order_relaxed);
}

uint32_t ty_pool_step_some(TyPool *pool, uint32_t member, uint32_t group, const uint8_t *which,
                           uint32_t *illegal)
{
    assert(member < pool->config.members && group < pool->config.groups);
    GroupStep step = {.pool = pool, .member = member, .group = group, .which = which};
    if (pool->slabs[member].group[group].rows < pool->config.threads * GROUP_ROWS_MIN) {
        group_step_part(&step, 0, 1);
    } else {
        crew_run(&pool->crew, group_step_part, &step);
    }
    uint32_t refused = atomic_load(&step.illegal);
    pool->decisions += atomic_load(&step.answered) - refused;
    if (illegal != NULL) {
        *illegal = refused;
    }
    return atomic_load(&step.ready);
}

uint32_t ty_pool_step(TyPool *pool, uint32_t member, uint32_t group, uint32_t *illegal)
{
    return ty_pool_step_some(pool, member, group, NULL, illegal);
}

uint32_t ty_pool_ready(const TyPool *pool, uint32_t member, uint32_t group)
{
    const TyGroupLayout *layout = &pool->slabs[member].group[group];
    uint32_t ready = 0;
    for (uint32_t row = 0; row < layout->rows; row++) {
        ready += pool_slot(pool, layout->first + row)->waiting >> member & 1;
    }
    return ready;
}

uint32_t ty_pool_pending(const TyPool *pool, uint32_t member, uint32_t group)
{
    const TyGroupLayout *layout = &pool->slabs[member].group[group];
    uint8_t others = (uint8_t)~(1u << member);
    uint32_t pending = 0;
    for (uint32_t row = 0; row < layout->rows; row++) {
        pending += (pool_slot(pool, layout->first + row)->waiting & others) != 0;
    }
    return pending;
}

uint8_t ty_pool_waiting(const TyPool *pool, uint32_t slot)
{
    return pool_slot(pool, slot)->waiting;
}

/* Calls `visit` for every slot whose `which` byte is set. */
static void slots_visit(TyPool *pool, const uint8_t *which, void (*visit)(TyPool *, Place))
{
    for (uint32_t group = 0; group < pool->config.groups; group++) {
        const TyGroupLayout *layout = &pool->slabs[0].group[group];
        for (uint32_t row = 0; row < layout->rows; row++) {
            Place place = {.slot = layout->first + row, .group = group, .row = row};
            if (which == NULL || which[place.slot]) {
                visit(pool, place);
            }
        }
    }
}

static void slot_restart(TyPool *pool, Place place)
{
    slot_blank(pool, place);
    slot_begin(pool, place);
    slot_play_on(pool, place);
}

void ty_pool_reset(TyPool *pool, const uint8_t *which, const uint64_t *seeds)
{
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        Slot *slot = pool_slot(pool, i);
        if (which != NULL && !which[i]) {
            continue;
        }
        if (seeds != NULL) {
            slot->slot_seed = seeds[i];
            slot->episode = 0;
        } else if (ty_head(slot_state(slot))->steps > 0 || slot->ending != SLOT_RUNNING) {
            slot->episode++;
        }
    }
    slots_visit(pool, which, slot_restart);
}

void ty_pool_observe(TyPool *pool, const TyObserver *observer)
{
    pool->observer = observer != NULL ? *observer : (TyObserver){NULL, NULL, NULL, NULL, NULL};
    if (observer != NULL) {
        slots_visit(pool, NULL, slot_restart);
    }
}

/* ---- Members that come and go
 * --------------------------------------------------------------------------- */

static bool member_is_asked(const TyPool *pool, uint32_t slot, uint32_t member)
{
    Slot *at = pool_slot(pool, slot);
    int8_t seat = ty_head(slot_state(at))->seat;
    return at->ending == SLOT_RUNNING && pool->config.agent[seat] == NULL &&
           pool->config.owner[seat] == member;
}

void ty_pool_set_present(TyPool *pool, uint32_t member, bool present)
{
    uint8_t bit = (uint8_t)(1u << member);
    pool->present = (uint8_t)(present ? pool->present | bit : pool->present & ~bit);
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        Slot *slot = pool_slot(pool, i);
        bool ended = slot->ending != SLOT_RUNNING;
        if (ended && !present && (slot->waiting & bit) != 0) {
            slot_acknowledge(pool, place_of(pool, i), member);
        } else if (ended && present && slot->waiting == 0 &&
                   pool->config.autoreset != TY_AUTORESET_DISABLED) {
            slot_wait_for_members(pool, place_of(pool, i));
        }
    }
}

void ty_pool_truncate(TyPool *pool, uint32_t member)
{
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        if (member_is_asked(pool, i, member)) {
            Place place = place_of(pool, i);
            slot_blank(pool, place);
            slot_truncate(pool, place);
        }
    }
}

static void memories_free(uint8_t **memory, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(memory[i]);
    }
}

/* Seats `agent` in the middle of the running episodes. */
static void seat_start(TyPool *pool, uint32_t seat, const TyAgent *agent, uint8_t *memory)
{
    free(pool->memory[seat]);
    pool->memory[seat] = memory;
    pool->config.agent[seat] = agent;
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        agent_start(pool, i, seat);
    }
}

TyStatus ty_pool_hand_over(TyPool *pool, uint32_t member, const TyAgent *agent)
{
    const TySlab *slab = &pool->slabs[member];
    uint8_t *memory[TY_SEATS_MAX] = {NULL};
    bool whole = true;
    for (uint32_t k = 0; whole && k < slab->seat_count; k++) {
        memory[k] = agents_allocate(pool, agent);
        whole = memory[k] != NULL;
    }
    if (!whole) {
        memories_free(memory, TY_SEATS_MAX);
        return status_fail(TY_NO_MEMORY, "no memory for the agent in %u slots", pool->config.slots);
    }
    ty_pool_set_present(pool, member, false);
    for (uint32_t k = 0; k < slab->seat_count; k++) {
        seat_start(pool, slab->seats[k], agent, memory[k]);
    }
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        Slot *slot = pool_slot(pool, i);
        int8_t seat = ty_head(slot_state(slot))->seat;
        if (slot->ending == SLOT_RUNNING && pool->config.agent[seat] != NULL) {
            slot_blank(pool, place_of(pool, i));
            slot_play_on(pool, place_of(pool, i));
        }
    }
    return status_ok();
}

/* True if the member owns these seats and no others. */
static bool member_has_exactly(const TyPool *pool, uint32_t member, uint8_t seats)
{
    uint8_t owned = 0;
    for (uint32_t k = 0; k < pool->slabs[member].seat_count; k++) {
        owned |= (uint8_t)(1u << pool->slabs[member].seats[k]);
    }
    return owned == seats;
}

static void seats_give(TyPool *pool, uint32_t member, uint8_t seats)
{
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        if ((seats >> seat & 1) != 0) {
            pool->config.owner[seat] = (uint8_t)member;
        }
    }
}

static bool member_is_absent(const TyPool *pool, uint32_t member)
{
    return (pool->present >> member & 1) == 0;
}

/* Memory for the slabs of all absent members, as they would be with these owners; false, and none,
 * if there is too little. The owners stay what they are. */
static bool slabs_prepare(TyPool *pool, uint32_t member, uint8_t seats, uint8_t **memory)
{
    uint8_t owner[TY_SEATS_MAX];
    bool whole = true;
    memcpy(owner, pool->config.owner, sizeof owner);
    seats_give(pool, member, seats);
    for (uint32_t i = 0; whole && i < pool->config.members; i++) {
        if (member_is_absent(pool, i)) {
            memory[i] = slab_allocate(pool, i);
            whole = memory[i] != NULL;
        }
    }
    memcpy(pool->config.owner, owner, sizeof owner);
    return whole;
}

TyStatus ty_pool_assign(TyPool *pool, uint32_t member, uint8_t seats)
{
    uint8_t *memory[TY_MEMBERS_MAX] = {NULL};
    if (member_has_exactly(pool, member, seats)) {
        return status_ok();
    }
    if (!slabs_prepare(pool, member, seats, memory)) {
        memories_free(memory, TY_MEMBERS_MAX);
        return status_fail(TY_NO_MEMORY, "no memory for the rows of %u slots", pool->config.slots);
    }
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        slot_take_back(pool, place_of(pool, i));
    }
    seats_give(pool, member, seats);
    for (uint32_t i = 0; i < pool->config.members; i++) {
        if (member_is_absent(pool, i)) {
            slab_move(pool, i, memory[i]);
        }
    }
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        slot_ask_again(pool, place_of(pool, i));
    }
    return status_ok();
}
