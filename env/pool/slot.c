/* One slot of a pool: playing on, ending, beginning anew, and writing rows. */
#include "core/draw.h"
#include "pool/pool_internal.h"

#include <assert.h>
#include <string.h>

enum { SLOT_UNASKED_MAX = 64 /* episodes in a row that may pass without asking a member */ };

/* ---- Rows
 * ---------------------------------------------------------------------------------------- */

static inline void *cell(const TySlab *slab, Place place, TyColumn column, size_t size)
{
    const TyColumnLayout *layout = &slab->group[place.group].columns[column];
    return slab->rows + layout->offset + place.row * layout->width * size;
}

/* With release order, since `ready` is stored last: whoever sees it set, from another process and
 * at any time, sees the whole row. */
static inline void put_u8(const TySlab *slab, Place place, TyColumn column, uint8_t value)
{
    __atomic_store_n((uint8_t *)cell(slab, place, column, 1), value, __ATOMIC_RELEASE);
}

static inline void put_u32(const TySlab *slab, Place place, TyColumn column, uint32_t value)
{
    *(uint32_t *)cell(slab, place, column, 4) = value;
}

static inline void put_u64(const TySlab *slab, Place place, TyColumn column, uint64_t value)
{
    *(uint64_t *)cell(slab, place, column, 8) = value;
}

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

/* Where in its episode the row of `seat` (-1: nobody's) stands. */
static void row_place(const TyPool *pool, Place place, uint32_t member, int8_t seat)
{
    const TySlab *slab = &pool->slabs[member];
    Slot *slot = pool_slot(pool, place.slot);
    bool may_know = member == 0 || slot->ending != SLOT_RUNNING;
    *(int8_t *)cell(slab, place, TY_COLUMN_SEAT, 1) = seat;
    put_u8(slab, place, TY_COLUMN_TERMINATED, slot->ending == SLOT_TERMINATED);
    put_u8(slab, place, TY_COLUMN_TRUNCATED, slot->ending == SLOT_TRUNCATED);
    put_u32(slab, place, TY_COLUMN_EPISODE, (uint32_t)slot->episode);
    put_u32(slab, place, TY_COLUMN_STEP, ty_head(slot_state(slot))->steps);
    put_u64(slab, place, TY_COLUMN_SEED, may_know ? slot->seed : 0);
    extra_columns_write(pool, slab, place, slot_state(slot), seat >= 0 ? (uint32_t)seat : 0);
}

/* What all rows have: whose it is, what was earned, where in its episode it stands. */
static void row_write(const TyPool *pool, Place place, uint32_t member, uint32_t seat)
{
    const TySlab *slab = &pool->slabs[member];
    Slot *slot = pool_slot(pool, place.slot);
    const void *state = slot_state(slot);
    float *earned = cell(slab, place, TY_COLUMN_EARNED, sizeof(float));
    for (uint32_t i = 0; i < slab->seat_count; i++) {
        earned[i] = reward_float(slot->since[slab->seats[i]]);
        slot->since[slab->seats[i]] = 0;
    }
    ty_observe(pool->ruleset, state, seat, cell(slab, place, TY_COLUMN_OBS, 1));
    ty_legal(pool->ruleset, state, cell(slab, place, TY_COLUMN_MASK, 1));
    *(float *)cell(slab, place, TY_COLUMN_REWARD, sizeof(float)) =
        reward_float(slot->pending[seat]);
    slot->pending[seat] = 0;
    row_place(pool, place, member, (int8_t)seat);
}

/* The row of the seat to act, in the slab of its owner. */
static void row_ask(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    uint32_t seat = (uint32_t)ty_head(slot_state(slot))->seat;
    uint32_t member = pool->config.owner[seat];
    row_write(pool, place, member, seat);
    put_u8(&pool->slabs[member], place, TY_COLUMN_READY, 1);
    slot->waiting = (uint8_t)(1u << member);
}

/* The mask of a finished or cut-off episode is all zero. */
static void mask_clear(const TyPool *pool, Place place, uint32_t member)
{
    memset(cell(&pool->slabs[member], place, TY_COLUMN_MASK, 1), 0, pool->shape->action_count);
}

