/* snapshot, restore, fork and resample; export, import and drop; rollout. */
#include "core/hash.h"
#include "daemon/boards.h"
#include "daemon/worker_internal.h"

#include <assert.h>
#include <string.h>

enum { COPIES_PER_THREAD = 64 /* of a rollout, that are played together */ };

/* ---- snapshot ---- */

typedef struct SnapshotNumbers {
    const uint32_t *ids;
    uint32_t count;
} SnapshotNumbers;

static void put_snapshots(Writer *writer, const Job *job, const void *context)
{
    const SnapshotNumbers *numbers = context;
    (void)job;
    reply_bytes(writer, REPLY_SNAPSHOTS, numbers->ids, numbers->count * sizeof numbers->ids[0]);
}

static void snapshots_undo(Worker *worker, const uint32_t *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        Snapshot *made = snapshot_find(&worker->snapshots, ids[i]);
        assert(made != NULL);
        snapshot_drop(&worker->snapshots, made);
    }
}

static bool slots_may_be_saved(Job *job)
{
    for (uint32_t i = 0; i < job->slot_count; i++) {
        if (!job_may_look(job, job->slots[i])) {
            return false;
        }
    }
    return true;
}

JobState job_snapshot(Worker *worker, Job *job)
{
    uint32_t size = ty_pool_snapshot_size(worker->pool);
    uint32_t *ids = NULL;
    if (!job_read_slots(job) || (ids = job_hold(job, job->slot_count * sizeof ids[0])) == NULL) {
        return JOB_DONE;
    }
    if (!slots_may_be_saved(job)) {
        return JOB_DONE;
    }
    for (uint32_t i = 0; i < job->slot_count; i++) {
        Snapshot *snapshot = snapshot_add(&worker->snapshots, worker->shared->limits, size, job);
        if (snapshot == NULL) {
            snapshots_undo(worker, ids, i);
            return JOB_DONE;
        }
        ty_pool_save(worker->pool, job->slots[i], snapshot->bytes);
        ids[i] = snapshot->id;
    }
    const SnapshotNumbers numbers = {.ids = ids, .count = job->slot_count};
    job_reply(job, numbers.count * sizeof ids[0] + 64, put_snapshots, &numbers);
    return JOB_DONE;
}

/* ---- restore ---- */

/* Which snapshot goes into row i. */
static const Snapshot *restore_snapshot(const Job *job, uint32_t row)
{
    const WireValue *list = &job->request.values[FIELD_OF_SNAPSHOTS];
    uint32_t id = 0;
    uint32_t index = list->size == sizeof id ? 0 : row;
    memcpy(&id, list->bytes + (size_t)index * sizeof id, sizeof id);
    return snapshot_find(&job->worker->snapshots, id);
}

/* Everything is checked before anything is changed: a restore is done whole or not at all. */
static bool restore_checked(Job *job)
{
    uint32_t size = job->request.values[FIELD_OF_SNAPSHOTS].size;
    if (size != sizeof(uint32_t) && size != (uint64_t)job->slot_count * sizeof(uint32_t)) {
        return job_refuse(job, ERROR_bad_request, -1,
                          "snapshots: has %u bytes; wanted is 1 number of 4 bytes, or %u", size,
                          job->slot_count);
    }
    for (uint32_t i = 0; i < job->slot_count; i++) {
        const Snapshot *snapshot = restore_snapshot(job, i);
        if (snapshot == NULL || snapshot->size != ty_pool_snapshot_size(job->worker->pool)) {
            return job_refuse(job, ERROR_bad_argument, i, "snapshots: row %u: %s", i,
                              snapshot == NULL
                                  ? "there is no such snapshot"
                                  : "the snapshot is older than a change of the seats");
        }
    }
    return true;
}

