/* step, send, recv and reset: actions in, rows out, perhaps when others have acted. */
#include "core/bytes.h"
#include "daemon/worker_internal.h"

#include <string.h>

/* True if the member has a seat and may step. */
static bool member_steps(Job *job)
{
    if (ty_pool_slab(job->worker->pool, job->member)->seat_count == 0) {
        return job_refuse(job, ERROR_denied, -1, "this member has no seat");
    }
    return job_member_reads(job);
}

static bool actions_fit(Job *job, uint32_t count)
{
    uint32_t size = job->request.values[FIELD_OF_ACTIONS].size;
    return size == (uint64_t)count * 4 ||
           job_refuse(job, ERROR_bad_request, -1,
                      "actions: has %u bytes; wanted are %u for %u rows of 4 bytes", size,
                      count * 4, count);
}

/* ---- Actions ----
 *
 * Both operations take actions in the same way, and only for rows that the member was given. */

static void note_error(Job *job, RowError error)
{
    job->ignored += error.why == ERROR_not_given;
    if (job->error_count < JOB_ERRORS_MAX) {
        job->errors[job->error_count++] = error;
    }
}

/* Where the pool reads the member's action in a slot, and says that it refused it. */
static int32_t *action_place(const Job *job, uint32_t slot, const uint8_t **illegal)
{
    const TySlab *slab = ty_pool_slab(job->worker->pool, job->member);
    uint32_t group = ty_slot_group(ty_pool_config(job->worker->pool)->slots, slab->groups, slot);
    uint32_t row = slot - slab->group[group].first;
    *illegal = (const uint8_t *)ty_slab_column(slab, group, TY_COLUMN_ILLEGAL) + row;
    return (int32_t *)ty_slab_column(slab, group, TY_COLUMN_ACTION) + row;
}

/* Puts the actions for job->slots in place, and the rows in which they count into `chosen`. Returns
 * how many these are. A row that was answered is given anew by its next reply. */
static uint32_t slots_choose(Job *job, uint32_t *chosen)
{
    const uint8_t *bytes = job->request.values[FIELD_OF_ACTIONS].bytes;
    ReadyRows *rows = &job->worker->members[job->member].rows;
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->slot_count; i++) {
        uint32_t slot = job->slots[i];
        const uint8_t *illegal;
        int32_t value;
        memcpy(&value, bytes + (size_t)i * 4, sizeof value);
        if (!rows->asked[slot] || !rows->given[slot]) {
            note_error(job, (RowError){i, slot, value,
                                       rows->asked[slot] ? ERROR_not_given : ERROR_bad_argument});
            continue;
        }
        rows->given[slot] = 0;
        *action_place(job, slot, &illegal) = value;
        chosen[count++] = i;
    }
    return count;
}

/* Takes the actions for job->slots, of any group. False if there is no memory for that; otherwise
 * `taken` says how many were taken. */
static bool slots_answer(Job *job, uint32_t *taken)
{
    Worker *worker = job->worker;
    uint32_t *chosen = job_hold(job, job->slot_count * 2 * sizeof chosen[0]);
    uint32_t refused = 0;
    if (chosen == NULL) {
        return false;
    }
    uint32_t count = slots_choose(job, chosen);
    uint32_t *slots = chosen + job->slot_count;
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = job->slots[chosen[i]];
    }
    ty_pool_step_slots(worker->pool, job->member, slots, count, &refused);
    for (uint32_t i = 0; refused > 0 && i < count; i++) {
        const uint8_t *illegal;
        int32_t action = *action_place(job, slots[i], &illegal);
        if (*illegal) {
            note_error(job, (RowError){chosen[i], slots[i], action, ERROR_illegal_action});
        }
    }
    ready_refresh_slots(worker, slots, count);
    *taken = count - refused;
    return true;
}

/* Takes the actions for all rows of a group. Those for rows that the member was not given are
 * ignored: they fill the place of a row that it has not seen. */
static void group_answer(Job *job, uint32_t group)
{
    Worker *worker = job->worker;
    const TySlab *slab = ty_pool_slab(worker->pool, job->member);
    const TyGroupLayout *layout = &slab->group[group];
    const WireValue *actions = &job->request.values[FIELD_OF_ACTIONS];
    const uint8_t *illegal = ty_slab_column(slab, group, TY_COLUMN_ILLEGAL);
    int32_t *action = ty_slab_column(slab, group, TY_COLUMN_ACTION);
    uint8_t *given = worker->members[job->member].rows.given + layout->first;
    const uint8_t *asked = worker->members[job->member].rows.asked + layout->first;
    uint32_t refused = 0;
    memcpy(action, actions->bytes, actions->size);
    ty_pool_step_some(worker->pool, job->member, group, given, &refused);
    for (uint32_t row = 0; row < layout->rows; row++) {
        bool counted = asked[row] && given[row];
        if (refused > 0 && counted && illegal[row]) {
            note_error(job,
                       (RowError){row, layout->first + row, action[row], ERROR_illegal_action});
        }
        job->ignored += asked[row] && !given[row];
        given[row] = given[row] && !counted;
    }
    ready_refresh(worker, group);
}

