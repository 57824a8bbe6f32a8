/* Snapshots that clients keep by number, forks, resampling and rollouts. */
#include "core/hash.h"
#include "daemon/host_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table of snapshots ---- */

/* A number is a place and, above it, how often the place was used before: numbers do not come back
 * soon, and finding one takes no search. */
enum { SNAPSHOT_PLACE_BITS = 24 };

static Snapshot *snapshot_find(Host *host, uint32_t id)
{
    uint32_t place = (id & ((1u << SNAPSHOT_PLACE_BITS) - 1)) - 1;
    bool there = id != 0 && place < host->snapshot_count && host->snapshots[place].id == id;
    return there ? &host->snapshots[place] : NULL;
}

static void snapshot_free(Host *host, Snapshot *snapshot)
{
    free(snapshot->bytes);
    atomic_fetch_sub(&host->shared->memory_bytes, snapshot->size);
    *snapshot = (Snapshot){.uses = snapshot->uses, .next_free = host->snapshot_free};
    host->snapshot_free = (uint32_t)(snapshot - host->snapshots) + 1;
    host->snapshots_used--;
}

void host_drop_snapshots(Host *host)
{
    for (uint32_t i = 0; i < host->snapshot_count; i++) {
        if (host->snapshots[i].id != 0) {
            snapshot_free(host, &host->snapshots[i]);
        }
    }
}

static bool table_grow(Host *host)
{
    uint32_t count = host->snapshot_count == 0 ? 64 : host->snapshot_count * 2;
    Snapshot *larger = realloc(host->snapshots, count * sizeof larger[0]);
    if (larger == NULL) {
        return false;
    }
    host->snapshots = larger;
    while (host->snapshot_count < count) {
        larger[host->snapshot_count++] = (Snapshot){.next_free = host->snapshot_free};
        host->snapshot_free = host->snapshot_count;
    }
    return true;
}

/* The number for a place that is used once more. */
static uint32_t snapshot_number(Snapshot *snapshot, uint32_t place)
{
    snapshot->uses++;
    return (uint32_t)snapshot->uses << SNAPSHOT_PLACE_BITS | (place + 1);
}

/* A new snapshot with uninitialised bytes; NULL, and the job refused, if there is no room. */
static Snapshot *snapshot_new(Host *host, Job *job)
{
    const Limits *limits = &host->shared->limits;
    uint32_t size = ty_pool_snapshot_size(host->pool);
    if (host->snapshots_used >= limits->snapshots) {
        job_refuse(host, job, ERROR_limit, -1, "the pool has snapshots=%llu snapshots already",
                   (unsigned long long)limits->snapshots);
        return NULL;
    }
    if (atomic_load(&host->shared->memory_bytes) + size > limits->memory_bytes) {
        job_refuse(host, job, ERROR_limit, -1, "memory_bytes=%llu would be passed",
                   (unsigned long long)limits->memory_bytes);
        return NULL;
    }
    bool room = host->snapshot_free != 0 || table_grow(host);
    uint8_t *bytes = room ? malloc(size) : NULL;
    if (bytes == NULL) {
        job_refuse(host, job, ERROR_no_memory, -1, "no memory for a snapshot");
        return NULL;
    }
    uint32_t place = host->snapshot_free - 1;
    Snapshot *snapshot = &host->snapshots[place];
    host->snapshot_free = snapshot->next_free;
    snapshot->id = snapshot_number(snapshot, place);
    snapshot->bytes = bytes;
    snapshot->size = size;
    snapshot->foreign = false;
    host->snapshots_used++;
    atomic_fetch_add(&host->shared->memory_bytes, size);
    return snapshot;
}

/* ---- Requests ---- */

static void put_snapshots(Writer *writer, Host *host, const Job *job, const void *context)
{
    const uint32_t *count = context;
    (void)job;
    reply_bytes(writer, REPLY_SNAPSHOTS, host->ended, *count * sizeof host->ended[0]);
}

void job_snapshot(Host *host, Job *job)
{
    const uint32_t *slots = NULL;
    uint32_t count = 0;
    if (!job_slots(host, job, &slots, &count)) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        Snapshot *snapshot = snapshot_new(host, job);
        if (snapshot == NULL) {
            while (i-- > 0) {
                Snapshot *made = snapshot_find(host, host->ended[i]);
                assert(made != NULL);
                snapshot_free(host, made);
            }
            return;
        }
        ty_pool_save(host->pool, slots[i], snapshot->bytes);
        host->ended[i] = snapshot->id;
    }
    job_reply(host, job, count * sizeof host->ended[0] + 64, put_snapshots, &count);
}

