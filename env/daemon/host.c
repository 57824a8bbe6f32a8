/* The thread of a pool: takes jobs from its queue, serves shared memory, sleeps when there is
 * nothing to do. */
#define _GNU_SOURCE
#include "core/status.h"
#include "daemon/host_internal.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_PER_CLOCK = 64 /* at shared memory, before the time is looked at */ };

/* ---- What hosts share ---- */

void host_shared_init(HostShared *shared, const Limits *limits)
{
    bool alone = sysconf(_SC_NPROCESSORS_ONLN) <= 1;
    *shared = (HostShared){.limits = *limits,
                           .spin_ns = alone ? 0 : (uint32_t)limits->shm_spin_us * 1000};
    pthread_mutex_init(&shared->mutex, NULL);
    buffer_store_init(&shared->buffers);
}

void host_shared_fini(HostShared *shared)
{
    buffer_store_fini(&shared->buffers);
    pthread_mutex_destroy(&shared->mutex);
}

Job *host_fetch(HostShared *shared)
{
    pthread_mutex_lock(&shared->mutex);
    Job *job = shared->done_first;
    if (job != NULL) {
        shared->done_first = job->next;
        job->next = NULL;
    }
    pthread_mutex_unlock(&shared->mutex);
    return job;
}

/* ---- Jobs ---- */

static JobAction *const job_actions[OP_COUNT] = {
    [OP_DESCRIBE] = job_describe,
    [OP_OPEN] = job_open,
    [OP_JOIN] = job_join,
    [OP_LEAVE] = job_leave,
    [OP_RESET] = job_reset,
    [OP_STEP] = job_step,
    [OP_SEND] = job_send,
    [OP_RECV] = job_recv,
    [OP_OBSERVE] = job_observe,
    [OP_LEGAL] = job_legal,
    [OP_STATE] = job_state,
    [OP_TEXT] = job_text,
    [OP_SNAPSHOT] = job_snapshot,
    [OP_RESTORE] = job_restore,
    [OP_FORK] = job_fork,
    [OP_RESAMPLE] = job_resample,
    [OP_EXPORT] = job_export,
    [OP_IMPORT] = job_import,
    [OP_DROP] = job_drop,
    [OP_ROLLOUT] = job_rollout,
    [OP_REPLAY_GET] = job_replay_get,
    [OP_REPLAY_VERIFY] = job_replay_verify,
};

static void host_shut(Host *host)
{
    host_refuse_waiters(host, -1, "the pool was closed");
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        HostMember *member = &host->members[i];
        host_door_close(host, i);
        free(member->told);
        free(member->asked_mark);
        free(member->asked_since);
    }
    host_drop_snapshots(host);
    free(host->snapshots);
    free(host->chosen);
    free(host->ended);
    free(host->which);
    free(host->keys);
    if (host->feed != NULL) {
        recorder_feed_close(host->feed);
    }
    ty_pool_close(host->pool);
    ty_ruleset_close(host->ruleset);
    atomic_fetch_sub(&host->shared->memory_bytes, host->bytes);
}

/* Those who are gone leave their seats, and their shared memory is given back. */
static void members_vanish(Host *host, uint8_t members)
{
    for (uint32_t i = 0; host->pool != NULL && i < TY_MEMBERS_MAX; i++) {
        if ((members >> i & 1) != 0) {
            host_member_gone(host, i);
            host_door_close(host, i);
        }
    }
}

static void job_run(Host *host, Job *job)
{
    host->now_ms = job->now_ms;
    switch (job->kind) {
    case JOB_REQUEST:
        if (host->pool == NULL && job->request.op != OP_OPEN && job->request.op != OP_DESCRIBE &&
            job->request.op != OP_REPLAY_VERIFY) {
            job_refuse(host, job, ERROR_no_pool, -1, "the pool could not be opened");
        } else {
            job_actions[job->request.op](host, job);
        }
        return;
    case JOB_VANISH:
        members_vanish(host, job->lost);
        job_done(host, job);
        return;
    case JOB_TICK:
        job->lost = host->pool != NULL ? host_tick(host) : 0;
        job_done(host, job);
        return;
    case JOB_QUIT:
        host->quit = true;
        host_shut(host);
        job_done(host, job);
        return;
    }
}

/* A pool that is played through shared memory comes by all the time: it takes no lock for nothing.
 */
static Job *queue_pop(Host *host)
{
    if (atomic_load_explicit(&host->queued, memory_order_acquire) == 0) {
        return NULL;
    }
    pthread_mutex_lock(&host->mutex);
    Job *job = host->first;
    host->first = job->next;
    job->next = NULL;
    atomic_fetch_sub(&host->queued, 1);
    pthread_mutex_unlock(&host->mutex);
    return job;
}

void host_submit(Host *host, Job *job)
{
    job->host = host;
    job->next = NULL;
    if (job->kind == JOB_REQUEST) {
        atomic_fetch_add(&host->jobs, 1);
    }
    if (!host->started) {
        job_run(host, job);
        return;
    }
    pthread_mutex_lock(&host->mutex);
    if (host->first == NULL) {
        host->first = job;
    } else {
        host->last->next = job;
    }
    host->last = job;
    atomic_fetch_add(&host->queued, 1);
    bool wake = host->asleep;
    host->asleep = false;
    pthread_mutex_unlock(&host->mutex);
    if (wake) {
        uint64_t one = 1;
        ssize_t written = write(host->wake_fd, &one, sizeof one);
        (void)written;
    }
}