/* The terminal rows of a member: each of its seats' in the final columns. */
static void final_write(const TyPool *pool, Place place, uint32_t member)
{
    const TySlab *slab = &pool->slabs[member];
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

/* The ending as a director without seats sees it: what came of it, for every player. */
static void ending_watch(const TyPool *pool, Place place)
{
    const TySlab *slab = &pool->slabs[0];
    Slot *slot = pool_slot(pool, place.slot);
    float *earned = cell(slab, place, TY_COLUMN_EARNED, sizeof(float));
    for (uint32_t seat = 0; seat < pool->shape->players; seat++) {
        earned[seat] = reward_float(slot->total[seat]);
    }
    ty_metrics(pool->ruleset, slot_state(slot), cell(slab, place, TY_COLUMN_METRICS, 4));
    row_place(pool, place, 0, -1);
}

/* The ending as every member sees it: the row of its seat that acted last, or of its first seat. */
static void ending_write(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    if (pool->slabs[0].seat_count == 0) {
        ending_watch(pool, place);
    }
    for (uint32_t member = 0; member < pool->config.members; member++) {
        const TySlab *slab = &pool->slabs[member];
        if (slab->seat_count == 0) {
            continue;
        }
        bool acted = member_has_seat(pool, member, slot->last_seat);
        final_write(pool, place, member);
        row_write(pool, place, member, acted ? (uint32_t)slot->last_seat : slab->seats[0]);
        mask_clear(pool, place, member);
        put_u8(slab, place, TY_COLUMN_READY, (slot->waiting >> member) & 1);
    }
}

/* ---- Playing
 * --------------------------------------------------------------------------------------- */

/* Adds what a step earned to the accounts of every seat. */
static void slot_earn(const TyPool *pool, Slot *slot, const int32_t *reward)
{
    for (uint32_t seat = 0; seat < pool->shape->players; seat++) {
        slot->pending[seat] += reward[seat];
        slot->total[seat] += reward[seat];
        slot->since[seat] += reward[seat];
    }
}

/* Takes `action` for the seat to act; false, and nothing changed, if it is not legal. */
static bool slot_take(TyPool *pool, uint32_t index, uint32_t action)
{
    int32_t reward[TY_SEATS_MAX] = {0};
    Slot *slot = pool_slot(pool, index);
    void *state = slot_state(slot);
    int8_t seat = ty_head(state)->seat;
    if (!ty_step(pool->ruleset, state, action, reward, NULL)) {
        return false;
    }
    slot->last_seat = seat;
    slot_earn(pool, slot, reward);
    if (pool->observer.decision != NULL) {
        pool->observer.decision(pool->observer.user, index, action, reward, state);
    }
    return true;
}

static void slot_agent_act(TyPool *pool, Place place, uint32_t seat)
{
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    Slot *slot = pool_slot(pool, place.slot);
    const TyAgent *agent = pool->config.agent[seat];
    const TyPlanner planner = {.ruleset = pool->ruleset, .state = slot_state(slot), .seat = seat};
    const TyView view = {.ruleset = pool->ruleset,
                         .seat = seat,
                         .row = row,
                         .mask = mask,
                         .planner = agent->plans ? &planner : NULL};
    ty_observe(pool->ruleset, slot_state(slot), seat, row);
    ty_legal(pool->ruleset, slot_state(slot), mask);
    bool accepted =
        slot_take(pool, place.slot, agent->act(agent_memory(pool, place.slot, seat), &view));
    assert(accepted);
    (void)accepted;
}

static SlotEnding state_ending(const TyPool *pool, const void *state)
{
    const TyHead *head = ty_head(state);
    if (head->over) {
        return head->truncated ? SLOT_TRUNCATED : SLOT_TERMINATED;
    }
    bool cut = pool->config.max_steps > 0 && head->steps >= pool->config.max_steps;
    return cut ? SLOT_TRUNCATED : SLOT_RUNNING;
}

/* Built-in agents act until a member has to or the episode is over. */
static SlotEnding slot_agents_play(TyPool *pool, Place place)
{
    const TyHead *head = ty_head(slot_state(pool_slot(pool, place.slot)));
    SlotEnding ending = state_ending(pool, head);
    while (ending == SLOT_RUNNING && pool->config.agent[head->seat] != NULL) {
        slot_agent_act(pool, place, (uint32_t)head->seat);
        ending = state_ending(pool, head);
    }
    return ending;
}

/* The members that are present and own a seat: a bit for each. */
static uint8_t members_attending(const TyPool *pool)
{
    uint8_t attending = 0;
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        if (pool->config.agent[seat] == NULL) {
            attending |= (uint8_t)(1u << pool->config.owner[seat]);
        }
    }
    return attending & pool->present;
}