/* Shows what was changed, or refuses with what the pool said. */
static void job_reply_restored(Job *job, const TyStatus *status)
{
    if (status->code != TY_OK) {
        job_refuse_status(job, status);
    } else if (job_think(job)) {
        job_reply_changed(job);
    } else {
        rows_renew(job->worker, job->slots, job->slot_count);
        job->worker->changed = ALL_GROUPS;
    }
}

JobState job_restore(Worker *worker, Job *job)
{
    const uint64_t *keys = NULL;
    int32_t seat = -1;
    if (!job_read_slots(job) || !job_read_plan(job, &keys, &seat) || !restore_checked(job)) {
        return JOB_DONE;
    }
    for (uint32_t i = 0; i < job->slot_count; i++) {
        const Snapshot *snapshot = restore_snapshot(job, i);
        TyRestore how = {
            .keys = keys != NULL ? keys + i : NULL, .seat = seat, .foreign = snapshot->foreign};
        TyStatus status = ty_pool_restore(worker->pool, snapshot->bytes, &job->slots[i], 1, &how);
        assert(status.code == TY_OK);
        (void)status;
    }
    job_reply_restored(job, &(TyStatus){.code = TY_OK});
    return JOB_DONE;
}

/* ---- fork and resample ---- */

JobState job_fork(Worker *worker, Job *job)
{
    const uint64_t *keys = NULL;
    uint8_t *bytes = NULL;
    uint32_t slot = 0;
    int32_t seat = -1;
    if (!job_read_slot(job, &slot) || !job_may_look(job, slot) || !job_read_slots(job) ||
        !job_read_plan(job, &keys, &seat) ||
        (bytes = job_hold(job, ty_pool_snapshot_size(worker->pool))) == NULL) {
        return JOB_DONE;
    }
    ty_pool_save(worker->pool, slot, bytes);
    TyStatus status = ty_pool_restore(worker->pool, bytes, job->slots, job->slot_count,
                                      &(TyRestore){.keys = keys, .seat = seat});
    job_reply_restored(job, &status);
    return JOB_DONE;
}

JobState job_resample(Worker *worker, Job *job)
{
    const uint64_t *keys = NULL;
    uint8_t *bytes = NULL;
    int32_t seat = -1;
    if (!job_read_slots(job) || !slots_may_be_saved(job) || !job_read_plan(job, &keys, &seat) ||
        (bytes = job_hold(job, ty_pool_snapshot_size(worker->pool))) == NULL) {
        return JOB_DONE;
    }
    TyStatus status = {.code = TY_OK};
    for (uint32_t i = 0; status.code == TY_OK && i < job->slot_count; i++) {
        ty_pool_save(worker->pool, job->slots[i], bytes);
        status = ty_pool_restore(worker->pool, bytes, &job->slots[i], 1,
                                 &(TyRestore){.keys = keys + i, .seat = seat});
    }
    job_reply_restored(job, &status);
    return JOB_DONE;
}

/* ---- export, import and drop ---- */

static void put_export(Writer *writer, const Job *job, const void *context)
{
    const Snapshot *snapshot = context;
    (void)job;
    reply_bytes(writer, REPLY_DATA, snapshot->bytes, snapshot->size);
}

JobState job_export(Worker *worker, Job *job)
{
    uint32_t id = (uint32_t)request_uint(&job->request, FIELD_OF_SNAPSHOT);
    const Snapshot *snapshot = snapshot_find(&worker->snapshots, id);
    if (snapshot == NULL) {
        job_refuse(job, ERROR_bad_argument, -1, "snapshot=%u: there is no such snapshot", id);
        return JOB_DONE;
    }
    job_reply(job, snapshot->size + 64, put_export, snapshot);
    return JOB_DONE;
}

static void put_import(Writer *writer, const Job *job, const void *context)
{
    const Snapshot *snapshot = context;
    (void)job;
    reply_uint(writer, REPLY_SNAPSHOT, snapshot->id);
}