/* ---- The thread ---- */

/* Lets every door take its client's commands. True if there were any. */
static bool doors_serve(Host *host)
{
    bool busy = false;
    for (uint32_t i = 0; host->door_count > 0 && i < TY_MEMBERS_MAX; i++) {
        const HostMember *member = &host->members[i];
        bool open = member->door != NULL && member->state == MEMBER_HERE;
        uint64_t groups = open ? shm_door_serve(member->door) : 0;
        if (groups != 0) {
            host_settle(host, groups, (int32_t)i);
            busy = true;
        }
    }
    if (busy) {
        host_show_counts(host);
    }
    return busy;
}

static uint64_t clock_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* Looks at the doors and the queue for a short while. True if there is something to do. */
static bool host_look(Host *host)
{
    uint32_t budget = shm_spin_budget(&host->spin);
    if (host->door_count == 0 || budget == 0) {
        return false;
    }
    bool crowded = ty_pool_crowded(host->pool);
    for (uint64_t end = clock_ns() + budget; clock_ns() < end;) {
        for (uint32_t i = 0; i < LOOKS_PER_CLOCK; i++) {
            if (doors_serve(host) || atomic_load(&host->queued) > 0) {
                return true;
            }
            shm_pause();
        }
        if (crowded) {
            sched_yield();
        }
    }
    return false;
}

static bool host_spin(Host *host)
{
    bool found = host_look(host);
    shm_spin_learn(&host->spin, !found);
    return found;
}

/* Says that the thread is about to sleep; false if a job came in meanwhile. */
static bool queue_sleep(Host *host)
{
    pthread_mutex_lock(&host->mutex);
    host->asleep = host->first == NULL;
    bool asleep = host->asleep;
    pthread_mutex_unlock(&host->mutex);
    return asleep;
}

static void queue_awake(Host *host)
{
    pthread_mutex_lock(&host->mutex);
    host->asleep = false;
    pthread_mutex_unlock(&host->mutex);
}

static void host_sleep(Host *host)
{
    struct pollfd fds[TY_MEMBERS_MAX + 1] = {{.fd = host->wake_fd, .events = POLLIN}};
    nfds_t count = 1;
    bool idle = true;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        ShmDoor *door = host->members[i].door;
        if (door != NULL) {
            idle = shm_door_prepare_sleep(door) && idle;
            fds[count++] =
                (struct pollfd){.fd = shm_door_descriptors(door).to_pool, .events = POLLIN};
        }
    }
    if (idle && queue_sleep(host) && poll(fds, count, -1) > 0 && (fds[0].revents & POLLIN) != 0) {
        uint64_t value = 0;
        ssize_t got = read(host->wake_fd, &value, sizeof value);
        (void)got;
    }
    queue_awake(host);
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        if (host->members[i].door != NULL) {
            shm_door_awake(host->members[i].door);
        }
    }
}

static void *host_main(void *argument)
{
    Host *host = argument;
    for (;;) {
        bool busy = false;
        Job *job = NULL;
        while ((job = queue_pop(host)) != NULL) {
            bool quit = job->kind == JOB_QUIT;
            job_run(host, job);
            if (quit) {
                return NULL;
            }
            busy = true;
        }
        busy = doors_serve(host) || busy;
        if (!busy && !host_spin(host)) {
            host_sleep(host);
        }
    }
}

TyStatus host_open(HostShared *shared, uint32_t id, Host **out)
{
    *out = NULL;
    Host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for another pool");
    }
    host->shared = shared;
    host->id = id;
    host->wake_fd = -1;
    host->spin = shm_spin(shared->spin_ns);
    pthread_mutex_init(&host->mutex, NULL);
    if (shared->threaded) {
        host->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        host->started =
            host->wake_fd >= 0 && pthread_create(&host->thread, NULL, host_main, host) == 0;
        if (!host->started) {
            host_close(host);
            return status_fail(TY_LIMIT, "the system has no thread for another pool");
        }
    }
    *out = host;
    return status_ok();
}

void host_close(Host *host)
{
    if (host->started) {
        pthread_join(host->thread, NULL);
    }
    if (host->wake_fd >= 0) {
        close(host->wake_fd);
    }
    pthread_mutex_destroy(&host->mutex);
    free(host);
}

/* ---- Statistics ---- */

uint32_t host_id(const Host *host)
{
    return host->id;
}

void host_stats(Host *host, HostStats *stats)
{
    pthread_mutex_lock(&host->mutex);
    *stats = host->stats;
    pthread_mutex_unlock(&host->mutex);
    stats->decisions = atomic_load(&host->decisions);
    stats->episodes = atomic_load(&host->episodes);
    stats->waiting = atomic_load(&host->waiting);
    stats->jobs = atomic_load(&host->jobs);
}

bool host_wants_ticks(const Host *host)
{
    return atomic_load(&((Host *)host)->ticks) || atomic_load(&((Host *)host)->waiting) > 0;
}
