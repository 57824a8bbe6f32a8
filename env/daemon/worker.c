/* The thread of a worker: takes jobs from its queue, serves shared memory, keeps those that wait,
 * sleeps when there is nothing to do. */
#define _GNU_SOURCE
#include "core/status.h"
#include "daemon/worker_internal.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIES_PER_CLOCK = 64,        /* of shared memory, before the clock is read */
    SLICE_NS = 5000000,          /* how long agents play on before others have their turn */
    SPARE_PART = 16,             /* of memory_bytes, for buffers that are not in use */
    SPARE_BYTES_MAX = 256 << 20, /* and no more than this */
    SMALL_SLOTS = 64,            /* of a pool whose steps dispatch does itself, */
    ALONE_SLOTS = 4096,          /* and of the only pool, with so few processors: see below */
    PROCESSORS_FEW = 2,
};

/* ---- What workers share ---- */

void worker_shared_init(WorkerShared *shared, const Limits *limits)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t spare = limits->memory_bytes / SPARE_PART;
    *shared = (WorkerShared){.first = {.limits = *limits},
                             .few_processors = processors <= PROCESSORS_FEW,
                             .spin_ns = processors <= 1 ? 0 : (uint32_t)limits->shm_spin_us * 1000};
    pthread_mutex_init(&shared->mutex, NULL);
    spare = spare < SPARE_BYTES_MAX ? spare : SPARE_BYTES_MAX;
    buffer_store_init(&shared->buffers, spare);
    quota_init(&shared->quota, QUOTA_OF_DAEMON, NULL, limits);
    atomic_fetch_sub(&shared->quota.max[QUOTA_BYTES], spare);
    atomic_init(&shared->limits, &shared->first.limits);
}

bool worker_shared_reload(WorkerShared *shared, const Limits *limits)
{
    LimitsVersion *version = malloc(sizeof *version);
    if (version == NULL) {
        return false;
    }
    *version = (LimitsVersion){.limits = *limits, .next = shared->later};
    shared->later = version;
    atomic_store(&shared->limits, &version->limits);
    quota_reload(&shared->quota, limits);
    uint64_t spare = shared->buffers.spare_max;
    uint64_t max = quota_max(&shared->quota, QUOTA_BYTES);
    atomic_store(&shared->quota.max[QUOTA_BYTES], max > spare ? max - spare : max / 2);
    return true;
}

void worker_shared_fini(WorkerShared *shared)
{
    while (shared->later != NULL) {
        LimitsVersion *version = shared->later;
        shared->later = version->next;
        free(version);
    }
    buffer_store_fini(&shared->buffers);
    pthread_mutex_destroy(&shared->mutex);
}

Job *worker_fetch(WorkerShared *shared)
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

static JobStep *const request_steps[OP_COUNT] = {
    [OP_DESCRIBE] = job_describe,
    [OP_RULES] = job_rules,
    [OP_OPEN] = job_open,
    [OP_JOIN] = job_join,
    [OP_LEAVE] = job_leave,
    [OP_RESET] = job_reset,
    [OP_STEP] = job_step,
    [OP_SEND] = job_send,
    [OP_RECV] = job_recv,
    [OP_OBSERVE] = job_observe,
    [OP_LEGAL] = job_legal,
    [OP_STATE] = job_text,
    [OP_TEXT] = job_text,
    [OP_EVENTS] = job_text,
    [OP_SVG] = job_text,
    [OP_WATCH] = job_watch,
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

/* Closes the pool. A director who asked for it hears that it is done. */
static JobState job_quit(Worker *worker, Job *job)
{
    waiting_refuse(worker, -1, "the pool was closed");
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        Member *member = &worker->members[i];
        member_channel_close(worker, i);
        ready_close(&member->rows);
        free(member->asked_mark);
        free(member->asked_since);
    }
    snapshot_store_fini(&worker->snapshots);
    if (worker->feed != NULL) {
        recorder_feed_close(worker->feed);
    }
    ty_pool_close(worker->pool);
    for (uint32_t i = 0; i < worker->agent_count; i++) {
        ty_agent_close(worker->agents[i]);
    }
    ty_ruleset_close(worker->ruleset);
    worker->pool = NULL;
    for (uint32_t kind = 0; kind < QUOTA_KINDS && worker->quota != NULL; kind++) {
        quota_give(worker->quota, (QuotaKind)kind, worker->taken[kind]);
    }
    quota_release(worker->quota);
    worker->quota = NULL;
    if (job->frame != NULL) {
        job_reply(job, 64, NULL, NULL);
    }
    return JOB_DONE;
}