/* Reads the keys of a plan; false, and the job refused, if they do not fit. Without keys `*keys` is
 * NULL. */
static bool keys_read(Host *host, Job *job, uint32_t count, const uint64_t **keys)
{
    const WireValue *value = &job->request.values[FIELD_OF_KEYS];
    *keys = NULL;
    if (!request_has(&job->request, FIELD_OF_KEYS)) {
        return true;
    }
    if (value->size != (uint64_t)count * 8) {
        job_refuse(host, job, ERROR_bad_request, -1,
                   "keys: has %u bytes; wanted are %u numbers of 8 bytes", value->size, count);
        return false;
    }
    memcpy(host->keys, value->bytes, value->size);
    *keys = host->keys;
    return true;
}

/* The seat for whom hidden things are dealt anew; -1: for nobody. */
static bool seat_read(Host *host, Job *job, int32_t *seat)
{
    *seat = (int32_t)request_int(&job->request, FIELD_OF_SEAT);
    if (*seat < (int32_t)ty_shape(host->ruleset)->players) {
        return true;
    }
    job_refuse(host, job, ERROR_bad_argument, -1, "seat=%d: the players are 0..%u", *seat,
               ty_shape(host->ruleset)->players - 1);
    return false;
}

/* Shows the slots that were changed. */
static void reply_changed(Host *host, Job *job, const uint32_t *slots, uint32_t count)
{
    host_untell(host, slots, count);
    host_settle(host, HOST_ALL_GROUPS, -1);
    if (ty_pool_slab(host->pool, 0)->seat_count == 0 || host->members[0].door != NULL) {
        job_reply(host, job, 256, NULL, NULL);
        return;
    }
    /* Those who waited may have used the list meanwhile. */
    if (job_slots(host, job, &slots, &count)) {
        job_reply_rows(host, job,
                       (RowSet){.member = 0, .group = -1, .slots = slots, .count = count});
    }
}

/* Which snapshot goes into row i. */
static Snapshot *restore_snapshot(Host *host, const WireValue *list, uint32_t row)
{
    uint32_t id = 0;
    uint32_t index = list->size == sizeof id ? 0 : row;
    memcpy(&id, list->bytes + (size_t)index * sizeof id, sizeof id);
    return snapshot_find(host, id);
}

/* Everything is checked before anything is changed: a restore is done whole or not at all. */
static bool restore_checked(Host *host, Job *job, uint32_t count)
{
    const WireValue *list = &job->request.values[FIELD_OF_SNAPSHOTS];
    if (list->size != sizeof(uint32_t) && list->size != (uint64_t)count * sizeof(uint32_t)) {
        job_refuse(host, job, ERROR_bad_request, -1,
                   "snapshots: has %u bytes; wanted is 1 number of 4 bytes, or %u", list->size,
                   count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const Snapshot *snapshot = restore_snapshot(host, list, i);
        if (snapshot == NULL || snapshot->size != ty_pool_snapshot_size(host->pool)) {
            job_refuse(host, job, ERROR_bad_argument, i, "snapshots: row %u: %s", i,
                       snapshot == NULL ? "there is no such snapshot"
                                        : "the snapshot is older than a change of the seats");
            return false;
        }
    }
    return true;
}

void job_restore(Host *host, Job *job)
{
    const WireValue *list = &job->request.values[FIELD_OF_SNAPSHOTS];
    const uint32_t *slots = NULL;
    const uint64_t *keys = NULL;
    uint32_t count = 0;
    int32_t seat = -1;
    if (!job_slots(host, job, &slots, &count) || !keys_read(host, job, count, &keys) ||
        !seat_read(host, job, &seat) || !restore_checked(host, job, count)) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const Snapshot *snapshot = restore_snapshot(host, list, i);
        TyRestore how = {
            .keys = keys != NULL ? keys + i : NULL, .seat = seat, .foreign = snapshot->foreign};
        TyStatus status = ty_pool_restore(host->pool, snapshot->bytes, &slots[i], 1, &how);
        assert(status.code == TY_OK);
        (void)status;
    }
    reply_changed(host, job, slots, count);
}

/* Memory for one snapshot that nobody keeps; NULL, and the job refused, if there is none. */
static uint8_t *snapshot_scratch(Host *host, Job *job)
{
    uint8_t *bytes = malloc(ty_pool_snapshot_size(host->pool));
    if (bytes == NULL) {
        job_refuse(host, job, ERROR_no_memory, -1, "no memory for a snapshot");
    }
    return bytes;
}

