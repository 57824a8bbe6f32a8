/* A member of a pool served through shared memory: its slab lies in two sealed memory files, its
 * steps are asked for and answered by sequence words, without a system call while both sides spin.
 *
 * The thread that steps the pool calls everything here; only shm_channel_descriptors may be asked
 * by any thread while the channel is open. */
#pragma once

#include "trainyard.h"

typedef struct ShmChannel ShmChannel;

/* The descriptors that go to the client. The channel keeps its own ends. */
typedef struct ShmDescriptors {
    int rows;      /* memory file, read-only for the client */
    int commands;  /* memory file, writable for the client */
    int to_pool;   /* eventfd: the client wakes the pool; the pool's thread polls the same one */
    int to_client; /* a pipe's reading end: the pool wakes the client */
} ShmDescriptors;

/* Makes the segments and moves the member's slab into them. The pool must outlive the channel. */
TyStatus shm_channel_open(TyPool *pool, uint32_t member, ShmChannel **channel);
/* Tells the client that it is over, moves the slab back into the pool's own memory, closes
 * descriptors and mappings. */
void shm_channel_close(ShmChannel *channel);
ShmDescriptors shm_channel_descriptors(const ShmChannel *channel);

/* Steps every group for which the client has given a new command, and publishes its rows. Returns
 * these groups, a bit each. Whatever the client wrote cannot harm: it is copied, then checked. */
uint64_t shm_channel_serve(ShmChannel *channel);
/* Publishes rows that were not made by the client's own commands: another member's step, a reset, a
 * restored snapshot. */
void shm_channel_publish(ShmChannel *channel);
/* The same for one group. */
void shm_channel_publish_group(ShmChannel *channel, uint32_t group);
/* Rows of these slots (NULL: all) are others than before, even if they were ready before: what is
 * published next gives them anew. */
void shm_channel_renew(ShmChannel *channel, const uint32_t *slots, uint32_t count);

/* A request of the member's own is answered next: its answer gives the rows as they are published.
 */
void shm_channel_answered(ShmChannel *channel);

/* Before the thread sleeps on the channels' `to_pool`: false if a command has come in meanwhile. */
bool shm_channel_prepare_sleep(ShmChannel *channel);
void shm_channel_awake(ShmChannel *channel);

/* Commands taken and rows stepped so far, for statistics. */
typedef struct ShmCounts {
    uint64_t commands;
    uint64_t refused; /* commands out of turn or of no known kind */
    uint64_t bells;   /* times that the client had to be woken */
} ShmCounts;

ShmCounts shm_channel_counts(const ShmChannel *channel);