static JobState job_stop_waiting(Worker *worker, Job *job)
{
    (void)job;
    waiting_stop(worker);
    return JOB_DONE;
}

static JobStep *job_first_step(const Job *job)
{
    switch (job->kind) {
    case JOB_REQUEST:
        return request_steps[job->request.op];
    case JOB_VANISH:
        return job_vanish;
    case JOB_TICK:
        return job_tick;
    case JOB_QUIT:
        return job_quit;
    case JOB_STOP:
        return job_stop_waiting;
    }
    return NULL;
}

/* Shows how much was played to those who ask for statistics. */
static void counts_show(Worker *worker)
{
    TyPoolCounts counts = ty_pool_counts(worker->pool);
    atomic_store_explicit(&worker->decisions, counts.decisions, memory_order_relaxed);
    atomic_store_explicit(&worker->episodes, counts.episodes, memory_order_relaxed);
    atomic_store_explicit(&worker->held, ty_pool_held(worker->pool), memory_order_relaxed);
}

void job_hand_back(Worker *worker, Job *job)
{
    WorkerShared *shared = worker->shared;
    if (worker->pool != NULL) {
        counts_show(worker);
    }
    if (job->kind == JOB_REQUEST) {
        atomic_fetch_sub(&worker->jobs, 1);
    }
    pthread_mutex_lock(&shared->mutex);
    bool first = shared->done_first == NULL;
    job->next = NULL;
    if (first) {
        shared->done_first = job;
    } else {
        shared->done_last->next = job;
    }
    shared->done_last = job;
    pthread_mutex_unlock(&shared->mutex);
    if (first && !worker->lent && shared->wake != NULL) {
        shared->wake(shared->wake_user);
    }
}

/* ---- Long work ---- */

static uint64_t clock_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* Whether the pool is to interrupt its work, even in the middle of a decision. */
static bool worker_hurries(void *user)
{
    Worker *worker = user;
    return atomic_load_explicit(&worker->hurry, memory_order_relaxed);
}

/* The same, between decisions. */
static bool worker_pauses(void *user)
{
    Worker *worker = user;
    if (worker->defers || worker_hurries(user)) {
        return true;
    }
    return worker->pauses_ns != 0 &&
           (atomic_load_explicit(&worker->queued, memory_order_relaxed) > 0 ||
            clock_ns() >= worker->pauses_ns);
}

/* Where nobody waits for agents that were interrupted, they play on while there is nothing else to
 * do. True if they did. */
static bool worker_think(Worker *worker)
{
    if (worker->pool == NULL || !pool_rests(worker->pool, -1)) {
        return false;
    }
    atomic_store(&worker->hurry, false);
    worker->pauses_ns = clock_ns() + SLICE_NS;
    pool_resume(worker->pool);
    worker->pauses_ns = 0;
    ready_refresh_all(worker);
    worker_settle(worker, ALL_GROUPS, -1);
    return true;
}

/* ---- The queue ---- */

/* A member's coming and going must reach the worker, whatever became of its session. */
static bool job_is_skipped(Job *job)
{
    return job->kind == JOB_REQUEST && job->request.op != OP_JOIN && job->request.op != OP_LEAVE &&
           job_stopped(job);
}

static void job_run(Worker *worker, Job *job)
{
    worker->now_ms = job->now_ms;
    job->step = job_first_step(job);
    switch (job_is_skipped(job) ? JOB_DONE : job->step(worker, job)) {
    case JOB_DONE:
        job_hand_back(worker, job);
        break;
    case JOB_WAITS:
        waiting_add(worker, job);
        break;
    }
    uint64_t changed = worker->changed;
    worker->changed = 0;
    if (changed != 0) {
        worker_settle(worker, changed, -1);
    }
}

