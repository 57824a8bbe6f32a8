/* Stepping and resetting the slots of a pool. */
#include "pool/pool_internal.h"

#include <assert.h>

enum {
    GROUP_ROWS_MIN = 32,  /* for each thread, or asking the others costs more than it saves. Agents
                             think longer */
    RESETS_PER_LOOK = 64, /* slots that are reset between two looks whether to stop */
    FETCH_MIN = 2 << 20,  /* bytes of slots that a processor may not have in its own cache */
};

/* A step as the threads share it: of rows of a group, or of slots that are listed. */
typedef struct GroupStep {
    TyPool *pool;
    uint32_t member;
    uint32_t group;
    const uint8_t *which;
    const uint32_t *slots;
    uint32_t count;
} GroupStep;

/* The processor follows the many columns of a slab less well than it could: in a large pool the
 * slot that comes after the next is fetched while this one plays. */
static inline void slot_fetch(const TyPool *pool, uint32_t slot)
{
    const uint8_t *bytes = pool->slots + (size_t)slot * pool->slot_stride;
    for (uint32_t i = 0; i < pool->slot_stride; i += 4 * TY_SLAB_ALIGN) {
        __builtin_prefetch(bytes + i, 1);
        __builtin_prefetch(bytes + i + TY_SLAB_ALIGN, 1);
        __builtin_prefetch(bytes + i + 2 * TY_SLAB_ALIGN, 1);
        __builtin_prefetch(bytes + i + 3 * TY_SLAB_ALIGN, 1);
    }
}

static bool pool_is_far(const TyPool *pool)
{
    return (uint64_t)pool->config.slots * pool->slot_stride >= FETCH_MIN;
}

static void tally_add(Tally *tally, uint32_t ready, uint32_t illegal, uint32_t answered)
{
    tally->ready += ready;
    tally->illegal += illegal;
    tally->answered += answered;
}

static void group_step_part(void *context, uint32_t part, uint32_t parts, Tally *tally)
{
    const GroupStep *step = context;
    TyPool *pool = step->pool;
    const TyGroupLayout *layout = &pool->members[step->member].slab.group[step->group];
    uint32_t first = (uint32_t)((uint64_t)layout->rows * part / parts);
    uint32_t end = (uint32_t)((uint64_t)layout->rows * (part + 1) / parts);
    bool far = pool_is_far(pool);
    uint32_t ready = 0;
    uint32_t illegal = 0;
    uint32_t answered = 0;
    for (uint32_t row = first; row < end; row++) {
        Place place = {.slot = layout->first + row, .group = step->group, .row = row};
        const Slot *slot = pool_slot(pool, place.slot);
        if (far && row + 2 < end) {
            slot_fetch(pool, place.slot + 2);
        }
        bool answers = step->which == NULL || step->which[row];
        if (answers && (slot->waiting >> step->member & 1) != 0) {
            illegal += slot_answer(pool, place, step->member);
            answered++;
        }
        ready += slot->waiting >> step->member & 1;
    }
    tally_add(tally, ready, illegal, answered);
}

static void slots_step_part(void *context, uint32_t part, uint32_t parts, Tally *tally)
{
    const GroupStep *step = context;
    TyPool *pool = step->pool;
    uint32_t first = (uint32_t)((uint64_t)step->count * part / parts);
    uint32_t end = (uint32_t)((uint64_t)step->count * (part + 1) / parts);
    bool far = pool_is_far(pool);
    uint32_t ready = 0;
    uint32_t illegal = 0;
    uint32_t answered = 0;
    for (uint32_t i = first; i < end; i++) {
        const Slot *slot = pool_slot(pool, step->slots[i]);
        if (far && i + 2 < end) {
            slot_fetch(pool, step->slots[i + 2]);
        }
        if ((slot->waiting >> step->member & 1) != 0) {
            illegal += slot_answer(pool, place_of(pool, step->slots[i]), step->member);
            answered++;
        }
        ready += slot->waiting >> step->member & 1;
    }
    tally_add(tally, ready, illegal, answered);
}

