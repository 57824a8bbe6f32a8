/* Playing through shared memory: commands, and waiting for what comes of them. */
#define _GNU_SOURCE
#include "proto/client_shm_internal.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { BELL_BYTES = 4096 /* taken from the bell's pipe at once */ };

static bool in_flight(const TyShmClient *client, uint32_t group)
{
    return atomic_load_explicit(&client->words->answers[group].served, memory_order_acquire) !=
           client->number[group];
}

/* The fence stands between our `number` and the daemon's `sleeping`, as the daemon's does the other
 * way round: one of the two sees the other. */
bool ty_shm_submit(TyShmClient *client, uint32_t group, const uint8_t *which)
{
    if (group >= client->slab.groups || in_flight(client, group)) {
        return false;
    }
    ShmCommand *order = &client->orders[group];
    uint32_t renewed =
        atomic_load_explicit(&client->words->answers[group].renewed, memory_order_acquire);
    if ((int32_t)(renewed - client->seen[group]) > 0) {
        client->seen[group] = renewed;
    }
    if (which != NULL) {
        memcpy(client->commands + client->which_offset[group], which,
               client->slab.group[group].rows);
    }
    atomic_store_explicit(&order->kind, which != NULL ? SHM_STEP_SOME : SHM_STEP,
                          memory_order_relaxed);
    atomic_store_explicit(&order->seen, client->seen[group], memory_order_relaxed);
    atomic_store_explicit(&order->number, ++client->number[group], memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&client->words->sleeping, memory_order_relaxed) != 0) {
        const uint64_t one = 1;
        ssize_t rung = write(client->fds[2], &one, sizeof one);
        (void)rung;
    }
    return true;
}

/* True if there is news of the group, which then counts as seen. */
static bool group_look(TyShmClient *client, uint32_t group)
{
    const ShmAnswer *answer = &client->words->answers[group];
    uint32_t published = atomic_load_explicit(&answer->published, memory_order_acquire);
    if (published == client->seen[group] || in_flight(client, group)) {
        return false;
    }
    client->seen[group] = published;
    return true;
}

/* The groups first..end-1 that are waited for. */
typedef struct Watch {
    uint32_t first;
    uint32_t end;
    uint32_t found;
} Watch;

static bool watch_look(TyShmClient *client, Watch *watch)
{
    uint32_t count = watch->end - watch->first;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = watch->first + (client->turn + i) % count;
        if (group_look(client, group)) {
            watch->found = group;
            return true;
        }
    }
    return false;
}

static void watch_sleeping(TyShmClient *client, const Watch *watch, uint32_t sleeping)
{
    for (uint32_t group = watch->first; group < watch->end; group++) {
        atomic_store_explicit(&client->orders[group].sleeping, sleeping, memory_order_relaxed);
    }
}

/* Sleeps until the bell rings, the daemon dies or the time is over. False if the daemon is gone.
 */
static bool bell_wait(TyShmClient *client, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = client->fds[3], .events = POLLIN},
                            {.fd = client->lease, .events = POLLIN | POLLRDHUP}};
    client->sleeps++;
    if (poll(fds, 2, timeout_ms) <= 0) {
        return true;
    }
    if ((fds[0].revents & POLLIN) != 0) {
        char bells[BELL_BYTES];
        ssize_t count = read(client->fds[3], bells, sizeof bells);
        (void)count;
    }
    return fds[1].revents == 0;
}

static int time_left(uint64_t deadline_ns)
{
    uint64_t now = clock_ns();
    return now >= deadline_ns ? 0 : (int)((deadline_ns - now + 999999) / 1000000);
}

/* The slow part of waiting: with system calls. */
static TyShmWait watch_sleep(TyShmClient *client, Watch *watch, int timeout_ms)
{
    uint64_t deadline = timeout_ms < 0 ? 0 : clock_ns() + (uint64_t)timeout_ms * UINT64_C(1000000);
    TyShmWait result = TY_SHM_TIMEOUT;
    watch_sleeping(client, watch, 1);
    for (;;) {
        atomic_thread_fence(memory_order_seq_cst);
        if (watch_look(client, watch)) {
            result = TY_SHM_READY;
            break;
        }
        if (atomic_load(&client->words->state) != SHM_OPEN) {
            result = TY_SHM_CLOSED;
            break;
        }
        /* Also who does not wait hears that the daemon is gone. */
        int left = timeout_ms < 0 ? -1 : time_left(deadline);
        bool there = bell_wait(client, left);
        if (!there || left == 0) {
            result = watch_look(client, watch) ? TY_SHM_READY
                     : there                   ? TY_SHM_TIMEOUT
                                               : TY_SHM_CLOSED;
            break;
        }
    }
    watch_sleeping(client, watch, 0);
    return result;
}

static TyShmWait watch_wait(TyShmClient *client, Watch *watch, int timeout_ms)
{
    if (watch_look(client, watch)) {
        return TY_SHM_READY;
    }
    for (uint32_t i = shm_spin_budget(&client->spin); i > 0; i--) {
        if (client->header.crowded && i % SHM_LOOKS_PER_YIELD == 0) {
            sched_yield();
        }
        shm_pause();
        if (watch_look(client, watch)) {
            shm_spin_learn(&client->spin, false);
            return TY_SHM_READY;
        }
    }
    shm_spin_learn(&client->spin, true);
    return watch_sleep(client, watch, timeout_ms);
}

TyShmWait ty_shm_wait(TyShmClient *client, uint32_t group, int timeout_ms)
{
    Watch watch = {.first = group, .end = group + 1};
    return group < client->slab.groups ? watch_wait(client, &watch, timeout_ms) : TY_SHM_CLOSED;
}

TyShmWait ty_shm_wait_any(TyShmClient *client, uint32_t *group, int timeout_ms)
{
    Watch watch = {.first = 0, .end = client->slab.groups};
    TyShmWait result = watch_wait(client, &watch, timeout_ms);
    if (result == TY_SHM_READY) {
        *group = watch.found;
        client->turn = watch.found + 1;
    }
    return result;
}

TyShmNews ty_shm_news(const TyShmClient *client, uint32_t group)
{
    const ShmAnswer *answer = &client->words->answers[group];
    uint32_t served = atomic_load_explicit(&answer->served, memory_order_acquire);
    return (TyShmNews){
        .ready = atomic_load_explicit(&answer->ready, memory_order_relaxed),
        .illegal = atomic_load_explicit(&answer->illegal, memory_order_relaxed),
        .ignored = atomic_load_explicit(&answer->ignored, memory_order_relaxed),
        .result = atomic_load_explicit(&answer->result, memory_order_relaxed),
        .given = client->number[group],
        .served = served,
    };
}
