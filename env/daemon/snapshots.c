/* Snapshots that clients keep by number: found without a search, counted against the limits. */
#include "daemon/snapshots.h"

#include <stdlib.h>

/* A number is a place and, above it, how often the place was used before: numbers do not come back
 * soon, and finding one takes no search. */
enum { SNAPSHOT_PLACE_BITS = 24 };

Snapshot *snapshot_find(const SnapshotStore *store, uint32_t id)
{
    uint32_t place = (id & ((1u << SNAPSHOT_PLACE_BITS) - 1)) - 1;
    bool there = id != 0 && place < store->place_count && store->places[place].id == id;
    return there ? &store->places[place] : NULL;
}

void snapshot_drop(SnapshotStore *store, Snapshot *snapshot)
{
    free(snapshot->bytes);
    atomic_fetch_sub_explicit(&store->bytes, snapshot->size, memory_order_relaxed);
    quota_give(store->quota, QUOTA_BYTES, snapshot->size);
    quota_give(store->quota, QUOTA_SNAPSHOTS, 1);
    *snapshot = (Snapshot){.uses = snapshot->uses, .next_free = store->first_free};
    store->first_free = (uint32_t)(snapshot - store->places) + 1;
    store->used--;
}

void snapshot_drop_all(SnapshotStore *store)
{
    for (uint32_t i = 0; i < store->place_count; i++) {
        if (store->places[i].id != 0) {
            snapshot_drop(store, &store->places[i]);
        }
    }
}

void snapshot_store_fini(SnapshotStore *store)
{
    snapshot_drop_all(store);
    free(store->places);
}

static bool store_grow(SnapshotStore *store)
{
    uint32_t count = store->place_count == 0 ? 64 : store->place_count * 2;
    Snapshot *larger = realloc(store->places, count * sizeof larger[0]);
    if (larger == NULL) {
        return false;
    }
    store->places = larger;
    while (store->place_count < count) {
        larger[store->place_count++] = (Snapshot){.next_free = store->first_free};
        store->first_free = store->place_count;
    }
    return true;
}

/* Takes the first free place for a snapshot with these bytes. */
static Snapshot *place_use(SnapshotStore *store, uint8_t *bytes, uint32_t size)
{
    uint32_t place = store->first_free - 1;
    Snapshot *snapshot = &store->places[place];
    store->first_free = snapshot->next_free;
    store->used++;
    snapshot->uses++;
    snapshot->id = (uint32_t)snapshot->uses << SNAPSHOT_PLACE_BITS | (place + 1);
    snapshot->bytes = bytes;
    snapshot->size = size;
    snapshot->foreign = false;
    return snapshot;
}

/* One more of `size` bytes in the quota; false, and the job refused, if it has no room. */
static bool snapshot_count(const SnapshotStore *store, uint32_t size, Job *job)
{
    QuotaRefusal refusal;
    bool one = quota_take(store->quota, QUOTA_SNAPSHOTS, 1, &refusal);
    if (one && quota_take(store->quota, QUOTA_BYTES, size, &refusal)) {
        return true;
    }
    if (one) {
        quota_give(store->quota, QUOTA_SNAPSHOTS, 1);
    }
    TyStatus status = quota_refusal_status(&refusal);
    return job_refuse_status(job, &status);
}

Snapshot *snapshot_add(SnapshotStore *store, const Limits *limits, uint32_t size, Job *job)
{
    if (store->used >= limits->snapshots) {
        job_refuse(job, ERROR_limit, -1, "the pool has snapshots=%llu snapshots already",
                   (unsigned long long)limits->snapshots);
        return NULL;
    }
    if (!snapshot_count(store, size, job)) {
        return NULL;
    }
    bool room = store->first_free != 0 || store_grow(store);
    uint8_t *bytes = room ? malloc(size) : NULL;
    if (bytes == NULL) {
        quota_give(store->quota, QUOTA_BYTES, size);
        quota_give(store->quota, QUOTA_SNAPSHOTS, 1);
        job_refuse(job, ERROR_no_memory, -1, "no memory for a snapshot");
        return NULL;
    }
    atomic_fetch_add_explicit(&store->bytes, size, memory_order_relaxed);
    return place_use(store, bytes, size);
}