/* How many rows are ready, from what was counted before and after a step. */
static uint32_t tally_since(const Tally *before, const Tally *after, uint32_t *illegal)
{
    if (illegal != NULL) {
        *illegal = (uint32_t)(after->illegal - before->illegal);
    }
    return (uint32_t)(after->ready - before->ready);
}

/* Steps `rows` rows, by as many threads as are worth it. */
static uint32_t step_run(GroupStep *step, uint32_t rows,
                         void (*part)(void *context, uint32_t part, uint32_t parts, Tally *tally),
                         uint32_t *illegal)
{
    Crew *crew = &step->pool->crew;
    if (!step->pool->agents_only && rows < step->pool->config.threads * GROUP_ROWS_MIN) {
        Tally *own = &crew->seats[0].tally;
        const Tally before = *own;
        part(step, 0, 1, own);
        return tally_since(&before, own, illegal);
    }
    const Tally before = crew_tally(crew);
    crew_run(crew, part, step);
    const Tally after = crew_tally(crew);
    return tally_since(&before, &after, illegal);
}

uint32_t ty_pool_step_some(TyPool *pool, uint32_t member, uint32_t group, const uint8_t *which,
                           uint32_t *illegal)
{
    assert(member < pool->config.members && group < pool->config.groups);
    GroupStep step = {.pool = pool, .member = member, .group = group, .which = which};
    return step_run(&step, pool->members[member].slab.group[group].rows, group_step_part, illegal);
}

uint32_t ty_pool_step_slots(TyPool *pool, uint32_t member, const uint32_t *slots, uint32_t count,
                            uint32_t *illegal)
{
    assert(member < pool->config.members);
    GroupStep step = {.pool = pool, .member = member, .slots = slots, .count = count};
    return step_run(&step, count, slots_step_part, illegal);
}

uint32_t ty_pool_step(TyPool *pool, uint32_t member, uint32_t group, uint32_t *illegal)
{
    return ty_pool_step_some(pool, member, group, NULL, illegal);
}

uint32_t ty_pool_ready(const TyPool *pool, uint32_t member, uint32_t group)
{
    const TyGroupLayout *layout = &pool->members[member].slab.group[group];
    uint32_t ready = 0;
    for (uint32_t row = 0; row < layout->rows; row++) {
        ready += pool_slot(pool, layout->first + row)->waiting >> member & 1;
    }
    return ready;
}

uint32_t ty_pool_pending(const TyPool *pool, uint32_t member, uint32_t group)
{
    const TyGroupLayout *layout = &pool->members[member].slab.group[group];
    uint8_t others = (uint8_t)~(1u << member);
    uint32_t pending = 0;
    for (uint32_t row = 0; row < layout->rows; row++) {
        const Slot *slot = pool_slot(pool, layout->first + row);
        pending += (slot->waiting & others) != 0 || slot_is_held(slot);
    }
    return pending;
}

uint32_t ty_pool_held(const TyPool *pool)
{
    return atomic_load_explicit(&pool->held, memory_order_relaxed);
}

bool ty_pool_slot_held(const TyPool *pool, uint32_t slot)
{
    return slot_is_held(pool_slot(pool, slot));
}

bool ty_pool_over(const TyPool *pool, uint32_t slot)
{
    return pool_slot(pool, slot)->ending != SLOT_RUNNING;
}

uint32_t ty_pool_release(TyPool *pool)
{
    for (uint32_t i = 0; ty_pool_held(pool) > 0 && i < pool->config.slots; i++) {
        Slot *slot = pool_slot(pool, i);
        if (!slot_is_held(slot)) {
            continue;
        }
        if (pool->observer.end != NULL &&
            !pool->observer.end(pool->observer.user, i, NULL, slot_state(slot))) {
            break;
        }
        slot_release(pool, place_of(pool, i));
    }
    return ty_pool_held(pool);
}

uint8_t ty_pool_waiting(const TyPool *pool, uint32_t slot)
{
    return pool_slot(pool, slot)->waiting;
}