void job_fork(Host *host, Job *job)
{
    const uint32_t *slots = NULL;
    const uint64_t *keys = NULL;
    uint32_t slot = 0;
    uint32_t count = 0;
    int32_t seat = -1;
    if (!job_slot(host, job, &slot) || !job_slots(host, job, &slots, &count) ||
        !keys_read(host, job, count, &keys) || !seat_read(host, job, &seat)) {
        return;
    }
    uint8_t *bytes = snapshot_scratch(host, job);
    if (bytes == NULL) {
        return;
    }
    ty_pool_save(host->pool, slot, bytes);
    TyStatus status =
        ty_pool_restore(host->pool, bytes, slots, count, &(TyRestore){.keys = keys, .seat = seat});
    free(bytes);
    if (status.code != TY_OK) {
        job_refuse_status(host, job, &status);
        return;
    }
    reply_changed(host, job, slots, count);
}

void job_resample(Host *host, Job *job)
{
    const uint32_t *slots = NULL;
    const uint64_t *keys = NULL;
    uint32_t count = 0;
    int32_t seat = -1;
    if (!job_slots(host, job, &slots, &count) || !keys_read(host, job, count, &keys) ||
        !seat_read(host, job, &seat)) {
        return;
    }
    uint8_t *bytes = snapshot_scratch(host, job);
    if (bytes == NULL) {
        return;
    }
    TyStatus status = {.code = TY_OK};
    for (uint32_t i = 0; status.code == TY_OK && i < count; i++) {
        ty_pool_save(host->pool, slots[i], bytes);
        status = ty_pool_restore(host->pool, bytes, &slots[i], 1,
                                 &(TyRestore){.keys = keys + i, .seat = seat});
    }
    free(bytes);
    if (status.code != TY_OK) {
        job_refuse_status(host, job, &status);
        return;
    }
    reply_changed(host, job, slots, count);
}

static void put_export(Writer *writer, Host *host, const Job *job, const void *context)
{
    const Snapshot *snapshot = context;
    (void)host;
    (void)job;
    reply_bytes(writer, REPLY_DATA, snapshot->bytes, snapshot->size);
}

void job_export(Host *host, Job *job)
{
    uint32_t id = (uint32_t)request_uint(&job->request, FIELD_OF_SNAPSHOT);
    const Snapshot *snapshot = snapshot_find(host, id);
    if (snapshot == NULL) {
        job_refuse(host, job, ERROR_bad_argument, -1, "snapshot=%u: there is no such snapshot", id);
        return;
    }
    job_reply(host, job, snapshot->size + 64, put_export, snapshot);
}

static void put_import(Writer *writer, Host *host, const Job *job, const void *context)
{
    const Snapshot *snapshot = context;
    (void)host;
    (void)job;
    reply_uint(writer, REPLY_SNAPSHOT, snapshot->id);
}

/* Bytes from outside are checked once, here: whatever is kept can be restored. */
void job_import(Host *host, Job *job)
{
    const WireValue *data = &job->request.values[FIELD_OF_DATA];
    uint32_t wanted = ty_pool_snapshot_size(host->pool);
    if (data->size != wanted) {
        job_refuse(host, job, ERROR_bad_argument, -1,
                   "data: has %u bytes; a snapshot of this pool has %u", data->size, wanted);
        return;
    }
    TyStatus status = ty_pool_restore(host->pool, data->bytes, NULL, 0, NULL);
    if (status.code != TY_OK) {
        job_refuse(host, job, ERROR_bad_argument, -1, "data: %s", status.message);
        return;
    }
    Snapshot *snapshot = snapshot_new(host, job);
    if (snapshot != NULL) {
        memcpy(snapshot->bytes, data->bytes, data->size);
        snapshot->foreign = true;
        job_reply(host, job, 64, put_import, snapshot);
    }
}

static void put_drop(Writer *writer, Host *host, const Job *job, const void *context)
{
    (void)host;
    (void)job;
    reply_uint(writer, REPLY_DROPPED, *(const uint32_t *)context);
}

