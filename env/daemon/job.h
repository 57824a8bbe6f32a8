/* A job: a client's request, or something that dispatch tells a pool, on its way through the
 * daemon.
 *
 * Dispatch makes it and gives it to a worker, whose thread then owns it; the worker hands it back
 * with its reply. All that a job needs meanwhile is its own: the message, its lists, its reply. */
#pragma once

#include "daemon/buffer.h"
#include "daemon/shm_channel.h"
#include "proto/shm.h"
#include "proto/wire_decode.h"
#include "trainyard.h"

typedef struct Worker Worker;
typedef struct Job Job;

enum {
    TOKEN_SIZE = 33,     /* of a token that is text: 32 hexadecimal digits and a NUL */
    JOB_ERRORS_MAX = 16, /* rows that a reply names as refused */
    JOB_HELD_MAX = 4,    /* lists that a job holds */
};

/* A message that came in. Its last holder releases it. */
typedef struct Frame {
    const uint8_t *bytes;
    size_t size;
    void (*release)(struct Frame *frame);
} Frame;

/* Names a session: its place in the table, and a serial that tells sessions of one place apart. */
typedef struct SessionId {
    uint32_t place;
    uint64_t serial;
} SessionId;

static inline bool session_id_equal(SessionId one, SessionId other)
{
    return one.place == other.place && one.serial == other.serial;
}

/* Why a job is to end before its time. */
typedef enum JobStop {
    STOP_NOT,
    STOP_CANCELLED, /* the client said so */
    STOP_LATE,      /* its timeout_ms is over */
    STOP_GONE,      /* the session is over */
} JobStop;

typedef enum JobKind {
    JOB_REQUEST, /* a client's request: has a frame, and a reply when it is done */
    JOB_VANISH,  /* the members of `lost` are gone, and nobody knows their descriptors any more */
    JOB_TICK,    /* time has passed */
    JOB_STOP,    /* jobs that wait were stopped */
    JOB_QUIT,    /* close the pool and end the thread; a request, if the director asked for it */
} JobKind;

/* Where a job stands after some work on it. */
typedef enum JobState {
    JOB_DONE,  /* it has its reply, if it wants one */
    JOB_WAITS, /* for other members, or for time to pass: `step` is called again then */
} JobState;

/* Works on a job, on the worker's thread. */
typedef JobState JobStep(Worker *worker, Job *job);

/* A row of a batch that was refused. */
typedef struct RowError {
    uint32_t row;
    uint32_t slot;
    int32_t action;
    ErrorCode why; /* illegal_action, not_given, or bad_argument: no answer was wanted there */
} RowError;

/* What open and join tell the worker about the new member, and what dispatch hears back. */
typedef struct Admission {
    char name[64]; /* of the client, for logs */
    char invite[TOKEN_SIZE];
    char watch[TOKEN_SIZE];
    uint8_t key[TY_KEY_SIZE]; /* of an open: drawn for it, in case it names none */
    uint8_t shm_token[SHM_TOKEN_SIZE];
    uint8_t seats;     /* of a join: the seats to take, a bit each */
    uint8_t moved;     /* of a join: seats that the member had but does not want */
    uint32_t moved_to; /* and the member that keeps them open */

    uint32_t member_count; /* of an open: the pool's members, */
    uint8_t open_seats;    /* and the seats that are open to others */
    ShmDescriptors shm;    /* of the member's channel; -1 without one */
} Admission;

struct Job {
    Job *next;
    JobKind kind;
    JobStep *step;
    Worker *worker;
    BufferStore *buffers; /* for its lists and its reply, */
    Quota *quota;         /* which count here, as does its frame: a reference */
    SessionId session;    /* whose request it is */
    uint32_t member;      /* of the pool, that the session is */
    atomic_uint stop;     /* JobStop; dispatch sets it while the worker has the job */
    uint64_t now_ms;      /* when it came in, */
    uint64_t came_ns;     /* on the clock of latencies */
    bool unreadable;      /* the frame is no request */
    Frame *frame;
    uint64_t frame_bytes; /* of it, that the quota counts */
    Admission admission;

    /* What it works with: in buffers that it holds until it is given back. */
    uint32_t *slots; /* that the request means, or that the reply shows; NULL: all */
    uint32_t slot_count;
    uint32_t *ended; /* positions, among the rows of the reply, of episodes that ended */
    uint32_t ended_count;
    uint32_t held_count;
    Buffer *held[JOB_HELD_MAX];

    /* What came of it. */
    Buffer *reply;    /* NULL: none is wanted, or there was no memory for one */
    bool failed;      /* the reply is a refusal, */
    ErrorCode code;   /* for this */
    uint8_t lost;     /* members that are gone or, of a tick, too late; a bit each */
    bool drains;      /* of a tick: the pool begins no episodes any more, */
    uint32_t running; /* and so many have not ended */
    uint32_t ignored; /* actions for rows that the member was not given */
    uint32_t error_count;

    /* Not cleared when the job is used again: the counts and the decoder say what is in them. */
    RowError errors[JOB_ERRORS_MAX];
    Request request;
};

/* Makes a job of memory with any content; `now_ms` is when it came in. */
void job_init(Job *job, BufferStore *buffers, Quota *quota, uint64_t now_ms);
/* From now on what the job takes counts in another quota. It must not hold anything yet. */
void job_charge(Job *job, Quota *quota);
/* Gives the job its message; false, and the job refused, if the quota has no room for it. The
 * message is the job's either way. */
bool job_take_frame(Job *job, Frame *frame);
/* Releases what the job holds, but for its reply. */
void job_fini(Job *job);
/* Memory of the job's own, aligned for numbers of 8 bytes; NULL, and the job refused, if there is
 * none. */
void *job_hold(Job *job, size_t size);
