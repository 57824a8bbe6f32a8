/* Threads that step parts of a pool side by side. */
#define _POSIX_C_SOURCE 200809L
#include "core/status.h"
#include "pool/pool_internal.h"

#include <sched.h>
#include <unistd.h>

enum {
    CREW_SPINS = 2000, /* looks at a word before a thread lets others have the processor */
    CREW_YIELDS = 200, /* the same in a crowd, where others may have it after every look */
    CREW_PIECES = 4,   /* of work for each thread */
};

/* Between two looks at a word. In a crowd, what is waited for may need this processor. */
static inline void look_away(const Crew *crew)
{
    if (crew->crowded) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* ---- Pieces of work ----
 *
 * Every thread begins with pieces of its own, always the same ones, whose slots are in its cache.
 * Then it takes what others have not come to: one that the system keeps from running delays nobody.
 */

/* Takes the next piece of `owner` in this round; false if there is none left. */
static bool piece_take(Crew *crew, uint32_t owner, unsigned round, uint32_t *piece)
{
    unsigned long long ticket = atomic_load_explicit(&crew->tickets[owner], memory_order_acquire);
    do {
        *piece = (uint32_t)ticket;
        if ((unsigned)(ticket >> 32) != round || *piece >= CREW_PIECES) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&crew->tickets[owner], &ticket, ticket + 1));
    return true;
}

/* Whoever has taken a piece may look at the work: it stays until the piece is done. */
static void crew_work(Crew *crew, uint32_t self, unsigned round)
{
    uint32_t threads = crew->count + 1;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t owner = (self + i) % threads;
        uint32_t piece = 0;
        while (piece_take(crew, owner, round, &piece)) {
            crew->work(crew->context, owner * CREW_PIECES + piece, threads * CREW_PIECES);
            atomic_fetch_sub_explicit(&crew->left, 1, memory_order_release);
        }
    }
}

/* ---- Helpers ---- */

/* Waits for the round after `seen`: spinning first, then asleep. */
static unsigned crew_wait(Crew *crew, unsigned seen)
{
    for (uint32_t i = crew->crowded ? CREW_YIELDS : CREW_SPINS; i > 0; i--) {
        unsigned round = atomic_load_explicit(&crew->round, memory_order_acquire);
        if (round != seen) {
            return round;
        }
        look_away(crew);
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

static void crew_next_round(Crew *crew, unsigned round)
{
    atomic_store(&crew->round, round);
    if (atomic_load(&crew->asleep) > 0) {
        pthread_mutex_lock(&crew->mutex);
        pthread_cond_broadcast(&crew->wake);
        pthread_mutex_unlock(&crew->mutex);
    }
}

/* Helpers find their number by the order in which they start. */
static void *helper_main(void *argument)
{
    Crew *crew = argument;
    uint32_t self = atomic_fetch_sub(&crew->left, 1);
    unsigned seen = 0;
    for (;;) {
        seen = crew_wait(crew, seen);
        if (atomic_load(&crew->quit)) {
            return NULL;
        }
        crew_work(crew, self, seen);
    }
}

/* On a busy machine a helper may have lost its processor in the middle of a piece: after a while it
 * gets ours. */
static void crew_wait_for_all(Crew *crew)
{
    for (uint32_t i = 0; atomic_load_explicit(&crew->left, memory_order_acquire) > 0; i++) {
        if (i < CREW_SPINS) {
            look_away(crew);
        } else {
            sched_yield();
        }
    }
}

/* ---- Opening, closing, running ---- */

TyStatus crew_open(Crew *crew, uint32_t helpers)
{
    crew->crowded = helpers + 1 >= sysconf(_SC_NPROCESSORS_ONLN);
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->wake, NULL);
    atomic_store(&crew->left, helpers);
    for (uint32_t i = 0; i < helpers; i++) {
        if (pthread_create(&crew->threads[i], NULL, helper_main, crew) != 0) {
            atomic_fetch_sub(&crew->left, helpers - i);
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
    crew_next_round(crew, atomic_load(&crew->round) + 1);
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
    unsigned round = atomic_load_explicit(&crew->round, memory_order_relaxed) + 1;
    crew->work = work;
    crew->context = context;
    atomic_store(&crew->left, (crew->count + 1) * CREW_PIECES);
    for (uint32_t i = 0; i <= crew->count; i++) {
        atomic_store_explicit(&crew->tickets[i], (unsigned long long)round << 32,
                              memory_order_release);
    }
    crew_next_round(crew, round);
    crew_work(crew, 0, round);
    crew_wait_for_all(crew);
}