/* Ends the episode and tells every member. With next_step resets, those present have to answer. */
static void slot_close(TyPool *pool, Place place, SlotEnding ending)
{
    Slot *slot = pool_slot(pool, place.slot);
    bool next_step = pool->config.autoreset == TY_AUTORESET_NEXT_STEP;
    slot->ending = (uint8_t)ending;
    slot->waiting = next_step ? members_attending(pool) : 0;
    ending_write(pool, place);
}

void slot_wait_for_members(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    slot->waiting = members_attending(pool);
    for (uint32_t member = 0; member < pool->config.members; member++) {
        if (pool->slabs[member].seat_count > 0) {
            put_u8(&pool->slabs[member], place, TY_COLUMN_READY, slot->waiting >> member & 1);
        }
    }
}

/* The row of the old episode's end, while the new episode's first row is written over it. */
typedef struct EndingRow {
    SlotEnding ending;
    float reward;
    float earned[TY_SEATS_MAX];
} EndingRow;

static EndingRow ending_row_keep(const TySlab *slab, Place place, SlotEnding ending)
{
    EndingRow row = {.ending = ending};
    row.reward = *(float *)cell(slab, place, TY_COLUMN_REWARD, sizeof(float));
    memcpy(row.earned, cell(slab, place, TY_COLUMN_EARNED, sizeof(float)),
           sizeof(float) * slab->seat_count);
    return row;
}

static void ending_row_put(const TySlab *slab, Place place, const EndingRow *row)
{
    put_u8(slab, place, TY_COLUMN_TERMINATED, row->ending == SLOT_TERMINATED);
    put_u8(slab, place, TY_COLUMN_TRUNCATED, row->ending == SLOT_TRUNCATED);
    *(float *)cell(slab, place, TY_COLUMN_REWARD, sizeof(float)) = row->reward;
    memcpy(cell(slab, place, TY_COLUMN_EARNED, sizeof(float)), row->earned,
           sizeof(float) * slab->seat_count);
}

static void slot_begin_next(TyPool *pool, Place place)
{
    pool_slot(pool, place.slot)->episode++;
    slot_begin(pool, place);
}

/* The first row of the new episode, under the ending of the old one. What the new episode has
 * earned already comes with the next row. */
static void row_ask_under_ending(TyPool *pool, Place place, const EndingRow *row)
{
    Slot *slot = pool_slot(pool, place.slot);
    int32_t pending[TY_SEATS_MAX];
    int32_t since[TY_SEATS_MAX];
    memcpy(pending, slot->pending, sizeof pending);
    memcpy(since, slot->since, sizeof since);
    row_ask(pool, place);
    memcpy(slot->pending, pending, sizeof pending);
    memcpy(slot->since, since, sizeof since);
    ending_row_put(&pool->slabs[0], place, row);
}

static void ending_note(TyPool *pool, uint32_t index, const TyEnding *ending)
{
    atomic_fetch_add_explicit(&pool->episodes, 1, memory_order_relaxed);
    if (pool->observer.end != NULL) {
        pool->observer.end(pool->observer.user, index, ending, ty_pool_state(pool, index));
    }
}

/* The ending of an episode that nobody cut off. */
static TyEnding ending_of_play(const void *state)
{
    static const int32_t nothing[TY_SEATS_MAX];
    const TyHead *head = ty_head(state);
    TyCause cause = head->truncated ? TY_CAUSE_CAP : TY_CAUSE_RULES;
    return (TyEnding){.cause = head->over ? cause : TY_CAUSE_STEPS, .seat = -1, .reward = nothing};
}

/* In same_step mode new episodes begin until one asks the member; those in between, in which it was
 * never asked, leave no trace. If none asks, the ending stands as in next_step mode. */
static void slot_roll_over(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    EndingRow row = ending_row_keep(&pool->slabs[0], place, (SlotEnding)slot->ending);
    for (uint32_t i = 0; i < SLOT_UNASKED_MAX; i++) {
        slot_begin_next(pool, place);
        SlotEnding ending = slot_agents_play(pool, place);
        if (ending == SLOT_RUNNING) {
            row_ask_under_ending(pool, place, &row);
            return;
        }
        slot->ending = (uint8_t)ending;
        TyEnding unseen = ending_of_play(slot_state(slot));
        ending_note(pool, place.slot, &unseen);
    }
    slot_wait_for_members(pool, place);
}

