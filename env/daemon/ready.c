/* The rows that wait for members: rings of fresh rows, and what was given. */
#include "daemon/ready.h"

#include "daemon/worker_internal.h"

#include <stdlib.h>
#include <string.h>

bool ready_open(ReadyRows *rows, uint32_t slots)
{
    size_t places = (size_t)slots + 1;
    *rows = (ReadyRows){.slots = slots};
    rows->given = calloc(places, sizeof rows->given[0]);
    rows->asked = calloc(places, sizeof rows->asked[0]);
    rows->next = malloc(places * sizeof rows->next[0]);
    rows->before = malloc(places * sizeof rows->before[0]);
    rows->told = calloc(places, sizeof rows->told[0]);
    if (rows->given == NULL || rows->asked == NULL || rows->next == NULL || rows->before == NULL ||
        rows->told == NULL) {
        return false;
    }
    for (uint32_t i = 0; i <= slots; i++) {
        rows->next[i] = rows->before[i] = i;
    }
    return true;
}

void ready_close(ReadyRows *rows)
{
    free(rows->given);
    free(rows->asked);
    free(rows->next);
    free(rows->before);
    free(rows->told);
    *rows = (ReadyRows){.slots = 0};
}

/* ---- The ring ---- */

static void ring_add(ReadyRows *rows, uint32_t slot)
{
    uint32_t last = rows->before[rows->slots];
    if (rows->next[slot] == slot) {
        rows->before[slot] = last;
        rows->next[slot] = rows->slots;
        rows->next[last] = slot;
        rows->before[rows->slots] = slot;
        rows->fresh++;
    }
}

static void ring_remove(ReadyRows *rows, uint32_t slot)
{
    if (rows->next[slot] != slot) {
        rows->next[rows->before[slot]] = rows->next[slot];
        rows->before[rows->next[slot]] = rows->before[slot];
        rows->next[slot] = rows->before[slot] = slot;
        rows->fresh--;
    }
}

uint32_t ready_first(const ReadyRows *rows, uint32_t limit, uint32_t *slots)
{
    uint32_t count = 0;
    for (uint32_t at = rows->next[rows->slots]; at != rows->slots && count < limit;) {
        slots[count++] = at;
        at = rows->next[at];
    }
    return count;
}

void ready_drop(ReadyRows *rows, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ring_remove(rows, slots[i]);
    }
}

/* ---- Looking at rows ---- */

/* The columns of a member's group that say what its rows tell. */
typedef struct Telling {
    uint32_t first; /* slots of the group */
    uint32_t end;
    const uint8_t *ready;
    const uint8_t *terminated;
    const uint8_t *truncated;
    const TyPool *resting;   /* NULL: no slot of the group rests */
    const uint32_t *episode; /* NULL: whoever was told of an ending is asked to answer it */
} Telling;

static Telling telling_of(const Worker *worker, uint32_t member, uint32_t group)
{
    const TySlab *slab = ty_pool_slab(worker->pool, member);
    const TyGroupLayout *layout = &slab->group[group];
    return (Telling){
        .first = layout->first,
        .end = layout->first + layout->rows,
        .ready = ty_slab_column(slab, group, TY_COLUMN_READY),
        .terminated = ty_slab_column(slab, group, TY_COLUMN_TERMINATED),
        .truncated = ty_slab_column(slab, group, TY_COLUMN_TRUNCATED),
        .resting = pool_rests(worker->pool, (int32_t)group) ? worker->pool : NULL,
        .episode = slab->seat_count == 0 ? ty_slab_column(slab, group, TY_COLUMN_EPISODE) : NULL,
    };
}

static uint32_t slot_group(const Worker *worker, uint32_t slot)
{
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    return ty_slot_group(config->slots, config->groups, slot);
}

/* Of an ending after which agents play on already, the row tells together with what they ask. */
static bool row_tells_ending(const Telling *telling, uint32_t slot)
{
    uint32_t row = slot - telling->first;
    return (telling->terminated[row] | telling->truncated[row]) != 0 &&
           (telling->resting == NULL || !pool_slot_rests(telling->resting, slot));
}

static void row_refresh(ReadyRows *rows, const Telling *telling, uint32_t group, uint32_t slot)
{
    uint32_t row = slot - telling->first;
    uint8_t asks = telling->ready[row];
    bool ended = row_tells_ending(telling, slot);
    rows->ready[group] += asks;
    rows->ready[group] -= rows->asked[slot];
    rows->asked[slot] = asks;
    if (!asks && !ended) {
        rows->given[slot] = 0;
        ring_remove(rows, slot);
        return;
    }
    if (telling->episode != NULL && rows->told[slot] != telling->episode[row] + 1) {
        rows->given[slot] = 0;
    }
    if (!rows->given[slot]) {
        ring_add(rows, slot);
    }
}

/* Only this thread writes it. */
static void looks_count(Worker *worker, uint32_t rows)
{
    uint64_t looks = atomic_load_explicit(&worker->looks, memory_order_relaxed);
    atomic_store_explicit(&worker->looks, looks + rows, memory_order_relaxed);
}

