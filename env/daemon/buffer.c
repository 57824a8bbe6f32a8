/* Memory of messages: counted references, spare buffers by size. */
#include "daemon/buffer.h"

#include <stdlib.h>

void buffer_store_init(BufferStore *store)
{
    *store = (BufferStore){.spare_bytes = 0};
    pthread_mutex_init(&store->mutex, NULL);
}

void buffer_store_fini(BufferStore *store)
{
    for (uint32_t i = 0; i < BUFFER_CLASSES; i++) {
        while (store->spare[i] != NULL) {
            Buffer *buffer = store->spare[i];
            store->spare[i] = buffer->next;
            free(buffer);
        }
    }
    pthread_mutex_destroy(&store->mutex);
}

static Buffer *spare_pop(BufferStore *store, uint32_t class)
{
    pthread_mutex_lock(&store->mutex);
    Buffer *buffer = store->spare[class];
    if (buffer != NULL) {
        store->spare[class] = buffer->next;
        store->spare_bytes -= buffer->capacity;
    }
    pthread_mutex_unlock(&store->mutex);
    return buffer;
}

/* True if there was room among the spare ones. */
static bool spare_push(BufferStore *store, Buffer *buffer)
{
    pthread_mutex_lock(&store->mutex);
    bool kept = store->spare_bytes + buffer->capacity <= BUFFER_SPARE_BYTES;
    if (kept) {
        buffer->next = store->spare[buffer->class];
        store->spare[buffer->class] = buffer;
        store->spare_bytes += buffer->capacity;
    }
    pthread_mutex_unlock(&store->mutex);
    return kept;
}

Buffer *buffer_take(BufferStore *store, size_t capacity)
{
    uint32_t class = 0;
    while (class < BUFFER_CLASSES && ((size_t)1 << (class + BUFFER_SIZE_MIN_LOG)) < capacity) {
        class ++;
    }
    if (class == BUFFER_CLASSES) {
        return NULL;
    }
    size_t size = (size_t)1 << (class + BUFFER_SIZE_MIN_LOG);
    Buffer *buffer = spare_pop(store, class);
    if (buffer == NULL) {
        buffer = malloc(sizeof *buffer + size);
        if (buffer == NULL) {
            return NULL;
        }
        buffer->class = class;
        buffer->store = store;
        buffer->capacity = size;
        buffer->data = (uint8_t *)(buffer + 1);
    }
    atomic_store_explicit(&buffer->references, 1, memory_order_relaxed);
    buffer->size = 0;
    buffer->next = NULL;
    atomic_fetch_add_explicit(&store->live_bytes, size, memory_order_relaxed);
    return buffer;
}

bool buffer_reserve(BufferStore *store, size_t capacity)
{
    Buffer *buffer = buffer_take(store, capacity);
    buffer_release(buffer);
    return buffer != NULL;
}

void buffer_hold(Buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
}

void buffer_release(Buffer *buffer)
{
    if (buffer == NULL ||
        atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    BufferStore *store = buffer->store;
    atomic_fetch_sub_explicit(&store->live_bytes, buffer->capacity, memory_order_relaxed);
    if (!spare_push(store, buffer)) {
        free(buffer);
    }
}
