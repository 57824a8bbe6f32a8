/* The inside of a worker: its own thread's, except the queue and the counters. While that thread
 * sleeps it is dispatch's, which does small steps itself: see worker.c. */
#pragma once

#include "daemon/reply.h"
#include "daemon/snapshots.h"
#include "daemon/worker.h"
#include "pool/work.h"
#include "replay/replay.h"

#define ALL_GROUPS UINT64_MAX

struct Worker {
    WorkerShared *shared;
    uint32_t id;

    /* The queue: under the mutex, but for `queued`, which is read before it is taken. */
    pthread_t thread;
    bool started;
    int wake_fd;
    pthread_mutex_t mutex;
    Job *first;
    Job *last;
    atomic_uint queued;
    bool asleep;         /* the thread touches nothing until it has the mutex */
    uint32_t step_slots; /* of a pool whose steps take as long as they are many: nobody thinks,
                            nothing is logged. Otherwise UINT32_MAX */
    bool lent;           /* dispatch's thread works on a job */
    WorkerStats stats;   /* the parts that do not change */

    /* What interrupts long work: see worker_pauses. Dispatch sets the first two. */
    atomic_bool closing; /* no job matters any more */
    atomic_bool hurry;   /* look whether the job at hand was stopped */
    bool defers;         /* agents are not let to act now */
    uint64_t pauses_ns;  /* not 0: they pause at this time, and if there is a job */
    TyStop stop;         /* what the pool asks within decisions, */
    TyStop pause;        /* and between them */

    /* Counters that any thread reads. */
    atomic_ullong decisions;
    atomic_ullong episodes;
    atomic_ullong looks;        /* at rows, to find those that wait; for tests */
    atomic_ullong record_bytes; /* that the log keeps of running episodes */
    atomic_uint waiting;
    atomic_uint held; /* slots whose endings are not told until the log has them */
    atomic_uint jobs;
    atomic_bool timed; /* seats have a timeout, and other members wait for them */

    /* The pool and its members. */
    TyRuleset *ruleset;
    TyPool *pool;
    RecorderFeed *feed;                      /* NULL: nothing is recorded */
    Quota *quota;                            /* of the director: a reference; NULL without a pool */
    uint64_t taken[QUOTA_KINDS];             /* by the pool, of that quota */
    const TyAgent *fallback;                 /* NULL: truncate */
    const TyAgent *agents[TY_SEATS_MAX + 1]; /* opened for the seats and the fallback */
    uint32_t agent_count;
    uint32_t eyes;  /* of spectators: a seat or TY_PUBLIC, */
    uint32_t delay; /* so many decisions behind */
    bool slow;      /* built-in agents of the pool think for long */
    uint64_t seat_timeout_ms;
    uint64_t now_ms;
    Member members[TY_MEMBERS_MAX];
    SnapshotStore snapshots;
    uint32_t listeners; /* members that read rows by messages: see ready.h */
    uint32_t channel_count;
    ShmSpin spin; /* in nanoseconds */

    uint64_t changed;   /* groups, a bit each, of which the job at hand leaves it to settle them */
    Job *waiting_first; /* jobs that wait, in the order in which they are tried */
};

/* ---- Jobs (worker.c) ---- */

/* Hands a job back to dispatch, whose it is from then on. */
void job_hand_back(Worker *worker, Job *job);
/* The pool is open: finds out how long its steps take. With the mutex. */
void worker_measure(Worker *worker);

/* ---- Jobs that wait (waiting.c) ---- */

void waiting_add(Worker *worker, Job *job);
/* The member's request of this kind and group that waits; NULL if there is none. */
Job *waiting_find(const Worker *worker, uint32_t member, Operation op, uint32_t group);
/* Tries all that wait, and hands those back that are done. */
void waiting_serve(Worker *worker);
/* Hands those back that were stopped. */
void waiting_stop(Worker *worker);
/* Refuses those that wait; `member` < 0 means everybody's. */
void waiting_refuse(Worker *worker, int32_t member, const char *why);