/* A pool that is played through shared memory asks all the time: it takes no lock for nothing. */
static Job *queue_pop(Worker *worker)
{
    if (atomic_load_explicit(&worker->queued, memory_order_acquire) == 0) {
        return NULL;
    }
    pthread_mutex_lock(&worker->mutex);
    Job *job = worker->first;
    worker->first = job->next;
    job->next = NULL;
    atomic_fetch_sub(&worker->queued, 1);
    pthread_mutex_unlock(&worker->mutex);
    return job;
}

/* ---- Small steps ----
 *
 * To hand a job to another thread and back costs more than a step of a few rows. While the worker's
 * thread sleeps, it touches nothing before it has the mutex again: whoever has the mutex then works
 * in its place.
 *
 * Larger steps are worth a thread of their own, as long as there is a processor for it and the
 * thread that has the sockets has others to serve. Where there is neither, they are done in the
 * same way, up to a size that takes no more than some milliseconds. */

void worker_measure(Worker *worker)
{
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    bool known = config->threads <= 1 && worker->agent_count == 0 && worker->feed == NULL;
    worker->step_slots = known ? config->slots : UINT32_MAX;
}

static bool job_is_small(const Worker *worker, const Job *job)
{
    const WorkerShared *shared = worker->shared;
    Operation op = job->request.op;
    return worker->step_slots <=
               (shared->one_pool && shared->few_processors ? ALONE_SLOTS : SMALL_SLOTS) &&
           job->kind == JOB_REQUEST && (op == OP_STEP || op == OP_SEND || op == OP_RECV);
}

/* Dispatch, whose thread this is, fetches what is done: it needs no wake-up. */
static void job_run_here(Worker *worker, Job *job)
{
    worker->lent = true;
    job_run(worker, job);
    worker->lent = false;
}

void worker_submit(Worker *worker, Job *job)
{
    job->worker = worker;
    job->next = NULL;
    if (job->kind == JOB_REQUEST) {
        atomic_fetch_add(&worker->jobs, 1);
    }
    if (!worker->started) {
        job_run(worker, job);
        return;
    }
    pthread_mutex_lock(&worker->mutex);
    if (worker->asleep && job_is_small(worker, job)) {
        job_run_here(worker, job);
        pthread_mutex_unlock(&worker->mutex);
        return;
    }
    if (worker->first == NULL) {
        worker->first = job;
    } else {
        worker->last->next = job;
    }
    worker->last = job;
    atomic_fetch_add(&worker->queued, 1);
    bool wake = worker->asleep;
    worker->asleep = false;
    pthread_mutex_unlock(&worker->mutex);
    if (wake) {
        uint64_t one = 1;
        ssize_t written = write(worker->wake_fd, &one, sizeof one);
        (void)written;
    }
}

/* ---- The thread ---- */

/* Lets every channel take its client's commands. True if there were any. */
static bool channels_serve(Worker *worker)
{
    bool busy = false;
    for (uint32_t i = 0; worker->channel_count > 0 && i < TY_MEMBERS_MAX; i++) {
        const Member *member = &worker->members[i];
        bool open = member->channel != NULL && member->state == MEMBER_HERE;
        uint64_t groups = open ? shm_channel_serve(member->channel) : 0;
        for (uint32_t group = 0; worker->listeners > 0 && group < TY_GROUPS_MAX; group++) {
            if ((groups >> group & 1) != 0) {
                ready_refresh(worker, group);
            }
        }
        if (groups != 0) {
            worker_settle(worker, groups, (int32_t)i);
            busy = true;
        }
    }
    if (busy) {
        counts_show(worker);
    }
    return busy;
}

