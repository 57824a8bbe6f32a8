/* A pool and the thread that steps it: jobs in, jobs with their replies out.
 *
 * Dispatch gives jobs to hosts; a host answers each of them once, perhaps later, by handing it
 * back. Without a thread (simulation, fuzzing) a job is done within host_submit. Time comes with
 * the jobs.
 */
#pragma once

#include "daemon/buffer.h"
#include "daemon/limits.h"
#include "daemon/shm_door.h"
#include "proto/wire_decode.h"
#include "trainyard.h"

typedef struct Host Host;

/* A message that came in. Whoever holds it last releases it. */
typedef struct Frame {
    const uint8_t *bytes;
    size_t size;
    void (*release)(struct Frame *frame);
} Frame;

typedef enum JobKind {
    JOB_REQUEST, /* a client's request: has a frame, and a reply when it is done */
    JOB_VANISH,  /* the members of `lost` are gone, and nobody knows their descriptors any more */
    JOB_TICK,    /* time has passed */
    JOB_QUIT,    /* close the pool and end the thread */
} JobKind;

enum { JOB_ERRORS_MAX = 16 /* rows that a reply names as refused */ };

/* A row of a batch that was refused. */
typedef struct RowError {
    uint32_t row;
    uint32_t slot;
    int32_t action;
    bool waiting; /* false: no answer was wanted there */
} RowError;

typedef struct Job {
    struct Job *next;
    Host *host;
    JobKind kind;
    uint32_t session; /* whose request it is; the serial tells sessions of one place apart */
    uint64_t session_serial;
    uint32_t member;
    uint8_t seats;     /* of a join: the seats to take, a bit each */
    uint8_t moved;     /* of a join: seats that the member had but does not want */
    uint32_t moved_to; /* and the member that keeps them open */
    uint64_t now_ms;
    Frame *frame;
    Request request;
    uint8_t shm_token[16];
    char invite[40];
    char name[64]; /* of whoever opens or joins */
    uint32_t error_count;
    RowError errors[JOB_ERRORS_MAX];

    /* What came of it. */
    Buffer *reply; /* NULL: there was no memory for one */
    bool failed;
    uint8_t lost;          /* members that are gone or, of a tick, too late; a bit each */
    uint32_t member_count; /* of an open: the pool's members, */
    uint8_t member_seats[TY_MEMBERS_MAX]; /* their seats, a bit each, */
    uint8_t open_seats;                   /* and those that wait for somebody to join */
    ShmDescriptors shm;                   /* of a door that was opened; -1 without one */
} Job;

/* What all hosts share. */
typedef struct HostShared {
    Limits limits;
    BufferStore buffers;
    const char *boards;        /* directory of boards, or NULL */
    struct Recorder *recorder; /* of finished episodes, or NULL */
    bool threaded;
    pthread_mutex_t mutex;
    Job *done_first; /* jobs that are done, in order */
    Job *done_last;
    void (*wake)(void *user); /* called when there are jobs to fetch; from any thread */
    void *wake_user;
    atomic_ullong memory_bytes; /* of pools and snapshots */
    uint32_t spin_ns;           /* how long hosts spin for members in shared memory */
} HostShared;

void host_shared_init(HostShared *shared, const Limits *limits);
void host_shared_fini(HostShared *shared);
/* The next job that is done; NULL if there is none. */
Job *host_fetch(HostShared *shared);

/* A host for pool `id`, or with id 0 one without a pool, which only describes. Its pool is opened
 * by its first job. The caller submits JOB_QUIT, waits for it to come back and closes. */
TyStatus host_open(HostShared *shared, uint32_t id, Host **host);
void host_close(Host *host);
void host_submit(Host *host, Job *job);
uint32_t host_id(const Host *host);

/* What anybody may look at while the host works. */
typedef struct HostStats {
    uint64_t decisions;
    uint64_t episodes;
    uint32_t waiting; /* requests that wait for others */
    uint32_t jobs;    /* under way */
    uint64_t bytes;
    uint32_t slots;
    uint32_t groups;
    uint32_t members;
    char ruleset[TY_SPEC_MAX];
} HostStats;

void host_stats(Host *host, HostStats *stats);
/* True if time matters to the host: somebody waits with a timeout, or seats have one. */
bool host_wants_ticks(const Host *host);