void job_drop(Host *host, Job *job)
{
    const WireValue *list = &job->request.values[FIELD_OF_SNAPSHOTS];
    uint32_t before = host->snapshots_used;
    if (!request_has(&job->request, FIELD_OF_SNAPSHOTS)) {
        host_drop_snapshots(host);
    }
    for (uint32_t i = 0; i + 4 <= list->size; i += 4) {
        uint32_t id = 0;
        memcpy(&id, list->bytes + i, sizeof id);
        Snapshot *snapshot = snapshot_find(host, id);
        if (snapshot != NULL) {
            snapshot_free(host, snapshot);
        }
    }
    uint32_t dropped = before - host->snapshots_used;
    job_reply(host, job, 64, put_drop, &dropped);
}

/* ---- Rollouts ---- */

typedef struct RolloutResult {
    float *earned;
    int32_t *metrics;
    uint32_t count;
} RolloutResult;

static void put_rollout(Writer *writer, Host *host, const Job *job, const void *context)
{
    const RolloutResult *result = context;
    const TyShape *shape = ty_shape(host->ruleset);
    (void)job;
    reply_bytes(writer, REPLY_EARNED, result->earned,
                (size_t)result->count * shape->players * sizeof(float));
    reply_bytes(writer, REPLY_METRICS, result->metrics,
                (size_t)result->count * shape->metric_count * sizeof(int32_t));
}

/* Keys from the request, or drawn from the slot and the number of the copy. */
static void rollout_keys(const Job *job, uint32_t count, uint64_t *keys)
{
    const WireValue *given = &job->request.values[FIELD_OF_KEYS];
    if (given->size > 0) {
        memcpy(keys, given->bytes, given->size);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = hash_mix(hash_mix(job->request.id) + i);
    }
}

static void rollout_run(Host *host, Job *job, const TyAgent *agent, RolloutResult *result,
                        uint64_t *keys)
{
    rollout_keys(job, result->count, keys);
    ty_pool_rollout(host->pool, (uint32_t)request_uint(&job->request, FIELD_OF_SLOT), agent,
                    result->count, keys, (int32_t)request_int(&job->request, FIELD_OF_SEAT),
                    (uint32_t)request_uint(&job->request, FIELD_OF_MAX_STEPS), result->earned,
                    result->metrics);
    size_t row = ty_shape(host->ruleset)->players + ty_shape(host->ruleset)->metric_count;
    job_reply(host, job, result->count * row * 4 + 256, put_rollout, result);
}

/* True if the rollout makes sense; otherwise it is refused. */
static bool rollout_check(Host *host, Job *job, const TyAgent **agent)
{
    char name[WIRE_TEXT_MAX];
    uint32_t slot = 0;
    int32_t seat = -1;
    uint32_t count = (uint32_t)request_uint(&job->request, FIELD_OF_COUNT);
    const WireValue *keys = &job->request.values[FIELD_OF_KEYS];
    request_text(&job->request, FIELD_OF_AGENT, name);
    *agent = ty_agent_find(ty_ruleset_game(host->ruleset), name);
    if (!job_slot(host, job, &slot) || !seat_read(host, job, &seat)) {
        return false;
    }
    if (*agent == NULL) {
        job_refuse(host, job, ERROR_bad_argument, -1, "agent=%.40s: does not play %s", name,
                   ty_game_name(ty_ruleset_game(host->ruleset)));
    } else if (count > host->shared->limits.rollout_copies) {
        job_refuse(host, job, ERROR_limit, -1, "count=%u: rollout_copies=%llu", count,
                   (unsigned long long)host->shared->limits.rollout_copies);
    } else if (keys->size > 0 && keys->size != (uint64_t)count * 8) {
        job_refuse(host, job, ERROR_bad_request, -1,
                   "keys: has %u bytes; wanted are %u numbers of 8 bytes", keys->size, count);
    } else {
        return true;
    }
    return false;
}

void job_rollout(Host *host, Job *job)
{
    const TyAgent *agent = NULL;
    const TyShape *shape = ty_shape(host->ruleset);
    if (!rollout_check(host, job, &agent)) {
        return;
    }
    RolloutResult result = {.count = (uint32_t)request_uint(&job->request, FIELD_OF_COUNT)};
    uint64_t *keys = malloc(result.count * sizeof keys[0]);
    result.earned = malloc((size_t)result.count * shape->players * sizeof(float));
    result.metrics = malloc(((size_t)result.count * shape->metric_count + 1) * sizeof(int32_t));
    if (keys == NULL || result.earned == NULL || result.metrics == NULL) {
        job_refuse(host, job, ERROR_no_memory, -1, "no memory for %u copies", result.count);
    } else {
        rollout_run(host, job, agent, &result, keys);
    }
    free(keys);
    free(result.earned);
    free(result.metrics);
}
