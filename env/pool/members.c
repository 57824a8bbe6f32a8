/* The members of a pool: where their slabs lie, their coming and going, and who owns which seat. */
#include "core/status.h"
#include "pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

void ty_pool_attach(TyPool *pool, uint32_t member, uint8_t *rows, uint8_t *commands)
{
    TySlab *slab = &pool->members[member].slab;
    memcpy(rows, slab->rows, slab->rows_size);
    memcpy(commands, slab->commands, slab->commands_size);
    slab->rows = rows;
    slab->commands = commands;
    free(pool->members[member].memory);
    pool->members[member].memory = NULL;
}

TyStatus ty_pool_detach(TyPool *pool, uint32_t member)
{
    const TySlab *slab = &pool->members[member].slab;
    uint8_t *memory = pool->members[member].memory;
    if (memory == NULL) {
        memory = aligned_alloc(TY_SLAB_ALIGN, slab->rows_size + slab->commands_size);
    }
    if (memory == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the slab of member %u", member);
    }
    if (memory != slab->rows) {
        ty_pool_attach(pool, member, memory, memory + slab->rows_size);
        pool->members[member].memory = memory;
    }
    return ty_status_ok();
}

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
    pool->members[member].present = present;
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        Slot *slot = pool_slot(pool, i);
        bool ended = slot->ending != SLOT_RUNNING;
        if (ended && !present && (slot->waiting & bit) != 0) {
            slot_acknowledge(pool, place_of(pool, i), member);
        } else if (ended && present && slot->waiting == 0 && !slot_is_held(slot) &&
                   pool->config.autoreset != TY_AUTORESET_DISABLED) {
            slot_wait_for_members(pool, place_of(pool, i));
        }
    }
}

static void slot_cut_off(TyPool *pool, uint32_t slot, uint32_t member)
{
    if (member_is_asked(pool, slot, member)) {
        Place place = place_of(pool, slot);
        slot_blank(pool, place);
        slot_truncate(pool, place);
    }
}

void ty_pool_truncate(TyPool *pool, uint32_t member)
{
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        slot_cut_off(pool, i, member);
    }
}

void ty_pool_truncate_slots(TyPool *pool, uint32_t member, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        slot_cut_off(pool, slots[i], member);
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
    const TySlab *slab = &pool->members[member].slab;
    uint8_t *memory[TY_SEATS_MAX] = {NULL};
    bool whole = true;
    for (uint32_t k = 0; whole && k < slab->seat_count; k++) {
        memory[k] = agents_allocate(pool, agent);
        whole = memory[k] != NULL;
    }
    if (!whole) {
        memories_free(memory, TY_SEATS_MAX);
        return ty_status_fail(TY_NO_MEMORY, "no memory for the agent in %u slots",
                              pool->config.slots);
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
    return ty_status_ok();
}

/* True if the member owns these seats and no others. */
static bool member_has_exactly(const TyPool *pool, uint32_t member, uint8_t seats)
{
    uint8_t owned = 0;
    for (uint32_t k = 0; k < pool->members[member].slab.seat_count; k++) {
        owned |= (uint8_t)(1u << pool->members[member].slab.seats[k]);
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

/* Memory for the slabs of all absent members, as they would be with these owners; false, and none,
 * if there is too little. The owners stay what they are. */
static bool slabs_prepare(TyPool *pool, uint32_t member, uint8_t seats, uint8_t **memory)
{
    uint8_t owner[TY_SEATS_MAX];
    bool whole = true;
    memcpy(owner, pool->config.owner, sizeof owner);
    seats_give(pool, member, seats);
    for (uint32_t i = 0; whole && i < pool->config.members; i++) {
        if (!pool->members[i].present) {
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
        return ty_status_ok();
    }
    if (!slabs_prepare(pool, member, seats, memory)) {
        memories_free(memory, TY_MEMBERS_MAX);
        return ty_status_fail(TY_NO_MEMORY, "no memory for the rows of %u slots",
                              pool->config.slots);
    }
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        slot_take_back(pool, place_of(pool, i));
    }
    seats_give(pool, member, seats);
    for (uint32_t i = 0; i < pool->config.members; i++) {
        if (!pool->members[i].present) {
            slab_move(pool, i, memory[i]);
            shown_forget(pool, i);
        }
    }
    for (uint32_t i = 0; i < pool->config.slots; i++) {
        slot_ask_again(pool, place_of(pool, i));
    }
    return ty_status_ok();
}