/* Tries the channels and the queue for a short while. True if there is something to do. */
static bool worker_try(Worker *worker)
{
    uint32_t budget = shm_spin_budget(&worker->spin);
    if (worker->channel_count == 0 || budget == 0) {
        return false;
    }
    bool crowded = ty_pool_crowded(worker->pool);
    for (uint64_t end = clock_ns() + budget; clock_ns() < end;) {
        for (uint32_t i = 0; i < TRIES_PER_CLOCK; i++) {
            if (channels_serve(worker) || atomic_load(&worker->queued) > 0) {
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

static bool worker_spin(Worker *worker)
{
    bool found = worker_try(worker);
    shm_spin_learn(&worker->spin, !found);
    return found;
}

/* Says that the thread is about to sleep; false if a job came in meanwhile. */
static bool queue_sleep(Worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    worker->asleep = worker->first == NULL;
    bool asleep = worker->asleep;
    pthread_mutex_unlock(&worker->mutex);
    return asleep;
}

/* Waits until nobody works in this thread's place. */
static void queue_awake(Worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    worker->asleep = false;
    pthread_mutex_unlock(&worker->mutex);
}

static void worker_sleep(Worker *worker)
{
    struct pollfd fds[TY_MEMBERS_MAX + 1] = {{.fd = worker->wake_fd, .events = POLLIN}};
    nfds_t count = 1;
    bool idle = true;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        ShmChannel *channel = worker->members[i].channel;
        if (channel != NULL) {
            idle = shm_channel_prepare_sleep(channel) && idle;
            fds[count++] =
                (struct pollfd){.fd = shm_channel_descriptors(channel).to_pool, .events = POLLIN};
        }
    }
    if (idle && queue_sleep(worker) && poll(fds, count, -1) > 0 && (fds[0].revents & POLLIN) != 0) {
        uint64_t value = 0;
        ssize_t got = read(worker->wake_fd, &value, sizeof value);
        (void)got;
    }
    queue_awake(worker);
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        if (worker->members[i].channel != NULL) {
            shm_channel_awake(worker->members[i].channel);
        }
    }
}

static void *worker_main(void *argument)
{
    Worker *worker = argument;
    for (;;) {
        bool busy = false;
        Job *job = NULL;
        while ((job = queue_pop(worker)) != NULL) {
            bool quit = job->kind == JOB_QUIT;
            job_run(worker, job);
            if (quit) {
                return NULL;
            }
            busy = true;
        }
        busy = channels_serve(worker) || busy;
        busy = worker_think(worker) || busy;
        if (!busy && !worker_spin(worker)) {
            worker_sleep(worker);
        }
    }
}

TyStatus worker_open(WorkerShared *shared, uint32_t id, Worker **out)
{
    *out = NULL;
    Worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for another pool");
    }
    worker->shared = shared;
    worker->id = id;
    worker->wake_fd = -1;
    worker->spin = shm_spin(shared->spin_ns);
    worker->step_slots = UINT32_MAX;
    worker->stop = (TyStop){.asked = worker_hurries, .user = worker};
    worker->pause = (TyStop){.asked = worker_pauses, .user = worker};
    pthread_mutex_init(&worker->mutex, NULL);
    if (shared->threaded) {
        worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        worker->started =
            worker->wake_fd >= 0 && pthread_create(&worker->thread, NULL, worker_main, worker) == 0;
        if (!worker->started) {
            worker_close(worker);
            return ty_status_fail(TY_LIMIT, "the system has no thread for another pool");
        }
    }
    *out = worker;
    return ty_status_ok();
}

void worker_close(Worker *worker)
{
    if (worker->started) {
        pthread_join(worker->thread, NULL);
    }
    if (worker->wake_fd >= 0) {
        close(worker->wake_fd);
    }
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
}

/* ---- Statistics ---- */

uint32_t worker_id(const Worker *worker)
{
    return worker->id;
}

Member *worker_members(Worker *worker)
{
    return worker->members;
}

void worker_stats(Worker *worker, WorkerStats *stats)
{
    pthread_mutex_lock(&worker->mutex);
    *stats = worker->stats;
    pthread_mutex_unlock(&worker->mutex);
    stats->decisions = atomic_load(&worker->decisions);
    stats->episodes = atomic_load(&worker->episodes);
    stats->looks = atomic_load(&worker->looks);
    stats->waiting = atomic_load(&worker->waiting);
    stats->jobs = atomic_load(&worker->jobs);
    stats->held = worker_held(worker);
    stats->bytes += atomic_load(&worker->record_bytes);
    stats->snapshot_bytes = atomic_load(&worker->snapshots.bytes);
}

uint32_t worker_held(Worker *worker)
{
    return atomic_load_explicit(&worker->held, memory_order_relaxed);
}

bool worker_wants_ticks(Worker *worker)
{
    return atomic_load(&worker->timed) || atomic_load(&worker->waiting) > 0 ||
           worker_held(worker) > 0;
}
