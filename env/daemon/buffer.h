/* Memory of messages: counted references, taken and given back without an allocation once as many
 * are in use as ever will be. Any thread may call everything here. */
#pragma once

#include "daemon/quota.h"

#include <pthread.h>
#include <stddef.h>

enum {
    BUFFER_SIZE_MIN_LOG = 10,
    BUFFER_SIZE_MAX_LOG = 31,
    BUFFER_CLASSES = BUFFER_SIZE_MAX_LOG - BUFFER_SIZE_MIN_LOG + 1,
    BUFFER_SMALL = 4096, /* up to this size a buffer is to be had even beyond the quota */
};

typedef struct BufferStore BufferStore;

typedef struct Buffer {
    atomic_uint references;
    uint32_t class;
    BufferStore *store;
    Quota *quota; /* that it is taken from */
    struct Buffer *next;
    size_t capacity;
    size_t size; /* bytes in use */
    uint8_t *data;
} Buffer;

struct BufferStore {
    pthread_mutex_t mutex;
    Buffer *spare[BUFFER_CLASSES];
    uint64_t spare_bytes;
    uint64_t spare_max; /* more than this is given back to the system */
};

void buffer_store_init(BufferStore *store, uint64_t spare_max);
/* Every buffer must have been given back. */
void buffer_store_fini(BufferStore *store);

/* Bytes of buffers that wait to be used again. */
uint64_t buffer_store_spare(BufferStore *store);

/* A buffer with one reference and room for `capacity` bytes, counted in the quota as long as it is
 * in use; NULL if there is no memory, or no quota left. */
Buffer *buffer_take(BufferStore *store, Quota *quota, size_t capacity);
/* Makes sure that the next buffer_take of `capacity` needs no memory; false if there is none. */
bool buffer_reserve(BufferStore *store, Quota *quota, size_t capacity);
void buffer_hold(Buffer *buffer);
/* Gives a reference back; NULL is left alone. */
void buffer_release(Buffer *buffer);
