/* One slot of a pool: playing on, ending, beginning again, and the answers of members. */
#include "pool/row.h"
#include "registry.h"

#include <assert.h>
#include <string.h>

enum { SLOT_UNASKED_MAX = 64 /* episodes in a row that may pass without asking a member */ };

/* Adds what a step earned to the accounts of every seat; that is mostly nothing. */
static inline void slot_earn(const TyPool *pool, Slot *slot, const int32_t *reward)
{
    int32_t any = 0;
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        any |= reward[seat];
    }
    if (any == 0) {
        return;
    }
    for (uint32_t seat = 0; seat < pool->shape->players; seat++) {
        slot->pending[seat] += reward[seat];
        slot->total[seat] += reward[seat];
        slot->since[seat] += reward[seat];
    }
}

/* Steps the slot's state. Where events are kept, a tape listens. */
INLINE bool slot_step(TyPool *pool, uint32_t index, uint32_t action, int32_t *reward)
{
    void *state = slot_state(pool_slot(pool, index));
    if (pool->chronicles == NULL && pool->histories == NULL) {
        return ty_step(pool->ruleset, state, action, reward, NULL);
    }
    TyTape tape;
    bool accepted =
        ty_step(pool->ruleset, state, action, reward, chronicle_tape(pool, index, &tape));
    if (accepted) {
        chronicle_pass(pool, index);
        history_keep(pool, index);
    }
    return accepted;
}

/* Sets the slot's state up, in the same way. */
static void slot_reset(TyPool *pool, uint32_t index)
{
    Slot *slot = pool_slot(pool, index);
    TyTape tape;
    ty_reset(pool->ruleset, slot_state(slot), slot->seed, chronicle_tape(pool, index, &tape));
    chronicle_pass(pool, index);
    history_keep(pool, index);
}

/* Takes `action` for the seat to act; false, and nothing changed, if it is not legal. */
INLINE bool slot_take(TyPool *pool, uint32_t index, uint32_t action)
{
    int32_t reward[TY_SEATS_MAX] = {0};
    Slot *slot = pool_slot(pool, index);
    void *state = slot_state(slot);
    int8_t seat = ty_head(state)->seat;
    if (!slot_step(pool, index, action, reward)) {
        return false;
    }
    slot->last_seat = seat;
    slot->steps[seat]++;
    slot_earn(pool, slot, reward);
    if (pool->observer.decision != NULL) {
        pool->observer.decision(pool->observer.user, index, action, reward, state);
    }
    return true;
}

/* Remembers that the pool's stop was asked and said yes: an answer given after that is no answer.
 */
typedef struct Latch {
    const TyStop *stop;
    bool stopped;
} Latch;

static bool latch_asked(void *user)
{
    Latch *latch = user;
    latch->stopped = latch->stopped || latch->stop->asked(latch->stop->user);
    return latch->stopped;
}

/* The answer of an agent that thinks for long. False, and it remembers what it did before, if it
 * was interrupted. */
static bool slot_agent_think(TyPool *pool, Place place, uint32_t seat, TyNotes *notes,
                             uint32_t *action)
{
    const TyAgent *agent = pool->config.agent[seat];
    uint64_t before[TY_AGENT_MEMORY_MAX / sizeof(uint64_t)];
    void *memory = agent_memory(pool, place.slot, seat);
    Latch latch = {.stop = pool->stop};
    const TyStop stop = {.asked = latch_asked, .user = &latch};
    memcpy(before, memory, agent->memory_size);
    *action = agent_act(agent, memory, pool->ruleset, slot_state(pool_slot(pool, place.slot)),
                        &stop, notes);
    if (latch.stopped) {
        memcpy(memory, before, agent->memory_size);
    }
    return !latch.stopped;
}

/* Lets the agent of `seat` act; false, and nothing changed, if it was interrupted. */
static bool slot_agent_act(TyPool *pool, Place place, uint32_t seat)
{
    const TyAgent *agent = pool->config.agent[seat];
    uint32_t action = 0;
    TyNotes told;
    TyNotes *notes = pool->observer.noted != NULL ? &told : NULL;
    if (pool->stop == NULL || !agent->plans) {
        action = agent_act(agent, agent_memory(pool, place.slot, seat), pool->ruleset,
                           slot_state(pool_slot(pool, place.slot)), NULL, notes);
    } else if (!slot_agent_think(pool, place, seat, notes, &action)) {
        return false;
    }
    if (notes != NULL && notes->count > 0) {
        pool->observer.noted(pool->observer.user, place.slot, notes);
    }
    bool accepted = slot_take(pool, place.slot, action);
    assert(accepted);
    (void)accepted;
    return true;
}

