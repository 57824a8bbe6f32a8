/* Threads that step parts of a pool side by side. */
#define _POSIX_C_SOURCE 200809L
#include "core/status.h"
#include "pool/pool_internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CREW_SPINS = 2000, /* looks at a word before a thread lets others have the processor */
    CREW_YIELDS = 200, /* the same in a crowd, where others may have it after every look */
    CREW_PIECES = 4,   /* of work for each thread */
};

_Static_assert(sizeof(CrewSeat) == 2 * LINE_SIZE, "no two threads write the same line");
_Static_assert(offsetof(Crew, starting) / LINE_SIZE > offsetof(Crew, context) / LINE_SIZE,
               "going to sleep disturbs nobody who works");

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
 * Then it looks whether some others are slow, and takes what they have not come to; the caller
 * looks at all of them, so that one that the system keeps from running delays nobody.
 *
 * With many processors what costs is lines that several of them write. In a round of T threads:
 *   - the caller writes one line, which every thread reads once;
 *   - each thread writes its own seat (ticket, done, tally), which the caller reads once at the
 * end, and up to log2 T others look at when they have nothing left;
 *   - nobody writes a line that others write, unless it takes a piece off a slow thread.
 * So about 3 + log2 T lines travel for each thread, 9 with 64 of them, and no word is fought for.
 */

/* Takes the next piece of `owner` in this round; false if there is none left. A ticket of an
 * earlier round means that nobody has begun here. One of a later round means that we are late: all
 * was done.
 */
static bool piece_take(Crew *crew, uint32_t owner, unsigned round, uint32_t *piece)
{
    atomic_ullong *ticket = &crew->seats[owner].ticket;
    unsigned long long seen = atomic_load_explicit(ticket, memory_order_acquire);
    do {
        unsigned of = (unsigned)(seen >> 32);
        *piece = of == round ? (uint32_t)seen : 0;
        if ((int)(round - of) < 0 || *piece >= CREW_PIECES) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(ticket, &seen,
                                           (unsigned long long)round << 32 | (*piece + 1)));
    return true;
}

/* Does what is left of the owner's pieces. A thread that has taken a piece may look at the work: it
 * stays until the piece is done. */
static void crew_work_of(Crew *crew, uint32_t self, uint32_t owner, unsigned round)
{
    uint32_t threads = crew->count + 1;
    uint32_t piece = 0;
    while (piece_take(crew, owner, round, &piece)) {
        crew->work(crew->context, owner * CREW_PIECES + piece, threads * CREW_PIECES,
                   &crew->seats[self].tally);
        atomic_fetch_add_explicit(&crew->seats[owner].done, 1, memory_order_release);
    }
}

/* Its own pieces, then those of threads 1, 2, 4, ... further. */
static void crew_work(Crew *crew, uint32_t self, unsigned round)
{
    uint32_t threads = crew->count + 1;
    crew_work_of(crew, self, self, round);
    for (uint32_t distance = 1; distance < threads; distance *= 2) {
        crew_work_of(crew, self, (self + distance) % threads, round);
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
    uint32_t self = atomic_fetch_sub(&crew->starting, 1);
    unsigned seen = 0;
    for (;;) {
        seen = crew_wait(crew, seen);
        if (atomic_load(&crew->quit)) {
            return NULL;
        }
        crew_work(crew, self, seen);
    }
}

/* On a busy machine what we wait for may have lost its processor: after a while it gets ours. */
static void wait_a_little(const Crew *crew, uint32_t looks)
{
    if (looks < CREW_SPINS) {
        look_away(crew);
    } else {
        sched_yield();
    }
}

/* Every piece of every thread is done, by whomever. */
static void crew_wait_for_all(Crew *crew, unsigned round)
{
    for (uint32_t owner = 0; owner <= crew->count; owner++) {
        const atomic_uint *done = &crew->seats[owner].done;
        for (uint32_t i = 0;
             atomic_load_explicit(done, memory_order_acquire) != round * CREW_PIECES; i++) {
            crew_work_of(crew, 0, owner, round);
            wait_a_little(crew, i);
        }
    }
}

/* ---- Opening, closing, running ---- */

static void crew_wait_for_starts(Crew *crew)
{
    for (uint32_t i = 0; atomic_load_explicit(&crew->starting, memory_order_acquire) > 0; i++) {
        wait_a_little(crew, i);
    }
}

TyStatus crew_open(Crew *crew, uint32_t helpers)
{
    size_t size = (helpers + 1) * sizeof crew->seats[0];
    crew->crowded = helpers + 1 >= sysconf(_SC_NPROCESSORS_ONLN);
    crew->seats = aligned_alloc(_Alignof(CrewSeat), size);
    if (crew->seats == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for %u threads", helpers + 1);
    }
    memset(crew->seats, 0, size);
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->wake, NULL);
    atomic_store(&crew->starting, helpers);
    for (uint32_t i = 0; i < helpers; i++) {
        if (pthread_create(&crew->threads[i], NULL, helper_main, crew) != 0) {
            atomic_fetch_sub(&crew->starting, helpers - i);
            crew_wait_for_starts(crew);
            crew_close(crew);
            return ty_status_fail(TY_LIMIT, "the system has no thread number %u for the pool",
                                  i + 2);
        }
        crew->count++;
    }
    crew_wait_for_starts(crew);
    return ty_status_ok();
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
    free(crew->seats);
}

void crew_run(Crew *crew, void (*work)(void *context, uint32_t part, uint32_t parts, Tally *tally),
              void *context)
{
    if (crew->count == 0) {
        work(context, 0, 1, &crew->seats[0].tally);
        return;
    }
    unsigned round = atomic_load_explicit(&crew->round, memory_order_relaxed) + 1;
    crew->work = work;
    crew->context = context;
    crew_next_round(crew, round);
    crew_work(crew, 0, round);
    crew_wait_for_all(crew, round);
}

/* ---- Counting ---- */

Tally crew_tally(const Crew *crew)
{
    Tally sum = {0};
    for (uint32_t i = 0; i <= crew->count; i++) {
        const Tally *tally = &crew->seats[i].tally;
        sum.ready += tally->ready;
        sum.illegal += tally->illegal;
        sum.answered += tally->answered;
    }
    return sum;
}

void crew_note_episode(Crew *crew, uint32_t row, uint32_t rows)
{
    CrewSeat *seat = &crew->seats[(uint64_t)row * (crew->count + 1) / rows];
    atomic_fetch_add_explicit(&seat->episodes, 1, memory_order_relaxed);
}

uint64_t crew_episodes(const Crew *crew)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= crew->count; i++) {
        sum += atomic_load_explicit(&crew->seats[i].episodes, memory_order_relaxed);
    }
    return sum;
}