/* Bytes from outside are checked once, here: whatever is kept can be restored. */
JobState job_import(Worker *worker, Job *job)
{
    const WireValue *data = &job->request.values[FIELD_OF_DATA];
    uint32_t wanted = ty_pool_snapshot_size(worker->pool);
    if (data->size != wanted) {
        job_refuse(job, ERROR_bad_argument, -1,
                   "data: has %u bytes; a snapshot of this pool has %u", data->size, wanted);
        return JOB_DONE;
    }
    TyStatus status = ty_pool_restore(worker->pool, data->bytes, NULL, 0, NULL);
    if (status.code != TY_OK) {
        job_refuse(job, ERROR_bad_argument, -1, "data: %s", status.message);
        return JOB_DONE;
    }
    Snapshot *snapshot = snapshot_add(&worker->snapshots, worker->shared->limits, wanted, job);
    if (snapshot != NULL) {
        memcpy(snapshot->bytes, data->bytes, data->size);
        snapshot->foreign = true;
        job_reply(job, 64, put_import, snapshot);
    }
    return JOB_DONE;
}

static void put_drop(Writer *writer, const Job *job, const void *context)
{
    (void)job;
    reply_uint(writer, REPLY_DROPPED, *(const uint32_t *)context);
}

JobState job_drop(Worker *worker, Job *job)
{
    const WireValue *list = &job->request.values[FIELD_OF_SNAPSHOTS];
    uint32_t before = worker->snapshots.used;
    if (!request_has(&job->request, FIELD_OF_SNAPSHOTS)) {
        snapshot_drop_all(&worker->snapshots);
    }
    for (uint32_t i = 0; i + 4 <= list->size; i += 4) {
        uint32_t id = 0;
        memcpy(&id, list->bytes + i, sizeof id);
        Snapshot *snapshot = snapshot_find(&worker->snapshots, id);
        if (snapshot != NULL) {
            snapshot_drop(&worker->snapshots, snapshot);
        }
    }
    uint32_t dropped = before - worker->snapshots.used;
    job_reply(job, 64, put_drop, &dropped);
    return JOB_DONE;
}

/* ---- rollout ---- */

/* What is played, and what came of it: arrays that the job holds. */
typedef struct Rollout {
    uint32_t slot;
    int32_t seat;
    uint32_t count;
    const TyAgent *agent;
    const uint64_t *keys; /* NULL: none were given */
    float *earned;
    int32_t *metrics;
} Rollout;

static void put_rollout(Writer *writer, const Job *job, const void *context)
{
    const Rollout *rollout = context;
    const TyShape *shape = ty_shape(job->worker->ruleset);
    reply_bytes(writer, REPLY_EARNED, rollout->earned,
                (size_t)rollout->count * shape->players * sizeof(float));
    reply_bytes(writer, REPLY_METRICS, rollout->metrics,
                (size_t)rollout->count * shape->metric_count * sizeof(int32_t));
}

/* The action with which copies begin must be legal in all of them: what is redealt is what the seat
 * to act cannot know. */
static bool rollout_first_fits(Job *job, const Rollout *rollout)
{
    uint8_t mask[TY_ACTIONS_MAX];
    const Worker *worker = job->worker;
    const void *state = ty_pool_state(worker->pool, rollout->slot);
    int64_t first = request_int(&job->request, FIELD_OF_FIRST);
    if (first < 0) {
        return true;
    }
    ty_legal(worker->ruleset, state, mask);
    if (first >= ty_shape(worker->ruleset)->action_count || !mask[first] ||
        ty_pool_over(worker->pool, rollout->slot)) {
        return job_refuse(job, ERROR_illegal_action, -1, "first=%d: not legal in this position",
                          (int)first);
    }
    return rollout->seat < 0 || rollout->seat == ty_head(state)->seat ||
           job_refuse(job, ERROR_bad_argument, -1,
                      "seat=%d: with first it is the seat to act, %d, or -1", (int)rollout->seat,
                      ty_head(state)->seat);
}

