/* Memory of messages: counted references, taken and given back without an allocation once as many
 * are in use as ever will be. Any thread may call everything here. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BUFFER_SIZE_MIN_LOG = 10,
    BUFFER_SIZE_MAX_LOG = 31,
    BUFFER_CLASSES = BUFFER_SIZE_MAX_LOG - BUFFER_SIZE_MIN_LOG + 1,
    BUFFER_SPARE_BYTES = 256 << 20, /* more than this is given back to the system */
};

typedef struct BufferStore BufferStore;

typedef struct Buffer {
    atomic_uint references;
    uint32_t class;
    BufferStore *store;
    struct Buffer *next;
    size_t capacity;
    size_t size; /* bytes in use */
    uint8_t *data;
} Buffer;

struct BufferStore {
    pthread_mutex_t mutex;
    Buffer *spare[BUFFER_CLASSES];
    uint64_t spare_bytes;
    atomic_ullong live_bytes; /* of buffers that are in use */
};

void buffer_store_init(BufferStore *store);
/* Every buffer must have been given back. */
void buffer_store_fini(BufferStore *store);

/* A buffer with one reference and room for at least `capacity` bytes; NULL if there is no memory.
 */
Buffer *buffer_take(BufferStore *store, size_t capacity);
/* Makes sure that the next buffer_take of `capacity` needs no memory; false if there is none. */
bool buffer_reserve(BufferStore *store, size_t capacity);
void buffer_hold(Buffer *buffer);
/* Gives a reference back; NULL is left alone. */
void buffer_release(Buffer *buffer);