INLINE SlotEnding state_ending(const TyPool *pool, const void *state)
{
    const TyHead *head = ty_head(state);
    if (head->over) {
        return head->truncated ? SLOT_TRUNCATED : SLOT_TERMINATED;
    }
    bool cut = pool->config.max_steps > 0 && head->steps >= pool->config.max_steps;
    return cut ? SLOT_TRUNCATED : SLOT_RUNNING;
}

bool slot_rests(const TyPool *pool, uint32_t slot)
{
    Slot *at = pool_slot(pool, slot);
    const TyHead *head = ty_head(slot_state(at));
    return at->ending == SLOT_RUNNING && !pool->agents_only && at->waiting == 0 &&
           pool->config.agent[head->seat] != NULL && pool->begun;
}

/* Built-in agents act until a member has to or the episode is over. Where there are only agents,
 * each act waits for a step. If they are interrupted, the slot rests: it waits for nobody, and an
 * agent is to act. */
INLINE SlotEnding slot_agents_play(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    const TyHead *head = ty_head(slot_state(slot));
    SlotEnding ending = state_ending(pool, head);
    while (ending == SLOT_RUNNING && pool->config.agent[head->seat] != NULL && !pool->agents_only) {
        if (pool_is_stopped(pool) || !slot_agent_act(pool, place, (uint32_t)head->seat)) {
            slot->waiting = 0;
            atomic_fetch_add_explicit(&pool->resting[place.group], 1, memory_order_relaxed);
            return SLOT_RESTING;
        }
        ending = state_ending(pool, head);
    }
    return ending;
}

/* The members that are present and own a seat, a bit for each; if none was given any, the
 * director. */
