/* Workers: a thread each, that owns a pool and steps it. Jobs in, jobs with their replies out.
 *
 * A worker answers each job once, perhaps later, by handing it back. Without a thread (simulation,
 * fuzzing) a job is worked on within worker_submit. Time comes with the jobs. */
#pragma once

#include "daemon/limits.h"
#include "daemon/member.h"

/* Limits as they were once. */
typedef struct LimitsVersion {
    Limits limits;
    struct LimitsVersion *next;
} LimitsVersion;

/* What all workers share. */
typedef struct WorkerShared {
    _Atomic(const Limits *) limits; /* of the newest version */
    LimitsVersion first;
    LimitsVersion *later; /* of reloads; nobody knows who still reads an older one */
    BufferStore buffers;
    const char *boards;        /* directory of boards, or NULL */
    struct Recorder *recorder; /* of finished episodes, or NULL */
    bool threaded;
    pthread_mutex_t mutex;
    Job *done_first; /* jobs that are done, in order */
    Job *done_last;
    void (*wake)(void *user); /* called when there are jobs to fetch; from any thread */
    void *wake_user;
    Quota quota;      /* of the whole daemon */
    uint32_t spin_ns; /* how long workers spin for members in shared memory */
    bool few_processors;
    bool one_pool; /* the daemon has no other; dispatch's */
} WorkerShared;

void worker_shared_init(WorkerShared *shared, const Limits *limits);
/* Other limits from now on; false if there is no memory for that. */
bool worker_shared_reload(WorkerShared *shared, const Limits *limits);
void worker_shared_fini(WorkerShared *shared);
/* The next job that is done; NULL if there is none. */
Job *worker_fetch(WorkerShared *shared);

/* A worker for pool `id`, which its first job opens; with id 0 the common worker, for requests that
 * need no pool. The caller submits JOB_QUIT, waits for it to come back and closes. */
TyStatus worker_open(WorkerShared *shared, uint32_t id, Worker **worker);
void worker_close(Worker *worker);
void worker_submit(Worker *worker, Job *job);
/* A job that was submitted is to end soon, with a refusal. Those that wait hear of it by JOB_STOP.
 */
void worker_stop(Job *job, JobStop why);
/* So are all jobs that the worker has: its pool is to be closed. */
void worker_stop_all(Worker *worker);
/* Whether that was asked of it. A worker that closes takes no further jobs. */
bool worker_closes(const Worker *worker);
uint32_t worker_id(const Worker *worker);
/* TY_MEMBERS_MAX records, of which the caller has dispatch's part. */
Member *worker_members(Worker *worker);

/* What any thread may ask while the worker is busy. */
typedef struct WorkerStats {
    uint64_t decisions;
    uint64_t episodes;
    uint64_t looks;          /* at rows, to find those that wait for members */
    uint32_t waiting;        /* requests that wait for others */
    uint32_t jobs;           /* under way */
    uint32_t held;           /* slots whose endings wait for the log */
    uint64_t bytes;          /* of the pool */
    uint64_t snapshot_bytes; /* of its snapshots */
    uint32_t slots;
    uint32_t groups;
    char ruleset[TY_SPEC_MAX];
} WorkerStats;

void worker_stats(Worker *worker, WorkerStats *stats);
/* Slots whose endings are not told until the log has them. */
uint32_t worker_held(Worker *worker);
/* True if time matters to the worker: a request waits with a timeout, seats have one, or endings
 * wait for the log. */
bool worker_wants_ticks(Worker *worker);