static void slot_finish(TyPool *pool, Place place, const TyEnding *ending)
{
    Slot *slot = pool_slot(pool, place.slot);
    bool whole = ending->cause == TY_CAUSE_RULES || ending->cause == TY_CAUSE_FORFEIT;
    slot_earn(pool, slot, ending->reward);
    memcpy(slot->final, slot->pending, sizeof slot->final);
    ending_note(pool, place.slot, ending);
    slot_close(pool, place, whole ? SLOT_TERMINATED : SLOT_TRUNCATED);
    if (pool->config.autoreset == TY_AUTORESET_SAME_STEP) {
        slot_roll_over(pool, place);
    }
}

void slot_play_on(TyPool *pool, Place place)
{
    if (slot_agents_play(pool, place) == SLOT_RUNNING) {
        row_ask(pool, place);
        return;
    }
    TyEnding ending = ending_of_play(slot_state(pool_slot(pool, place.slot)));
    slot_finish(pool, place, &ending);
}

void slot_truncate(TyPool *pool, Place place)
{
    const int32_t nothing[TY_SEATS_MAX] = {0};
    const TyEnding ending = {.cause = TY_CAUSE_CUT, .seat = -1, .reward = nothing};
    slot_finish(pool, place, &ending);
}

void agent_start(TyPool *pool, uint32_t slot, uint32_t seat)
{
    const TyAgent *agent = pool->config.agent[seat];
    void *memory = agent_memory(pool, slot, seat);
    memset(memory, 0, agent->memory_size);
    agent->start(memory, pool->ruleset, seat, ty_agent_seed(pool_slot(pool, slot)->seed, seat));
}

void slot_start_agents(TyPool *pool, Place place)
{
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        if (pool->config.agent[seat] != NULL) {
            agent_start(pool, place.slot, seat);
        }
    }
}

void slot_begin(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    slot->seed = ty_episode_seed(slot->slot_seed, slot->episode);
    slot->ending = SLOT_RUNNING;
    slot->last_seat = -1;
    slot->replaced = 0;
    memset(slot->pending, 0, sizeof slot->pending);
    memset(slot->since, 0, sizeof slot->since);
    memset(slot->total, 0, sizeof slot->total);
    ty_reset(pool->ruleset, slot_state(slot), slot->seed, NULL);
    slot_start_agents(pool, place);
    if (pool->observer.begin != NULL) {
        pool->observer.begin(pool->observer.user, place.slot, slot->seed, slot->episode,
                             slot_state(slot));
    }
}

void slot_blank(TyPool *pool, Place place)
{
    static const TyColumn flags[] = {TY_COLUMN_READY, TY_COLUMN_ILLEGAL, TY_COLUMN_TERMINATED,
                                     TY_COLUMN_TRUNCATED};
    for (uint32_t member = 0; member < pool->config.members; member++) {
        bool speaks = member == 0 || pool->slabs[member].seat_count > 0;
        for (uint32_t i = 0; speaks && i < 4; i++) {
            put_u8(&pool->slabs[member], place, flags[i], 0);
        }
    }
}

void slot_show(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    slot_blank(pool, place);
    if (slot->ending == SLOT_RUNNING) {
        slot_play_on(pool, place);
        return;
    }
    slot_close(pool, place, (SlotEnding)slot->ending);
    if (pool->config.autoreset == TY_AUTORESET_SAME_STEP) {
        slot_roll_over(pool, place);
    }
}

/* The member that is asked in a running episode, if it is absent; otherwise -1. */
static int32_t slot_absentee(const TyPool *pool, const Slot *slot)
{
    int8_t seat = ty_head(slot + 1)->seat;
    if (slot->ending != SLOT_RUNNING || pool->config.agent[seat] != NULL) {
        return -1;
    }
    uint32_t member = pool->config.owner[seat];
    return (pool->present >> member & 1) == 0 ? (int32_t)member : -1;
}

void slot_take_back(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    int32_t member = slot_absentee(pool, slot);
    if (member < 0) {
        return;
    }
    const TySlab *slab = &pool->slabs[member];
    const float *earned = cell(slab, place, TY_COLUMN_EARNED, sizeof(float));
    const float *reward = cell(slab, place, TY_COLUMN_REWARD, sizeof(float));
    for (uint32_t i = 0; i < slab->seat_count; i++) {
        slot->since[slab->seats[i]] += (int32_t)(earned[i] * TY_REWARD_ONE);
    }
    slot->pending[ty_head(slot + 1)->seat] += (int32_t)(*reward * TY_REWARD_ONE);
}