/* ---- Notes ---- */

enum { NOTE_SIZE = 20 /* bytes of one on the wire */ };

static float wire_float(const uint8_t *bytes)
{
    uint32_t bits = load_le32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Whether a note is of an action that is legal in its row; of rows that the member was not given,
 * nothing is asked. */
static bool note_fits(Job *job, uint32_t index, uint32_t slot, uint32_t action)
{
    const TySlab *slab = ty_pool_slab(job->worker->pool, job->member);
    const ReadyRows *rows = &job->worker->members[job->member].rows;
    uint32_t slots = ty_pool_config(job->worker->pool)->slots;
    uint32_t actions = ty_shape(job->worker->ruleset)->action_count;
    if (slot >= slots) {
        return job_refuse(job, ERROR_bad_argument, index,
                          "notes: entry %u names slot %u; the pool has slots 0..%u", index, slot,
                          slots - 1);
    }
    if (!rows->asked[slot] || !rows->given[slot]) {
        return true;
    }
    uint32_t group = ty_slot_group(slots, slab->groups, slot);
    const uint8_t *mask = (const uint8_t *)ty_slab_column(slab, group, TY_COLUMN_MASK) +
                          (size_t)(slot - slab->group[group].first) * actions;
    return (action < actions && mask[action]) ||
           job_refuse(job, ERROR_bad_argument, index,
                      "notes: entry %u tells of action %u, which is not legal in slot %u", index,
                      action, slot);
}

static bool notes_check(Job *job)
{
    const WireValue *notes = &job->request.values[FIELD_OF_NOTES];
    bool fits =
        notes->size % NOTE_SIZE == 0 ||
        job_refuse(job, ERROR_bad_request, -1, "notes: has %u bytes; wanted is a multiple of %d",
                   notes->size, NOTE_SIZE);
    for (uint32_t i = 0; fits && i < notes->size / NOTE_SIZE; i++) {
        const uint8_t *at = notes->bytes + (size_t)i * NOTE_SIZE;
        fits = note_fits(job, i, load_le32(at), load_le32(at + 4));
    }
    return fits;
}

/* Tells the recorder what the member thinks of the choice in each slot. False if the request was
 * refused. */
static bool notes_take(Job *job)
{
    const WireValue *notes = &job->request.values[FIELD_OF_NOTES];
    const ReadyRows *rows = &job->worker->members[job->member].rows;
    TyNote told[TY_ACTIONS_MAX];
    if (!request_has(&job->request, FIELD_OF_NOTES)) {
        return true;
    }
    if (!notes_check(job)) {
        return false;
    }
    uint32_t count = notes->size / NOTE_SIZE;
    for (uint32_t i = 0; job->worker->feed != NULL && i < count;) {
        uint32_t slot = load_le32(notes->bytes + (size_t)i * NOTE_SIZE);
        uint32_t run = 0;
        for (; i < count && load_le32(notes->bytes + (size_t)i * NOTE_SIZE) == slot; i++) {
            const uint8_t *at = notes->bytes + (size_t)i * NOTE_SIZE;
            told[run < TY_ACTIONS_MAX ? run++ : run - 1] = (TyNote){
                load_le32(at + 4), wire_float(at + 8), wire_float(at + 12), wire_float(at + 16)};
        }
        if (rows->asked[slot] && rows->given[slot]) {
            recorder_note(job->worker->feed, slot, told, run);
        }
    }
    return true;
}

/* ---- step ---- */

static bool slots_in_group(Job *job, uint32_t group)
{
    const TyGroupLayout *layout = &ty_pool_slab(job->worker->pool, job->member)->group[group];
    for (uint32_t i = 0; i < job->slot_count; i++) {
        uint32_t slot = job->slots[i];
        if (slot < layout->first || slot >= layout->first + layout->rows) {
            return job_refuse(job, ERROR_bad_argument, i,
                              "slots: row %u names slot %u; group %u has slots %u..%u", i, slot,
                              group, layout->first, layout->first + layout->rows - 1);
        }
    }
    return true;
}

/* Puts the actions of a step where the pool reads them and steps; false if it was refused. */
static bool step_take(Job *job, uint32_t group)
{
    uint32_t taken = 0;
    if (!request_has(&job->request, FIELD_OF_SLOTS)) {
        if (!actions_fit(job, ty_pool_slab(job->worker->pool, job->member)->group[group].rows)) {
            return false;
        }
        group_answer(job, group);
        return true;
    }
    return job_read_slots(job) && actions_fit(job, job->slot_count) && slots_in_group(job, group) &&
           slots_answer(job, &taken);
}

/* Answers as soon as enough rows are ready, or nobody is left who could make more ready. */
static JobState step_wait(Worker *worker, Job *job)
{
    uint32_t group = (uint32_t)request_uint(&job->request, FIELD_OF_GROUP);
    uint64_t wanted = request_uint(&job->request, FIELD_OF_MIN_ROWS);
    bool due = !pool_rests(worker->pool, (int32_t)group) &&
               (ready_count(worker, job->member, (int32_t)group) >= wanted ||
                !ready_elsewhere(worker, job->member, (int32_t)group));
    if (!due && !job_is_late(job)) {
        return JOB_WAITS;
    }
    job_reply_rows(job, (int32_t)group);
    return JOB_DONE;
}

JobState job_step(Worker *worker, Job *job)
{
    uint32_t group = (uint32_t)request_uint(&job->request, FIELD_OF_GROUP);
    uint32_t groups = ty_pool_config(worker->pool)->groups;
    if (!member_steps(job)) {
        return JOB_DONE;
    }
    if (group >= groups) {
        job_refuse(job, ERROR_bad_argument, -1, "group=%u: the pool has groups 0..%u", group,
                   groups - 1);
        return JOB_DONE;
    }
    if (waiting_find(worker, job->member, OP_STEP, group) != NULL) {
        job_refuse(job, ERROR_busy, -1, "a step of group %u is still waiting", group);
        return JOB_DONE;
    }
    if (!notes_take(job) || !step_take(job, group)) {
        return JOB_DONE;
    }
    job->step = step_wait;
    worker->changed |= UINT64_C(1) << group;
    return job_think(job) ? JOB_WAITS : JOB_DONE;
}

/* ---- send ---- */

static void put_send(Writer *writer, const Job *job, const void *context)
{
    reply_uint(writer, REPLY_ACCEPTED, *(const uint32_t *)context);
    put_refused(writer, job);
}

/* Agents that think for long do so afterwards: the reply is sent at once. */
JobState job_send(Worker *worker, Job *job)
{
    uint32_t taken = 0;
    worker->defers = worker->slow;
    if (member_steps(job) && notes_take(job) && job_read_slots(job) &&
        actions_fit(job, job->slot_count) && slots_answer(job, &taken)) {
        job_reply(job, 4096, put_send, &taken);
        worker->changed = ALL_GROUPS;
    }
    worker->defers = false;
    return JOB_DONE;
}

/* ---- recv ---- */

static JobState recv_wait(Worker *worker, Job *job)
{
    const ReadyRows *rows = &worker->members[job->member].rows;
    uint32_t wanted = (uint32_t)request_uint(&job->request, FIELD_OF_MIN_ROWS);
    uint32_t limit = (uint32_t)request_uint(&job->request, FIELD_OF_MAX_ROWS);
    bool others = ready_elsewhere(worker, job->member, -1) || pool_rests(worker->pool, -1);
    if (rows->fresh < wanted && others && !job_is_late(job)) {
        return JOB_WAITS;
    }
    job->slot_count = limit < rows->fresh ? limit : rows->fresh;
    job->slots = job_hold(job, job->slot_count * sizeof job->slots[0]);
    if (job->slots != NULL) {
        ready_first(rows, job->slot_count, job->slots);
        job_reply_rows(job, -1);
    }
    return JOB_DONE;
}

JobState job_recv(Worker *worker, Job *job)
{
    if (!job_member_reads(job)) {
        return JOB_DONE;
    }
    if (waiting_find(worker, job->member, OP_RECV, 0) != NULL) {
        job_refuse(job, ERROR_busy, -1, "another recv is still waiting");
        return JOB_DONE;
    }
    job->step = recv_wait;
    return recv_wait(worker, job);
}

/* ---- reset ---- */

/* Bytes that must be as many as the pool has slots. */
static bool per_slot(Job *job, Field field, uint32_t width)
{
    uint32_t slots = ty_pool_config(job->worker->pool)->slots;
    uint32_t size = job->request.values[field].size;
    return !request_has(&job->request, field) || size == (uint64_t)slots * width ||
           job_refuse(job, ERROR_bad_request, -1, "%s: has %u bytes; wanted are %u for %u slots",
                      protocol_fields[field].name, size, slots * width, slots);
}

/* Numbers of 8 bytes for every slot, which the job holds; NULL if none are given. */
static bool numbers_read(Job *job, Field field, const uint64_t **numbers)
{
    const WireValue *given = &job->request.values[field];
    *numbers = NULL;
    if (!per_slot(job, field, sizeof **numbers)) {
        return false;
    }
    if (request_has(&job->request, field)) {
        uint64_t *copy = job_hold(job, given->size);
        if (copy == NULL) {
            return false;
        }
        memcpy(copy, given->bytes, given->size);
        *numbers = copy;
    }
    return true;
}

JobState job_reset(Worker *worker, Job *job)
{
    const WireValue *mask = &job->request.values[FIELD_OF_MASK];
    TyReset reset = {.which = request_has(&job->request, FIELD_OF_MASK) ? mask->bytes : NULL};
    if (!per_slot(job, FIELD_OF_MASK, 1) || !numbers_read(job, FIELD_OF_SEEDS, &reset.seeds) ||
        !numbers_read(job, FIELD_OF_EPISODES, &reset.episodes)) {
        return JOB_DONE;
    }
    if (job_reset_slots(job, &reset)) {
        job_reply_changed(job);
    } else {
        rows_renew(worker, NULL, 0);
        worker->changed = ALL_GROUPS;
    }
    return JOB_DONE;
}
