/* Steps in flight: a thread that steps groups of a pool while the caller does something else. */
#define _POSIX_C_SOURCE 200809L
#include "core/status.h"
#include "pool/pool_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

/* Everything is guarded by the mutex. The queue is a ring that holds each group at most once. */
struct TyFlight {
    TyPool *pool;
    uint32_t member;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t sent;
    pthread_cond_t landed;
    bool quit;
    uint32_t queue[TY_GROUPS_MAX];
    uint32_t first;
    uint32_t count;
    bool flying[TY_GROUPS_MAX];
    uint32_t ready[TY_GROUPS_MAX];
    uint32_t illegal[TY_GROUPS_MAX];
};

static uint32_t queue_take(TyFlight *flight)
{
    uint32_t group = flight->queue[flight->first];
    flight->first = (flight->first + 1) % TY_GROUPS_MAX;
    flight->count--;
    return group;
}

static void *flight_main(void *argument)
{
    TyFlight *flight = argument;
    pthread_mutex_lock(&flight->mutex);
    for (;;) {
        while (flight->count == 0 && !flight->quit) {
            pthread_cond_wait(&flight->sent, &flight->mutex);
        }
        if (flight->count == 0) {
            break;
        }
        uint32_t group = queue_take(flight);
        uint32_t illegal = 0;
        pthread_mutex_unlock(&flight->mutex);
        uint32_t ready = ty_pool_step(flight->pool, flight->member, group, &illegal);
        pthread_mutex_lock(&flight->mutex);
        flight->ready[group] = ready;
        flight->illegal[group] = illegal;
        flight->flying[group] = false;
        pthread_cond_broadcast(&flight->landed);
    }
    pthread_mutex_unlock(&flight->mutex);
    return NULL;
}

TyStatus ty_flight_open(TyPool *pool, uint32_t member, TyFlight **out)
{
    pthread_condattr_t monotonic;
    TyFlight *flight = calloc(1, sizeof *flight);
    *out = NULL;
    if (flight == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for steps in flight");
    }
    flight->pool = pool;
    flight->member = member;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&flight->mutex, NULL);
    pthread_cond_init(&flight->sent, NULL);
    pthread_cond_init(&flight->landed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&flight->thread, NULL, flight_main, flight) != 0) {
        free(flight);
        return ty_status_fail(TY_LIMIT, "the system has no thread for steps in flight");
    }
    *out = flight;
    return ty_status_ok();
}

void ty_flight_close(TyFlight *flight)
{
    if (flight == NULL) {
        return;
    }
    pthread_mutex_lock(&flight->mutex);
    flight->quit = true;
    pthread_cond_signal(&flight->sent);
    pthread_mutex_unlock(&flight->mutex);
    pthread_join(flight->thread, NULL);
    pthread_cond_destroy(&flight->landed);
    pthread_cond_destroy(&flight->sent);
    pthread_mutex_destroy(&flight->mutex);
    free(flight);
}

bool ty_flight_send(TyFlight *flight, uint32_t group)
{
    assert(group < flight->pool->config.groups);
    pthread_mutex_lock(&flight->mutex);
    bool home = !flight->flying[group];
    if (home) {
        flight->queue[(flight->first + flight->count++) % TY_GROUPS_MAX] = group;
        flight->flying[group] = true;
        pthread_cond_signal(&flight->sent);
    }
    pthread_mutex_unlock(&flight->mutex);
    return home;
}

static struct timespec time_after(uint32_t ms)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += ms / 1000;
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

bool ty_flight_recv(TyFlight *flight, uint32_t group, uint32_t timeout_ms, uint32_t *ready,
                    uint32_t *illegal)
{
    assert(group < flight->pool->config.groups);
    struct timespec end = time_after(timeout_ms);
    int late = 0;
    pthread_mutex_lock(&flight->mutex);
    while (flight->flying[group] && late == 0) {
        late = pthread_cond_timedwait(&flight->landed, &flight->mutex, &end);
    }
    bool landed = !flight->flying[group];
    if (landed) {
        *ready = flight->ready[group];
        *illegal = flight->illegal[group];
    }
    pthread_mutex_unlock(&flight->mutex);
    return landed;
}
