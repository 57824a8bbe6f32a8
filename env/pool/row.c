/* The rows that members see: what is asked, and how an episode ended. */
#include "pool/row.h"

#include <string.h>

static inline float reward_float(int32_t points)
{
    return (float)points / TY_REWARD_ONE;
}

static void extra_columns_write(const TyPool *pool, const TySlab *slab, Place place,
                                const void *state, uint32_t seat)
{
    if (slab->group[place.group].columns[TY_COLUMN_FULL].width > 0) {
        ty_observe_full(pool->ruleset, state, seat, cell(slab, place, TY_COLUMN_FULL, 1));
    }
    if (slab->group[place.group].columns[TY_COLUMN_HASH].width > 0) {
        put_u64(slab, place, TY_COLUMN_HASH, ty_hash(pool->ruleset, state));
    }
}

/* The decisions of the episode that the member may count. Seats that have no choice are not asked:
 * whoever counted the others' decisions would know whether they had one. */
static inline uint32_t steps_counted(const TyPool *pool, Slot *slot, uint32_t member)
{
    const TySlab *slab = &pool->members[member].slab;
    uint32_t steps = 0;
    if (member == 0) {
        return ty_head(slot_state(slot))->steps;
    }
    for (uint32_t i = 0; i < slab->seat_count; i++) {
        steps += slot->steps[slab->seats[i]];
    }
    return steps;
}

/* Where in its episode the row of `seat` (-1: nobody's) stands. */
INLINE void row_place(const TyPool *pool, Place place, uint32_t member, int8_t seat)
{
    const TySlab *slab = &pool->members[member].slab;
    Slot *slot = pool_slot(pool, place.slot);
    bool may_know = member == 0 || (pool->config.reveal_seeds && slot->ending != SLOT_RUNNING);
    *(int8_t *)cell_one(slab, place, TY_COLUMN_SEAT, 1) = seat;
    put_u8(slab, place, TY_COLUMN_TERMINATED, slot->ending == SLOT_TERMINATED);
    put_u8(slab, place, TY_COLUMN_TRUNCATED, slot->ending == SLOT_TRUNCATED);
    put_u32(slab, place, TY_COLUMN_EPISODE, (uint32_t)slot->episode);
    put_u32(slab, place, TY_COLUMN_STEP, steps_counted(pool, slot, member));
    put_u64(slab, place, TY_COLUMN_SEED, may_know ? slot->seed : 0);
    extra_columns_write(pool, slab, place, slot_state(slot), seat >= 0 ? (uint32_t)seat : 0);
}

/* What all rows have: whose it is, what was earned, where in its episode it stands. */
INLINE void row_write(const TyPool *pool, Place place, uint32_t member, uint32_t seat)
{
    const TySlab *slab = &pool->members[member].slab;
    Slot *slot = pool_slot(pool, place.slot);
    const void *state = slot_state(slot);
    float *earned = cell(slab, place, TY_COLUMN_EARNED, sizeof(float));
    for (uint32_t i = 0; i < slab->seat_count; i++) {
        earned[i] = reward_float(slot->since[slab->seats[i]]);
        slot->since[slab->seats[i]] = 0;
    }
    ty_observe(pool->ruleset, state, seat, cell(slab, place, TY_COLUMN_OBS, 1));
    ty_legal(pool->ruleset, state, cell(slab, place, TY_COLUMN_MASK, 1));
    *(float *)cell_one(slab, place, TY_COLUMN_REWARD, sizeof(float)) =
        reward_float(slot->pending[seat]);
    slot->pending[seat] = 0;
    row_place(pool, place, member, (int8_t)seat);
}

/* A row as a director without seats sees it: what every player has earned in the episode. */
static void row_watch(const TyPool *pool, Place place, int8_t seat)
{
    const TySlab *slab = &pool->members[0].slab;
    Slot *slot = pool_slot(pool, place.slot);
    float *earned = cell(slab, place, TY_COLUMN_EARNED, sizeof(float));
    for (uint32_t i = 0; i < pool->shape->players; i++) {
        earned[i] = reward_float(slot->total[i]);
    }
    row_place(pool, place, 0, seat);
}

void row_ask(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    uint32_t seat = (uint32_t)ty_head(slot_state(slot))->seat;
    uint32_t member = pool->agents_only ? 0 : pool->config.owner[seat];
    chronicle_show(pool, place.slot, seat);
    if (pool->agents_only) {
        row_watch(pool, place, (int8_t)seat);
    } else {
        row_write(pool, place, member, seat);
        shown_note(pool, place.slot, member, false);
    }
    put_u8(&pool->members[member].slab, place, TY_COLUMN_READY, 1);
    slot->waiting = (uint8_t)(1u << member);
}