void ready_refresh(Worker *worker, uint32_t group)
{
    uint32_t members = worker->listeners > 0 ? ty_pool_config(worker->pool)->members : 0;
    for (uint32_t i = 0; i < members; i++) {
        Telling telling = telling_of(worker, i, group);
        looks_count(worker, telling.end - telling.first);
        for (uint32_t slot = telling.first; slot < telling.end; slot++) {
            row_refresh(&worker->members[i].rows, &telling, group, slot);
        }
    }
}

void ready_refresh_slots(Worker *worker, const uint32_t *slots, uint32_t count)
{
    uint32_t members = worker->listeners > 0 ? ty_pool_config(worker->pool)->members : 0;
    for (uint32_t i = 0; i < members; i++) {
        Telling telling = {.end = 0};
        uint32_t group = 0;
        looks_count(worker, count);
        for (uint32_t k = 0; k < count; k++) {
            if (slots[k] < telling.first || slots[k] >= telling.end) {
                group = slot_group(worker, slots[k]);
                telling = telling_of(worker, i, group);
            }
            row_refresh(&worker->members[i].rows, &telling, group, slots[k]);
        }
    }
}

void ready_refresh_all(Worker *worker)
{
    for (uint32_t group = 0; group < ty_pool_config(worker->pool)->groups; group++) {
        ready_refresh(worker, group);
    }
}

void ready_renew(Worker *worker, const uint32_t *slots, uint32_t count)
{
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    for (uint32_t i = 0; i < config->members; i++) {
        uint8_t *given = worker->members[i].rows.given;
        if (slots == NULL) {
            memset(given, 0, config->slots);
        }
        for (uint32_t k = 0; slots != NULL && k < count; k++) {
            given[slots[k]] = 0;
        }
    }
    if (slots == NULL) {
        ready_refresh_all(worker);
    } else {
        ready_refresh_slots(worker, slots, count);
    }
}

void ready_forget(Worker *worker, uint32_t member)
{
    memset(worker->members[member].rows.given, 0, ty_pool_config(worker->pool)->slots);
    ready_refresh_all(worker);
}

/* ---- Members ---- */

void ready_listen(Worker *worker, uint32_t member)
{
    if (!worker->members[member].listens) {
        worker->members[member].listens = true;
        if (worker->listeners++ == 0) {
            ready_refresh_all(worker);
        }
    }
}

void ready_unlisten(Worker *worker, uint32_t member)
{
    worker->listeners -= worker->members[member].listens;
    worker->members[member].listens = false;
}

uint32_t ready_give(Worker *worker, uint32_t member, SlotRange slots, uint32_t *ended)
{
    ReadyRows *rows = &worker->members[member].rows;
    Telling telling = {.end = 0};
    uint32_t ended_count = 0;
    looks_count(worker, slots.count);
    for (uint32_t i = 0; i < slots.count; i++) {
        uint32_t slot = slots.list != NULL ? slots.list[i] : slots.first + i;
        if (slot < telling.first || slot >= telling.end) {
            telling = telling_of(worker, member, slot_group(worker, slot));
        }
        uint32_t row = slot - telling.first;
        bool over = row_tells_ending(&telling, slot);
        if (over) {
            ended[ended_count++] = i;
        }
        rows->given[slot] = over || telling.ready[row];
        rows->told[slot] = telling.episode != NULL ? telling.episode[row] + 1 : 0;
        ring_remove(rows, slot);
    }
    return ended_count;
}

void ready_take_back(Worker *worker, uint32_t member, SlotRange slots)
{
    ReadyRows *rows = &worker->members[member].rows;
    for (uint32_t i = 0; i < slots.count; i++) {
        uint32_t slot = slots.list != NULL ? slots.list[i] : slots.first + i;
        uint32_t group = slot_group(worker, slot);
        Telling telling = telling_of(worker, member, group);
        rows->given[slot] = 0;
        rows->told[slot] = 0;
        row_refresh(rows, &telling, group, slot);
    }
}

uint32_t ready_count(const Worker *worker, uint32_t member, int32_t group)
{
    const uint32_t *ready = worker->members[member].rows.ready;
    uint32_t count = 0;
    if (group >= 0) {
        return ready[group];
    }
    for (uint32_t i = 0; i < ty_pool_config(worker->pool)->groups; i++) {
        count += ready[i];
    }
    return count;
}

/* True if an ending of the group (-1: of any) is held back. */
static bool group_is_held(const Worker *worker, int32_t group)
{
    uint32_t left = ty_pool_held(worker->pool);
    bool held = left > 0 && group < 0;
    for (uint32_t i = 0; !held && left > 0 && i < ty_pool_config(worker->pool)->slots; i++) {
        bool here = ty_pool_slot_held(worker->pool, i);
        left -= here;
        held = here && slot_group(worker, i) == (uint32_t)group;
    }
    return held;
}

bool ready_elsewhere(const Worker *worker, uint32_t member, int32_t group)
{
    if (group_is_held(worker, group)) {
        return true;
    }
    for (uint32_t i = 0; i < ty_pool_config(worker->pool)->members; i++) {
        if (i != member && ready_count(worker, i, group) > 0) {
            return true;
        }
    }
    return false;
}
