/* A daemon in miniature. */
#define _GNU_SOURCE
#include "tests/shm/yard.h"

#include "core/status.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum {
    YARD_LOOKS = 16,    /* rounds over the doors between two looks at the clock */
    YARD_SLEEP_MS = 20, /* longest sleep */
};

uint64_t yard_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static TyStatus yard_asked(void *user, const ShmHello *hello, uint64_t lease,
                           ShmDescriptors *descriptors)
{
    Yard *yard = user;
    if (memcmp(hello->token, yard->token, sizeof yard->token) != 0) {
        return ty_status_fail(TY_BAD_ARGUMENT, "there is no session with this token");
    }
    if (hello->pool >= yard->count || yard->doors[hello->pool].door == NULL ||
        yard->doors[hello->pool].member != hello->member) {
        return ty_status_fail(TY_BAD_ARGUMENT, "the session has no such pool");
    }
    YardDoor *door = &yard->doors[hello->pool];
    if (door->lease != 0) {
        return ty_status_fail(TY_LIMIT, "the pool's shared memory is in use");
    }
    door->lease = lease;
    *descriptors = shm_channel_descriptors(door->door);
    return ty_status_ok();
}

static void yard_ended(void *user, uint64_t lease)
{
    Yard *yard = user;
    for (uint32_t i = 0; i < yard->count; i++) {
        if (yard->doors[i].lease == lease) {
            yard->doors[i].lease = 0;
            yard->doors[i].left = true;
        }
    }
}

TyStatus yard_open(Yard *yard, const char *path)
{
    const ShmHandler host = {.user = yard, .asked = yard_asked, .ended = yard_ended};
    *yard = (Yard){.count = 0};
    memset(yard->token, 0x5a, sizeof yard->token);
    return shm_server_open(path, &host, &yard->server);
}

void yard_close(Yard *yard)
{
    shm_server_close(yard->server);
    for (uint32_t i = 0; i < yard->count; i++) {
        shm_channel_close(yard->doors[i].door);
    }
}

TyStatus yard_add(Yard *yard, TyPool *pool, uint32_t member)
{
    YardDoor *door = &yard->doors[yard->count];
    *door = (YardDoor){.pool = pool, .member = member};
    TyStatus status = shm_channel_open(pool, member, &door->door);
    yard->count += status.code == TY_OK;
    return status;
}

void yard_remove(Yard *yard, uint32_t number)
{
    YardDoor *door = &yard->doors[number];
    shm_channel_close(door->door);
    door->door = NULL;
    if (door->lease != 0) {
        shm_server_drop(yard->server, door->lease);
    }
}

/* Another member of the same pool may have rows to see after a step. */
static void yard_publish(Yard *yard, uint32_t stepped)
{
    for (uint32_t i = 0; i < yard->count; i++) {
        if (i != stepped && yard->doors[i].door != NULL &&
            yard->doors[i].pool == yard->doors[stepped].pool) {
            shm_channel_publish(yard->doors[i].door);
        }
    }
}

bool yard_serve(Yard *yard)
{
    bool any = false;
    for (uint32_t i = 0; i < yard->count; i++) {
        if (yard->doors[i].door != NULL && shm_channel_serve(yard->doors[i].door)) {
            yard_publish(yard, i);
            any = true;
        }
    }
    return any;
}

bool yard_is_deserted(const Yard *yard)
{
    bool deserted = true;
    for (uint32_t i = 0; i < yard->count; i++) {
        deserted = deserted && yard->doors[i].left && yard->doors[i].lease == 0;
    }
    return deserted;
}

/* Sleeps until a client rings, comes or goes, at most for `most_ns`. */
static void yard_sleep(Yard *yard, uint64_t most_ns)
{
    int most_ms = most_ns / 1000000 < YARD_SLEEP_MS ? (int)(most_ns / 1000000) : YARD_SLEEP_MS;
    struct pollfd fds[YARD_DOORS_MAX + 1] = {{.fd = shm_server_fd(yard->server), .events = POLLIN}};
    bool quiet = true;
    for (uint32_t i = 0; i < yard->count; i++) {
        const ShmChannel *door = yard->doors[i].door;
        fds[i + 1] = (struct pollfd){
            .fd = door != NULL ? shm_channel_descriptors(door).to_pool : -1, .events = POLLIN};
        quiet = quiet && (door == NULL || shm_channel_prepare_sleep(yard->doors[i].door));
    }
    if (quiet) {
        poll(fds, yard->count + 1, most_ms);
    }
    for (uint32_t i = 0; i < yard->count; i++) {
        if (yard->doors[i].door != NULL) {
            shm_channel_awake(yard->doors[i].door);
        }
    }
    shm_server_serve(yard->server, yard_clock_ns() / 1000000);
}

static uint32_t spin_time(void)
{
    cpu_set_t processors;
    bool single =
        sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) == 1;
    return single ? 0 : SHM_SPIN_NS;
}

void yard_run(Yard *yard, uint64_t until_ns, bool (*stop)(const Yard *yard))
{
    ShmSpin spin = shm_spin(spin_time());
    uint64_t now = yard_clock_ns();
    uint64_t idle = now; /* since when */
    uint64_t greeted = now;
    while (now < until_ns) {
        bool any = false;
        bool waited = false;
        for (uint32_t i = 0; i < YARD_LOOKS; i++) {
            bool served = yard_serve(yard);
            any = any || served;
            waited = waited || !served;
            if (!served) {
                shm_pause();
            }
        }
        now = yard_clock_ns();
        if (any) {
            idle = now;
        }
        if (any && waited) {
            shm_spin_learn(&spin, false);
        }
        if (!any && now - idle >= shm_spin_budget(&spin)) {
            shm_spin_learn(&spin, true);
            yard_sleep(yard, until_ns > now ? until_ns - now : 0);
            idle = now = greeted = yard_clock_ns();
            if (stop != NULL && stop(yard)) {
                return;
            }
        } else if (now - greeted > UINT64_C(1000000) * YARD_SLEEP_MS) {
            shm_server_serve(yard->server, now / 1000000);
            greeted = now;
        }
    }
}