void slot_ask_again(TyPool *pool, Place place)
{
    if (slot_absentee(pool, pool_slot(pool, place.slot)) >= 0) {
        row_ask(pool, place);
    }
}

/* ---- Answers
 * --------------------------------------------------------------------------------------- */

/* The row stays as it is; nothing was earned by the refused action. */
static void row_refuse(const TyPool *pool, Place place, uint32_t member)
{
    const TySlab *slab = &pool->slabs[member];
    float *earned = cell(slab, place, TY_COLUMN_EARNED, sizeof(float));
    memset(earned, 0, sizeof(float) * slab->seat_count);
    *(float *)cell(slab, place, TY_COLUMN_REWARD, sizeof(float)) = 0;
    put_u8(slab, place, TY_COLUMN_TERMINATED, 0);
    put_u8(slab, place, TY_COLUMN_TRUNCATED, 0);
}

/* Whoever acted against the mask loses one; in a cooperative game all do. */
static void slot_forfeit(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    int32_t reward[TY_SEATS_MAX] = {0};
    int8_t seat = ty_head(slot_state(slot))->seat;
    for (uint32_t i = 0; i < pool->shape->players; i++) {
        reward[i] = pool->shape->cooperative || (int8_t)i == seat ? -TY_REWARD_ONE : 0;
    }
    slot->last_seat = seat;
    const TyEnding ending = {.cause = TY_CAUSE_FORFEIT, .seat = seat, .reward = reward};
    slot_finish(pool, place, &ending);
}

static uint32_t action_replace(const TyPool *pool, Place place, uint32_t member)
{
    Slot *slot = pool_slot(pool, place.slot);
    const uint8_t *mask = cell(&pool->slabs[member], place, TY_COLUMN_MASK, 1);
    return ty_sample(mask, pool->shape->action_count, hash_mix(slot->seed ^ 0x7265706c61636564u),
                     slot->replaced++);
}

/* An action that the mask forbids. True if the step has to report it. */
static bool slot_answer_illegal(TyPool *pool, Place place, uint32_t member)
{
    switch (pool->config.illegal) {
    case TY_ILLEGAL_ERROR:
    case TY_ILLEGAL_NOOP:
        row_refuse(pool, place, member);
        break;
    case TY_ILLEGAL_RANDOM_LEGAL:
        put_u8(&pool->slabs[member], place, TY_COLUMN_READY, 0);
        slot_take(pool, place.slot, action_replace(pool, place, member));
        slot_play_on(pool, place);
        break;
    case TY_ILLEGAL_LOSE:
        put_u8(&pool->slabs[member], place, TY_COLUMN_READY, 0);
        slot_forfeit(pool, place);
        break;
    }
    put_u8(&pool->slabs[member], place, TY_COLUMN_ILLEGAL, 1);
    return pool->config.illegal == TY_ILLEGAL_ERROR;
}

void slot_acknowledge(TyPool *pool, Place place, uint32_t member)
{
    Slot *slot = pool_slot(pool, place.slot);
    put_u8(&pool->slabs[member], place, TY_COLUMN_READY, 0);
    put_u8(&pool->slabs[member], place, TY_COLUMN_TERMINATED, 0);
    put_u8(&pool->slabs[member], place, TY_COLUMN_TRUNCATED, 0);
    slot->waiting &= (uint8_t)~(1u << member);
    if (slot->waiting == 0) {
        slot_begin_next(pool, place);
        slot_play_on(pool, place);
    }
}

bool slot_answer(TyPool *pool, Place place, uint32_t member)
{
    const TySlab *slab = &pool->slabs[member];
    Slot *slot = pool_slot(pool, place.slot);
    put_u8(slab, place, TY_COLUMN_ILLEGAL, 0);
    if (slot->ending != SLOT_RUNNING) {
        slot_acknowledge(pool, place, member);
        return false;
    }
    const int32_t *actions = ty_slab_column(slab, place.group, TY_COLUMN_ACTION);
    uint32_t action = (uint32_t)((const volatile int32_t *)actions)[place.row];
    if (!slot_take(pool, place.slot, action)) {
        return slot_answer_illegal(pool, place, member);
    }
    put_u8(slab, place, TY_COLUMN_READY, 0);
    slot_play_on(pool, place);
    return false;
}