/* True if the rollout makes sense; otherwise it is refused. */
static bool rollout_read(Job *job, Rollout *rollout)
{
    uint64_t limit = job->worker->shared->limits->rollout_copies;
    char name[WIRE_TEXT_MAX];
    request_text(&job->request, FIELD_OF_AGENT, name);
    rollout->count = (uint32_t)request_uint(&job->request, FIELD_OF_COUNT);
    if (!job_read_slot(job, &rollout->slot) || !job_may_look(job, rollout->slot) ||
        !job_read_player(job, &rollout->seat)) {
        return false;
    }
    if (rollout->count > limit) {
        return job_refuse(job, ERROR_limit, -1, "count=%u: rollout_copies=%llu", rollout->count,
                          (unsigned long long)limit);
    }
    TyStatus status =
        boards_agent_open(job->worker->shared, job->worker->ruleset, name, &rollout->agent);
    if (status.code != TY_OK) {
        return job_refuse(job, ERROR_bad_argument, -1, "agent: %.240s", status.message);
    }
    return rollout_first_fits(job, rollout) && job_read_keys(job, rollout->count, &rollout->keys);
}

/* Keys that were not given are drawn from the number of the request and that of the copy. */
static bool rollout_draw_keys(Job *job, Rollout *rollout)
{
    uint64_t *keys = job_hold(job, rollout->count * sizeof keys[0]);
    for (uint32_t i = 0; keys != NULL && i < rollout->count; i++) {
        keys[i] = hash_mix(hash_mix(job->request.id) + i);
    }
    rollout->keys = keys;
    return keys != NULL;
}

/* Plays the copies, some at a time. False, and the job refused, if it was stopped. One that was
 * interrupted without being stopped begins with its last copies again. */
static bool rollout_play(Job *job, const Rollout *rollout)
{
    TyPool *pool = job->worker->pool;
    const TyShape *shape = ty_shape(job->worker->ruleset);
    uint32_t at_once = ty_pool_config(pool)->threads * COPIES_PER_THREAD;
    for (uint32_t done = 0; done < rollout->count;) {
        uint32_t left = rollout->count - done;
        const RolloutPlan plan = {.slot = rollout->slot,
                                  .agent = rollout->agent,
                                  .count = left < at_once ? left : at_once,
                                  .keys = rollout->keys + done,
                                  .seat = rollout->seat,
                                  .first = (int32_t)request_int(&job->request, FIELD_OF_FIRST),
                                  .max_steps =
                                      (uint32_t)request_uint(&job->request, FIELD_OF_MAX_STEPS),
                                  .earned = rollout->earned + (size_t)done * shape->players,
                                  .metrics = rollout->metrics + (size_t)done * shape->metric_count};
        if (pool_rollout(pool, &plan)) {
            done += plan.count;
        } else if (job_stopped(job)) {
            return false;
        }
    }
    return true;
}

/* Plays what was read, and replies. */
static void rollout_run(Job *job, Rollout *rollout)
{
    const TyShape *shape = ty_shape(job->worker->ruleset);
    size_t earned = (size_t)rollout->count * shape->players * sizeof(float);
    size_t metrics = (size_t)rollout->count * shape->metric_count * sizeof(int32_t);
    if ((rollout->earned = job_hold(job, earned)) != NULL &&
        (rollout->metrics = job_hold(job, metrics)) != NULL && rollout_play(job, rollout)) {
        job_reply(job, earned + metrics + 256, put_rollout, rollout);
    }
}

JobState job_rollout(Worker *worker, Job *job)
{
    (void)worker;
    Rollout rollout = {.seat = -1};
    if (rollout_read(job, &rollout) && (rollout.keys != NULL || rollout_draw_keys(job, &rollout))) {
        rollout_run(job, &rollout);
    }
    ty_agent_close(rollout.agent);
    return JOB_DONE;
}
