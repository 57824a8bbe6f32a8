/* A member of a pool served through shared memory: its slab lies in two sealed memory files, its
 * steps are asked for and answered by sequence words, without a system call while both sides spin.
 *
 * The thread that steps the pool calls everything here; only shm_door_descriptors may be asked by
 * any thread while the door is open. */
#pragma once

#include "trainyard.h"

typedef struct ShmDoor ShmDoor;

/* The descriptors that go to the client. The door keeps its own ends. */
typedef struct ShmDescriptors {
    int rows;      /* memory file, read-only for the client */
    int commands;  /* memory file, writable for the client */
    int to_pool;   /* eventfd: the client wakes the pool; the pool's thread polls the same one */
    int to_client; /* a pipe's reading end: the pool wakes the client */
} ShmDescriptors;

/* Makes the segments and moves the member's slab into them. The pool must outlive the door. */
TyStatus shm_door_open(TyPool *pool, uint32_t member, ShmDoor **door);
/* Tells the client that it is over, moves the slab back into the pool's own memory, closes
 * descriptors and mappings. */
void shm_door_close(ShmDoor *door);
ShmDescriptors shm_door_descriptors(const ShmDoor *door);

/* Steps every group for which the client has given a new command, and publishes its rows. Returns
 * these groups, a bit each. Whatever the client wrote cannot harm: it is copied, then checked. */
uint64_t shm_door_serve(ShmDoor *door);
/* Publishes rows that were not made by the client's own commands: another member's step, a reset, a
 * restored snapshot. */
void shm_door_publish(ShmDoor *door);
/* The same for one group. */
void shm_door_publish_group(ShmDoor *door, uint32_t group);

/* Before the thread sleeps on the doors' `to_pool`: false if a command has come in meanwhile. */
bool shm_door_prepare_sleep(ShmDoor *door);
void shm_door_awake(ShmDoor *door);

/* Commands taken and rows stepped so far, for statistics. */
typedef struct ShmCounts {
    uint64_t commands;
    uint64_t refused; /* commands out of turn or of no known kind */
    uint64_t bells;   /* times that the client had to be woken */
} ShmCounts;

ShmCounts shm_door_counts(const ShmDoor *door);
