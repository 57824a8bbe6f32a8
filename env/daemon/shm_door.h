/* A member of a pool served through shared memory: its slab lies in two sealed memory files, its
 * steps are asked for and answered by sequence words, without a system call while both sides spin.
 *
 * The thread that steps the pool calls everything here. */
#pragma once

#include "trainyard.h"

typedef struct ShmDoor ShmDoor;

/* The descriptors that go to the client. The door keeps its own ends. */
typedef struct ShmDescriptors {
    int rows;     /* memory file, read-only for the client */
    int commands; /* memory file, writable for the client */
    int to_pool;  /* eventfd: the client wakes the pool */
    int to_client;
} ShmDescriptors;

/* Makes the segments and moves the member's slab into them. The pool must outlive the door. */
TyStatus shm_door_open(TyPool *pool, uint32_t member, ShmDoor **door);
/* Closes descriptors and mappings. The member's slab must not be used after it. */
void shm_door_close(ShmDoor *door);
ShmDescriptors shm_door_descriptors(const ShmDoor *door);

/* Steps every group for which the client has given a new command, and publishes the rows. Returns
 * true if there was anything to do. Whatever the client wrote cannot harm: it is copied, then
 * checked. */
bool shm_door_serve(ShmDoor *door);
/* Publishes rows that another member's step has made ready. */
void shm_door_publish(ShmDoor *door);

/* Before the thread sleeps on the doors' `to_pool`: false if a command has come in meanwhile. */
bool shm_door_prepare_sleep(ShmDoor *door);
void shm_door_awake(ShmDoor *door);