/* ---- Long work (waiting.c) ---- */

/* True, and the job refused, if it was stopped. To be asked whenever the pool was. */
bool job_stopped(Job *job);
/* Lets agents who were interrupted play on. False, and the job refused, if it was stopped: then
 * they play on when there is nothing else to do. */
bool job_think(Job *job);

/* ---- Members (members.c) ---- */

/* Everything that must follow a change of these groups, a bit each: absent members are cut off,
 * channels published, jobs that wait tried. The channel of member `by` (-1: nobody's) has published
 * its rows already. */
void worker_settle(Worker *worker, uint64_t groups, int32_t by);
/* The member sits: from now on it is given its rows, and logs have its name. */
void member_sit(Worker *worker, const Job *job);
/* Opens the member's channel, if the request asks for one. */
TyStatus member_channel_open(Worker *worker, Job *job);
void member_channel_close(Worker *worker, uint32_t member);
/* The columns that a member can have, a bit each, and those that its request wants. */
uint32_t member_columns(const Worker *worker, uint32_t member);
TyStatus member_columns_read(const Worker *worker, const Request *request, uint32_t member,
                             uint32_t *columns);
/* The reply to open and join: what a member has to know of its pool. */
ReplyBody put_membership;
JobStep job_join, job_leave, job_vanish, job_tick;

/* ---- Rows (job_rows.c) ---- */

/* Answers with rows of job->member: `group`, or of several (-1), which it is given thereby. */
void job_reply_rows(Job *job, int32_t group);
/* Rows of these slots (NULL: all) are others than before: no member was given them. */
void rows_renew(Worker *worker, const uint32_t *slots, uint32_t count);
/* After a change of job->slots, or without any of all: settles it and shows the director its rows,
 * if it gets them by messages. */
void job_reply_changed(Job *job);
void put_columns(Writer *writer, const Worker *worker, uint32_t member);
/* The actions of the job that were ignored or refused. */
void put_refused(Writer *writer, const Job *job);

/* ---- What requests have in common (job.c) ---- */

/* The slot, or the list of slots (into job->slots), of the request; false, and the job refused, if
 * one is wrong. */
bool job_read_slot(Job *job, uint32_t *slot);
bool job_read_slots(Job *job);
/* False, and the job refused, if the slot's ending may not be told yet: nobody looks into it. */
bool job_may_look(Job *job, uint32_t slot);
/* The keys of a plan, one for each of `count`; without keys `*keys` is NULL. */
bool job_read_keys(Job *job, uint32_t count, const uint64_t **keys);
/* The seat for whom hidden things are dealt again; -1: for nobody. */
bool job_read_player(Job *job, int32_t *seat);
/* Both, for each of job->slots; a seat without keys is refused. */
bool job_read_plan(Job *job, const uint64_t **keys, int32_t *seat);
/* True if the member still has its seats, and gets its rows by messages. */
bool job_member_reads(Job *job);
/* Begins new episodes in the slots whose `which` byte is set (NULL: all), and lets agents play
 * until members are asked. False, and the job refused, if it was stopped; then some are begun. */
bool job_reset_slots(Job *job, const TyReset *reset);
/* True if the request's time to wait is over. */
bool job_is_late(const Job *job);

/* ---- What the requests do ---- */

JobStep job_describe, job_rules;                           /* job_describe.c */
JobStep job_open;                                          /* job_open.c */
JobStep job_step, job_send, job_recv, job_reset;           /* job_step.c */
JobStep job_observe, job_legal, job_text, job_watch;       /* job_query.c */
JobStep job_snapshot, job_restore, job_fork, job_resample; /* job_snapshot.c */
JobStep job_export, job_import, job_drop, job_rollout;     /* job_snapshot.c */
JobStep job_replay_get, job_replay_verify;                 /* job_replay.c */