/* Calls `visit` for every slot whose `which` byte is set. */
static void slots_visit(TyPool *pool, const uint8_t *which, void (*visit)(TyPool *, Place))
{
    for (uint32_t group = 0; group < pool->config.groups; group++) {
        const TyGroupLayout *layout = &pool->members[0].slab.group[group];
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

/* With a seed or an episode of its own a slot begins anew: nobody is told what happened there
 * before. */
static void slot_reseed(TyPool *pool, uint32_t index, const TyReset *reset)
{
    Slot *slot = pool_slot(pool, index);
    if (reset->seeds != NULL || reset->episodes != NULL) {
        chronicle_forget(pool, index);
    }
    if (reset->seeds != NULL) {
        slot->slot_seed = reset->seeds[index];
        slot->seeded = true;
        slot->episode = 0;
    } else if (ty_head(slot_state(slot))->steps > 0 || slot->ending != SLOT_RUNNING) {
        slot->episode++;
    }
    if (reset->episodes != NULL) {
        slot->episode = reset->episodes[index];
    }
}

uint32_t pool_reset_some(TyPool *pool, uint32_t first, const TyReset *reset)
{
    uint32_t slot = first;
    for (; slot < pool->config.slots; slot++) {
        if (slot % RESETS_PER_LOOK == 0 && slot > first && pool_is_stopped(pool)) {
            break;
        }
        if (reset->which == NULL || reset->which[slot]) {
            slot_reseed(pool, slot, reset);
            slot_restart(pool, place_of(pool, slot));
        }
    }
    pool->begun = pool->begun || slot == pool->config.slots;
    return slot;
}

void ty_pool_reset_to(TyPool *pool, const TyReset *reset)
{
    for (uint32_t slot = 0; slot < pool->config.slots;) {
        slot = pool_reset_some(pool, slot, reset);
    }
}

void ty_pool_reset(TyPool *pool, const uint8_t *which, const uint64_t *seeds)
{
    ty_pool_reset_to(pool, &(TyReset){.which = which, .seeds = seeds});
}

/* ---- Interruptions ---- */

void pool_drain(TyPool *pool)
{
    pool->draining = true;
}

uint32_t pool_running(const TyPool *pool)
{
    uint32_t running = 0;
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        Slot *slot = pool_slot(pool, i);
        running += slot->ending == SLOT_RUNNING && ty_head(slot_state(slot))->steps > 0;
    }
    return running;
}

void pool_set_stop(TyPool *pool, const TyStop *stop, const TyStop *pause)
{
    pool->stop = stop;
    pool->pause = pause;
}

bool pool_rests(const TyPool *pool, int32_t group)
{
    uint32_t resting = 0;
    for (uint32_t i = 0; i < pool->config.groups; i++) {
        if (group < 0 || (uint32_t)group == i) {
            resting += atomic_load_explicit(&((TyPool *)pool)->resting[i], memory_order_relaxed);
        }
    }
    return pool->begun && resting > 0;
}

bool pool_slot_rests(const TyPool *pool, uint32_t slot)
{
    return slot_rests(pool, slot);
}

static void resume_part(void *context, uint32_t part, uint32_t parts, Tally *tally)
{
    (void)tally;
    TyPool *pool = context;
    uint32_t first = (uint32_t)((uint64_t)pool->config.slots * part / parts);
    uint32_t end = (uint32_t)((uint64_t)pool->config.slots * (part + 1) / parts);
    for (uint32_t slot = first; slot < end; slot++) {
        if (slot_rests(pool, slot)) {
            slot_resume(pool, place_of(pool, slot));
        }
    }
}

void pool_resume(TyPool *pool)
{
    for (uint32_t i = 0; i < pool->config.groups; i++) {
        atomic_store(&pool->resting[i], 0);
    }
    crew_run(&pool->crew, resume_part, pool);
}

void ty_pool_observe(TyPool *pool, const TyObserver *observer)
{
    pool->observer = observer != NULL ? *observer : (TyObserver){.user = NULL};
    if (observer != NULL && pool->begun) {
        slots_visit(pool, NULL, slot_restart);
    }
}
