/* Snapshots that clients keep by number. */
#pragma once

#include "daemon/reply.h"
#include "daemon/worker.h"

typedef struct Snapshot {
    uint32_t id;        /* 0: the place is free */
    uint32_t next_free; /* the next free place plus 1; 0: none */
    uint8_t uses;
    bool foreign; /* it came from outside */
    uint32_t size;
    uint8_t *bytes;
} Snapshot;

/* All zero is an empty store. */
typedef struct SnapshotStore {
    Quota *quota; /* in which they count; set before the first is added */
    Snapshot *places;
    uint32_t place_count;
    uint32_t used;
    atomic_ullong bytes; /* of all; any thread may read it */
    uint32_t first_free; /* place plus 1; 0: none */
} SnapshotStore;

/* NULL if there is none of this number. */
Snapshot *snapshot_find(const SnapshotStore *store, uint32_t id);
/* A new snapshot of `size` uninitialised bytes; NULL, and the job refused, if there is no room. */
Snapshot *snapshot_add(SnapshotStore *store, const Limits *limits, uint32_t size, Job *job);
void snapshot_drop(SnapshotStore *store, Snapshot *snapshot);
void snapshot_drop_all(SnapshotStore *store);
void snapshot_store_fini(SnapshotStore *store);