/* The mask of a finished or cut-off episode is all zero. */
static void mask_clear(const TyPool *pool, Place place, uint32_t member)
{
    memset(cell(&pool->members[member].slab, place, TY_COLUMN_MASK, 1), 0,
           pool->shape->action_count);
}

/* The terminal rows of a member: each of its seats' in the final columns. */
static void final_write(const TyPool *pool, Place place, uint32_t member)
{
    const TySlab *slab = &pool->members[member].slab;
    Slot *slot = pool_slot(pool, place.slot);
    uint8_t *observed = cell(slab, place, TY_COLUMN_FINAL_OBS, 1);
    float *rewards = cell(slab, place, TY_COLUMN_FINAL_REWARD, sizeof(float));
    for (uint32_t i = 0; i < slab->seat_count; i++) {
        ty_observe(pool->ruleset, slot_state(slot), slab->seats[i],
                   observed + (size_t)i * pool->shape->row_size);
        rewards[i] = reward_float(slot->final[slab->seats[i]]);
    }
    ty_metrics(pool->ruleset, slot_state(slot), cell(slab, place, TY_COLUMN_METRICS, 4));
}

static bool member_has_seat(const TyPool *pool, uint32_t member, int8_t seat)
{
    return seat >= 0 && pool->config.agent[seat] == NULL && pool->config.owner[seat] == member;
}

/* The ending as a director without seats sees it. */
static void ending_watch(const TyPool *pool, Place place)
{
    const TySlab *slab = &pool->members[0].slab;
    Slot *slot = pool_slot(pool, place.slot);
    ty_metrics(pool->ruleset, slot_state(slot), cell(slab, place, TY_COLUMN_METRICS, 4));
    row_watch(pool, place, -1);
    put_u8(slab, place, TY_COLUMN_READY, slot->waiting & 1);
}

void ending_write(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    if (pool->config.autoreset != TY_AUTORESET_SAME_STEP) {
        chronicle_show_all(pool, place.slot);
    }
    if (pool->members[0].slab.seat_count == 0) {
        ending_watch(pool, place);
    }
    for (uint32_t member = 0; member < pool->config.members; member++) {
        const TySlab *slab = &pool->members[member].slab;
        if (slab->seat_count == 0) {
            continue;
        }
        bool acted = member_has_seat(pool, member, slot->last_seat);
        final_write(pool, place, member);
        row_write(pool, place, member, acted ? (uint32_t)slot->last_seat : slab->seats[0]);
        mask_clear(pool, place, member);
        put_u8(slab, place, TY_COLUMN_READY, (slot->waiting >> member) & 1);
        shown_note(pool, place.slot, member, true);
    }
}

static uint32_t earned_width(const TySlab *slab)
{
    return slab->group[0].columns[TY_COLUMN_EARNED].width;
}

EndingRow ending_row_keep(const TySlab *slab, Place place, SlotEnding ending)
{
    EndingRow row = {.ending = ending};
    row.reward = *(float *)cell(slab, place, TY_COLUMN_REWARD, sizeof(float));
    memcpy(row.earned, cell(slab, place, TY_COLUMN_EARNED, sizeof(float)),
           sizeof(float) * earned_width(slab));
    return row;
}

void ending_row_put(const TySlab *slab, Place place, const EndingRow *row)
{
    put_u8(slab, place, TY_COLUMN_TERMINATED, row->ending == SLOT_TERMINATED);
    put_u8(slab, place, TY_COLUMN_TRUNCATED, row->ending == SLOT_TRUNCATED);
    *(float *)cell(slab, place, TY_COLUMN_REWARD, sizeof(float)) = row->reward;
    memcpy(cell(slab, place, TY_COLUMN_EARNED, sizeof(float)), row->earned,
           sizeof(float) * earned_width(slab));
}

void row_refuse(const TyPool *pool, Place place, uint32_t member)
{
    const TySlab *slab = &pool->members[member].slab;
    float *earned = cell(slab, place, TY_COLUMN_EARNED, sizeof(float));
    memset(earned, 0, sizeof(float) * slab->seat_count);
    *(float *)cell(slab, place, TY_COLUMN_REWARD, sizeof(float)) = 0;
    put_u8(slab, place, TY_COLUMN_TERMINATED, 0);
    put_u8(slab, place, TY_COLUMN_TRUNCATED, 0);
}
