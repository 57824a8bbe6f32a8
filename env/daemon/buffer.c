/* Memory of messages: counted references, spare buffers by size. */
#include "daemon/buffer.h"

#include <stdlib.h>

void buffer_store_init(BufferStore *store, uint64_t spare_max)
{
    *store = (BufferStore){.spare_max = spare_max};
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
    bool kept = store->spare_bytes + buffer->capacity <= store->spare_max;
    if (kept) {
        buffer->next = store->spare[buffer->class];
        store->spare[buffer->class] = buffer;
        store->spare_bytes += buffer->capacity;
    }
    pthread_mutex_unlock(&store->mutex);
    return kept;
}

uint64_t buffer_store_spare(BufferStore *store)
{
    pthread_mutex_lock(&store->mutex);
    uint64_t bytes = store->spare_bytes;
    pthread_mutex_unlock(&store->mutex);
    return bytes;
}

static Buffer *buffer_make(BufferStore *store, uint32_t class, size_t size)
{
    Buffer *buffer = malloc(sizeof *buffer + size);
    if (buffer != NULL) {
        buffer->class = class;
        buffer->store = store;
        buffer->capacity = size;
        buffer->data = (uint8_t *)(buffer + 1);
    }
    return buffer;
}

Buffer *buffer_take(BufferStore *store, Quota *quota, size_t capacity)
{
    uint32_t class = 0;
    while (class < BUFFER_CLASSES && ((size_t)1 << (class + BUFFER_SIZE_MIN_LOG)) < capacity) {
        class ++;
    }
    size_t size = (size_t)1 << (class + BUFFER_SIZE_MIN_LOG);
    bool granted = class < BUFFER_CLASSES &&
                   (size <= BUFFER_SMALL ? quota_take_small(quota, QUOTA_BYTES, size)
                                         : quota_take(quota, QUOTA_BYTES, size, NULL));
    if (!granted) {
        return NULL;
    }
    Buffer *buffer = spare_pop(store, class);
    buffer = buffer != NULL ? buffer : buffer_make(store, class, size);
    if (buffer == NULL) {
        quota_give(quota, QUOTA_BYTES, size);
        return NULL;
    }
    atomic_store_explicit(&buffer->references, 1, memory_order_relaxed);
    buffer->size = 0;
    buffer->next = NULL;
    buffer->quota = quota;
    quota_hold(quota);
    return buffer;
}

bool buffer_reserve(BufferStore *store, Quota *quota, size_t capacity)
{
    Buffer *buffer = buffer_take(store, quota, capacity);
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
    quota_give(buffer->quota, QUOTA_BYTES, buffer->capacity);
    quota_release(buffer->quota);
    if (!spare_push(store, buffer)) {
        free(buffer);
    }
}