static uint8_t members_attending(const TyPool *pool)
{
    uint8_t attending = pool->agents_only && pool->members[0].present;
    for (uint32_t seat = 0; seat < pool->shape->seats; seat++) {
        uint32_t owner = pool->config.owner[seat];
        if (pool->config.agent[seat] == NULL && pool->members[owner].present) {
            attending |= (uint8_t)(1u << owner);
        }
    }
    return attending;
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

/* True if the member's rows are looked at: it has seats, or is the director. */
static bool member_speaks(const TyPool *pool, uint32_t member)
{
    return member == 0 || pool->members[member].slab.seat_count > 0;
}

void slot_wait_for_members(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    slot->waiting = members_attending(pool);
    for (uint32_t member = 0; member < pool->config.members; member++) {
        if (member_speaks(pool, member)) {
            put_u8(&pool->members[member].slab, place, TY_COLUMN_READY,
                   slot->waiting >> member & 1);
        }
    }
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
    ending_row_put(&pool->members[0].slab, place, row);
}

static void episode_count(TyPool *pool, Place place)
{
    crew_note_episode(&pool->crew, place.row, pool->members[0].slab.group[place.group].rows);
}

/* True if the ending may be told; otherwise the slot holds it, as `held` says. */
static bool ending_note(TyPool *pool, Place place, const TyEnding *ending, uint8_t held)
{
    Slot *slot = pool_slot(pool, place.slot);
    if (pool->observer.end != NULL &&
        !pool->observer.end(pool->observer.user, place.slot, ending, slot_state(slot))) {
        slot->ending = held;
        slot->waiting = 0;
        atomic_fetch_add_explicit(&pool->held, 1, memory_order_relaxed);
        return false;
    }
    episode_count(pool, place);
    return true;
}

/* The ending of an episode that nobody cut off. */
static TyEnding ending_of_play(const void *state)
{
    static const int32_t nothing[TY_SEATS_MAX];
    const TyHead *head = ty_head(state);
    TyCause cause = head->truncated ? TY_CAUSE_CAP : TY_CAUSE_RULES;
    return (TyEnding){.cause = head->over ? cause : TY_CAUSE_STEPS, .seat = -1, .reward = nothing};
}

/* The ending that the member's row shows, of an episode that a new one has followed. */
static SlotEnding row_ending(const TyPool *pool, Place place)
{
    const TySlab *slab = &pool->members[0].slab;
    if (*(const uint8_t *)cell(slab, place, TY_COLUMN_TERMINATED, 1)) {
        return SLOT_TERMINATED;
    }
    return *(const uint8_t *)cell(slab, place, TY_COLUMN_TRUNCATED, 1) ? SLOT_TRUNCATED
                                                                       : SLOT_RUNNING;
}

/* In same_step mode new episodes begin until one asks the member; those in between, in which it was
 * never asked, leave no trace. If none asks, the ending stands as in next_step mode. If the agents
 * are interrupted, the row keeps the ending until slot_resume. */
static void slot_roll_over(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    bool begun = slot->ending == SLOT_RUNNING;
    SlotEnding told = begun ? row_ending(pool, place) : (SlotEnding)slot->ending;
    EndingRow row = ending_row_keep(&pool->members[0].slab, place, told);
    for (uint32_t i = 0; i < SLOT_UNASKED_MAX; i++) {
        if (!begun || i > 0) {
            slot_begin_next(pool, place);
        }
        SlotEnding ending = slot_agents_play(pool, place);
        if (ending == SLOT_RESTING) {
            return;
        }
        if (ending == SLOT_RUNNING) {
            row_ask_under_ending(pool, place, &row);
            return;
        }
        slot->ending = (uint8_t)ending;
        TyEnding unseen = ending_of_play(slot_state(slot));
        if (!ending_note(pool, place, &unseen, (uint8_t)row.ending | SLOT_HELD_UNSEEN)) {
            slot_blank(pool, place);
            return;
        }
    }
    slot_wait_for_members(pool, place);
}

/* Tells the ending, and goes on as the pool is reset. */
static void slot_tell(TyPool *pool, Place place, SlotEnding ending)
{
    slot_close(pool, place, ending);
    if (pool->config.autoreset == TY_AUTORESET_SAME_STEP && !pool->draining) {
        slot_roll_over(pool, place);
    }
}

static void slot_finish(TyPool *pool, Place place, const TyEnding *ending)
{
    Slot *slot = pool_slot(pool, place.slot);
    bool whole = ending->cause == TY_CAUSE_RULES || ending->cause == TY_CAUSE_FORFEIT;
    SlotEnding kind = whole ? SLOT_TERMINATED : SLOT_TRUNCATED;
    slot_earn(pool, slot, ending->reward);
    memcpy(slot->final, slot->pending, sizeof slot->final);
    if (ending_note(pool, place, ending, (uint8_t)kind | SLOT_HELD_OWN)) {
        slot_tell(pool, place, kind);
    }
}

void slot_forget_held(TyPool *pool, uint32_t index)
{
    Slot *slot = pool_slot(pool, index);
    if (slot_is_held(slot)) {
        slot->ending &= (uint8_t)~SLOT_HELD;
        atomic_fetch_sub_explicit(&pool->held, 1, memory_order_relaxed);
    }
}

void slot_release(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    bool own = (slot->ending & SLOT_HELD_OWN) != 0;
    slot_forget_held(pool, place.slot);
    episode_count(pool, place);
    if (own) {
        slot_tell(pool, place, (SlotEnding)slot->ending);
    } else {
        slot_roll_over(pool, place);
    }
}

void slot_play_on(TyPool *pool, Place place)
{
    SlotEnding ended = slot_agents_play(pool, place);
    if (ended == SLOT_RUNNING) {
        row_ask(pool, place);
    }
    if (ended == SLOT_RESTING && pool->config.autoreset == TY_AUTORESET_SAME_STEP) {
        slot_blank(pool, place); /* the ending that the row showed was told */
    }
    if (ended == SLOT_RUNNING || ended == SLOT_RESTING) {
        return;
    }
    TyEnding ending = ending_of_play(slot_state(pool_slot(pool, place.slot)));
    slot_finish(pool, place, &ending);
}

void slot_resume(TyPool *pool, Place place)
{
    if (pool->config.autoreset == TY_AUTORESET_SAME_STEP &&
        row_ending(pool, place) != SLOT_RUNNING) {
        slot_roll_over(pool, place);
    } else {
        slot_play_on(pool, place);
    }
}

void slot_truncate(TyPool *pool, Place place)
{
    const int32_t nothing[TY_SEATS_MAX] = {0};
    const TyEnding ending = {.cause = TY_CAUSE_CUT, .seat = -1, .reward = nothing};
    slot_finish(pool, place, &ending);
}

void agent_start(TyPool *pool, uint32_t slot, uint32_t seat)
{
    ty_agent_start(pool->config.agent[seat], agent_memory(pool, slot, seat), pool->ruleset, seat,
                   seed_of_agent(pool, slot, seat));
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
    slot_forget_held(pool, place.slot);
    slot->seed = seed_of_chance(pool, place.slot);
    slot->ending = SLOT_RUNNING;
    slot->last_seat = -1;
    slot->replaced = 0;
    memset(slot->pending, 0, sizeof slot->pending);
    memset(slot->since, 0, sizeof slot->since);
    memset(slot->total, 0, sizeof slot->total);
    memset(slot->steps, 0, sizeof slot->steps);
    slot_reset(pool, place.slot);
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
        for (uint32_t i = 0; member_speaks(pool, member) && i < 4; i++) {
            put_u8(&pool->members[member].slab, place, flags[i], 0);
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
    slot_tell(pool, place, (SlotEnding)slot->ending);
}

/* The member that is asked in a running episode, if it is absent; otherwise -1. */
static int32_t slot_absentee(const TyPool *pool, const Slot *slot)
{
    int8_t seat = ty_head(slot + 1)->seat;
    if (slot->ending != SLOT_RUNNING || pool->config.agent[seat] != NULL) {
        return -1;
    }
    uint32_t member = pool->config.owner[seat];
    return pool->members[member].present ? -1 : (int32_t)member;
}

void slot_take_back(TyPool *pool, Place place)
{
    Slot *slot = pool_slot(pool, place.slot);
    int32_t member = slot_absentee(pool, slot);
    if (member < 0) {
        return;
    }
    const TySlab *slab = &pool->members[member].slab;
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

/* The seat that acted against the mask loses one; in a cooperative game all do. */
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
    const uint8_t *mask = cell(&pool->members[member].slab, place, TY_COLUMN_MASK, 1);
    return ty_sample(mask, pool->shape->action_count, seed_of_replaced(pool, place.slot),
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
        put_u8(&pool->members[member].slab, place, TY_COLUMN_READY, 0);
        slot_take(pool, place.slot, action_replace(pool, place, member));
        slot_play_on(pool, place);
        break;
    case TY_ILLEGAL_LOSE:
        put_u8(&pool->members[member].slab, place, TY_COLUMN_READY, 0);
        slot_forfeit(pool, place);
        break;
    }
    put_u8(&pool->members[member].slab, place, TY_COLUMN_ILLEGAL, 1);
    return pool->config.illegal == TY_ILLEGAL_ERROR;
}

void slot_acknowledge(TyPool *pool, Place place, uint32_t member)
{
    Slot *slot = pool_slot(pool, place.slot);
    put_u8(&pool->members[member].slab, place, TY_COLUMN_READY, 0);
    put_u8(&pool->members[member].slab, place, TY_COLUMN_TERMINATED, 0);
    put_u8(&pool->members[member].slab, place, TY_COLUMN_TRUNCATED, 0);
    slot->waiting &= (uint8_t)~(1u << member);
    if (slot->waiting == 0 && !pool->draining) {
        slot_begin_next(pool, place);
        slot_play_on(pool, place);
    }
}

/* Others may write there at any time: it is read once. */
static uint32_t action_read(const TySlab *slab, Place place)
{
    const int32_t *actions = ty_slab_column(slab, place.group, TY_COLUMN_ACTION);
    return (uint32_t)((const volatile int32_t *)actions)[place.row];
}

bool slot_answer(TyPool *pool, Place place, uint32_t member)
{
    const TySlab *slab = &pool->members[member].slab;
    Slot *slot = pool_slot(pool, place.slot);
    put_u8(slab, place, TY_COLUMN_ILLEGAL, 0);
    if (slot->ending != SLOT_RUNNING) {
        slot_acknowledge(pool, place, member);
        return false;
    }
    if (pool->agents_only) {
        slot_agent_act(pool, place, (uint32_t)ty_head(slot_state(slot))->seat);
    } else if (!slot_take(pool, place.slot, action_read(slab, place))) {
        return slot_answer_illegal(pool, place, member);
    }
    put_u8(slab, place, TY_COLUMN_READY, 0);
    slot_play_on(pool, place);
    return false;
}
