/* Threads that step parts of a pool side by side. */
#define _POSIX_C_SOURCE 200809L
#include "core/status.h"
#include "pool/pool_internal.h"

#include <sched.h>

enum { CREW_SPINS = 2000 /* looks at a word before a thread lets others have the processor */ };

typedef struct Helper {
    Crew *crew;
    uint32_t part;
} Helper;

static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits for the round after `seen`: spinning first, then asleep. */
static unsigned crew_wait(Crew *crew, unsigned seen)
{
    for (uint32_t i = 0; i < CREW_SPINS; i++) {
        unsigned round = atomic_load_explicit(&crew->round, memory_order_acquire);
        if (round != seen) {
            return round;
        }
        spin_pause();
    }
    pthread_mutex_lock(&crew->mutex);
    atomic_fetch_add(&crew->asleep, 1);
    while (atomic_load(&crew->round) == seen) {
        pthread_cond_wait(&crew->wake, &crew->mutex);
    }
    atomic_fetch_sub(&crew->asleep, 1);
    pthread_mutex_unlock(&crew->mutex);
    return atomic_load_explicit(&crew->round, memory_order_acquire);
}

static void crew_next_round(Crew *crew)
{
    atomic_fetch_add(&crew->round, 1);
    if (atomic_load(&crew->asleep) > 0) {
        pthread_mutex_lock(&crew->mutex);
        pthread_cond_broadcast(&crew->wake);
        pthread_mutex_unlock(&crew->mutex);
    }
}

/* Helpers find their part by the order in which they were started. */
static void *helper_main(void *argument)
{
    Crew *crew = argument;
    uint32_t part = atomic_fetch_sub(&crew->working, 1);
    unsigned seen = 0;
    for (;;) {
        seen = crew_wait(crew, seen);
        if (atomic_load(&crew->quit)) {
            return NULL;
        }
        crew->work(crew->context, part, crew->count + 1);
        atomic_fetch_sub_explicit(&crew->working, 1, memory_order_release);
    }
}

/* On a busy machine a helper may have lost its processor: after a while it gets ours. */
static void crew_wait_for_all(Crew *crew)
{
    for (uint32_t i = 0; atomic_load_explicit(&crew->working, memory_order_acquire) > 0; i++) {
        if (i < CREW_SPINS) {
            spin_pause();
        } else {
            sched_yield();
        }
    }
}

TyStatus crew_open(Crew *crew, uint32_t helpers)
{
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->wake, NULL);
    atomic_store(&crew->working, helpers);
    for (uint32_t i = 0; i < helpers; i++) {
        if (pthread_create(&crew->threads[i], NULL, helper_main, crew) != 0) {
            atomic_fetch_sub(&crew->working, helpers - i);
            crew_wait_for_all(crew);
            crew_close(crew);
            return status_fail(TY_LIMIT, "the system has no thread number %u for the pool", i + 2);
        }
        crew->count++;
    }
    crew_wait_for_all(crew);
    return status_ok();
}

void crew_close(Crew *crew)
{
    atomic_store(&crew->quit, true);
    crew_next_round(crew);
    for (uint32_t i = 0; i < crew->count; i++) {
        pthread_join(crew->threads[i], NULL);
    }
    pthread_cond_destroy(&crew->wake);
    pthread_mutex_destroy(&crew->mutex);
}

void crew_run(Crew *crew, void (*work)(void *context, uint32_t part, uint32_t parts), void *context)
{
    if (crew->count == 0) {
        work(context, 0, 1);
        return;
    }
    crew->work = work;
    crew->context = context;
    atomic_store(&crew->working, crew->count);
    crew_next_round(crew);
    work(context, 0, crew->count + 1);
    crew_wait_for_all(crew);
}
